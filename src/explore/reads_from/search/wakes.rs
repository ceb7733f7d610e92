//! Which of the threads that wait for a condition is woken first.
//!
//! **Input**: the position of an execution, and a thread that stands before a notification. **Output**: the threads that it may wake, if any,
//! in executions that differ from others not only in who was woken first.
//!
//! **Algorithm**: let a notification wake D while C waits as well, and let a later one wake C before D has taken its lock again. If the
//! first one had woken C, and the second one D, both would stand before that lock now, as they do, and no read tells who was woken by
//! whom. So of two such executions the one is left out in which a thread of a higher number was woken first. Each exchange leaves
//! fewer pairs of that kind, so one of them is left.

use super::super::operation::Kind;
use super::Search;
use cssame_ir::sync;
use cssame_vm::{PathId, Pending, ThreadIndex, ThreadStatus};
use smallvec::SmallVec;

/// Threads by the order of the alternatives to wake them.
pub(super) type Wakeable = SmallVec<[PathId; 4]>;

impl<const NAMES: bool> Search<'_, NAMES> {
    /// The threads of which the next step of a thread may wake one, in order, and the alternative of the first of them.
    pub(super) fn wakeable_in_order(&mut self, thread: ThreadIndex) -> (Wakeable, u32) {
        let all = self.machine.wakeable(&self.now.state, thread);
        if all.len() < 2 {
            return (all, 0);
        }
        let condition = self.condition_of(thread);
        let is_late = |woken: PathId| condition.is_some_and(|(_, number)| self.is_woken_late(number, woken));
        let in_order: Wakeable = all.iter().copied().filter(|&woken| !is_late(woken)).collect();
        let first = in_order.first().and_then(|first| all.iter().position(|woken| woken == first));
        (in_order, first.unwrap_or(0) as u32)
    }

    /// Whether the next step of a thread wakes others out of order, whatever it does.
    pub(super) fn wakes_out_of_order(&mut self, thread: ThreadIndex) -> bool {
        let Some((kind, number)) = self.condition_of(thread) else { return false };
        let state = &self.now.state;
        let mut woken = self.machine.notified(state, thread).into_iter().map(|woken| self.is_woken_late(number, woken));
        if kind == sync::Kind::NotifyAll {
            woken.any(|is_late| is_late)
        } else {
            woken.len() > 0 && woken.all(|is_late| is_late)
        }
    }

    /// The condition, by number, that a thread notifies next, and how.
    fn condition_of(&mut self, thread: ThreadIndex) -> Option<(sync::Kind, u32)> {
        let Pending::Synchronise { kind, address } = self.machine.pending(&self.now.state, thread)? else {
            return None;
        };
        let (true, Some(address)) = (matches!(kind, sync::Kind::Notify | sync::Kind::NotifyAll), address) else {
            return None;
        };
        let cell = self.machine.cell(&self.now.state, address)?;
        Some((kind, self.cells.number(Some((cell, address)))))
    }

    /// Whether a notification has woken a thread of a higher number that has not gone on, where it could have woken this one.
    fn is_woken_late(&self, condition: u32, thread: PathId) -> bool {
        let (state, log) = (&self.now.state, &self.log);
        let woken = state.threads().filter(|&other| state.status(other) == ThreadStatus::Reacquiring);
        woken.map(|other| state.path(other)).filter(|other| *other > thread).any(|other| {
            let Some(by) = log.waker_of(other) else { return false };
            let waker = &log.operations[by as usize];
            waker.kind == Kind::Synchronise(sync::Kind::Notify)
                && waker.place == condition
                && log.is_past(log.last_of(thread) as usize, by as usize)
        })
    }
}
