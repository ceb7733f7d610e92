//! Compares schedulers: how often each of them brings two threads before the accesses of a pair at the same time.
//!
//! **Input**: a scheduler, its granularity, the pairs, and the number of executions to make. **Output**: a [`Comparison`]: for
//! each pair, the number of executions that hit it, and the first of these.
//!
//! **Algorithm**: a policy around that of the scheduler checks before each step which accesses the threads would make. For a
//! scheduler that is not directed at a pair, one series of executions serves all pairs.
//!
//! **Soundness and limits**: a hit is a race. The executions of the greybox search learn from each other, so their number of hits
//! is not an estimate; only the first hit is meaningful.

use super::directed::seed_of;
use super::ends::{BadEnd, BadEnds, Origin};
use super::place::{PlacePair, Places};
use super::trials::{HitExecution, PairTrials, TrialRequest};
use cssame_budget::{Bound, Budget};
use cssame_ir::{Access, Program};
use cssame_model::Model;
use cssame_schedule::{
    Decision, ExecutionStatus, Experiment, FirstHit, Greybox, Lookahead, PendingAccess, Policy, Rate, Scheduled,
    Scheduler, SwitchAt, Trial, Trials, TrialsEnd, View,
};
use cssame_source::Position;
use cssame_vm::{CodeIndex, Event, Machine, Move, ThreadIndex, ThreadName, Visibility};
use rustc_hash::FxHashMap;
use std::ops::ControlFlow;

/// A scheduler that takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contender {
    /// One that aims at nothing.
    Undirected(Scheduler),
    /// Directed at each pair in turn.
    RaceDirected,
    /// The greybox search over reads-from constraints.
    ReadsFrom,
}

impl Contender {
    /// The word that users read and write.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Contender::Undirected(scheduler) => scheduler.word(),
            Contender::RaceDirected => "race-directed",
            Contender::ReadsFrom => "reads-from",
        }
    }
}

/// Where threads may be switched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Granularity {
    /// Before every visible operation.
    #[default]
    Operation,
    /// Before synchronisation, and before the accesses of the pairs.
    Synchronisation,
}

impl Granularity {
    /// The word that users read and write.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Granularity::Operation => "operation",
            Granularity::Synchronisation => "synchronisation",
        }
    }
}

/// What a scheduler has shown of a pair.
#[derive(Clone, Debug)]
pub struct PairRow {
    /// The pair.
    pub pair: PlacePair,
    /// In how many executions it was hit.
    pub rate: Rate,
    /// In which one first.
    pub first: FirstHit,
    /// That one; none for a pair that executions were directed at, where the trials of the pair have it.
    pub execution: Option<HitExecution>,
}

/// What a scheduler has shown.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The scheduler.
    pub contender: Contender,
    /// Where it switches threads.
    pub granularity: Granularity,
    /// Executions, but for those that are discarded.
    pub executions: u64,
    /// How many have failed or ended in a deadlock.
    pub failed: u64,
    /// The pairs, in text order.
    pub pairs: Vec<PairRow>,
    /// Failures and deadlocks.
    pub ends: BadEnds,
    /// The bound that has stopped the executions.
    pub bound: Option<Bound>,
}

/// The places of pairs, for a policy that looks out for all of them.
#[derive(Debug)]
struct Watched {
    /// By access: its place.
    place_of: FxHashMap<Access, super::place::PlaceId>,
    /// The number of each pair.
    pairs: FxHashMap<PlacePair, usize>,
    /// The accesses at the places.
    accesses: Visibility,
}

impl Watched {
    fn new(program: &Program, places: &Places, pairs: &[PlacePair]) -> Watched {
        let mut accesses = Visibility::none(program);
        let mut place_of = FxHashMap::default();
        for &place in pairs.iter().flatten() {
            for &access in &places.list[place].accesses {
                place_of.insert(access, place);
                match access {
                    Access::Read(read) => accesses.reads.insert(read.index()),
                    Access::Write(definition) => accesses.definitions.insert(definition.index()),
                }
            }
        }
        Watched { place_of, pairs: pairs.iter().enumerate().map(|(index, &pair)| (pair, index)).collect(), accesses }
    }

    /// The number of the pair that two accesses belong to.
    fn pair(&self, one: &PendingAccess, other: &PendingAccess) -> Option<usize> {
        let (a, b) = (*self.place_of.get(&one.access)?, *self.place_of.get(&other.access)?);
        self.pairs.get(&[a.min(b), a.max(b)]).copied()
    }
}

/// A policy that notes before each step which pairs are hit.
struct Watching<'a, P> {
    inner: P,
    program: &'a Program,
    watched: &'a Watched,
    lookahead: Lookahead,
    pending: Vec<(ThreadIndex, PendingAccess)>,
    /// The thread that did the last step: the others stand where they stood, unless the step has made or woken them.
    steps: usize,
    /// By pair: the steps before its first hit.
    hits: FxHashMap<usize, usize>,
}

impl<P> Watching<'_, P> {
    fn look(&mut self, view: &View<'_>, moves: &[Move]) {
        self.pending.clear();
        for one in moves {
            let accesses = self.lookahead.accesses(self.program, view, one.thread);
            let wanted = accesses.into_iter().filter(|access| self.watched.place_of.contains_key(&access.access));
            self.pending.extend(wanted.map(|access| (one.thread, access)));
        }
        for (index, (thread, one)) in self.pending.iter().enumerate() {
            for (other_thread, other) in &self.pending[index + 1..] {
                if thread != other_thread
                    && one.races_with(other)
                    && let Some(pair) = self.watched.pair(one, other)
                {
                    self.hits.entry(pair).or_insert(self.steps);
                }
            }
        }
    }
}

impl<P: Policy> Policy for Watching<'_, P> {
    const OBSERVES: bool = P::OBSERVES;

    fn choose(&mut self, view: &View<'_>, moves: &[Move]) -> Decision {
        self.look(view, moves);
        self.steps += 1;
        self.inner.choose(view, moves)
    }

    fn event(&mut self, thread: ThreadName, at: CodeIndex, event: Event) {
        self.inner.event(thread, at, event);
    }
}

/// A scheduler at a granularity.
enum Grained<'a> {
    Every(Scheduled),
    Few(SwitchAt<'a, Scheduled>),
}

impl Policy for Grained<'_> {
    const OBSERVES: bool = true;

    fn choose(&mut self, view: &View<'_>, moves: &[Move]) -> Decision {
        match self {
            Grained::Every(policy) => policy.choose(view, moves),
            Grained::Few(policy) => policy.choose(view, moves),
        }
    }

    fn event(&mut self, thread: ThreadName, at: CodeIndex, event: Event) {
        match self {
            Grained::Every(policy) => policy.event(thread, at, event),
            Grained::Few(policy) => policy.event(thread, at, event),
        }
    }
}

/// Executions of a scheduler that are watched for all pairs.
struct Series<'a> {
    machine: &'a Machine,
    program: &'a Program,
    watched: &'a Watched,
    scheduler: Scheduler,
    granularity: Granularity,
}

/// What is kept of an execution.
struct Done {
    is_discarded: bool,
    /// The pairs that it has hit, with the steps before.
    hits: Vec<(usize, usize)>,
    steps: Vec<cssame_vm::Choice>,
    end: Option<BadEnd>,
}

impl<'a> Experiment for Series<'a> {
    type Policy = Watching<'a, Grained<'a>>;
    type Observer = ();
    type Outcome = Done;

    fn begin(&self, seed: u64) -> (Self::Policy, ()) {
        // The seeds of neighbouring numbers have nothing to do with each other.
        let policy = self.scheduler.policy(seed_of([Position { line: 0, column: 0 }; 2], seed));
        let inner = match self.granularity {
            Granularity::Operation => Grained::Every(policy),
            Granularity::Synchronisation => {
                Grained::Few(SwitchAt::new(policy, &self.watched.accesses, SwitchAt::BOUND))
            }
        };
        let (program, watched) = (self.program, self.watched);
        let (lookahead, pending, hits) = (Lookahead::default(), Vec::new(), FxHashMap::default());
        (Watching { inner, program, watched, lookahead, pending, steps: 0, hits }, ())
    }

    fn outcome(&self, trial: &Trial<'_, Self::Policy, ()>) -> Done {
        let mut hits: Vec<(usize, usize)> = trial.policy.hits.iter().map(|(&pair, &before)| (pair, before)).collect();
        hits.sort_unstable();
        Done {
            is_discarded: *trial.status == ExecutionStatus::Discarded,
            steps: if hits.is_empty() { Vec::new() } else { trial.steps.to_vec() },
            hits,
            end: BadEnd::of(self.machine, trial.tables, (trial.status, trial.steps, trial.state)),
        }
    }
}

/// Makes the executions of a scheduler that is not directed at a pair.
#[must_use]
pub fn watch_pairs(
    model: &Model,
    places: &Places,
    pairs: &[PlacePair],
    (contender, granularity): (Contender, Granularity),
    request: &TrialRequest,
    budget: &Budget<'_>,
) -> Comparison {
    let (machine, program) = (model.machine(), model.program());
    let watched = Watched::new(program, places, pairs);
    let scheduler = match contender {
        Contender::Undirected(scheduler) => scheduler,
        Contender::RaceDirected | Contender::ReadsFrom => Scheduler::Pos,
    };
    let series = Series { machine, program, watched: &watched, scheduler, granularity };
    let seeds = request.seed..request.seed.saturating_add(request.trials);
    let trials = Trials { machine, seeds, max_steps: request.max_steps, budget };
    let row = |&pair| PairRow { pair, rate: Rate::default(), first: FirstHit::Censored(0), execution: None };
    let mut found = Comparison {
        contender,
        granularity,
        executions: 0,
        failed: 0,
        pairs: pairs.iter().map(row).collect(),
        ends: BadEnds::default(),
        bound: None,
    };
    let take = |seed: u64, done: Done| {
        found.add(seed, done);
        ControlFlow::Continue(())
    };
    let end = if contender == Contender::ReadsFrom {
        let terms = terms(model);
        let bound = u32::try_from(request.max_postponed).unwrap_or(u32::MAX);
        Greybox { trials, terms: &terms, bound }.run(&series, take).end
    } else {
        trials.run(&series, take)
    };
    if let TrialsEnd::Stopped(bound) = end {
        found.bound = Some(bound);
    }
    found
}

/// The terms of the pi functions.
fn terms(model: &Model) -> Vec<(cssame_ir::ReadId, cssame_ir::DefinitionId)> {
    let form = model.form();
    let reads = form.shared_reads().into_iter();
    reads.flat_map(|read| form.terms(read).into_iter().map(move |definition| (read, definition))).collect()
}

impl Comparison {
    fn add(&mut self, seed: u64, done: Done) {
        if done.is_discarded {
            return;
        }
        self.executions += 1;
        self.failed += u64::from(done.end.is_some());
        for (index, row) in self.pairs.iter_mut().enumerate() {
            let hit = done.hits.iter().find(|hit| hit.0 == index);
            row.rate.count(hit.is_some());
            match (row.first, hit) {
                (FirstHit::Censored(_), Some(&(_, before))) => {
                    row.first = FirstHit::At(self.executions);
                    row.execution = Some(HitExecution { seed, steps: done.steps.clone(), before });
                }
                (FirstHit::Censored(_), None) => row.first = FirstHit::Censored(self.executions),
                (FirstHit::At(_), _) => {}
            }
        }
        if let Some(end) = done.end {
            // No seed of the command line makes it again by itself: the schedule does.
            self.ends.add(end, Origin::default());
        }
    }

    /// What executions that were directed at each pair have shown.
    #[must_use]
    pub fn directed<'t>(
        trials: impl Iterator<Item = (PlacePair, &'t PairTrials)>,
        granularity: Granularity,
    ) -> Comparison {
        let mut found = Comparison {
            contender: Contender::RaceDirected,
            granularity,
            executions: 0,
            failed: 0,
            pairs: Vec::new(),
            ends: BadEnds::default(),
            bound: None,
        };
        for (pair, trials) in trials {
            found.executions += trials.trials;
            found.failed += trials.failed;
            let rate = Rate { hits: trials.hits, trials: trials.trials };
            let first = trials.first_hit.map_or(FirstHit::Censored(trials.trials), FirstHit::At);
            found.pairs.push(PairRow { pair, rate, first, execution: None });
        }
        found
    }
}
