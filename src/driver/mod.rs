//! Deterministic test drivers: from an execution that shows a pi term to a test program.
//!
//! In: a program, its CSSAME form, its machine, and what the exploration has found ([`crate::explore::Answer`]), or one execution that a
//! selection was completed to. Out: a [`Package`] of plain text: a Cargo package that uses only the standard library,
//! with the program in CSSAME form (`src/program.rs`), one function a thread, and one test for each feasible term.
//!
//! Algorithm: the schedule is replayed on the machine and watched (`plan`). Every event gets a single-assignment latch,
//! and the latches that must be open before: a read waits for the write that it is to read from, and an operation on a
//! synchronisation object for the one before it on the same object. In the package the threads are real ones, and a
//! runtime (`template/runtime.rs`) holds each event to its latches. All latches that an event waits for belong to
//! earlier events of the recorded execution, so that no thread waits for ever and the outcome does not depend on timing.
//!
//! [`drive_pairs`] does the same for executions that tear a pair of methods or keep them in order; [`crate::harness`] makes
//! programs for methods of a file without `main`. [`drive_orders`] does it for both orders of a race, [`drive_groups`] for
//! branch-affect groups.
//!
//! Tests of pairs may also run free (`free`): with plain threads and real memory, for a race detector.
//!
//! What it does not see, where the tests have latches: memory. Values go from writes to reads through latches, private accesses included; a reference
//! is nothing at run time. An atomic block is not atomic in the package, where nothing can tell.

mod body;
mod candidates;
mod executions;
mod free;
mod generated;
mod groups;
mod instruction;
mod label;
mod manifest;
mod memory;
mod names;
mod orders;
mod pairs;
mod plan;
mod program;
mod recorded;
mod registers;
mod tests_file;
mod titles;
mod value;
mod whole;
mod witnesses;

pub use generated::{GeneratedCase, drive_generated};
pub use groups::{GroupCase, OtherCase, drive_groups};
pub use manifest::{
    DeadlockEntry, FailureEntry, GroupEntry, Manifest, OrderEntry, OutcomeEntry, PairCounts, PairEntry, PairTestEntry,
    RaceEntry, TermEntry, TermStatus, TestEntry,
};
pub use memory::Source;
pub use orders::{NoOrder, Order, OrderCase, OrderedAccess, drive_orders};
pub use pairs::{CaseKind, PairCase, PairCases, drive_pairs};
pub use plan::{Act, End, MAX_EVENTS, Plan, PlannedEvent, ThreadPlan, WaitingThread, plan};
pub use recorded::{RecordedTest, Recording};
pub use whole::{Contents, Wanted, drive, drive_schedule, drive_selection};

use crate::form::Form;
use crate::ir::Program;
use crate::schedule::Naming;
use crate::source::SourceMap;
use crate::vm::{Machine, Semantics};
use serde::Serialize;
use std::path::PathBuf;
use tests_file::TestCase;

/// Pi terms of a program at most: each is an entry of the manifest, and may be a test.
pub const MAX_TERMS: usize = 100_000;

/// The name of the manifest in a package, by which a package of ours is known.
pub const MANIFEST: &str = "MANIFEST.json";

/// The paths of the files that every package has, sorted. Beside them are those of the recorded executions
/// ([`Recording::files`]).
pub const FILES: [&str; 5] = ["Cargo.toml", MANIFEST, "src/lib.rs", "src/program.rs", "tests/futures.rs"];

/// The runtime that every package has.
const RUNTIME: &str = include_str!("template/runtime.rs");

/// What a driver is made from.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The text.
    pub sources: &'a SourceMap,
    /// The program.
    pub program: &'a Program,
    /// Its CSSAME form.
    pub form: &'a Form,
    /// The machine that the schedules belong to.
    pub machine: &'a Machine,
}

impl<'a> Input<'a> {
    /// What gives names to steps.
    pub(super) fn naming(&self) -> Naming<'a> {
        Naming { program: self.program, sources: self.sources, machine: self.machine }
    }
}

/// The runtime of a package whose tests run free.
const FREE_RUNTIME: &str = include_str!("template/free.rs");

/// Steps of all tests of a package together: beyond, it would take the compiler minutes.
const MAX_STEPS: usize = 200_000;

/// When a test of a package passes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Expect {
    /// Where the program does not fail.
    #[default]
    Program,
    /// Where just that happens which was recorded, failures included.
    Recorded,
}

/// How a package is made.
#[derive(Clone, Debug)]
pub struct Options {
    /// When a test passes.
    pub expect: Expect,
    /// The source file, as the user named it.
    pub file: String,
    /// A hash of its text.
    pub hash: String,
    /// Values that the command line gave to `input` constants.
    pub inputs: Vec<(String, String)>,
    /// Which executions there are.
    pub semantics: Semantics,
    /// Steps beyond which an execution is not followed.
    pub max_steps: u64,
    /// Whether the tests of pairs run free: without latches, with plain threads and memory.
    pub free: bool,
}

/// A Cargo package.
#[derive(Clone, Debug)]
pub struct Package {
    /// Paths in the package, and texts; sorted by path.
    pub files: Vec<(PathBuf, String)>,
    /// What is in it, and what is not and why.
    pub manifest: Manifest,
}

/// Why there is no package.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DriveError {
    /// The program has no `main`.
    #[error("the program has no main")]
    NoMain,
    /// There would be a line of the manifest for each of too many terms.
    #[error("the program has {0} pi terms; drivers are made for at most {MAX_TERMS}")]
    TooManyTerms(usize),
    /// The schedule of a test does not lead to the end of an execution.
    #[error("the execution for `{test}` {reason}")]
    NoEnd {
        /// The test.
        test: String,
        /// What happens instead.
        reason: String,
    },
}

/// Refuses a program with more than [`MAX_TERMS`] pi terms, which can be told before it is explored.
///
/// # Errors
///
/// It has too many.
pub fn check_size(form: &Form) -> Result<(), DriveError> {
    let counts = form.shared_reads().into_iter().map(|read| form.terms(read).len());
    match counts.filter(|&count| count > 1).sum() {
        count if count > MAX_TERMS => Err(DriveError::TooManyTerms(count)),
        _ => Ok(()),
    }
}

fn package(
    input: &Input<'_>,
    options: &Options,
    mut manifest: Manifest,
    cases: &[TestCase],
) -> Result<Package, DriveError> {
    let main = input.program.main.ok_or(DriveError::NoMain)?;
    let (tests, recorded) = recorded::files(&[("program".to_owned(), input)], cases, options);
    manifest.set_tests(tests);
    let name = names::package_name(&options.file);
    let texts = [
        cargo_toml(&name),
        manifest.to_text(),
        RUNTIME.to_owned(),
        program::emit(input, main, options),
        tests_file::emit(&name, cases, options, manifest.note),
    ];
    Ok(Package { files: all_files(texts, recorded), manifest })
}

/// The files of a package, sorted by path.
fn all_files(texts: [String; FILES.len()], recorded: Vec<(PathBuf, String)>) -> Vec<(PathBuf, String)> {
    let mut files: Vec<(PathBuf, String)> =
        FILES.iter().zip(texts).map(|(path, text)| (PathBuf::from(path), text)).chain(recorded).collect();
    files.sort();
    files
}

fn cargo_toml(name: &str) -> String {
    format!(
        "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2021\"\npublish = false\n\n\
         [lib]\ndoctest = false\ntest = false\n\n[workspace]\n"
    )
}
