//! The text of a layout.
//!
//! **Input**: a [`Layout`]. **Output**: its text.
//!
//! **Algorithm**: each line has its columns, its pieces, and a blank between two pieces that are not adjacent. A comment at the
//! end of a line stays in its column, counted from the beginning of the line, if the line is not too long for that. Comments of
//! neighbouring lines that were in one column stay aligned.
//!
//! **Soundness and limits**: lines of a multi-line comment stay unchanged, except for white space at their ends; if each begins
//! with `*`, the `*` are aligned. Columns are counted in characters.

use super::breaks::Layout;
use super::pieces::{Kind, Piece};

/// A line before the comment at its end is placed.
struct Line<'p, 't> {
    text: String,
    comment: Option<&'p Piece<'t>>,
    /// Where the comment stood, and where it has to stand.
    columns: Option<(usize, usize)>,
    is_behind_empty: bool,
}

/// The text, with these line ends.
pub(super) fn text(layout: &Layout<'_, '_>, line_end: &str) -> String {
    let mut lines: Vec<Line<'_, '_>> = layout.lines().map(|line| one_line(layout, line, line_end)).collect();
    align(&mut lines);
    let mut text = String::new();
    for line in lines {
        if line.is_behind_empty {
            text.push_str(line_end);
        }
        text.push_str(&line.text);
        if let Some(comment) = line.comment {
            let width = last_line(&line.text).chars().count();
            let column = line.columns.map_or(width + 1, |(_, column)| column);
            text.extend(std::iter::repeat_n(' ', column.saturating_sub(width)));
            text.push_str(comment.text);
        }
        text.push_str(line_end);
    }
    text
}

fn last_line(text: &str) -> &str {
    text.rsplit('\n').next().unwrap_or(text)
}

fn one_line<'p, 't>(layout: &Layout<'p, 't>, (start, end): (usize, usize), line_end: &str) -> Line<'p, 't> {
    let indent = layout.indents[start];
    let mut text = " ".repeat(indent);
    let pieces = &layout.pieces[start..end];
    let (comment, code) = match pieces {
        [code @ .., last] if last.kind == Kind::LineComment && !code.is_empty() => (Some(last), code),
        _ => (None, pieces),
    };
    for (at, piece) in code.iter().enumerate() {
        if at > 0 && layout.blanks[start + at] {
            text.push(' ');
        }
        if piece.has_lines() {
            push_lines(&mut text, piece.text, (at == 0).then_some(indent), line_end);
        } else {
            text.push_str(piece.text);
        }
    }
    let columns = comment.filter(|comment| comment.line == pieces[0].line).map(|comment| {
        let wanted = indent + comment.column - pieces[0].column;
        (comment.column, wanted.max(text.chars().count() + 1))
    });
    Line { text, comment, columns, is_behind_empty: layout.breaks[start] > 1 }
}

/// A comment of several lines; `indent` is given where it begins a line.
fn push_lines(text: &mut String, comment: &str, indent: Option<usize>, line_end: &str) {
    let mut lines = comment.split('\n').map(str::trim_end);
    text.push_str(lines.next().unwrap_or_default());
    let has_stars = lines.clone().all(|line| line.trim_start().starts_with('*'));
    for line in lines {
        text.push_str(line_end);
        match indent.filter(|_| has_stars) {
            Some(indent) => {
                text.extend(std::iter::repeat_n(' ', indent + 1));
                text.push_str(line.trim_start());
            }
            None => text.push_str(line),
        }
    }
}

/// Comments that stood in one column, in neighbouring lines, get one again.
fn align(lines: &mut [Line<'_, '_>]) {
    let stood = |line: &Line<'_, '_>| line.columns.map(|(stood, _)| stood);
    for run in lines.chunk_by_mut(|one, next| stood(one).is_some() && stood(one) == stood(next)) {
        let column = run.iter().filter_map(|line| line.columns).map(|(_, column)| column).max();
        for line in run {
            line.columns = line.columns.zip(column).map(|((stood, _), column)| (stood, column));
        }
    }
}
