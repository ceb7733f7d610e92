//! Bodies of locks that only look.
//!
//! **Input**: the position of an execution, and the places where bodies [may look](crate::slice::looking_bodies). **Output**:
//! whether the body that a thread has just begun looks.
//!
//! **Algorithm**: this depends on the values that the body reads, which are the same whenever its thread continues. So the thread
//! continues in a copy of the state, up to its next operation that is not a read. Bodies that look at one object have no order
//! among each other ([`sleep`](super::sleep)).

use super::super::events::StepEvents;
use super::Search;
use cssame_ir::sync;
use cssame_vm as vm;
use cssame_vm::{Choice, PathId, State};

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
}
