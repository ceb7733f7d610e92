//! Bodies of locks that only look, and threads that sleep before one.
//!
//! **Input**: the position of an execution, and where bodies [may look](crate::explore::slice::known_bodies). **Output**:
//! whether the body that a thread has just begun does; and whether to begin one now would lead to what another execution shows.
//!
//! **Algorithm**
//! 1. Whether a body looks depends on what it reads, which is the same whenever its thread goes on. So the thread goes on in a copy of
//!    the state, up to its next operation but reads.
//! 2. Bodies that look at one object have no order. Where executions part at what comes first on an object, a body that looks and came
//!    first in an earlier branch sleeps in the later ones (Godefroid, "Partial-Order Methods for the Verification of Concurrent
//!    Systems", 1996): it does not come next before another operation has changed the object, for behind bodies that only look it could
//!    have come before them as well. An execution in which only threads that sleep can move is one that was followed before.

use super::super::events::StepEvents;
use super::super::operation::Operation;
use super::Search;
use super::node::{Node, Sleeper, Until};
use super::protected::conflicts;
use crate::ir::sync;
use crate::vm::{self, Choice, PathId, State, ThreadIndex};

/// Steps of a body beyond which it counts as one that changes something.
const LONG_BODY: usize = 1_000;

/// Bodies that look.
#[derive(Debug, Default)]
pub(super) struct Looks {
    /// The thread that is in such a body.
    pub thread: Option<PathId>,
    /// A copy of the state in which a thread goes on.
    ahead: State,
    /// What it does there.
    seen: StepEvents<false>,
}

impl<const NAMES: bool> Search<'_, NAMES> {
    /// Notes whether the last step, an operation of a thread on an object, begins a body that only looks, or ends one; says that.
    pub(super) fn note_look(&mut self, thread: PathId) -> bool {
        if self.looks.thread.take_if(|looking| *looking == thread).is_some() {
            return true;
        }
        let may_look = self.seen.takes_lock.is_some_and(|at| self.machine.may_look_behind(at));
        let looks = may_look && !self.tries && self.only_looks(thread);
        self.looks.thread = self.looks.thread.or(looks.then_some(thread));
        looks
    }

    /// Whether a thread that has just taken a lock does nothing but to read before it gives that back, for good or to wait.
    fn only_looks(&mut self, thread: PathId) -> bool {
        let Some((_, Some((_, lock)))) = self.seen.synchronised else { return false };
        let Some(slot) = self.slot(thread) else { return false };
        let Looks { ahead, seen, .. } = &mut self.looks;
        ahead.clone_from(&self.now.state);
        for _ in 0..LONG_BODY {
            if self.machine.alternatives(ahead, slot) != 1 {
                return false;
            }
            seen.clear();
            seen.pairs.clear();
            let choice = Choice { thread: slot, alternative: 0 };
            let progress = self.machine.step(ahead, &mut self.found.tables, choice, seen);
            let goes_on = matches!(progress, vm::Progress::Running | vm::Progress::Finished);
            // Also one that does not write this time.
            let is_atomic = seen.read.is_some_and(|(.., at)| self.machine.is_atomic(at));
            let changes = is_atomic || seen.write.is_some() || seen.chosen || !seen.forks.is_empty();
            if !goes_on || changes || seen.joined || seen.joined_thread.is_some() || seen.refusal.is_some() {
                return false;
            }
            if let Some((by, object)) = seen.synchronised {
                let gives_back = matches!(by, sync::Kind::Unlock | sync::Kind::WaitCondition);
                return gives_back && seen.takes_lock.is_none() && object.is_some_and(|(_, address)| address == lock);
            }
        }
        false
    }

    /// Whether all that would come behind the next step of a thread is shown by other executions.
    pub(super) fn is_asleep(&mut self, thread: ThreadIndex) -> bool {
        !self.asleep.is_empty() && self.sleeps(thread) || self.is_out_of_order(thread)
    }

    /// Whether it follows from the order of those that moved last that another execution shows the same.
    pub(super) fn is_out_of_order(&mut self, thread: ThreadIndex) -> bool {
        self.is_grouped && self.wakes_out_of_order(thread) || self.lowers && self.passes_another(thread)
    }

    pub(super) fn sleeps(&mut self, thread: ThreadIndex) -> bool {
        let path = self.now.state.path(thread);
        if !self.asleep.iter().any(|sleeper| sleeper.thread == path) {
            return false;
        }
        let Some((operation, _)) = self.standing(thread) else { return false };
        let (cell, key) = (operation.cell, self.log.hash_anywhere(&operation));
        let mut sleepers = self.asleep.iter().filter(|of| (of.thread, of.cell, of.key) == (path, cell, key));
        sleepers.any(|sleeper| match &sleeper.until {
            Until::Change { source } => *source == self.now.held(cell),
            Until::Conflict { since, body } => !conflicts(&self.log, cell, *since, body),
        })
    }

    /// Notes in a node who sleeps where it parts, before its operation, which has been done.
    pub(super) fn put_to_sleep(&self, node: &mut Node, operation: &Operation) {
        let holds = |cell| if cell == operation.cell { operation.source } else { self.now.held(cell) };
        let is_awake = |sleeper: &Sleeper| match &sleeper.until {
            Until::Change { source } => *source != holds(sleeper.cell),
            Until::Conflict { since, body } => conflicts(&self.log, sleeper.cell, *since, body),
        };
        node.asleep.extend(self.asleep.iter().filter(|sleeper| !is_awake(sleeper)).cloned());
        let here = node.asleep.iter().filter(|sleeper| sleeper.cell == operation.cell);
        node.seen.extend(here.map(|sleeper| sleeper.key));
        node.asleep.extend(self.sleeper(operation));
    }

    /// Who sleeps in later branches, once those in which this operation comes first were followed.
    pub(super) fn sleeper(&self, operation: &Operation) -> Option<Sleeper> {
        let &Operation { thread, cell, source, .. } = operation;
        let key = || self.log.hash_anywhere(operation);
        operation.begins_to_look().then(|| Sleeper { thread, cell, key: key(), until: Until::Change { source } })
    }
}
