//! The paper's method, held to what executions can do.
//!
//! **Input**: what the method has found, and a budget. **Output**: tests for branch outcomes, waits and races that no
//! test has shown, and [`Exactness`]: whether all executions were looked at, and what the method alone had missed.
//!
//! **Algorithm**: all states are searched, with what an execution has evaluated and accessed so far
//! ([`executed`](crate::explore::executed)). What the tests have not shown is added, each with the execution that shows
//! it.
//!
//! **Soundness and limits**: where the search hits a bound, no claim is made beyond the tests. Instances of a branch
//! beyond the highest one that a test has shown, or [`MAX_INSTANCE`], count as that one.

use super::algorithm::{Method, TestReason};
use super::analysis::{DecisionKind, DecisionPlace, ROUNDS};
use super::races::{Arrays, unprotected_pairs};
use super::trace::Trace;
use crate::budget::{Bound, Budget};
use crate::explore::{self, ExecutedRequest, Query};
use crate::ir::{Access, TextId};
use crate::schedule::ExecutionStatus;
use crate::source::Span;
use crate::vm::{Choice, CodeIndex, FailureKind, PathId};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// Instances of a branch that are told apart, at most.
pub const MAX_INSTANCE: u32 = 8;

/// What the method alone would have missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missed {
    /// An outcome of a branch, or of a wait.
    Outcome {
        /// Where.
        place: DecisionPlace,
        /// Which evaluation.
        instance: u32,
        /// The outcome.
        outcome: bool,
        /// The test that was added.
        test: usize,
    },
    /// A failure or a deadlock.
    End {
        /// The test that was added.
        test: usize,
    },
    /// A race of two places.
    Race {
        /// The places.
        places: [Span; 2],
        /// The test that was added.
        test: usize,
    },
}

/// How exact the tests are.
#[derive(Clone, Debug, Default)]
pub struct Exactness {
    /// Whether all executions were looked at.
    pub complete: bool,
    /// The bound that was hit.
    pub bound: Option<Bound>,
    /// What the method alone had missed.
    pub missed: Vec<Missed>,
    /// Branch outcomes that no execution has, of the branches that tests have shown.
    pub impossible: Vec<(DecisionPlace, u32, bool)>,
    /// Instances beyond this one count as this one.
    pub instances: u32,
}

/// The places of two accesses, in the order of the text.
fn places(method: &Method<'_, '_>, accesses: [Access; 2]) -> [Span; 2] {
    let program = method.session.model.program();
    let mut spans = accesses.map(|access| access.span(program));
    spans.sort_unstable();
    spans
}

/// Adds tests for what no test has shown.
pub fn complete(method: &mut Method<'_, '_>, budget: &Budget<'_>) -> Exactness {
    let machine = method.session.model.machine();
    let instances = method.found.shown.keys().map(|&(_, instance)| instance).max().unwrap_or(1).clamp(1, MAX_INSTANCE);
    let endless = method.found.tests.iter().any(|test| method.found.runs[test.run].run.trace.endless);
    let max_instance = if endless { instances.min(ROUNDS) } else { instances };
    let (operations, tables) = (&method.session.operations, &method.session.tables);
    let request = ExecutedRequest { operations, tables, max_instance };
    let answer = explore::executed(machine, method.session.model.program(), &request, budget);
    method.session.tables.clone_from(&answer.tables);
    let mut exactness = Exactness {
        complete: answer.bound.is_none(),
        bound: answer.bound,
        instances: max_instance,
        ..Exactness::default()
    };
    let mut known = known_outcomes(method, max_instance);
    let mut possible = BTreeSet::new();
    for one in &answer.outcomes {
        let origin = machine.origin(one.at);
        let negated = method.session.model.program().functions[origin.function].blocks[origin.block].negated;
        let place = DecisionPlace { kind: DecisionKind::Branch, thread: one.thread, span: machine.span(one.at) };
        let key = (place, one.instance, one.holds != negated);
        possible.insert(key);
        add_outcome(method, &mut exactness, &mut known, key, &one.schedule);
    }
    for one in &answer.waits {
        let place = DecisionPlace { kind: DecisionKind::Wait, thread: one.thread, span: machine.span(one.at) };
        if known.iter().any(|&(of, ..)| of == place) {
            add_outcome(method, &mut exactness, &mut known, (place, one.instance, one.woken), &one.schedule);
        }
    }
    let mut racy = known_races(method);
    for pair in &answer.pairs {
        let places = places(method, pair.accesses);
        if racy.contains(&places) {
            continue;
        }
        let test = add_test(method, &pair.schedule);
        racy = known_races(method);
        exactness.missed.push(Missed::Race { places, test });
    }
    add_ends(method, &mut exactness, budget);
    if exactness.complete {
        let shown = method.found.shown.keys().filter(|(place, _)| place.kind == DecisionKind::Branch);
        let outcomes = shown.filter(|(_, instance)| *instance < max_instance || max_instance == 1 || !endless);
        let both = outcomes.flat_map(|&(place, instance)| [(place, instance, true), (place, instance, false)]);
        let capped =
            |&(place, instance, outcome): &(DecisionPlace, u32, bool)| (place, instance.min(max_instance), outcome);
        exactness.impossible = both.filter(|key| !possible.contains(&capped(key))).collect();
    }
    exactness
}

/// What tells failures and deadlocks apart.
#[derive(PartialEq, Eq, Hash)]
enum End {
    Failure(Span, FailureKind, Option<TextId>),
    Deadlock(Vec<(PathId, CodeIndex)>),
}

fn end_of(method: &Method<'_, '_>, trace: &Trace) -> Option<End> {
    match trace.status {
        ExecutionStatus::Failed(failure) => {
            let span = method.session.model.machine().span(failure.at);
            Some(End::Failure(span, failure.kind, failure.message))
        }
        ExecutionStatus::Deadlock => Some(End::Deadlock(trace.blocked.clone())),
        _ => None,
    }
}

/// Adds tests for the failures and deadlocks that no test has shown.
fn add_ends(method: &mut Method<'_, '_>, exactness: &mut Exactness, budget: &Budget<'_>) {
    let answer = explore::Subject::from(method.session.model).futures(&Query::UpToTheRead, budget);
    exactness.complete &= answer.bound.is_none();
    exactness.bound = exactness.bound.or(answer.bound);
    let mut known: FxHashSet<End> = FxHashSet::default();
    for test in &method.found.tests {
        known.extend(end_of(method, &method.found.runs[test.run].run.trace));
    }
    let failures = answer.failures.iter().map(|failure| &failure.schedule);
    for steps in failures.chain(answer.deadlocks.iter().map(|deadlock| &deadlock.schedule)) {
        let run = method.session.repeat(steps);
        if end_of(method, &run.trace).is_some_and(|end| known.insert(end)) {
            method.add(run, Some(TestReason::Exploration));
            exactness.missed.push(Missed::End { test: method.found.tests.len() - 1 });
        }
    }
}

type Outcome = (DecisionPlace, u32, bool);

/// The outcomes that tests have shown.
fn known_outcomes(method: &Method<'_, '_>, max_instance: u32) -> BTreeSet<Outcome> {
    let shown = method.found.shown.iter();
    let outcomes = shown.flat_map(|(&(place, instance), shown)| {
        shown.outcomes.iter().map(move |&outcome| (place, instance.min(max_instance), outcome))
    });
    outcomes.collect()
}

/// The places that race in tests.
fn known_races(method: &Method<'_, '_>) -> BTreeSet<[Span; 2]> {
    let program = method.session.model.program();
    let tests = method.found.tests.iter().map(|test| &method.found.runs[test.run].run.trace);
    tests
        .flat_map(|trace| unprotected_pairs(program, trace, Arrays::Elements))
        .map(|pair| places(method, pair.accesses))
        .collect()
}

fn add_outcome(
    method: &mut Method<'_, '_>,
    exactness: &mut Exactness,
    known: &mut BTreeSet<Outcome>,
    key: Outcome,
    schedule: &[Choice],
) {
    if known.contains(&key) {
        return;
    }
    let test = add_test(method, schedule);
    known.extend(known_outcomes(method, exactness.instances));
    known.insert(key);
    let (place, instance, outcome) = key;
    exactness.missed.push(Missed::Outcome { place, instance, outcome, test });
}

fn add_test(method: &mut Method<'_, '_>, schedule: &[Choice]) -> usize {
    let run = method.session.repeat(schedule);
    method.add(run, Some(TestReason::Exploration));
    method.found.tests.len() - 1
}
