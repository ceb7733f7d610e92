//! The table of layers, what each may use, and the rules that hold the sources to it.

use super::modules::{Modules, Path, Use};
use super::{assert_none, files_below, read};
use petgraph::algo::kosaraju_scc;
use petgraph::graphmap::DiGraphMap;
use std::collections::{BTreeMap, BTreeSet};

/// The rules by name.
pub const RULES: &[(&str, fn())] = &[
    ("layers_use_what_the_table_allows", layers_use_what_the_table_allows),
    ("the_table_leads_down", the_table_leads_down),
    ("the_table_is_no_larger_than_the_code", the_table_is_no_larger_than_the_code),
    ("no_circle_within_a_folder", no_circle_within_a_folder),
    ("nothing_past_the_front_ends_knows_a_grammar", nothing_past_the_front_ends_knows_a_grammar),
    ("the_library_lists_its_layers_in_order", the_library_lists_its_layers_in_order),
    ("no_module_repeats_the_name_of_the_crate", no_module_repeats_the_name_of_the_crate),
];

/// One layer: its name, the layers that it uses, and those that only its unit tests use besides.
pub struct Layer {
    pub name: &'static str,
    uses: &'static str,
    tests: &'static str,
}

impl Layer {
    pub fn uses(&self) -> impl Iterator<Item = &'static str> {
        self.uses.split_whitespace()
    }

    fn tests(&self) -> impl Iterator<Item = &'static str> {
        self.tests.split_whitespace()
    }
}

const fn layer(name: &'static str, uses: &'static str, tests: &'static str) -> Layer {
    Layer { name, uses, tests }
}

/// The layers in order (docs/architecture.md). A layer uses only what is listed for it, all of which stands before it.
pub const LAYERS: &[Layer] = &[
    layer("source", "", ""),
    layer("diagnostics", "source", ""),
    layer("budget", "", ""),
    layer("ir", "source", ""),
    layer("front", "source diagnostics ir", ""),
    layer("ssa", "source ir", ""),
    layer("concurrency", "source ir ssa", "front"),
    layer("form", "source diagnostics ir ssa concurrency", "front"),
    layer("correlation", "source diagnostics ir ssa concurrency form", ""),
    layer("vm", "source ir", ""),
    layer("schedule", "source budget ir vm", "front"),
    layer("model", "source diagnostics ir front concurrency form vm schedule", ""),
    layer("harness", "source front", ""),
    layer("explore", "source budget ir ssa concurrency form correlation vm schedule model harness", "front"),
    layer("race", "source budget ir form correlation vm schedule model harness explore", ""),
    layer("paths", "source budget ir ssa vm schedule model explore", ""),
    layer("coverage", "source diagnostics budget ir concurrency form vm schedule model harness explore", ""),
    layer("driver", "source budget ir ssa form correlation vm schedule explore", ""),
    layer(
        "answer",
        "source diagnostics budget ir front ssa concurrency form correlation vm schedule model harness explore race paths coverage driver",
        "",
    ),
    layer("lsp", "source diagnostics budget ir front form schedule model explore answer", ""),
    layer(
        "cli",
        "source diagnostics budget front form correlation vm schedule model explore race paths coverage driver answer lsp",
        "",
    ),
];

/// Circles of the files and folders of a folder: the folder, its members, the reason.
const CIRCLES: &[(&str, &str, &str)] = &[];

/// What knows the grammar of a language, beside its front end, and why.
const READERS: &[(&str, &str)] = &[
    ("harness/arrangement", "finds the objects that methods of a file take"),
    ("harness/closing", "writes programs around methods, in their own language"),
    ("harness/construction", "declares objects of classes that have constructors"),
    ("harness/contexts", "writes programs around methods, in their own language"),
    ("harness/drivers", "writes programs around methods, in their own language"),
    ("harness/effects", "judges methods by their text, to choose programs around them"),
    ("harness/enums", "knows which names of types are int"),
    ("harness/methods", "finds the methods of a file"),
    ("harness/recorded", "writes calls with recorded arguments, and takes main away"),
    ("harness/signatures", "says what `main` may call"),
    ("harness/writer", "writes programs around methods, in their own language"),
    ("answer/ir", "shows the syntax tree"),
    ("answer/mends", "proposes changes of a text, in its own language"),
];

/// The modules of `src`, without the program.
pub fn modules() -> Modules {
    let paths = files_below("src", &["rs"]).into_iter().filter(|path| path != "src/main.rs");
    Modules::new(&paths.map(|path| (path.clone(), read(&path))).collect())
}

fn place(name: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.name == name)
}

/// Pairs of layers in which the first uses the second, with the uses.
fn uses_between_layers(uses: &[Use]) -> BTreeMap<(&str, &str), Vec<&Use>> {
    let mut found: BTreeMap<(&str, &str), Vec<&Use>> = BTreeMap::new();
    for one in uses {
        // The root only names the layers.
        if let (Some(from), Some(to)) = (one.from.first(), one.to.first())
            && from != to
        {
            found.entry((from, to)).or_default().push(one);
        }
    }
    found
}

fn layers_use_what_the_table_allows() {
    let mut problems = Vec::new();
    for ((from, to), uses) in uses_between_layers(&modules().uses) {
        let Some(layer) = LAYERS.iter().find(|layer| layer.name == from) else {
            problems.push(format!("`{from}` is not in the table of layers"));
            continue;
        };
        for one in uses {
            let allowed = layer.uses().any(|used| used == to) || one.test && layer.tests().any(|used| used == to);
            if !allowed {
                let (place, target) = (one.from.join("/"), one.to.join("::"));
                problems.push(format!("src/{place}, line {}: `{from}` may not use `{target}`", one.line));
            }
        }
    }
    assert_none(&problems);
}

fn the_table_leads_down() {
    let mut problems = Vec::new();
    for (own, layer) in LAYERS.iter().enumerate() {
        for used in layer.uses().chain(layer.tests()) {
            if place(used).is_none_or(|other| other >= own) {
                problems.push(format!("`{}` uses `{used}`, which does not stand before it", layer.name));
            }
        }
    }
    assert_none(&problems);
}

fn the_table_is_no_larger_than_the_code() {
    let modules = modules();
    let found = uses_between_layers(&modules.uses);
    let mut problems = Vec::new();
    for layer in LAYERS {
        let is_used = |used: &str, test: bool| {
            found.get(&(layer.name, used)).is_some_and(|uses| uses.iter().any(|one| test || !one.test))
        };
        for used in layer.uses().filter(|used| !is_used(used, false)) {
            problems.push(format!("`{}` does not use `{used}`: shorten the table", layer.name));
        }
        for used in layer.tests().filter(|used| !is_used(used, true)) {
            problems.push(format!("the tests of `{}` do not use `{used}`: shorten the table", layer.name));
        }
    }
    assert_none(&problems);
}

/// Circles of uses among the files and folders that stand in one folder, without the unit tests.
pub fn circles(uses: &[Use]) -> Vec<(String, BTreeSet<String>)> {
    let mut folders: BTreeMap<Path, DiGraphMap<&str, ()>> = BTreeMap::new();
    for one in uses.iter().filter(|one| !one.test) {
        let common = one.from.iter().zip(&one.to).take_while(|(from, to)| from == to).count();
        // What `mod.rs` and its files have of each other is their business; the root is in the table of layers.
        if let (Some(from), Some(to)) = (one.from.get(common), one.to.get(common))
            && common > 0
        {
            folders.entry(one.from[..common].to_vec()).or_default().add_edge(from, to, ());
        }
    }
    let mut found = Vec::new();
    for (folder, graph) in folders {
        for circle in kosaraju_scc(&graph).into_iter().filter(|circle| circle.len() > 1) {
            found.push((folder.join("/"), circle.into_iter().map(str::to_owned).collect()));
        }
    }
    found.sort();
    found
}

fn no_circle_within_a_folder() {
    let shown = |folder: &str, members: &BTreeSet<String>| {
        format!("src/{folder}: {}", members.iter().map(String::as_str).collect::<Vec<_>>().join(" "))
    };
    let found: BTreeSet<String> =
        circles(&modules().uses).iter().map(|(folder, members)| shown(folder, members)).collect();
    let listed: BTreeSet<String> =
        CIRCLES.iter().map(|(folder, members, _)| format!("src/{folder}: {members}")).collect();
    let mut problems: Vec<String> = found.difference(&listed).map(|circle| format!("{circle} form a circle")).collect();
    problems.extend(listed.difference(&found).map(|circle| format!("{circle} form no circle: shorten the list")));
    assert_none(&problems);
}

fn nothing_past_the_front_ends_knows_a_grammar() {
    let modules = modules();
    let grammars = modules.uses.iter().filter(|one| one.to.starts_with(&["front".to_owned()]) && one.to.len() > 2);
    let readers: BTreeSet<String> =
        grammars.filter(|one| one.from[..1] != ["front"] && !one.test).map(|one| one.from.join("/")).collect();
    assert_eq!(readers, READERS.iter().map(|&(file, _)| file.to_owned()).collect::<BTreeSet<String>>());
}

fn the_library_lists_its_layers_in_order() {
    let text = read("src/lib.rs");
    let listed: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';')).collect();
    let expected: Vec<&str> = LAYERS.iter().map(|layer| layer.name).collect();
    assert_eq!(listed, expected);
}

fn no_module_repeats_the_name_of_the_crate() {
    let name = env!("CARGO_PKG_NAME");
    let repeats = |path: &String| path.split(['/', '.']).any(|part| part == name);
    let problems: Vec<String> = files_below("src", &["rs"]).into_iter().filter(repeats).collect();
    assert_none(&problems);
}
