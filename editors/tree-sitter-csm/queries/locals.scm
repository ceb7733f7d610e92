; What a name means, so that uses of parameters look like parameters.

[
  (function_definition)
  (constructor_definition)
  (class_body)
  (block)
  (arm)
  (switch_case)
  (for_statement)
  (parfor_statement)
] @local.scope

(parameter name: (identifier) @local.definition.variable.parameter)

; The others only hide parameters and each other.
(declarator name: (identifier) @local.definition.variable)

(identifier) @local.reference
