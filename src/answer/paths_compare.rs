//! The answer of `paths --compare`: the criteria side by side, as in the paper's table.
//!
//! **Input**: a program. **Output**: one row: the size of the program, and the number of test cases of each criterion.
//!
//! **Soundness and limits**: a number that a bound has cut is marked as a lower bound. If there are too many classes to
//! distinguish, the orders of dependent steps are counted, which may be more; this is marked too.

use super::collector::of_paths;
use super::paths::PathsRequest;
use cssame_budget::{Budget, Limits};
use cssame_diagnostics::Diagnostic;
use cssame_explore::Subject;
use cssame_model::Model;
use cssame_paths as paths;
use cssame_paths::classes::{self, ClassCount, ClassOptions, Counting, Operations};
use cssame_paths::report::report;
use cssame_paths::{ActionKind, Criterion, Request};
use cssame_source::{FileId, SourceMap};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// States and executions up to which futures are counted.
const COUNTED_FUTURES: u64 = 500_000;

/// How many there are of something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Amount {
    /// The number; null where there is no end.
    pub count: Option<u64>,
    /// Whether there may be more: a bound was hit.
    pub or_more: bool,
    /// Whether there may be fewer: they were counted without being told apart.
    pub or_fewer: bool,
    /// Whether it is proven that they have no end.
    pub infinite: bool,
}

/// A program under all criteria.
#[derive(Clone, Debug, Serialize)]
pub struct ComparisonRow {
    /// The source file.
    pub file: String,
    /// Values of `input` constants.
    pub inputs: BTreeMap<String, String>,
    /// Lines at which something is executed.
    pub lines: usize,
    /// Statements in three-address form.
    pub statements: usize,
    /// Operations and synchronisation of the first run.
    pub trace_length: usize,
    /// Threads of the first run, `main` included.
    pub threads: usize,
    /// Shared variables that some thread writes.
    pub shared: usize,
    /// Shared variables that are only read.
    pub read_shared: usize,
    /// Evaluations of branches in the first run.
    pub branches_executed: usize,
    /// Branches that other threads can change, each evaluation with operations of its own.
    pub branches_affected: usize,
    /// Test cases of the method: branch-affect groups.
    pub race_equivalent: Amount,
    /// Executions that it has made as tests.
    pub executions: u64,
    /// Test cases of reachability testing.
    pub reachability: Amount,
    /// Test cases of TPAIR.
    pub tpair: Amount,
    /// Futures.
    pub futures: Amount,
    /// Races of the tests that nothing orders.
    pub races: usize,
    /// Failures of the tests.
    pub failures: usize,
    /// Deadlocks of the tests.
    pub deadlocks: usize,
    /// Whether all of that is decided.
    pub complete: bool,
    /// How long it took.
    #[serde(skip)]
    pub took: Duration,
    /// What was found.
    #[serde(skip)]
    pub found: Vec<Diagnostic>,
    /// What that points into: the text of the program.
    #[serde(skip)]
    pub sources: SourceMap,
    /// The program in it.
    #[serde(skip)]
    pub source: FileId,
}

/// A table.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ComparisonReport {
    /// Whether each row is decided.
    pub complete: bool,
    /// One row for each program, and for each value of an input.
    pub comparison: Vec<ComparisonRow>,
}

/// One row of the table.
#[must_use]
pub fn compare_paths(model: &Model, request: &PathsRequest, budget: &Budget<'_>) -> ComparisonRow {
    let started = Instant::now();
    let resolved = Request { criterion: Criterion::RaceEquivalent, graph: None, ..request.resolved() };
    let (session, findings) = paths::find(model, &resolved, budget);
    let named = report(&session, &resolved, &findings);
    let trace = &findings.explored.runs[0].run.trace;
    let made = trace.actions.iter().filter(|one| matches!(one.kind, ActionKind::Fork(_) | ActionKind::Spawn(_)));
    let blocks = model.program().functions.iter().flat_map(|function| function.blocks.iter());
    let spans = blocks.clone().flat_map(|block| block.spans.iter());
    let lines: BTreeSet<u32> = spans.map(|&span| model.sources().line(span)).collect();
    let [reachability, tpair, futures] = counts(model, &session.operations, budget);
    let by_groups = Amount { count: named.test_cases, or_more: !named.complete, ..Amount::default() };
    ComparisonRow {
        file: model.unit().name().to_owned(),
        inputs: model.options().inputs.iter().cloned().collect(),
        lines: lines.len(),
        statements: blocks.clone().map(|block| block.instructions.len()).sum(),
        trace_length: trace.actions.len(),
        threads: made.count() + 1,
        shared: named.shared.len(),
        read_shared: named.read_shared.len(),
        branches_executed: trace.evaluations.len(),
        branches_affected: named.branches.iter().filter(|one| one.affected && one.same_as.is_none()).count(),
        race_equivalent: by_groups,
        executions: named.executions,
        reachability,
        tpair,
        futures,
        races: named.races.iter().filter(|race| race.is_finding()).count(),
        failures: named.failures.len(),
        deadlocks: named.deadlocks.len(),
        complete: named.complete && [reachability, tpair, futures].iter().all(Amount::is_decided),
        took: started.elapsed(),
        found: of_paths(&named, model),
        sources: model.sources().clone(),
        source: model.unit().file,
    }
}

/// The test cases of reachability testing and of TPAIR, and the futures.
fn counts(model: &Model, operations: &Operations, budget: &Budget<'_>) -> [Amount; 3] {
    let options = ClassOptions { max_representatives: 0, ..ClassOptions::default() };
    let all = classes::classes(model.machine(), operations, budget, &options);
    let by_pair = classes::thread_pairs(model.machine(), operations, budget, &options);
    let pairs = by_pair.pairs.iter().map(|pair| Amount::from(&pair.count));
    let tpair = pairs.fold(Amount { count: Some(0), or_more: by_pair.are_cut, ..Amount::default() }, Amount::and);
    let share =
        Limits { max_states: Some(COUNTED_FUTURES), max_executions: Some(COUNTED_FUTURES), ..Limits::default() };
    let futures = Subject::from(model).count(&budget.share(share));
    let futures = Amount { count: Some(futures.futures), or_more: futures.bound.is_some(), ..Amount::default() };
    [Amount::from(&all), tpair, futures]
}

impl From<&ClassCount> for Amount {
    fn from(of: &ClassCount) -> Amount {
        Amount {
            count: (!of.infinite).then(|| u64::try_from(of.classes).unwrap_or(u64::MAX)),
            or_more: !of.infinite && (of.bound.is_some() || of.classes > u128::from(u64::MAX)),
            or_fewer: of.counting == Counting::Orders { exact: false },
            infinite: of.infinite,
        }
    }
}

impl Amount {
    /// Both together.
    fn and(self, other: Amount) -> Amount {
        let both = self.count.zip(other.count);
        let infinite = self.infinite || other.infinite;
        Amount {
            count: both.map(|(one, other)| one.saturating_add(other)),
            or_more: !infinite && (self.or_more || other.or_more),
            or_fewer: !infinite && (self.or_fewer || other.or_fewer),
            infinite,
        }
    }

    /// Whether it is neither a lower nor an upper bound.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        !self.or_more && !self.or_fewer
    }
}

impl ComparisonReport {
    /// A table of rows.
    #[must_use]
    pub fn new(comparison: Vec<ComparisonRow>) -> ComparisonReport {
        ComparisonReport { complete: comparison.iter().all(|row| row.complete), comparison }
    }
}
