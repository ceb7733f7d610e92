//! Prints a trace in columns.
//!
//! **Input**: a [`Trace`], [folded](super::fold) unless everything is requested, and the width of the terminal.
//!
//! **Output**: text: a column of source lines, then one column for each thread, or the text of the line next to each row. If the
//! columns would be too narrow, there is one common column, in which each row begins with its thread.
//!
//! **Algorithm**: each line of text has one row of the trace, so that it may extend to the right margin. A row that does not fit
//! continues in the next line, below its beginning. Lines end between words; a row with a word that does not fit between its
//! column and the margin begins at the left, with its thread.
//!
//! **Soundness and limits**: nothing is cut. A word that is wider than the terminal extends beyond the margin.

use super::row::{Row, RowKind};
use super::trace::Trace;
use anstyle::{AnsiColor, Style};
use cssame_source::cut::{columns, head, visible};
use cssame_source::{FileId, SourceFile, SourceMap};
use std::fmt::Write;

/// How to print a trace.
#[derive(Clone, Copy, Debug)]
pub struct RenderOptions<'a> {
    /// Columns of the terminal.
    pub width: usize,
    /// Whether to use colours.
    pub color: bool,
    /// Whether calls are shown with all that is done in them.
    pub whole: bool,
    /// The text to show beside each row, where it is to be shown.
    pub source: Option<&'a SourceMap>,
}

impl Default for RenderOptions<'_> {
    fn default() -> Self {
        RenderOptions { width: 80, color: false, whole: false, source: None }
    }
}

/// Below this width a column is of no use.
const NARROWEST: usize = 12;

/// Columns further apart would be harder to follow; the last one may go on to the margin.
const WIDEST: usize = 40;

/// Columns for the source line.
const LINE_WIDTH: usize = 4;

/// Further columns for the lines with which a row goes on that begins with its thread.
const HANGING: usize = 2;

/// A trace as text; every line ends in a newline.
#[must_use]
pub fn render(trace: &Trace, options: &RenderOptions<'_>) -> String {
    let trace = if options.whole { trace.with_operations() } else { trace.folded() };
    if let Some(sources) = options.source {
        return beside(&trace, sources, options);
    }
    let count = trace.threads.len().max(1);
    let number = line_width(&trace);
    let rest = options.width.saturating_sub(number + 2);
    let widths = widths(&trace, rest);
    let names_fit = trace.threads.iter().zip(&widths).all(|(name, &width)| columns(name) < width) || count == 1;
    let are_wide = count == 1 || widths.iter().all(|&width| width >= NARROWEST);
    let has_columns = are_wide && names_fit;
    let mut out = String::new();
    if has_columns {
        headline(&mut out, &trace, &widths, options);
    }
    for row in &trace.rows {
        let indent = if has_columns { widths[..row.column].iter().sum() } else { 0 };
        let mut words = words(row);
        if has_columns && (count == 1 || words.iter().all(|word| columns(word) <= rest - indent)) {
            lines(&mut out, row, &words, (number, indent, indent, rest), options);
        } else {
            words.insert(0, format!("{}:", trace.threads[row.column]));
            lines(&mut out, row, &words, (number, 0, HANGING, rest), options);
        }
    }
    out
}

/// The widths of the columns: all alike, unless a row would go on in a further line then. Then each has what its rows need, and where
/// that is too much, the widest ones less.
fn widths(trace: &Trace, rest: usize) -> Vec<usize> {
    let alike = vec![(rest / trace.threads.len().max(1)).min(WIDEST); trace.threads.len()];
    let end = |column: usize, widths: &[usize]| widths[..column].iter().sum::<usize>();
    let needed = |row: &Row| words(row).iter().map(|word| columns(word) + 1).sum::<usize>();
    if trace.rows.iter().all(|row| end(row.column, &alike) + needed(row) <= rest + 1) {
        return alike;
    }
    let mut widths: Vec<usize> = trace.threads.iter().map(|name| (columns(name) + 2).max(NARROWEST)).collect();
    for row in &trace.rows {
        widths[row.column] = widths[row.column].max((needed(row) + 1).min(WIDEST));
    }
    let mut over = widths.iter().sum::<usize>().saturating_sub(rest);
    while over > 0 {
        let Some(widest) = widths.iter_mut().max().filter(|width| **width > NARROWEST) else { return alike };
        *widest -= 1;
        over -= 1;
    }
    widths
}

fn headline(out: &mut String, trace: &Trace, widths: &[usize], options: &RenderOptions<'_>) {
    let number = line_width(trace);
    let mut names = String::new();
    for (name, width) in trace.threads.iter().zip(widths) {
        let pad = width.saturating_sub(columns(name));
        let _ = write!(names, "{name}{:pad$}", "");
    }
    let style = if options.color { Style::new().bold() } else { Style::new() };
    let _ = writeln!(out, "{style}{:>number$}  {}{style:#}", "line", names.trim_end());
}

/// Rows with their threads, and the text of each line beside them.
fn beside(trace: &Trace, sources: &SourceMap, options: &RenderOptions<'_>) -> String {
    let mut out = String::new();
    let told = |row: &Row| format!("{}: {}", trace.threads[row.column], words(row).join(" "));
    let number = line_width(trace);
    let rest = options.width.saturating_sub(number + 2);
    let widest = trace.rows.iter().map(|row| columns(&told(row))).max().unwrap_or(0).min(rest * 3 / 5);
    let dimmed = if options.color { Style::new().dimmed() } else { Style::new() };
    for row in &trace.rows {
        let (told, style) = (told(row), if options.color { style(row.kind) } else { Style::new() });
        let pad = widest.saturating_sub(columns(&told));
        let named = |(_, file): &(FileId, &SourceFile)| file.beside() == row.file.as_deref();
        let text = sources.files().find(named).map_or("", |(_, file)| file.line_text(row.line));
        // A comment would take the room of the statement.
        let text = text.split("  //").next().unwrap_or(text).trim();
        let room = rest.saturating_sub(columns(&told) + pad + 3).max(NARROWEST);
        let text: String = head(text, room).trim_end().chars().map(visible).collect();
        let _ = writeln!(out, "{:>number$}  {style}{told}{style:#}{:pad$} | {dimmed}{text}{dimmed:#}", place(row), "");
    }
    out
}

/// The line of a row, with the file where it stands beside the one that was named.
fn place(row: &Row) -> String {
    row.file.as_ref().map_or_else(|| row.line.to_string(), |file| format!("{file}:{}", row.line))
}

/// Columns that the lines of all rows take.
fn line_width(trace: &Trace) -> usize {
    trace.rows.iter().map(|row| columns(&place(row))).max().unwrap_or(0).max(LINE_WIDTH)
}

/// The lines of a row, the first one with the number of its source line.
fn lines(
    out: &mut String,
    row: &Row,
    words: &[String],
    (widest, first, others, rest): (usize, usize, usize, usize),
    options: &RenderOptions<'_>,
) {
    let style = if options.color { style(row.kind) } else { Style::new() };
    let mut indent = first;
    let mut line = String::new();
    let mut number = place(row);
    // Writing to a string does not fail.
    let mut end = |line: &mut String, indent: usize| {
        let _ = writeln!(out, "{number:>widest$}  {:indent$}{style}{}{style:#}", "", line.trim_end());
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
        RowKind::Write | RowKind::Operation => AnsiColor::Yellow,
        RowKind::Synchronise | RowKind::Thread => AnsiColor::Blue,
        RowKind::Choose | RowKind::Print => AnsiColor::Green,
        RowKind::Failure | RowKind::Blocked => AnsiColor::Red,
        RowKind::Call => return Style::new().bold(),
        RowKind::Omitted => return Style::new().dimmed(),
    };
    color.on_default()
}
