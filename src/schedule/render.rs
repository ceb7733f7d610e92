//! Prints a trace in columns.
//!
//! **Input**: a [`Trace`] and the width of the terminal.
//!
//! **Output**: text: a column of source lines, then one column for each thread. Where the columns would become too narrow,
//! there is one for all, in which each row begins with its thread. What does not fit loses its middle, for which `…` stands.

use super::trace::{Row, RowKind, Trace};
use crate::source::cut::{columns, head, tail};
use anstyle::{AnsiColor, Style};
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

/// Columns for the source line.
const LINE_WIDTH: usize = 6;

/// A trace as text; every line ends in a newline and none is wider than the terminal.
#[must_use]
pub fn render(trace: &Trace, options: &RenderOptions) -> String {
    let count = trace.threads.len().max(1);
    let rest = options.width.saturating_sub(LINE_WIDTH);
    let width = rest / count;
    let mut out = String::new();
    if width >= NARROWEST || count == 1 {
        headline(&mut out, trace, width, options);
        for row in &trace.rows {
            let indent = width * row.column;
            // The last column may use what the division has left over.
            let room = if row.column + 1 == count { rest - indent } else { width - 1 };
            line(&mut out, row, &" ".repeat(indent), &row.text(), room, options);
        }
    } else {
        for row in &trace.rows {
            let text = format!("{}: {}", trace.threads[row.column], row.text());
            line(&mut out, row, "", &text, rest, options);
        }
    }
    out
}

fn headline(out: &mut String, trace: &Trace, width: usize, options: &RenderOptions) {
    let mut names = String::new();
    for name in &trace.threads {
        let name = cut(name, width.saturating_sub(1));
        let pad = width.saturating_sub(columns(&name));
        let _ = write!(names, "{name}{:pad$}", "");
    }
    let style = if options.color { Style::new().bold() } else { Style::new() };
    let _ = writeln!(out, "{style}{:>4}  {}{style:#}", "line", names.trim_end());
}

fn line(out: &mut String, row: &Row, indent: &str, text: &str, room: usize, options: &RenderOptions) {
    let style = if options.color { style(row.kind) } else { Style::new() };
    // Writing to a string does not fail.
    let _ = writeln!(out, "{:>4}  {indent}{style}{}{style:#}", row.line, cut(text, room));
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

/// The text, without its middle where it takes more than `width` columns: what differs, such as the number of a
/// thread or a value, often stands at the end. A newline is shown as `⏎`.
fn cut(text: &str, width: usize) -> String {
    let text = text.replace('\n', "⏎");
    if columns(&text) <= width {
        return text;
    }
    let kept = width.saturating_sub(1);
    let (first, last) = (kept - kept / 2, kept / 2);
    let ellipsis = if width > 0 { "…" } else { "" };
    format!("{}{ellipsis}{}", head(&text, first), tail(&text, last))
}
