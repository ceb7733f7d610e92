//! The paper's own form, for comparison and teaching: a latch for each version, and an aspect that replaces pi and phi functions.
//!
//! **Input**: a program, its CSSAME form, and optionally selected terms. **Output**: a [`Package`] in Java with one test for each
//! term of each pi function, or one for the selection; or the constructs that the form cannot express ([`LatchesError`]).
//!
//! **Algorithm** ("Controlling the Future", sections 5 and 6, figure 4)
//! 1. Refuse constructs whose versions are not defined exactly once (`unsaid`).
//! 2. Write the program in CSSAME form (`program`): a field for each version (`versions`, `registers`), a class for each thread,
//!    a method for each pi and phi function.
//! 3. Write the tests (`tests_file`). The version that a pi function returns is data of the test, not of the aspect, so that one
//!    weaving serves all tests.
//!
//! The paper does not specify one case: a pi function without a selected term in a test returns the term that control flow brings
//! to it.
//!
//! **Soundness and limits**: there is no soundness claim. The form does not check whether an execution has the selected terms:
//! the test of an impossible one may print output that the program never prints, or its threads may wait for each other for ever.
//! If a pi function in a mutex body waits for a definition under the same lock, the result depends on which thread acquires the
//! lock first. The generated `README.md` says so. The other drivers decide all of this before they write a test.

mod body;
mod expression;
mod program;
mod readme;
mod registers;
mod selected;
mod sites;
mod tests_file;
mod unsaid;
mod versions;

pub use unsaid::Unsaid;

use super::manifest::{Manifest, TermStatus, TestEntry, pi_terms};
use super::names::{Names, package_name};
use super::test_case::{selection_line, test_name};
use super::{DriveError, Input, MANIFEST, Options, Package, aspectj, check_size, java, titles, unwritten};
use cssame_form::Selection;
use cssame_ssa::build_program;
use rustc_hash::FxHashMap;
use selected::{check_selections, select};
use sites::Sites;
use std::path::PathBuf;
use tests_file::Test;
use unsaid::find_unsaid;
use versions::Versions;

/// The runtime, package `cssame`.
const RUNTIME: &[(&str, &str)] = &[
    ("Barrier.java", include_str!("template/Barrier.java")),
    ("Event.java", include_str!("template/Event.java")),
    ("Failure.java", include_str!("template/Failure.java")),
    ("Handle.java", include_str!("template/Handle.java")),
    ("Latch.java", include_str!("template/Latch.java")),
    ("Local.java", include_str!("template/Local.java")),
    ("Lock.java", include_str!("template/Lock.java")),
    ("Output.java", include_str!("template/Output.java")),
    ("Phi.java", include_str!("template/Phi.java")),
    ("Pi.java", include_str!("template/Pi.java")),
    ("ProgramThread.java", include_str!("template/ProgramThread.java")),
    ("Run.java", include_str!("template/Run.java")),
    ("Semaphore.java", include_str!("template/Semaphore.java")),
    ("Stop.java", include_str!("template/Stop.java")),
    ("Text.java", include_str!("../java/template/Text.java")),
    ("Threads.java", include_str!("template/Threads.java")),
    ("Version.java", include_str!("template/Version.java")),
    ("Watch.java", include_str!("template/Watch.java")),
];

/// The aspect.
const ASPECT: &str = include_str!("template/Latches.aj");

/// Why there is no package in this form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LatchesError {
    /// There is none in any form.
    #[error(transparent)]
    Package(#[from] DriveError),
    /// The program has constructs that the form cannot say, in the order of the text.
    #[error("the program has constructs that the form of the paper cannot say")]
    Unsaid(Vec<Unsaid>),
    /// A selection that means no term of a pi function.
    #[error("{0}")]
    Selection(String),
}

/// A package in the paper's form: one test for each term of each pi function, or one that has all the selected terms, whether
/// an execution has them or not.
///
/// # Errors
///
/// The program has no `main` or is one in C, too many terms, or what the form cannot say; or a selection means no term.
pub fn drive_latches(input: &Input<'_>, selections: &[Selection], options: &Options) -> Result<Package, LatchesError> {
    check_size(input.form)?;
    unwritten::check(input.program)?;
    let main = input.program.main.ok_or(DriveError::NoMain)?;
    let sites = Sites::new(input, main);
    let unsaid = find_unsaid(input, &sites);
    if !unsaid.is_empty() {
        return Err(LatchesError::Unsaid(unsaid));
    }
    let ssa = build_program(input.program);
    let mut versions = Versions::new(input, &sites, &ssa);
    check_selections(input, &versions, selections).map_err(LatchesError::Selection)?;
    let functions = program::structure(input, &sites, &ssa).map_err(|unsaid| LatchesError::Unsaid(vec![unsaid]))?;
    let name = package_name(&options.file);
    let names = program::Names { package: &name, file: &options.file };
    let program = program::emit((input, &sites, &ssa), &mut versions, &functions, names);
    let mut manifest = Manifest::new(options, None, 0);
    manifest.latches = true;
    let tests = tests(input, &versions, selections, &mut manifest);
    manifest.set_tests(tests.iter().map(entry).collect());
    let mut files = vec![
        (PathBuf::from("README.md"), readme::emit(&versions, &tests, options)),
        (PathBuf::from("pom.xml"), aspectj::MAVEN.replace(java::NAME, &name)),
        (PathBuf::from("run.sh"), aspectj::SCRIPT.text()),
        (PathBuf::from("src/main/aspectj/cssame/Latches.aj"), ASPECT.to_owned()),
        (PathBuf::from("src/main/java").join(&name).join("Program.java"), program),
    ];
    let runtime = |(file, text): &(&str, &str)| (PathBuf::from("src/main/java/cssame").join(file), (*text).to_owned());
    files.extend(RUNTIME.iter().map(runtime));
    for (class, text) in tests_file::classes(&tests, &name, &options.file) {
        files.push((PathBuf::from("src/test/java").join(&name).join(format!("{class}.java")), text));
    }
    files.sort();
    manifest.files = files.iter().map(|(path, _)| path.to_string_lossy().into_owned()).collect();
    files.push((PathBuf::from(MANIFEST), manifest.to_text()));
    files.sort();
    Ok(Package { files, manifest })
}

/// The tests; the manifest gets their terms.
fn tests(input: &Input<'_>, versions: &Versions<'_>, selections: &[Selection], manifest: &mut Manifest) -> Vec<Test> {
    let mut names = Names::of_tests();
    if !selections.is_empty() {
        let name = names.fresh(&test_name(input, selections));
        for selection in selections {
            manifest.add_term(input, selection, TermStatus::NotAsked, Some(name.clone()));
        }
        return vec![test(input, versions, name, selections)];
    }
    let (mut tests, mut of_terms) = (Vec::new(), FxHashMap::default());
    for (read, definition) in pi_terms(input) {
        // A read that sees what an earlier one has seen has the tests of that one.
        let term = (versions.first(read), definition);
        let selection = Selection::of(read, definition);
        let name: &String = of_terms.entry(term).or_insert_with(|| {
            let own = Selection::of(term.0, definition);
            let name = names.fresh(&test_name(input, std::slice::from_ref(&own)));
            tests.push(test(input, versions, name.clone(), &[own]));
            name
        });
        manifest.add_term(input, &selection, TermStatus::NotAsked, Some(name.clone()));
    }
    if tests.is_empty() {
        let mut only = test(input, versions, names.fresh("outcome"), &[]);
        only.lines.push("Each read can read from one definition only.".to_owned());
        tests.push(only);
    }
    tests
}

fn test(input: &Input<'_>, versions: &Versions<'_>, name: String, selections: &[Selection]) -> Test {
    Test {
        name,
        lines: selections.iter().map(|selection| selection_line(input, selection)).collect(),
        selected: select(versions, selections),
        shows: selections.iter().map(|selection| titles::equation(input, selection)).collect(),
    }
}

/// The entry of a test in the manifest: nothing is known of how it ends.
fn entry(test: &Test) -> TestEntry {
    TestEntry {
        status: "",
        name: test.name.clone(),
        end: "not-asked",
        message: None,
        output: Vec::new(),
        shows: test.shows.clone(),
        schedule: String::new(),
        program: None,
    }
}
