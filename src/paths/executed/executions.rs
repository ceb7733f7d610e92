//! Finds branch outcomes and unprotected pairs with one execution of each future.
//!
//! **Input**: the question, and a budget. **Output**: the answer, if executions provide it.
//!
//! **Algorithm**: visit one execution of each future ([`each_future`]). Replay it under the monitor of the state search, and
//! record the first execution that shows each fact.
//!
//! **Soundness**: executions with the same reads from the same writes evaluate the same branches, make the same accesses, and
//! order them in the same way by forks and joins. All this follows from program order and from the values that threads read. So
//! one of them shows all facts that the others show.
//!
//! **Limits**: the limits of [`each_future`]. Failing executions are excluded: the progress of the other threads then does not
//! follow from the values that threads read.

use super::monitor::{ExecutedMonitor, Fixed};
use super::recorder::{Shown, lists};
use super::{ExecutedAnswer, ExecutedRequest, Note};
use cssame_budget::Budget;
use cssame_explore::frame::Monitor;
use cssame_explore::frame::each_future;
use cssame_ir::Program;
use cssame_schedule::Walk;
use cssame_vm::{Choice, Machine, PathId};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use std::ops::ControlFlow;

/// Steps of all executions together.
const MOST_STEPS: usize = 1_000_000;

/// What executions have shown, the first one that shows each.
#[derive(Default)]
struct Sights {
    shown: IndexMap<Shown, ([PathId; 2], usize), FxBuildHasher>,
    /// Those that were the first to show something.
    executions: Vec<Vec<Choice>>,
}

impl Sights {
    /// Notes of an execution.
    fn take(&mut self, notes: &[Note], choices: &[Choice]) {
        let next = self.executions.len();
        for &note in notes {
            let (shown, threads) = Shown::of(note);
            self.shown.entry(shown).or_insert((threads, next));
        }
        if self.shown.last().is_some_and(|(_, last)| last.1 == next) {
            self.executions.push(choices.to_vec());
        }
    }
}

/// What executions have, by one of each future; `None` where that does not tell, or there are too many.
#[must_use]
pub fn executed_by_executions(
    machine: &Machine,
    program: &Program,
    request: &ExecutedRequest<'_>,
    budget: &Budget<'_>,
) -> Option<ExecutedAnswer> {
    let fixed = Fixed::new(machine, program, request);
    let (mut tables, mut sights) = (request.tables.clone(), Sights::default());
    let statistics = each_future::visit(machine, budget, MOST_STEPS, &mut |choices, fails| {
        if fails {
            return ControlFlow::Break(());
        }
        let (mut monitor, mut notes) = (ExecutedMonitor::new(&fixed), Vec::new());
        let mut walk = Walk::new(machine, &mut tables, &mut monitor);
        notes.extend_from_slice(monitor.notes());
        for &choice in choices {
            let done = walk.step(choice, &mut monitor);
            debug_assert!(done.is_ok(), "an execution that was found can be replayed");
            if done.is_err() {
                return ControlFlow::Break(());
            }
            notes.extend_from_slice(monitor.notes());
            monitor.tidy(machine, walk.state());
        }
        sights.take(&notes, choices);
        ControlFlow::Continue(())
    })?;
    let Sights { shown, executions } = sights;
    let found = shown.into_iter().map(|(shown, (threads, first))| (shown, threads, executions[first].clone()));
    let (outcomes, waits, pairs) = lists(&tables, found);
    let instances_up_to = request.max_instance.max(1);
    Some(ExecutedAnswer { outcomes, pairs, waits, instances_up_to, bound: None, statistics, tables })
}
