//! The reason why a thread cannot move.
//!
//! **Input**: a state and a thread. **Output**: its [`Obstacle`], if it cannot move.

use super::code::{Code, CodeIndex};
use super::locks;
use super::machine::Machine;
use super::state::{NO_THREAD, State, ThreadIndex, ThreadStatus};
use cssame_ir::sync::{Mode, ObjectKind};

/// What a thread that cannot move waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// A lock, its holder, and where that took it.
    Lock {
        /// The lock.
        address: u32,
        /// Who holds it; `None` where that thread has ended without a trace.
        holder: Option<ThreadIndex>,
        /// Where it was taken.
        taken_at: CodeIndex,
    },
    /// A readers-writer lock that is held for reading, by the thread itself perhaps.
    Readers {
        /// The lock.
        address: u32,
        /// Who reads; those that have ended without a trace are left out.
        threads: Vec<ThreadIndex>,
    },
    /// A readers-writer lock that a thread may not read because others wait to write.
    Writers {
        /// The lock.
        address: u32,
        /// Who waits.
        threads: Vec<ThreadIndex>,
    },
    /// An event that is not set.
    Event {
        /// The event.
        address: u32,
    },
    /// Other threads at a barrier.
    Barrier {
        /// The barrier.
        address: u32,
        /// How many have arrived.
        arrived: u32,
        /// How many it takes.
        count: u32,
    },
    /// A notification of a condition.
    Condition {
        /// The condition.
        address: u32,
    },
    /// A bare notification.
    Notification,
    /// A semaphore that is zero.
    Semaphore {
        /// The semaphore.
        address: u32,
    },
    /// Threads that it has forked.
    Children {
        /// Those that have not ended.
        threads: Vec<ThreadIndex>,
    },
    /// A thread that it joins.
    Thread {
        /// That thread.
        thread: ThreadIndex,
    },
    /// The end of an atomic block of another thread.
    AtomicBlock {
        /// The thread in the block.
        thread: ThreadIndex,
    },
}

impl Machine {
    /// What a thread waits for; `None` where it can move or has ended.
    #[must_use]
    pub fn obstacle(&self, state: &State, thread: ThreadIndex) -> Option<Obstacle> {
        let slot = state.threads.get(thread.index())?;
        if matches!(slot.status, ThreadStatus::Ended | ThreadStatus::Free) || self.alternatives(state, thread) > 0 {
            return None;
        }
        if state.exclusive != NO_THREAD && state.exclusive != thread.0 {
            return Some(Obstacle::AtomicBlock { thread: ThreadIndex(state.exclusive) });
        }
        let address = |place| self.cell_at(state, thread, place).map_or(0, |(address, _)| address);
        let lock = |address: u32, mode: Mode| self.lock_obstacle(state, address, mode);
        Some(match (slot.status, self.compiled.code[slot.pc as usize]) {
            (ThreadStatus::WaitingCondition, _) => Obstacle::Condition { address: slot.wait },
            (ThreadStatus::WaitingBare, _) => Obstacle::Notification,
            (ThreadStatus::AtBarrier, _) => Obstacle::Barrier {
                address: slot.wait,
                count: state.value(slot.wait) as u32,
                arrived: state.value(slot.wait + 1) as u32,
            },
            (ThreadStatus::Reacquiring | ThreadStatus::TimedOut, Code::Synchronise { lock: place, .. }) => {
                lock(address(place), Mode::Exclusive)
            }
            (_, Code::Synchronise { kind, object, .. }) => match kind.operands().first()? {
                ObjectKind::Lock | ObjectKind::RwLock => lock(address(object), kind.mode()),
                ObjectKind::Event => Obstacle::Event { address: address(object) },
                ObjectKind::Semaphore => Obstacle::Semaphore { address: address(object) },
                // Only a thread with another status than that of one that is ready waits at such an object.
                ObjectKind::Condition | ObjectKind::Barrier => return None,
            },
            (_, Code::JoinThread { handle, .. }) => {
                let handle = handle.value(state.frame(thread), &self.compiled.constants);
                Obstacle::Thread { thread: ThreadIndex((handle - 1) as u16) }
            }
            _ => Obstacle::Children {
                threads: state.threads().filter(|&child| state.parent(child) == Some(thread)).collect(),
            },
        })
    }

    /// What is in the way of a thread that wants to take a lock in that mode.
    pub(super) fn lock_obstacle(&self, state: &State, address: u32, mode: Mode) -> Obstacle {
        let cell = state.cells[address as usize];
        let holder = locks::holder(cell.value);
        if holder == 0 && mode == Mode::Shared {
            return Obstacle::Writers { address, threads: state.waiting_writers(address).collect() };
        }
        if holder == 0 {
            return Obstacle::Readers { address, threads: state.readers_of(address).collect() };
        }
        let holder = (holder <= i64::from(NO_THREAD)).then(|| ThreadIndex((holder - 1) as u16));
        Obstacle::Lock { address, holder, taken_at: CodeIndex(cell.writer) }
    }
}
