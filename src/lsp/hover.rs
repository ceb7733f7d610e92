//! The hover text for the word under the cursor: the writes that a read may see, the reads that may see a write, the declaration
//! of a variable.

use super::analysis::CompiledText;
use super::document::Document;
use super::explorer::Verdict;
use super::protocol::{Hover, MarkupContent, MarkupKind, Position};
use super::text::Encoding;
use cssame_answer::words::plural;
use cssame_form::ReadReport;

/// What is shown at a position.
pub(super) fn hover(document: &Document, encoding: Encoding, position: Position) -> Option<Hover> {
    let compiled = document.compiled()?;
    let offset = document.offset(encoding, position);
    let reads: Vec<&ReadReport> = reads_at(compiled, offset);
    let writes = seen_by(document, compiled, offset);
    let span = reads.first().map(|read| read.span);
    let mut parts: Vec<String> = reads.iter().map(|read| of_read(document, read)).collect();
    parts.extend(writes);
    if parts.is_empty() {
        parts.extend(of_symbol(document, compiled, offset));
    }
    (!parts.is_empty()).then(|| Hover {
        contents: MarkupContent { kind: MarkupKind::Markdown, value: parts.join("\n\n---\n\n") },
        range: span.map(|span| document.range(encoding, span)),
    })
}

/// What is known of the reads at an offset, one for each set of contexts that see the same.
pub(super) fn reads_at(compiled: &CompiledText, offset: u32) -> Vec<&ReadReport> {
    let all = compiled.pi.pis.iter().chain(&compiled.pi.single);
    all.filter(|read| compiled.covers(read.span, offset)).collect()
}

/// The verdict of a term in words.
pub(super) fn verdict(document: &Document, read: &str, def: &str) -> &'static str {
    let explored = document.explored.as_ref();
    let known = explored.and_then(|explored| explored.verdicts.get(&(read.to_owned(), def.to_owned())));
    match known {
        Some(Verdict::Feasible) => "feasible",
        Some(Verdict::Impossible) => "impossible",
        None => "not decided",
    }
}

fn of_read(document: &Document, read: &ReadReport) -> String {
    let context = read.context.as_ref().map_or_else(String::new, |context| format!(" as `{context}`"));
    let count = plural(read.terms.len(), "write");
    let mut text = format!("`{}` in {}{context} may see {count}\n\n", read.variable, read.thread);
    text += "| write | thread | line | verdict |\n|---|---|---|---|\n";
    for term in read.terms.iter() {
        let verdict = verdict(document, &read.read, &term.def);
        text += &format!("| `{}` | {} | {} | {verdict} |\n", term.def, term.thread, term.line);
    }
    if !read.pruned.is_empty() {
        let names: Vec<String> = read.pruned.iter().map(|pruned| format!("`{}`", pruned.term.def)).collect();
        text += &format!("\nand cannot see {}\n", names.join(", "));
    }
    text
}

/// The reads that may see the write at an offset.
fn seen_by(document: &Document, compiled: &CompiledText, offset: u32) -> Option<String> {
    let mut rows = Vec::new();
    let mut name = None;
    for read in compiled.pi.pis.iter().chain(&compiled.pi.single) {
        for term in read.terms.iter().filter(|term| compiled.covers(term.span, offset)) {
            name = Some(term.def.clone());
            let verdict = verdict(document, &read.read, &term.def);
            rows.push(format!("| `{}` | {} | {} | {verdict} |\n", read.read, read.thread, read.line));
        }
    }
    rows.dedup();
    let head = "| read | thread | line | verdict |\n|---|---|---|---|\n";
    Some(format!("`{}` may be seen by\n\n{head}{}", name?, rows.concat()))
}

fn of_symbol(document: &Document, compiled: &CompiledText, offset: u32) -> Option<String> {
    let program = compiled.program();
    let symbol = compiled.symbol_at(offset)?;
    let of = &program.symbols[symbol];
    let places = compiled.places_of(symbol).len();
    let line = document.line(of.span);
    Some(format!("`{}`, declared in line {line}, {}", of.full_name(&program.texts), plural(places, "place")))
}
