//! One execution under a policy.
//!
//! **Input**: a machine, a policy, a bound on the number of steps, an observer.
//!
//! **Output**: the kind of end of the execution, its steps, and its last state.
//!
//! **Algorithm**. While a thread can move and the bound allows another step, the policy chooses one.
//!
//! **Soundness and limits**. An execution beyond the bound is cut, and reports this; it may have no end at all.

use super::policy::{Decision, Policy, View};
use cssame_vm::{
    Choice, CodeIndex, Event, Failure, Machine, Move, Observer, OutputId, PathId, Progress, State, Tables, ThreadName,
};

/// How an execution has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExecutionStatus {
    /// All threads have ended.
    Ok,
    /// The program has failed.
    Failed(Failure),
    /// No thread can move, and some has not ended.
    Deadlock,
    /// An assumption does not hold: this execution counts for nothing.
    Discarded,
    /// It was not over after as many steps as were allowed.
    StepLimit,
    /// The policy did not want to go on.
    Stopped,
}

impl ExecutionStatus {
    /// The word for an execution that is known to go on for ever, which none that was made can be.
    pub const ENDLESS: &str = "endless";

    /// The word that users read.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            ExecutionStatus::Ok => "ok",
            ExecutionStatus::Failed(failure) => failure.kind.status(),
            ExecutionStatus::Deadlock => "deadlock",
            ExecutionStatus::Discarded => "discarded",
            ExecutionStatus::StepLimit => "step-limit",
            ExecutionStatus::Stopped => "stopped",
        }
    }

    /// Whether a user would want to know: a failure or a deadlock.
    #[must_use]
    pub fn is_bad(&self) -> bool {
        matches!(self, ExecutionStatus::Failed(_) | ExecutionStatus::Deadlock)
    }
}

/// An execution.
#[derive(Clone, Debug)]
pub struct Execution {
    /// How it has ended.
    pub status: ExecutionStatus,
    /// Its steps.
    pub steps: Vec<Choice>,
    /// The state in which it has ended.
    pub state: State,
    /// Names of threads, and outputs.
    pub tables: Tables,
}

impl Execution {
    /// What the threads have printed, in the order of threads.
    #[must_use]
    pub fn outputs(&self, machine: &Machine) -> Vec<(PathId, OutputId)> {
        machine.outputs(&self.state, &self.tables)
    }

    /// All printed lines, grouped by thread in the order of threads.
    #[must_use]
    pub fn lines(&self, machine: &Machine) -> Vec<String> {
        let outputs = self.outputs(machine);
        let lines = outputs.iter().flat_map(|&(_, output)| self.tables.lines(output));
        lines.map(str::to_owned).collect()
    }
}

/// Runs a program from its beginning, for at most `max_steps` steps.
pub fn run<O: Observer>(machine: &Machine, policy: &mut impl Policy, max_steps: u64, observer: &mut O) -> Execution {
    let mut room = Room::default();
    let status = room.run(machine, policy, max_steps, observer);
    let Room { steps, state, tables, .. } = room;
    Execution { status, steps, state, tables }
}

/// As [`run`], with names of threads that are known: equal names have equal ids in all executions of one session.
pub fn run_named<O: Observer>(
    machine: &Machine,
    policy: &mut impl Policy,
    max_steps: u64,
    observer: &mut O,
    tables: Tables,
) -> Execution {
    let mut room = Room { tables, ..Room::default() };
    let status = room.run(machine, policy, max_steps, observer);
    let Room { steps, state, tables, .. } = room;
    Execution { status, steps, state, tables }
}

/// Room for one execution after the other: what one has allocated, the next one uses.
///
/// Cores have a room each, side by side, and write to it with every step: no two of them share a cache line.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct Room {
    pub steps: Vec<Choice>,
    pub state: State,
    pub tables: Tables,
    moves: Vec<Move>,
}

impl Room {
    /// As [`run`]; steps, state and tables are those of this execution then.
    pub(super) fn run<P: Policy, O: Observer>(
        &mut self,
        machine: &Machine,
        policy: &mut P,
        max_steps: u64,
        observer: &mut O,
    ) -> ExecutionStatus {
        let Room { steps, state, tables, moves } = self;
        steps.clear();
        machine.restart(state, tables, &mut (PolicyEvents(policy), &mut *observer));
        machine.moves(state, moves);
        loop {
            if moves.is_empty() {
                return if machine.is_finished(state) { ExecutionStatus::Ok } else { ExecutionStatus::Deadlock };
            }
            if steps.len() as u64 >= max_steps {
                return ExecutionStatus::StepLimit;
            }
            let Decision::Step(choice) = policy.choose(&View { machine, tables, state }, moves) else {
                return ExecutionStatus::Stopped;
            };
            steps.push(choice);
            let is_plain = machine.is_plain_access(state, choice.thread);
            match machine.step(state, tables, choice, &mut (PolicyEvents(policy), &mut *observer)) {
                Progress::Running if is_plain => machine.moves_behind_access(state, choice.thread, moves),
                Progress::Running => machine.moves(state, moves),
                Progress::Finished => return ExecutionStatus::Ok,
                Progress::Failed(failure) => return ExecutionStatus::Failed(failure),
                Progress::Discarded => return ExecutionStatus::Discarded,
            }
        }
    }
}

/// Passes events on to a policy that wants them.
struct PolicyEvents<'a, P>(&'a mut P);

impl<P: Policy> Observer for PolicyEvents<'_, P> {
    const ACTIVE: bool = P::OBSERVES;
    const DETAILS: bool = P::OBSERVES;

    #[inline(always)]
    fn event(&mut self, thread: ThreadName, at: CodeIndex, event: Event) {
        self.0.event(thread, at, event);
    }
}
