//! Finds the possible behaviours with one execution of each future.
//!
//! **Input**: a machine that [`reads_from`] can explore, and a budget. **Output**: the same [`Answer`] as from a search through
//! all states.
//!
//! **Algorithm**: the writes that a read sees, and the output of a thread, are the same in all executions of a future.
//! 1. Visit one execution of each future.
//! 2. If it shows a new term or outcome, repeat it to find the step, and keep it.
//!
//! **Soundness and limits**: the same as for `reads_from`. Failures come after all other threads; other programs are refused.
//! Executions of one future may differ in the holder of the lock at which a thread is blocked, so all of them are checked for
//! deadlocks.

use crate::answer::{Answer, Ends, MAX_TERM_STEPS, Query, Term, TermSchedules};
use crate::question::bad_ends::BadEnds;
use crate::question::outcomes::{Outcomes, Room};
use crate::reads_from::{self, Enumerated, Execution, Refusal};
use crate::states::End;
use cssame_budget::{Bound, Budget};
use cssame_ir::{DefinitionId, ReadId};
use cssame_schedule::Walk;
use cssame_vm::{Choice, CodeIndex, Event, Machine, Observer, Tables, ThreadName};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::ops::ControlFlow;

/// The reads of a step.
#[derive(Default)]
struct Reads(Vec<(ReadId, DefinitionId)>);

impl Observer for Reads {
    const DETAILS: bool = false;

    fn event(&mut self, _: ThreadName, _: CodeIndex, event: Event) {
        if let Event::Read { read, writer: Some(definition), .. } = event {
            self.0.push((read, definition));
        }
    }
}

/// Where something was seen: in which of the executions that were kept, and at which of its steps.
#[derive(Clone, Copy, Debug)]
struct Place {
    execution: u32,
    step: u32,
}

/// Collects what executions show. Long ones show many terms, so they are kept once.
#[derive(Default)]
struct Collector {
    executions: Vec<Vec<Choice>>,
    /// Steps of all of them.
    steps: usize,
    /// Slots of threads in any.
    threads: usize,
    terms: FxHashMap<(ReadId, DefinitionId), Place>,
    outcomes: Outcomes<u32>,
    bad: BadEnds<u32>,
    ends: Ends,
    /// Whether more may not be kept.
    is_full: bool,
}

impl Collector {
    fn new(query: &Query<'_>) -> Collector {
        Collector { ends: query.ends, ..Collector::default() }
    }

    /// Collects what an execution shows; breaks off where more may not be kept.
    fn visit(&mut self, execution: &Execution<'_>, budget: &Budget<'_>) -> ControlFlow<()> {
        self.collect(execution);
        self.is_full = budget.exceeds_memory(execution.bytes + self.bytes());
        if self.is_full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Memory that the executions, the outcomes and the terms take.
    fn bytes(&self) -> u64 {
        let terms = self.terms.capacity() * (size_of::<((ReadId, DefinitionId), Place)>() + 1);
        let executions = self.executions.capacity() * size_of::<Vec<Choice>>();
        (self.steps * size_of::<Choice>() + executions + terms) as u64 + self.bad.bytes() + self.outcomes.bytes()
    }

    fn collect(&mut self, execution: &Execution<'_>) {
        let Execution { machine, tables, state, failure, pairs, .. } = *execution;
        let number = self.executions.len() as u32;
        let end = match failure {
            Some(failure) => End::Failed(failure),
            None if machine.is_finished(state) => End::Finished,
            None => End::Deadlock,
        };
        self.threads = self.threads.max(state.thread_count());
        let mut is_new = false;
        // What only executions that were discarded have read does not count.
        if machine.may_discard() || pairs.iter().any(|pair| !self.terms.contains_key(pair)) {
            is_new = self.repeat(machine, &execution.choices());
        }
        if self.ends == Ends::Outcomes {
            is_new |= self.outcomes.note((machine.outputs(state, tables), end.into()), failure, number);
        }
        is_new |= self.bad.note((machine, tables, state), end, || number);
        if is_new {
            let choices = execution.choices();
            self.steps += choices.len();
            self.executions.push(choices);
        }
    }

    /// Runs an execution again, and notes what is new; whether something was.
    fn repeat(&mut self, machine: &Machine, choices: &[Choice]) -> bool {
        let (mut tables, mut reads) = (Tables::new(), Reads::default());
        let mut walk = Walk::new(machine, &mut tables, &mut reads);
        // What main does before its first step is shown by any execution.
        let mut is_new = self.note(&reads, choices.len());
        for (step, &choice) in choices.iter().enumerate() {
            reads.0.clear();
            let done = walk.step(choice, &mut reads);
            debug_assert!(done.is_ok(), "an execution that was found can be done again");
            is_new |= self.note(&reads, step);
        }
        is_new
    }

    /// Notes the reads of a step; whether one was not seen so early.
    fn note(&mut self, reads: &Reads, step: usize) -> bool {
        let mut is_new = false;
        let place = Place { execution: self.executions.len() as u32, step: step as u32 };
        for &pair in &reads.0 {
            let known = self.terms.entry(pair);
            match known {
                Entry::Vacant(vacant) => {
                    vacant.insert(place);
                    is_new = true;
                }
                Entry::Occupied(mut known) if place.step < known.get().step => {
                    known.insert(place);
                    is_new = true;
                }
                Entry::Occupied(_) => {}
            }
        }
        is_new
    }

    /// All of it, of an enumeration that has come to its end, or to a bound.
    fn answer(self, machine: &Machine, query: &Query<'_>, budget: &Budget<'_>, mut found: Enumerated) -> Answer {
        found.bound = self.is_full.then_some(Bound::Memory).or(found.bound);
        let terms = self.terms(query);
        let Collector { executions, outcomes, bad, threads, .. } = self;
        let schedule = |execution: u32| executions[execution as usize].clone();
        let (failures, mut deadlocks) = bad.lists(machine, schedule);
        deadlocks.sort_by_key(|deadlock| deadlock.schedule.len());
        let (outcomes, is_cut) = outcomes.list(&found.tables, Room::behind(found.bound, budget), schedule);
        Answer {
            bound: found.bound.or(is_cut.then_some(Bound::Memory)),
            all_end: query.ends != Ends::Nothing && found.bound.is_none(),
            // The same executions as those by which futures are counted, where no order of operations on objects matters.
            futures: (query.ends == Ends::Outcomes && found.bound.is_none() && !machine.synchronises())
                .then_some(found.futures),
            statistics: found.statistics,
            finished: None,
            from_slices: false,
            threads,
            terms,
            undecided: Vec::new(),
            outcomes,
            failures,
            deadlocks,
            open: Vec::new(),
            tables: found.tables,
        }
    }

    fn terms(&self, query: &Query<'_>) -> Vec<Term> {
        let mut left = MAX_TERM_STEPS;
        let term = |(&(read, definition), place): (&(ReadId, DefinitionId), &Place)| {
            let choices = &self.executions[place.execution as usize];
            let step = place.step as usize;
            let shown = if query.schedules == TermSchedules::WholeExecutions {
                choices.len()
            } else {
                (step + 1).min(choices.len())
            };
            let schedule = (left > 0).then(|| choices[..shown].to_vec());
            left = left.saturating_sub(shown);
            Term { read, definition, schedule, step }
        };
        let mut found: Vec<_> = self.terms.iter().collect();
        found.sort_unstable_by_key(|&(pair, _)| *pair);
        found.into_iter().map(term).collect()
    }
}

/// Finds out what can happen by one execution of each future.
///
/// # Errors
///
/// A program that cannot be explored in this way.
pub fn by_executions(machine: &Machine, query: &Query<'_>, budget: &Budget<'_>) -> Result<Answer, Refusal> {
    let mut collector = Collector::new(query);
    let found = reads_from::enumerate(machine, budget, &mut |execution| collector.visit(execution, budget))?;
    Ok(collector.answer(machine, query, budget, found))
}
