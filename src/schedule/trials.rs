//! Trials: many executions, each by a policy of its own seed, on several cores.
//!
//! **Input**: a machine, a range of seeds, for each seed a [`Policy`] and an [`Observer`], and a [`Budget`] for the clock and the
//! number of cores.
//!
//! **Output**: the caller's result for each execution, handed over in the order of the seeds until the caller has enough.
//!
//! **Algorithm**.
//!
//! 1. The seeds are taken in batches of a few for each core. The workers of a batch draw its seeds one by one.
//! 2. A worker runs the execution of a seed, and computes a result from it. State, tables and steps are reused for its next
//!    execution, so a trial allocates only if it is larger than all before.
//! 3. The results of a batch are handed over in the order of their seeds. The first sufficient result ends the trials; later ones
//!    are dropped, as if they had never been made.
//!
//! **Soundness and limits**. The results handed over do not depend on the number of cores: a result depends on one execution
//! alone, and results are in the order of the seeds. A result must not contain names of threads or outputs as numbers, because
//! each worker has its own tables. If the time is up or the user stops the trials, the results handed over are still the first
//! ones, without a gap; their number depends on the clock.

use super::execution::{ExecutionStatus, Room};
use super::policy::Policy;
use cssame_budget::{Bound, Budget, Statistics};
use cssame_vm::{Choice, Machine, Observer, State, Tables};
use std::ops::{ControlFlow, Range};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// Seeds of a batch for each core: enough that no core waits for long, few enough that little is made in vain.
const BATCH: u64 = 8;

/// Executions to make.
#[derive(Clone, Debug)]
pub struct Trials<'a> {
    /// The program.
    pub machine: &'a Machine,
    /// One execution for each of them.
    pub seeds: Range<u64>,
    /// Steps of one execution at most.
    pub max_steps: u64,
    /// The clock, the wish of the user to stop, and the cores that may be used. What can be counted is not looked at.
    pub budget: &'a Budget<'a>,
}

/// An execution that has ended.
#[derive(Debug)]
pub struct Trial<'a, P, O> {
    /// Its seed.
    pub seed: u64,
    /// How it has ended.
    pub status: &'a ExecutionStatus,
    /// Its steps.
    pub steps: &'a [Choice],
    /// The state in which it has ended.
    pub state: &'a State,
    /// Names of threads, and outputs.
    pub tables: &'a Tables,
    /// What has chosen its steps.
    pub policy: &'a P,
    /// What has watched it.
    pub observer: &'a O,
}

/// What decides about trials: how they begin, and what is made of them.
pub trait Experiment: Sync {
    /// Chooses the steps.
    type Policy: Policy;
    /// Watches them.
    type Observer: Observer;
    /// What is kept of an execution.
    type Outcome: Send;

    /// The policy and the observer of a seed.
    fn begin(&self, seed: u64) -> (Self::Policy, Self::Observer);

    /// What is kept of an execution.
    fn outcome(&self, trial: &Trial<'_, Self::Policy, Self::Observer>) -> Self::Outcome;
}

/// How trials have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrialsEnd {
    /// All seeds were tried.
    Exhausted,
    /// The caller has enough.
    Enough,
    /// The time is up, or the user has stopped them.
    Stopped(Bound),
}

impl Trials<'_> {
    /// Makes the executions. `take` gets each seed with its outcome, in order, and says whether to go on.
    pub fn run<E: Experiment>(
        &self,
        experiment: &E,
        take: impl FnMut(u64, E::Outcome) -> ControlFlow<()>,
    ) -> TrialsEnd {
        self.run_in(&mut self.rooms(), 0, experiment, take)
    }

    /// Room for one execution on each core.
    pub(super) fn rooms(&self) -> Vec<Room> {
        (0..self.budget.jobs()).map(|_| Room::default()).collect()
    }

    /// As [`Trials::run`], in rooms that there are, behind executions that were made before: those are reported too.
    pub(super) fn run_in<E: Experiment>(
        &self,
        rooms: &mut [Room],
        before: u64,
        experiment: &E,
        mut take: impl FnMut(u64, E::Outcome) -> ControlFlow<()>,
    ) -> TrialsEnd {
        let jobs = rooms.len() as u64;
        let mut first = self.seeds.start;
        while first < self.seeds.end {
            let done = Statistics { executions: before + (first - self.seeds.start), ..Statistics::default() };
            if let Err(bound) = self.budget.report(&done) {
                return TrialsEnd::Stopped(bound);
            }
            // Alone there is no need to make more than one at a time.
            let size = if jobs == 1 { 1 } else { jobs * BATCH };
            let batch = first..self.seeds.end.min(first.saturating_add(size));
            first = batch.end;
            for (seed, outcome) in batch.clone().zip(self.batch(experiment, batch, rooms)) {
                let Some(outcome) = outcome else {
                    return TrialsEnd::Stopped(self.budget.check().unwrap_or(Bound::Interrupt));
                };
                if take(seed, outcome).is_break() {
                    return TrialsEnd::Enough;
                }
            }
        }
        TrialsEnd::Exhausted
    }

    /// The outcomes of a batch, in order; none for seeds that were not tried.
    fn batch<E: Experiment>(&self, experiment: &E, seeds: Range<u64>, rooms: &mut [Room]) -> Vec<Option<E::Outcome>> {
        let next = AtomicU64::new(seeds.start);
        let results = Mutex::new(Vec::new());
        let work = |room: &mut Room| {
            loop {
                let seed = next.fetch_add(1, Ordering::Relaxed);
                if seed >= seeds.end || self.budget.check().is_some() {
                    return;
                }
                let outcome = self.one(experiment, seed, room);
                // A worker that panics takes all with it, at the end of the scope.
                results.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((seed, outcome));
            }
        };
        match rooms {
            [room] => work(room),
            rooms => thread::scope(|scope| {
                for room in rooms {
                    scope.spawn(|| work(room));
                }
            }),
        }
        let mut outcomes: Vec<Option<E::Outcome>> = seeds.clone().map(|_| None).collect();
        for (seed, outcome) in results.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
            outcomes[(seed - seeds.start) as usize] = Some(outcome);
        }
        outcomes
    }

    fn one<E: Experiment>(&self, experiment: &E, seed: u64, room: &mut Room) -> E::Outcome {
        let (mut policy, mut observer) = experiment.begin(seed);
        let status = room.run(self.machine, &mut policy, self.max_steps, &mut observer);
        let Room { steps, state, tables, .. } = &*room;
        experiment.outcome(&Trial { seed, status: &status, steps, state, tables, policy: &policy, observer: &observer })
    }
}
