//! The answer of `coverage --generate`: tests for thread-safe classes, and their results.
//!
//! **Input**: a file without `main`, and a request. **Output**: [`GenerateAnswer`]: violations, each with a small test and an
//! execution; the tests that cover something new; and the coverage of all executions. Each test is a program: the file followed
//! by a `main`.

use cssame_budget::{Bound, Budget};
use cssame_coverage::generate::{
    CallResults, Failure, Generated, KeptTest, Refused, Request, StoppedBy, TestCounts, TestSource, generate,
};
use cssame_coverage::report::{CoverageReport, library_report};
use cssame_coverage::{Findings, PublicMethods, Universe, of_library};
use cssame_diagnostics::{Code, Diagnostic, Diagnostics, Severity};
use cssame_driver::{Target, TestEntry};
use cssame_explore::report::BlockedReport;
use cssame_model::{Model, Options, Unit};
use cssame_schedule as schedule;
use cssame_schedule::{Execution, Replay, Step};
use serde::Serialize;

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub struct GenerateRequest {
    /// As the layer `coverage` takes it.
    pub request: Request,
    /// Whether the time of the budget is how long tests are to be made, and no bound.
    pub is_timed: bool,
}

/// A violation.
#[derive(Debug, Serialize)]
pub struct GeneratedFailure {
    /// `assert`, `deadlock`, `not-linearizable`, …
    pub status: &'static str,
    /// What the program says, or what is wrong.
    pub message: String,
    /// Its line.
    pub line: Option<u32>,
    /// The place of a failure, or where the first of the waiting threads stands.
    pub at: Option<String>,
    /// The thread that fails, or the first one that waits.
    pub thread: Option<String>,
    /// Whether it needs no interleaving of calls: listed, not counted.
    pub sequential: bool,
    /// The number of the test that has shown it, from 1.
    pub found_by_test: u64,
    /// The class under test.
    pub class: String,
    /// The smallest test that was found for it.
    pub test: TestSource,
    /// What its calls have given in the execution.
    pub results: CallResults,
    /// Where the results are those of no serial order: what some serial orders give.
    pub allowed: Vec<CallResults>,
    /// The threads that wait.
    pub blocked: Vec<BlockedReport>,
    /// The execution.
    pub schedule: Vec<Step>,
    /// The step, from 0, before which the other thread comes in, in the middle of a call.
    pub switch: Option<usize>,
    /// The program and the execution, done again.
    #[serde(skip)]
    pub shown: Shown,
}

/// A test as a program, and an execution of it.
#[derive(Debug)]
pub struct Shown {
    /// The program.
    pub model: Model,
    /// The execution.
    pub execution: Execution,
}

/// A final state that no serial order leaves, though no public call of the test tells.
#[derive(Debug, Serialize)]
pub struct GeneratedNote {
    /// The variables.
    pub variables: Vec<String>,
    /// The number of the test that has shown it, from 1.
    pub found_by_test: u64,
    /// The test.
    pub test: TestSource,
}

/// A package of tests that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EmittedTests {
    /// The directory.
    pub out: String,
    /// The files of the package, as paths in it.
    pub files: Vec<String>,
    /// The tests of the package.
    pub tests: Vec<TestEntry>,
    /// The language of the package.
    #[serde(skip)]
    pub target: Target,
}

/// Tests that were made, and what they show.
#[derive(Debug, Serialize)]
pub struct GenerateAnswer {
    /// What the executions of the tests cover.
    #[serde(flatten)]
    pub report: CoverageReport,
    /// What decides about everything.
    pub seed: u64,
    /// How tests were chosen.
    pub strategy: &'static str,
    /// How many there were.
    pub tests: TestCounts,
    /// Why no more were made: `tests`, `time`, `failure`, or a bound.
    pub stopped_by: &'static str,
    /// Each violation once, those that count first.
    pub failures: Vec<GeneratedFailure>,
    /// Each note once.
    pub notes: Vec<GeneratedNote>,
    /// The tests as a package, where they were written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub emitted: Option<EmittedTests>,
    /// Tests that cover something new.
    #[serde(skip)]
    pub kept: Vec<KeptTest>,
    /// As the layer `coverage` has found it.
    #[serde(skip)]
    pub findings: Findings,
    /// The bound that was hit.
    #[serde(skip)]
    pub bound: Option<Bound>,
}

/// Makes tests for the classes of a file.
///
/// # Errors
///
/// Why there are none; or a program does not compile again, which none that was compiled before does.
pub fn generate_tests(
    unit: &Unit,
    options: &Options,
    asked: &GenerateRequest,
    budget: &Budget<'_>,
) -> Result<GenerateAnswer, Diagnostics> {
    let universe = Universe::of_library(&unit.program);
    let methods = PublicMethods::new(&unit.program);
    let generated = generate(unit, options, (&universe, &methods), &asked.request, budget);
    let generated = generated.map_err(|refused| refusal(unit, &refused))?;
    let Generated { seed, strategy, tests, failures, notes, kept, mut measured, stopped_by, .. } = generated;
    let (stopped_by, bound) = match stopped_by {
        StoppedBy::Bound(Bound::Timeout) if asked.is_timed => ("time", None),
        StoppedBy::Bound(bound) => (bound.name(), Some(bound)),
        other => (other.word(), None),
    };
    // Reads and definitions of different programs are not the same.
    measured.terms.clear();
    measured.bound = bound;
    let findings = of_library(unit, (universe, methods), measured);
    let failures = failures.into_iter().enumerate().map(|(index, failure)| {
        let shown = show(&format!("failure_{}.csm", index + 1), &failure.text, &failure.schedule, options)?;
        Ok(reported(failure, shown))
    });
    let failures = failures.collect::<Result<_, Diagnostics>>()?;
    let notes = notes.into_iter().map(|note| GeneratedNote {
        variables: note.variables,
        found_by_test: note.found_by_test,
        test: note.test,
    });
    Ok(GenerateAnswer {
        report: library_report(unit, &findings),
        seed,
        strategy: strategy.word(),
        tests,
        stopped_by,
        failures,
        notes: notes.collect(),
        emitted: None,
        kept,
        findings,
        bound,
    })
}

/// Compiles a test, and does an execution of it again.
pub(super) fn show(name: &str, text: &str, steps: &[Step], options: &Options) -> Result<Shown, Diagnostics> {
    let model = Model::from_text(name, text, options)?;
    let mut replay = Replay::new(model.naming(), steps);
    let execution = schedule::run(model.machine(), &mut replay, steps.len() as u64 + 1, &mut ());
    Ok(Shown { model, execution })
}

fn reported(failure: Failure, shown: Shown) -> GeneratedFailure {
    GeneratedFailure {
        status: failure.status,
        message: failure.message,
        line: failure.line,
        at: failure.at,
        thread: failure.thread,
        sequential: failure.sequential,
        found_by_test: failure.found_by_test,
        class: failure.class,
        test: failure.test,
        results: failure.results,
        allowed: failure.allowed,
        blocked: failure.blocked,
        schedule: failure.schedule,
        switch: failure.switch,
        shown,
    }
}

fn refusal(unit: &Unit, refused: &Refused) -> Diagnostics {
    let (code, help) = match refused {
        Refused::HasMain => (Code::MainConflict, "leave out `--generate`, or the `main`"),
        Refused::NoMethods => (Code::NoMain, "tests call public methods of classes, and functions"),
        Refused::NoClass(_) | Refused::NoSuchMethod { .. } => {
            (Code::UnknownName, "the class of `--spec` must have the methods of the class under test")
        }
        Refused::NoInvariant(_) => (Code::UnknownName, "write it as `isValid` or `A.isValid`"),
    };
    let diagnostic = Diagnostic::general(code, Severity::Error, refused.to_string()).with_help(help);
    Diagnostics::new(unit.sources.clone(), vec![diagnostic])
}
