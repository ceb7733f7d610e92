//! An operation of an execution.
//!
//! [`Operation`] is data: the action of a thread, its cell or object, the operation that it reads from, and its direct
//! predecessors. The [log](super::log) contains operations in an order, with their pasts.

use cssame_ir::sync;
use cssame_vm::PathId;
use smallvec::SmallVec;

/// No operation; as a source, the initial value.
pub(super) const NONE: u32 = u32::MAX;

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Reads a cell.
    Read,
    /// Writes a cell.
    Write,
    /// An atomic expression: reads a cell, and writes it unless it is a `cas` that fails.
    Atomic,
    /// Chooses a value.
    Choose,
    /// Makes threads for a join.
    Fork,
    /// Makes a thread with a handle.
    Spawn,
    /// Waits for threads.
    Join,
    /// Works on a synchronisation object. It reads from the operation before it on that object, or on any of its group, and writes
    /// it; where readers of a lock only read, they write nothing.
    Synchronise(sync::Kind),
    /// Arrives at a barrier.
    Arrive,
}

impl Kind {
    /// A number for the hash. Which operation on an object it is follows from what the thread has done before.
    pub fn number(self) -> u64 {
        match self {
            Kind::Read => 0,
            Kind::Write => 1,
            Kind::Atomic => 2,
            Kind::Choose => 3,
            Kind::Fork => 4,
            Kind::Spawn => 5,
            Kind::Join => 6,
            Kind::Synchronise(_) => 7,
            Kind::Arrive => 8,
        }
    }
}

/// A body of a reader of a readers-writer lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ReaderBody {
    /// The lock.
    pub lock: u32,
    /// The operation that has given it back before; [`NONE`] where there was none.
    pub source: u32,
}

/// An operation.
#[derive(Clone, Debug)]
pub(super) struct Operation {
    pub kind: Kind,
    pub thread: PathId,
    /// The choice among the alternatives of its step. Of an operation on an object, what it has led to: a verdict, or which
    /// thread it has woken, from 1; 0 where there was nothing to choose, or it is open. Of an arrival, its round.
    pub alternative: u32,
    /// The cell, for an access; the object, or its group.
    pub cell: u32,
    /// The write that it reads from, for a read; [`NONE`] for the initial value, and for other operations.
    pub source: u32,
    /// Whether it writes.
    pub writes: bool,
    /// Whether it begins or ends a body of a lock that only looks.
    pub looks: bool,
    /// What comes right before it by program order, fork and join, and what has woken its thread. At last what does so by what its object
    /// holds: of an operation that writes one, the ends of the bodies that have looked there since the write before; of one that
    /// lowers a semaphore, the raise that it needs.
    pub before: SmallVec<[u32; 2]>,
    /// How many of these come before it by what its object holds.
    pub by_object: u32,
    /// The threads that it makes, or wakes.
    pub makes: SmallVec<[PathId; 4]>,
    /// For a fork, the instruction: that of its join is not known. For an operation on an object, the object.
    pub place: u32,
    /// What its object holds behind the whole step.
    pub value: i64,
    /// The operation with all its past, reads-from included.
    pub hash: u128,
}

impl Operation {
    pub fn reads(&self) -> bool {
        matches!(self.kind, Kind::Read | Kind::Atomic | Kind::Synchronise(_))
    }

    /// Whether it works on a synchronisation object with a state.
    pub fn synchronises(&self) -> bool {
        matches!(self.kind, Kind::Synchronise(_))
    }

    /// Whether it works on such an object and changes what others find there.
    pub fn changes_object(&self) -> bool {
        self.synchronises() && self.writes
    }

    /// Whether executions part at what comes first on its object: it, or another operation.
    pub fn may_come_first(&self) -> bool {
        self.changes_object() || self.begins_to_look()
    }

    /// Whether it takes a lock.
    pub fn takes_lock(&self) -> bool {
        self.kind == Kind::Synchronise(sync::Kind::Lock)
    }

    /// Whether it takes a lock to look only.
    pub fn begins_to_look(&self) -> bool {
        self.looks && self.takes_lock()
    }

    /// Whether it gives such a lock back, for good or to wait.
    pub fn ends_to_look(&self) -> bool {
        self.looks && !self.begins_to_look()
    }

    /// What comes right before it whatever its object holds.
    pub fn before_thread(&self) -> &[u32] {
        &self.before[..self.before.len() - self.by_object as usize]
    }

    /// What comes right before it by what its object holds, but for its source.
    pub fn before_by_object(&self) -> &[u32] {
        &self.before[self.before.len() - self.by_object as usize..]
    }

    /// Whether it is what another operation on its cell could read from, or what could come first there.
    pub fn may_be_read(&self) -> bool {
        let is_set = self.kind == Kind::Synchronise(sync::Kind::Set);
        self.writes || self.kind == Kind::Atomic || self.begins_to_look() || is_set
    }

    /// Whether it gives a readers-writer lock back.
    pub fn gives_back_rwlock(&self) -> bool {
        self.kind == Kind::Synchronise(sync::Kind::UnlockRw)
    }

    /// Memory of its lists, where they are long.
    pub fn bytes_of_lists(&self) -> usize {
        let before = if self.before.spilled() { self.before.capacity() * size_of::<u32>() } else { 0 };
        let makes = if self.makes.spilled() { self.makes.capacity() * size_of::<PathId>() } else { 0 };
        before + makes
    }
}
