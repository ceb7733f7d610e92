//! The PFG as a picture, in SVG.
//!
//! In: a program and the [`Annotations`] of a form, or a graph in the language of Graphviz. Out: an SVG document. A program has
//! its own layout ([`picture`](super::picture)); the crate `layout-rs` lays out other graphs.

use super::Program;
use super::picture::{BlockBox, Edge, EdgeKind, LINE, Line, LineKind, PADDING, Picture, picture};
use super::print::Annotations;
use cssame_source::SourceMap;
use layout::backends::svg::SVGWriter;
use layout::gv::{DotParser, GraphBuilder};
use quick_xml::Writer;
use quick_xml::events::BytesText;
use std::io;

/// Lines of a graph beyond which the layout of the crate takes too long.
const MAX_LINES: usize = 1_000;

const STYLE: &str = "\
text{font:12px ui-monospace,Menlo,Consolas,monospace;fill:#1f2328;white-space:pre}\
.ground{fill:#fff}.frame{fill:#f6f8fa;stroke:#c4ccd4}.title{font-weight:bold}.block{fill:#fff;stroke:#59636e}\
.locked{fill:#e8defa}.merge,.name{fill:#6639ba}.name{fill:#59636e}.edge{fill:none;stroke:#59636e}\
.thread{stroke:#1a7f37;stroke-dasharray:6 4}.pi{stroke:#8250df;stroke-dasharray:2 3}\
.tip{fill:#59636e}.tip.thread{fill:#1a7f37}.tip.pi{fill:#8250df}\
@media(prefers-color-scheme:dark){text{fill:#f0f6fc}.ground{fill:#0d1117}.frame{fill:#151b23;stroke:#3d444d}\
.block{fill:#0d1117;stroke:#9198a1}.locked{fill:#2b2046}.merge{fill:#d2a8ff}.name{fill:#9198a1}.edge{stroke:#9198a1}\
.thread{stroke:#3fb950}.pi{stroke:#d2a8ff}.tip{fill:#9198a1}.tip.thread{fill:#3fb950}.tip.pi{fill:#d2a8ff}}";

/// The SVG document of a program: functions and threads as frames, instructions under a lock shaded, pi functions with edges from the
/// writes that they may choose.
///
/// # Errors
///
/// The number of lines, if they are too many for a picture.
pub fn svg_program(program: &Program, sources: &SourceMap, annotations: &dyn Annotations) -> Result<String, usize> {
    let picture = picture(program, sources, annotations)?;
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 1);
    // A vector takes everything that is written.
    let written = write(&picture, &mut writer);
    debug_assert!(written.is_ok(), "{written:?}");
    Ok(String::from_utf8(writer.into_inner()).unwrap_or_default() + "\n")
}

type Out = Writer<Vec<u8>>;

fn write(picture: &Picture, writer: &mut Out) -> io::Result<()> {
    let note = if picture.omitted > 0 { 20 } else { 0 };
    let (width, height) = (picture.width, picture.height + note);
    let svg = writer.create_element("svg").with_attributes([
        ("xmlns", "http://www.w3.org/2000/svg"),
        ("role", "img"),
        ("viewBox", format!("0 0 {width} {height}").as_str()),
        ("width", width.to_string().as_str()),
        ("height", height.to_string().as_str()),
    ]);
    svg.write_inner_content(|writer| {
        writer.create_element("style").write_text_content(BytesText::new(STYLE))?;
        writer
            .create_element("defs")
            .write_inner_content(|writer| KINDS.iter().try_for_each(|&kind| tip(kind, writer)))?;
        rectangle(writer, "ground", (0, 0, width, height))?;
        for frame in &picture.frames {
            let of = frame.rectangle;
            rectangle(writer, "frame", (of.x, of.y, of.width, of.height))?;
            text(writer, "title", (of.x + 8, of.y + 16), &frame.title)?;
        }
        picture.boxes.iter().try_for_each(|one| block(one, writer))?;
        picture.edges.iter().try_for_each(|one| edge(one, writer))?;
        if picture.omitted > 0 {
            let said = format!("{} edges from writes to pi functions are left out", picture.omitted);
            text(writer, "name", (12, height - 8), &said)?;
        }
        Ok(())
    })?;
    Ok(())
}

const KINDS: [EdgeKind; 3] = [EdgeKind::Flow, EdgeKind::Thread, EdgeKind::Pi];

fn class(kind: EdgeKind) -> &'static str {
    match kind {
        EdgeKind::Flow => "flow",
        EdgeKind::Thread => "thread",
        EdgeKind::Pi => "pi",
    }
}

fn tip(kind: EdgeKind, writer: &mut Out) -> io::Result<()> {
    let marker = writer.create_element("marker").with_attributes([
        ("id", class(kind)),
        ("viewBox", "0 0 8 8"),
        ("refX", "8"),
        ("refY", "4"),
        ("markerWidth", "7"),
        ("markerHeight", "7"),
        ("orient", "auto"),
    ]);
    let path = |writer: &mut Out| {
        let classes = format!("tip {}", class(kind));
        let of = writer.create_element("path").with_attributes([("d", "M0 0 8 4 0 8z"), ("class", classes.as_str())]);
        of.write_empty().map(|_| ())
    };
    marker.write_inner_content(path).map(|_| ())
}

fn rectangle(writer: &mut Out, class: &str, (x, y, width, height): (i32, i32, i32, i32)) -> io::Result<()> {
    let of = writer.create_element("rect").with_attributes([
        ("class", class),
        ("x", x.to_string().as_str()),
        ("y", y.to_string().as_str()),
        ("width", width.to_string().as_str()),
        ("height", height.to_string().as_str()),
    ]);
    of.write_empty().map(|_| ())
}

fn text(writer: &mut Out, class: &str, (x, y): (i32, i32), content: &str) -> io::Result<()> {
    let of = writer.create_element("text").with_attributes([
        ("class", class),
        ("x", x.to_string().as_str()),
        ("y", y.to_string().as_str()),
    ]);
    of.write_text_content(BytesText::new(content)).map(|_| ())
}

fn block(one: &BlockBox, writer: &mut Out) -> io::Result<()> {
    let of = one.rectangle;
    rectangle(writer, "block", (of.x, of.y, of.width, of.height))?;
    for (index, line) in one.lines.iter().enumerate() {
        let y = of.y + PADDING + LINE * index as i32;
        if !line.locks.is_empty() {
            rectangle(writer, "locked", (of.x + 1, y, of.width - 2, LINE))?;
        }
        text(writer, class_of(line), (of.x + PADDING, y + 12), &line.text)?;
    }
    Ok(())
}

fn class_of(line: &Line) -> &'static str {
    match line.kind {
        LineKind::Name => "name",
        LineKind::Merge => "merge",
        LineKind::Instruction => "instruction",
    }
}

fn edge(one: &Edge, writer: &mut Out) -> io::Result<()> {
    let mut corners = one.points.iter().map(|point| format!("{} {}", point.x, point.y));
    let path = format!("M{}L{}", corners.next().unwrap_or_default(), corners.collect::<Vec<String>>().join(" "));
    let (classes, tip) = (format!("edge {}", class(one.kind)), format!("url(#{})", class(one.kind)));
    let of = writer.create_element("path").with_attributes([
        ("class", classes.as_str()),
        ("d", path.as_str()),
        ("marker-end", tip.as_str()),
    ]);
    if one.title.is_empty() {
        return of.write_empty().map(|_| ());
    }
    let title =
        |writer: &mut Out| writer.create_element("title").write_text_content(BytesText::new(&one.title)).map(|_| ());
    of.write_inner_content(title).map(|_| ())
}

/// The SVG document of a graph in the language of Graphviz.
///
/// # Errors
///
/// The number of nodes and edges, if they are too many for a picture.
pub fn svg_of_dot(text: &str) -> Result<String, usize> {
    let lines = text.lines().count();
    if lines > MAX_LINES {
        return Err(lines);
    }
    let parsed = DotParser::new(text).process().map_err(|_| lines)?;
    let mut builder = GraphBuilder::new();
    builder.visit_graph(&parsed);
    let mut writer = SVGWriter::new();
    builder.get().do_it(false, false, false, &mut writer);
    let picture = writer.finalize().replace("font-family: Times, serif", "font-family: monospace");
    Ok(with_sorted_styles(&picture))
}

/// The crate keeps the styles of a picture in a hash map, so they come in an order of chance.
fn with_sorted_styles(picture: &str) -> String {
    let mut lines: Vec<&str> = picture.lines().collect();
    let is_style = |line: &&str| line.starts_with(".a");
    if let (Some(first), Some(last)) = (lines.iter().position(is_style), lines.iter().rposition(is_style)) {
        lines[first..=last].sort_unstable();
    }
    lines.join("\n")
}
