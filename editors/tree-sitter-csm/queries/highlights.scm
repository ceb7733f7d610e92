; Later patterns win. Names of captures are those that Neovim and Helix share, or fall back to a shared one.

(identifier) @variable
(this) @variable.builtin
(field_identifier) @variable.member

; Types

(type_identifier) @type
(primitive_type) @type.builtin
(reentrant_type) @type.builtin

((type_identifier) @type.builtin
  (#any-of? @type.builtin "lock" "rwlock" "event" "barrier" "cond" "sem" "thread"))

(class_definition name: (identifier) @type)
(enum_definition name: (identifier) @type)

; Names where they are declared

(parameter name: (identifier) @variable.parameter)
(enumerator name: (identifier) @constant)
(input_declaration name: (identifier) @constant)
(declaration "const" (declarator name: (identifier) @constant))
(member (declaration (declarator name: (identifier) @variable.member)))
(member (declaration "const" (declarator name: (identifier) @constant)))
(arm label: (identifier) @label)

; Functions

(function_definition name: (identifier) @function)
(member (function_definition name: (identifier) @function.method))
(constructor_definition name: (identifier) @constructor)
(extern_declaration name: (identifier) @function)
(call_expression !receiver function: (identifier) @function)
(call_expression function: (field_identifier) @function.method)

((call_expression !receiver function: (identifier) @function.builtin)
  (#any-of? @function.builtin
    "print" "assert" "error" "assume" "sleep" "join"
    "choose" "cas" "swap" "fetch_add" "length"
    "lock" "Lock" "unlock" "Unlock" "trylock" "rdlock" "wrlock" "tryrdlock" "trywrlock"
    "set" "clear" "wait" "timedwait" "notify" "notifyAll" "barrier" "P" "V"))

; Literals and comments

(integer_literal) @constant.numeric.integer
(double_literal) @constant.numeric.float
(boolean_literal) @constant.builtin.boolean
(string_literal) @string
(escape_sequence) @string.escape
(comment) @comment

; Words

[
  "class"
  "enum"
  "extern"
  "input"
  "in"
  "skip"
  "fallthrough"
  "cobegin"
  "coend"
  "parfor"
  "spawn"
  "synchronized"
  "atomic"
] @keyword

[
  "const"
  "public"
  "private"
] @keyword.modifier

(declaration "atomic" @keyword.modifier)

[
  "if"
  "else"
  "switch"
  "case"
  "default"
] @keyword.conditional

[
  "while"
  "do"
  "for"
  "break"
  "continue"
] @keyword.repeat

"return" @keyword.return

; Operators and punctuation

[
  "="
  "+="
  "-="
  "*="
  "/="
  "%="
  "++"
  "--"
  "+"
  "-"
  "*"
  "/"
  "%"
  "<<"
  ">>"
  "<"
  "<="
  ">"
  ">="
  "=="
  "!="
  "&"
  "^"
  "|"
  "&&"
  "||"
  "!"
  "~"
  ".."
] @operator

(conditional_expression [ "?" ":" ] @operator)

[
  "("
  ")"
  "["
  "]"
  "{"
  "}"
] @punctuation.bracket

[
  ","
  ";"
  "."
] @punctuation.delimiter

(access_section ":" @punctuation.delimiter)
(case_label ":" @punctuation.delimiter)
(arm ":" @punctuation.delimiter)
