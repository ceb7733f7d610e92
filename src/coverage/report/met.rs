//! Failures and deadlocks with names, and their possible triggers.
//!
//! **Input**: [`Findings`] of a program. **Output**: [`MetReport`]: each failure with the steps of its execution, and some
//! instances of patterns that this execution covers and no successful execution covers.
//!
//! **Algorithm**: a set difference. Instances whose last access was made latest come first: they are nearest to the end.
//!
//! **Soundness and limits**: the difference refers to the executions that were made. It suggests an order as the cause, but
//! proves nothing: if few executions have ended well, it includes harmless orders. If no execution has ended well, or not all
//! beginnings of matches were followed, nothing is reported.

use super::data::{MetReport, SeededDeadlock, SeededFailure, TriggerReport, TriggersReport};
use super::{Findings, Instance, Model, steps_report};
use crate::measure::BadEnd;
use cssame_explore::report::{DeadlockReport, FailureReport};
use cssame_schedule::ExecutionStatus;

/// Instances that are named for a failure at most.
pub const MAX_TRIGGERS: usize = 3;

pub(super) fn met(model: &Model, findings: &Findings) -> MetReport {
    let naming = model.naming();
    let (mut failures, mut deadlocks) = (Vec::new(), Vec::new());
    for (_, origin, end) in &findings.measured.ends {
        let (seed, triggers) = (origin.seed(), triggers(model, findings, end));
        match &end.status {
            ExecutionStatus::Failed(failure) => {
                let thread = end.thread.clone().unwrap_or_default();
                let failure = FailureReport::of(&naming, failure, thread, &end.steps);
                failures.push(SeededFailure { failure, triggers, seed });
            }
            ExecutionStatus::Deadlock => {
                let deadlock = DeadlockReport::of(&naming, &end.steps);
                deadlocks.push(SeededDeadlock { deadlock, triggers, seed });
            }
            _ => {}
        }
    }
    MetReport { failures, deadlocks }
}

/// The instances that this execution covers and none that ends well.
fn triggers(model: &Model, findings: &Findings, end: &BadEnd) -> TriggersReport {
    let measured = &findings.measured;
    if measured.is_cut || !measured.statuses.contains_key(ExecutionStatus::Ok.word()) {
        return TriggersReport::default();
    }
    let own = end.covered.iter().rev().filter(|instance| !measured.passing.contains(instance));
    let own: Vec<&Instance> = own.collect();
    let trigger = |instance: &&Instance| {
        let pattern = instance.pattern.get();
        let mut variables = Vec::new();
        for &access in instance.accesses() {
            let variable = findings.universe.accesses[access].variable;
            let name = &findings.universe.variables[variable].name;
            if !variables.contains(name) {
                variables.push(name.clone());
            }
        }
        let steps = steps_report(model.unit(), findings, instance);
        TriggerReport { pattern: pattern.number, name: pattern.name(), variables, steps }
    };
    let triggers: Vec<TriggerReport> = own.iter().take(MAX_TRIGGERS).map(trigger).collect();
    TriggersReport { triggers_omitted: (own.len() - triggers.len()) as u64, triggers }
}
