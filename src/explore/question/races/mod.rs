//! Decides by all states which accesses race, and the consequences of each order.
//!
//! **Input**: a program with its machine, the pairs of accesses for which a proof is wanted if they do not race, and a budget.
//!
//! **Output**: [`RacesAnswer`]: every pair of accesses before which two threads stand at the same time in some execution
//! ([`Race`]), each with an execution, the failure that follows if one of them goes first, and whether the order changes the
//! outcome. For the other pairs, whether one access always comes before the other. Also all failures and deadlocks.
//!
//! **Algorithm**.
//!
//! 1. Search all states ([`states`]). The steps of a state show the accesses before which its threads stand: two steps of
//!    different threads from one state that access one cell race if one of them writes and not both are atomic ([`recorder`]).
//! 2. If executions may be discarded, a state counts if some execution continues from it without being discarded.
//! 3. A race is harmful if a failure or a deadlock can be reached from the state after one of the two steps.
//! 4. For each state, find the set of outcomes that can be reached from it ([`outcome_sets`]). The order of a race does not
//!    matter if the sets after the two steps are equal wherever it happens.
//! 5. For a wanted pair that does not race, check that no step with one of the accesses can be reached from the state after a
//!    step with the other ([`order`]).
//! 6. If there are too many states, executions may still show which accesses do not race ([`executions`]).
//!
//! **Soundness and limits**: exact if no bound was hit. Otherwise the races and the failures after them are real, and the rest is
//! undecided. The step of an atomic block makes all its accesses at once, so a thread stands before all of them; the state
//! determines which ones. A `cas` that fails in a state only reads there. Initial definitions are not accesses. An outcome
//! consists of the output, the kind of end, and the last values of global data if the execution ends well. An execution that
//! never ends is an outcome of its own.

mod executions;
mod order;
mod outcome_sets;
mod recorder;

use crate::answer::FailureWitness;
use crate::deadlock::Deadlock;
use crate::question::each_future;
use crate::question::outcomes::OutcomeKey;
use crate::states::assumption::{Unexpanded, lasting_states};
use crate::states::completion::Completion;
use crate::states::graph::{DISCARDED, NodeKind};
use crate::states::open::open_executions;
use crate::states::{self, Searched};
use cssame_budget::{Bound, Budget, Statistics};
use cssame_ir::{Access, Program};
use cssame_vm::{Cell, Choice, Machine, PathId, Tables};
pub use executions::{Racing, races_by_executions};
use fixedbitset::FixedBitSet;
use outcome_sets::OutcomeSets;
use recorder::{Occurrence, Recorder};
use rustc_hash::{FxHashMap, FxHashSet};

/// Two accesses before which two threads stand at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Race {
    /// The accesses, sorted.
    pub accesses: [Access; 2],
    /// Whether one of them is atomic and the other one is not, somewhere.
    pub mixed: bool,
    /// The cells that they race for, sorted.
    pub cells: Vec<Cell>,
    /// Steps that lead to a first state in which both are pending.
    pub schedule: Vec<Choice>,
    /// The steps that make the accesses there.
    pub steps: [Choice; 2],
    /// The threads that make them.
    pub threads: [PathId; 2],
    /// For each access: an execution in which it goes first and a failure or a deadlock follows.
    pub failing: [Option<FailingOrder>; 2],
    /// For each access: whether an execution goes on after it went first that no assumption discards.
    pub goes_on: [bool; 2],
    /// Whether there is a state in which the order decides what can come out; `None` where it is not known.
    pub outcomes_differ: Option<bool>,
}

/// An execution that fails after one of two racing accesses went first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailingOrder {
    /// All its steps.
    pub schedule: Vec<Choice>,
    /// How many of them lead to the state in which both accesses are pending.
    pub before: usize,
}

/// A pair of accesses of which one always comes before the other in time, wherever both happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlwaysBefore {
    /// The one that comes first.
    pub first: Access,
    /// The other one.
    pub second: Access,
}

/// What all states tell of races.
#[derive(Clone, Debug)]
pub struct RacesAnswer {
    /// The bound that was hit; `None` if every state was visited, or executions have shown that there is no race and no failure.
    pub bound: Option<Bound>,
    /// How much was visited.
    pub statistics: Statistics,
    /// The races, by their accesses.
    pub races: Vec<Race>,
    /// Of the pairs of which a proof was wanted, those whose order is always the same.
    pub ordered: Vec<AlwaysBefore>,
    /// Each kind, message and place once, by place.
    pub failures: Vec<FailureWitness>,
    /// Each distinct one once, the shortest first.
    pub deadlocks: Vec<Deadlock>,
    /// Some of the executions that were not followed to their end, where a bound was hit.
    pub open: Vec<Vec<Choice>>,
    /// Where a bound was hit: all failures, deadlocks and races with so many preemptions are listed all the same.
    pub finished: Option<u32>,
    /// What executions have told of races, where states were too many and executions were not.
    pub racing: Option<Racing>,
    /// Names of threads.
    pub tables: Tables,
}

impl RacesAnswer {
    /// Whether every state was visited, or executions have shown that there is no race and no failure.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.bound.is_none()
    }

    /// The race of two accesses.
    #[must_use]
    pub fn race(&self, accesses: [Access; 2]) -> Option<&Race> {
        let place = self.races.binary_search_by_key(&accesses, |race| race.accesses).ok()?;
        self.races.get(place)
    }
}

/// Finds all races by a search through all states. `wanted` are pairs, each sorted, whose order is looked at if they
/// do not race.
pub fn races(machine: &Machine, program: &Program, wanted: &[[Access; 2]], budget: &Budget<'_>) -> RacesAnswer {
    if let Some(few) = each_future::few_states(machine, budget) {
        let found = races_by_states(machine, program, wanted, &few);
        if found.bound.is_none() {
            return found;
        }
    }
    races_by_states(machine, program, wanted, budget)
}

/// The same by one search, and by executions where that is cut.
fn races_by_states(machine: &Machine, program: &Program, wanted: &[[Access; 2]], budget: &Budget<'_>) -> RacesAnswer {
    let mut recorder = Recorder::new(machine, program, wanted);
    let searched = states::search(machine, budget, (), &mut recorder);
    recorder.finish();
    let judge = Judge::new(machine, &searched, &recorder);
    let races = judge.races();
    let ordered =
        if searched.bound.is_none() { order::ordered(&searched.graph, &recorder, wanted) } else { Vec::new() };
    let (failures, deadlocks) = recorder.bad.lists(machine, |node| searched.graph.path_to(node));
    let Searched { graph, tables, statistics, bound, .. } = searched;
    let are_too_many = matches!(bound, Some(Bound::States | Bound::Memory));
    let racing = are_too_many.then(|| races_by_executions(machine, program, budget)).flatten();
    let bound = bound.filter(|_| racing.as_ref().is_none_or(|racing| racing.fails || !racing.pairs.is_empty()));
    let open = bound.map_or_else(Vec::new, |_| open_executions(&graph, &statistics));
    RacesAnswer { bound, statistics, races, ordered, failures, deadlocks, open, finished: None, racing, tables }
}

/// Decides what the occurrences of each pair mean.
struct Judge<'a> {
    searched: &'a Searched,
    recorder: &'a Recorder<'a>,
    /// States that an execution reaches that is not discarded; all of them where none is discarded.
    lasting: Option<FixedBitSet>,
    to_failure: Completion<'a>,
    outcomes: Option<OutcomeSets>,
}

impl<'a> Judge<'a> {
    fn new(machine: &'a Machine, searched: &'a Searched, recorder: &'a Recorder<'a>) -> Judge<'a> {
        let graph = &searched.graph;
        let lasting = machine.may_discard().then(|| lasting_states(graph, Unexpanded::Lost));
        let is_failure = |kind| matches!(kind, NodeKind::Failed | NodeKind::Deadlock);
        let to_failure = Completion::towards(machine, graph, &is_failure);
        let complete = searched.bound.is_none() && !recorder.occurrences.is_empty();
        let outcomes = complete.then(|| OutcomeSets::new(graph, lasting.as_ref(), &recorder.end_outcomes));
        Judge { searched, recorder, lasting, to_failure, outcomes: outcomes.flatten() }
    }

    /// The races, by their accesses. Occurrences come in the order of the search, the shortest executions first.
    fn races(&self) -> Vec<Race> {
        let mut by_pair: FxHashMap<u32, Race> = FxHashMap::default();
        let mut done: FxHashSet<(u32, usize)> = FxHashSet::default();
        for occurrence in self.recorder.occurrences.iter().filter(|one| self.lasts(one.node)) {
            let race = by_pair.entry(occurrence.pair).or_insert_with(|| self.race(occurrence));
            for side in 0..2 {
                race.goes_on[side] |= self.lasts(occurrence.to[side]);
                if race.failing[side].is_none() && !done.contains(&(occurrence.pair, side)) {
                    race.failing[side] = self.failing(occurrence, side);
                    // For an access with itself it does not matter which thread is called the first one.
                    if race.failing[side].is_some() && race.accesses[0] == race.accesses[1] {
                        done.insert((occurrence.pair, 1 - side));
                    }
                }
            }
            race.outcomes_differ = match (race.outcomes_differ, self.differs(occurrence)) {
                (Some(known), Some(here)) => Some(known || here),
                _ => None,
            };
        }
        let mut races: Vec<Race> = by_pair.into_values().collect();
        races.sort_by_key(|race| race.accesses);
        races
    }

    fn lasts(&self, node: u32) -> bool {
        node != DISCARDED && self.lasting.as_ref().is_none_or(|states| states.contains(node as usize))
    }

    fn race(&self, occurrence: &Occurrence) -> Race {
        let pair = &self.recorder.pairs[occurrence.pair as usize];
        let mut cells = pair.cells.clone();
        cells.sort_unstable();
        Race {
            accesses: pair.accesses,
            mixed: pair.mixed,
            cells,
            schedule: self.searched.graph.path_to(occurrence.node),
            steps: occurrence.steps,
            threads: occurrence.threads,
            failing: [None, None],
            goes_on: [false, false],
            outcomes_differ: Some(false),
        }
    }

    /// An execution that fails after that access of a pair went first.
    fn failing(&self, occurrence: &Occurrence, side: usize) -> Option<FailingOrder> {
        let to = occurrence.to[side];
        if !self.lasts(to) || !self.to_failure.leads_to_wanted(to) {
            return None;
        }
        let mut schedule = self.searched.graph.path_to(occurrence.node);
        let before = schedule.len();
        schedule.push(occurrence.steps[side]);
        self.to_failure.complete(&mut schedule, to);
        Some(FailingOrder { schedule, before })
    }

    /// Whether the order decides what can come out. An order that is discarded in any case decides nothing.
    fn differs(&self, occurrence: &Occurrence) -> Option<bool> {
        let [first, second] = occurrence.to;
        let sets = self.outcomes.as_ref()?;
        Some(self.lasts(first) && self.lasts(second) && sets.of(first) != sets.of(second))
    }
}

/// What tells ends of executions apart, by number.
type OutcomeNumbers = FxHashMap<(OutcomeKey, Vec<i64>), u32>;

#[cfg(test)]
mod tests;
