//! The positions of threads that affect other threads.
//!
//! **Input**: a state. **Output**: for a thread, its position; and the threads in one kind of position, for example those that
//! wait for a condition.

use super::state::{State, Thread, ThreadIndex, ThreadStatus};

/// Where a thread stands, if that decides about what others do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Standing {
    /// Nowhere: there is no thread in the slot.
    Free,
    /// It has ended, and its slot is kept.
    Ended,
    /// It waits at the barrier at an address.
    AtBarrier(u32),
    /// It waits for the condition at an address.
    ForCondition(u32),
    /// It waits bare.
    Bare,
    /// It waits for the readers-writer lock at an address to write, where writers are preferred.
    ToWrite(u32),
}

impl Standing {
    /// Where a thread stands; nothing where that decides about nobody else.
    pub(super) fn of(thread: &Thread) -> Option<Standing> {
        match thread.status {
            ThreadStatus::Free => Some(Standing::Free),
            ThreadStatus::Ended => Some(Standing::Ended),
            ThreadStatus::AtBarrier => Some(Standing::AtBarrier(thread.wait)),
            ThreadStatus::WaitingCondition => Some(Standing::ForCondition(thread.wait)),
            ThreadStatus::WaitingBare => Some(Standing::Bare),
            ThreadStatus::WaitingToWrite => Some(Standing::ToWrite(thread.wait)),
            ThreadStatus::Ready | ThreadStatus::Reacquiring | ThreadStatus::TimedOut | ThreadStatus::Diverged => None,
        }
    }
}

impl State {
    /// The threads that stand so.
    pub(super) fn group(&self, standing: Standing) -> impl Iterator<Item = ThreadIndex> {
        let slots = self.threads.iter().enumerate();
        let group = slots.filter(move |(_, thread)| Standing::of(thread) == Some(standing));
        group.map(|(index, _)| ThreadIndex(index as u16))
    }

    /// Whether a thread that was spawned has ended.
    pub(super) fn has_ended(&self, thread: ThreadIndex) -> bool {
        self.threads.get(thread.index()).is_none_or(|thread| thread.status == ThreadStatus::Ended)
    }
}
