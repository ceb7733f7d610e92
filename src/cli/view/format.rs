//! The answer of `fmt` as text.

use crate::output::Output;
use cssame_answer::words::plural;
use cssame_answer::{Difference, FormatReport, FormattedFile};
use cssame_source::cut::visible;

/// The text of standard input; else the files that change.
pub fn print(report: &FormatReport, output: &mut Output) {
    for file in &report.files {
        let text = match (&file.text, &file.difference) {
            (Some(text), _) => text.clone(),
            (None, Some(difference)) if report.check => shown(file, difference),
            (None, Some(_)) => format!("formatted {}\n", file.file),
            (None, None) => continue,
        };
        output.print(&text);
    }
}

/// How many files are what; nothing beside the text of standard input.
pub fn summary(report: &FormatReport) -> String {
    if report.files.iter().any(|file| file.text.is_some()) {
        return String::new();
    }
    let count = |status: &str| report.files.iter().filter(|file| file.status == status).count();
    let changed = if report.check { "to be formatted" } else { "formatted" };
    let parts = [(report.changed, changed), (count("unchanged"), "unchanged"), (count("failed"), "failed")];
    let parts = parts.into_iter().filter(|&(count, _)| count > 0);
    let parts: Vec<String> = parts.map(|(count, word)| format!("{} {word}", plural(count, "file"))).collect();
    parts.join(", ") + "\n"
}

fn shown(file: &FormattedFile, difference: &Difference) -> String {
    let lines = |sign: char, lines: &[String]| {
        let line = |line: &String| {
            let end = if line.ends_with('\n') { "" } else { "\n\\ no line end" };
            let text: String = line.trim_end_matches('\n').chars().map(visible).collect();
            format!("{sign}{text}{end}\n")
        };
        lines.iter().map(line).collect::<String>()
    };
    let (old, new) = (lines('-', &difference.old), lines('+', &difference.new));
    format!("{}:{}: would be formatted\n{old}{new}", file.file, difference.line)
}
