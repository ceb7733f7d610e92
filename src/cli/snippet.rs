//! Pieces of human text: places in the source, titles, and tables, within 80 columns.

use crate::explore::report::ThreadOutput;
use crate::source::cut::{Cut, cut};
use crate::source::{FileId, Position, SourceMap, Span};
use anstyle::{AnsiColor, Style};

/// Width of the text, in characters.
pub const WIDTH: usize = 80;

/// Characters of source text that a table shows of a line.
const STATEMENT_WIDTH: usize = 32;

/// Bytes of a line that is too long to be looked at as a whole.
const LONG_LINE: usize = 1_000;

/// Text in a style, where there is colour.
#[must_use]
pub fn styled(text: &str, style: Style, colour: bool) -> String {
    if colour { format!("{style}{text}{style:#}") } else { text.to_owned() }
}

/// A line that begins a block.
#[must_use]
pub fn title(text: &str, colour: bool) -> String {
    styled(text, Style::new().bold(), colour) + "\n"
}

/// The line on which a span begins, with carets and a message below it; a long line is cut around the span.
#[must_use]
pub fn place(sources: &SourceMap, span: Span, message: &str, colour: bool) -> String {
    let (number, line, start) = line_of(sources, span);
    let end = start + sources.text(span).lines().next().map_or(0, str::len);
    let Cut { text, places } = cut(line, &[start, end]);
    let number = number.to_string();
    let blank = " ".repeat(number.len());
    // Tabs stand before the caret as they stand before the place.
    let before: String = text[..places[0]].chars().map(|each| if each == '\t' { '\t' } else { ' ' }).collect();
    let carets = "^".repeat(text[places[0]..places[1]].chars().count().max(1));
    let frame = |text: &str| styled(text, AnsiColor::Blue.on_default(), colour);
    let carets = styled(&format!("{carets} {message}"), AnsiColor::BrightYellow.on_default(), colour);
    format!("  {} {text}\n  {} {before}{carets}\n", frame(&format!("{number} |")), frame(&format!("{blank} |")))
}

/// The line on which a span begins: its number, its text, and the offset of the span in it.
fn line_of(sources: &SourceMap, span: Span) -> (u32, &str, usize) {
    let file = sources.file(span.file);
    let line = sources.line(span);
    let begin = file.line_range(line as usize - 1).unwrap_or_default().start;
    (line, file.line_text(line), (span.start as usize).saturating_sub(begin))
}

/// The text of the line on which a span begins, from the span on, cut to a bearable length.
#[must_use]
pub fn statement(sources: &SourceMap, span: Span) -> String {
    let (_, line, start) = line_of(sources, span);
    let rest = line.get(start..).unwrap_or("");
    // More is not shown in any case, and a line may be very long.
    let long = line.len() > LONG_LINE || line.trim().chars().count() > STATEMENT_WIDTH;
    let mut seen = rest.chars().take(LONG_LINE);
    // A place within a declaration is clearer with what stands before it.
    let text = if long || seen.any(|each| each == '=') { rest.trim_start() } else { line.trim() };
    shorten(text, STATEMENT_WIDTH)
}

/// The span of the word or the sign at `LINE:COL`; empty at the end of the file where there is no such place.
#[must_use]
pub fn span_at(sources: &SourceMap, file: FileId, position: &str) -> Span {
    let number = |text: &str| text.parse::<u32>().ok();
    let position = position.split_once(':').and_then(|(line, column)| Some((number(line)?, number(column)?)));
    let source = sources.file(file);
    let offset = position.and_then(|(line, column)| source.offset(Position { line, column }));
    let start = offset.map_or(source.text().len(), |offset| offset as usize);
    let rest = &source.text()[start..];
    let word = rest.find(|each: char| !each.is_alphanumeric() && each != '_').unwrap_or(rest.len());
    let sign = rest.chars().next().filter(|each| !each.is_control()).map_or(0, char::len_utf8);
    Span::new(file, start, start + word.max(sign))
}

/// The text, cut so that it has at most `width` characters.
#[must_use]
pub fn shorten(text: &str, width: usize) -> String {
    if text.chars().nth(width).is_none() {
        return text.to_owned();
    }
    let cut: String = text.chars().take(width.saturating_sub(1)).collect();
    cut.trim_end().to_owned() + "…"
}

/// `1 term`, `2 terms`
#[must_use]
pub fn plural(count: usize, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}

/// What the threads have printed: `  T1: line`.
#[must_use]
pub fn outputs(by_thread: &[ThreadOutput]) -> String {
    let lines = by_thread.iter().flat_map(|of| of.output.iter().map(|line| format!("  {}: {line}\n", of.thread)));
    lines.collect()
}

/// Rows whose cells stand in columns.
#[derive(Clone, Debug, Default)]
pub struct Table {
    indent: &'static str,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table whose lines begin with `indent`.
    #[must_use]
    pub fn new(indent: &'static str) -> Table {
        Table { indent, rows: Vec::new() }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// The lines, each with a newline. A last cell that would pass the right margin goes to a line of its own.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width_of = |column: usize| {
            self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width_of).collect();
        self.rows.iter().map(|row| self.line(row, &widths)).collect()
    }

    fn line(&self, row: &[String], widths: &[usize]) -> String {
        let mut line = self.indent.to_owned();
        let mut length = line.len();
        for (column, cell) in row.iter().enumerate() {
            let last = column + 1 == row.len();
            if last && column > 0 && length + cell.chars().count() > WIDTH {
                line = line.trim_end().to_owned() + "\n" + self.indent + &" ".repeat(widths[0] + 2);
            }
            line.push_str(cell);
            let pad = widths[column] + 2 - cell.chars().count();
            line.push_str(&" ".repeat(pad));
            length += widths[column] + 2;
        }
        line.trim_end().to_owned() + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_long_cells_wrap() {
        let mut table = Table::new("  ");
        table.row(vec!["a_10".to_owned(), "T1".to_owned(), "x".to_owned()]);
        table.row(vec!["a_2".to_owned(), "outer/T2".to_owned(), "y".repeat(70)]);
        let lines = table.lines();
        assert_eq!(lines[0], "  a_10  T1        x\n");
        assert_eq!(lines[1], format!("  a_2   outer/T2\n        {}\n", "y".repeat(70)));
    }

    #[test]
    fn a_place_has_a_caret_below_it() {
        let mut sources = SourceMap::default();
        let file = sources.add("a.csm", "\tx = yes;\n");
        let text = place(&sources, Span::new(file, 5, 8), "here", false);
        assert_eq!(text, "  1 | \tx = yes;\n    | \t    ^^^ here\n");
    }
}
