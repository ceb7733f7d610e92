//! The answer of `run --seeds`: the frequency of each outcome, and the execution of the first seed that ends badly.

use super::run::{Course, RunAnswer, RunRequest, run};
use cssame_budget::{Bound, Budget};
use cssame_explore::report::{ThreadOutput, thread_outputs};
use cssame_ir::TextId;
use cssame_model::Model;
use cssame_schedule::{ExecutionStatus, Scheduler, Tallied, TalliedOutcome, Tally};
use cssame_vm::{CodeIndex, Failure, FailureKind};
use rustc_hash::FxHashSet;
use serde::Serialize;
use std::ops::Range;

/// Which executions are asked for.
#[derive(Clone, Debug)]
pub struct SeedsRequest {
    /// One for each of them.
    pub seeds: Range<u64>,
    /// How the steps are chosen.
    pub scheduler: Scheduler,
    /// Whether to go on behind the first failure or deadlock.
    pub keep_going: bool,
    /// Steps of one execution at most.
    pub max_steps: u64,
}

impl Default for SeedsRequest {
    /// A hundred random executions, up to the first that fails.
    fn default() -> SeedsRequest {
        let RunRequest { max_steps, .. } = RunRequest::default();
        SeedsRequest { seeds: 0..100, scheduler: Scheduler::Random, keep_going: false, max_steps }
    }
}

/// An outcome, and how often it came about.
#[derive(Clone, Debug, Serialize)]
pub struct CountedOutcome {
    /// `ok`, `assert`, `deadlock`, …
    pub status: &'static str,
    /// The printed lines, grouped by thread in the order of threads.
    pub output: Vec<String>,
    /// The same, thread by thread.
    pub by_thread: Vec<ThreadOutput>,
    /// What the program says when it fails.
    pub message: Option<String>,
    /// The line at which it fails.
    pub line: Option<u32>,
    /// Executions that have it.
    pub executions: u64,
    /// The lowest seed of those.
    pub first_seed: u64,
}

/// Many executions by seeds, counted.
#[derive(Clone, Debug, Serialize)]
pub struct SeedsAnswer {
    /// The first seed that was asked for, and the first one behind them.
    pub seeds: [u64; 2],
    /// Executions that were made.
    pub executions: u64,
    /// Whether all seeds were tried, each to the end of its execution.
    pub complete: bool,
    /// The bound that has stopped the work.
    pub bound: Option<&'static str>,
    /// The outcomes, the most frequent one first.
    pub outcomes: Vec<CountedOutcome>,
    /// Executions with further outcomes, which are too many to be told apart.
    pub others: u64,
    /// The execution of the lowest seed that fails or ends in a deadlock.
    pub first_failure: Option<RunAnswer>,
    /// An execution for each further way to fail or to end in a deadlock.
    #[serde(skip)]
    pub further_failures: Vec<RunAnswer>,
    /// As the work has met it.
    #[serde(skip)]
    pub stopped_by: Option<Bound>,
}

/// Executes a program once for each seed.
#[must_use]
pub fn run_seeds(model: &Model, request: &SeedsRequest, budget: &Budget<'_>) -> SeedsAnswer {
    let SeedsRequest { seeds: Range { start, end }, scheduler, max_steps, .. } = *request;
    let (machine, stops_at_first) = (model.machine(), !request.keep_going);
    let tally = Tally { machine, seeds: start..end, max_steps, stops_at_first, budget };
    let tallied = tally.run(|seed| scheduler.policy(seed));
    let again = |seed| run(model, &RunRequest { course: Course::Seeded { scheduler, seed }, max_steps });
    let mut failures = distinct_failures(&tallied).into_iter().map(again);
    let is_cut = tallied.outcomes.iter().any(|outcome| outcome.status == ExecutionStatus::StepLimit);
    SeedsAnswer {
        seeds: [start, end],
        executions: tallied.executions,
        complete: tallied.executions == end.saturating_sub(start) && !is_cut,
        bound: tallied.bound.or(is_cut.then_some(Bound::Steps)).map(Bound::name),
        outcomes: tallied.outcomes.iter().map(|outcome| counted(model, &tallied, outcome)).collect(),
        others: tallied.others,
        first_failure: failures.next(),
        further_failures: failures.collect(),
        stopped_by: tallied.bound,
    }
}

/// For each way to fail, and for deadlocks, the lowest seed; the lowest of all comes first.
fn distinct_failures(tallied: &Tallied) -> Vec<u64> {
    let bad = tallied.outcomes.iter().filter(|outcome| outcome.status.is_bad());
    let mut bad: Vec<(u64, Option<(FailureKind, Option<TextId>, CodeIndex)>)> = bad
        .map(|outcome| match outcome.status {
            ExecutionStatus::Failed(Failure { kind, message, at, .. }) => {
                (outcome.first_seed, Some((kind, message, at)))
            }
            _ => (outcome.first_seed, None),
        })
        .collect();
    bad.sort_unstable_by_key(|&(seed, _)| seed);
    let mut known = FxHashSet::default();
    bad.retain(|&(_, way)| known.insert(way));
    bad.into_iter().map(|(seed, _)| seed).collect()
}

fn counted(model: &Model, tallied: &Tallied, outcome: &TalliedOutcome) -> CountedOutcome {
    let naming = model.naming();
    let by_thread = thread_outputs(naming.machine, &tallied.tables, &outcome.outputs);
    let failure = match outcome.status {
        ExecutionStatus::Failed(failure) => Some(failure),
        _ => None,
    };
    CountedOutcome {
        status: outcome.status.word(),
        output: by_thread.iter().flat_map(|thread| thread.output.iter().cloned()).collect(),
        by_thread,
        message: failure.map(|failure| naming.failure_message(&failure)),
        line: failure.map(|failure| naming.sources.line(naming.machine.span(failure.at))),
        executions: outcome.executions,
        first_seed: outcome.first_seed,
    }
}
