//! Features that depend only on the lines of a text: folding, and the layout in one style.

use super::document::Document;
use super::protocol::{FoldingRange, FoldingRangeKind, TextEdit};
use super::text::Encoding;
use cssame_front::{folds, format};
use cssame_source::Span;

/// What can be folded.
pub(super) fn folding_ranges(document: &Document) -> Vec<FoldingRange> {
    let range = |fold: cssame_front::Fold| FoldingRange {
        start_line: fold.first,
        end_line: fold.last,
        kind: if fold.is_comment { FoldingRangeKind::Comment } else { FoldingRangeKind::Region },
    };
    folds(document.text()).into_iter().map(range).collect()
}

/// The change that gives a document the style of `cssame fmt`; none where it has syntax errors, or the style already.
pub(super) fn formatting(document: &Document, encoding: Encoding) -> Vec<TextEdit> {
    let Ok(new) = format(&document.analysis.sources, document.analysis.file) else { return Vec::new() };
    let old = document.text();
    let lines = |text: &'_ str| -> Vec<usize> { text.split_inclusive('\n').map(str::len).collect() };
    let (old_lines, new_lines) = (lines(old), lines(&new));
    let mut start = 0;
    for (length, other) in old_lines.iter().zip(&new_lines) {
        if length != other || old[start..start + length] != new[start..start + other] {
            break;
        }
        start += length;
    }
    let mut behind = 0;
    for (length, other) in old_lines.iter().rev().zip(new_lines.iter().rev()) {
        let (of_old, of_new) = (old.len() - behind - length, new.len() - behind - other);
        if of_old < start || of_new < start || old[of_old..of_old + length] != new[of_new..of_new + other] {
            break;
        }
        behind += length;
    }
    let span = Span::new(document.analysis.file, start, old.len() - behind);
    let new_text = new[start..new.len() - behind].to_owned();
    if new_text.is_empty() && span.start == span.end {
        return Vec::new();
    }
    vec![TextEdit { range: document.range(encoding, span), new_text }]
}
