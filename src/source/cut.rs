//! A line of source text as it is shown: control characters made visible, and a long line cut around some places.
//!
//! In: the text of a line, and byte offsets within it. Out: the text to show, and where those offsets are in it. A line
//! of several megabytes costs no more than the windows that are kept of it.

use super::character_start;
use std::ops::Range;
use unicode_width::UnicodeWidthChar;

/// Bytes of a line that is shown whole.
const WHOLE: usize = 160;

/// Characters that are kept on either side of a place.
const CONTEXT: usize = 32;

/// What stands for the parts that are left out.
const ELLIPSIS: char = '…';

/// A line to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The text; the parts that are left out are an ellipsis each.
    pub text: String,
    /// Where the places are in it, in the order in which they were given.
    pub places: Vec<usize>,
}

/// Cuts a line, given without its newline, around `places`; its beginning is shown where there are none. A place behind
/// the end of the line is its end, and one within a character is the beginning of it.
#[must_use]
pub fn cut(line: &str, places: &[usize]) -> Cut {
    let places: Vec<usize> = places.iter().map(|&place| character_start(line, place)).collect();
    let mut text = String::new();
    let mut found = vec![0; places.len()];
    let windows = windows(line, &places);
    for (index, window) in windows.iter().enumerate() {
        if index > 0 || window.start > 0 {
            text.push(ELLIPSIS);
        }
        for (at, character) in line[window.clone()].char_indices() {
            mark(&places, &mut found, window.start + at, text.len());
            text.push(visible(character));
        }
        mark(&places, &mut found, window.end, text.len());
    }
    if windows.last().is_some_and(|window| window.end < line.len()) {
        text.push(ELLIPSIS);
    }
    Cut { text, places: found }
}

/// Columns that a text takes on a terminal: a wide character takes two, one that is put onto the one before it none.
#[must_use]
pub fn columns(text: &str) -> usize {
    text.chars().map(character_columns).sum()
}

/// Columns that a character takes; a control character takes none.
#[must_use]
pub fn character_columns(character: char) -> usize {
    character.width().unwrap_or(0)
}

/// The longest beginning of a text that takes at most `width` columns.
#[must_use]
pub fn head(text: &str, width: usize) -> &str {
    let mut taken = 0;
    let end = text.char_indices().find(|&(_, character)| {
        taken += character_columns(character);
        taken > width
    });
    end.map_or(text, |(at, _)| &text[..at])
}

/// The longest end of a text that takes at most `width` columns.
#[must_use]
pub fn tail(text: &str, width: usize) -> &str {
    let mut taken = 0;
    let before = text.char_indices().rev().find(|&(_, character)| {
        taken += character_columns(character);
        taken > width
    });
    before.map_or(text, |(at, character)| &text[at + character.len_utf8()..])
}

/// Notes that the byte `offset` of the line is the byte `shown` of the text.
fn mark(places: &[usize], found: &mut [usize], offset: usize, shown: usize) {
    for (place, found) in places.iter().zip(found) {
        if *place == offset {
            *found = shown;
        }
    }
}

/// The parts to keep, in order, none touching the next.
fn windows(line: &str, places: &[usize]) -> Vec<Range<usize>> {
    if line.len() <= WHOLE {
        return std::iter::once(0..line.len()).collect();
    }
    let mut sorted = places.to_vec();
    sorted.sort_unstable();
    if sorted.is_empty() {
        sorted.push(0);
    }
    let mut windows: Vec<Range<usize>> = Vec::new();
    for place in sorted {
        let start = line[..place].char_indices().rev().take(CONTEXT).last().map_or(place, |(at, _)| at);
        let end = line[place..].char_indices().nth(CONTEXT).map_or(line.len(), |(at, _)| place + at);
        match windows.last_mut() {
            Some(last) if start <= last.end => last.end = last.end.max(end),
            _ => windows.push(start..end),
        }
    }
    windows
}

/// The character, or the sign that stands for it where it would move the cursor or worse. A tab stays one.
#[must_use]
pub fn visible(character: char) -> char {
    match character {
        '\t' => '\t',
        '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + character as u32).unwrap_or(char::REPLACEMENT_CHARACTER),
        '\u{7f}' => '\u{2421}',
        character if character.is_control() => char::REPLACEMENT_CHARACTER,
        character => character,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_line_is_kept() {
        let cut = cut("int é = 1;\u{1b}[0m", &[99, 4, 5, 0]);
        assert_eq!(cut.text, "int é = 1;␛[0m");
        // Byte 5 lies within `é`.
        assert_eq!(cut.places, [cut.text.len(), 4, 4, 0]);
    }

    #[test]
    fn a_long_line_is_cut_around_its_places() {
        let line = format!("{}x{}y{}", "é".repeat(100), "ü".repeat(100), "ä".repeat(100));
        let cut = cut(&line, &[200, 401]);
        let text = ["…", &"é".repeat(32), "x", &"ü".repeat(31), "…", &"ü".repeat(32), "y", &"ä".repeat(31), "…"];
        assert_eq!(cut.text, text.concat());
        assert_eq!(&cut.text[cut.places[0]..][..1], "x");
        assert_eq!(&cut.text[cut.places[1]..][..1], "y");
    }

    #[test]
    fn windows_that_meet_become_one() {
        let line = "a".repeat(50) + "x" + &"b".repeat(60) + "y" + &"c".repeat(60);
        let cut = cut(&line, &[111, 50]);
        assert_eq!(cut.text, ["…", &"a".repeat(32), "x", &"b".repeat(60), "y", &"c".repeat(31), "…"].concat());
        assert_eq!(&cut.text[cut.places[0]..][..1], "y");
    }

    #[test]
    fn without_a_place_the_beginning_is_shown() {
        let cut = cut(&"a".repeat(1_000), &[]);
        assert_eq!(cut.text, "a".repeat(32) + "…");
    }

    #[test]
    fn the_ends_of_a_long_line_need_no_ellipsis() {
        let line = "a".repeat(1_000);
        assert_eq!(cut(&line, &[0, 1_000]).text, "a".repeat(32) + "…" + &"a".repeat(32));
    }
}
