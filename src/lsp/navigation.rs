//! Navigation: from a read to the writes that it may see, from any name to its declaration, and to all of its places.

use super::document::Document;
use super::hover::reads_at;
use super::protocol::{DocumentHighlight, Location, Position};
use super::rename::{name_at, names_of};
use super::text::Encoding;
use cssame_source::Span;

/// The writes that the read at a position may see; elsewhere, the declaration of the name there.
pub(super) fn definition(document: &Document, encoding: Encoding, position: Position) -> Vec<Location> {
    let offset = document.offset(encoding, position);
    let reads = document.compiled().map(|compiled| reads_at(compiled, offset)).unwrap_or_default();
    let mut spans: Vec<Span> = reads.iter().flat_map(|read| read.terms.iter()).map(|term| term.span).collect();
    if spans.is_empty() {
        spans.extend(name_at(&names_of(document.text()).1.names, offset).map(|name| name.declared));
    }
    spans.sort();
    spans.dedup();
    spans.into_iter().map(|span| location(document, encoding, span)).collect()
}

/// All places of the name at a position.
pub(super) fn references(
    document: &Document,
    encoding: Encoding,
    position: Position,
    with_declaration: bool,
) -> Vec<Location> {
    let places = places(document, encoding, position).into_iter();
    let kept = places.filter(|(_, is_declaration)| with_declaration || !is_declaration);
    kept.map(|(span, _)| location(document, encoding, span)).collect()
}

/// The same places, to be marked.
pub(super) fn highlights(document: &Document, encoding: Encoding, position: Position) -> Vec<DocumentHighlight> {
    let places = places(document, encoding, position).into_iter();
    places.map(|(span, _)| DocumentHighlight { range: document.range(encoding, span) }).collect()
}

/// The places of the name at a position, and which one is the declaration.
fn places(document: &Document, encoding: Encoding, position: Position) -> Vec<(Span, bool)> {
    let names = names_of(document.text()).1.names;
    let Some(name) = name_at(&names, document.offset(encoding, position)) else { return Vec::new() };
    let same = names.iter().filter(|one| one.declared == name.declared);
    same.map(|one| (one.span, one.span == one.declared)).collect()
}

fn location(document: &Document, encoding: Encoding, span: Span) -> Location {
    Location { uri: document.uri_of(span), range: document.range(encoding, span) }
}
