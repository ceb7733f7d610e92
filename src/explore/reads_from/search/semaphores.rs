//! Which orders of operations on semaphores are left out, since others show the same.
//!
//! **Input**: the position of an execution, and a thread that stands before an operation. **Output**: whether another execution, which is
//! followed as well, has the same reads.
//!
//! **Algorithm**: to lower a semaphore can as well come later, right before the next operation of its thread, and to raise one earlier,
//! right behind the operation before it: then there is as much of the semaphore as before, or more.
//! 1. Let two threads lower a semaphore, and both take a lock next, or lower another semaphore. Who has lowered the one first does so next
//!    first.
//! 2. Let two threads work on an object, and both raise a semaphore next. Who has worked on the object first raises first.
//!
//! **Soundness and limits**: in an execution put each raise right behind what its thread did before, and all that lowers right before what
//! comes next: all reads see the same, and the execution obeys 1 and 2. A prefix of one that does goes on to one that does, for a thread
//! that is kept back by 1 or 2 waits for one that can go on. Semaphores have no operation that tries.

use super::Search;
use crate::ir::sync;
use crate::vm::{PathId, Pending, ThreadIndex, ThreadStatus};

impl<const NAMES: bool> Search<'_, NAMES> {
    /// Whether the next step of a thread comes before that of another one that could come first with the same reads.
    pub(super) fn passes_another(&mut self, thread: ThreadIndex) -> bool {
        let Some(Pending::Synchronise { kind, address: Some(address) }) = self.machine.pending(&self.now.state, thread)
        else {
            return false;
        };
        let raises = kind == sync::Kind::Release;
        if !raises && !matches!(kind, sync::Kind::Lock | sync::Kind::Acquire) {
            return false;
        }
        let Some(last) = self.last_on_object(self.now.state.path(thread)) else { return false };
        let operation = &self.log.operations[last as usize];
        if !raises && !operation.lowers() {
            return false;
        }
        let (cell, next) = (operation.cell, Pending::Synchronise { kind, address: Some(address) });
        for index in 0..self.now.state.thread_count() {
            let other = ThreadIndex(index as u16);
            let state = &self.now.state;
            if other == thread || matches!(state.status(other), ThreadStatus::Free | ThreadStatus::Ended) {
                continue;
            }
            let Some(before) = self.last_on_object(state.path(other)).filter(|&before| before < last) else { continue };
            let earlier = &self.log.operations[before as usize];
            let is_passed = earlier.cell == cell
                && (raises || earlier.lowers())
                && self.machine.pending(state, other) == Some(next)
                && self.machine.alternatives(state, other) > 0
                && !self.halted.contains(&state.path(other));
            if is_passed {
                return true;
            }
        }
        false
    }

    /// The last operation of a thread, if that has changed an object.
    fn last_on_object(&self, thread: PathId) -> Option<u32> {
        let last = self.log.last_of(thread);
        let operation = self.log.operations.get(last as usize)?;
        (operation.thread == thread && operation.changes_object()).then_some(last)
    }
}
