//! The rules of the house that no compiler checks: layers, module docs, file sizes, and names in the documentation.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The layers in order (docs/architecture.md). A layer uses only what stands before it.
const LAYERS: &[&str] = &[
    "source",
    "diagnostics",
    "budget",
    "ir",
    "front",
    "ssa",
    "concurrency",
    "form",
    "correlation",
    "vm",
    "schedule",
    "model",
    "harness",
    "explore",
    "race",
    "paths",
    "coverage",
    "driver",
    "cli",
];

/// What may not stand in a source file, and why.
const FORBIDDEN: &[(&str, &str)] = &[
    ("should_panic", "a test should say which error it expects"),
    ("#[ignore", "a test that does not run is no test"),
    ("todo!", "unfinished code is not merged"),
    ("unimplemented!", "unfinished code is not merged"),
    ("dbg!", "left over from debugging"),
];

/// Lines that a file may have.
const MAX_LINES: usize = 800;

/// Longer files, each with its reason.
const LONG_FILES: &[(&str, &str)] = &[];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// All files below a directory with one of the endings, as paths from the root, sorted.
fn files_below(directory: &str, endings: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![root().join(directory)];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|ending| endings.iter().any(|one| ending == *one)) {
                let relative = path.strip_prefix(root()).expect("a path below the root");
                found.push(relative.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    found.sort();
    found
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn assert_none(problems: &[String]) {
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
}

/// The first name behind each `crate::` or `cssame::`, outside of comments.
fn layers_named(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let code = line.split("//").next().unwrap_or("");
        for part in code.split("crate::").skip(1) {
            let names: Vec<&str> = match part.strip_prefix('{') {
                Some(group) => group.split('}').next().unwrap_or("").split(',').collect(),
                None => vec![part],
            };
            for name in names {
                let name: String =
                    name.trim().chars().take_while(|each| each.is_alphanumeric() || *each == '_').collect();
                found.push((number + 1, name));
            }
        }
    }
    found
}

#[test]
fn a_layer_uses_only_what_stands_before_it() {
    let place = |name: &str| LAYERS.iter().position(|layer| *layer == name);
    let mut problems = Vec::new();
    for path in files_below("src", &["rs"]) {
        let layer = path.trim_start_matches("src/").split(['/', '.']).next().unwrap_or("").to_owned();
        // Unit tests may begin with source text.
        if path == "src/lib.rs" || path == "src/main.rs" || path.ends_with("/tests.rs") {
            continue;
        }
        let Some(own) = place(&layer) else {
            problems.push(format!("{path}: `{layer}` is not in the table of layers"));
            continue;
        };
        for (line, name) in layers_named(&read(&path)) {
            match place(&name) {
                Some(other) if other <= own => {}
                Some(_) => problems.push(format!("{path}:{line}: `{layer}` uses `{name}`, which stands behind it")),
                None if name == "__private" => {}
                None => problems.push(format!("{path}:{line}: `crate::{name}` is no layer")),
            }
        }
    }
    assert_none(&problems);
}

#[test]
fn super_does_not_lead_out_of_a_layer() {
    let mut problems = Vec::new();
    for path in files_below("src", &["rs"]) {
        // `src/layer/a/b.rs` and `src/layer/a/b/mod.rs` stand below their layer by the number of folders in between.
        let parts: Vec<&str> = path.trim_end_matches("/mod.rs").trim_end_matches(".rs").split('/').collect();
        let depth = parts.len().saturating_sub(2);
        for (number, line) in read(&path).lines().enumerate() {
            let code = line.split("//").next().unwrap_or("");
            // A test module inside a file is one deeper.
            if code.matches("super::").count() > depth + 1 {
                problems.push(format!("{path}:{}: `super` leads out of the layer", number + 1));
            }
        }
    }
    assert_none(&problems);
}

#[test]
fn the_library_lists_its_layers_in_order() {
    let text = read("src/lib.rs");
    let listed: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';')).collect();
    let expected: Vec<&str> = LAYERS.iter().copied().filter(|layer| listed.contains(layer)).collect();
    assert_eq!(listed, expected);
}

#[test]
fn every_source_file_says_what_it_is() {
    let mut problems = Vec::new();
    for path in sources() {
        if !read(&path).starts_with("//! ") {
            problems.push(format!("{path}: does not begin with `//!`"));
        }
    }
    assert_none(&problems);
}

#[test]
fn nothing_unfinished_is_left() {
    let mut problems = Vec::new();
    for path in sources().iter().filter(|path| *path != "tests/tidy.rs") {
        for (number, line) in read(path).lines().enumerate() {
            for (word, reason) in FORBIDDEN.iter().filter(|(word, _)| line.contains(word)) {
                problems.push(format!("{path}:{}: `{word}`: {reason}", number + 1));
            }
        }
    }
    assert_none(&problems);
}

#[test]
fn files_are_short() {
    let mut problems = Vec::new();
    for path in sources() {
        let lines = read(&path).lines().count();
        let excused = LONG_FILES.iter().any(|(long, _)| *long == path);
        if lines > MAX_LINES && !excused {
            problems.push(format!("{path}: {lines} lines, of at most {MAX_LINES}"));
        }
        if lines <= MAX_LINES && excused {
            problems.push(format!("{path}: {lines} lines, and need not be listed as long"));
        }
    }
    assert_none(&problems);
}

/// Every file of Rust.
fn sources() -> Vec<String> {
    ["src", "tests", "benches"].iter().flat_map(|directory| files_below(directory, &["rs"])).collect()
}

/// Every page of documentation.
fn pages() -> Vec<String> {
    let top = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md"];
    let top = top.iter().filter(|path| root().join(path).exists()).map(|path| (*path).to_owned());
    top.chain(files_below("docs", &["md"])).collect()
}

#[test]
fn paths_in_the_documentation_exist() {
    let mut problems = Vec::new();
    for page in pages() {
        for word in read(&page).split(|each: char| each.is_whitespace() || "`()[]<>,;\"'|".contains(each)) {
            let path = word.trim_end_matches(['.', ':']).split('#').next().unwrap_or("");
            let known = ["docs/", "samples/", "src/", "tests/", "benches/", "grammar/", ".ci/"];
            let is_pattern = path.contains(['*', '{', '…']) || path.ends_with('/');
            if known.iter().any(|start| path.starts_with(start)) && !is_pattern && !root().join(path).exists() {
                problems.push(format!("{page}: `{path}` does not exist"));
            }
        }
    }
    assert_none(&problems);
}

#[test]
fn links_in_the_documentation_lead_somewhere() {
    let mut problems = Vec::new();
    for page in pages() {
        let folder = Path::new(&page).parent().unwrap_or(Path::new("")).to_owned();
        for link in read(&page).split("](").skip(1) {
            let target = link.split([')', '#', ' ']).next().unwrap_or("");
            let outside = target.is_empty() || target.contains("://") || target.starts_with("mailto:");
            if !outside && !root().join(&folder).join(target).exists() {
                problems.push(format!("{page}: the link to `{target}` leads nowhere"));
            }
        }
    }
    assert_none(&problems);
}

#[test]
fn documentation_names_no_absolute_paths() {
    let mut problems = Vec::new();
    for page in pages() {
        for (number, line) in read(&page).lines().enumerate() {
            if ["/home/", "/work/", "/root/", "/tmp/"].iter().any(|start| line.contains(start)) {
                problems.push(format!("{page}:{}: an absolute path", number + 1));
            }
        }
    }
    assert_none(&problems);
}

#[test]
fn every_code_has_a_page_and_every_page_a_code() {
    let codes: BTreeSet<String> =
        cssame::diagnostics::Code::all().map(|code| format!("docs/codes/{}.md", code.number())).collect();
    let pages: BTreeSet<String> = files_below("docs/codes", &["md"]).into_iter().collect();
    assert_eq!(codes, pages);
}

#[test]
fn every_command_has_a_page() {
    let commands: BTreeSet<String> = files_below("src/cli", &["rs"])
        .into_iter()
        .filter(|path| read(path).contains("impl Job for Arguments"))
        .map(|path| path.replace("src/cli/", "docs/commands/").replace(".rs", ".md"))
        .collect();
    let pages: BTreeSet<String> = files_below("docs/commands", &["md"]).into_iter().collect();
    assert_eq!(commands, pages);
}
