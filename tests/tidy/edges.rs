//! The layers, what each uses by its manifest, and the rules for uses that no compiler holds.

use super::modules::{Modules, Path, Use};
use super::{assert_none, files_below, read};
use petgraph::algo::kosaraju_scc;
use petgraph::graphmap::DiGraphMap;
use std::collections::{BTreeMap, BTreeSet};

/// The rules by name.
pub const RULES: &[(&str, fn())] = &[
    ("every_layer_is_listed_behind_what_it_uses", every_layer_is_listed_behind_what_it_uses),
    ("manifests_list_what_is_used", manifests_list_what_is_used),
    ("no_circle_within_a_folder", no_circle_within_a_folder),
    ("nothing_past_the_front_ends_knows_a_grammar", nothing_past_the_front_ends_knows_a_grammar),
    ("no_module_repeats_the_name_of_the_crate", no_module_repeats_the_name_of_the_crate),
    ("one_folder_knows_the_front_end_of_c", one_folder_knows_the_front_end_of_c),
];

/// A layer: a folder of `src` with a crate of its own, and the layers that it uses.
pub struct Layer {
    pub name: String,
    pub uses: Vec<String>,
}

/// The packages that a manifest lists in sections with such headings.
fn dependencies(manifest: &str, wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let sections = manifest.split("\n[").filter(|section| wanted(section.split(']').next().unwrap_or("")));
    let lines = sections.flat_map(|section| section.lines().skip(1));
    lines.filter_map(|line| line.split(['.', ' ']).next().filter(|name| !name.is_empty())).map(str::to_owned).collect()
}

/// The layers in the order in which the library lists them. What a layer may use is what its manifest lists; Cargo and the
/// compiler see to it that it uses nothing else, and that no circle is possible.
pub fn layers() -> Vec<Layer> {
    let names = read("src/lib.rs");
    let names = names.lines().filter_map(|line| line.strip_prefix("pub use cssame_")?.split(' ').next());
    names
        .map(|name| {
            let used = dependencies(&read(&format!("src/{name}/Cargo.toml")), |heading| heading == "dependencies");
            let uses = used.iter().filter_map(|used| used.strip_prefix("cssame-").map(str::to_owned)).collect();
            Layer { name: name.to_owned(), uses }
        })
        .collect()
}

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
    ("answer/ir_source", "prints the syntax tree with versions"),
    ("answer/mends", "proposes changes of a text, in its own language"),
];

/// The modules of the layers.
pub fn modules() -> Modules {
    let paths = files_below("src", &["rs"]).into_iter().filter(|path| path.matches('/').count() > 1);
    Modules::new(&paths.map(|path| (path.clone(), read(&path))).collect())
}

fn every_layer_is_listed_behind_what_it_uses() {
    let layers = layers();
    let mut problems = Vec::new();
    for (own, layer) in layers.iter().enumerate() {
        let before: Vec<&str> = layers[..own].iter().map(|layer| layer.name.as_str()).collect();
        for used in layer.uses.iter().filter(|used| !before.contains(&used.as_str())) {
            problems.push(format!("src/lib.rs: `{}` stands before `{used}`, which it uses", layer.name));
        }
    }
    let listed: BTreeSet<String> = layers.iter().map(|layer| format!("src/{}/Cargo.toml", layer.name)).collect();
    let found: BTreeSet<String> =
        files_below("src", &["toml"]).into_iter().filter(|path| path.ends_with("/Cargo.toml")).collect();
    problems.extend(found.difference(&listed).map(|path| format!("{path}: a layer that src/lib.rs does not list")));
    assert_none(&problems);
}

fn manifests_list_what_is_used() {
    let mut problems = Vec::new();
    for layer in layers() {
        let folder = format!("src/{}", layer.name);
        let code: String = files_below(&folder, &["rs"]).iter().map(|path| read(path)).collect();
        let manifest = read(&format!("{folder}/Cargo.toml"));
        for package in dependencies(&manifest, |heading| heading.ends_with("dependencies")) {
            // The one package whose library has another name.
            let name = if package == "layout-rs" { "layout".to_owned() } else { package.replace('-', "_") };
            let is_word = |at: usize| !code[..at].ends_with(|sign: char| sign.is_alphanumeric() || sign == '_');
            let is_named = code.match_indices(&format!("{name}::")).any(|(at, _)| is_word(at));
            if !is_named && !code.contains(&format!("use {name} ")) {
                problems.push(format!("{folder}/Cargo.toml: nothing uses `{package}`"));
            }
        }
    }
    assert_none(&problems);
}

/// Circles of uses among the files and folders that stand in one folder, without the unit tests.
pub fn circles(uses: &[Use]) -> Vec<(String, BTreeSet<String>)> {
    let mut folders: BTreeMap<Path, DiGraphMap<&str, ()>> = BTreeMap::new();
    for one in uses.iter().filter(|one| !one.test) {
        let common = one.from.iter().zip(&one.to).take_while(|(from, to)| from == to).count();
        // What `mod.rs` and its files have of each other is their business, and so has Cargo the uses between layers.
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

/// The crates that read C may change, or be replaced: so only what copies their tree into ours knows them.
fn one_folder_knows_the_front_end_of_c() {
    let mut problems = Vec::new();
    let readers = ["src/c/tree/reader/", "src/c/Cargo.toml"];
    for path in ["src", "tests", "benches"].iter().flat_map(|folder| files_below(folder, &["rs", "toml"])) {
        let is_own = readers.iter().any(|reader| path.starts_with(reader)) || path == "tests/tidy/edges.rs";
        if !is_own && (read(&path).contains("rucc_") || read(&path).contains("rucc-")) {
            problems.push(format!("{path}: names the front end of C"));
        }
    }
    assert_none(&problems);
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

fn no_module_repeats_the_name_of_the_crate() {
    let name = "cssame";
    let repeats = |path: &String| path.split(['/', '.']).any(|part| part == name);
    let problems: Vec<String> = files_below("src", &["rs"]).into_iter().filter(repeats).collect();
    assert_none(&problems);
}
