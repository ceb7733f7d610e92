; `@indent` and `@outdent` are for Helix, `@indent.begin`, `@indent.branch` and `@indent.end` for Neovim; each ignores the
; names of the other.

[
  (block)
  (class_body)
  (enumerator_list)
  (initializer_list)
  (argument_list)
  (parameter_list)
  (switch_body)
  (switch_case)
  (cobegin_statement)
  (arm)
] @indent @indent.begin

[
  "}"
  ")"
  "coend"
] @outdent @indent.branch

[
  (block "}" @indent.end)
  (class_body "}" @indent.end)
  (enumerator_list "}" @indent.end)
  (initializer_list "}" @indent.end)
  (switch_body "}" @indent.end)
  (cobegin_statement "coend" @indent.end)
]
