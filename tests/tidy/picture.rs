//! The picture of the layers, `docs/layers.svg`, made from their manifests. `CSSAME_BLESS=1` draws it anew.

use super::edges::{Layer, layers};
use super::root;
use layout::backends::svg::SVGWriter;
use layout::gv::{DotParser, GraphBuilder};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;

/// The rules by name.
pub const RULES: &[(&str, fn())] = &[("the_picture_of_the_layers_is_current", the_picture_of_the_layers_is_current)];

const PICTURE: &str = "docs/layers.svg";

/// All layers that a layer uses, directly or through others.
fn reached<'a>(layers: &'a [Layer], name: &str) -> BTreeSet<&'a str> {
    let uses = layers.iter().filter(|layer| layer.name == name).flat_map(|layer| &layer.uses);
    uses.flat_map(|used| reached(layers, used).into_iter().chain([used.as_str()])).collect()
}

/// The graph of the layers in the language of Graphviz, without the edges that follow from others.
fn graph() -> String {
    let layers = layers();
    let mut text = String::from("digraph layers {\n");
    for layer in &layers {
        let _ = writeln!(text, "  {} [shape=box label=\"{}\"];", layer.name, layer.name);
    }
    for layer in layers.iter().rev() {
        let follows = |used: &str| layer.uses.iter().any(|other| reached(&layers, other).contains(used));
        for used in layer.uses.iter().filter(|used| !follows(used)) {
            let _ = writeln!(text, "  {} -> {used};", layer.name);
        }
    }
    text + "}\n"
}

fn svg() -> String {
    let graph = DotParser::new(&graph()).process().expect("the graph is well formed");
    let mut builder = GraphBuilder::new();
    builder.visit_graph(&graph);
    let mut writer = SVGWriter::new();
    builder.get().do_it(false, false, false, &mut writer);
    let drawn = writer.finalize().replace("font-family: Times, serif", "font-family: sans-serif");
    // Arrows are black, also where a page is dark.
    drawn.replace("</style>", "</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\" />")
}

fn the_picture_of_the_layers_is_current() {
    let drawn = svg();
    if std::env::var_os("CSSAME_BLESS").is_some_and(|value| value == "1") {
        fs::write(root().join(PICTURE), drawn).expect("the picture can be written");
        return;
    }
    let kept = fs::read_to_string(root().join(PICTURE)).unwrap_or_default();
    assert!(kept == drawn, "{PICTURE} is not the picture of the manifests: CSSAME_BLESS=1 draws it anew");
}
