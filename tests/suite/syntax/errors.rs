//! What is said of bad input: code, position and message of every diagnostic.

use super::{errors, parse_text};

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    assert_eq!(errors(text), expected, "in: {text}");
}

#[test]
fn unexpected_characters() {
    check("int a = 3 @ 4;", &["CS0102 1:11 unexpected character `@`"]);
    check("int a$ = 1;\n#b = 2;", &["CS0102 1:6 unexpected character `$`", "CS0102 2:1 unexpected character `#`"]);
    check("x = 'a';", &["CS0102 1:5 `'a'` stands in single quotes"]);
    check("x = “é”;", &["CS0102 1:5 `“é”` stands in curly quotes"]);
    // Columns count characters.
    check("// é\nx = \"é\" @;", &["CS0102 2:9 unexpected character `@`"]);
}

#[test]
fn comments_and_strings_without_end() {
    check("int a;\n/* no end", &["CS0103 2:1 unterminated comment"]);
    check("void f() {\n  x = 1;\n  /* no end }", &["CS0103 3:3 unterminated comment"]);
    check(
        "string s = \"abc;\nint a = ;",
        &["CS0104 1:12 unterminated string", "CS0101 2:9 unexpected `;`, expected an expression or `{`"],
    );
    check("s = \"abc\\", &["CS0104 1:5 unterminated string"]);
}

#[test]
fn escapes_and_numbers() {
    check(
        r#"s = "a\qb\x41";"#,
        &[r"CS0105 1:7 unknown escape `\q` in a string", r"CS0105 1:10 unknown escape `\x` in a string"],
    );
    check("a = 9223372036854775808;", &["CS0106 1:5 number `9223372036854775808` is too large"]);
    check("a = 99999999999999999999L;", &["CS0106 1:5 number `99999999999999999999L` is too large"]);
    check("a = 0x1FFFFFFFFFFFFFFFF;", &["CS0106 1:5 number `0x1FFFFFFFFFFFFFFFF` is too large"]);
    check("a = 1e999;", &["CS0106 1:5 number `1e999` is too large"]);
}

#[test]
fn missing_semicolons_stand_behind_the_token_before() {
    check("int a = 1\nint b = 2;", &["CS0101 1:10 missing `;` after `1`"]);
    check("a = f(1)   // so\n\nb = 2\n", &["CS0101 1:9 missing `;` after `)`", "CS0101 3:6 missing `;` after `2`"]);
    check("void f() { return }", &["CS0101 1:18 missing `;` after `return`"]);
    check("void f() { lock(L) x = 1; }", &["CS0101 1:19 missing `;` after `)`"]);
    check("if (a) x = 1 else x = 2;", &["CS0101 1:13 missing `;` after `1`"]);
    check("do x++; while (x < 3)", &["CS0101 1:22 missing `;` after `)`"]);
    check("class A { int x\n int y; }", &["CS0101 1:16 missing `;` after `x`"]);
    check("cobegin T1: x = 1 T2: x = 2; coend", &["CS0101 1:18 missing `;` after `1`"]);
    let (_, parsed) = parse_text("int a = 1\nint b = 2;");
    assert_eq!(parsed.diagnostics[0].help.as_deref(), Some("put `;` after `1`"));
    assert_eq!(parsed.program.items.len(), 2);
}

#[test]
fn unexpected_tokens_say_what_was_expected() {
    check("x = ;", &["CS0101 1:5 unexpected `;`, expected an expression"]);
    check("x = 1 + * 2;", &["CS0101 1:9 unexpected `*`, expected an expression"]);
    check("x = ", &["CS0101 1:4 unexpected end of file, expected an expression"]);
    check("int 5x = 1;", &["CS0101 1:5 unexpected `5`, expected a name"]);
    check("int x, ;", &["CS0101 1:8 unexpected `;`, expected a name"]);
    check("while x < 3 { x++; }", &["CS0101 1:7 unexpected `x`, expected `(`"]);
    check("print \"hello\";", &["CS0101 1:7 unexpected `\"hello\"`, expected an assignment or `(`"]);
    check("x = a ? b;", &["CS0101 1:10 unexpected `;`, expected `:`"]);
    check("x = f(a b);", &["CS0101 1:9 unexpected `b`, expected an operator, `)` or `,`"]);
    check("for (i = 0; i < n) x = 3;", &["CS0101 1:18 unexpected `)`, expected `;`"]);
    check(
        "for (int i = 0, i < n; i++) { x = 2; }",
        &["CS0101 1:19 unexpected `<`, expected `(`, `[`, `;`, `,` or `=`"],
    );
    check("class A { x = 5; }", &["CS0101 1:13 unexpected `=`, expected a name or `(`"]);
    check("extern int now() in 0;", &["CS0101 1:22 unexpected `;`, expected `..`"]);
    check("class", &["CS0101 1:6 unexpected end of file, expected a name"]);
    check("x = string;", &["CS0101 1:5 unexpected `string`, expected an expression"]);
}

#[test]
fn habits_of_other_languages_get_advice() {
    let advice = |text: &str| parse_text(text).1.diagnostics[0].help.clone().unwrap_or_default();
    assert_eq!(advice("if (a = 1) x = 2;"), "compare with `==`; an assignment is a statement of its own");
    assert_eq!(advice("x == 1;"), "assign with `=`");
    assert_eq!(advice("x = y++;"), "an assignment is a statement of its own");
    assert_eq!(advice("x;"), "an expression alone is not a statement");
    assert_eq!(advice("here: x = 1;"), "a label names a thread, and is possible only in `cobegin … coend`");
    assert_eq!(
        advice("int f(int x);"),
        "write the body of the function: it needs no declaration before. Declare a function without a visible \
         body with `extern`, and an object whose constructor takes no arguments without `()`"
    );
}

#[test]
fn missing_closers_name_their_openers() {
    let secondary = |text: &str| {
        let (sources, parsed) = parse_text(text);
        let labels = parsed.diagnostics.iter().flat_map(|diagnostic| &diagnostic.secondary);
        labels.map(|label| format!("{} {}", sources.position(label.span), label.message)).collect::<Vec<_>>()
    };
    let text = "void main() {\n  cobegin\n    T1: x = 1;\n}\n";
    check(text, &["CS0101 4:1 missing `coend`"]);
    assert_eq!(secondary(text), ["2:3 this `cobegin` is not closed"]);
    let text = "void main() {\n  x = 1;\n";
    check(text, &["CS0101 2:9 missing `}`"]);
    assert_eq!(secondary(text), ["1:13 this `{` is not closed"]);
    let text = "cobegin\n  T1: { x = 1;\n  T2: { x = 2; }\ncoend\n";
    check(text, &["CS0101 4:1 missing `}`"]);
    assert_eq!(secondary(text), ["2:7 this `{` is not closed"]);
    let text = "x = f(1, (2 + 3);";
    check(text, &["CS0101 1:17 missing `)`"]);
    assert_eq!(secondary(text), ["1:6 this `(` is not closed"]);
    check("cobegin T1: x = 1;", &["CS0101 1:19 missing `coend`"]);
    check("if (x > 1 { x = 2; }", &["CS0101 1:10 missing `)`"]);
    check("void f(int x { x = 2; }", &["CS0101 1:13 missing `)`"]);
    check("x = t[1;", &["CS0101 1:8 missing `]`"]);
    check(
        "x = (1 + 2\ny = 3;\nz = ;",
        &["CS0101 1:11 missing `)`", "CS0101 3:5 unexpected `;`, expected an expression"],
    );
}

#[test]
fn a_brace_of_other_indentation_is_shown() {
    let text = "void main() {\n    if (x) {\n        x = 2;\n}\n\nvoid g() {\n    x = ;\n}\n";
    check(text, &["CS0101 7:9 unexpected `;`, expected an expression", "CS0101 8:2 missing `}`"]);
    let (sources, parsed) = parse_text(text);
    let label = &parsed.diagnostics[1].secondary[0];
    assert_eq!(sources.position(label.span).to_string(), "2:12");
}

#[test]
fn stray_closers() {
    check("x = 1; }\ny = ;", &["CS0101 1:8 `}` without a `{`", "CS0101 2:5 unexpected `;`, expected an expression"]);
    check("x = 1);", &["CS0101 1:6 `)` without a `(`"]);
    check("x = 2 ];", &["CS0101 1:7 `]` without a `[`"]);
    check("coend", &["CS0101 1:1 `coend` without a `cobegin`"]);
    check("{ x = t[1); }", &["CS0101 1:10 `)` without a `(`", "CS0101 1:11 missing `]`"]);
}

#[test]
fn cobegins_need_labels() {
    check("cobegin x = 1; coend", &["CS0101 1:9 statement before the first label of a cobegin"]);
    check("cobegin coend", &["CS0101 1:1 cobegin without threads"]);
}

#[test]
fn definitions_stay_at_top_level() {
    check("{ int f() { return 1; } }", &["CS0101 1:7 function `f` inside a block"]);
    check("void f() { class A { int x; } }", &["CS0101 1:18 class `A` inside a block"]);
    check("cobegin T: input int n = 3; coend", &["CS0101 1:22 input `n` inside a block"]);
}

#[test]
fn all_errors_of_a_file_come_in_one_run() {
    let text = "int a = ;\nclass A {\n  int x\n  void m(int a b) { x = ; }\n}\nvoid f() {\n  if (a {\n    b = 1 +;\n  }\n  \
                return 1\n}\nvoid g() { x = @; y = \"a\\q\"; }\nint z = 1";
    check(
        text,
        &[
            "CS0101 1:9 unexpected `;`, expected an expression or `{`",
            "CS0101 3:8 missing `;` after `x`",
            "CS0101 4:16 unexpected `b`, expected `)`, `[` or `,`",
            "CS0101 7:8 missing `)`",
            "CS0101 8:12 unexpected `;`, expected an expression",
            "CS0101 10:11 missing `;` after `1`",
            "CS0102 12:16 unexpected character `@`",
            r"CS0105 12:25 unknown escape `\q` in a string",
            "CS0101 13:10 missing `;` after `1`",
        ],
    );
}

#[test]
fn recovery_keeps_what_is_sound() {
    let (_, parsed) =
        parse_text("int a = +;\nvoid f() { x = (; y = 1; }\nint b = 2;\nclass C { int ; int y; }\nvoid g() {}");
    assert_eq!(parsed.program.items.len(), 5);
}

#[test]
fn all_errors_of_a_file_are_shown() {
    let found = errors(&"int x = ;\n".repeat(2000));
    assert_eq!(found.len(), 2000);
    assert_eq!(found[1999], "CS0101 2000:9 unexpected `;`, expected an expression or `{`");
    let found = errors(&"int x = ;\n".repeat(20_000));
    assert_eq!(found.len(), 10_001);
    assert_eq!(found[10_000], "CS0901 - too many errors: the rest of the file was not read");
}
