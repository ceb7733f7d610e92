[
  (block)
  (class_body)
  (enumerator_list)
  (initializer_list)
  (switch_body)
  (switch_case)
  (cobegin_statement)
  (arm)
  (comment)
] @fold
