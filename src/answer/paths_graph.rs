//! The variant graph of `paths --graph`, for Graphviz and as a picture.
//!
//! **Input**: a [`GraphDrawing`]. **Output**: DOT text or an SVG document. Style distinguishes the path of the first execution
//! (yellow, thick edges), execution-variants (blue), stuck nodes (salmon), and forbidden moves (dashed: red if a lock forbids
//! them, orange if a wait does, otherwise gray).

use cssame_ir::svg::svg_of_dot;
use cssame_paths::report::{DrawnKind, GraphDrawing};
use std::fmt::Write;

/// The graph in the language of Graphviz.
#[must_use]
pub fn paths_dot(drawing: &GraphDrawing) -> String {
    let mut text =
        String::from("digraph variants {\n  node [shape=box, fontname=monospace];\n  edge [fontname=monospace];\n");
    for (number, node) in drawing.nodes.iter().enumerate() {
        let label: Vec<String> = node.lines.iter().map(|line| escaped(line)).collect();
        let style = match node.kind {
            DrawnKind::Observed => ", style=filled, fillcolor=lightyellow",
            DrawnKind::Plain => "",
            DrawnKind::Variant => ", style=filled, fillcolor=lightblue, peripheries=2",
            DrawnKind::Stuck => ", style=filled, fillcolor=salmon",
            DrawnKind::Forbidden => ", color=red, fontcolor=red, style=dashed",
        };
        let _ = writeln!(text, "  n{number} [label=\"{}\"{style}];", label.join("\\n"));
    }
    let is_observed = |node: usize| drawing.nodes.get(node).is_some_and(|node| node.kind == DrawnKind::Observed);
    for edge in &drawing.edges {
        let style = match edge.forbidden {
            Some("lock") => ", style=dashed, color=red",
            Some("wait") => ", style=dashed, color=orange",
            Some(_) => ", style=dashed, color=gray",
            None if is_observed(edge.from) && is_observed(edge.to) => ", penwidth=3",
            None => "",
        };
        let label = match edge.forbidden {
            Some(why) => format!("{} ({why})", edge.label),
            None => edge.label.clone(),
        };
        let _ = writeln!(text, "  n{} -> n{} [label=\"{}\"{style}];", edge.from, edge.to, escaped(&label));
    }
    text + "}\n"
}

/// The graph as a picture.
///
/// # Errors
///
/// The number of nodes and edges, if they are too many.
pub fn paths_svg(drawing: &GraphDrawing) -> Result<String, usize> {
    svg_of_dot(&paths_dot(drawing))
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
