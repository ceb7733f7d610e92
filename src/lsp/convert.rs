//! Converts diagnostics of the tool to those of the protocol.

use super::document::Document;
use super::protocol::{
    Diagnostic as Shown, DiagnosticRelatedInformation, DiagnosticSeverity, Location, Position, Range,
};
use super::text::Encoding;
use cssame_diagnostics::{Diagnostic, Label, Severity};
use cssame_source::Span;

/// A diagnostic in a document. Notes and help stand below the sentence; one without a place stands at the top.
pub(super) fn diagnostic(document: &Document, encoding: Encoding, of: &Diagnostic) -> Shown {
    let top = Range { start: Position { line: 0, character: 0 }, end: Position { line: 0, character: 0 } };
    let label = of.primary.as_ref().map(|label| label.message.as_str()).filter(|label| !of.message.contains(label));
    let sentence = match label {
        Some(label) if !label.is_empty() => format!("{} ({label})", of.message),
        _ => of.message.clone(),
    };
    let help = of.help.iter().map(|help| format!("help: {help}"));
    // What lies in a file that the document includes stands at the top.
    let (sources, span) = (&document.analysis.sources, of.span());
    let elsewhere = span.filter(|&span| !document.analysis.is_own(span));
    let sentence = match elsewhere {
        Some(span) => format!("{}:{}: {sentence}", sources.file(span.file).name(), sources.position(span)),
        None => sentence,
    };
    let lines: Vec<String> = std::iter::once(sentence).chain(of.notes.iter().cloned()).chain(help).collect();
    Shown {
        range: span.filter(|_| elsewhere.is_none()).map_or(top, |span| range(document, encoding, span)),
        severity: match of.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
            Severity::Note => DiagnosticSeverity::INFORMATION,
        },
        code: of.code.number(),
        source: "cssame",
        message: lines.join("\n"),
        related_information: of.secondary.iter().map(|label| related(document, encoding, label)).collect(),
    }
}

fn related(document: &Document, encoding: Encoding, label: &Label) -> DiagnosticRelatedInformation {
    let location = Location { uri: document.uri_of(label.span), range: range(document, encoding, label.span) };
    DiagnosticRelatedInformation { location, message: label.message.clone() }
}

/// A program that closes the file begins with its text; what lies behind it is shown at its end.
fn range(document: &Document, encoding: Encoding, span: Span) -> Range {
    let end = document.analysis.sources.file(span.file).text().len() as u32;
    document.range(encoding, Span { start: span.start.min(end), end: span.end.min(end), ..span })
}
