//! Finds executions of some classes, if there are too many to run one of each.
//!
//! **Input**: a machine, and the threads that may move; the known classes. **Output**: executions of other classes.
//!
//! **Algorithm**: executions whose steps are drawn at random, with fixed seeds. An execution of a new class is kept.
//!
//! **Soundness and limits**: executions that have not ended after [`STEPS`] steps are left out. All executions together have
//! [`STEPS_OF_ALL`] steps.

use super::course::{Course, History};
use super::found::{Found, class_of};
use super::operations::Operations;
use super::scope::Scope;
use cssame_budget::Budget;
use cssame_explore::frame::{End, Monitor};
use cssame_schedule::Random;
use cssame_vm::{Choice, Machine, Move, Progress, State, Tables};

/// Steps of one execution.
const STEPS: usize = 10_000;

/// Steps of all of them together.
const STEPS_OF_ALL: usize = 2_000_000;

/// Adds executions of other classes, of that many executions.
pub(super) fn sample(
    machine: &Machine,
    tables: &Tables,
    (operations, scope): (&Operations, &Scope),
    budget: &Budget<'_>,
    (found, tries): (&mut Found, usize),
) {
    let mut tables = tables.clone();
    let mut steps = 0;
    for seed in 0..tries as u64 {
        if steps >= STEPS_OF_ALL || budget.check().is_some() {
            return;
        }
        let mut course = Course::new(operations, scope, Some(History::default()));
        let state = machine.start(&mut tables, &mut course);
        let mut run = Run { machine, tables: &mut tables, state, course, schedule: Vec::new() };
        let end = run.run_to_end(&mut Random::new(seed));
        steps += run.schedule.len();
        if let Some(end) = end {
            found.enter(class_of(machine, &run.course, end, &run.state), || run.schedule);
        }
    }
}

struct Run<'a> {
    machine: &'a Machine,
    tables: &'a mut Tables,
    state: State,
    course: Course<'a>,
    schedule: Vec<Choice>,
}

impl Run<'_> {
    /// Goes on until the execution ends; none where it is discarded, or too long.
    fn run_to_end(&mut self, random: &mut Random) -> Option<End> {
        if self.machine.is_finished(&self.state) {
            return Some(End::Finished);
        }
        let mut moves = Vec::new();
        for _ in 0..STEPS {
            self.machine.moves(&self.state, &mut moves);
            self.course.restrict(&self.state, &mut moves);
            if moves.is_empty() {
                return Some(End::Deadlock);
            }
            let Move { thread, alternatives } = moves[random.below(moves.len() as u32) as usize];
            let choice = Choice { thread, alternative: random.below(alternatives) };
            self.schedule.push(choice);
            match self.machine.step(&mut self.state, self.tables, choice, &mut self.course) {
                Progress::Running => {}
                Progress::Finished => return Some(End::Finished),
                Progress::Failed(failure) => return Some(End::Failed(failure)),
                Progress::Discarded => return None,
            }
        }
        None
    }
}
