//! From a read to the writes that it may see, from any place of a variable to its declaration, and to all of its places.

use super::analysis::covers;
use super::document::Document;
use super::hover::reads_at;
use super::text::Encoding;
use crate::source::Span;
use gen_lsp_types::{Location, Position};

/// The writes that the read at a position may see; elsewhere, the declaration of the variable there, or of the function
/// that is named so.
pub(super) fn definition(document: &Document, encoding: Encoding, position: Position) -> Vec<Location> {
    let Some(compiled) = document.compiled() else { return Vec::new() };
    let offset = document.offset(encoding, position);
    let terms = reads_at(compiled, offset).into_iter().flat_map(|read| read.terms.iter());
    let mut spans: Vec<Span> = terms.map(|term| term.span).collect();
    if spans.is_empty() {
        spans.extend(compiled.symbol_at(offset).map(|symbol| compiled.program().symbols[symbol].span));
    }
    if spans.is_empty() {
        spans.extend(named_function(document, offset));
    }
    spans.sort();
    spans.dedup();
    spans.into_iter().map(|span| location(document, encoding, span)).collect()
}

/// All places of the variable at a position.
pub(super) fn references(
    document: &Document,
    encoding: Encoding,
    position: Position,
    with_declaration: bool,
) -> Vec<Location> {
    let Some(compiled) = document.compiled() else { return Vec::new() };
    let Some(symbol) = compiled.symbol_at(document.offset(encoding, position)) else { return Vec::new() };
    let declared = compiled.program().symbols[symbol].span;
    let places = compiled.places_of(symbol).into_iter().filter(|&span| with_declaration || span != declared);
    places.map(|span| location(document, encoding, span)).collect()
}

fn location(document: &Document, encoding: Encoding, span: Span) -> Location {
    Location { uri: document.uri.clone(), range: document.range(encoding, span) }
}

/// The function whose name is the word at an offset; that of a method is its last part.
fn named_function(document: &Document, offset: u32) -> Option<Span> {
    let program = document.compiled()?.program();
    let text = document.text();
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    let offset = offset as usize;
    let start = text[..offset].rfind(|character| !is_word(character)).map_or(0, |at| at + 1);
    let end = text[offset..].find(|character| !is_word(character)).map_or(text.len(), |at| offset + at);
    let word = text.get(start..end).filter(|word| !word.is_empty())?;
    let functions = program.functions.iter();
    let named = |name: &str| name == word || name.rsplit_once('.').is_some_and(|(_, last)| last == word);
    let found = functions.filter(|function| named(program.texts.get(function.name))).map(|function| function.span);
    let found: Vec<Span> = found.collect();
    // The place itself is where it is declared already.
    found.iter().copied().find(|span| covers(*span, offset as u32)).or_else(|| found.first().copied())
}
