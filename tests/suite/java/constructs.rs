//! Small programs, one for each construct of the language, whose packages are compiled and run together, woven and not.

use super::batch::Batch;
use super::{assert_passed, package_with};
use cssame::budget::Limits;
use cssame::driver::{Expect, Target};
use cssame::vm::Semantics;
use std::fs;
use std::path::Path;

const PLAIN: Semantics = Semantics { spurious_wakeups: false, prefer_writers: false };
const WRITERS: Semantics = Semantics { prefer_writers: true, ..PLAIN };
const SPURIOUS: Semantics = Semantics { spurious_wakeups: true, ..PLAIN };

/// The programs of the folder `constructs`, with the semantics that the first line of each names.
fn programs() -> Vec<(String, String, Semantics)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/java/constructs");
    let mut programs: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let text = fs::read_to_string(&path).unwrap();
            let semantics = match text.lines().next() {
                Some("// --prefer-writers") => WRITERS,
                Some("// --spurious-wakeups") => SPURIOUS,
                _ => PLAIN,
            };
            (path.file_stem().unwrap().to_str().unwrap().to_owned(), text, semantics)
        })
        .collect();
    programs.sort_by(|left, right| left.0.cmp(&right.0));
    programs
}

#[test]
fn what_was_recorded_of_every_construct_happens_in_java() {
    constructs_happen(Target::Java, "constructs");
}

#[test]
fn what_was_recorded_of_every_construct_happens_in_woven_java() {
    constructs_happen(Target::AspectJ, "woven_constructs");
}

fn constructs_happen(target: Target, folder: &str) {
    let mut batch = Batch::new(folder);
    let mut tests = 0;
    for (name, text, semantics) in support::part(programs(), 12) {
        let limits = Limits { max_states: Some(20_000), ..Limits::default() };
        let file = format!("{name}.csm");
        let package = package_with(target, (&file, &text), Expect::Recorded, (semantics, limits));
        let package = package.unwrap_or_else(|| panic!("{name} is no program"));
        assert!(!package.manifest.tests.is_empty(), "{name}");
        tests += package.manifest.tests.len();
        batch.add(&name, &package.files);
    }
    let Some(results) = batch.run(1, &[]) else { return };
    assert_passed(&results, tests);
}
