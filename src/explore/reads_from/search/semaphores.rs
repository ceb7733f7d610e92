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
use cssame_ir::sync;
use cssame_vm::{PathId, Pending, ThreadIndex};

impl<const NAMES: bool> Search<'_, NAMES> {
    /// Whether the next step of a thread comes before that of another one that could come first with the same reads.
    pub(super) fn passes_another(&self, thread: ThreadIndex) -> bool {
        let state = &self.now.state;
        let next = self.machine.pending(state, thread);
        let raises = match next {
            Some(Pending::Synchronise { kind: sync::Kind::Release, address: Some(_) }) => true,
            Some(Pending::Synchronise { kind: sync::Kind::Lock | sync::Kind::Acquire, address: Some(_) }) => false,
            _ => return false,
        };
        let operations = &self.log.operations;
        let Some(last) = self.last_on_object(state.path(thread)) else { return false };
        let operation = &operations[last as usize];
        if !raises && !operation.lowers() {
            return false;
        }
        let comes_before = |other: ThreadIndex| {
            let before = self.last_on_object(state.path(other)).filter(|&before| before < last);
            before.map(|before| &operations[before as usize]).is_some_and(|earlier| {
                earlier.cell == operation.cell
                    && (raises || earlier.lowers())
                    && self.machine.pending(state, other) == next
            })
        };
        let is_able = |other| self.machine.alternatives(state, other) > 0 && !self.halted.contains(&state.path(other));
        state.threads().any(|other| other != thread && comes_before(other) && is_able(other))
    }

    /// The last operation of a thread, if that has changed an object.
    fn last_on_object(&self, thread: PathId) -> Option<u32> {
        let last = self.log.last_of(thread);
        let operation = self.log.operations.get(last as usize)?;
        (operation.thread == thread && operation.changes_object()).then_some(last)
    }
}
