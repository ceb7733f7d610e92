//! Renames the entity to which a name refers.
//!
//! **Input**: a document, a position and a name. **Output**: the places to change, or the reason why this is impossible.
//!
//! **Algorithm**: all names with the same declaration are replaced in a copy of the text, and names are resolved again. The new
//! name is accepted if every name refers to the same declaration as before, and there are no new errors.
//!
//! **Limits**: `main` keeps its name. Names of inputs in a configuration or on a command line are not changed there.

use super::document::Document;
use cssame_diagnostics::Code;
use cssame_front::{Names, names};
use cssame_source::names::Name;
use cssame_source::{FileId, SourceMap, Span};

/// The names of a text.
pub(super) fn names_of(text: &str) -> (SourceMap, Names) {
    let mut sources = SourceMap::default();
    let file = sources.add("", text);
    let found = names(&sources, file);
    (sources, found)
}

/// The name at an offset, or that ends there.
pub(super) fn name_at(names: &[Name], offset: u32) -> Option<Name> {
    names.iter().copied().find(|name| super::analysis::covers(name.span, offset))
}

/// What can be renamed at an offset.
pub(super) fn renamed_at(document: &Document, offset: u32) -> Result<Span, String> {
    let (sources, found) = names_of(document.text());
    renamed(&sources, &found, offset).map(|name| name.span)
}

fn renamed(sources: &SourceMap, found: &Names, offset: u32) -> Result<Name, String> {
    let name = name_at(&found.names, offset).ok_or("there is no name of this program here")?;
    match sources.text(name.declared) {
        "main" => Err("`main` is where the program begins".to_owned()),
        _ => Ok(name),
    }
}

/// The places that get the new name.
pub(super) fn rename(document: &Document, offset: u32, new: &str) -> Result<Vec<Span>, String> {
    let (sources, found) = names_of(document.text());
    let name = renamed(&sources, &found, offset)?;
    let is_word = new.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !is_word || new.is_empty() || new.starts_with(|first: char| first.is_ascii_digit()) || new == "main" {
        return Err(format!("`{new}` cannot be a name"));
    }
    let places: Vec<Span> =
        found.names.iter().filter(|one| one.declared == name.declared).map(|one| one.span).collect();
    let moved = Moved { places: &places, new };
    let (changed, after) = names_of(&moved.text(document.text()));
    let file = name.span.file;
    let expected = found.names.iter().map(|one| (moved.span(one.span, file), moved.span(one.declared, file)));
    let is_kept = expected.eq(after.names.iter().map(|one| (one.span, one.declared)));
    let codes = |names: &Names| -> Vec<Code> { names.errors.iter().map(|error| error.code).collect() };
    if is_kept && codes(&found) == codes(&after) {
        return Ok(places);
    }
    let errors = after.errors.iter().filter(|_| after.errors.len() > found.errors.len());
    let wrong = errors.filter_map(|error| Some((error.message.clone(), changed.line(error.span()?)))).next();
    Err(match wrong {
        Some((message, line)) => format!("with the name `{new}`, in line {line}: {message}"),
        None => format!("the name `{new}` means something else where it would stand"),
    })
}

/// A text in which places have another name.
struct Moved<'a> {
    /// In the order of the text.
    places: &'a [Span],
    new: &'a str,
}

impl Moved<'_> {
    fn text(&self, text: &str) -> String {
        let mut changed = String::with_capacity(text.len());
        let mut end = 0;
        for place in self.places {
            changed += &text[end..place.start as usize];
            changed += self.new;
            end = place.end as usize;
        }
        changed + &text[end..]
    }

    fn span(&self, span: Span, file: FileId) -> Span {
        Span { file, start: self.offset(span.start), end: self.offset(span.end) }
    }

    /// Where the byte of an offset is now. All places have the same length.
    fn offset(&self, offset: u32) -> u32 {
        let before = self.places.partition_point(|place| place.start < offset) as u32;
        let old = self.places.first().map_or(0, |place| place.end - place.start);
        offset - before * old + before * self.new.len() as u32
    }
}
