//! The results of test generation, as plain data.
//!
//! **Input**: a minimised test, with the end of an execution that shows a violation or a note. **Output**: a [`Failure`] or a
//! [`Note`] with names, texts and results, from which a reader can build the test again.

use super::execute::{Context, NoRun, OneExecution, Prepared};
use super::minimise::Minimised;
use super::program::{CallResults, TestProgram};
use super::subject::Subject;
use super::test::TestSource;
use super::verdict::ViolationKind;
use crate::instance::Instance;
use crate::linear::CallTracker;
use crate::measure::Measured;
use crate::method_pairs::MethodPair;
use cssame_budget::{Bound, Budget};
use cssame_explore::report::{BlockedReport, blocked_reports};
use cssame_schedule::{Step, Walk};
use cssame_vm::{Choice, Tables, ThreadIndex};
use serde::Serialize;

/// How tests are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Any methods; executions at random.
    Random,
    /// Pairs of methods that were covered least often, as in CovCon; executions at random.
    Pairs,
    /// Any methods that come to the accesses of an instance; executions that are directed at it.
    Patterns,
    /// Of these methods, pairs that were covered least often: MAPTest.
    Both,
}

impl Strategy {
    /// All of them.
    pub const ALL: [Strategy; 4] = [Strategy::Random, Strategy::Pairs, Strategy::Patterns, Strategy::Both];

    /// The word that users read and write.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Strategy::Random => "random",
            Strategy::Pairs => "pairs",
            Strategy::Patterns => "patterns",
            Strategy::Both => "both",
        }
    }
}

/// Why no more tests were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoppedBy {
    /// As many were made as were asked for.
    Tests,
    /// One has failed, and that was enough.
    Failure,
    /// A bound was hit.
    Bound(Bound),
}

impl StoppedBy {
    /// The word that users read.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            StoppedBy::Tests => "tests",
            StoppedBy::Failure => "failure",
            StoppedBy::Bound(bound) => bound.name(),
        }
    }
}

/// How many tests there were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TestCounts {
    /// Tests that were made.
    pub made: u64,
    /// Those that cover something new, and those that fail.
    pub kept: u64,
    /// Executions of all tests.
    pub executions: u64,
    /// Steps of these executions.
    #[serde(skip)]
    pub steps: u64,
    /// Tests of no use: the prefix fails or waits, or no serial order comes to an end, or there are too many of them.
    #[serde(rename = "unusable")]
    pub discarded: u64,
    /// Tests of which all executions were looked at.
    #[serde(rename = "exhaustive")]
    pub explored: u64,
}

/// A violation, with the smallest test that was found for it.
#[derive(Clone, Debug)]
pub struct Failure {
    /// `assert`, `deadlock`, `not-linearizable`, …
    pub status: &'static str,
    /// What the program says, or what is wrong.
    pub message: String,
    /// Where: the place of a failure, or where the first of the waiting threads stands.
    pub at: Option<String>,
    /// Its line.
    pub line: Option<u32>,
    /// The thread that fails, or the first one that waits.
    pub thread: Option<String>,
    /// Whether it needs no interleaving of calls: listed, not counted.
    pub sequential: bool,
    /// The number of the test that has shown it, from 1.
    pub found_by_test: u64,
    /// The class under test.
    pub class: String,
    /// The test.
    pub test: TestSource,
    /// What its calls have given in the execution.
    pub results: CallResults,
    /// Where the results are those of no serial order: what some serial orders give.
    pub allowed: Vec<CallResults>,
    /// The threads that wait.
    pub blocked: Vec<BlockedReport>,
    /// The execution.
    pub schedule: Vec<Step>,
    /// The step of the execution, from 0, before which the other thread comes in, in the middle of a call; none where calls
    /// are not interleaved.
    pub switch: Option<usize>,
    /// The program that the steps belong to.
    pub text: String,
    /// Lines of it before the test: those of the file, and the empty ones behind it.
    pub file_lines: u32,
}

/// A final state that no serial order leaves, though no public call of the test tells.
#[derive(Clone, Debug)]
pub struct Note {
    /// The variables.
    pub variables: Vec<String>,
    /// The number of the test that has shown it, from 1.
    pub found_by_test: u64,
    /// The test.
    pub test: TestSource,
}

/// A test that covers something new.
#[derive(Clone, Debug)]
pub struct KeptTest {
    /// Its number, from 1.
    pub number: u64,
    /// The class under test.
    pub class: String,
    /// The test.
    pub test: TestSource,
    /// The program that it is.
    pub text: String,
    /// How the execution ends that covers the most that is new.
    pub status: &'static str,
    /// Its steps.
    pub schedule: Vec<Step>,
    /// Instances that it is the first to cover.
    pub instances: usize,
    /// Pairs of methods that it is the first to cover.
    pub pairs: usize,
}

/// What it took to come to the first violation that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FirstFailure {
    /// Tests, that one included.
    pub tests: u64,
    /// Executions, that one included.
    pub executions: u64,
    /// Steps of these executions.
    pub steps: u64,
    /// Whether the executions have not shown it, but the search through all executions of the test.
    pub by_search: bool,
}

/// What one execution shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedExecution {
    /// The number of its test, from 1.
    pub test: u64,
    /// Its steps.
    pub steps: u64,
    /// The instances that it covers.
    pub instances: Vec<Instance>,
    /// The pairs of methods that it covers.
    pub pairs: Vec<MethodPair>,
    /// The violation that it shows.
    pub violation: Option<LoggedViolation>,
}

/// What is wrong with one execution.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LoggedViolation {
    /// `assert`, `deadlock`, `not-linearizable`, …
    pub status: &'static str,
    /// Where it fails, or where its threads wait; nothing where the results are wrong.
    pub places: Vec<String>,
    /// Whether it needs no interleaving of calls.
    pub sequential: bool,
}

/// What test generation has found.
#[derive(Clone, Debug)]
pub struct Generated {
    /// What decides about everything.
    pub seed: u64,
    /// How tests were chosen.
    pub strategy: Strategy,
    /// How many there were.
    pub tests: TestCounts,
    /// Each violation once, those that count first, in the order in which they were found.
    pub failures: Vec<Failure>,
    /// Each note once.
    pub notes: Vec<Note>,
    /// Tests that cover something new.
    pub kept: Vec<KeptTest>,
    /// What all executions cover; the program of an execution is the number of its test, from 0.
    pub measured: Measured,
    /// Why no more tests were made.
    pub stopped_by: StoppedBy,
    /// What the first violation took; none where there is none.
    pub first_failure: Option<FirstFailure>,
    /// Each execution, where that was asked for.
    pub log: Vec<LoggedExecution>,
}

impl LoggedExecution {
    /// An execution of the test with that number.
    pub fn new(test: u64, execution: &OneExecution) -> LoggedExecution {
        let violation = execution.shows.as_ref().filter(|key| key.kind.is_some());
        LoggedExecution {
            test,
            steps: execution.steps.len() as u64,
            instances: execution.measured.covered().to_vec(),
            pairs: execution.measured.pairs().iter().copied().collect(),
            violation: violation.map(|key| LoggedViolation {
                status: key.status,
                places: key.places.clone(),
                sequential: key.sequential,
            }),
        }
    }
}

impl Generated {
    /// The violations that count.
    pub fn counted(&self) -> impl Iterator<Item = &Failure> {
        self.failures.iter().filter(|failure| !failure.sequential)
    }
}

/// Results of serial orders that are shown beside those of no order.
const MAX_ALLOWED: usize = 6;

impl Failure {
    /// Gives names to what a minimised test shows.
    ///
    /// # Errors
    ///
    /// The test shows nothing any more: the time is up.
    pub fn new(
        context: &Context<'_>,
        subject: &Subject<'_>,
        found: &Minimised,
        number: u64,
        budget: &Budget<'_>,
    ) -> Result<Failure, NoRun> {
        let Minimised { test, key, end } = found;
        let prepared = Prepared::new(context, subject, test, budget)?;
        let program = &prepared.program;
        let (model, naming) = (&program.model, program.model.naming());
        let blocked = if end.failure.is_none() && !end.blocked.is_empty() {
            blocked_reports(&naming, &end.steps)
        } else {
            Vec::new()
        };
        let failing = end.failure.map(|failure| {
            let position = model.sources().position(model.machine().span(failure.at));
            (position.to_string(), position.line, naming.failure_message(&failure))
        });
        let waiting = blocked.iter().find(|one| one.threads.is_empty());
        let schedule = naming.steps(&end.steps);
        let thread = match &failing {
            Some(_) => schedule.last().map(|step| step.thread.clone()),
            None => waiting.map(|one| one.thread.clone()),
        };
        let place = failing.as_ref().map(|(at, line, _)| (at.clone(), *line));
        let place = place.or_else(|| waiting.map(|one| (one.at.clone(), one.line)));
        let message = failing.map_or_else(|| message(&prepared, found, context), |(_, _, message)| message);
        let allowed = match key.kind {
            Some(ViolationKind::NotLinearizable) => {
                let of = prepared.reference.as_ref().unwrap_or(program);
                prepared.judge.allowed().iter().take(MAX_ALLOWED).map(|steps| of.results(steps)).collect()
            }
            _ => Vec::new(),
        };
        Ok(Failure {
            status: key.status,
            message,
            at: place.as_ref().map(|(at, _)| at.clone()),
            line: place.map(|(_, line)| line),
            thread,
            sequential: key.sequential,
            found_by_test: number,
            class: subject.name().to_owned(),
            test: test.source(subject),
            results: program.results(&end.steps),
            allowed,
            blocked,
            schedule,
            switch: first_switch(program, &end.steps),
            text: model.unit().text().to_owned(),
            file_lines: program.lines_before(),
        })
    }
}

/// The first step before which the other thread comes in although the one before is inside of a call and could go on.
fn first_switch(program: &TestProgram, steps: &[Choice]) -> Option<usize> {
    let (mut tables, mut tracker) = (Tables::new(), CallTracker::new());
    let mut walk = Walk::new(program.model.machine(), &mut tables, &mut tracker);
    let mut last: Option<usize> = None;
    for (place, &choice) in steps.iter().enumerate() {
        let state = walk.state();
        // Threads that a call has made belong to it.
        let arm_of = |thread: ThreadIndex| {
            let mut above = std::iter::successors(Some(thread), |&thread| state.parent(thread));
            above.find_map(|thread| tracker.arm_of(thread))
        };
        if let Some(arm) = arm_of(choice.thread) {
            let left = last.filter(|&last| last != arm && tracker.arms()[last].is_inside());
            let can_go_on = |left| {
                let mut of_left = state.threads().filter(|&thread| arm_of(thread) == Some(left));
                of_left.any(|thread| walk.alternatives(thread) > 0)
            };
            if left.is_some_and(can_go_on) {
                return Some(place);
            }
            last = Some(arm);
        }
        walk.step(choice, &mut tracker).ok()?;
    }
    None
}

/// What is wrong, where the program does not say so itself.
fn message(prepared: &Prepared<'_>, found: &Minimised, context: &Context<'_>) -> String {
    match (found.key.kind, context.reference) {
        (Some(ViolationKind::NotLinearizable), Some(class)) if prepared.judge.is_own_result(&found.end) => {
            format!("`{class}` gives these results in no order of the calls; the class does without any interleaving")
        }
        (Some(ViolationKind::NotLinearizable), Some(class)) => {
            format!("`{class}` gives these results in no order of the calls")
        }
        (Some(ViolationKind::NotLinearizable), None) => "no order of the calls gives these results".to_owned(),
        _ if found.key.sequential => "calls wait for ever, also without any interleaving".to_owned(),
        _ => "calls wait for ever, and no order of the calls explains it".to_owned(),
    }
}
