//! Answers questions that depend only on the values that threads read, with one execution of each future instead of all states.
//!
//! **Input**: a machine and a budget. **Output**: whether executions may be used, and the executions, one after the other.
//!
//! **Algorithm**: a question that depends on the values that threads read (from `paths`, [`races`](mod@super::races)) is first
//! searched with few states, then with the executions of [`reads_from`], one for each future.
//!
//! **Soundness and limits**: two executions with the same reads from the same writers have the same program order, forks and
//! joins. This does not apply if threads synchronise by objects, since then executions that differ only in their order are left
//! out. It also does not apply if an assumption discards executions, or if [`reads_from`] does not serve the program. The number
//! of visited executions is limited to a running time of some seconds.

use crate::reads_from;
use cssame_budget::{Budget, Limits, Statistics};
use cssame_vm::{Choice, Machine};
use std::ops::ControlFlow;

/// How many states are visited before executions are asked.
const FEW_STATES: u64 = 20_000;

/// Executions that are visited at most.
const MOST_EXECUTIONS: u64 = 20_000;

/// States that take as long as an execution that is followed and replayed.
const STATES_OF_EXECUTION: u64 = 25;

/// Whether executions may tell what follows from what threads read.
pub fn may_tell(machine: &Machine) -> bool {
    !machine.synchronises() && !machine.may_discard()
}

/// The part of a budget for the first states, where it allows for more and executions may tell the rest.
pub fn few_states<'b>(machine: &Machine, budget: &'b Budget<'_>) -> Option<Budget<'b>> {
    let has_more = budget.limits().max_states.is_none_or(|most| most > FEW_STATES);
    let few = Limits { max_states: Some(FEW_STATES), ..Limits::default() };
    (has_more && may_tell(machine)).then(|| budget.share(few))
}

/// Visits one execution of each future, of so many steps in all at most; `look` is told its steps, and whether it fails. `None` where
/// that does not tell all: executions may not be asked, are too many, or `look` has had enough.
pub fn visit(
    machine: &Machine,
    budget: &Budget<'_>,
    most_steps: usize,
    look: &mut dyn FnMut(&[Choice], bool) -> ControlFlow<()>,
) -> Option<Statistics> {
    if !may_tell(machine) {
        return None;
    }
    // Who bounds states bounds work.
    let most = budget.limits().max_states.map_or(MOST_EXECUTIONS, |most| most / STATES_OF_EXECUTION);
    let share = budget.share(Limits { max_executions: Some(most.min(MOST_EXECUTIONS)), ..Limits::default() });
    let (mut steps, mut is_cut) = (0, false);
    let found = reads_from::enumerate(machine, &share, &mut |execution| {
        let choices = execution.choices();
        steps += choices.len();
        is_cut = steps > most_steps || look(&choices, execution.failure.is_some()).is_break();
        if is_cut { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    found.ok().filter(|found| found.bound.is_none() && !is_cut).map(|found| found.statistics)
}
