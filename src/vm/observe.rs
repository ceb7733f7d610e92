//! Events: what an execution does, for those who watch it.
//!
//! The machine calls an [`Observer`] for every access to memory (also the private ones, which are marked), every
//! synchronisation operation, and the life of threads. All dynamic analyses read these events; none steps through the
//! program by itself. With the empty observer `()` the calls vanish at compile time.

use super::code::CodeIndex;
use super::outcome::Failure;
use super::state::ThreadIndex;
use super::tables::{OutputId, PathId};
use crate::ir::{DefinitionId, FunctionId, ReadId, VariableId};

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// It reads a cell.
    Read {
        /// The place that reads.
        read: ReadId,
        /// The cell.
        address: u32,
        /// What it holds, as bits.
        value: i64,
        /// Who wrote it last.
        writer: Option<DefinitionId>,
        /// Whether the access is a visible operation.
        shared: bool,
    },
    /// It writes a cell. A `cas` that fails does not write.
    Write {
        /// The place that writes.
        definition: DefinitionId,
        /// The cell.
        address: u32,
        /// What it held before.
        old: i64,
        /// What it holds now.
        value: i64,
        /// Whether the access is a visible operation.
        shared: bool,
    },
    /// It takes a lock; also when it comes back from waiting for a condition.
    Lock {
        /// The lock.
        address: u32,
        /// Whether it comes back from a wait.
        again: bool,
    },
    /// It frees a lock; also when it begins to wait for a condition.
    Unlock {
        /// The lock.
        address: u32,
        /// Whether it begins a wait.
        waits: bool,
    },
    /// It sets an event.
    Set {
        /// The event.
        address: u32,
    },
    /// It clears an event.
    Clear {
        /// The event.
        address: u32,
    },
    /// It goes on because an event is set.
    Waited {
        /// The event.
        address: u32,
    },
    /// It arrives at a barrier.
    Arrive {
        /// The barrier.
        address: u32,
    },
    /// It goes on because all have arrived; one such event for each of them, after the last arrival.
    Leave {
        /// The barrier.
        address: u32,
    },
    /// It begins to wait for a condition, or bare (`None`).
    Wait {
        /// The condition.
        condition: Option<u32>,
    },
    /// It notifies one or all that wait for a condition, or bare (`None`). The woken threads follow.
    Notify {
        /// The condition.
        condition: Option<u32>,
        /// Whether all of them.
        all: bool,
    },
    /// It is woken by a thread, or (`None`) for no reason.
    Woken {
        /// Who notified it.
        by: Option<ThreadIndex>,
    },
    /// It lowers a semaphore.
    Acquire {
        /// The semaphore.
        address: u32,
    },
    /// It raises a semaphore.
    Release {
        /// The semaphore.
        address: u32,
    },
    /// It makes a thread for its next join.
    Fork {
        /// The new thread.
        child: ThreadIndex,
        /// Its name.
        path: PathId,
    },
    /// It makes a thread that nobody waits for by itself.
    Spawn {
        /// The new thread.
        child: ThreadIndex,
        /// Its name.
        path: PathId,
    },
    /// All threads that it has forked have ended, and it goes on.
    Join,
    /// A spawned thread has ended, and it goes on.
    JoinThread {
        /// The thread that has ended.
        child: ThreadIndex,
    },
    /// It ends.
    End {
        /// The thread whose join waits for it.
        parent: Option<ThreadIndex>,
    },
    /// It chooses a value.
    Choose {
        /// The value.
        value: i64,
    },
    /// It prints a line.
    Print {
        /// Its output, this line included.
        output: OutputId,
    },
    /// It makes, or makes new, the cells of a local variable.
    Allocate {
        /// The variable.
        variable: VariableId,
        /// Its first cell.
        address: u32,
        /// Number of its cells.
        size: u32,
    },
    /// An atomic block begins.
    AtomicBegin,
    /// An atomic block ends.
    AtomicEnd,
    /// It fails, and the execution ends.
    Failure(Failure),
}

/// Watches an execution.
pub trait Observer {
    /// Whether it wants to be called at all.
    const ACTIVE: bool = true;

    /// `thread` does something at the instruction `at`.
    fn event(&mut self, thread: ThreadIndex, at: CodeIndex, event: Event);

    /// `thread` enters a function: by a call, or because it begins there. It does so as soon as it stands before the call,
    /// which may be before the first event of the function by many steps of others.
    #[inline(always)]
    fn enter(&mut self, _: ThreadIndex, _: FunctionId) {}

    /// `thread` leaves the function that it has entered last.
    #[inline(always)]
    fn leave(&mut self, _: ThreadIndex) {}
}

/// Watches nothing.
impl Observer for () {
    const ACTIVE: bool = false;

    #[inline(always)]
    fn event(&mut self, _: ThreadIndex, _: CodeIndex, _: Event) {}
}

/// Both watch, the first one first.
impl<A: Observer, B: Observer> Observer for (A, B) {
    const ACTIVE: bool = A::ACTIVE || B::ACTIVE;

    #[inline]
    fn event(&mut self, thread: ThreadIndex, at: CodeIndex, event: Event) {
        if A::ACTIVE {
            self.0.event(thread, at, event);
        }
        if B::ACTIVE {
            self.1.event(thread, at, event);
        }
    }

    #[inline]
    fn enter(&mut self, thread: ThreadIndex, function: FunctionId) {
        self.0.enter(thread, function);
        self.1.enter(thread, function);
    }

    #[inline]
    fn leave(&mut self, thread: ThreadIndex) {
        self.0.leave(thread);
        self.1.leave(thread);
    }
}

impl<O: Observer> Observer for &mut O {
    const ACTIVE: bool = O::ACTIVE;

    #[inline]
    fn event(&mut self, thread: ThreadIndex, at: CodeIndex, event: Event) {
        (**self).event(thread, at, event);
    }

    #[inline]
    fn enter(&mut self, thread: ThreadIndex, function: FunctionId) {
        (**self).enter(thread, function);
    }

    #[inline]
    fn leave(&mut self, thread: ThreadIndex) {
        (**self).leave(thread);
    }
}

/// Keeps all events.
impl Observer for Vec<(ThreadIndex, CodeIndex, Event)> {
    fn event(&mut self, thread: ThreadIndex, at: CodeIndex, event: Event) {
        self.push((thread, at, event));
    }
}
