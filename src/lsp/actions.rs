//! Code actions: a comment that suppresses a finding.

use super::document::Document;
use super::text::Encoding;
use crate::diagnostics::Diagnostic;
use crate::source::Span;
use gen_lsp_types::{CodeAction, CodeActionKind, Range, TextEdit, WorkspaceEdit};
use std::collections::{BTreeMap, HashMap};

/// The actions for the findings that touch a range.
pub(super) fn actions(document: &Document, encoding: Encoding, range: Range) -> Vec<CodeAction> {
    let (start, end) = (document.offset(encoding, range.start), document.offset(encoding, range.end));
    let found = document.analysis.found.iter().chain(document.explored.iter().flat_map(|explored| &explored.found));
    let mut lines: BTreeMap<(u32, &str), &Diagnostic> = BTreeMap::new();
    for finding in found.filter(|finding| finding.code.is_suppressible()) {
        let Some(span) = finding.span().filter(|span| span.start <= end && start <= span.end) else { continue };
        lines.entry((document.line(span), finding.code.number())).or_insert(finding);
    }
    lines.into_iter().map(|((line, _), finding)| suppress(document, encoding, line, finding)).collect()
}

/// A comment in a line of its own, above the line of the finding.
fn suppress(document: &Document, encoding: Encoding, line: u32, finding: &Diagnostic) -> CodeAction {
    let file = document.analysis.source();
    let text = file.line_text(line);
    let indent: String = text.chars().take_while(|character| character.is_whitespace()).collect();
    let start = file.line_range(line as usize - 1).map_or(0, |range| range.start);
    let at = document.range(encoding, Span::new(document.analysis.file, start, start));
    let edit = TextEdit { range: at, new_text: format!("{indent}// cssame: allow({})\n", finding.code.number()) };
    CodeAction {
        title: format!("Suppress {} ({}) by a comment", finding.code.number(), finding.code.title()),
        kind: Some(CodeActionKind::QuickFix),
        diagnostics: Some(vec![super::convert::diagnostic(document, encoding, finding)]),
        edit: Some(WorkspaceEdit {
            changes: Some(HashMap::from([(document.uri.clone(), vec![edit])])),
            ..WorkspaceEdit::default()
        }),
        ..CodeAction::default()
    }
}
