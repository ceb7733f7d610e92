/**
 * @file The grammar of cssame programs (`.csm`) for tree-sitter.
 * @license MIT OR Apache-2.0
 *
 * The reference is `grammar/cssame.lalrpop` with the tokens of `src/front/csm/syntax/lexer.rs`. This grammar accepts what
 * that one accepts; `check.sh` compares them. What it cannot see stands in `differences.txt`.
 */

/// <reference types="tree-sitter-cli/dsl" />
// @ts-check

// How tightly operators bind, from loose to tight.
const PREC = {
  conditional: 1,
  logical_or: 2,
  logical_and: 3,
  bit_or: 4,
  bit_xor: 5,
  bit_and: 6,
  equality: 7,
  relational: 8,
  shift: 9,
  additive: 10,
  multiplicative: 11,
  unary: 12,
};

const BINARY = [
  [PREC.logical_or, '||'],
  [PREC.logical_and, '&&'],
  [PREC.bit_or, '|'],
  [PREC.bit_xor, '^'],
  [PREC.bit_and, '&'],
  [PREC.equality, choice('==', '!=')],
  [PREC.relational, choice('<', '<=', '>', '>=')],
  [PREC.shift, choice('<<', '>>')],
  [PREC.additive, choice('+', '-')],
  [PREC.multiplicative, choice('*', '/', '%')],
];

// No name, wherever it stands. `lock`, `sem` and so on are names, and so is `reentrant` unless `lock` follows.
const RESERVED = [
  'int', 'long', 'bool', 'double', 'string', 'void', 'class', 'public', 'private', 'enum', 'input', 'extern', 'in',
  'const', 'cobegin', 'coend', 'parfor', 'synchronized', 'atomic', 'if', 'else', 'while', 'do', 'for', 'switch', 'case',
  'default', 'fallthrough', 'break', 'continue', 'return', 'spawn', 'true', 'false', 'skip', 'this',
];

const comma1 = (rule) => seq(rule, repeat(seq(',', rule)));
const comma = (rule) => optional(comma1(rule));

module.exports = grammar({
  name: 'csm',

  word: ($) => $.identifier,

  reserved: { global: (_) => RESERVED },

  extras: ($) => [/[ \t\r\n\f]/, $.comment],

  supertypes: ($) => [$.expression, $.statement],

  // Whether a name behind an arm goes on with the arm or is the label of the next one, the `:` behind it says.
  conflicts: ($) => [[$.arm]],

  rules: {
    source_file: ($) => repeat(choice($.statement, $._definition)),

    // ---- Definitions ----

    _definition: ($) =>
      choice(
        $.function_definition,
        $.class_definition,
        $.enum_definition,
        $.extern_declaration,
        $.input_declaration,
      ),

    function_definition: ($) =>
      seq(
        field('type', $._type),
        field('name', $._name),
        field('parameters', $.parameter_list),
        field('body', $.block),
      ),

    parameter_list: ($) => seq('(', comma($.parameter), ')'),

    parameter: ($) =>
      seq(
        field('type', $._type),
        field('name', $._name),
        repeat(seq('[', optional(field('size', $.expression)), ']')),
      ),

    // The `;` belongs to the definition, and is no empty statement: `prec.right` takes it.
    class_definition: ($) =>
      prec.right(seq('class', field('name', $._name), field('body', $.class_body), optional(';'))),

    class_body: ($) => seq('{', repeat(choice($.access_section, $.member, ';')), '}'),

    access_section: ($) => seq($.visibility, ':'),

    member: ($) =>
      seq(
        optional($.visibility),
        choice($.function_definition, $.constructor_definition, $.enum_definition, $.declaration),
      ),

    visibility: (_) => choice('public', 'private'),

    constructor_definition: ($) =>
      seq(field('name', $._name), field('parameters', $.parameter_list), field('body', $.block)),

    enum_definition: ($) =>
      prec.right(seq('enum', optional(field('name', $._name)), field('body', $.enumerator_list), optional(';'))),

    enumerator_list: ($) => seq('{', optional(seq(comma1($.enumerator), optional(','))), '}'),

    enumerator: ($) => seq(field('name', $._name), optional(seq('=', field('value', $.expression)))),

    extern_declaration: ($) =>
      seq(
        'extern',
        field('type', $._type),
        field('name', $._name),
        field('parameters', $.parameter_list),
        optional($.range),
        ';',
      ),

    input_declaration: ($) =>
      seq(
        'input',
        field('type', $._type),
        field('name', $._name),
        '=',
        field('value', $.expression),
        optional($.range),
        ';',
      ),

    range: ($) => seq('in', field('lowest', $.expression), '..', field('highest', $.expression)),

    // ---- Types and declarations ----

    _type: ($) =>
      choice(
        $.primitive_type,
        $.reentrant_type,
        alias($.identifier, $.type_identifier),
        alias('reentrant', $.type_identifier),
      ),

    primitive_type: (_) => choice('int', 'long', 'bool', 'double', 'string', 'void'),

    reentrant_type: (_) => seq('reentrant', 'lock'),

    declaration: ($) => seq(optional(choice('atomic', 'const')), $._declared, ';'),

    _declared: ($) => seq(field('type', $._type), comma1($.declarator)),

    declarator: ($) =>
      seq(
        field('name', $._name),
        repeat(seq('[', field('size', $.expression), ']')),
        optional(
          choice(
            seq('=', field('value', choice($._value, $.initializer_list))),
            field('arguments', alias($._arguments, $.argument_list)),
          ),
        ),
      ),

    initializer_list: ($) => choice(seq('{', '}'), $._row),

    _row: ($) => seq('{', choice(comma1($.expression), comma1(alias($._row, $.initializer_list))), '}'),

    // ---- Statements ----

    statement: ($) =>
      choice(
        $.block,
        $.declaration,
        $.simple_statement,
        $.empty_statement,
        $.if_statement,
        $.while_statement,
        $.do_statement,
        $.for_statement,
        $.switch_statement,
        $.fallthrough_statement,
        $.break_statement,
        $.continue_statement,
        $.return_statement,
        $.skip_statement,
        $.cobegin_statement,
        $.parfor_statement,
        $.synchronized_statement,
        $.atomic_statement,
      ),

    block: ($) => seq('{', repeat($.statement), '}'),

    simple_statement: ($) => seq($._simple, ';'),

    // What is a statement with `;` behind it, and may stand in the head of a loop without.
    _simple: ($) => choice($.assignment, $.update, $.call_expression, $.spawn),

    assignment: ($) =>
      choice(
        seq(field('left', $._path), field('operator', '='), field('right', $._value)),
        seq(
          field('left', $._path),
          field('operator', choice('+=', '-=', '*=', '/=', '%=')),
          field('right', $.expression),
        ),
      ),

    update: ($) =>
      choice(
        seq(field('argument', $._path), field('operator', choice('++', '--'))),
        seq(field('operator', choice('++', '--')), field('argument', $._path)),
      ),

    _value: ($) => choice($.expression, $.spawn),

    spawn: ($) => seq('spawn', field('call', $.call_expression)),

    empty_statement: (_) => ';',

    // An `else` belongs to the nearest `if`: `prec.right` takes it.
    if_statement: ($) =>
      prec.right(
        seq(
          'if',
          field('condition', $.parenthesized_expression),
          field('consequence', $.statement),
          optional(seq('else', field('alternative', $.statement))),
        ),
      ),

    while_statement: ($) =>
      seq('while', field('condition', $.parenthesized_expression), field('body', $.statement)),

    do_statement: ($) =>
      seq('do', field('body', $.statement), 'while', field('condition', $.parenthesized_expression), ';'),

    for_statement: ($) =>
      seq(
        'for',
        '(',
        optional(field('initializer', choice(alias($._declared, $.declaration), $._simple))),
        ';',
        optional(field('condition', $.expression)),
        ';',
        optional(field('update', $._simple)),
        ')',
        field('body', $.statement),
      ),

    parfor_statement: ($) =>
      seq(
        'parfor',
        '(',
        field('initializer', alias($._declared, $.declaration)),
        ';',
        field('condition', $.expression),
        ';',
        field('update', $._simple),
        ')',
        field('body', $.statement),
      ),

    switch_statement: ($) =>
      seq('switch', field('value', $.parenthesized_expression), field('body', $.switch_body)),

    switch_body: ($) => seq('{', repeat($.switch_case), '}'),

    // Labels without statements between them belong to one case: `prec.right` goes on with it.
    switch_case: ($) => prec.right(seq(repeat1($.case_label), repeat($.statement))),

    case_label: ($) => seq(choice(seq('case', field('value', $.expression)), 'default'), ':'),

    fallthrough_statement: (_) => seq('fallthrough', ';'),
    break_statement: (_) => seq('break', ';'),
    continue_statement: (_) => seq('continue', ';'),
    return_statement: ($) => seq('return', optional(field('value', $.expression)), ';'),
    skip_statement: (_) => seq('skip', ';'),

    cobegin_statement: ($) => prec.right(seq('cobegin', repeat1($.arm), 'coend', optional(';'))),

    arm: ($) => seq(field('label', $._name), ':', repeat($.statement)),

    synchronized_statement: ($) =>
      seq('synchronized', field('lock', $.parenthesized_expression), field('body', $.block)),

    atomic_statement: ($) => seq('atomic', field('body', $.block)),

    // ---- Expressions ----

    expression: ($) =>
      choice(
        $._path,
        $.conditional_expression,
        $.binary_expression,
        $.unary_expression,
        $.cast_expression,
        $.parenthesized_expression,
        $.integer_literal,
        $.double_literal,
        $.string_literal,
        $.boolean_literal,
      ),

    conditional_expression: ($) =>
      prec.right(
        PREC.conditional,
        seq(
          field('condition', $.expression),
          '?',
          field('consequence', $.expression),
          ':',
          field('alternative', $.expression),
        ),
      ),

    binary_expression: ($) =>
      choice(
        ...BINARY.map(([tightness, operator]) =>
          prec.left(
            tightness,
            seq(field('left', $.expression), field('operator', operator), field('right', $.expression)),
          ),
        ),
        prec.left(PREC.additive, seq($.expression, '--', $._never)),
      ),

    unary_expression: ($) =>
      prec(
        PREC.unary,
        choice(
          seq(field('operator', choice('-', '!', '~')), field('argument', $.expression)),
          seq('--', $._never),
        ),
      ),

    // `--` is one token, also where only `-` could stand: `a--b` is an error, and not `a - -b`. Nothing matches `_never`,
    // so the rules with it only tell the lexer that the token exists.
    _never: (_) => /\u{10FFFF}/,

    cast_expression: ($) =>
      prec(
        PREC.unary,
        seq('(', field('type', alias($._scalar_type, $.primitive_type)), ')', field('value', $.expression)),
      ),

    _scalar_type: (_) => choice('int', 'long', 'bool', 'double'),

    parenthesized_expression: ($) => seq('(', $.expression, ')'),

    // What may begin a statement: a name, `this`, and what is reached from them.
    _path: ($) => choice($._name, $.this, $.field_expression, $.subscript_expression, $.call_expression),

    field_expression: ($) => seq(field('object', $._path), '.', field('field', $._field)),

    subscript_expression: ($) => seq(field('array', $._path), '[', field('index', $.expression), ']'),

    call_expression: ($) =>
      choice(
        seq(field('function', $._name), field('arguments', $.argument_list)),
        seq(
          field('receiver', $._path),
          '.',
          field('function', $._field),
          field('arguments', $.argument_list),
        ),
      ),

    argument_list: ($) => choice(seq('(', ')'), $._arguments),

    _arguments: ($) => seq('(', comma1($.expression), ')'),

    // ---- Tokens ----

    _name: ($) => choice($.identifier, alias('reentrant', $.identifier)),

    _field: ($) => choice(alias($.identifier, $.field_identifier), alias('reentrant', $.field_identifier)),

    identifier: (_) => /[A-Za-z_][A-Za-z0-9_]*/,

    this: (_) => 'this',

    integer_literal: (_) => /(0|[1-9][0-9]*|0[xX][0-9a-fA-F]+)[lL]?/,

    double_literal: (_) => /[0-9]*\.[0-9]+([eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+/,

    boolean_literal: (_) => choice('true', 'false'),

    string_literal: ($) => seq('"', repeat(choice($.string_content, $.escape_sequence)), token.immediate('"')),

    string_content: (_) => token.immediate(prec(1, /[^"\\\n]+/)),

    escape_sequence: (_) => token.immediate(/\\[ntr0\\"]/),

    comment: (_) => token(choice(/\/\/[^\n]*/, /\/\*[^*]*\*+([^/*][^*]*\*+)*\//)),
  },
});
