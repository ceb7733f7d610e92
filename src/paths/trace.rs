//! Traces: the part of an execution that an order of threads may change.
//!
//! **Output** of a watched execution ([`super::record`]): a [`Trace`], with its operations and synchronisation in order
//! ([`Action`]), and the branches that were evaluated between them ([`Evaluation`]).
//!
//! An operation is the triple of the paper, `location:operation:operand`: the place in the text that reads or writes, and the
//! cell.

use super::ids::{ActionId, EvaluationId};
use super::taint::{Taint, Taints};
use cssame_ir::sync::Mode;
use cssame_ir::{Access, DefinitionId, ReadId};
use cssame_schedule::{Clock, ExecutionStatus, LocksetId, Stamp};
use cssame_source::arena::Arena;
use cssame_vm::{Cell, Choice, CodeIndex, PathId};
use smallvec::SmallVec;

/// What an action does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ActionKind {
    /// An operation that reads.
    Read {
        /// The place.
        read: ReadId,
        /// The cell.
        cell: Cell,
    },
    /// An operation that writes.
    Write {
        /// The place.
        definition: DefinitionId,
        /// The cell.
        cell: Cell,
    },
    /// Takes a lock.
    Lock(Cell),
    /// Frees a lock.
    Unlock(Cell),
    /// Takes a readers-writer lock for reading.
    ReadLock(Cell),
    /// Does not read under a readers-writer lock any more.
    ReadUnlock(Cell),
    /// Begins to wait for a notification: of a condition, freeing a lock, or bare.
    Wait {
        /// The condition and its lock.
        condition: Option<(Cell, Cell)>,
    },
    /// Takes the lock of a condition again after the wait.
    Relock {
        /// The lock.
        lock: Cell,
        /// Whether it has given up waiting.
        timed_out: bool,
    },
    /// Wakes one or all that wait for a condition, or bare.
    Notify {
        /// The condition.
        condition: Option<Cell>,
        /// Whether all of them.
        all: bool,
    },
    /// Sets an event.
    Set(Cell),
    /// Clears an event.
    Clear(Cell),
    /// Goes on because an event is set.
    WaitEvent(Cell),
    /// Lowers a semaphore.
    Acquire(Cell),
    /// Raises a semaphore.
    Release(Cell),
    /// Arrives at a barrier.
    Arrive(Cell),
    /// Makes a thread that its next join waits for.
    Fork(PathId),
    /// Makes a thread.
    Spawn(PathId),
    /// Waits for the threads that it has forked; as many as there are at this join.
    Join,
    /// Waits for a thread.
    JoinThread(PathId),
}

impl ActionKind {
    /// The access, if it is an operation.
    #[must_use]
    pub fn access(self) -> Option<Access> {
        match self {
            ActionKind::Read { read, .. } => Some(Access::Read(read)),
            ActionKind::Write { definition, .. } => Some(Access::Write(definition)),
            _ => None,
        }
    }

    /// The cell of an operation.
    #[must_use]
    pub fn operand(self) -> Option<Cell> {
        match self {
            ActionKind::Read { cell, .. } | ActionKind::Write { cell, .. } => Some(cell),
            _ => None,
        }
    }

    /// Whether it is an operation that writes.
    #[must_use]
    pub fn is_write(self) -> bool {
        matches!(self, ActionKind::Write { .. })
    }

    /// Whether it makes threads or waits for their end.
    #[must_use]
    pub fn is_of_threads(self) -> bool {
        matches!(self, ActionKind::Fork(_) | ActionKind::Spawn(_) | ActionKind::Join | ActionKind::JoinThread(_))
    }
}

/// Something that a thread does.
#[derive(Clone, Copy, Debug)]
pub struct Action {
    /// Who.
    pub thread: PathId,
    /// The instruction.
    pub at: CodeIndex,
    /// The step of the thread that it belongs to, from 0.
    pub step: u32,
    /// How often the thread has done something at this instruction of this kind, this time included.
    pub instance: u32,
    /// What.
    pub kind: ActionKind,
    /// For an operation, the version of its cell: the number of writes so far, this one included.
    pub version: u32,
    /// For an operation, what its index is computed from; for a write, its value as well.
    pub sources: Taint,
    /// For a read, the last write of the cell by the same thread.
    pub own_write: Option<ActionId>,
}

/// An evaluation of a branch.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// Who.
    pub thread: PathId,
    /// The branch.
    pub at: CodeIndex,
    /// How often the thread has evaluated this branch, this time included.
    pub instance: u32,
    /// Number of actions before it.
    pub before: u32,
    /// What the branch tests.
    pub holds: bool,
    /// What that is computed from.
    pub sources: Taint,
    /// The evaluations of other branches that have decided that this one is evaluated.
    pub controls: SmallVec<[EvaluationId; 2]>,
}

/// A wait for a notification.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// The wait.
    pub action: ActionId,
    /// Whether the thread has gone on.
    pub woken: bool,
    /// The evaluations of branches that have decided that it waits.
    pub controls: SmallVec<[EvaluationId; 2]>,
}

/// What is known of an operation for the search for races.
#[derive(Clone, Debug)]
pub struct Occurrence {
    /// The operation.
    pub action: ActionId,
    /// The locks that its thread holds.
    pub locks: LocksetId,
    /// Whether nothing can come between it and what belongs to it.
    pub atomic: bool,
    /// It, and what comes before it by forks and joins alone.
    pub forks: (Stamp, Clock),
    /// The same by all synchronisation but locks.
    pub order: (Stamp, Clock),
}

/// What an execution has done.
#[derive(Debug)]
pub struct Trace {
    /// The actions, in order.
    pub actions: Arena<ActionId, Action>,
    /// The evaluations of branches, in order.
    pub evaluations: Arena<EvaluationId, Evaluation>,
    /// The waits.
    pub waits: Vec<Waiting>,
    /// The operations, in order, with what held around them.
    pub occurrences: Vec<Occurrence>,
    /// The sets of locks: sorted.
    pub locksets: Vec<Vec<(Cell, Mode)>>,
    /// Sets of operations that values are computed from.
    pub taints: Taints,
    /// The steps of the execution.
    pub steps: Vec<Choice>,
    /// How it has ended.
    pub status: ExecutionStatus,
    /// The thread that has failed.
    pub failing: Option<PathId>,
    /// In a deadlock, the threads that have not ended, and where they stand.
    pub blocked: Vec<(PathId, CodeIndex)>,
    /// Whether it was left where no thread came to anything new.
    pub endless: bool,
}

impl Trace {
    /// Memory that its long lists take.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.actions.len() * size_of::<Action>()
            + self.evaluations.len() * size_of::<Evaluation>()
            + self.occurrences.len() * size_of::<Occurrence>()
            + self.steps.len() * size_of::<Choice>()
    }
}
