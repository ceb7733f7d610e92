//! Executions by seeds.
//!
//! **Input**: a machine, and a share of work. **Output**: each execution, as a [`Sample`]. **Algorithm**: the schedulers take
//! turns: random, by priorities of operations (POS), by priorities of threads (PCT, for bugs of depth 3, over as many steps as
//! the longest execution so far). The seeds continue where the previous share ended.

use super::{Reads, Sample, SampleEnd};
use crate::states::End;
use cssame_budget::Budget;
use cssame_schedule::{Decision, ExecutionStatus, Policy, Scheduled, Scheduler, View, run_named};
use cssame_vm::{CodeIndex, Event, Machine, Move, Tables, ThreadName, Work};

/// Steps of one execution at most.
const MAX_STEPS: u64 = 1_000_000;

/// Instructions that are as much work as one step.
pub(super) const INSTRUCTIONS_FOR_WORK: u64 = 16;

/// Steps between two looks at the clock.
pub(super) const STEPS_BETWEEN_LOOKS: u64 = 32;

/// The executions so far.
#[derive(Debug, Default)]
pub(super) struct Seeds {
    next: u64,
    /// Steps of the longest one.
    longest: u32,
}

impl Seeds {
    /// Makes executions until the share is used up; gives their number.
    pub(super) fn run(
        &mut self,
        machine: &Machine,
        tables: &mut Tables,
        budget: &Budget<'_>,
        note: &mut dyn FnMut(&Sample<'_>),
    ) -> u64 {
        let limits = budget.limits();
        let (mut work, mut left) = (limits.max_work.unwrap_or(0), limits.max_executions.unwrap_or(u64::MAX));
        let max_steps = limits.max_steps.map_or(MAX_STEPS, |steps| MAX_STEPS.min(steps.into()));
        let mut executions = 0;
        while work > 0 && left > 0 && budget.check().is_none() {
            let mut policy = Clocked { policy: self.scheduler().policy(self.next), budget, steps: 0 };
            let mut watch = (Reads::default(), Work::default());
            let execution = run_named(machine, &mut policy, max_steps.min(work), &mut watch, std::mem::take(tables));
            self.next += 1;
            executions += 1;
            left -= 1;
            let steps = execution.steps.len() as u64;
            self.longest = self.longest.max(u32::try_from(steps).unwrap_or(u32::MAX));
            work = work.saturating_sub(1 + steps + watch.1.0 / INSTRUCTIONS_FOR_WORK);
            let end = match execution.status {
                ExecutionStatus::Ok => Some(SampleEnd::Over(End::Finished)),
                ExecutionStatus::Failed(failure) => Some(SampleEnd::Over(End::Failed(failure))),
                ExecutionStatus::Deadlock => Some(SampleEnd::Over(End::Deadlock)),
                ExecutionStatus::StepLimit | ExecutionStatus::Stopped => Some(SampleEnd::Cut),
                ExecutionStatus::Discarded => None,
            };
            *tables = execution.tables;
            if let Some(end) = end {
                let pairs: Vec<_> = watch.0.pairs.iter().map(|&(pair, _)| pair).collect();
                note(&Sample { tables, state: &execution.state, steps: &execution.steps, pairs: &pairs, end });
            }
        }
        executions
    }

    fn scheduler(&self) -> Scheduler {
        match self.next % 3 {
            0 => Scheduler::Random,
            1 => Scheduler::Pos,
            _ => Scheduler::Pct { depth: 3, steps: self.longest.max(1) },
        }
    }
}

/// A policy that stops when the time is up.
struct Clocked<'a> {
    policy: Scheduled,
    budget: &'a Budget<'a>,
    steps: u64,
}

impl Policy for Clocked<'_> {
    const OBSERVES: bool = <Scheduled as Policy>::OBSERVES;

    fn choose(&mut self, view: &View<'_>, moves: &[Move]) -> Decision {
        self.steps += 1;
        if self.steps.is_multiple_of(STEPS_BETWEEN_LOOKS) && self.budget.check().is_some() {
            return Decision::Stop;
        }
        self.policy.choose(view, moves)
    }

    fn event(&mut self, thread: ThreadName, at: CodeIndex, event: Event) {
        self.policy.event(thread, at, event);
    }
}
