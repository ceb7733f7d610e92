//! The C files that can be read, as text: the obstacles in the others, the most frequent first.

use cssame_answer::words::plural;
use cssame_answer::{SupportedObstacle, SupportedReport};
use std::fmt::Write;

/// The reasons as a table, then the files that are read if all of them are wanted.
#[must_use]
pub fn text(report: &SupportedReport, all: bool) -> String {
    let mut text = String::new();
    let width = report.reasons.iter().map(|reason| reason.files.to_string().len()).max().unwrap_or(0);
    for reason in &report.reasons {
        let stage = reason.stage.map_or_else(String::new, |stage| format!(", stage {stage}"));
        let alone = if reason.alone == 0 { String::new() } else { format!(", {} by this alone", reason.alone) };
        let message = reason.first.message.as_ref().map_or_else(String::new, |message| format!(": {message}"));
        let place = place(&reason.first);
        let _ = writeln!(text, "{:>width$}  {}{stage}{alone}; {place}{message}", reason.files, reason.reason);
    }
    if all {
        for file in &report.refused {
            let reasons: Vec<&str> = file.obstacles.iter().map(|one| one.reason.as_str()).collect();
            let _ = writeln!(text, "{}: {}", file.file, reasons.join(", "));
        }
        for file in &report.read {
            let _ = writeln!(text, "{file}: read");
        }
    }
    text
}

fn place(first: &SupportedObstacle) -> String {
    let file = first.at.as_deref().unwrap_or("-");
    match (first.line, first.column) {
        (Some(line), Some(column)) => format!("{file}:{line}:{column}"),
        _ => file.to_owned(),
    }
}

/// How many files are read.
#[must_use]
pub fn summary(report: &SupportedReport) -> String {
    let all = report.read.len() + report.refused.len();
    format!("{} of {} read\n", report.read.len(), plural(all, "file"))
}
