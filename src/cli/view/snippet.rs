//! Pieces of text for readers: places in the source, titles, and tables, within the columns of the terminal.

use crate::screen::width;
use anstyle::{AnsiColor, Style};
use cssame_answer::words::plural;
use cssame_explore::report::ThreadOutput;
use cssame_source::cut::{Cut, character_columns, columns, cut, head, visible};
use cssame_source::{SourceMap, Span};
use std::borrow::Cow;

/// Width of sentences at most, in columns.
const WIDTH: usize = 80;

/// Width of sentences: long lines are hard to read.
fn sentence_width() -> usize {
    width().min(WIDTH)
}

/// A space at which no line ends.
pub const JOINED: char = '\u{a0}';

/// Columns of a cell that its column makes room for.
const COLUMN_WIDTH: usize = 32;

/// Columns of source text that a table shows of a line.
const STATEMENT_WIDTH: usize = 32;

/// Characters in which the end of a statement is looked for.
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
    let before: String = text[..places[0]].chars().map(blank_of).collect();
    let carets = "^".repeat(columns(&text[places[0]..places[1]]).max(1));
    let frame = |text: &str| styled(text, AnsiColor::Blue.on_default(), colour);
    let carets = styled(&format!("{carets} {message}"), AnsiColor::BrightYellow.on_default(), colour);
    format!("  {} {text}\n  {} {before}{carets}\n", frame(&format!("{number} |")), frame(&format!("{blank} |")))
}

/// As many blanks as a character takes columns.
fn blank_of(character: char) -> &'static str {
    match character_columns(character) {
        _ if character == '\t' => "\t",
        0 => "",
        1 => " ",
        _ => "  ",
    }
}

/// The line on which a span begins: its number, its text, and the offset of the span in it.
fn line_of(sources: &SourceMap, span: Span) -> (u32, &str, usize) {
    let file = sources.file(span.file);
    let line = sources.line(span);
    let begin = file.line_range(line as usize - 1).unwrap_or_default().start;
    (line, file.line_text(line), (span.start as usize).saturating_sub(begin))
}

/// The statement that a span stands in, cut to a bearable length: from the span on, or with what stands before it on
/// its line where it is no assignment.
#[must_use]
pub fn statement(sources: &SourceMap, span: Span) -> String {
    let (_, line, start) = line_of(sources, span);
    let (before, rest) = line.split_at_checked(start).unwrap_or((line, ""));
    let rest = &rest[..statement_length(rest)];
    // A place within a declaration or a call is clearer with what stands before it.
    let begin = if assigns(rest) { start } else { before.rfind([';', '{', '}', ':']).map_or(0, |at| at + 1) };
    let text = balanced(line[begin..start + rest.len()].trim());
    let from_span = if head(text, STATEMENT_WIDTH).len() < text.len() { balanced(rest.trim()) } else { text };
    shorten(from_span, STATEMENT_WIDTH)
}

/// Up to a parenthesis that closes what began before: behind it stands what the step of a loop is no part of.
fn balanced(text: &str) -> &str {
    let (mut depth, mut quoted) = (0, false);
    let end = text.find(|each| {
        match each {
            '"' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => depth -= 1,
            _ => {}
        }
        depth < 0
    });
    text[..end.unwrap_or(text.len())].trim_end()
}

/// Whether a text begins with what it assigns to: a name, with its fields and indices, before `=`, `+=` and the like.
fn assigns(text: &str) -> bool {
    let mut depth = 0;
    let end = text.find(|each: char| {
        match each {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        depth < 0 || depth == 0 && !(each.is_alphanumeric() || matches!(each, '_' | '.' | ']' | ' '))
    });
    let operator = &text[end.unwrap_or(text.len())..];
    let equals = operator.find('=').unwrap_or(operator.len());
    let is_compound = matches!(&operator[..equals], "" | "+" | "-" | "*" | "/" | "%" | "&" | "|" | "^" | "<<" | ">>");
    is_compound && equals < operator.len() && !operator[equals..].starts_with("==")
}

/// Bytes up to the end of a statement or of the head of one; strings are no part of the grammar of that.
fn statement_length(text: &str) -> usize {
    let (mut quoted, mut escaped) = (false, false);
    // The braces of the values of an array are part of its declaration.
    let (mut open, mut before) = (0, ' ');
    for (at, each) in text.char_indices().take(LONG_LINE) {
        let last = before;
        before = if each.is_whitespace() { before } else { each };
        match each {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            ';' if !quoted => return at + 1,
            '{' if !quoted && (open > 0 || last == '=') => open += 1,
            '}' if !quoted && open > 0 => open -= 1,
            '{' | '}' if !quoted => return at,
            '/' if !quoted && text[at..].starts_with("//") => return at,
            _ => {}
        }
    }
    text.char_indices().nth(LONG_LINE).map_or(text.len(), |(at, _)| at)
}

/// The text, cut so that it takes at most `width` columns.
#[must_use]
pub fn shorten(text: &str, width: usize) -> String {
    if head(text, width).len() == text.len() {
        return text.to_owned();
    }
    head(text, width.saturating_sub(1)).trim_end().to_owned() + "…"
}

/// What the threads have printed: `  T1: line`.
#[must_use]
pub fn outputs(by_thread: &[ThreadOutput]) -> String {
    let line =
        |of: &ThreadOutput, line: &str| format!("  {}: {}", of.thread, one_line(line)).trim_end().to_owned() + "\n";
    by_thread.iter().flat_map(|of| of.output.iter().map(move |text| line(of, text))).collect()
}

/// Lines of what a thread has printed that are shown where it has printed very much: the first ones, and the last ones.
const PRINTED: (usize, usize) = (40, 10);

/// The lines that a thread has printed, where they are one answer among others; of very many the first and the last ones, and between
/// them how many are left out.
#[must_use]
pub fn in_short(output: &[String]) -> Cow<'_, [String]> {
    let (first, last) = PRINTED;
    let Some(left_out) = output.len().checked_sub(first + last).filter(|&left_out| left_out > 1) else {
        return Cow::Borrowed(output);
    };
    let more = format!("… {} …", plural(left_out, "line"));
    let behind = &output[first + left_out..];
    Cow::Owned(output[..first].iter().chain([&more]).chain(behind).cloned().collect())
}

/// What was printed at once, on one line: `⏎` stands for a newline, as in a trace.
#[must_use]
pub fn one_line(text: &str) -> String {
    text.chars().map(|each| if each == '\n' { '⏎' } else { visible(each) }).collect()
}

/// A text in lines of at most 80 columns, or as many as the terminal has, each with an indent.
#[must_use]
pub fn wrap(indent: &str, text: &str) -> String {
    wrap_behind(indent, indent, text)
}

/// The same, where the first line begins in another way. A line does not end at a [`JOINED`] space.
#[must_use]
pub fn wrap_behind(first: &str, indent: &str, text: &str) -> String {
    let width = sentence_width();
    let mut lines = vec![first.to_owned()];
    let mut is_empty = true;
    for word in text.split(' ') {
        let last = lines.len() - 1;
        if !is_empty && columns(&lines[last]) + 1 + columns(word) > width {
            lines.push(format!("{indent}{word}"));
        } else {
            if !is_empty {
                lines[last].push(' ');
            }
            lines[last].push_str(word);
        }
        is_empty = false;
    }
    lines.iter().map(|line| line.trim_end().replace(JOINED, " ") + "\n").collect()
}

/// A table of numbers, flush right, below a title and the heads of the columns; each row begins with its name.
#[must_use]
pub fn numbers(title: &str, heads: &[&str], rows: &[(String, Vec<String>)], colour: bool) -> String {
    let first = rows.iter().map(|(name, _)| columns(name)).chain([columns(title)]).max().unwrap_or(0);
    let width_of = |(column, head): (usize, &&str)| {
        let cells = rows.iter().filter_map(|(_, cells)| cells.get(column)).map(|cell| columns(cell));
        cells.chain([columns(head)]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = heads.iter().enumerate().map(width_of).collect();
    let pad = |text: &str, width: usize| " ".repeat(width.saturating_sub(columns(text)));
    let mut head = title.to_owned() + &pad(title, first);
    for (word, &width) in heads.iter().zip(&widths) {
        head += &format!("  {}{word}", pad(word, width));
    }
    let mut text = self::title(&head, colour);
    for (name, cells) in rows {
        text += name;
        text += &pad(name, first);
        for (cell, &width) in cells.iter().zip(&widths) {
            text += &format!("  {}{cell}", pad(cell, width));
        }
        text.push('\n');
    }
    text
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

    /// The lines, each with a newline. A last cell that would pass the right margin goes to a line of its own, and a
    /// very long cell does not move the columns of the other rows.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        self.lines_within(width())
    }

    fn lines_within(&self, margin: usize) -> Vec<String> {
        let count = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width_of = |column: usize| {
            // A row of one cell is a sentence.
            let rows = self.rows.iter().filter(|row| row.len() > 1);
            let cells = rows.filter_map(|row| row.get(column)).map(|cell| columns(cell));
            cells.filter(|&width| width <= COLUMN_WIDTH).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..count).map(width_of).collect();
        self.rows.iter().map(|row| self.line(row, &widths, margin)).collect()
    }

    fn line(&self, row: &[String], widths: &[usize], margin: usize) -> String {
        let mut line = self.indent.to_owned();
        let mut length = line.len();
        for (column, cell) in row.iter().enumerate() {
            let last = column + 1 == row.len();
            let width = columns(cell);
            if last && column > 0 && length + width > margin {
                line = line.trim_end().to_owned() + "\n" + self.indent + &" ".repeat(widths[0] + 2);
            }
            line.push_str(cell);
            let pad = widths[column].saturating_sub(width) + 2;
            line.push_str(&" ".repeat(pad));
            length += width + pad;
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
        let lines = table.lines_within(80);
        assert_eq!(lines[0], "  a_10  T1        x\n");
        assert_eq!(lines[1], format!("  a_2   outer/T2\n        {}\n", "y".repeat(70)));
    }

    #[test]
    fn the_values_of_an_array_belong_to_its_declaration() {
        let shown = |text: &str, name: &str| {
            let mut sources = SourceMap::default();
            let file = sources.add("a.csm", text);
            let start = text.find(name).expect("a part of the text");
            statement(&sources, Span::new(file, start, start + name.len()))
        };
        assert_eq!(shown("int u[6] = { 1, 2, 3 };\n", "u"), "u[6] = { 1, 2, 3 };");
        assert_eq!(shown("int low[2] = {1, 2}, high[2] = {3, 4};\n", "high"), "high[2] = {3, 4};");
        assert_eq!(shown("A: { u[6] = 7; }\n", "u"), "u[6] = 7;");
        assert_eq!(shown("T1: { x = 1 }\n", "x"), "x = 1");
        assert_eq!(shown("if (x == 1) { y = 2; }\n", "x"), "if (x == 1)");
    }

    #[test]
    fn a_place_has_a_caret_below_it() {
        let mut sources = SourceMap::default();
        let file = sources.add("a.csm", "\tx = yes;\n");
        let text = place(&sources, Span::new(file, 5, 8), "here", false);
        assert_eq!(text, "  1 | \tx = yes;\n    | \t    ^^^ here\n");
    }

    #[test]
    fn wide_and_combining_characters_move_the_caret_and_the_columns() {
        let mut sources = SourceMap::default();
        let text = "/* 漢字 e\u{301} */ x = yes;\n";
        let file = sources.add("a.csm", text);
        let start = text.find('x').expect("a part of the text");
        let shown = place(&sources, Span::new(file, start, start + 1), "here", false);
        assert_eq!(shown, format!("  1 | {text}    |              ^ here\n"));
        let shown = place(&sources, Span::new(file, 3, 9), "here", false);
        assert_eq!(shown, format!("  1 | {text}    |    ^^^^ here\n"));
        let mut table = Table::new("");
        table.row(vec!["漢字".to_owned(), "x".to_owned()]);
        table.row(vec!["abcd".to_owned(), "y".to_owned()]);
        table.row(vec!["e\u{301}".to_owned(), "z".to_owned()]);
        assert_eq!(table.lines_within(80), ["漢字  x\n", "abcd  y\n", "e\u{301}     z\n"]);
        assert_eq!(shorten("漢字漢字", 6), "漢字…");
    }

    #[test]
    fn a_very_long_cell_moves_no_other_row() {
        let mut table = Table::new("  ");
        table.row(vec!["a_0".to_owned(), "main".to_owned(), "int a;".to_owned()]);
        table.row(vec!["a_1".to_owned(), "parfor@3[0], ".repeat(5), "a = i;".to_owned()]);
        let expected =
            ["  a_0  main  int a;\n".to_owned(), format!("  a_1  {} a = i;\n", "parfor@3[0], ".repeat(5) + " ")];
        assert_eq!(table.lines_within(80), expected);
    }

    #[test]
    fn the_statement_of_a_place_is_shown_without_its_neighbours() {
        let statement_at = |text: &str, at: &str| {
            let mut sources = SourceMap::default();
            let file = sources.add("a.csm", text);
            let start = text.find(at).expect("a part of the text");
            statement(&sources, Span::new(file, start, start + 1))
        };
        assert_eq!(statement_at("int x; cobegin A: x++; B: skip; coend", "x;"), "int x;");
        assert_eq!(statement_at("int x; cobegin A: x++; B: skip; coend", "x++"), "x++;");
        assert_eq!(statement_at("void f() { while (cas(x, 0, 1)) { skip; } }", "x"), "while (cas(x, 0, 1))");
        assert_eq!(statement_at("  int a = 1, b = 2; // = 3", "b"), "b = 2;");
        assert_eq!(statement_at("s = \"a;\\\"b\"; skip;", "s"), "s = \"a;\\\"b\";");
        assert_eq!(
            statement_at(&("x = ".to_owned() + &"1 + ".repeat(1_000_000)), "x"),
            "x = 1 + 1 + 1 + 1 + 1 + 1 + 1 +…"
        );
        assert_eq!(statement_at("x", "x"), "x");
        assert_eq!(statement_at("assert(b >= 0, \"overdrawn\");", "b"), "assert(b >= 0, \"overdrawn\");");
        assert_eq!(statement_at("if (a) x <<= 2;", "x"), "x <<= 2;");
        assert_eq!(statement_at("B: v[last] = 1;", "last"), "v[last] = 1;");
        assert_eq!(statement_at("B: p.v[last + 1].n = 1;", "p"), "p.v[last + 1].n = 1;");
        assert_eq!(statement_at("if (p.v[i] == 1) skip;", "p"), "if (p.v[i] == 1) skip;");
        assert_eq!(statement_at("for (k = 0; k < f(1); k++) skip;", "k++"), "k++");
        assert_eq!(statement_at("for (k = 0; k < f(1); k = g(k)) skip;", "k = g"), "k = g(k)");
        assert_eq!(statement_at("for (k = 0; k < f(1); k++) skip;", "k < f"), "k < f(1);");
    }

    #[test]
    fn what_is_printed_at_once_stays_on_a_line() {
        let printed = ThreadOutput { thread: "A".to_owned(), output: vec!["x\ny\r".to_owned(), String::new()] };
        assert_eq!(outputs(&[printed]), "  A: x⏎y␍\n  A:\n");
    }

    #[test]
    fn very_much_output_is_shown_in_short() {
        let lines = |count: usize| (0..count).map(|line| line.to_string()).collect::<Vec<_>>();
        assert_eq!(in_short(&lines(51)), lines(51));
        let printed = lines(1_000);
        let shown = in_short(&printed);
        assert_eq!((shown.len(), shown[40].as_str()), (51, "… 950 lines …"));
        assert_eq!((shown[39].as_str(), shown[41].as_str(), shown[50].as_str()), ("39", "990", "999"));
    }
}
