//! What a visitor sees of `cssame FILE` without turning a page: 24 lines of 80 columns.

use crate::process::{call, samples};

/// Lines of a screen.
const LINES: usize = 24;

/// Columns of a screen.
const COLUMNS: usize = 80;

/// Lines that may be wider: a line of source text stands as it is, and a command line is there to be copied.
fn is_as_it_is(line: &str) -> bool {
    line.contains(" │ ") || line.starts_with("record: ") || line.starts_with("replay: ")
}

/// The first screens of all samples are held to a text. On each the bug is named first and the steps begin; of a right program all is said
/// in a line.
#[test]
fn the_first_screen_of_each_sample_names_the_bug_or_says_what_is_sure() {
    let mut screens = String::new();
    for sample in samples() {
        let name = format!("samples/{}", sample.file_name().unwrap().to_string_lossy());
        let answer = call("", &[&name]);
        let shown = answer.text();
        let screen: Vec<&str> = shown.lines().take(LINES).collect();
        let wide: Vec<&&str> =
            screen.iter().filter(|line| line.chars().count() > COLUMNS && !is_as_it_is(line)).collect();
        assert!(wide.is_empty(), "{name}: {wide:?}");
        match answer.status {
            0 if answer.stdout.is_empty() => assert!(answer.stderr.lines().count() <= 2, "{name}: {shown}"),
            0 => assert!(screen[0].starts_with("note[CS"), "{name}: {shown}"),
            1 if screen[0].starts_with("error[CS04") => {
                let is_step = |line: &&&str| line.starts_with("line ") || line.trim_start().starts_with("replay: ");
                assert!(screen.iter().any(|line| is_step(&line)), "{name}: {shown}");
            }
            1 => assert!(screen[0].starts_with("warning[CS"), "{name}: {shown}"),
            status => panic!("{name}: status {status}: {shown}"),
        }
        screens += &format!("== {name}: {}\n{}\n", answer.status, screen.join("\n"));
    }
    insta::assert_snapshot!(screens);
}
