//! The few lines of source that one diagnostic shows, each cut to a reasonable length.
//!
//! In: the places of a diagnostic. Out: for each file, a small text with these lines, which the renderer uses in place of the
//! file, and the places within it. Line numbers and positions stay those of the source. Between distant lines there are [`GAP`]
//! empty ones that are never shown, so the renderer never scans a long file or a long line.

use codespan_reporting::files::{Error, Files, Location};
use cssame_source::cut::{Cut, cut};
use cssame_source::{FileId, Position, SourceFile, SourceMap, Span};
use std::collections::BTreeMap;
use std::ops::Range;

/// Lines shown behind the first line of a place; at least what the renderer shows.
const AFTER_START: usize = 3;

/// Lines shown before the last line of a place; at least what the renderer shows.
const BEFORE_END: usize = 1;

/// Lines that stand for those left out: so many that the renderer shows a break, not the lines.
const GAP: usize = 2;

/// The excerpts of all files that a diagnostic names.
#[derive(Debug)]
pub(super) struct Excerpts<'a> {
    files: Vec<Excerpt<'a>>,
}

/// The excerpt of one file.
#[derive(Debug)]
struct Excerpt<'a> {
    id: FileId,
    name: &'a str,
    text: String,
    lines: Vec<Line>,
    /// The places of the source, as offset and what stands for it in `text`, and where they are.
    places: Vec<(usize, usize, Position)>,
}

#[derive(Debug)]
struct Line {
    /// Where it begins in the text of the excerpt.
    start: usize,
    /// Its number in the source, from 1.
    number: usize,
}

impl<'a> Excerpts<'a> {
    /// The excerpts for some places; those in an unknown file are left out.
    pub(super) fn new(sources: &'a SourceMap, spans: &[Span]) -> Excerpts<'a> {
        let mut ids: Vec<FileId> = Vec::new();
        for span in spans {
            if !ids.contains(&span.file) {
                ids.push(span.file);
            }
        }
        let build = |id: FileId| {
            let own: Vec<Span> = spans.iter().copied().filter(|span| span.file == id).collect();
            sources.get(id).map(|file| Excerpt::new(id, file, &own))
        };
        Excerpts { files: ids.into_iter().filter_map(build).collect() }
    }

    /// What stands for a place in the excerpt of its file.
    pub(super) fn range(&self, span: Span) -> Option<Range<usize>> {
        let file = self.file(span.file).ok()?;
        let start = file.find(span.start as usize)?;
        Some(start..file.find(span.end as usize)?.max(start))
    }

    fn file(&self, id: FileId) -> Result<&Excerpt<'a>, Error> {
        self.files.iter().find(|file| file.id == id).ok_or(Error::FileMissing)
    }
}

impl<'a> Excerpt<'a> {
    fn new(id: FileId, file: &'a SourceFile, spans: &[Span]) -> Excerpt<'a> {
        let mut excerpt = Excerpt { id, name: file.name(), text: String::new(), lines: Vec::new(), places: Vec::new() };
        let mut last = None;
        for (number, offsets) in lines(file, spans) {
            if last.is_some_and(|last| number > last + 1) {
                (0..GAP).for_each(|_| excerpt.push(number, ""));
            }
            last = Some(number);
            excerpt.push_cut(file, number, &offsets);
        }
        excerpt
    }

    fn push_cut(&mut self, file: &SourceFile, number: usize, offsets: &[u32]) {
        let range = file.line_range(number - 1).unwrap_or_default();
        let within: Vec<usize> = offsets.iter().map(|&offset| offset as usize - range.start).collect();
        let Cut { text, places } = cut(file.line_text(number as u32), &within);
        let start = self.text.len();
        let found = offsets.iter().zip(&places);
        self.places.extend(found.map(|(&offset, place)| (offset as usize, start + place, file.position(offset))));
        self.push(number, &text);
    }

    fn push(&mut self, number: usize, text: &str) {
        self.lines.push(Line { start: self.text.len(), number });
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn find(&self, offset: usize) -> Option<usize> {
        // An offset past the end of the file stands for its end, which is the last place.
        let found = self.places.iter().find(|(source, _, _)| *source == offset);
        found.or_else(|| self.places.iter().max()).map(|(_, shown, _)| *shown)
    }

    fn line(&self, index: usize) -> Result<&Line, Error> {
        self.lines.get(index).ok_or(Error::LineTooLarge { given: index, max: self.lines.len() })
    }
}

/// The lines to show, by number, each with the offsets of the places on it.
fn lines(file: &SourceFile, spans: &[Span]) -> BTreeMap<usize, Vec<u32>> {
    let end_of_file = file.text().len() as u32;
    let mut lines: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
    for span in spans {
        let (start, end) = (span.start.min(end_of_file), span.end.min(end_of_file));
        let (first, last) = (file.position(start).line as usize, file.position(end).line as usize);
        lines.entry(first).or_default().push(start);
        lines.entry(last).or_default().push(end);
        for number in (first..=last).take(AFTER_START + 1).chain((first..=last).rev().take(BEFORE_END + 1)) {
            lines.entry(number).or_default();
        }
    }
    // The renderer shows a single line between two others.
    let numbers: Vec<usize> = lines.keys().copied().collect();
    for pair in numbers.windows(2).filter(|pair| pair[1] == pair[0] + 2) {
        lines.entry(pair[0] + 1).or_default();
    }
    lines
}

impl<'a> Files<'a> for Excerpts<'a> {
    type FileId = FileId;
    type Name = &'a str;
    type Source = &'a str;

    fn name(&'a self, id: FileId) -> Result<&'a str, Error> {
        Ok(self.file(id)?.name)
    }

    fn source(&'a self, id: FileId) -> Result<&'a str, Error> {
        Ok(&self.file(id)?.text)
    }

    fn line_index(&'a self, id: FileId, byte_index: usize) -> Result<usize, Error> {
        Ok(self.file(id)?.lines.partition_point(|line| line.start <= byte_index).saturating_sub(1))
    }

    fn line_number(&'a self, id: FileId, line_index: usize) -> Result<usize, Error> {
        Ok(self.file(id)?.line(line_index)?.number)
    }

    fn line_range(&'a self, id: FileId, line_index: usize) -> Result<Range<usize>, Error> {
        let file = self.file(id)?;
        let end = file.lines.get(line_index + 1).map_or(file.text.len(), |next| next.start);
        Ok(file.line(line_index)?.start..end)
    }

    fn location(&'a self, id: FileId, byte_index: usize) -> Result<Location, Error> {
        let file = self.file(id)?;
        let place = file.places.iter().find(|(_, shown, _)| *shown == byte_index);
        let (_, _, position) = place.ok_or(Error::IndexTooLarge { given: byte_index, max: file.text.len() })?;
        Ok(Location { line_number: position.line as usize, column_number: position.column as usize })
    }
}
