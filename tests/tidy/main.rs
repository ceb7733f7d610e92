//! The files of the repository: the rules of the house for sources and documents, and the cases of `tests/diagnostics`.
//!
//! Each rule and each case is a test of its own: `cargo test --test tidy fail/lock` runs the cases of that name.

mod diagnostics;
mod edges;
mod modules;
mod picture;
mod rules;
mod trees;

use libtest_mimic::{Arguments, Trial};
use std::fs;
use std::io::Write;
use std::path::PathBuf;

fn main() {
    let arguments = Arguments::from_args();
    let mut trials = diagnostics::trials();
    for &(name, rule) in rules::RULES.iter().chain(edges::RULES).chain(trees::RULES).chain(picture::RULES) {
        trials.push(Trial::test(format!("rule/{name}"), move || {
            rule();
            Ok(())
        }));
    }
    let all = arguments.filter.is_none() && !arguments.list;
    let conclusion = libtest_mimic::run(&arguments, trials);
    if all {
        // The last program of tests that `cargo test` runs closes with what none of them has tried.
        let lines: String = support::tools::not_tried().iter().map(|line| format!("{line}\n")).collect();
        let _ = std::io::stdout().write_all(lines.as_bytes());
    }
    conclusion.exit();
}

fn root() -> PathBuf {
    support::root().to_owned()
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
