//! Diagnostics as plain data, for `--format json`.

use super::Diagnostic;
use cssame_source::{SourceMap, Span};
use serde::Serialize;

/// A diagnostic as it stands in JSON (`docs/json.md`).
#[derive(Clone, Debug, Serialize)]
pub struct DiagnosticData {
    /// `CS0401`.
    pub code: &'static str,
    /// `error`, `warning` or `note`.
    pub severity: &'static str,
    /// The sentence.
    pub message: String,
    /// Name of the file, where the diagnostic has a place.
    pub file: Option<String>,
    /// Line from 1.
    pub line: Option<u32>,
    /// Column in characters, from 1.
    pub column: Option<u32>,
    /// All places, the primary one first.
    pub labels: Vec<LabelData>,
    /// Further facts.
    pub notes: Vec<String>,
    /// How to mend it.
    pub help: Option<String>,
}

/// A place with what is said of it.
#[derive(Clone, Debug, Serialize)]
pub struct LabelData {
    /// Name of the file.
    pub file: String,
    /// Line from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Line on which the place ends.
    pub end_line: u32,
    /// Column behind its last character.
    pub end_column: u32,
    /// What is said of it.
    pub message: String,
}

/// The data of one diagnostic.
#[must_use]
pub fn diagnostic_data(sources: &SourceMap, diagnostic: &Diagnostic) -> DiagnosticData {
    let labels: Vec<LabelData> = diagnostic
        .primary
        .iter()
        .chain(&diagnostic.secondary)
        .map(|label| label_data(sources, label.span, &label.message))
        .collect();
    let first = diagnostic.primary.as_ref().and_then(|_| labels.first());
    DiagnosticData {
        code: diagnostic.code.number(),
        severity: diagnostic.severity.word(),
        message: diagnostic.message.clone(),
        file: first.map(|label| label.file.clone()),
        line: first.map(|label| label.line),
        column: first.map(|label| label.column),
        notes: diagnostic.notes.clone(),
        help: diagnostic.help.clone(),
        labels,
    }
}

fn label_data(sources: &SourceMap, span: Span, message: &str) -> LabelData {
    let file = sources.file(span.file);
    let (start, end) = (file.position(span.start), file.position(span.end));
    LabelData {
        file: file.name().to_owned(),
        line: start.line,
        column: start.column,
        end_line: end.line,
        end_column: end.column,
        message: message.to_owned(),
    }
}
