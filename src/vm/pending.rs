//! Pending operations: the first operation of the next step of a thread.
//!
//! **Input**: a state and a thread. **Output**: this operation, with its address. Schedules name steps by it, and race-directed
//! testing looks for two threads before conflicting accesses.

use super::code::{AtomicKind, Code};
use super::machine::Machine;
use super::standing::Standing;
use super::state::{State, ThreadIndex, ThreadStatus};
use super::tables::PathId;
use super::value;
use cssame_ir::sync::Kind;
use cssame_ir::{DefinitionId, Pointer, ReadId};
use smallvec::SmallVec;

/// An operation that a thread stands before. Addresses are `None` where an index is out of range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pending {
    /// A read of shared memory.
    Read {
        /// The place in the text.
        read: ReadId,
        /// The cell.
        address: Option<u32>,
    },
    /// A write to shared memory.
    Write {
        /// The place in the text.
        definition: DefinitionId,
        /// The cell.
        address: Option<u32>,
    },
    /// An atomic expression on shared memory.
    Atomic {
        /// `cas`, `swap` or `fetch_add`.
        name: &'static str,
        /// The place in the text that reads.
        read: ReadId,
        /// The place in the text that writes.
        definition: DefinitionId,
        /// The cell.
        address: Option<u32>,
        /// Whether it would write in this state: a `cas` that would fail only reads.
        writes: bool,
    },
    /// Memory is given back.
    Free {
        /// The place in the text.
        definition: DefinitionId,
        /// The first cell of the object.
        first: u32,
        /// Number of its cells; 0 where the pointer leads to no object.
        cells: u32,
    },
    /// An operation on a synchronisation object.
    Synchronise {
        /// Which operation.
        kind: Kind,
        /// The object; `None` also for a bare `wait` or `notify`.
        address: Option<u32>,
    },
    /// Taking a lock again after a wait.
    Relock {
        /// The lock.
        address: Option<u32>,
    },
    /// Beginning to wait for a readers-writer lock to write, where writers are preferred.
    WaitToWrite {
        /// The lock.
        address: u32,
    },
    /// Giving up waiting for a condition; where threads may wake for no reason, the second alternative is that.
    TimeOut {
        /// The condition.
        address: u32,
    },
    /// Waking from a wait for no reason.
    SpuriousWakeup {
        /// The condition.
        address: u32,
    },
    /// Making the threads of a `cobegin` or an iteration of a `parfor`.
    Fork,
    /// Waiting for them.
    Join,
    /// Making a thread with a handle.
    Spawn,
    /// Waiting for it; `None` for an empty handle.
    JoinThread {
        /// The thread.
        thread: Option<ThreadIndex>,
    },
    /// A choice.
    Choose,
    /// An atomic block.
    AtomicBlock,
    /// Local work with an effect: `print`, `assert`, `error`, `assume`, `divide`, `index`.
    Effect {
        /// Its name.
        name: &'static str,
    },
    /// Local work without end.
    Divergence,
}

impl Machine {
    /// The operation that the next step of a thread begins with; `None` for a thread that has ended, or that waits to
    /// be woken.
    #[must_use]
    pub fn pending(&self, state: &State, thread: ThreadIndex) -> Option<Pending> {
        let slot = state.threads.get(thread.index())?;
        let code = self.compiled.code[slot.pc as usize];
        let address = |place| self.cell_at(state, thread, place).map(|(address, _)| address);
        match (slot.status, code) {
            (ThreadStatus::Ready, _) => {}
            (ThreadStatus::Reacquiring | ThreadStatus::TimedOut, Code::Synchronise { lock, .. }) => {
                return Some(Pending::Relock { address: address(lock) });
            }
            (ThreadStatus::WaitingToWrite, Code::Synchronise { kind, .. }) => {
                return Some(Pending::Synchronise { kind, address: Some(slot.wait) });
            }
            (ThreadStatus::WaitingCondition, Code::Synchronise { kind: Kind::TimedWait, .. }) => {
                return Some(Pending::TimeOut { address: slot.wait });
            }
            (ThreadStatus::WaitingCondition, _) if self.options.semantics.spurious_wakeups => {
                return Some(Pending::SpuriousWakeup { address: slot.wait });
            }
            (ThreadStatus::Diverged, _) => return Some(Pending::Divergence),
            _ => return None,
        }
        Some(match code {
            Code::SharedLoad { address, read, .. } => Pending::Read { read, address: Some(address) },
            Code::SharedLoadAt { place, read, .. } | Code::WatchedLoad { place, read, .. } => {
                Pending::Read { read, address: address(place) }
            }
            Code::SharedStore { address, definition, .. } => Pending::Write { definition, address: Some(address) },
            Code::SharedStoreAt { place, definition, .. } => Pending::Write { definition, address: address(place) },
            Code::SharedAtomic { atomic } => {
                let atomic = self.compiled.atomics[atomic as usize];
                let name = atomic.kind.word();
                let (read, definition) = (atomic.read, atomic.definition);
                let cell = self.cell_at(state, thread, atomic.place);
                let writes = match atomic.kind {
                    AtomicKind::CompareAndSwap { old, double, .. } => {
                        let expected = old.value(state.frame(thread), &self.compiled.constants);
                        cell.is_some_and(|(_, value)| value::equal(double, value, expected))
                    }
                    AtomicKind::CompareExchange { old, .. } => {
                        let expected = old.value(state.frame(thread), &self.compiled.constants);
                        cell.is_some_and(|(_, value)| value == expected)
                    }
                    AtomicKind::Swap(_) | AtomicKind::FetchAdd(..) | AtomicKind::FetchModify(..) => cell.is_some(),
                };
                Pending::Atomic { name, read, definition, address: cell.map(|(address, _)| address), writes }
            }
            Code::SharedFree { pointer, definition } => {
                let pointer = Pointer::from_bits(pointer.value(state.frame(thread), &self.compiled.constants));
                let (first, cells) = match (self.layout.objects(&state.blocks).on_heap(pointer), pointer.target()) {
                    (Some(block), _) => (block.start, block.size),
                    (None, Some((cssame_ir::Object::Local(start), _))) => (start, 0),
                    (None, _) => (0, 0),
                };
                Pending::Free { definition, first, cells }
            }
            Code::JoinThread { handle, .. } => {
                let handle = handle.value(state.frame(thread), &self.compiled.constants);
                Pending::JoinThread { thread: (handle > 0).then(|| ThreadIndex((handle - 1) as u16)) }
            }
            Code::Fork { .. } => Pending::Fork,
            Code::Join => Pending::Join,
            Code::Spawn { .. } => Pending::Spawn,
            Code::Choose { .. } => Pending::Choose,
            Code::AtomicBegin => Pending::AtomicBlock,
            Code::Synchronise { kind, object, .. } => {
                let address = if kind.operands().is_empty() { None } else { address(object) };
                match address {
                    Some(address)
                        if kind == Kind::WriteLock
                            && self.options.semantics.prefer_writers
                            && !state.may_take(address, thread, kind) =>
                    {
                        Pending::WaitToWrite { address }
                    }
                    _ => Pending::Synchronise { kind, address },
                }
            }
            code => Pending::Effect { name: effect(code) },
        })
    }

    /// The threads of which the next step of a thread wakes one, by alternative.
    #[must_use]
    pub fn wakeable(&self, state: &State, thread: ThreadIndex) -> SmallVec<[PathId; 4]> {
        let Some(slot) = state.threads.get(thread.index()).filter(|slot| slot.status == ThreadStatus::Ready) else {
            return SmallVec::new();
        };
        match self.compiled.code[slot.pc as usize] {
            Code::Synchronise { kind: Kind::Notify, object, .. } => match self.cell_at(state, thread, object) {
                Some((address, _)) => {
                    state.group(Standing::ForCondition(address)).map(|waiting| state.path(waiting)).collect()
                }
                None => SmallVec::new(),
            },
            Code::Synchronise { kind: Kind::NotifyBare, .. } => {
                state.group(Standing::Bare).map(|waiting| state.path(waiting)).collect()
            }
            _ => SmallVec::new(),
        }
    }

    /// Whether an operation on a lock, done by a thread in this state, may change places with others of which that holds as
    /// well: readers come and go, and a try that fails changes nothing.
    #[must_use]
    pub fn shares_lock(&self, state: &State, thread: ThreadIndex, kind: Kind, address: u32) -> bool {
        match kind {
            Kind::ReadLock | Kind::TryReadLock => true,
            Kind::TryLock => !state.may_take(address, thread, kind),
            Kind::UnlockRw => state.readers_of(address).any(|reader| reader == thread),
            _ => false,
        }
    }

    /// The lock that a thread gives back by its next step, where that is a wait for a condition.
    #[must_use]
    pub fn released_lock(&self, state: &State, thread: ThreadIndex) -> Option<u32> {
        let slot = state.threads.get(thread.index())?;
        match (slot.status, self.compiled.code[slot.pc as usize]) {
            (ThreadStatus::Ready, Code::Synchronise { kind: Kind::WaitCondition | Kind::TimedWait, lock, .. }) => {
                self.cell_at(state, thread, lock).map(|(address, _)| address)
            }
            _ => None,
        }
    }
}

fn effect(code: Code) -> &'static str {
    match code {
        Code::Print { .. } => "print",
        Code::Assert { .. } => "assert",
        Code::Error { .. } => "error",
        Code::Assume { .. } => "assume",
        Code::Partial { op, .. } if op.divides() => "divide",
        Code::Partial { .. } => "compute",
        Code::Free { .. } => "free",
        _ => "index",
    }
}
