//! The answer of `run`: one execution, by a seed or by a recorded schedule.

use cssame_explore::report::{BlockedReport, CycleReport, RoundReport, ThreadOutput, blocked_reports, thread_outputs};
use cssame_explore::{Fairness, SeenCycle, cycle_in, returns};
use cssame_model::Model;
use cssame_schedule as schedule;
use cssame_schedule::{
    Departure, Execution, ExecutionStatus, Random, Schedule, Scheduler, Scripted, Step, Then, Trace,
};
use cssame_vm::Choice;
use serde::Serialize;

/// What determines an execution.
#[derive(Clone, Copy, Debug)]
pub enum Course<'a> {
    /// A policy chooses the order of the threads.
    Seeded {
        /// Which.
        scheduler: Scheduler,
        /// Determines what it chooses.
        seed: u64,
    },
    /// A recorded schedule is followed, and the execution stops at its end.
    Recorded(&'a Schedule),
    /// A recorded schedule is followed; from its end on the order is random.
    RecordedThenRandom(&'a Schedule, u64),
}

/// Which execution is asked for.
#[derive(Clone, Copy, Debug)]
pub struct RunRequest<'a> {
    /// What determines it.
    pub course: Course<'a>,
    /// Steps after which it is stopped.
    pub max_steps: u64,
}

/// Steps of an execution where nobody says how many.
const MAX_STEPS: u64 = 1_000_000;

impl Default for RunRequest<'_> {
    /// The random execution of seed 0.
    fn default() -> Self {
        let course = Course::Seeded { scheduler: Scheduler::Random, seed: 0 };
        RunRequest { course, max_steps: MAX_STEPS }
    }
}

/// An execution with names.
#[derive(Clone, Debug, Serialize)]
pub struct RunReport {
    /// `ok`, `assert`, `deadlock`, …
    pub status: &'static str,
    /// The seed that determined the execution, or its part behind the schedule.
    pub seed: Option<u64>,
    /// What the program says when it fails.
    pub message: Option<String>,
    /// The line at which it fails.
    pub line: Option<u32>,
    /// The values that the failure comes from: `x is 1`.
    pub facts: Vec<String>,
    /// All printed lines, grouped by thread.
    pub output: Vec<String>,
    /// The same, thread by thread.
    pub by_thread: Vec<ThreadOutput>,
    /// The threads of a deadlock.
    pub blocked: Vec<BlockedReport>,
    /// Of an execution that may go on so for ever: the cycle that its last steps are.
    pub cycle: Option<RunCycle>,
    /// What happens, with columns for threads.
    #[serde(flatten)]
    pub trace: Trace,
    /// The steps.
    pub schedule: Vec<Step>,
}

/// A cycle in which an execution may go on for ever: its last steps lead back to the state in which they began.
#[derive(Clone, Debug, Serialize)]
pub struct RunCycle {
    /// The number of steps before it.
    pub start: usize,
    /// Who goes round in it.
    pub threads: Vec<RoundReport>,
    /// Who does not move in it, and what for.
    pub waiting: Vec<BlockedReport>,
    /// The same with its steps.
    #[serde(skip)]
    pub report: CycleReport,
}

/// An execution; it serialises as [`RunReport`].
#[derive(Clone, Debug, Serialize)]
pub struct RunAnswer {
    /// With names.
    #[serde(flatten)]
    pub report: RunReport,
    /// As the machine has done it.
    #[serde(skip)]
    pub execution: Execution,
    /// Where the program has departed from the schedule.
    #[serde(skip)]
    pub departure: Option<Departure>,
}

impl Course<'_> {
    /// The recorded schedule.
    #[must_use]
    pub fn schedule(&self) -> Option<&Schedule> {
        match self {
            Course::Seeded { .. } => None,
            Course::Recorded(schedule) | Course::RecordedThenRandom(schedule, _) => Some(schedule),
        }
    }

    fn seed(&self) -> Option<u64> {
        match *self {
            Course::Seeded { seed, .. } | Course::RecordedThenRandom(_, seed) => Some(seed),
            Course::Recorded(_) => None,
        }
    }
}

/// Executes a program once.
#[must_use]
pub fn run(model: &Model, request: &RunRequest<'_>) -> RunAnswer {
    let (execution, departure) = execute(model, request);
    let (execution, cycle) = going_round(model, request, execution);
    let report = report(model, request, &execution, cycle);
    RunAnswer { report, execution, departure }
}

impl RunAnswer {
    /// The schedule file of the execution.
    #[must_use]
    pub fn schedule(&self, model: &Model) -> Schedule {
        let schedule = model.schedule(self.report.schedule.clone(), self.report.status);
        let cycle = self.report.cycle.as_ref().map(|cycle| cycle.start);
        Schedule { seed: self.report.seed, cycle, ..schedule }
    }
}

/// The execution, and where it departs from the schedule.
fn execute(model: &Model, request: &RunRequest<'_>) -> (Execution, Option<Departure>) {
    let (machine, max_steps) = (model.machine(), request.max_steps);
    let (schedule, seed) = match request.course {
        Course::Seeded { scheduler, seed } => {
            return (schedule::run(machine, &mut scheduler.policy(seed), max_steps, &mut ()), None);
        }
        Course::Recorded(schedule) => (schedule, None),
        Course::RecordedThenRandom(schedule, seed) => (schedule, Some(seed)),
    };
    let mut replay = model.replay(schedule);
    let execution = match seed {
        None => schedule::run(machine, &mut replay, max_steps, &mut ()),
        Some(seed) => schedule::run(machine, &mut Then::new(&mut replay, Random::new(seed)), max_steps, &mut ()),
    };
    let departure = replay.departure_of(&execution.status, schedule.status.as_deref());
    (execution, departure)
}

/// Of an execution that is not over: the one that goes into a cycle of states that it has visited, where it has visited one; and where
/// the cycle begins. A recorded cycle counts if it leads back to where it began.
fn going_round(model: &Model, request: &RunRequest<'_>, execution: Execution) -> (Execution, Option<usize>) {
    let machine = model.machine();
    match &execution.status {
        ExecutionStatus::Stopped => {
            let start = request.course.schedule().and_then(|schedule| schedule.cycle);
            let start = start.filter(|&start| returns(machine, &execution.steps, start));
            (execution, start)
        }
        ExecutionStatus::StepLimit => {
            let Some(SeenCycle { start, cycle }) = cycle_in(machine, &execution.steps, Fairness::default()) else {
                return (execution, None);
            };
            let steps: Vec<Choice> = execution.steps[..start].iter().chain(&cycle).copied().collect();
            let mut along = Scripted::new(&steps);
            (schedule::run(machine, &mut along, steps.len() as u64, &mut ()), Some(start))
        }
        _ => (execution, None),
    }
}

fn report(model: &Model, request: &RunRequest<'_>, execution: &Execution, cycle: Option<usize>) -> RunReport {
    let naming = model.naming();
    let machine = naming.machine;
    let failure = match &execution.status {
        ExecutionStatus::Failed(failure) => Some(*failure),
        _ => None,
    };
    RunReport {
        status: if cycle.is_some() { ExecutionStatus::ENDLESS } else { execution.status.word() },
        seed: request.course.seed(),
        message: failure.map(|failure| naming.failure_message(&failure)),
        line: failure.map(|failure| naming.sources.line(machine.span(failure.at))),
        facts: failure.map_or_else(Vec::new, |failure| schedule::facts(&naming, &failure, &execution.steps)),
        output: execution.lines(machine),
        by_thread: thread_outputs(machine, &execution.tables, &execution.outputs(machine)),
        blocked: match execution.status {
            ExecutionStatus::Deadlock => blocked_reports(&naming, &execution.steps),
            _ => Vec::new(),
        },
        cycle: cycle.map(|start| {
            let report = CycleReport::of(&naming, &execution.steps, start);
            RunCycle { start, threads: report.threads.clone(), waiting: report.waiting.clone(), report }
        }),
        trace: schedule::trace(naming, &execution.steps),
        schedule: naming.steps(&execution.steps),
    }
}
