//! One execution under a policy.
//!
//! In: a machine, a policy, a bound on the steps, an observer. Out: how the execution has ended, and its steps.

use super::policy::{Policy, View};
use super::replay::Departure;
use crate::vm::{Choice, Failure, Machine, Observer, OutputId, PathId, Progress, State, Tables};

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
    /// The program has departed from the schedule.
    Departed(Departure),
}

impl ExecutionStatus {
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
            ExecutionStatus::Departed(_) => "departed",
        }
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
    let mut tables = Tables::new();
    let mut state = machine.start(&mut tables, observer);
    let mut steps = Vec::new();
    let status = follow(machine, policy, max_steps, observer, (&mut state, &mut tables, &mut steps));
    Execution { status, steps, state, tables }
}

fn follow<O: Observer>(
    machine: &Machine,
    policy: &mut impl Policy,
    max_steps: u64,
    observer: &mut O,
    (state, tables, steps): (&mut State, &mut Tables, &mut Vec<Choice>),
) -> ExecutionStatus {
    let mut moves = Vec::new();
    loop {
        machine.moves(state, &mut moves);
        if moves.is_empty() {
            return if machine.is_finished(state) { ExecutionStatus::Ok } else { ExecutionStatus::Deadlock };
        }
        if steps.len() as u64 >= max_steps {
            return ExecutionStatus::StepLimit;
        }
        let choice = match policy.choose(&View { machine, tables, state }, &moves) {
            Ok(Some(choice)) => choice,
            Ok(None) => return ExecutionStatus::Stopped,
            Err(departure) => return ExecutionStatus::Departed(departure),
        };
        steps.push(choice);
        match machine.step(state, tables, choice, observer) {
            Progress::Running => {}
            Progress::Finished => return ExecutionStatus::Ok,
            Progress::Failed(failure) => return ExecutionStatus::Failed(failure),
            Progress::Discarded => return ExecutionStatus::Discarded,
        }
    }
}
