//! Sleeping threads: sleep sets (Godefroid, "Partial-Order Methods for the Verification of Concurrent Systems", 1996).
//!
//! **Input**: the position of an execution, and the sleeping threads there. **Output**: whether the next step of a thread would
//! lead to an execution that was already shown; the sleeping threads at a node.
//!
//! **Algorithm**
//! 1. If executions branch at the first operation on an object, a body that came first in an earlier branch sleeps in the later
//!    ones: its thread does not continue as long as it could also have come first.
//! 2. A looking body could have come first until another operation has changed the object.
//!
//! **Soundness and limits**: an execution in which only sleeping threads can move was followed before.

use super::super::operation::Operation;
use super::Search;
use super::node::{Node, Sleeper};
use cssame_vm::ThreadIndex;

impl<const NAMES: bool> Search<'_, NAMES> {
    /// Whether a thread sleeps before the operation that it stands before: all that would come behind that is shown by other executions.
    pub(super) fn is_asleep(&mut self, thread: ThreadIndex) -> bool {
        let path = self.now.state.path(thread);
        if !self.asleep.iter().any(|sleeper| sleeper.thread == path) {
            return false;
        }
        let Some((operation, _)) = self.standing(thread) else { return false };
        let (cell, key) = (operation.cell, self.log.hash_anywhere(&operation));
        let mut sleepers = self.asleep.iter().filter(|of| (of.thread, of.cell, of.key) == (path, cell, key));
        sleepers.any(|sleeper| sleeper.source == self.now.held(cell))
    }

    /// Notes in a node who sleeps where it parts, before its operation, which has been done.
    pub(super) fn put_to_sleep(&self, node: &mut Node, operation: &Operation) {
        let holds = |cell| if cell == operation.cell { operation.source } else { self.now.held(cell) };
        let sleeps = |sleeper: &&Sleeper| sleeper.source == holds(sleeper.cell);
        node.asleep.extend(self.asleep.iter().filter(sleeps).copied());
        let here = node.asleep.iter().filter(|sleeper| sleeper.cell == operation.cell);
        node.seen.extend(here.map(|sleeper| sleeper.key));
        node.asleep.extend(self.sleeper(operation));
    }

    /// Who sleeps in later branches, once those in which this operation comes first were followed.
    pub(super) fn sleeper(&self, operation: &Operation) -> Option<Sleeper> {
        let &Operation { thread, cell, source, .. } = operation;
        let key = || self.log.hash_anywhere(operation);
        operation.begins_to_look().then(|| Sleeper { thread, cell, key: key(), source })
    }
}
