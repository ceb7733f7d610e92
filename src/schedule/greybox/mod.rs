//! Greybox search: executions that are steered towards terms that no execution has shown so far.
//!
//! **Input**: a program, the terms of its pi functions, an [`Experiment`], seeds.
//!
//! **Output**: the result of the experiment for each execution, in the order of the seeds.
//!
//! **Algorithm** (after Wolff, Shi, Duck, Mathur, Roychoudhury 2024). The unit of the search is an [`AbstractSchedule`] instead
//! of an execution: a set of terms (a read sees a definition) that are wanted or unwanted.
//!
//! 1. The seeds are taken in generations of [`GENERATION`]. The first seed gets the abstract schedule without constraints. Each
//!    other seed gets a mutant of a kept one.
//! 2. The executions of a generation are made as [`Trials`]. In each of them, the policy of the experiment chooses among the
//!    threads that the abstract schedule does not hold back ([`Steered`]).
//! 3. The terms shown are entered in the order of the seeds. An abstract schedule is kept if its execution has shown a new term,
//!    or a new combination of terms.
//!
//! It differs from the paper in two points. The candidates are the terms of the form and those that executions have shown; the
//! paper uses only the latter. The choice draws a few and takes the rarest one; the paper uses energies that rise with rarity.
//!
//! **Soundness and limits**. The search finds behaviours and proves nothing. The result depends on the program, the terms, the
//! first seed and the experiment, but not on the number of cores or the last seed. To repeat one of its executions, either the
//! executions before it or its steps are needed.

mod abstract_schedule;
mod corpus;
mod steered;

pub use abstract_schedule::{AbstractSchedule, Constraint, Term};
pub use steered::Steered;

use super::execution::Room;
use super::policy::Random;
use super::trials::{Experiment, Trial, Trials, TrialsEnd};
use corpus::{Corpus, Shown};
use cssame_vm::{CodeIndex, Event, Observer, ThreadName};
use rustc_hash::FxHashSet;
use std::ops::ControlFlow;

/// Executions that are made before anything is learned from them.
pub const GENERATION: u64 = 32;

/// A search for executions that show new terms.
#[derive(Clone, Debug)]
pub struct Greybox<'a> {
    /// The program, and how many executions to make.
    pub trials: Trials<'a>,
    /// Terms to choose from: those of the pi functions, or none. What executions show is added.
    pub terms: &'a [Term],
    /// Steps of others for which a thread is held back at most.
    pub bound: u32,
}

/// What a search has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GreyboxEnd {
    /// How its executions have ended.
    pub end: TrialsEnd,
    /// Different terms that they have shown.
    pub terms: usize,
    /// Abstract schedules that are kept.
    pub kept: usize,
}

impl Greybox<'_> {
    /// Makes the executions. `take` gets each seed with its outcome, in order, and says whether to go on.
    pub fn run<E: Experiment>(
        &self,
        experiment: &E,
        mut take: impl FnMut(u64, E::Outcome) -> ControlFlow<()>,
    ) -> GreyboxEnd {
        let seeds = self.trials.seeds.clone();
        let mut corpus = Corpus::new(self.terms, seeds.start);
        let mut rooms: Vec<Room> = self.trials.rooms();
        let mut first = seeds.start;
        let mut end = TrialsEnd::Exhausted;
        while first < seeds.end && end == TrialsEnd::Exhausted {
            let last = seeds.end.min(first.saturating_add(GENERATION));
            let schedules: Vec<AbstractSchedule> = (first..last).map(|_| corpus.next()).collect();
            let mut shown = Vec::with_capacity(schedules.len());
            let (known, bound) = (corpus.known(), self.bound);
            let generation = Generation { experiment, first, schedules: &schedules, known, bound };
            let trials = Trials { seeds: first..last, ..self.trials.clone() };
            end = trials.run_in(&mut rooms, first - seeds.start, &generation, |seed, (one, outcome)| {
                shown.push(one);
                take(seed, outcome)
            });
            for (schedule, shown) in schedules.into_iter().zip(shown) {
                corpus.enter(schedule, shown);
            }
            first = last;
        }
        GreyboxEnd { end, terms: corpus.known().len(), kept: corpus.len() }
    }
}

/// An experiment whose executions are steered by abstract schedules.
struct Generation<'a, E> {
    experiment: &'a E,
    /// The seed of the first schedule.
    first: u64,
    schedules: &'a [AbstractSchedule],
    known: &'a FxHashSet<Term>,
    bound: u32,
}

impl<E: Experiment> Experiment for Generation<'_, E> {
    type Policy = Steered<E::Policy>;
    type Observer = (TermsSeen, E::Observer);
    type Outcome = (Shown, E::Outcome);

    fn begin(&self, seed: u64) -> (Self::Policy, Self::Observer) {
        let (policy, observer) = self.experiment.begin(seed);
        let schedule = &self.schedules[(seed - self.first) as usize];
        (Steered::new(policy, schedule, self.bound), (TermsSeen::default(), observer))
    }

    fn outcome(&self, trial: &Trial<'_, Self::Policy, Self::Observer>) -> Self::Outcome {
        let &Trial { seed, status, steps, state, tables, policy, observer: (seen, observer) } = trial;
        let policy = policy.inner();
        let outcome = self.experiment.outcome(&Trial { seed, status, steps, state, tables, policy, observer });
        (seen.shown(self.known), outcome)
    }
}

/// The terms that an execution shows.
#[derive(Clone, Debug, Default)]
struct TermsSeen {
    terms: FxHashSet<Term>,
}

impl TermsSeen {
    fn shown(&self, known: &FxHashSet<Term>) -> Shown {
        let mut unknown: Vec<Term> = self.terms.difference(known).copied().collect();
        unknown.sort_unstable();
        // A sum does not depend on the order of a hash set.
        let combination = self.terms.iter().fold(0u64, |sum, &term| sum.wrapping_add(scattered(term)));
        Shown { unknown, combination }
    }
}

/// A number for a term; those of different terms have nothing to do with each other.
fn scattered((read, definition): Term) -> u64 {
    Random::new(u64::from(read.0) << 32 | u64::from(definition.0)).next()
}

impl Observer for TermsSeen {
    const DETAILS: bool = false;

    fn event(&mut self, _: ThreadName, _: CodeIndex, event: Event) {
        if let Event::Read { read, writer: Some(writer), shared: true, .. } = event {
            self.terms.insert((read, writer));
        }
    }
}

#[cfg(test)]
mod tests;
