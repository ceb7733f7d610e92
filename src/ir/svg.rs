//! The PFG as a picture.
//!
//! In: a program and the [`Annotations`] of a form. Out: an SVG document: the graph of [`dot`](super::dot), laid out by the
//! crate `layout-rs`, without clusters; the first node of a function says its name.

use super::Program;
use super::dot::graph;
use super::print::Annotations;
use crate::source::SourceMap;
use layout::backends::svg::SVGWriter;
use layout::gv::{DotParser, GraphBuilder};

/// Lines of a graph beyond which its layout takes too long.
const MAX_LINES: usize = 1_000;

/// The SVG document of a program.
///
/// # Errors
///
/// The number of nodes and edges, if they are too many for a picture.
pub fn svg_program(program: &Program, sources: &SourceMap, annotations: &dyn Annotations) -> Result<String, usize> {
    svg_of_dot(&graph(program, sources, annotations, true))
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
