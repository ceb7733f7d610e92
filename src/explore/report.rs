//! The answer of an exploration with names, as `cssame futures` gives it.
//!
//! In: an [`Answer`], the terms of the pi functions, the program and its text. Out: [`FuturesReport`], which keeps its
//! keys: other programs rely on them.

use super::count::CountAnswer;
use super::deadlock::{BlockedThread, Deadlock, Object, WaitsFor};
use super::futures::{Answer, FailureWitness, Outcome};
pub use super::term_report::{TermReport, TermReports};
use crate::ir::{DefinitionId, ReadId};
use crate::schedule::{Naming, Step};
use crate::vm::{Choice, Failure, PathId};
use serde::Serialize;

/// What can happen.
#[derive(Clone, Debug, Serialize)]
pub struct FuturesReport {
    /// Whether everything was visited.
    pub complete: bool,
    /// The bound that was hit.
    pub bound: Option<&'static str>,
    /// Number of futures, if they were counted to the end.
    pub futures: Option<u64>,
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
    /// A shortest execution that has it.
    pub schedule: Vec<Step>,
}

/// What a thread prints.
#[derive(Clone, Debug, Serialize)]
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
    /// A shortest execution that fails there.
    pub schedule: Vec<Step>,
}

/// A deadlock.
#[derive(Clone, Debug, Serialize)]
pub struct DeadlockReport {
    /// The threads that have not ended.
    pub threads: Vec<BlockedReport>,
    /// A shortest execution that leads to it.
    pub schedule: Vec<Step>,
}

/// A thread in a deadlock.
#[derive(Clone, Debug, Serialize)]
pub struct BlockedReport {
    /// Its path.
    pub thread: String,
    /// `LINE:COL`
    pub at: String,
    /// Its line.
    pub line: u32,
    /// `lock`, `event`, `barrier`, `condition`, `notification`, `semaphore` or `threads`
    pub waits_for: &'static str,
    /// The object that it waits for.
    pub object: Option<String>,
    /// The thread that holds the lock.
    pub holder: Option<String>,
    /// Where the holder took it.
    pub taken_at: Option<String>,
    /// How many have arrived at the barrier.
    pub arrived: Option<u32>,
    /// How many it takes.
    pub count: Option<u32>,
    /// The threads that it waits for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<String>,
}

/// Gives names to an answer. `candidates` are the terms of the pi functions, each of which gets a verdict; what was seen
/// beyond them is listed as well.
#[must_use]
pub fn report(
    naming: &Naming<'_>,
    answer: &Answer,
    candidates: &[(ReadId, DefinitionId)],
    count: Option<&CountAnswer>,
) -> FuturesReport {
    let reporter = Reporter { naming, answer };
    let counted = count.filter(|count| count.bound.is_none());
    let bound = answer.bound.or(count.and_then(|count| count.bound));
    FuturesReport {
        complete: bound.is_none(),
        bound: bound.map(super::Bound::name),
        futures: counted.map(|count| count.futures),
        executions: counted.map_or(answer.progress.executions, |count| count.executions),
        states: answer.progress.states,
        terms: TermReports::new(naming, answer, candidates),
        outcomes: answer.outcomes.iter().map(|outcome| reporter.outcome(outcome)).collect(),
        failures: answer.failures.iter().map(|failure| reporter.failure(failure)).collect(),
        deadlocks: answer.deadlocks.iter().map(|deadlock| reporter.deadlock(deadlock)).collect(),
    }
}

struct Reporter<'a> {
    naming: &'a Naming<'a>,
    answer: &'a Answer,
}

impl Reporter<'_> {
    fn steps(&self, schedule: &[Choice]) -> Vec<Step> {
        self.naming.steps(schedule)
    }

    fn thread(&self, path: PathId) -> String {
        self.naming.machine.path_name(&self.answer.tables, path)
    }

    fn at(&self, at: crate::vm::CodeIndex) -> crate::source::Position {
        self.naming.sources.position(self.naming.machine.span(at))
    }

    fn lines(&self, output: crate::vm::OutputId) -> Vec<String> {
        self.answer.tables.lines(output).into_iter().map(str::to_owned).collect()
    }

    fn message(&self, failure: Failure) -> String {
        match failure.message {
            Some(message) => self.naming.program.texts.get(message).to_owned(),
            None => failure.kind.sentence().to_owned(),
        }
    }

    fn outcome(&self, outcome: &Outcome) -> OutcomeReport {
        let by_thread: Vec<ThreadOutput> = outcome
            .outputs
            .iter()
            .map(|&(path, output)| ThreadOutput { thread: self.thread(path), output: self.lines(output) })
            .collect();
        OutcomeReport {
            output: by_thread.iter().flat_map(|thread| thread.output.iter().cloned()).collect(),
            by_thread,
            status: outcome.status.word(),
            message: outcome.failure.map(|failure| self.message(failure)),
            line: outcome.failure.map(|failure| self.at(failure.at).line),
            schedule: self.steps(&outcome.schedule),
        }
    }

    fn failure(&self, witness: &FailureWitness) -> FailureReport {
        let FailureWitness { failure, path, ref schedule } = *witness;
        let at = self.at(failure.at);
        FailureReport {
            status: failure.kind.status(),
            message: self.message(failure),
            at: at.to_string(),
            line: at.line,
            thread: self.thread(path),
            schedule: self.steps(schedule),
        }
    }

    fn deadlock(&self, deadlock: &Deadlock) -> DeadlockReport {
        DeadlockReport {
            threads: deadlock.threads.iter().map(|thread| self.blocked(thread)).collect(),
            schedule: self.steps(&deadlock.schedule),
        }
    }

    fn object(&self, object: Object) -> Option<String> {
        let program = self.naming.program;
        object.leaf.map(|leaf| program.texts.get(program.leaves[leaf].name).to_owned())
    }

    fn blocked(&self, thread: &BlockedThread) -> BlockedReport {
        let at = self.at(thread.at);
        let mut report = BlockedReport {
            thread: self.thread(thread.path),
            at: at.to_string(),
            line: at.line,
            waits_for: "",
            object: None,
            holder: None,
            taken_at: None,
            arrived: None,
            count: None,
            threads: Vec::new(),
        };
        let (word, object) = match &thread.waits_for {
            WaitsFor::Lock { object, holder, taken_at } => {
                report.holder = holder.map(|holder| self.thread(holder));
                report.taken_at = Some(self.at(*taken_at).to_string());
                ("lock", Some(*object))
            }
            WaitsFor::Event(object) => ("event", Some(*object)),
            WaitsFor::Barrier { object, arrived, count } => {
                (report.arrived, report.count) = (Some(*arrived), Some(*count));
                ("barrier", Some(*object))
            }
            WaitsFor::Condition(object) => ("condition", Some(*object)),
            WaitsFor::Notification => ("notification", None),
            WaitsFor::Semaphore(object) => ("semaphore", Some(*object)),
            WaitsFor::Threads(threads) => {
                report.threads = threads.iter().map(|&path| self.thread(path)).collect();
                ("threads", None)
            }
        };
        report.waits_for = word;
        report.object = object.and_then(|object| self.object(object));
        report
    }
}
