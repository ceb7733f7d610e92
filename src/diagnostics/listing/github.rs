//! Workflow commands of GitHub Actions: a line for each finding, which is then shown at the line of a change.
//!
//! **Input**: a [`Listing`]. **Output**: `::error file=…,line=…,col=…,title=…::…` and the like. Suppressed findings are left out.
//! The other places, the facts and the help follow the sentence, each on its own line.

use super::{Listed, Listing};
use crate::json::{DiagnosticData, LabelData};

/// The text of a listing.
#[must_use]
pub(super) fn render(listing: &Listing) -> String {
    let findings = listing.shown().map(|finding| annotation(&finding.data, &message(finding)));
    let bounds = listing.bounds.iter().map(|bound| annotation(bound, &lines(&bound.message, bound, &[])));
    findings.chain(bounds).collect()
}

fn annotation(of: &DiagnosticData, message: &str) -> String {
    let command = match of.severity {
        "error" => "error",
        "warning" => "warning",
        _ => "notice",
    };
    let mut properties = Vec::new();
    if let Some(place) = of.labels.first() {
        properties.push(format!("file={}", property(&place.file)));
        properties.push(format!("line={},endLine={}", place.line, place.end_line));
        // Columns are those of one line.
        if place.line == place.end_line {
            properties.push(format!("col={},endColumn={}", place.column, place.end_column));
        }
    }
    properties.push(format!("title={}", property(of.code)));
    format!("::{command} {}::{}\n", properties.join(","), data(message))
}

fn message(finding: &Listed) -> String {
    lines(&finding.sentence(), &finding.data, finding.data.labels.get(1..).unwrap_or_default())
}

fn lines(sentence: &str, of: &DiagnosticData, others: &[LabelData]) -> String {
    let place = |label: &LabelData| format!("{}:{}:{}: {}", label.file, label.line, label.column, label.message);
    let help = of.help.iter().map(|help| format!("help: {help}"));
    let more = others.iter().map(place).chain(of.notes.iter().cloned()).chain(help);
    std::iter::once(sentence.to_owned()).chain(more).collect::<Vec<_>>().join("\n")
}

/// As the text of a command is escaped.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// As a property of a command is escaped.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
