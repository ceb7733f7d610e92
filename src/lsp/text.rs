//! Positions of the protocol, which count lines from 0 and columns in units that the client chooses.
//!
//! **Input**: a text, and an offset in bytes or a position. **Output**: the other of the two. A position beyond the end of a line
//! is the end of the line, and a position beyond the text is the end of the text.

use super::protocol::{Position, Range};
use cssame_source::{SourceFile, Span};
use serde_json::Value;

/// What columns count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    /// Bytes.
    Utf8,
    /// Units of UTF-16: what every client knows.
    Utf16,
}

impl Encoding {
    /// The best one of those that a client knows, by their names.
    pub(super) fn of(known: &[Value]) -> Encoding {
        if known.iter().any(|name| name == Encoding::Utf8.name()) { Encoding::Utf8 } else { Encoding::Utf16 }
    }

    /// Its name in the protocol.
    pub(super) fn name(self) -> &'static str {
        match self {
            Encoding::Utf8 => "utf-8",
            Encoding::Utf16 => "utf-16",
        }
    }

    fn units(self, text: &str) -> usize {
        match self {
            Encoding::Utf8 => text.len(),
            Encoding::Utf16 => text.encode_utf16().count(),
        }
    }

    /// Where a byte of a file stands.
    pub(super) fn position(self, file: &SourceFile, offset: u32) -> Position {
        let line = file.position(offset).line - 1;
        let range = file.line_range(line as usize).unwrap_or(0..0);
        let end = (offset as usize).clamp(range.start, file.text().len());
        let before = file.text().get(range.start..end).unwrap_or_default();
        Position { line, character: self.units(before) as u32 }
    }

    /// The same of both ends of a place.
    pub(super) fn range(self, file: &SourceFile, span: Span) -> Range {
        Range { start: self.position(file, span.start), end: self.position(file, span.end) }
    }

    /// The byte at a position.
    pub(super) fn offset(self, file: &SourceFile, position: Position) -> u32 {
        let Some(range) = file.line_range(position.line as usize) else { return file.text().len() as u32 };
        let mut left = position.character as usize;
        let mut offset = range.start;
        let line = file.text()[range].trim_end_matches(['\n', '\r']);
        for character in line.chars() {
            let units = match self {
                Encoding::Utf8 => character.len_utf8(),
                Encoding::Utf16 => character.len_utf16(),
            };
            if units > left {
                break;
            }
            left -= units;
            offset += character.len_utf8();
        }
        offset as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cssame_source::FileId;

    const TEXT: &str = "int x;\n/* é 😀 */ y\n";

    #[test]
    fn positions_lead_back() {
        let file = SourceFile::new("p.csm", TEXT);
        for encoding in [Encoding::Utf8, Encoding::Utf16] {
            for (offset, _) in TEXT.char_indices() {
                let position = encoding.position(&file, offset as u32);
                assert_eq!(encoding.offset(&file, position), offset as u32, "{encoding:?} {offset}");
            }
        }
    }

    #[test]
    fn units_are_those_of_the_encoding() {
        let file = SourceFile::new("p.csm", TEXT);
        let y = TEXT.find('y').unwrap_or_default();
        let column = |encoding: Encoding| encoding.position(&file, y as u32).character;
        assert_eq!((column(Encoding::Utf8), column(Encoding::Utf16)), (14, 11));
        let range = Encoding::Utf16.range(&file, Span::new(FileId(0), y, y + 1));
        assert_eq!((range.start.line, range.end.character), (1, 12));
    }

    #[test]
    fn what_lies_behind_is_the_end() {
        let file = SourceFile::new("p.csm", TEXT);
        let at = |line, character| Encoding::Utf16.offset(&file, Position { line, character });
        assert_eq!(at(0, 99), 6);
        assert_eq!(at(99, 0), TEXT.len() as u32);
        // In the middle of a character of two units.
        assert_eq!(at(1, 6), at(1, 5));
    }
}
