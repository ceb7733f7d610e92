//! Transfers a recorded execution of one program to another one.
//!
//! **Input**: a schedule of the old program, the new program, and an [`Alignment`] of their texts. **Output**: [`CarriedReport`]:
//! an execution of the new program that follows the schedule as far as it fits, and the fate of each step.
//!
//! **Algorithm**: for each step of the schedule, in order:
//! 1. A step whose place no longer exists is dropped.
//! 2. If its thread stands before an operation that the old program does not have, the thread executes that operation first.
//! 3. If the thread stands at the place of the step, and can move, the step is executed. Otherwise the schedule ends here with
//!    the reason: the thread is blocked, stands elsewhere, has ended, or does not exist.
//!
//! After that the threads move in turn, until the execution ends.
//!
//! **Soundness and limits**: the execution belongs to the new program, whatever was matched. Operations of both programs are
//! never left out, and never executed earlier than the schedule says.

use super::align::Alignment;
use super::programs::step_text;
use cssame_explore::report::{ThreadOutput, thread_outputs};
use cssame_model::Model;
use cssame_schedule as schedule;
use cssame_schedule::{Decision, Naming, Policy, RoundRobin, Schedule, Step, Then, View};
use cssame_source::Position;
use cssame_vm::{Choice, Move, ThreadStatus};
use serde::Serialize;
use std::collections::BTreeSet;

/// Steps after which an execution is stopped.
pub(super) const MAX_STEPS: u64 = 100_000;

/// What has become of a recorded execution.
#[derive(Clone, Debug, Serialize)]
pub struct CarriedReport {
    /// Steps of the recorded schedule.
    pub recorded: usize,
    /// How many of them were done, in their order.
    pub kept: usize,
    /// Steps of operations that the old program does not have.
    pub added: Vec<Step>,
    /// Steps of operations that the new program does not have.
    pub dropped: Vec<Step>,
    /// Why the schedule does not fit further, where it does not.
    pub stopped: Option<String>,
    /// How the recorded execution ends in the old program.
    pub before: String,
    /// How the execution ends in the new one.
    pub after: &'static str,
    /// What the program says when it fails there.
    pub message: Option<String>,
    /// What it prints, thread by thread.
    pub by_thread: Vec<ThreadOutput>,
    /// The execution of the new program.
    pub schedule: Vec<Step>,
}

/// Follows a schedule as far as it fits.
struct Carry<'a> {
    naming: Naming<'a>,
    alignment: &'a Alignment,
    /// Places of the new text that are places of the old one.
    known: BTreeSet<String>,
    steps: &'a [Step],
    next: usize,
    report: CarriedReport,
}

/// Carries a schedule over.
pub(super) fn carry(schedule: &Schedule, before: &str, new: &Model, alignment: &Alignment) -> CarriedReport {
    let naming = new.naming();
    let report = CarriedReport {
        recorded: schedule.steps.len(),
        kept: 0,
        added: Vec::new(),
        dropped: Vec::new(),
        stopped: None,
        before: before.to_owned(),
        after: "",
        message: None,
        by_thread: Vec::new(),
        schedule: Vec::new(),
    };
    let known = alignment.targets().map(|place| place.to_string()).collect();
    let mut carry = Carry { naming, alignment, known, steps: &schedule.steps, next: 0, report };
    let machine = new.machine();
    let done = schedule::run(machine, &mut Then::new(&mut carry, RoundRobin::default()), MAX_STEPS, &mut ());
    let mut report = carry.report;
    report.after = done.status.word();
    if let schedule::ExecutionStatus::Failed(failure) = &done.status {
        report.message = Some(naming.failure_message(failure));
    }
    report.by_thread = thread_outputs(machine, &done.tables, &done.outputs(machine));
    report.schedule = naming.steps(&done.steps);
    report
}

impl Carry<'_> {
    fn stop(&mut self, why: String) -> Decision {
        let step = &self.steps[self.next];
        self.report.stopped = Some(format!("step {}, {}: {why}", self.next + 1, step_text(step)));
        self.next = self.steps.len();
        Decision::Done
    }
}

fn position(text: &str) -> Option<Position> {
    Position::parse(text).map(|(_, position)| position)
}

impl Policy for Carry<'_> {
    fn choose(&mut self, view: &View<'_>, moves: &[Move]) -> Decision {
        let View { machine, tables, state } = *view;
        while let Some(step) = self.steps.get(self.next) {
            let place = position(&step.at).and_then(|at| self.alignment.position(at));
            let thread = self.alignment.name(&step.thread);
            let (Some(place), Some(name)) = (place, thread) else {
                self.report.dropped.push(step.clone());
                self.next += 1;
                continue;
            };
            let named = |thread: &cssame_vm::ThreadIndex| machine.path_name(tables, state.path(*thread)) == name;
            let Some(thread) = state.threads().find(named) else {
                return self.stop(format!("there is no thread {name}"));
            };
            if state.status(thread) == ThreadStatus::Ended {
                return self.stop(format!("{name} has ended"));
            }
            let alternatives = moves.iter().find(|one| one.thread == thread).map_or(0, |one| one.alternatives);
            let first = Choice { thread, alternative: 0 };
            let here = self.naming.step(state, tables, first, alternatives);
            let is_there = here.at == place.to_string() && same_operation(&here.op, &step.op);
            if !is_there && self.known.contains(&here.at) {
                return self.stop(format!("{name} stands before {} at {}", here.op, here.at));
            }
            if alternatives == 0 {
                return self.stop(format!("{name} is blocked before {} at {}", here.op, here.at));
            }
            if !is_there {
                self.report.added.push(here);
                return Decision::Step(first);
            }
            self.report.kept += 1;
            self.next += 1;
            let alternative = step.alternative.unwrap_or(0).min(alternatives - 1);
            return Decision::Step(Choice { thread, alternative });
        }
        Decision::Done
    }
}

/// Whether two operations are of one kind: `read x` and `read y` are where `x` was renamed.
fn same_operation(one: &str, other: &str) -> bool {
    one.split(' ').next() == other.split(' ').next()
}
