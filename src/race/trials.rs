//! Phase 2: executions that are directed at one pair of places.
//!
//! **Input**: a pair of places, and the number of executions to make. **Output**: [`PairTrials`]: the number of executions that
//! have hit the race, the consequences of each order, and the first execution of each kind, which its seed reproduces.
//!
//! **Algorithm**: [`RaceDirected`] makes execution k of a pair. Its seed depends only on the number k and the places.
//!
//! **Soundness and limits**: every result is real. A discarded execution does not count.

use super::directed::{Goal, Hits, RaceDirected, seed_of};
use super::ends::{BadEnd, BadEnds, Origin};
use super::place::{PlacePair, Places};
use cssame_budget::{Bound, Budget};
use cssame_form::races::PotentialRaces;
use cssame_ir::{Access, Program};
use cssame_model::Model;
use cssame_schedule::{Decision, ExecutionStatus, Experiment, Policy, SwitchAt, Trial, Trials, TrialsEnd, View, run};
use cssame_vm::{Choice, Machine, Move, Visibility};
use std::ops::ControlFlow;
use std::sync::Arc;

/// How the executions of a pair are made.
#[derive(Clone, Copy, Debug)]
pub struct TrialRequest {
    /// The number of the first one.
    pub seed: u64,
    /// How many are made.
    pub trials: u64,
    /// Steps of others after which a thread is not postponed any longer.
    pub max_postponed: u64,
    /// Steps of one execution at most.
    pub max_steps: u64,
    /// Whether the first hit is enough.
    pub until_hit: bool,
    /// Whether threads are switched before synchronisation and the accesses of the pair only.
    pub at_synchronisation: bool,
}

/// An execution that has hit a race.
#[derive(Clone, Debug)]
pub struct HitExecution {
    /// What makes it again.
    pub seed: u64,
    /// All its steps.
    pub steps: Vec<Choice>,
    /// How many of them come before the hit.
    pub before: usize,
}

/// What the executions of a pair have shown.
#[derive(Clone, Debug, Default)]
pub struct PairTrials {
    /// How many were made, but for those that are discarded.
    pub trials: u64,
    /// How many have hit the race.
    pub hits: u64,
    /// How many have failed or ended in a deadlock.
    pub failed: u64,
    /// How many were cut after as many steps as are allowed.
    pub cut: u64,
    /// Steps of all of them together, those that are discarded included.
    pub steps: u64,
    /// The first hit.
    pub first: Option<HitExecution>,
    /// The number of executions up to the first hit, that one included.
    pub first_hit: Option<u64>,
    /// For each place: the first execution with a hit in which it went first, and that has failed.
    pub failing: [Option<HitExecution>; 2],
    /// For each place: the first execution in which two threads stood at it, and raced.
    pub with_itself: [Option<HitExecution>; 2],
    /// Failures and deadlocks.
    pub ends: BadEnds,
    /// The bound that has stopped the executions.
    pub bound: Option<Bound>,
}

struct Directed<'a> {
    machine: &'a Machine,
    program: &'a Program,
    goal: Arc<Goal>,
    positions: [cssame_source::Position; 2],
    /// The accesses at which threads may be switched beside synchronisation; none where they may be switched everywhere.
    switch_at: Option<&'a Visibility>,
}

/// The directed policy at a granularity.
enum Grained<'a> {
    Every(RaceDirected<'a>),
    Few(SwitchAt<'a, RaceDirected<'a>>),
}

impl<'a> Grained<'a> {
    fn directed(&self) -> &RaceDirected<'a> {
        match self {
            Grained::Every(policy) => policy,
            Grained::Few(policy) => policy.inner(),
        }
    }
}

impl Policy for Grained<'_> {
    fn choose(&mut self, view: &View<'_>, moves: &[Move]) -> Decision {
        match self {
            Grained::Every(policy) => policy.choose(view, moves),
            Grained::Few(policy) => policy.choose(view, moves),
        }
    }
}

/// What is kept of an execution.
struct Done {
    is_discarded: bool,
    is_cut: bool,
    steps: u64,
    hits: Hits,
    end: Option<BadEnd>,
}

impl<'a> Experiment for Directed<'a> {
    type Policy = Grained<'a>;
    type Observer = ();
    type Outcome = Done;

    fn begin(&self, seed: u64) -> (Grained<'a>, ()) {
        let policy = RaceDirected::new(self.program, Arc::clone(&self.goal), seed_of(self.positions, seed));
        let grained = match self.switch_at {
            None => Grained::Every(policy),
            Some(accesses) => Grained::Few(SwitchAt::new(policy, accesses, SwitchAt::BOUND)),
        };
        (grained, ())
    }

    fn outcome(&self, trial: &Trial<'_, Grained<'a>, ()>) -> Done {
        Done {
            is_discarded: *trial.status == ExecutionStatus::Discarded,
            is_cut: *trial.status == ExecutionStatus::StepLimit,
            steps: trial.steps.len() as u64,
            hits: trial.policy.directed().hits().clone(),
            end: BadEnd::of(self.machine, trial.tables, (trial.status, trial.steps, trial.state)),
        }
    }
}

impl Directed<'_> {
    /// Makes an execution again.
    fn again(&self, seed: u64, before: usize, max_steps: u64) -> HitExecution {
        let (mut policy, mut observer) = self.begin(seed);
        HitExecution { seed, steps: run(self.machine, &mut policy, max_steps, &mut observer).steps, before }
    }
}

/// What the executions of a pair are directed at.
#[derive(Clone, Copy, Debug)]
pub struct PairAim<'a> {
    /// The places of the program.
    pub places: &'a Places,
    /// What the text says of its accesses.
    pub races: &'a PotentialRaces<'a>,
    /// The pair.
    pub pair: PlacePair,
    /// The accesses there that may race, the one at the first place first.
    pub accesses: &'a [[Access; 2]],
}

/// Makes the executions of a pair.
#[must_use]
pub fn direct_at(model: &Model, aim: PairAim<'_>, request: &TrialRequest, budget: &Budget<'_>) -> PairTrials {
    let (machine, program, pair) = (model.machine(), model.program(), aim.pair);
    let may_repeat = |access| aim.races.may_repeat(access);
    let goal = Arc::new(Goal::new(program, machine, aim.accesses, may_repeat, request.max_postponed));
    let positions = pair.map(|place| model.sources().position(aim.places.list[place].span));
    let mut accesses = Visibility::none(program);
    for &access in aim.accesses.iter().flatten() {
        match access {
            Access::Read(read) => accesses.reads.insert(read.index()),
            Access::Write(definition) => accesses.definitions.insert(definition.index()),
        }
    }
    let switch_at = request.at_synchronisation.then_some(&accesses);
    let experiment = Directed { machine, program, goal, positions, switch_at };
    let seeds = request.seed..request.seed.saturating_add(request.trials);
    let trials = Trials { machine, seeds, max_steps: request.max_steps, budget };
    let mut found = PairTrials::default();
    let end = trials.run(&experiment, |seed, done| {
        found.steps += done.steps;
        if done.is_discarded {
            return ControlFlow::Continue(());
        }
        found.trials += 1;
        found.cut += u64::from(done.is_cut);
        found.failed += u64::from(done.end.is_some());
        for (side, before) in done.hits.with_itself.into_iter().enumerate() {
            let Some(before) = before else { continue };
            found.with_itself[side].get_or_insert_with(|| experiment.again(seed, before, request.max_steps));
        }
        let enough = done.hits.first.is_some() && request.until_hit;
        if let Some(before) = done.hits.first {
            note_hit(&mut found, &experiment, (seed, before, request.max_steps), &done);
        }
        if let Some(end) = done.end {
            found.ends.add(end, Origin { seed: Some(seed), pair: Some(pair) });
        }
        if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    if let TrialsEnd::Stopped(bound) = end {
        found.bound = Some(bound);
    }
    found
}

fn note_hit(
    found: &mut PairTrials,
    experiment: &Directed<'_>,
    (seed, before, max_steps): (u64, usize, u64),
    done: &Done,
) {
    found.hits += 1;
    found.first_hit.get_or_insert(found.trials);
    let again = || experiment.again(seed, before, max_steps);
    found.first.get_or_insert_with(again);
    if done.end.is_some() {
        for side in (0..2).filter(|&side| done.hits.went_first.has(side)) {
            found.failing[side].get_or_insert_with(again);
        }
    }
}
