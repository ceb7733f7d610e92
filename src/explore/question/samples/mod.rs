//! Adds the findings of single executions to the exact strategies, if these do not complete.
//!
//! **Input**: a machine, a query, and shares of a budget, one after the other. **Output**: terms, outcomes, failures and
//! deadlocks, each with the execution that shows it, added to an [`Answer`] that a bound has cut.
//!
//! **Algorithm**: an exact search is breadth-first. So a failure far from the beginning of a wide program may lie beyond any
//! bound, even if every execution has it. Single executions run to the end:
//! 1. Half of a share goes to executions by seeds ([`seeds`]), by three schedulers in turn.
//! 2. The other half goes to a depth-first search ([`dive`]), which continues where the previous share ended.
//! 3. An execution with a new finding is kept. At the end it is repeated with the names of the answer, and findings that the
//!    answer does not have are added.
//!
//! **Soundness and limits**: every finding is real; the absence of a finding proves nothing. Discarded executions show nothing.
//! Executions that are cut show nothing if the program may discard them.

mod dive;
mod seeds;

use super::bad_ends::BadEnds;
use super::outcomes::{self, OutcomeKey};
use crate::answer::{Answer, Ends, MAX_TERM_STEPS, Outcome, OutcomeStatus, Query, Term, TermSchedules};
use crate::states::End;
use cssame_budget::{Bound, Budget, Limits};
use cssame_ir::{DefinitionId, ReadId};
use cssame_schedule::Walk;
use cssame_vm::{Choice, CodeIndex, Event, Machine, Observer, State, Tables, ThreadName};
use dive::Dive;
use rustc_hash::FxHashSet;
use seeds::Seeds;
use std::time::Duration;

/// Steps of the executions that are kept.
const STEPS: usize = 2_000_000;

/// What single executions get where the time was up before their first share.
const LAST_SHARE: u64 = 100_000;
const LAST_MOMENT: Duration = Duration::from_millis(300);

/// Outcomes that are kept.
const OUTCOMES: usize = 1_000;

/// Searches by single executions.
pub(crate) struct Samples<'a> {
    machine: &'a Machine,
    found: Found<'a>,
    /// Names of threads and outputs in all of them.
    tables: Tables,
    seeds: Seeds,
    dive: Dive<'a>,
    executions: u64,
}

/// An execution that has ended, or was cut.
struct Sample<'s> {
    tables: &'s Tables,
    state: &'s State,
    steps: &'s [Choice],
    /// The definitions that its reads have seen.
    pairs: &'s [(ReadId, DefinitionId)],
    end: SampleEnd,
}

/// How an execution has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SampleEnd {
    Over(End),
    /// It was not followed any further.
    Cut,
}

/// The executions that are kept, and what they show.
struct Found<'a> {
    machine: &'a Machine,
    ends: Ends,
    kept: Vec<Vec<Choice>>,
    /// Steps of those.
    steps: usize,
    terms: FxHashSet<(ReadId, DefinitionId)>,
    outcomes: FxHashSet<OutcomeKey>,
    bad: BadEnds<()>,
}

impl<'a> Samples<'a> {
    pub(crate) fn new(machine: &'a Machine, query: &Query<'_>) -> Samples<'a> {
        let found = Found {
            machine,
            ends: query.ends,
            kept: Vec::new(),
            steps: 0,
            terms: FxHashSet::default(),
            outcomes: FxHashSet::default(),
            bad: BadEnds::default(),
        };
        let (seeds, dive) = (Seeds::default(), Dive::new(machine));
        Samples { machine, found, tables: Tables::new(), seeds, dive, executions: 0 }
    }

    /// Uses up a share, as [`max_work`](cssame_budget::Limits::max_work) says.
    pub(crate) fn run(&mut self, budget: &Budget<'_>) {
        let Samples { machine, found, tables, seeds, dive, executions } = self;
        let work = budget.limits().max_work.unwrap_or(0) / 2;
        let left = budget.limits().max_executions.unwrap_or(u64::MAX).saturating_sub(*executions);
        let share =
            |left| budget.share(Limits { max_work: Some(work), max_executions: Some(left), ..Limits::default() });
        let by_seeds = seeds.run(machine, tables, &share(left.div_ceil(2)), &mut |sample| found.note(sample));
        let by_dive = dive.run(tables, &share(left - by_seeds), &mut |sample| found.note(sample));
        *executions += by_seeds + by_dive;
    }

    /// Adds what was found, and other executions, to an answer that a bound has cut. Where the time was up before the first share,
    /// there is a moment left for it.
    pub(crate) fn add_to(mut self, query: &Query<'_>, others: &[Vec<Choice>], answer: &mut Answer) {
        if self.executions == 0 && answer.bound == Some(Bound::Timeout) {
            let limits = Limits { max_work: Some(LAST_SHARE), ..Limits::default() };
            self.run(&Budget::from(limits).with_timeout(LAST_MOMENT));
        }
        add_executions(self.machine, query, self.found.kept.iter().chain(others), answer);
        answer.statistics.executions += self.executions;
    }
}

/// Adds what executions show to an answer that does not have it.
pub(crate) fn add_executions<'s>(
    machine: &Machine,
    query: &Query<'_>,
    executions: impl Iterator<Item = &'s Vec<Choice>>,
    answer: &mut Answer,
) {
    let mut addition = Addition::new(machine, query, answer);
    executions.for_each(|steps| addition.add(steps));
    addition.finish();
}

impl Found<'_> {
    /// Keeps an execution that shows something new.
    fn note(&mut self, sample: &Sample<'_>) {
        let Sample { tables, state, steps, pairs, end } = *sample;
        let machine = self.machine;
        // What is cut may be discarded later.
        if self.steps >= STEPS || end == SampleEnd::Cut && machine.may_discard() {
            return;
        }
        let mut is_new = false;
        for &pair in pairs {
            is_new |= self.terms.insert(pair);
        }
        if let SampleEnd::Over(end) = end {
            if self.ends == Ends::Outcomes && self.outcomes.len() < OUTCOMES {
                is_new |= self.outcomes.insert((machine.outputs(state, tables), end.into()));
            }
            is_new |= self.bad.note((machine, tables, state), end, || ());
        }
        if is_new {
            self.steps += steps.len();
            self.kept.push(steps.to_vec());
        }
    }
}

/// What an execution reads: with each pair the number of steps before it.
#[derive(Default)]
struct Reads {
    pairs: Vec<((ReadId, DefinitionId), usize)>,
    step: usize,
}

impl Observer for Reads {
    const DETAILS: bool = false;

    fn event(&mut self, _: ThreadName, _: CodeIndex, event: Event) {
        if let Event::Read { read, writer: Some(definition), .. } = event {
            self.pairs.push(((read, definition), self.step));
        }
    }
}

/// Adds executions to an answer.
struct Addition<'s> {
    machine: &'s Machine,
    query: &'s Query<'s>,
    answer: &'s mut Answer,
    terms: FxHashSet<(ReadId, DefinitionId)>,
    outcomes: FxHashSet<OutcomeKey>,
    bad: BadEnds<Vec<Choice>>,
    /// Steps of terms that may still be kept.
    left: usize,
}

impl<'s> Addition<'s> {
    fn new(machine: &'s Machine, query: &'s Query<'s>, answer: &'s mut Answer) -> Addition<'s> {
        let known_steps: usize = answer.terms.iter().filter_map(|term| term.schedule.as_ref()).map(Vec::len).sum();
        Addition {
            machine,
            query,
            terms: answer.terms.iter().map(|term| (term.read, term.definition)).collect(),
            outcomes: answer.outcomes.iter().map(|outcome| (outcome.outputs.clone(), outcome.status)).collect(),
            bad: BadEnds::take(machine, (&mut answer.failures, &mut answer.deadlocks)),
            answer,
            left: MAX_TERM_STEPS.saturating_sub(known_steps),
        }
    }

    /// Does an execution again, and adds what the answer does not have.
    fn add(&mut self, steps: &[Choice]) {
        let Addition { machine, answer, .. } = self;
        let mut reads = Reads::default();
        let mut walk = Walk::new(machine, &mut answer.tables, &mut reads);
        // What main does before its first step is shown by any execution.
        reads.pairs.iter_mut().for_each(|(_, step)| *step = steps.len());
        for (number, &choice) in steps.iter().enumerate() {
            reads.step = number;
            if walk.step(choice, &mut reads).is_err() {
                return;
            }
        }
        let (progress, state) = (walk.progress(), walk.into_state());
        answer.threads = answer.threads.max(state.thread_count());
        self.add_terms(&reads, steps);
        let Some(end) = End::of(self.machine, &state, progress) else { return };
        self.bad.note((self.machine, &self.answer.tables, &state), end, || steps.to_vec());
        self.add_outcome(&state, end, steps);
    }

    fn add_terms(&mut self, reads: &Reads, steps: &[Choice]) {
        for &((read, definition), step) in &reads.pairs {
            if !self.terms.insert((read, definition)) {
                continue;
            }
            let is_whole = self.query.schedules == TermSchedules::WholeExecutions;
            let shown = if is_whole { steps.len() } else { (step + 1).min(steps.len()) };
            let schedule = (self.left > 0).then(|| steps[..shown].to_vec());
            self.left = self.left.saturating_sub(shown);
            self.answer.terms.push(Term { read, definition, schedule, step });
        }
    }

    fn add_outcome(&mut self, state: &State, end: End, steps: &[Choice]) {
        if self.query.ends != Ends::Outcomes {
            return;
        }
        let (outputs, status) = (self.machine.outputs(state, &self.answer.tables), OutcomeStatus::from(end));
        if self.outcomes.insert((outputs.clone(), status)) {
            let (failure, schedule) = (end.failure(), Some(steps.to_vec()));
            self.answer.outcomes.push(Outcome { outputs, status, failure, schedule });
        }
    }

    /// Brings everything into the order that answers have.
    fn finish(self) {
        let Addition { machine, answer, terms, bad, .. } = self;
        answer.terms.sort_by_key(|term| (term.read, term.definition));
        answer.undecided.retain(|pair| !terms.contains(pair));
        outcomes::sort(&answer.tables, &mut answer.outcomes);
        (answer.failures, answer.deadlocks) = bad.lists(machine, |schedule| schedule);
        answer.deadlocks.sort_by_key(|deadlock| deadlock.schedule.len());
    }
}

#[cfg(test)]
mod tests;
