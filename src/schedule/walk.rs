//! Walks: repeat the steps of a schedule under an observer.
//!
//! **Input**: a machine, a list of choices, and an [`Observer`] that receives the events.
//!
//! **Output**: the state after the steps, with access to state and tables between any two of them; or the statement that a choice
//! is not possible where the schedule makes it.
//!
//! **Algorithm**. A [`Walk`] executes one step after the other. [`Walks`] execute many schedules with common beginnings, such as
//! those of one search. They keep the state after the longest prefix that a schedule shares with the previous one, and begin
//! there. If a program forks a thousand threads, its first step takes as long as all others together.
//!
//! **Soundness and limits**. A choice is looked up in the state before it is made, so a walk never leaves the executions of
//! the machine. Except for policies and searches, which find steps by themselves, this is the only caller of
//! [`Machine::step`].

use cssame_vm::{Choice, Machine, Observer, Progress, State, Tables, ThreadIndex};
use std::fmt;

/// A choice that its state does not allow, or that comes after the end of the execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Impossible(pub Choice);

impl fmt::Display for Impossible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Choice { thread, alternative } = self.0;
        write!(f, "alternative {alternative} of thread {} is not possible here", thread.0)
    }
}

impl std::error::Error for Impossible {}

/// An execution whose steps are given one by one.
#[derive(Debug)]
pub struct Walk<'a> {
    machine: &'a Machine,
    tables: &'a mut Tables,
    state: State,
    progress: Progress,
}

impl<'a> Walk<'a> {
    /// Begins where main stands before its first step. The observer is told what main does until then.
    pub fn new(machine: &'a Machine, tables: &'a mut Tables, observer: &mut impl Observer) -> Walk<'a> {
        let state = machine.start(tables, observer);
        let progress = if machine.is_finished(&state) { Progress::Finished } else { Progress::Running };
        Walk { machine, tables, state, progress }
    }

    /// Does a step.
    ///
    /// # Errors
    ///
    /// The state does not allow it, or the execution is over; nothing has happened then.
    pub fn step(&mut self, choice: Choice, observer: &mut impl Observer) -> Result<Progress, Impossible> {
        if choice.alternative >= self.alternatives(choice.thread) {
            return Err(Impossible(choice));
        }
        self.progress = self.machine.step(&mut self.state, self.tables, choice, observer);
        Ok(self.progress)
    }

    /// Does steps, one after the other.
    ///
    /// # Errors
    ///
    /// The first choice that is not possible; those before it are done.
    pub fn follow(&mut self, choices: &[Choice], observer: &mut impl Observer) -> Result<Progress, Impossible> {
        choices.iter().try_for_each(|&choice| self.step(choice, observer).map(|_| ()))?;
        Ok(self.progress)
    }

    /// A walk of its own from here. Both share the tables.
    pub fn branch(&mut self) -> Walk<'_> {
        Walk { machine: self.machine, tables: self.tables, state: self.state.clone(), progress: self.progress }
    }

    /// In how many ways a thread can do its next step; 0 where it cannot, or where there is no such thread.
    #[must_use]
    pub fn alternatives(&self, thread: ThreadIndex) -> u32 {
        if self.is_over() { 0 } else { self.machine.alternatives_of(&self.state, thread) }
    }

    /// The machine.
    #[must_use]
    pub fn machine(&self) -> &'a Machine {
        self.machine
    }

    /// The state behind the steps so far.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The names of threads, and outputs.
    #[must_use]
    pub fn tables(&self) -> &Tables {
        self.tables
    }

    /// The tables, to add names to them.
    pub fn tables_mut(&mut self) -> &mut Tables {
        self.tables
    }

    /// What the last step has led to.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.progress
    }

    /// Whether the execution has ended: no step is possible any more. A deadlock is no such end.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.progress != Progress::Running
    }

    /// The state behind all steps.
    #[must_use]
    pub fn into_state(self) -> State {
        self.state
    }
}

/// Does all steps of a schedule; gives the walk behind them.
///
/// # Errors
///
/// The first choice that is not possible.
pub fn walk<'a>(
    machine: &'a Machine,
    tables: &'a mut Tables,
    choices: &[Choice],
    observer: &mut impl Observer,
) -> Result<Walk<'a>, Impossible> {
    let mut walk = Walk::new(machine, tables, observer);
    walk.follow(choices, observer)?;
    Ok(walk)
}

/// Walks along one schedule after the other, of which most begin as the one before.
#[derive(Debug)]
pub struct Walks<'a> {
    machine: &'a Machine,
    tables: Tables,
    /// The schedule before.
    before: Vec<Choice>,
    /// How many of its steps have led to the state.
    done: usize,
    state: State,
    progress: Progress,
}

impl<'a> Walks<'a> {
    /// Before the first schedule.
    #[must_use]
    pub fn new(machine: &'a Machine) -> Walks<'a> {
        let mut tables = Tables::new();
        let Walk { state, progress, .. } = Walk::new(machine, &mut tables, &mut ());
        Walks { machine, tables, before: Vec::new(), done: 0, state, progress }
    }

    /// A walk along a schedule that has done those of its steps that the schedule before has, too, and how many they are.
    /// Names of threads and outputs are the same in all walks.
    pub fn begin(&mut self, schedule: &[Choice]) -> (usize, Walk<'_>) {
        let common = schedule.iter().zip(&self.before).take_while(|(one, other)| one == other).count();
        if self.done > common {
            let walk = Walk::new(self.machine, &mut self.tables, &mut ());
            (self.done, self.progress, self.state) = (0, walk.progress, walk.state);
        }
        let state = std::mem::take(&mut self.state);
        let mut walk = Walk { machine: self.machine, tables: &mut self.tables, state, progress: self.progress };
        while self.done < common && walk.step(schedule[self.done], &mut ()).is_ok() {
            self.done += 1;
        }
        (self.state, self.progress) = (walk.state, walk.progress);
        self.before.clear();
        self.before.extend_from_slice(schedule);
        let state = self.state.clone();
        (self.done, Walk { machine: self.machine, tables: &mut self.tables, state, progress: self.progress })
    }
}
