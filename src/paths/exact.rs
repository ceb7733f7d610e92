//! Compares the method of the paper with all possible executions.
//!
//! **Input**: the results of the method, and a budget. **Output**: tests for branch outcomes, waits and races that no test has
//! shown; and [`Exactness`]: whether all executions were examined, and what the method alone had missed.
//!
//! **Algorithm**: all states are searched, together with the evaluations and accesses of the execution so far ([`executed()`]).
//! Each fact that the tests have not shown is added, with an execution that shows it. An added test may show more than the fact
//! that it was added for. If an execution has a pair of accesses without a common lock, and the text does not order them, a
//! search of all states decides whether two threads ever stand before both at the same time ([`races`](cssame_explore::races())):
//! synchronisation other than locks may order them in all tests, but not in all executions.
//!
//! **Soundness and limits**: if the search hits a bound, no claim is made beyond the tests. Instances of a branch beyond the
//! highest one that a test has shown, or beyond [`MAX_INSTANCE`], count as that one.

use super::algorithm::{Explored, Method, TestReason};
use super::analysis::{DecisionKind, DecisionPlace, ROUNDS};
use super::races::{Arrays, unprotected_pairs};
use super::run::Run;
use super::trace::Trace;
use crate::executed::{ExecutedAnswer, ExecutedRequest, UnprotectedPair, executed};
use cssame_budget::{Bound, Budget};
use cssame_explore as explore;
use cssame_explore::{Query, RacesAnswer};
use cssame_form::races::potential_races;
use cssame_ir::{Access, Program, TextId};
use cssame_schedule::ExecutionStatus;
use cssame_source::Span;
use cssame_vm::{Choice, CodeIndex, FailureKind, Machine, PathId};
use rustc_hash::FxHashSet;

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
    /// The places before which two threads stand at once in some execution, in the order of the text; `None` where there was no
    /// need to ask, or a bound was hit.
    pub at_once: Option<FxHashSet<[Span; 2]>>,
}

impl Exactness {
    /// Whether no execution has two threads before these places at once.
    #[must_use]
    pub fn keeps_apart(&self, places: &[Span; 2]) -> bool {
        self.at_once.as_ref().is_some_and(|at_once| !at_once.contains(places))
    }
}

/// Which evaluation of a branch, or which wait, and how it comes out.
type Outcome = (DecisionPlace, u32, bool);

/// What tells failures and deadlocks apart.
#[derive(PartialEq, Eq, Hash)]
enum End {
    Failure(Span, FailureKind, Option<TextId>),
    Deadlock(Vec<(PathId, CodeIndex)>),
}

/// What tests have shown. Instances beyond the highest one count as that one.
#[derive(Default)]
pub struct KnownFacts {
    max_instance: u32,
    outcomes: FxHashSet<Outcome>,
    /// The branches and waits of these.
    places: FxHashSet<DecisionPlace>,
    races: FxHashSet<[Span; 2]>,
    /// Those of them that nothing but locks orders in some test: the others are no races.
    unordered: FxHashSet<[Span; 2]>,
    ends: FxHashSet<End>,
}

/// The method, and what was added to its tests.
struct Completion<'x, 's, 'm> {
    method: &'x mut Method<'s, 'm>,
    known: KnownFacts,
    missed: Vec<Missed>,
}

/// Adds tests for what no test has shown.
pub fn add_missing(method: &mut Method<'_, '_>, budget: &Budget<'_>) -> Exactness {
    let endless = method.found.tests.iter().any(|test| method.found.runs[test.run].run.trace.endless);
    let max_instance = max_instance(&method.found, endless);
    let (model, operations, tables) = (method.session.model, &method.session.operations, &method.session.tables);
    let request = ExecutedRequest { operations, tables, max_instance };
    let answer = executed(model.machine(), model.program(), &request, budget);
    method.session.tables.clone_from(&answer.tables);
    let mut completion = Completion::new(method, max_instance);
    let possible = completion.add_outcomes(&answer);
    completion.add_races(&answer);
    let futures = explore::Subject::from(model).futures(&Query::UP_TO_THE_READ, budget);
    let failures = futures.failures.iter().map(|failure| &failure.schedule);
    let deadlocks = futures.deadlocks.iter().map(|deadlock| &deadlock.schedule);
    failures.chain(deadlocks).for_each(|steps| completion.add_end(steps));
    let mut bound = answer.bound.or(futures.bound);
    let apart = potential_races(model.program(), model.form());
    let asks =
        bound.is_none() && answer.pairs.iter().any(|UnprotectedPair { accesses: [a, b], .. }| apart.contains(*a, *b));
    let races = asks.then(|| explore::races(model.machine(), model.program(), &[], budget));
    let at_once = races.as_ref().map(|races| completion.add_at_once(races));
    bound = bound.or(races.as_ref().and_then(|races| races.bound));
    let (missed, unordered) = (completion.missed, completion.known.unordered);
    let complete = bound.is_none();
    let at_once = at_once.filter(|_| complete);
    let impossible = if complete { impossible(&method.found, &possible, (max_instance, endless)) } else { Vec::new() };
    let mut exactness = Exactness { complete, bound, missed: Vec::new(), impossible, instances: max_instance, at_once };
    let is_missed = |one: &Missed| match one {
        Missed::Race { places, .. } => unordered.contains(places) && !exactness.keeps_apart(places),
        Missed::Outcome { .. } | Missed::End { .. } => true,
    };
    exactness.missed = missed.into_iter().filter(is_missed).collect();
    exactness
}

/// The highest instance that is told apart from later ones.
fn max_instance(found: &Explored, endless: bool) -> u32 {
    let shown = found.shown.keys().map(|&(_, instance)| instance).max().unwrap_or(1).clamp(1, MAX_INSTANCE);
    if endless { shown.min(ROUNDS) } else { shown }
}

/// The outcomes that branches of the tests have in no execution.
fn impossible(found: &Explored, possible: &FxHashSet<Outcome>, (max_instance, endless): (u32, bool)) -> Vec<Outcome> {
    let shown = found.shown.keys().filter(|(place, _)| place.kind == DecisionKind::Branch);
    // Where executions have no end, the last instance stands for later ones too; it is left out if there are others.
    let counted = shown.filter(|(_, instance)| *instance < max_instance || max_instance == 1 || !endless);
    let both = counted.flat_map(|&(place, instance)| [(place, instance, true), (place, instance, false)]);
    both.filter(|&(place, instance, outcome)| !possible.contains(&(place, instance.min(max_instance), outcome)))
        .collect()
}

impl KnownFacts {
    /// Nothing; later instances of a branch than this one count as this one.
    pub fn new(max_instance: u32) -> KnownFacts {
        KnownFacts { max_instance, ..KnownFacts::default() }
    }

    /// Adds what a test has shown; whether any of it is new.
    pub fn extend(&mut self, program: &Program, machine: &Machine, found: &Explored, test: usize) -> bool {
        let count = |of: &KnownFacts| of.outcomes.len() + of.races.len() + of.unordered.len() + of.ends.len();
        let before = count(self);
        let known = &found.runs[found.tests[test].run];
        let trace = &known.run.trace;
        for decision in &known.decisions {
            self.outcomes.insert((decision.place, decision.instance.min(self.max_instance), decision.outcome));
            self.places.insert(decision.place);
        }
        let pairs = unprotected_pairs(program, trace, Arrays::Elements);
        self.races.extend(pairs.iter().map(|pair| places(program, pair.accesses)));
        let unordered = pairs.iter().filter(|pair| !pair.ordered);
        self.unordered.extend(unordered.map(|pair| places(program, pair.accesses)));
        self.ends.extend(end_of(machine, trace));
        count(self) > before
    }
}

impl<'x, 's, 'm> Completion<'x, 's, 'm> {
    fn new(method: &'x mut Method<'s, 'm>, max_instance: u32) -> Completion<'x, 's, 'm> {
        let mut completion = Completion { method, known: KnownFacts::new(max_instance), missed: Vec::new() };
        (0..completion.method.found.tests.len()).for_each(|test| completion.learn(test));
        completion
    }

    fn learn(&mut self, test: usize) {
        let model = self.method.session.model;
        self.known.extend(model.program(), model.machine(), &self.method.found, test);
    }

    /// Adds tests for outcomes of branches, and of the waits that tests have come to; gives the outcomes that branches
    /// can have.
    fn add_outcomes(&mut self, answer: &ExecutedAnswer) -> FxHashSet<Outcome> {
        let placing = self.method.placing();
        let mut possible = FxHashSet::default();
        for one in &answer.outcomes {
            let outcome = (placing.branch(one.thread, one.at), one.instance, placing.outcome(one.at, one.holds));
            possible.insert(outcome);
            self.add_outcome(outcome, &one.schedule);
        }
        for one in &answer.waits {
            let place = placing.wait(one.thread, one.at);
            if self.known.places.contains(&place) {
                self.add_outcome((place, one.instance, one.woken), &one.schedule);
            }
        }
        possible
    }

    fn add_outcome(&mut self, key: Outcome, steps: &[Choice]) {
        if self.known.outcomes.contains(&key) {
            return;
        }
        let test = self.repeat(steps);
        self.known.outcomes.insert(key);
        let (place, instance, outcome) = key;
        self.missed.push(Missed::Outcome { place, instance, outcome, test });
    }

    fn add_races(&mut self, answer: &ExecutedAnswer) {
        let program = self.method.session.model.program();
        for pair in &answer.pairs {
            let places = places(program, pair.accesses);
            if !self.known.races.contains(&places) {
                let test = self.repeat(&pair.schedule);
                self.missed.push(Missed::Race { places, test });
            }
        }
    }

    /// Adds tests for races that other synchronisation than locks orders in all tests; gives the places of all races.
    fn add_at_once(&mut self, answer: &RacesAnswer) -> FxHashSet<[Span; 2]> {
        let program = self.method.session.model.program();
        let mut at_once = FxHashSet::default();
        for race in &answer.races {
            let places = places(program, race.accesses);
            at_once.insert(places);
            if self.known.races.contains(&places) && !self.known.unordered.contains(&places) {
                let mut steps = race.schedule.clone();
                steps.extend(race.steps);
                let test = self.repeat(&steps);
                self.missed.push(Missed::Race { places, test });
            }
        }
        at_once
    }

    fn add_end(&mut self, steps: &[Choice]) {
        let run = self.method.session.repeat(steps);
        let end = end_of(self.method.session.model.machine(), &run.trace);
        if end.is_some_and(|end| !self.known.ends.contains(&end)) {
            let test = self.add(run);
            self.missed.push(Missed::End { test });
        }
    }

    /// Adds the execution of a witness; gives its test.
    fn repeat(&mut self, steps: &[Choice]) -> usize {
        let run = self.method.session.repeat(steps);
        self.add(run)
    }

    fn add(&mut self, run: Run) -> usize {
        let before = self.method.found.tests.len();
        self.method.add(run, Some(TestReason::Exploration));
        (before..self.method.found.tests.len()).for_each(|test| self.learn(test));
        self.method.found.tests.len() - 1
    }
}

/// The places of two accesses, in the order of the text.
fn places(program: &Program, accesses: [Access; 2]) -> [Span; 2] {
    let mut spans = accesses.map(|access| access.span(program));
    spans.sort_unstable();
    spans
}

fn end_of(machine: &Machine, trace: &Trace) -> Option<End> {
    match trace.status {
        ExecutionStatus::Failed(failure) => Some(End::Failure(machine.span(failure.at), failure.kind, failure.message)),
        ExecutionStatus::Deadlock => Some(End::Deadlock(trace.blocked.clone())),
        _ => None,
    }
}
