//! What can happen, from one execution of each future.
//!
//! In: a machine that [`reads_from`] can explore, and bounds. Out: the same [`Answer`] that a search through all states
//! gives: what a read sees, and what a thread prints, is the same in all executions of a future. There are no failures and no
//! deadlocks: a program that has one is refused. An execution that shows something new is run again to see at which step.

use super::futures::{Answer, Outcome, OutcomeStatus, Query, Term, sort_outcomes};
use super::limits::{Limits, Progress};
use super::reads_from::{self, Execution, Refusal};
use crate::ir::{DefinitionId, ReadId};
use crate::vm::{Choice, CodeIndex, Event, Machine, Observer, OutputId, PathId, Tables, ThreadIndex};
use rustc_hash::FxHashMap;
use std::ops::ControlFlow;

/// The reads of a step.
#[derive(Default)]
struct Reads(Vec<(ReadId, DefinitionId)>);

impl Observer for Reads {
    fn event(&mut self, _: ThreadIndex, _: CodeIndex, event: Event) {
        if let Event::Read { read, writer: Some(definition), .. } = event {
            self.0.push((read, definition));
        }
    }
}

/// Collects what executions show.
#[derive(Default)]
struct Collector {
    whole_executions: bool,
    terms: FxHashMap<(ReadId, DefinitionId), (Vec<Choice>, usize)>,
    outcomes: FxHashMap<Vec<(PathId, OutputId)>, Vec<Choice>>,
}

impl Collector {
    fn collect(&mut self, execution: &Execution<'_>) {
        let Execution { machine, tables, state, choices, pairs } = *execution;
        // What only executions that were discarded have read does not count.
        if machine.may_discard() || pairs.iter().any(|pair| !self.terms.contains_key(pair)) {
            self.repeat(machine, choices);
        }
        self.outcomes.entry(machine.outputs(state, tables)).or_insert_with(|| choices.to_vec());
    }

    /// Runs an execution again, and notes what is new.
    fn repeat(&mut self, machine: &Machine, choices: &[Choice]) {
        let (mut tables, mut reads) = (Tables::new(), Reads::default());
        let mut state = machine.start(&mut tables, &mut reads);
        self.note(&reads, choices, choices.len());
        for (step, &choice) in choices.iter().enumerate() {
            reads.0.clear();
            machine.step(&mut state, &mut tables, choice, &mut reads);
            self.note(&reads, choices, step);
        }
    }

    /// Notes the reads of a step.
    fn note(&mut self, reads: &Reads, choices: &[Choice], step: usize) {
        for &pair in &reads.0 {
            let shown = (step + 1).min(choices.len());
            let kept = if self.whole_executions { choices.len() } else { shown };
            let (schedule, at) = self.terms.entry(pair).or_default();
            // What main does before its first step is shown by any execution.
            if schedule.is_empty() || step < *at && *at < schedule.len() {
                schedule.clear();
                schedule.extend_from_slice(&choices[..kept]);
                *at = step;
            }
        }
    }
}

/// Finds out what can happen by one execution of each future.
///
/// # Errors
///
/// A program that cannot be explored in this way.
pub fn by_executions(
    machine: &Machine,
    query: &Query,
    limits: &Limits,
    progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> Result<Answer, Refusal> {
    let mut collector = Collector { whole_executions: query.whole_executions, ..Collector::default() };
    let found = reads_from::enumerate(machine, limits, progress, &mut |execution| {
        collector.collect(execution);
        ControlFlow::Continue(())
    })?;
    let Collector { terms, outcomes, .. } = collector;
    let mut terms: Vec<Term> = terms
        .into_iter()
        .map(|((read, definition), (schedule, step))| Term { read, definition, schedule, step })
        .collect();
    terms.sort_by_key(|term| (term.read, term.definition));
    let mut outcomes: Vec<Outcome> = outcomes
        .into_iter()
        .map(|(outputs, schedule)| Outcome { outputs, status: OutcomeStatus::Ok, failure: None, schedule })
        .collect();
    sort_outcomes(&found.tables, &mut outcomes);
    Ok(Answer {
        bound: found.bound,
        progress: found.progress,
        terms,
        undecided: Vec::new(),
        outcomes,
        failures: Vec::new(),
        deadlocks: Vec::new(),
        open: Vec::new(),
        tables: found.tables,
    })
}
