//! The answer of an exploration with names, as in `cssame futures`.
//!
//! **Input**: an [`Answer`], the terms of the pi functions, the program and its text. **Output**: [`FuturesReport`], whose keys
//! are stable: other programs rely on them.

mod blocked;
mod endless;
pub(crate) mod fewer_switches;
mod terms;
pub(crate) mod unfinished;

use crate::answer::{Answer, FailureWitness, Outcome};
use crate::question::count::CountAnswer;
pub use blocked::{Awaited, BlockedReport, blocked_reports, wait_cycle};
use cssame_ir::{DefinitionId, ReadId};
use cssame_schedule::{Namer, Naming, SharedStep, Step, facts};
use cssame_vm::{Choice, Failure, Machine, OutputId, PathId, Tables};
pub use endless::{CycleReport, EndlessReport, RoundReport, StarvingReport};
use serde::Serialize;
pub use terms::{Listed, MergedTerms, TermCounts, TermReport, TermReports};
use unfinished::{UnfinishedReport, unfinished_report};

/// What can happen.
#[derive(Clone, Debug, Serialize)]
pub struct FuturesReport {
    /// Whether everything was visited.
    pub complete: bool,
    /// Whether terms, failures and deadlocks are all decided; outcomes may be missing, and the number of futures.
    pub decided: bool,
    /// The bound that was hit.
    pub bound: Option<&'static str>,
    /// What the search has proved all the same, where a bound has stopped it.
    pub unfinished: Option<UnfinishedReport>,
    /// Number of futures, if they were counted to the end.
    pub futures: Option<u64>,
    /// The number of futures that were found where a bound has stopped the count.
    pub futures_at_least: Option<u64>,
    /// Whether it is proven that there are infinitely many futures.
    pub infinite_futures: bool,
    /// Executions that were followed to their end.
    pub executions: u64,
    /// Different states that were visited.
    pub states: u64,
    /// Which pi terms can happen, by place.
    pub terms: TermReports,
    /// What executions print and how they end.
    pub outcomes: Vec<OutcomeReport>,
    /// Where the program can fail.
    pub failures: Vec<FailureReport>,
    /// Deadlocks.
    pub deadlocks: Vec<DeadlockReport>,
}

/// An outcome.
#[derive(Clone, Debug, Serialize)]
pub struct OutcomeReport {
    /// The printed lines, grouped by thread in the order of threads.
    pub output: Vec<String>,
    /// The same, thread by thread.
    pub by_thread: Vec<ThreadOutput>,
    /// `ok`, `assert`, `deadlock`, …
    pub status: &'static str,
    /// What the program says when it fails.
    pub message: Option<String>,
    /// The line at which it fails.
    pub line: Option<u32>,
    /// A shortest execution that has it, unless only those of findings were asked for, or others take all the steps that
    /// are kept.
    pub schedule: Option<Vec<SharedStep>>,
}

/// What a thread prints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ThreadOutput {
    /// Its path.
    pub thread: String,
    /// The lines.
    pub output: Vec<String>,
}

/// A place where the program can fail.
#[derive(Clone, Debug, Serialize)]
pub struct FailureReport {
    /// `assert`, `error`, …
    pub status: &'static str,
    /// What the program says, or what is wrong.
    pub message: String,
    /// `LINE:COL`
    pub at: String,
    /// Its line.
    pub line: u32,
    /// The thread that fails.
    pub thread: String,
    /// The values that the failure comes from, in that execution: `x is 1`.
    pub facts: Vec<String>,
    /// A shortest execution that fails there.
    pub schedule: Vec<Step>,
}

/// A deadlock.
#[derive(Clone, Debug, Serialize)]
pub struct DeadlockReport {
    /// The threads that have not ended.
    pub threads: Vec<BlockedReport>,
    /// Threads each of which waits for the next one, the last for the first; none where there is no such cycle.
    pub cycle: Vec<String>,
    /// A shortest execution that leads to it.
    pub schedule: Vec<Step>,
}

impl FailureReport {
    /// Gives names to a failure, by the thread and the execution that show it.
    #[must_use]
    pub fn of(naming: &Naming<'_>, failure: &Failure, thread: String, steps: &[Choice]) -> FailureReport {
        let at = naming.sources.position(naming.machine.span(failure.at));
        FailureReport {
            status: failure.kind.status(),
            message: naming.failure_message(failure),
            at: at.to_string(),
            line: at.line,
            thread,
            facts: facts(naming, failure, steps),
            schedule: naming.steps(steps),
        }
    }
}

impl DeadlockReport {
    /// Gives names to the deadlock that an execution ends in.
    #[must_use]
    pub fn of(naming: &Naming<'_>, steps: &[Choice]) -> DeadlockReport {
        let threads = blocked_reports(naming, steps);
        DeadlockReport { cycle: wait_cycle(&threads), threads, schedule: naming.steps(steps) }
    }
}

/// The executions whose steps get names. Those of terms and outcomes may be thousands, of thousands of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedules {
    /// Those of terms, outcomes, failures and deadlocks.
    All,
    /// Those of failures and deadlocks; the others are left empty.
    OfFindings,
}

/// Gives names to an answer. `candidates` are the terms of the pi functions, each of which gets a verdict; what was seen
/// beyond them is listed as well.
#[must_use]
pub fn report(
    naming: &Naming<'_>,
    answer: &Answer,
    candidates: &[(ReadId, DefinitionId)],
    count: Option<&CountAnswer>,
    schedules: Schedules,
) -> FuturesReport {
    let reporter = Reporter { naming, answer };
    let mut namer = (schedules == Schedules::All).then(|| Namer::new(*naming));
    let finite = count.filter(|count| !count.infinite);
    let (counted, cut) = (finite.filter(|count| count.bound.is_none()), finite.filter(|count| count.bound.is_some()));
    let bound = answer.bound.or(count.and_then(|count| count.bound));
    FuturesReport {
        complete: bound.is_none(),
        decided: answer.is_complete(),
        bound: bound.map(cssame_budget::Bound::name),
        unfinished: answer.bound.map(|bound| UnfinishedReport {
            preemptions: answer.finished,
            ..unfinished_report(naming, bound, &answer.statistics, &answer.open)
        }),
        futures: counted.map(|count| count.futures),
        futures_at_least: cut.map(|count| count.futures),
        infinite_futures: count.is_some_and(|count| count.infinite),
        executions: finite.map_or(answer.statistics.executions, |count| count.executions),
        states: answer.statistics.states,
        terms: TermReports::new(naming, &mut namer, answer, candidates),
        outcomes: answer.outcomes.iter().map(|outcome| reporter.outcome(outcome, &mut namer)).collect(),
        failures: answer.failures.iter().map(|failure| reporter.failure(failure)).collect(),
        deadlocks: answer.deadlocks.iter().map(|deadlock| DeadlockReport::of(naming, &deadlock.schedule)).collect(),
    }
}

/// What threads have printed, with names.
#[must_use]
pub fn thread_outputs(machine: &Machine, tables: &Tables, outputs: &[(PathId, OutputId)]) -> Vec<ThreadOutput> {
    let lines = |output| tables.lines(output).into_iter().map(str::to_owned).collect();
    let named = |&(path, output)| ThreadOutput { thread: machine.path_name(tables, path), output: lines(output) };
    outputs.iter().map(named).collect()
}

struct Reporter<'a> {
    naming: &'a Naming<'a>,
    answer: &'a Answer,
}

impl Reporter<'_> {
    fn thread(&self, path: PathId) -> String {
        self.naming.machine.path_name(&self.answer.tables, path)
    }

    fn at(&self, at: cssame_vm::CodeIndex) -> cssame_source::Position {
        self.naming.sources.position(self.naming.machine.span(at))
    }

    fn outcome(&self, outcome: &Outcome, namer: &mut Option<Namer<'_>>) -> OutcomeReport {
        let by_thread = thread_outputs(self.naming.machine, &self.answer.tables, &outcome.outputs);
        OutcomeReport {
            output: by_thread.iter().flat_map(|thread| thread.output.iter().cloned()).collect(),
            by_thread,
            status: outcome.status.word(),
            message: outcome.failure.map(|failure| self.naming.failure_message(&failure)),
            line: outcome.failure.map(|failure| self.at(failure.at).line),
            schedule: namer.as_mut().zip(outcome.schedule.as_ref()).map(|(namer, schedule)| namer.steps(schedule)),
        }
    }

    fn failure(&self, FailureWitness { failure, path, schedule }: &FailureWitness) -> FailureReport {
        FailureReport::of(self.naming, failure, self.thread(*path), schedule)
    }
}
