//! Code actions: fixes for a finding, and a comment that suppresses it.

use super::document::Document;
use super::protocol::{CodeAction, CodeActionKind, Range, TextEdit};
use super::text::Encoding;
use cssame_answer::mends;
use cssame_diagnostics::Diagnostic;
use cssame_source::Span;
use std::collections::BTreeMap;

/// The actions for the findings that touch a range: mends first.
pub(super) fn actions(document: &Document, encoding: Encoding, range: Range) -> Vec<CodeAction> {
    let (start, end) = (document.offset(encoding, range.start), document.offset(encoding, range.end));
    let touches = |finding: &&Diagnostic| {
        finding.span().is_some_and(|span| document.analysis.is_own(span) && span.start <= end && start <= span.end)
    };
    let explored = document.explored.iter().flat_map(|explored| &explored.found);
    let found = document.analysis.found.iter();
    let mut actions: Vec<CodeAction> =
        found.clone().filter(touches).flat_map(|finding| mended(document, encoding, finding)).collect();
    let mut lines: BTreeMap<(u32, &str), &Diagnostic> = BTreeMap::new();
    for finding in found.chain(explored).filter(touches).filter(|finding| finding.code.is_suppressible()) {
        if let Some(span) = finding.span() {
            lines.entry((document.line(span), finding.code.number())).or_insert(finding);
        }
    }
    actions.extend(lines.into_iter().map(|((line, _), finding)| suppress(document, encoding, line, finding)));
    actions
}

/// Changes after which the static passes find it no more; the first one is the best.
fn mended(document: &Document, encoding: Encoding, finding: &Diagnostic) -> Vec<CodeAction> {
    let found = mends(&document.analysis.sources, document.analysis.file, finding).into_iter().enumerate();
    let action = |(index, mend): (usize, cssame_answer::Mend)| {
        let edit = |(span, new_text)| TextEdit { range: document.range(encoding, span), new_text };
        let edits = mend.edits.into_iter().map(edit).collect();
        CodeAction { is_preferred: Some(index == 0), ..action(document, encoding, mend.title, finding, edits) }
    };
    found.map(action).collect()
}

/// A comment in a line of its own, above the line of the finding.
fn suppress(document: &Document, encoding: Encoding, line: u32, finding: &Diagnostic) -> CodeAction {
    let file = document.analysis.source();
    let text = file.line_text(line);
    let indent: String = text.chars().take_while(|character| character.is_whitespace()).collect();
    let start = file.line_range(line as usize - 1).map_or(0, |range| range.start);
    let at = document.range(encoding, Span::new(document.analysis.file, start, start));
    let edit = TextEdit { range: at, new_text: format!("{indent}// cssame: allow({})\n", finding.code.number()) };
    let title = format!("Suppress {} ({}) by a comment", finding.code.number(), finding.code.title());
    action(document, encoding, title, finding, vec![edit])
}

fn action(
    document: &Document,
    encoding: Encoding,
    title: String,
    finding: &Diagnostic,
    edits: Vec<TextEdit>,
) -> CodeAction {
    CodeAction {
        title,
        kind: CodeActionKind::QuickFix,
        diagnostics: vec![super::convert::diagnostic(document, encoding, finding)],
        is_preferred: None,
        edit: document.edit(edits),
    }
}
