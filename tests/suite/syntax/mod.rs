//! Tests of the `syntax` layer: what parses, what it means, what is said of bad input, and the printer.
//!
//! In: program texts. Out: trees and diagnostics, compared as text.

mod bytes;
mod errors;
mod format;
mod generate;
mod limits;
mod names;
mod round_trip;
mod trees;

use cssame::diagnostics::Diagnostic;
use cssame::front::csm::syntax::ast::Program;
use cssame::front::csm::syntax::{Parsed, parse};
use cssame::source::SourceMap;

fn parse_text(text: &str) -> (SourceMap, Parsed) {
    let mut sources = SourceMap::default();
    let file = sources.add("test.csm", text);
    let parsed = parse(&sources, file);
    (sources, parsed)
}

/// The program of a text without errors.
fn program(text: &str) -> Program {
    let (sources, parsed) = parse_text(text);
    assert_eq!(describe_all(&sources, &parsed.diagnostics), Vec::<String>::new(), "in: {text}");
    parsed.program
}

/// The diagnostics of a text, each as `CS0101 1:10 message`.
fn errors(text: &str) -> Vec<String> {
    let (sources, parsed) = parse_text(text);
    describe_all(&sources, &parsed.diagnostics)
}

fn describe_all(sources: &SourceMap, diagnostics: &[Diagnostic]) -> Vec<String> {
    diagnostics.iter().map(|diagnostic| describe(sources, diagnostic)).collect()
}

fn describe(sources: &SourceMap, diagnostic: &Diagnostic) -> String {
    let position = diagnostic.span().map_or("-".to_owned(), |span| sources.position(span).to_string());
    format!("{} {position} {}", diagnostic.code, diagnostic.message)
}

/// A tree without spans, as text: programs are equal up to spans when these are.
fn erased(program: &Program) -> String {
    let text = format!("{program:?}");
    let mut parts = text.split("Span {");
    let mut erased = parts.next().unwrap_or("").to_owned();
    for part in parts {
        erased.push('_');
        erased.push_str(part.split_once('}').map_or("", |(_, rest)| rest));
    }
    erased
}
