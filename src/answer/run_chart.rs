//! An execution as a sequence chart, in SVG.
//!
//! **Input**: a [`Trace`]. **Output**: a picture with a column for each thread and a line for each row, from top to bottom: the
//! action of the thread, with the source line. An arrow leads to a row from the column of another thread on which the row
//! depends: from the write that a read sees, from the thread that has released a lock, a condition or a barrier, from a fork, and
//! from the end of a thread to its join.
//!
//! **Layout**: an arrow runs at the height of its target row, from the line of the other thread, so that it crosses no text.
//! Texts that are too long for their column are cut; their title has the whole text.
//!
//! **Limits**: at most [`ROWS`] rows are drawn, the last ones.

use cssame_schedule::{Row, RowKind, Trace};
use quick_xml::Writer;
use quick_xml::events::BytesText;
use std::io;

/// Rows that are drawn at most.
pub const ROWS: usize = 2_000;

const COLUMN: usize = 240;
const MARGIN: usize = 64;
const HEAD: usize = 46;
const LINE: usize = 24;
/// Of a character of the text.
const CHARACTER: usize = 7;

const STYLE: &str = "\
text{font:12px ui-monospace,Menlo,Consolas,monospace;fill:#1f2328}\
.ground{fill:#fff}.life{stroke:#c4ccd4}.box{fill:#f6f8fa;stroke:#c4ccd4}.number{fill:#59636e}.head{font-weight:bold}\
.read .box{fill:#ddf4ff;stroke:#54aeff}.write .box{fill:#fff8c5;stroke:#d4a72c}\
.failure .box,.blocked .box{fill:#ffebe9;stroke:#ff8182}.arrow{stroke:#59636e;fill:none}.arrow.read{stroke:#0969da}\
.tip{fill:#59636e}.tip.read{fill:#0969da}.thread-life{stroke-dasharray:4 3}\
@media(prefers-color-scheme:dark){text{fill:#f0f6fc}.ground{fill:#0d1117}.life,.box{stroke:#3d444d}.box{fill:#151b23}\
.number{fill:#9198a1}.read .box{fill:#0c2d6b;stroke:#1f6feb}.write .box{fill:#3b2300;stroke:#9e6a03}\
.failure .box,.blocked .box{fill:#5d0f12;stroke:#f85149}.arrow{stroke:#9198a1}.arrow.read{stroke:#58a6ff}\
.tip{fill:#9198a1}.tip.read{fill:#58a6ff}}";

/// The picture of an execution: of all its rows, or only of those that the last one depends on.
#[must_use]
pub fn run_chart(trace: &Trace, full: bool) -> String {
    let chart = Chart::new(trace, full);
    let mut writer = Writer::new(Vec::new());
    // A vector takes everything that is written.
    let written = chart.write(&mut writer);
    debug_assert!(written.is_ok(), "{written:?}");
    String::from_utf8(writer.into_inner()).unwrap_or_default() + "\n"
}

struct Chart<'a> {
    trace: &'a Trace,
    /// The rows that are drawn, by their indices in the trace.
    rows: Vec<usize>,
    /// For each thread its column; none of one that does nothing here.
    columns: Vec<Option<usize>>,
}

impl<'a> Chart<'a> {
    fn new(trace: &'a Trace, full: bool) -> Chart<'a> {
        let mut rows: Vec<usize> = (0..trace.rows.len()).filter(|&row| full || trace.rows[row].is_cause).collect();
        rows.drain(..rows.len().saturating_sub(ROWS));
        let mut columns = vec![None; trace.threads.len()];
        rows.iter().for_each(|&row| columns[trace.rows[row].column] = Some(0));
        for (place, column) in columns.iter_mut().flatten().enumerate() {
            *column = place;
        }
        Chart { trace, rows, columns }
    }

    fn left(&self, row: &Row) -> usize {
        MARGIN + self.columns[row.column].unwrap_or(0) * COLUMN
    }

    fn write(&self, writer: &mut Writer<Vec<u8>>) -> io::Result<()> {
        let count = self.columns.iter().flatten().count();
        let (width, height) = (MARGIN + count * COLUMN, HEAD + self.rows.len() * LINE + 12);
        let size = [("width", width.to_string()), ("height", height.to_string())];
        let svg = writer.create_element("svg").with_attribute(("xmlns", "http://www.w3.org/2000/svg"));
        let svg = svg.with_attribute(("role", "img"));
        let svg = svg.with_attribute(("viewBox", format!("0 0 {width} {height}").as_str()));
        let svg = svg.with_attributes(size.iter().map(|(name, value)| (*name, value.as_str())));
        svg.write_inner_content(|writer| {
            writer
                .create_element("title")
                .write_text_content(BytesText::new("an execution, with a column for each thread"))?;
            writer.create_element("style").write_text_content(BytesText::new(STYLE))?;
            rectangle(writer, "ground", (0, 0), (width, height))?;
            self.heads(writer, height)?;
            for (place, &row) in self.rows.iter().enumerate() {
                self.arrows(writer, place, row)?;
            }
            for (place, &row) in self.rows.iter().enumerate() {
                self.row(writer, place, &self.trace.rows[row])?;
            }
            Ok(())
        })?;
        Ok(())
    }

    fn heads(&self, writer: &mut Writer<Vec<u8>>, height: usize) -> io::Result<()> {
        text(writer, "number", (8, 28), "line", usize::MAX)?;
        for (name, column) in self.trace.threads.iter().zip(&self.columns) {
            let Some(column) = column else { continue };
            let left = MARGIN + column * COLUMN;
            line(writer, "life", (left, HEAD - 8), (left, height - 8))?;
            text(writer, "head", (left, 28), name, COLUMN - 12)?;
        }
        Ok(())
    }

    fn row(&self, writer: &mut Writer<Vec<u8>>, place: usize, row: &Row) -> io::Result<()> {
        let (left, top) = (self.left(row), HEAD + place * LINE);
        let before = place.checked_sub(1).map(|before| self.trace.rows[self.rows[before]].line);
        let what = row.file.as_ref().map_or_else(|| row.text(), |file| format!("{file}:{}  {}", row.line, row.text()));
        let group = writer.create_element("g").with_attribute(("class", class(row.kind)));
        group.write_inner_content(|writer| {
            if before != Some(row.line) && row.file.is_none() {
                text(writer, "number", (8, top + 16), &row.line.to_string(), usize::MAX)?;
            }
            rectangle(writer, "box", (left, top + 2), (box_width(row), LINE - 4))?;
            text(writer, "what", (left + 7, top + 16), &what, COLUMN - 26)
        })?;
        Ok(())
    }

    /// The arrows that lead to a row, from the columns of other threads.
    fn arrows(&self, writer: &mut Writer<Vec<u8>>, place: usize, row: usize) -> io::Result<()> {
        let to = &self.trace.rows[row];
        let y = HEAD + place * LINE + LINE / 2;
        let kind = if to.kind == RowKind::Read { " read" } else { "" };
        for from in self.trace.before(row) {
            let from = &self.trace.rows[from];
            if self.columns[from.column].is_none() || from.column == to.column {
                continue;
            }
            let (start, left) = (self.left(from), self.left(to));
            let (end, tip) =
                if start < left { (left, left - 7) } else { (left + box_width(to), left + box_width(to) + 7) };
            line(writer, &format!("arrow{kind}"), (start, y), (tip, y))?;
            let points = format!("{end},{y} {tip},{} {tip},{}", y - 4, y + 4);
            let polygon = writer.create_element("polygon").with_attribute(("class", format!("tip{kind}").as_str()));
            polygon.with_attribute(("points", points.as_str())).write_empty()?;
        }
        Ok(())
    }
}

fn class(kind: RowKind) -> &'static str {
    match kind {
        RowKind::Read => "read",
        RowKind::Write | RowKind::Operation => "write",
        RowKind::Failure => "failure",
        RowKind::Blocked => "blocked",
        RowKind::Synchronise
        | RowKind::Thread
        | RowKind::Choose
        | RowKind::Print
        | RowKind::Omitted
        | RowKind::Call => "other",
    }
}

fn box_width(row: &Row) -> usize {
    (row.text().chars().count() * CHARACTER + 16).min(COLUMN - 14)
}

fn rectangle(
    writer: &mut Writer<Vec<u8>>,
    class: &str,
    (x, y): (usize, usize),
    (width, height): (usize, usize),
) -> io::Result<()> {
    let numbers = [("x", x), ("y", y), ("width", width), ("height", height), ("rx", 3)];
    let numbers = numbers.map(|(name, value)| (name, value.to_string()));
    let element = writer.create_element("rect").with_attribute(("class", class));
    element.with_attributes(numbers.iter().map(|(name, value)| (*name, value.as_str()))).write_empty()?;
    Ok(())
}

fn line(writer: &mut Writer<Vec<u8>>, class: &str, from: (usize, usize), to: (usize, usize)) -> io::Result<()> {
    let numbers = [("x1", from.0), ("y1", from.1), ("x2", to.0), ("y2", to.1)];
    let numbers = numbers.map(|(name, value)| (name, value.to_string()));
    let element = writer.create_element("line").with_attribute(("class", class));
    element.with_attributes(numbers.iter().map(|(name, value)| (*name, value.as_str()))).write_empty()?;
    Ok(())
}

/// A text that is cut where it is wider than there is room for.
fn text(
    writer: &mut Writer<Vec<u8>>,
    class: &str,
    (x, y): (usize, usize),
    content: &str,
    width: usize,
) -> io::Result<()> {
    let most = width / CHARACTER;
    // What XML does not know as a character, such as the control characters of a printed text, is shown as a question mark.
    let content: String = content.chars().map(|one| if one.is_control() { '?' } else { one }).collect();
    let is_cut = content.chars().count() > most;
    let shown =
        if is_cut { content.chars().take(most.saturating_sub(1)).chain(['…']).collect() } else { content.clone() };
    let place = [("x", x.to_string()), ("y", y.to_string())];
    let element = writer.create_element("text").with_attribute(("class", class));
    let element = element.with_attributes(place.iter().map(|(name, value)| (*name, value.as_str())));
    element.write_inner_content(|writer| {
        if is_cut {
            writer.create_element("title").write_text_content(BytesText::new(&content))?;
        }
        writer.write_event(quick_xml::events::Event::Text(BytesText::new(&shown)))
    })?;
    Ok(())
}
