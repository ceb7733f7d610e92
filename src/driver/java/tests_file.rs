//! `FuturesTest.java`: one JUnit test for each recorded execution.
//!
//! In: tests. Out: Java text. The plans are in separate files. A test names the plan that the program follows, and its comment
//! says what this shows.

use super::package_of;
use super::text::{comment, string, word};
use crate::Expect;
use crate::parts::Parts;
use crate::test_case::TestCase;
use std::fmt::Write;

/// Tests of a class at most: Java bounds the size of a class.
const MANY: usize = 1_000;

/// The classes of tests: name and text.
pub(super) fn classes(parts: &Parts<'_>) -> Vec<(String, String)> {
    let chunks = parts.cases.chunks(MANY).enumerate();
    let class = |(number, cases): (usize, &[TestCase])| {
        let name = if number == 0 { "FuturesTest".to_owned() } else { format!("Futures{}Test", number + 1) };
        let text = class(parts, (&name, cases));
        (name, text)
    };
    chunks.map(class).collect()
}

fn class(parts: &Parts<'_>, (name, cases): (&str, &[TestCase])) -> String {
    let mut text = format!(
        "package {};\n\nimport cssame.Run;\nimport org.junit.jupiter.api.Test;\n\n\
         /**\n * The futures of `{}`: made by cssame {}.\n *\n\
         * <p>A test follows one recorded execution; its plan is `src/test/resources/plans/NAME.plan`.\n */\n\
         class {name} {{\n",
        parts.name,
        comment(&parts.options.file),
        env!("CARGO_PKG_VERSION"),
    )
    .replace("\n* ", "\n * ");
    for (number, case) in cases.iter().enumerate() {
        if number > 0 {
            text.push('\n');
        }
        text += &test(parts, case);
    }
    text + "}\n"
}

fn test(parts: &Parts<'_>, case: &TestCase) -> String {
    let mut text = "    /**\n".to_owned();
    for line in &case.comment {
        let shown = format!("     * {}", comment(line));
        let _ = writeln!(text, "{}", shown.trim_end());
    }
    let program = match &case.module {
        Some(module) => format!("{}.Program", package_of(parts.name, Some(module))),
        None => "Program".to_owned(),
    };
    let expect = case.expectation(parts.options);
    let (name, plan) = (word(&case.name), string(&case.name));
    let passes = expect == Expect::Recorded;
    let _ = write!(
        text,
        "     */\n    @Test\n    void {name}() {{\n        Run.follow({plan}, {program}::reset, {program}::main, {passes});\n"
    );
    if let (Some(violation), Expect::Program) = (&case.violation, expect) {
        let _ = writeln!(text, "        throw new AssertionError({});", string(violation));
    }
    text + "    }\n"
}
