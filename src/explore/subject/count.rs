//! Counts futures: by whichever executions of a program with as many futures come to an end, else through states.
//!
//! **Input**: a [`Subject`], and a budget. **Output**: a [`CountAnswer`].
//!
//! **Algorithm**
//! 1. Where threads synchronise by objects, through states, if these are few.
//! 2. By executions of the program with locks for semaphores that are such, without locks whose order nobody can see, and with bodies that
//!    only read as readers.
//! 3. Where these turn out to be far more than the futures, as many executions are tried, now and then, of the program with
//!    [one lock](crate::slice::with_one_lock), whose bodies have no order where they do not conflict: fewer, unless many bodies conflict
//!    with some others and have nothing to do with most.
//! 4. Else through states. The module [`count`] has both means.
//!
//! **Soundness and limits**: each of the programs has as many futures as the given one; their modules say why.

use super::{Subject, knowing};
use crate::answer::{Answer, Query};
use crate::liveness::may_run_for_ever;
use crate::question::count::{self, CountAnswer, Others, STATES_OF_CYCLES};
use crate::question::restored::WithoutLocks;
use crate::reads_from::Refusal;
use crate::slice::{ReadingBodies, UnobservedLocks, known_bodies, with_locks_for_semaphores, with_one_lock};
use cssame_budget::{Budget, Limits};
use cssame_form as form;
use cssame_form::Form;
use cssame_form::races::potential_races;
use cssame_ir::Program;
use cssame_vm::Machine;
use rustc_hash::FxHashSet;
use std::cell::OnceCell;

/// States up to which it is asked whether a program with several locks may block or fail.
const STATES_OF_ENDS: u64 = 100_000;

impl Subject<'_> {
    /// Counts the futures, unless there are infinitely many.
    #[must_use]
    pub fn count(&self, budget: &Budget<'_>) -> CountAnswer {
        self.count_behind(None, budget)
    }

    /// The same where an answer has told how executions end, if it is complete.
    #[must_use]
    pub fn count_behind(&self, known: Option<&Answer>, budget: &Budget<'_>) -> CountAnswer {
        let ends_well = known.filter(|known| known.is_complete()).map(ends_well);
        count::count_by_few_states(self.machine, budget).unwrap_or_else(|| match self.with_locks_for_semaphores() {
            Some(changed) => Counting::new(changed.subject(), ends_well, budget).count(),
            None => Counting::new(*self, ends_well, budget).count(),
        })
    }

    /// Counts the futures by executions of the program without the locks whose order nobody can see, and with bodies that only read
    /// as readers, if it has any of these: alone, for tests.
    #[must_use]
    pub fn count_with_fewer_orders(&self, budget: &Budget<'_>) -> Option<CountAnswer> {
        Counting::new(*self, None, budget).with_fewer_orders()
    }

    /// Counts the futures by executions of the program without locks whose order nobody can see, which are put back: alone, for tests.
    /// `None` if there are no such locks.
    ///
    /// # Errors
    ///
    /// A program that cannot be explored in this way.
    #[must_use]
    pub fn count_without_locks(&self, budget: &Budget<'_>) -> Option<Result<CountAnswer, Refusal>> {
        let without = self.without_locks()?;
        Some(count::count_unless(self.machine, Some(&without), budget, &mut Others::default()))
    }

    /// Counts the futures by executions of the program with one lock, if it has as many: alone, for tests.
    #[must_use]
    pub fn count_with_one_lock(&self, budget: &Budget<'_>) -> Option<CountAnswer> {
        Counting::new(*self, None, budget).with_one_lock(None)
    }

    /// Counts the futures by executions of the program with locks for semaphores that are such, if it has any: alone, for tests.
    #[must_use]
    pub fn count_with_locks_for_semaphores(&self, budget: &Budget<'_>) -> Option<CountAnswer> {
        Some(Counting::new(self.with_locks_for_semaphores()?.subject(), None, budget).count())
    }

    fn with_locks_for_semaphores(&self) -> Option<Changed> {
        let program = with_locks_for_semaphores(self.program, self.concurrency()?)?;
        let form = form::analyse(&program)?;
        let machine = Machine::with_options(&program, self.machine.visibility(), *self.machine.options());
        Some(Changed { program, form, machine })
    }
}

/// Whether all executions end, and none fails.
fn ends_well(answer: &Answer) -> bool {
    answer.deadlocks.is_empty() && answer.failures.is_empty()
}

/// A program that was changed, and what belongs to it.
struct Changed {
    program: Program,
    form: Form,
    machine: Machine,
}

impl Changed {
    fn subject(&self) -> Subject<'_> {
        Subject { program: &self.program, form: Some(&self.form), machine: &self.machine }
    }
}

/// A count at work.
struct Counting<'s, 'b> {
    subject: Subject<'s>,
    budget: &'b Budget<'b>,
    /// Whether all executions end, and none fails, where that is known.
    ends_well: Option<bool>,
    /// The machine of the program with one lock, if it has as many futures; once it was asked for.
    one_lock: OnceCell<Option<Machine>>,
}

impl<'s, 'b> Counting<'s, 'b> {
    fn new(subject: Subject<'s>, ends_well: Option<bool>, budget: &'b Budget<'b>) -> Counting<'s, 'b> {
        Counting { subject, budget, ends_well, one_lock: OnceCell::new() }
    }

    /// Steps 2 to 4.
    fn count(&self) -> CountAnswer {
        self.with_fewer_orders()
            .or_else(|| self.by_executions(&self.subject.machine_of_executions(), None))
            .or_else(|| self.with_one_lock(None))
            .or_else(|| self.infinite_or_none(STATES_OF_CYCLES))
            .unwrap_or_else(|| count::count_by_states(self.subject.machine, self.budget))
    }

    /// Counts the futures by executions of a machine that has the same ones, if it can be explored in this way.
    fn by_executions(&self, machine: &Machine, without: Option<&WithoutLocks>) -> Option<CountAnswer> {
        let mut others = Others {
            infinite_or_none: Some(&mut |states| self.infinite_or_none(states)),
            by_other_executions: Some(&mut |executions| self.with_one_lock(Some(executions))),
        };
        count::count_unless(machine, without, self.budget, &mut others).ok()
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
        let bodies = || subject.known_bodies(unobserved.as_ref());
        let reading = ReadingBodies::find(subject.program, concurrency);
        let reading = reading.map(|bodies| bodies.changed_program(subject.program));
        let with_readers = reading.and_then(|changed| {
            let machine = self.machine_with_readers(without(&changed).as_ref().unwrap_or(&changed))?;
            self.by_executions(&knowing(machine, &bodies()), None)
        });
        with_readers.or_else(|| {
            // Where threads keep some in a deadlock, more locks can be left out.
            let more = subject
                .without_locks()
                .filter(|more| more.operations.len() > unobserved.as_ref().map_or(0, |locks| locks.operations.len()));
            let found = more.and_then(|more| self.by_executions(subject.machine, Some(&more)));
            if found.is_some() {
                return found;
            }
            let program = without(subject.program)?;
            let machine = Machine::with_options(&program, subject.machine.visibility(), *subject.machine.options());
            self.by_executions(&knowing(machine, &bodies()), None)
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

    /// Counts the futures by so many executions at most of the program with one lock, if it has as many; `None` if these are not all.
    fn with_one_lock(&self, most: Option<u64>) -> Option<CountAnswer> {
        let machine = self.one_lock.get_or_init(|| self.machine_with_one_lock()).as_ref()?;
        let share = self.budget.share(Limits { max_executions: most, ..Limits::default() });
        let mut infinite_or_none = |states| self.infinite_or_none(states);
        let mut others = Others { infinite_or_none: Some(&mut infinite_or_none), by_other_executions: None };
        let found = count::count_unless(machine, None, &share, &mut others).ok()?;
        (most.is_none() || found.bound.is_none()).then_some(found)
    }

    fn machine_with_one_lock(&self) -> Option<Machine> {
        let Subject { program, form, machine } = self.subject;
        let form = form.filter(|_| machine.synchronises() && !machine.may_discard())?;
        let race_free = potential_races(program, form).race_free();
        let changed = with_one_lock(program, &form.concurrency, &race_free)?;
        let ends_well = self.ends_well.unwrap_or_else(|| {
            let share = self.budget.share(Limits { max_states: Some(STATES_OF_ENDS), ..Limits::default() });
            let found = self.subject.futures(&Query::without_outcomes(&[]), &share);
            found.is_complete() && ends_well(&found)
        });
        if !ends_well {
            return None;
        }
        let concurrency = cssame_concurrency::analyse(&changed)?;
        let bodies = known_bodies(&changed, &concurrency, &FxHashSet::default());
        Some(knowing(Machine::with_options(&changed, machine.visibility(), *machine.options()), &bodies))
    }
}
