//! Counts futures: with executions of a program that has as many futures, otherwise through states.
//!
//! **Input**: a [`Subject`], and a budget. **Output**: a [`CountAnswer`].
//!
//! **Algorithm**
//! 1. Count executions of the program without locks whose order is not observable, and with reading bodies as readers.
//! 2. Count executions of the program itself.
//! 3. Otherwise search through states. The module [`count`] provides both methods.
//!
//! **Soundness and limits**: each of the programs has as many futures as the given one; their modules give the reasons.

use super::Subject;
use crate::liveness::may_run_for_ever;
use crate::question::count::{self, CountAnswer, Followed, STATES_OF_CYCLES};
use crate::slice::{ReadingBodies, UnobservedLocks};
use cssame_budget::Budget;
use cssame_ir::Program;
use cssame_vm::Machine;

impl Subject<'_> {
    /// Counts the futures, unless there are infinitely many.
    #[must_use]
    pub fn count(&self, budget: &Budget<'_>) -> CountAnswer {
        Counting { subject: *self, budget }.count()
    }

    /// Counts the futures by executions of the program without the locks whose order nobody can see, and with bodies that only read
    /// as readers, if it has any of these: alone, for tests.
    #[must_use]
    pub fn count_with_fewer_orders(&self, budget: &Budget<'_>) -> Option<CountAnswer> {
        Counting { subject: *self, budget }.with_fewer_orders()
    }
}

/// A count at work.
struct Counting<'s, 'b> {
    subject: Subject<'s>,
    budget: &'b Budget<'b>,
}

impl Counting<'_, '_> {
    /// Counts the futures, unless there are infinitely many.
    fn count(&self) -> CountAnswer {
        self.with_fewer_orders()
            .or_else(|| self.by_executions(&self.subject.machine_of_executions(), Followed::Whole))
            .or_else(|| self.infinite_or_none(STATES_OF_CYCLES))
            .unwrap_or_else(|| count::count_by_states(self.subject.machine, self.budget))
    }

    /// Counts the futures by executions of a machine that has the same ones, if it can be explored in this way.
    fn by_executions(&self, machine: &Machine, followed: Followed) -> Option<CountAnswer> {
        let infinite_or_none = &|states| self.infinite_or_none(states);
        count::count_unless(machine, followed, self.budget, Some(infinite_or_none)).ok()
    }

    /// The answer where there are infinitely many futures, or none, as far as so many states show that.
    fn infinite_or_none(&self, most_states: u64) -> Option<CountAnswer> {
        let Subject { program, machine, .. } = self.subject;
        may_run_for_ever(program).then(|| count::infinite_or_none(machine, self.budget, most_states)).flatten()
    }

    /// See [`Subject::count_with_fewer_orders`].
    fn with_fewer_orders(&self) -> Option<CountAnswer> {
        let subject = &self.subject;
        let concurrency = subject.concurrency()?;
        let unobserved = UnobservedLocks::find_with_single_accesses(subject.program, concurrency);
        let without = |program: &Program| unobserved.as_ref().map(|locks| locks.program_without(program));
        let bodies = || subject.looking_bodies(unobserved.as_ref());
        let reading = ReadingBodies::find(subject.program, concurrency);
        let reading = reading.map(|bodies| bodies.changed_program(subject.program));
        let with_readers = reading.and_then(|changed| {
            let machine = self.machine_with_readers(without(&changed).as_ref().unwrap_or(&changed))?;
            self.by_executions(&machine.knowing_looks(&bodies()), Followed::Less)
        });
        with_readers.or_else(|| {
            let program = without(subject.program)?;
            let machine = Machine::with_options(&program, subject.machine.visibility(), *subject.machine.options());
            self.by_executions(&machine.knowing_looks(&bodies()), Followed::Less)
        })
    }

    /// The machine of a program of which some locks were made readers-writer locks, if readers have no order there. Writers are only
    /// preferred by locks that were such before.
    fn machine_with_readers(&self, program: &Program) -> Option<Machine> {
        let Subject { machine, .. } = self.subject;
        if machine.prefers_writers() {
            return None;
        }
        let mut options = *machine.options();
        options.semantics.prefer_writers = false;
        let machine = Machine::with_options(program, machine.visibility(), options);
        machine.readers_only_read().then_some(machine)
    }
}
