//! Source files, spans, and line and column positions.
//!
//! In: file names and their text. Out: [`Span`]s that name a range of bytes of one file, and [`Position`]s
//! (line and column, both from 1, columns in characters) computed from them.

pub mod arena;
pub mod cut;
pub mod names;
pub mod texts;

use std::fmt;
use std::sync::Arc;

/// Names one file of a [`SourceMap`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// A half-open range of bytes, `start..end`, of one file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// Offset of the first byte.
    pub start: u32,
    /// Offset behind the last byte.
    pub end: u32,
}

impl Span {
    /// The span `start..end` of `file`.
    #[must_use]
    pub fn new(file: FileId, start: usize, end: usize) -> Span {
        Span { file, start: start as u32, end: end as u32 }
    }

    /// The smallest span that holds both; `other` must lie in the same file.
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// A place in a file: line and column, both from 1, the column in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl Position {
    /// Reads `12:7`, or `util.h:12:7` with the file before it.
    #[must_use]
    pub fn parse(text: &str) -> Option<(Option<&str>, Position)> {
        let (before, column) = text.rsplit_once(':')?;
        let (file, line) = before.rsplit_once(':').map_or((None, before), |(file, line)| (Some(file), line));
        let number = |text: &str| text.parse::<u32>().ok().filter(|&number| number > 0);
        Some((file, Position { line: number(line)?, column: number(column)? }))
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// One file: its name as given by the user, its text, and where its lines begin.
#[derive(Clone, Debug)]
pub struct SourceFile {
    name: Arc<str>,
    text: Arc<str>,
    line_starts: Vec<u32>,
    /// Characters that begin before each block of [`BLOCK`] bytes; empty where every character is one byte.
    characters_before: Vec<u32>,
    /// The last part of its name, where it stands beside the file that was named.
    beside: Option<Arc<str>>,
}

/// Bytes of a block: few enough to be counted for every position, enough to make the table small.
const BLOCK: usize = 512;

/// Where the character begins that the byte at `offset` belongs to; an offset past the end is the end.
fn character_start(text: &str, offset: usize) -> usize {
    let mut start = offset.min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    start
}

/// Characters that begin in these bytes of UTF-8.
fn characters(bytes: &[u8]) -> u32 {
    bytes.iter().filter(|&&byte| byte & 0xc0 != 0x80).count() as u32
}

impl SourceFile {
    /// A file of that name with that text.
    #[must_use]
    pub fn new(name: &str, text: &str) -> SourceFile {
        let line_starts = std::iter::once(0)
            .chain(text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(at, _)| at as u32 + 1))
            .collect();
        let mut characters_before = Vec::new();
        if !text.is_ascii() {
            let mut sum = 0;
            for block in text.as_bytes().chunks(BLOCK) {
                characters_before.push(sum);
                sum += characters(block);
            }
        }
        SourceFile { name: name.into(), text: text.into(), line_starts, characters_before, beside: None }
    }

    /// The name that the user gave.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What places in it are told with, where it stands beside the file that was named: the last part of its name.
    #[must_use]
    pub fn beside(&self) -> Option<&str> {
        self.beside.as_deref()
    }

    /// The whole text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Number of lines; a text that ends in a newline has an empty last one.
    #[must_use]
    pub fn line_count(&self) -> u32 {
        self.line_starts.len() as u32
    }

    /// Position of the byte at `offset`; an offset past the end is the end.
    #[must_use]
    pub fn position(&self, offset: u32) -> Position {
        let offset = offset.min(self.text.len() as u32);
        let line = self.line_starts.partition_point(|&start| start <= offset) - 1;
        let start = self.line_starts[line] as usize;
        let end = character_start(&self.text, offset as usize);
        Position { line: line as u32 + 1, column: self.character_index(end) - self.character_index(start) + 1 }
    }

    /// Number of characters before the byte at `offset`, where a character begins.
    fn character_index(&self, offset: usize) -> u32 {
        match self.characters_before.get(offset / BLOCK) {
            Some(before) => before + characters(&self.text.as_bytes()[offset - offset % BLOCK..offset]),
            // Every character is one byte, or the offset is the end of the text and of its last block.
            None if self.characters_before.is_empty() => offset as u32,
            None => self.character_index(offset - 1) + characters(&self.text.as_bytes()[offset - 1..offset]),
        }
    }

    /// Offset of the byte where the character at a position begins; the end of the line where it is shorter.
    #[must_use]
    pub fn offset(&self, position: Position) -> Option<u32> {
        let range = self.line_range((position.line as usize).checked_sub(1)?)?;
        let target = self.character_index(range.start) + position.column.saturating_sub(1);
        if self.characters_before.is_empty() {
            return Some(target.min(range.end as u32));
        }
        // The last block that begins before the character, or with it.
        let block = self.characters_before.partition_point(|&before| before <= target).saturating_sub(1);
        let skip = (target - self.characters_before[block]) as usize;
        let mut from = block * BLOCK;
        while !self.text.is_char_boundary(from) {
            from += 1;
        }
        let offset = self.text[from..].char_indices().nth(skip).map_or(self.text.len(), |(at, _)| from + at);
        Some(offset.min(range.end) as u32)
    }

    /// The text of a line (from 1) without its newline, or "" where there is no such line.
    #[must_use]
    pub fn line_text(&self, line: u32) -> &str {
        let Some(&start) = (line as usize).checked_sub(1).and_then(|index| self.line_starts.get(index)) else {
            return "";
        };
        let end = self.line_starts.get(line as usize).map_or(self.text.len(), |&next| next as usize);
        self.text[start as usize..end].trim_end_matches(['\n', '\r'])
    }

    /// Byte range of a line (from 0), its newline included.
    #[must_use]
    pub fn line_range(&self, line_index: usize) -> Option<std::ops::Range<usize>> {
        let start = *self.line_starts.get(line_index)? as usize;
        let end = self.line_starts.get(line_index + 1).map_or(self.text.len(), |&next| next as usize);
        Some(start..end)
    }
}

/// All files of one run.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
}

impl SourceMap {
    /// Adds a file and names it.
    pub fn add(&mut self, name: &str, text: &str) -> FileId {
        self.files.push(SourceFile::new(name, text));
        FileId(self.files.len() as u32 - 1)
    }

    /// Adds a file that another one includes, or that is linked with it: places in it are told with its name.
    pub fn add_beside(&mut self, name: &str, text: &str) -> FileId {
        let last = name.rsplit('/').next().unwrap_or(name).into();
        self.files.push(SourceFile { beside: Some(last), ..SourceFile::new(name, text) });
        FileId(self.files.len() as u32 - 1)
    }

    /// The file of that id, which must come from this map.
    #[must_use]
    pub fn file(&self, file: FileId) -> &SourceFile {
        &self.files[file.0 as usize]
    }

    /// The file of that id, if this map made it.
    #[must_use]
    pub fn get(&self, file: FileId) -> Option<&SourceFile> {
        self.files.get(file.0 as usize)
    }

    /// All files, in the order in which they were added.
    pub fn files(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        self.files.iter().enumerate().map(|(index, file)| (FileId(index as u32), file))
    }

    /// Where a span begins.
    #[must_use]
    pub fn position(&self, span: Span) -> Position {
        self.file(span.file).position(span.start)
    }

    /// Where a span begins, in words: `12:7`, or `util.h:12:7` in a file that stands beside the one that was named.
    #[must_use]
    pub fn place(&self, span: Span) -> String {
        match self.file(span.file).beside() {
            Some(file) => format!("{file}:{}", self.position(span)),
            None => self.position(span).to_string(),
        }
    }

    /// The line (from 1) on which a span begins.
    #[must_use]
    pub fn line(&self, span: Span) -> u32 {
        self.position(span).line
    }

    /// The text that a span covers.
    #[must_use]
    pub fn text(&self, span: Span) -> &str {
        self.file(span.file).text().get(span.start as usize..span.end as usize).unwrap_or("")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters_from_one() {
        let file = SourceFile::new("a.csm", "int é = 1;\nx");
        assert_eq!(file.position(0), Position { line: 1, column: 1 });
        // `é` is two bytes: the `=` stands at byte 7, but in column 7.
        assert_eq!(file.position(7), Position { line: 1, column: 7 });
        assert_eq!(file.position(12), Position { line: 2, column: 1 });
        assert_eq!(file.position(999), Position { line: 2, column: 2 });
        assert_eq!(file.line_text(1), "int é = 1;");
    }

    #[test]
    fn positions_in_a_long_line_are_those_of_a_count() {
        for letters in ["a", "é", "aé", "日本a", "🦀b"] {
            let text = format!("é\n{}\n{}", letters.repeat(BLOCK), letters.repeat(3));
            let file = SourceFile::new("a.csm", &text);
            let (mut line, mut column) = (1, 1);
            for (at, character) in text.char_indices().chain([(text.len(), ' ')]) {
                let position = Position { line, column };
                assert_eq!(file.position(at as u32), position, "{letters} {at}");
                assert_eq!(file.offset(position), Some(at as u32), "{letters} {at}");
                (line, column) = if character == '\n' { (line + 1, 1) } else { (line, column + 1) };
            }
            assert_eq!(
                file.offset(Position { line: 2, column: 1_000_000 }),
                file.offset(Position { line: 3, column: 1 })
            );
            assert_eq!(file.offset(Position { line: 4, column: 1 }), None);
        }
    }

    #[test]
    fn an_empty_file_has_one_line() {
        let file = SourceFile::new("e", "");
        assert_eq!(file.line_count(), 1);
        assert_eq!(file.position(0), Position { line: 1, column: 1 });
    }
}
