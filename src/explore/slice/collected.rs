//! The findings of slices, as executions of the whole program.
//!
//! **Input**: searches of slices, one after the other. **Output**: their combined [`Answer`].
//!
//! **Soundness and limits**: each execution is repeated in the whole program. This takes time and memory for long executions, so
//! there are limits on steps and on instructions beyond which slices are abandoned.

use super::replay::{Replay, Replayed};
use super::{Declined, Running};
use crate::answer::{Answer, FailureWitness, MAX_TERM_STEPS, Outcome, Query, Term};
use crate::question::bad_ends::BadEnds;
use crate::question::futures::futures;
use crate::question::outcomes;
use crate::states::End;
use cssame_budget::{Budget, Statistics};
use cssame_ir::{DefinitionId, ReadId};
use cssame_vm::{Choice, Machine, Tables};
use rustc_hash::FxHashSet;

/// Steps of executions that are done again, beyond which slices are given up.
const STEPS: usize = 20_000_000;

/// Instructions of all slices together beyond which they are given up.
const INSTRUCTIONS: usize = 30_000_000;

/// What the slices have shown so far, in executions of the whole program.
pub(super) struct Collected<'a> {
    budget: Budget<'a>,
    /// Steps that may still be done again, and those of terms that may still be kept.
    steps: usize,
    kept: usize,
    /// Instructions of slices that may still be made.
    instructions: usize,
    known: FxHashSet<(ReadId, DefinitionId)>,
    bad: BadEnds<Vec<Choice>>,
    /// Slots of threads that were in use.
    threads: usize,
    tables: Tables,
    statistics: Statistics,
    terms: Vec<Term>,
    undecided: Vec<(ReadId, DefinitionId)>,
    outcomes: Vec<Outcome>,
}

impl<'a> Collected<'a> {
    pub(super) fn new(budget: &Budget<'a>) -> Collected<'a> {
        Collected {
            budget: *budget,
            steps: STEPS,
            kept: MAX_TERM_STEPS,
            instructions: INSTRUCTIONS,
            known: FxHashSet::default(),
            bad: BadEnds::default(),
            threads: 0,
            tables: Tables::new(),
            statistics: Statistics::default(),
            terms: Vec::new(),
            undecided: Vec::new(),
            outcomes: Vec::new(),
        }
    }

    /// Takes one more slice into account before it is made.
    pub(super) fn pay_for_slice(&mut self, instructions: usize) -> Result<(), Declined> {
        if self.budget.check().is_some() {
            return Err(Declined::Bound);
        }
        self.instructions = self.instructions.checked_sub(instructions).ok_or(Declined::Whole)?;
        Ok(())
    }

    /// Does an execution of a slice again in the whole program.
    fn again(
        &mut self,
        replay: &Replay<'_>,
        schedule: &[Choice],
        wanted: Option<(ReadId, DefinitionId, usize)>,
    ) -> Result<Replayed, Declined> {
        if self.budget.check().is_some() {
            return Err(Declined::Bound);
        }
        let replayed = replay.run(schedule, wanted, &mut self.tables).ok_or(Declined::Disagreement)?;
        self.threads = self.threads.max(replayed.state.thread_count());
        self.steps = self.steps.checked_sub(replayed.schedule.len()).ok_or(Declined::Whole)?;
        Ok(replayed)
    }

    /// Searches a slice, for all that it holds or for one read. Gives the number of slots of threads.
    pub(super) fn add(
        &mut self,
        running: &Running<'_>,
        query: &Query<'_>,
        read: Option<ReadId>,
    ) -> Result<usize, Declined> {
        let answer = futures(&running.machine, query, &self.budget);
        let endless = |witness: &FailureWitness| witness.failure.kind.is_limit();
        if answer.failures.iter().any(endless) {
            return Err(Declined::Endless);
        }
        if !answer.is_complete() {
            return Err(Declined::Bound);
        }
        self.spend(&answer.statistics);
        let replay = running.replay();
        for term in &answer.terms {
            let wanted = read.map_or_else(|| running.slice.holds(term.read), |read| read == term.read);
            if wanted && self.known.insert((term.read, term.definition)) {
                let shows = Some((term.read, term.definition, term.step));
                let schedule = term.schedule.as_ref().ok_or(Declined::Whole)?;
                let replayed = self.again(&replay, schedule, shows)?;
                let schedule = (self.kept > 0).then_some(replayed.schedule);
                self.kept = self.kept.saturating_sub(schedule.as_ref().map_or(0, Vec::len));
                let step = replayed.seen.ok_or(Declined::Disagreement)?;
                self.terms.push(Term { schedule, step, ..*term });
            }
        }
        let undecided = answer.undecided.iter();
        self.undecided.extend(undecided.filter(|(one, _)| read.is_none_or(|read| read == *one)));
        if read.is_none() {
            self.threads = self.threads.max(answer.threads);
            self.add_ends(&replay, running.whole, &answer)?;
        }
        Ok(answer.threads)
    }

    /// Takes what a search has cost off the bounds.
    fn spend(&mut self, spent: &Statistics) {
        self.statistics.states += spent.states;
        self.statistics.steps += spent.steps;
        self.statistics.executions += spent.executions;
        self.statistics.depth = self.statistics.depth.max(spent.depth);
        self.budget.spend(spent);
    }

    fn add_ends(&mut self, replay: &Replay<'_>, machine: &Machine, answer: &Answer) -> Result<(), Declined> {
        for outcome in &answer.outcomes {
            let Replayed { schedule, state, progress, .. } =
                self.again(replay, outcome.schedule.as_ref().ok_or(Declined::Whole)?, None)?;
            let end = End::of(machine, &state, progress).ok_or(Declined::Disagreement)?;
            let outputs = machine.outputs(&state, &self.tables);
            self.outcomes.push(Outcome {
                outputs,
                status: end.into(),
                failure: end.failure(),
                schedule: Some(schedule),
            });
        }
        let failures = answer.failures.iter().map(|witness| &witness.schedule);
        for schedule in failures.chain(answer.deadlocks.iter().map(|deadlock| &deadlock.schedule)) {
            let Replayed { schedule, state, progress, .. } = self.again(replay, schedule, None)?;
            match End::of(machine, &state, progress) {
                None | Some(End::Finished) => return Err(Declined::Disagreement),
                Some(end) => _ = self.bad.note((machine, &self.tables, &state), end, || schedule),
            }
        }
        Ok(())
    }

    pub(super) fn finish(mut self, machine: &Machine) -> Answer {
        let (failures, deadlocks) = self.bad.lists(machine, |schedule| schedule);
        outcomes::sort(&self.tables, &mut self.outcomes);
        self.terms.sort_by_key(|term| (term.read, term.definition));
        let known = self.known;
        self.undecided.retain(|pair| !known.contains(pair));
        self.undecided.sort_unstable();
        self.undecided.dedup();
        Answer {
            bound: None,
            all_end: false,
            statistics: self.statistics,
            futures: None,
            finished: None,
            from_slices: true,
            threads: self.threads,
            terms: self.terms,
            undecided: self.undecided,
            outcomes: self.outcomes,
            failures,
            deadlocks,
            open: Vec::new(),
            tables: self.tables,
        }
    }
}
