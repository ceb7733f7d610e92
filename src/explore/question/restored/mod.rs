//! Executions of a program without unobserved locks, with their locks put back; and the deadlocks that these locks add.
//!
//! **Input**: a machine; another one of its program [without the operations](crate::slice::UnobservedLocks) on some locks
//! whose order nobody can see, which may be taken in circles; and an execution of that one. **Output**: an execution of the first
//! machine, with a schedule, in which each read has the same source; and each deadlock in which threads stand at these locks and have
//! read no more than in that execution.
//!
//! **Algorithm**: a *body* is what a thread does from where it takes such a lock, holding none, to where it holds none again.
//! 1. [`run`] does the execution again, each body at once, as soon as its thread stands at it. Nobody else is in one then, so all of these
//!    locks are free. What comes later in the execution and was done in a body is left out there.
//! 2. A thread can *stop* at an operation that takes a lock: hold what it holds there, and go no further. [`stops`] finds the sets of
//!    stops, at most one for each thread, in which no lock is held twice, and each lock that is waited for is held.
//! 3. For each set [`run`] does the execution again. A thread stops before the body of its stop; what has become impossible by that is
//!    left out. At last, one after the other goes on to its stop. If no thread can move then, this is a deadlock.
//!
//! **Soundness**: all that is found was done by the first machine. Nothing is missed, if all executions without the locks
//! are given:
//! - An execution of the program that has ended outside of bodies is one without the operations.
//! - Take one that ends with threads at such locks. They may be held up for good only by others that are so, since bodies wait for
//!   nothing else: these are stops as in step 2. Nobody sees what is done in a body, so each that stops may do the body of its stop at
//!   last of all; the locks that it takes there are free but for those that the others hold, unless it gives some back before its
//!   stop that another one holds: then the program is [refused](Refusal::Synchronisation). Without the locks, those who have stopped can go
//!   on. So the execution, without the operations, can be extended to one that is given, up to the order of what no read tells apart.
//!   Step 3 leaves out from that what comes behind the stops: what is read before, from the same writes, is still done.
//! - To take such a lock while another one is held, whose order can be seen, is refused: others may stand before that one.
//!
//! **Limits**: not where executions are discarded, for the one that is given would be missing; nor where threads wait to be
//! notified, for whom a step wakes depends on the slots of threads.

mod run;
mod stops;

use super::chains::hash_of_end;
use crate::reads_from::{Execution, Refusal};
use crate::states::End;
use cssame_budget::{Bound, Budget};
use cssame_schedule::Walk;
use cssame_vm::{
    Choice, CodeIndex, Event, Failure, Machine, Observer, Origin, Pending, Progress, State, Tables, ThreadName,
};
use fixedbitset::FixedBitSet;
use run::{Ended, Run, Step, is_visible};
use rustc_hash::FxHashSet;
use std::ops::ControlFlow;
use stops::{Found, Stops};

/// How often it is looked whether a bound is hit.
const INTERVAL: u64 = 1 << 12;

/// A program without the operations on some unobserved locks.
#[derive(Clone, Debug)]
pub(crate) struct WithoutLocks {
    /// Its machine.
    pub machine: Machine,
    /// The operations, as places of the whole program.
    pub operations: FxHashSet<Origin>,
}

/// An execution with its locks.
pub(super) struct Restored<'r> {
    pub machine: &'r Machine,
    pub tables: &'r Tables,
    /// The state at the end.
    pub state: &'r State,
    /// How it has failed, if it has.
    pub failure: Option<Failure>,
    pub choices: &'r [Choice],
    /// What tells its future from others, of a deadlock that these locks have added.
    pub deadlock: Option<u128>,
}

/// Puts locks back.
pub(super) struct Restorer<'a> {
    machine: &'a Machine,
    without: &'a Machine,
    /// The instructions of the machine that are operations on the locks.
    operations: FixedBitSet,
    /// Names and outputs of what was restored.
    pub tables: Tables,
    budget: Budget<'a>,
    /// Executions with stops that were tried.
    pub tried: u64,
    /// Steps that were done, and threads that were decided upon.
    work: u64,
    next_look: u64,
    /// The bound that was hit.
    pub bound: Option<Bound>,
    refusal: Option<Refusal>,
}

impl<'a> Restorer<'a> {
    /// For a machine and the one without.
    pub fn new(machine: &'a Machine, without: &'a WithoutLocks, budget: &Budget<'a>) -> Restorer<'a> {
        let is_operation = |&index: &usize| without.operations.contains(&machine.origin(CodeIndex(index as u32)));
        Restorer {
            machine,
            without: &without.machine,
            operations: (0..machine.code_length()).filter(is_operation).collect(),
            tables: Tables::new(),
            budget: *budget,
            tried: 0,
            work: 0,
            next_look: INTERVAL,
            bound: None,
            refusal: None,
        }
    }

    /// Visits the execution with its locks, and the deadlocks that they add. Breaks off where the visitor does, a
    /// [bound](Restorer::bound) is hit, or the locks [cannot be put back](Restorer::finish).
    pub fn restore(
        &mut self,
        execution: &Execution<'_>,
        visit: &mut dyn FnMut(&Restored<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.try_to_restore(execution, visit).unwrap_or_else(|refusal| {
            self.refusal = Some(refusal);
            ControlFlow::Break(())
        })
    }

    /// The restorer behind all executions.
    ///
    /// # Errors
    ///
    /// A program whose locks cannot be put back.
    pub fn finish(self) -> Result<Restorer<'a>, Refusal> {
        self.refusal.map_or(Ok(self), Err)
    }

    fn try_to_restore(
        &mut self,
        execution: &Execution<'_>,
        visit: &mut dyn FnMut(&Restored<'_>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Refusal> {
        let steps = self.steps(&execution.choices())?;
        let whole = Run::new(self.machine, &self.operations, &mut self.tables).follow(&steps, &[])?;
        let stops = Stops::new(&whole.acquisitions)?;
        self.work += 2 * steps.len() as u64;
        if visit(&self.restored(&whole, None)).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        Ok(stops.each(&mut |found| {
            self.work += 1;
            let Found::Set(set) = found else { return self.look() };
            self.tried += 1;
            self.work += steps.len() as u64;
            self.look()?;
            let run = Run::new(self.machine, &self.operations, &mut self.tables);
            // What cannot be done in this execution is no deadlock of it.
            let Some(ended) = run.follow(&steps, set).ok().filter(|ended| self.is_stuck(ended)) else {
                return ControlFlow::Continue(());
            };
            let hash = hash_of_end(self.machine, &ended.history.chains, End::Deadlock, ended.state.standing());
            visit(&self.restored(&ended, Some(hash)))
        }))
    }

    fn restored<'r>(&'r self, ended: &'r Ended, deadlock: Option<u128>) -> Restored<'r> {
        let failure = if let Progress::Failed(failure) = ended.progress { Some(failure) } else { None };
        let (machine, tables) = (self.machine, &self.tables);
        Restored { machine, tables, state: &ended.state, failure, choices: &ended.choices, deadlock }
    }

    /// Whether no thread can move, and not all have ended.
    fn is_stuck(&self, ended: &Ended) -> bool {
        ended.progress == Progress::Running && self.machine.is_deadlock(&ended.state)
    }

    /// Now and then, whether a bound is hit.
    fn look(&mut self) -> ControlFlow<()> {
        let limits = self.budget.limits();
        if limits.max_work.is_some_and(|most| self.work > most) {
            self.bound = Some(Bound::Executions);
        }
        if self.work >= self.next_look {
            self.next_look = self.work + INTERVAL;
            self.bound = self.bound.or_else(|| self.budget.check());
        }
        if self.bound.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// The steps of an execution without the locks, by the names of their threads.
    fn steps(&mut self, choices: &[Choice]) -> Result<Vec<Step>, Refusal> {
        let mut seen = Visible(false);
        let mut walk = Walk::new(self.without, &mut self.tables, &mut seen);
        let step = |&choice: &Choice| {
            let thread = walk.state().path(choice.thread);
            let has_effect = matches!(self.without.pending(walk.state(), choice.thread), Some(Pending::Effect { .. }));
            seen.0 = false;
            walk.step(choice, &mut seen).map_err(|_| Refusal::Synchronisation)?;
            Ok(Step { thread, has_effect, is_visible: seen.0 })
        };
        choices.iter().map(step).collect()
    }
}

/// Whether a step does a visible operation.
struct Visible(bool);

impl Observer for Visible {
    const DETAILS: bool = false;

    fn event(&mut self, _: ThreadName, _: CodeIndex, event: Event) {
        self.0 |= is_visible(&event);
    }
}
