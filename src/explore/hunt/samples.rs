//! Executions by priorities of operations, before a search.
//!
//! **Input**: a machine, the number of executions, and a budget. **Output**: their failures and deadlocks, with few switches, and
//! the number of executions.
//!
//! **Soundness and limits**: every finding is real. The seeds are 0, 1, 2, …, so that answers are reproducible.

use super::HuntRequest;
use crate::question::bad_ends::BadEnds;
use crate::states::End;
use cssame_budget::Budget;
use cssame_schedule::{ExecutionStatus, Scheduler, fewer_switches, run_named};
use cssame_vm::{Choice, Machine, Tables, Work};

/// Steps of one execution at most, and of all, and instructions of all: the steps of a program may be long.
const MAX_STEPS: u64 = 20_000;
const ALL_STEPS: u64 = 500_000;
const ALL_INSTRUCTIONS: u64 = 20_000_000;

/// Their part of the time: the search behind them needs most.
const TIME: f64 = 0.25;

/// See the module.
#[derive(Clone, Default)]
pub(super) struct Sampled {
    pub bad: BadEnds<Vec<Choice>>,
    pub executions: u64,
    pub tables: Tables,
}

/// Makes the executions.
pub(super) fn samples(machine: &Machine, request: &HuntRequest, budget: &Budget<'_>) -> Sampled {
    let limits = budget.limits();
    let budget = &budget.with_part_of_time(TIME);
    if request.preemptions.is_some() {
        // They have any number of preemptions.
        return Sampled::default();
    }
    let most = limits.max_executions.map_or(request.samples, |most| most.min(request.samples));
    let max_steps = limits.max_steps.map_or(MAX_STEPS, |steps| MAX_STEPS.min(steps.into()));
    let (mut found, mut left, mut work) = (Sampled::default(), ALL_STEPS, Work::default());
    while found.executions < most && left > 0 && work.0 < ALL_INSTRUCTIONS && budget.check().is_none() {
        let mut policy = Scheduler::Pos.policy(found.executions);
        let tables = std::mem::take(&mut found.tables);
        let execution = run_named(machine, &mut policy, max_steps, &mut work, tables);
        found.tables = execution.tables;
        found.executions += 1;
        left = left.saturating_sub(1 + execution.steps.len() as u64);
        let end = match execution.status {
            ExecutionStatus::Failed(failure) => End::Failed(failure),
            ExecutionStatus::Deadlock => End::Deadlock,
            ExecutionStatus::Ok
            | ExecutionStatus::Discarded
            | ExecutionStatus::StepLimit
            | ExecutionStatus::Stopped => continue,
        };
        let shown =
            || fewer_switches(machine, &execution.steps).map_or_else(|| execution.steps.clone(), |fewer| fewer.steps);
        let is_new = found.bad.note((machine, &found.tables, &execution.state), end, shown);
        if is_new && request.stops_at_first {
            break;
        }
    }
    found
}
