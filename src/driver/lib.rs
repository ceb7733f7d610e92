//! Deterministic test drivers: convert an execution that shows a pi term to a test program.
//!
//! In: a program, its CSSAME form, its machine, and the findings of the exploration ([`cssame_explore::Answer`]), or one
//! execution that completes a selection. Out: a [`Package`] of plain text in the language of a [`Target`], with the program, and
//! one test for each feasible term.
//!
//! Algorithm: the schedule is replayed on the machine under an observer (`planner`). Every event gets a single-assignment latch,
//! and the list of latches that must be open before it. A read waits for its write, and an operation on a synchronisation object
//! waits for the previous operation on the same object. This is the plan, which is plain data (`plan`); a target (`target`) is a
//! template over it. The package uses real threads, and a runtime makes each event follow the plan. All latches that an event
//! waits for belong to earlier events of the recorded execution, so no thread waits for ever and the outcome does not depend on
//! timing.
//!
//! [`drive_pairs`] does the same for executions that tear a pair of methods or keep them in order; the layer `harness` makes
//! programs for methods of a file without `main`. [`drive_orders`] does it for both orders of a race, [`drive_groups`] for
//! branch-affect groups.
//!
//! Each target has its own limitations, which it documents (`rust`).

mod aspectj;
mod candidates;
mod datum;
mod executions;
mod generated;
mod groups;
mod java;
mod label;
mod latches;
mod manifest;
mod memory;
mod names;
mod orders;
mod pairs;
mod parts;
mod plan;
mod planner;
mod recorded;
mod rust;
mod source_lines;
mod target;
mod test_case;
mod titles;
mod unwritten;
mod whole;
mod witnesses;

pub use datum::Datum;
pub use generated::{GeneratedCase, drive_generated};
pub use groups::{GroupCase, OtherCase, drive_groups};
pub use latches::{LatchesError, Unsaid, drive_latches};
pub use manifest::{
    DeadlockEntry, FailureEntry, GroupEntry, Manifest, OrderEntry, OutcomeEntry, PairCounts, PairEntry, PairTestEntry,
    RaceEntry, TermEntry, TermStatus, TestEntry,
};
pub use orders::{NoOrder, Order, OrderCase, OrderedAccess, drive_orders};
pub use pairs::{CaseKind, PairCase, PairCases, drive_pairs};
pub use plan::{Act, End, LastValue, Operation, Plan, PlannedEvent, Source, ThreadPlan, WaitingThread};
pub use planner::{MAX_EVENTS, plan};
pub use recorded::{RecordedTest, Recording};
pub use whole::{Contents, Wanted, drive, drive_schedule, drive_selection};

use cssame_form::Form;
use cssame_ir::Program;
use cssame_schedule::Naming;
use cssame_source::SourceMap;
use cssame_vm::{Machine, Semantics};
use parts::{Module, Parts};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use test_case::TestCase;

/// Pi terms of a program at most: each is an entry of the manifest, and may be a test.
pub const MAX_TERMS: usize = 100_000;

/// The name of the manifest in a package, by which a package of ours is known.
pub const MANIFEST: &str = "MANIFEST.json";

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
    pub(crate) fn naming(&self) -> Naming<'a> {
        Naming { program: self.program, sources: self.sources, machine: self.machine }
    }
}

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

/// The language of a package.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Target {
    /// A Cargo package.
    #[default]
    Rust,
    /// A Maven project of plain Java.
    Java,
    /// A Maven project of Java with an aspect.
    AspectJ,
}

/// How a package is made.
#[derive(Clone, Debug)]
pub struct Options {
    /// The language.
    pub target: Target,
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

/// A Cargo package of a program without a name, as the command line makes one.
impl Default for Options {
    fn default() -> Options {
        Options {
            target: Target::default(),
            expect: Expect::default(),
            file: String::new(),
            hash: String::new(),
            inputs: Vec::new(),
            semantics: Semantics::default(),
            max_steps: 100_000,
            free: false,
        }
    }
}

/// A package of tests.
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
    /// The program has what only programs in C have, and the target is not Rust, or the tests are to run free.
    #[error("tests of programs in C are not written in this form")]
    OfC,
    /// There would be a line of the manifest for each of too many terms.
    #[error("the program has {0} pi terms; drivers are made for at most {MAX_TERMS}")]
    TooManyTerms(usize),
    /// A function that a target cannot write, for its control flow or its length.
    #[error("`{function}` cannot be written for this target: {reason}")]
    Unwritable {
        /// The function.
        function: String,
        /// Why not.
        reason: String,
    },
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

/// Puts a package together. The manifest says all but which tests and which files there are.
fn package(
    programs: &[Module<'_>],
    cases: &[TestCase],
    mut manifest: Manifest,
    options: &Options,
) -> Result<Package, DriveError> {
    if options.target != Target::Rust || options.free {
        programs.iter().try_for_each(|module| unwritten::check(module.input.program))?;
    }
    let (tests, recorded) = recorded::files(programs, cases, options);
    manifest.set_tests(tests);
    let name = names::package_name(&options.file);
    let mut files = options.target.files(&Parts { name: &name, programs, cases, options, manifest: &manifest })?;
    files.sort();
    manifest.files = files.iter().map(|(path, _)| path.to_string_lossy().into_owned()).collect();
    files.extend(recorded);
    files.push((PathBuf::from(MANIFEST), manifest.to_text()));
    files.sort();
    Ok(Package { files, manifest })
}
