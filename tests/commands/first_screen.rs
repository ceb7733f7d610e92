//! What a visitor sees of `cssame FILE` without turning a page: 24 lines of 80 columns.

use crate::process::{call, samples};

/// Lines of a screen.
const LINES: usize = 24;

/// Columns of a screen.
const COLUMNS: usize = 80;

/// Lines that may be wider: a line of source text stands as it is, a command line is there to be copied, and a file may have a long name.
fn is_as_it_is(line: &str) -> bool {
    line.contains(" │ ")
        || line.starts_with("record: ")
        || line.starts_with("replay: ")
        || line.contains(" has no main: ")
}

/// What is wrong with the first screen of a sample.
fn problem(status: i32, screen: &[&str]) -> Option<String> {
    let wide = screen.iter().find(|line| line.chars().count() > COLUMNS && !is_as_it_is(line));
    if let Some(wide) = wide {
        return Some(format!("a wide line: {wide}"));
    }
    let first = screen.first().copied().unwrap_or_default();
    // Steps stand behind an empty line. Who waits for whom may take the whole screen.
    let steps = screen.iter().position(|line| line.is_empty());
    let shows_steps = first.starts_with("error[CS0412]") || steps.is_some_and(|place| place + 2 < screen.len());
    let is_right = match status {
        0 if first.starts_with("note[CS") => true,
        0 => screen.len() <= 2,
        1 if first.starts_with("error[CS04") => shows_steps,
        1 => first.starts_with("warning[CS"),
        _ => false,
    };
    (!is_right).then(|| format!("status {status}: {}", screen.join("\n")))
}

/// The first screens of all samples are held to a text. On each the bug is named first and the steps begin; of a right program all is said
/// in a line or two.
#[test]
fn the_first_screen_of_each_sample_names_the_bug_or_says_what_is_sure() {
    let (mut screens, mut problems) = (String::new(), Vec::new());
    for sample in samples() {
        let name = format!("samples/{}", sample.file_name().unwrap().to_string_lossy());
        let answer = call("", &[&name]);
        let shown = answer.text();
        let screen: Vec<&str> = shown.lines().take(LINES).collect();
        problems.extend(problem(answer.status, &screen).map(|problem| format!("{name}: {problem}")));
        screens += &format!("== {name}: {}\n{}\n", answer.status, screen.join("\n"));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    insta::assert_snapshot!(screens);
}
