//! Markdown: the summary of a job.
//!
//! **Input**: a [`Listing`]. **Output**: the number of findings, a table of the findings, each finding with its place in the
//! source and the execution that shows it, and the bounds that were hit.

use super::{Listed, ListedStep, Listing};

/// Steps of an execution that are shown.
const STEPS: usize = 200;

/// The text of a listing.
#[must_use]
pub(super) fn render(listing: &Listing) -> String {
    let mut text = format!("## cssame {}: {}\n\n", listing.command, summary(listing));
    if listing.shown().next().is_some() {
        text += "| | code | place | finding |\n|---|---|---|---|\n";
        text.extend(listing.shown().map(row));
        text += "\n";
    }
    for bound in &listing.bounds {
        text += &format!("> **Not all was looked at:** {}.", inline(&bound.message));
        text.extend(bound.notes.iter().map(|note| format!(" {}.", inline(note))));
        text += "\n\n";
    }
    text.extend(listing.shown().map(details));
    text
}

fn summary(listing: &Listing) -> String {
    let words = [("error", "errors"), ("warning", "warnings"), ("note", "notes")];
    let mut parts: Vec<String> = words
        .into_iter()
        .filter_map(|(one, many)| match listing.shown().filter(|finding| finding.data.severity == one).count() {
            0 => None,
            1 => Some(format!("1 {one}")),
            count => Some(format!("{count} {many}")),
        })
        .collect();
    if parts.is_empty() {
        parts.push("nothing found".to_owned());
    }
    match listing.findings.len() - listing.shown().count() {
        0 => {}
        suppressed => parts.push(format!("{suppressed} suppressed")),
    }
    match listing.files.as_slice() {
        [file] => format!("{} in {}", parts.join(", "), code(file)),
        files => format!("{} in {} files", parts.join(", "), files.len()),
    }
}

fn row(finding: &Listed) -> String {
    let data = &finding.data;
    let place = match (&data.file, data.line) {
        (Some(file), Some(line)) => code(&format!("{file}:{line}")),
        _ => String::new(),
    };
    format!("| {} | {} | {place} | {} |\n", data.severity, data.code, inline(&data.message))
}

fn details(finding: &Listed) -> String {
    let mut text = finding.text.clone();
    if !finding.steps.is_empty() {
        text += "\nan execution that shows it:\n";
        text.extend(finding.steps.iter().take(STEPS).map(step));
        if finding.steps.len() > STEPS {
            text += &format!("  and {} more steps\n", finding.steps.len() - STEPS);
        }
    }
    let (data, fence) = (&finding.data, fence(&text));
    let title = html(&format!("{} {}", data.code, data.message));
    format!("<details><summary>{title}</summary>\n\n{fence}text\n{text}{fence}\n\n</details>\n\n")
}

fn step(step: &ListedStep) -> String {
    format!("  {}:{} {}: {}\n", step.line, step.column, step.thread, step.operation)
}

/// More backquotes than the text has behind one another.
fn fence(text: &str) -> String {
    let longest = text.split(|character| character != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(3.max(longest + 1))
}

/// As code in a cell of a table.
fn code(text: &str) -> String {
    let fence = "`".repeat(if text.contains('`') { 2 } else { 1 });
    format!("{fence}{}{fence}", text.replace('|', "\\|"))
}

/// A sentence, of which code in backquotes stays code.
fn inline(text: &str) -> String {
    let mut is_code = false;
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '`' => is_code = !is_code,
            '\n' => {
                out.push(' ');
                continue;
            }
            '|' => out.push('\\'),
            '*' | '_' | '[' | ']' | '<' | '>' | '#' | '\\' if !is_code => out.push('\\'),
            _ => {}
        }
        out.push(character);
    }
    out
}

fn html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
