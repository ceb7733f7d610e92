//! Input that is large, deep or nonsense: a diagnostic, no overflow of the stack, and bounded work.

use super::{errors, parse_text};

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    assert_eq!(errors(text), expected);
}

fn nested(open: &str, middle: &str, close: &str, count: usize) -> String {
    [&open.repeat(count), middle, &close.repeat(count)].concat()
}

#[test]
fn brackets_nest_to_256() {
    check(&nested("{", "", "}", 256), &[]);
    check(&nested("{", "x = 1;", "}", 257), &["CS0107 1:257 nested too deeply at `{`"]);
    check(&format!("x = {};", nested("(", "1", ")", 256)), &[]);
    check(&format!("x = {};", nested("(", "1", ")", 257)), &["CS0107 1:261 nested too deeply at `(`"]);
    check(&nested("{", "x = 1;", "}", 100_000), &["CS0107 1:257 nested too deeply at `{`"]);
    check(&"(".repeat(10 << 20), &["CS0107 1:257 nested too deeply at `(`"]);
    check(&format!("x = {}", "(".repeat(10 << 20)), &["CS0107 1:261 nested too deeply at `(`"]);
    check(&format!("x = {};", nested("t[", "1", "]", 100_000)), &["CS0107 1:518 nested too deeply at `[`"]);
    check(&nested("cobegin T: ", "skip;", "coend ", 100_000), &["CS0107 1:2817 nested too deeply at `cobegin`"]);
}

#[test]
fn statements_nest_to_256() {
    check(&nested("{", "x = 1;", "}", 255), &[]);
    check(&nested("{", "x = 1;", "}", 256), &["CS0107 1:1 statement nested too deeply"]);
    check(&format!("{}x = 1;", "if (a) ".repeat(255)), &[]);
    check(&format!("{}x = 1;", "if (a) ".repeat(256)), &["CS0107 1:1 statement nested too deeply"]);
    check(&format!("{}x = 1;", "while (a) ".repeat(256)), &["CS0107 1:1 statement nested too deeply"]);
    // A block counts too.
    check(&nested("if (a) { ", "x = 1;", " }", 127), &[]);
    check(
        &nested("if (a) { ", "x = 1;", " }", 200).replace("x = 1", "x = "),
        &["CS0107 1:649 statement nested too deeply", "CS0101 1:1805 unexpected `;`, expected an expression"],
    );
    check(&format!("{}x = 1;", "if (a) ".repeat(100_000)), &["CS0107 1:3585 nested too deeply at `if`"]);
    check(&nested("do ", "x = 1; ", "while (a);", 100_000), &["CS0107 1:1537 nested too deeply at `do`"]);
}

#[test]
fn chains_of_else_if_go_to_255() {
    let chain = |count: usize| format!("if (a) x = 1;\n{}", "else if (a) x = 2;\n".repeat(count));
    check(&chain(254), &[]);
    check(&chain(300), &["CS0107 46:6 statement nested too deeply"]);
    check(
        &(chain(300) + "int y = ;"),
        &["CS0107 46:6 statement nested too deeply", "CS0101 302:9 unexpected `;`, expected an expression or `{`"],
    );
    check(&chain(100_000), &["CS0107 513:6 nested too deeply at `if`"]);
}

#[test]
fn chains_of_operators_go_to_255() {
    let sum = |count: usize| format!("x = {}1;", "1+".repeat(count));
    check(&sum(255), &[]);
    check(&sum(256), &["CS0107 1:516 expression nested too deeply"]);
    check(&sum(1_000_000), &["CS0107 1:516 expression nested too deeply"]);
    check(&format!("x = {}1;", "- ".repeat(255)), &[]);
    check(&format!("x = {}1;", "- ".repeat(256)), &["CS0107 1:5 expression nested too deeply"]);
    check(&format!("x = {}1;", "- ".repeat(100_000)), &["CS0107 1:1029 nested too deeply at `-`"]);
    check(&format!("x = {}1;", "!".repeat(100_000)), &["CS0107 1:517 nested too deeply at `!`"]);
    check(&format!("x = {}1;", "1 ? 2 : ".repeat(100_000)), &["CS0107 1:4103 nested too deeply at `?`"]);
    check(&format!("x = {}1;", "(int) ".repeat(300)), &["CS0107 1:270 expression nested too deeply"]);
    check(&format!("x{} = 1;", ".y".repeat(100_000)), &["CS0107 1:513 expression nested too deeply"]);
    // Prefix operators that each have their operand are no chain.
    check(&format!("f({}1);", "!a, -1, a ? 1 : 2, ".repeat(10_000)), &[]);
    check(&format!("x = {};", nested("(1+", "1", ")", 255)), &[]);
}

#[test]
fn long_lists_are_no_chains() {
    check(&format!("int t[9] = {{{}1}};", "1, ".repeat(20_000)), &[]);
    check(&"x = 1; ".repeat(20_000), &[]);
    check(&format!("int a{};", ", b = - 1".repeat(20_000)), &[]);
    check(&format!("cobegin {} coend", "T: x = 1; ".repeat(20_000)), &[]);
    check(&"{ if (a) x = 1; else x = 2; } ".repeat(20_000), &[]);
    assert!(parse_text(&";".repeat(200_000)).1.program.items.is_empty());
}

/// The parser stops after 10,000 errors, and says so; some of them only follow from others.
fn assert_many(text: &str) {
    let found = errors(text);
    assert!((21..=10_001).contains(&found.len()), "{} errors", found.len());
    assert!(found.last().is_some_and(|last| last.starts_with("CS0901")), "{:?}", found.last());
}

#[test]
fn nonsense_is_skipped_in_bounded_time() {
    check(&",".repeat(1 << 18), &["CS0101 1:1 unexpected `,`, expected a statement"]);
    let deep = format!("void main() {{{}{}", "{".repeat(250), ", ".repeat(1 << 18));
    check(&deep, &["CS0107 1:34080 statement too long"]);
    let deep = format!("{}{}", "if (a) ".repeat(250), ", ".repeat(1 << 18));
    assert_eq!(errors(&deep).len(), 1);
    let runs = format!("{}{}", "{".repeat(250), ", , , ; ".repeat(1 << 18));
    assert_many(&runs);
    assert_many(&"@ ".repeat(1 << 18));
    assert_many(&")".repeat(1 << 18));
    assert_many(&"}".repeat(1 << 18));
    check(
        &"if ".repeat(1 << 18),
        &["CS0101 1:4 unexpected `if`, expected `(`", "CS0107 1:1537 nested too deeply at `if`"],
    );
    assert_many(&"\"\n".repeat(1 << 18));
    assert!(!errors(&"/*".repeat(1 << 18)).is_empty());
    assert_eq!(errors(&format!("{}{}", "{ ".repeat(200), "if ( ".repeat(1 << 18))).len(), 513);
}
