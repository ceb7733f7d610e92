//! Executions that begin alike, done again.
//!
//! In: one schedule after the other. Out: the state behind what each has in common with the one before, and how many steps that
//! takes. Schedules of one search begin alike, and where a program forks a thousand threads, its first step is as long as all
//! others together.

use crate::vm::{Choice, Machine, Progress, State, Tables};

/// Does schedules again, one after the other.
pub struct Again<'a> {
    machine: &'a Machine,
    /// The names and outputs of all of them.
    pub tables: Tables,
    /// The schedule before.
    before: Vec<Choice>,
    /// How many of its steps have led to the state.
    done: usize,
    state: State,
    /// Whether the execution has ended with them.
    is_over: bool,
}

impl<'a> Again<'a> {
    /// Before the first schedule.
    #[must_use]
    pub fn new(machine: &'a Machine) -> Again<'a> {
        let mut tables = Tables::new();
        let state = machine.initial(&mut tables);
        Again { machine, tables, before: Vec::new(), done: 0, state, is_over: false }
    }

    /// Does the steps that a schedule has in common with the one before, as far as they can be done; gives their number.
    pub fn resume(&mut self, schedule: &[Choice]) -> usize {
        let common = schedule.iter().zip(&self.before).take_while(|(one, other)| one == other).count();
        if self.done > common {
            self.state = self.machine.initial(&mut self.tables);
            (self.done, self.is_over) = (0, false);
        }
        while self.done < common && !self.is_over {
            let choice = schedule[self.done];
            if self.machine.alternatives_of(&self.state, choice.thread) == 0 {
                break;
            }
            let progress = self.machine.step(&mut self.state, &mut self.tables, choice, &mut ());
            self.is_over = progress != Progress::Running;
            self.done += 1;
        }
        self.before.clear();
        self.before.extend_from_slice(schedule);
        self.done
    }

    /// The state behind these steps.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Whether the execution has ended with them.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.is_over
    }
}
