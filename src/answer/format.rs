//! The answer of `fmt`: files in the common style, and their differences from the original.

use cssame_diagnostics::Diagnostic;
use cssame_diagnostics::json::{DiagnosticData, diagnostic_data};
use cssame_front as front;
use cssame_source::{FileId, SourceMap};
use serde::Serialize;

/// Lines that are shown of a difference.
const SHOWN_LINES: usize = 3;

/// All files.
#[derive(Debug, Serialize)]
pub struct FormatReport {
    /// Whether nothing was to be written.
    pub check: bool,
    /// How many files are not, or were not, in the style.
    pub changed: usize,
    /// In the order of the command line.
    pub files: Vec<FormattedFile>,
}

/// One file.
#[derive(Debug, Serialize)]
pub struct FormattedFile {
    /// Its name.
    pub file: String,
    /// `unchanged`, `changed`, or `failed`: it cannot be read or written, or has syntax errors.
    pub status: &'static str,
    /// The first lines that change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<Difference>,
    /// The text in the style, where that is the answer: of standard input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Why it has failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<DiagnosticData>,
    /// The same, for other renderers.
    #[serde(skip)]
    pub found: Vec<Diagnostic>,
}

/// Where a text first changes.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The line, from 1.
    pub line: usize,
    /// What stands there, at most three lines, each with its end.
    pub old: Vec<String>,
    /// What is to stand there, at most three lines, each with its end.
    pub new: Vec<String>,
}

impl FormattedFile {
    /// A file that has failed.
    #[must_use]
    pub fn failed(sources: &SourceMap, file: String, found: Vec<Diagnostic>) -> FormattedFile {
        let diagnostics = found.iter().map(|each| diagnostic_data(sources, each)).collect();
        FormattedFile { file, status: "failed", difference: None, text: None, diagnostics, found }
    }
}

/// A file in the style, and its text; no text where it fails.
#[must_use]
pub fn format_file(
    sources: &SourceMap,
    name: String,
    file: Result<FileId, Diagnostic>,
) -> (FormattedFile, Option<String>) {
    let formatted = file.map_err(|error| vec![error]).and_then(|file| Ok((file, front::format(sources, file)?)));
    match formatted {
        Ok((file, text)) => {
            let difference = difference(sources.file(file).text(), &text);
            let status = if difference.is_some() { "changed" } else { "unchanged" };
            let (diagnostics, found) = (Vec::new(), Vec::new());
            (FormattedFile { file: name, status, difference, text: None, diagnostics, found }, Some(text))
        }
        Err(found) => (FormattedFile::failed(sources, name, found), None),
    }
}

fn difference(old: &str, new: &str) -> Option<Difference> {
    if old == new {
        return None;
    }
    let (mut old, mut new) = (old.split_inclusive('\n').peekable(), new.split_inclusive('\n').peekable());
    let mut line = 1;
    while old.peek() == new.peek() && old.peek().is_some() {
        old.next();
        new.next();
        line += 1;
    }
    let some = |lines: &mut dyn Iterator<Item = &str>| lines.take(SHOWN_LINES).map(str::to_owned).collect();
    Some(Difference { line, old: some(&mut old), new: some(&mut new) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(old: &str, new: &str) -> Option<(usize, String, String)> {
        difference(old, new).map(|Difference { line, old, new }| (line, old.concat(), new.concat()))
    }

    #[test]
    fn the_first_lines_that_differ() {
        assert_eq!(of("a\nb\n", "a\nb\n"), None);
        assert_eq!(of("a\nb\nc\n", "a\nB\nc\n"), Some((2, "b\nc\n".to_owned(), "B\nc\n".to_owned())));
        assert_eq!(of("a\nb", "a\nb\n"), Some((2, "b".to_owned(), "b\n".to_owned())));
        assert_eq!(of("a\n\n", "a\n"), Some((2, "\n".to_owned(), String::new())));
        assert_eq!(of("\n1\n2\n3\n4\n", ""), Some((1, "\n1\n2\n".to_owned(), String::new())));
    }
}
