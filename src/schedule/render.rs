//! Prints a trace in columns.
//!
//! **Input**: a [`Trace`] and the width of the terminal.
//!
//! **Output**: text: a column of source lines, then one column for each thread. Where the columns would become too narrow,
//! there is one for all, in which each row begins with its thread.
//!
//! **Algorithm**: each line of text has one row of the trace, so that it may go on to the right margin. A row that does not fit
//! goes on in the next line, below its beginning. Lines end between words; a row with a word that does not fit between its column
//! and the margin begins at the left, with its thread.
//!
//! **Soundness and limits**: nothing is cut. A word that is wider than the terminal goes beyond the margin.

use super::row::{Row, RowKind};
use super::trace::Trace;
use anstyle::{AnsiColor, Style};
use cssame_source::cut::{columns, visible};
use std::fmt::Write;

/// How to print a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RenderOptions {
    /// Columns of the terminal.
    pub width: usize,
    /// Whether to use colours.
    pub color: bool,
}

impl Default for RenderOptions {
    fn default() -> Self {
        RenderOptions { width: 80, color: false }
    }
}

/// Below this width a column is of no use.
const NARROWEST: usize = 12;

/// Columns further apart would be harder to follow; the last one may go on to the margin.
const WIDEST: usize = 40;

/// Columns for the source line.
const LINE_WIDTH: usize = 6;

/// Further columns for the lines with which a row goes on that begins with its thread.
const HANGING: usize = 2;

/// A trace as text; every line ends in a newline.
#[must_use]
pub fn render(trace: &Trace, options: &RenderOptions) -> String {
    let count = trace.threads.len().max(1);
    let rest = options.width.saturating_sub(LINE_WIDTH);
    let width = (rest / count).min(WIDEST);
    let names_fit = trace.threads.iter().all(|name| columns(name) < width) || count == 1;
    let has_columns = (width >= NARROWEST || count == 1) && names_fit;
    let mut out = String::new();
    if has_columns {
        headline(&mut out, trace, width, options);
    }
    for row in &trace.rows {
        let indent = if has_columns { width * row.column } else { 0 };
        let mut words = words(row);
        if has_columns && (count == 1 || words.iter().all(|word| columns(word) <= rest - indent)) {
            lines(&mut out, row, &words, (indent, indent, rest), options);
        } else {
            words.insert(0, format!("{}:", trace.threads[row.column]));
            lines(&mut out, row, &words, (0, HANGING, rest), options);
        }
    }
    out
}

fn headline(out: &mut String, trace: &Trace, width: usize, options: &RenderOptions) {
    let mut names = String::new();
    for name in &trace.threads {
        let pad = width.saturating_sub(columns(name));
        let _ = write!(names, "{name}{:pad$}", "");
    }
    let style = if options.color { Style::new().bold() } else { Style::new() };
    let _ = writeln!(out, "{style}{:>4}  {}{style:#}", "line", names.trim_end());
}

/// The lines of a row, the first one with the number of its source line.
fn lines(
    out: &mut String,
    row: &Row,
    words: &[String],
    (first, others, rest): (usize, usize, usize),
    options: &RenderOptions,
) {
    let style = if options.color { style(row.kind) } else { Style::new() };
    let mut indent = first;
    let mut line = String::new();
    let mut number = row.line.to_string();
    // Writing to a string does not fail.
    let mut end = |line: &mut String, indent: usize| {
        let _ = writeln!(out, "{number:>4}  {:indent$}{style}{}{style:#}", "", line.trim_end());
        (*line, number) = (String::new(), String::new());
    };
    for word in words {
        if !line.is_empty() {
            if indent + columns(&line) + 1 + columns(word) > rest {
                end(&mut line, indent);
                indent = others;
            } else {
                line.push(' ');
            }
        }
        line.push_str(word);
    }
    end(&mut line, indent);
}

/// The words of a row. A newline is shown as `⏎`, other signs that would move the cursor by signs for them.
fn words(row: &Row) -> Vec<String> {
    let shown = |each: char| if each == '\n' { '⏎' } else { visible(each) };
    row.words().iter().map(|word| word.chars().map(shown).collect()).collect()
}

fn style(kind: RowKind) -> Style {
    let color = match kind {
        RowKind::Read => AnsiColor::Cyan,
        RowKind::Write => AnsiColor::Yellow,
        RowKind::Synchronise | RowKind::Thread => AnsiColor::Blue,
        RowKind::Choose | RowKind::Print => AnsiColor::Green,
        RowKind::Failure | RowKind::Blocked => AnsiColor::Red,
        RowKind::Omitted => return Style::new().dimmed(),
    };
    color.on_default()
}
