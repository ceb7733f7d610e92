//! Events: the actions of an execution, for its observers.
//!
//! **Input**: the steps of an execution. **Output**: calls of an [`Observer`]: for every access to memory (private ones are
//! marked), every synchronisation operation, the creation and the end of threads, the branches taken, the functions entered and
//! left, and the beginning and the end of each step. All dynamic analyses use these; none steps through the program itself.
//!
//! **Algorithm**: events name threads by their path and cells by their object, which are the same in all executions. Each name
//! comes with its current location in the state: the slot of the thread, the address of the cell. Locations are dense and reused:
//! they are for data that is kept no longer than the thread or the cell, such as an index into a vector.
//!
//! The machine is compiled exactly twice, whatever the observers: for those that want no events, and for all others behind
//! `Told`, so that an event is one indirect call. Both are in this crate.
//!
//! **Soundness and limits**: an observer that is not [`Observer::ACTIVE`] only receives the beginnings and ends of steps. The
//! numbers of instances in names increase as long as the program runs. A set of data distinguished by them is unbounded if the
//! program is endless.

use super::code::CodeIndex;
use super::outcome::Failure;
use super::state::ThreadIndex;
use super::tables::{OutputId, PathId};
use cssame_ir::sync::{Kind, Mode};
use cssame_ir::{DefinitionId, FunctionId, LeafId, Program, ReadId, VariableId};

/// A thread, as events name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ThreadName {
    /// Its name, the same in all executions.
    pub path: PathId,
    /// Its location: the slot that it has in the state, which another thread may have after its end.
    pub slot: ThreadIndex,
}

/// A variable in memory: a global, or one of the instances of a local.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Object {
    /// The variable.
    pub variable: VariableId,
    /// The thread that has made it; main for a global.
    pub owner: PathId,
    /// Its number among the instances of the variable that the thread has made, from 1; 0 for a global.
    pub ordinal: u32,
}

impl Object {
    /// A global.
    #[must_use]
    pub fn global(variable: VariableId) -> Object {
        Object { variable, owner: PathId(0), ordinal: 0 }
    }

    /// Whether it is a global.
    #[must_use]
    pub fn is_global(self) -> bool {
        self.ordinal == 0
    }
}

/// A cell, as events name it: the same in all executions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cell {
    /// What it is a part of.
    pub object: Object,
    /// Which part: the offset from the first cell.
    pub part: u32,
}

impl Cell {
    /// The variable, or the part of one, that it belongs to.
    #[must_use]
    pub fn leaf(self, program: &Program) -> Option<LeafId> {
        self.element(program).map(|(leaf, _)| leaf)
    }

    /// The leaf that it belongs to, and the number of the element.
    #[must_use]
    pub fn element(self, program: &Program) -> Option<(LeafId, u32)> {
        program.leaf_at(self.object.variable, self.part)
    }

    /// Its name from outside: `L`, `fork[2]`, `acc.balance`.
    #[must_use]
    pub fn name(self, program: &Program) -> String {
        let Some((leaf, element)) = self.element(program) else { return "?".to_owned() };
        program.leaves[leaf].element_name(&program.texts, element)
    }
}

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// It reads a cell.
    Read {
        /// The place that reads.
        read: ReadId,
        /// The cell.
        cell: Cell,
        /// Its location.
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
        cell: Cell,
        /// Its location.
        address: u32,
        /// What it held before.
        old: i64,
        /// What it holds now.
        value: i64,
        /// Whether the access is a visible operation.
        shared: bool,
    },
    /// It takes a lock that it did not hold; also when it comes back from waiting for a condition.
    Lock {
        /// The lock.
        cell: Cell,
        /// Its location.
        address: u32,
        /// The operation: also one that tries, and a wait that it comes back from.
        by: Kind,
    },
    /// It frees a lock: it does not hold it any more. Also when it begins to wait for a condition.
    Unlock {
        /// The lock.
        cell: Cell,
        /// Its location.
        address: u32,
        /// The operation: also a wait that begins.
        by: Kind,
        /// In which mode it held the lock.
        mode: Mode,
    },
    /// It takes a lock that it holds once more, or gives one of several holds back.
    Nested {
        /// The lock.
        cell: Cell,
        /// Its location.
        address: u32,
        /// The operation.
        by: Kind,
        /// In which mode it holds the lock.
        mode: Mode,
    },
    /// It tries to take a lock that it may not take now.
    NotTaken {
        /// The lock.
        cell: Cell,
        /// Its location.
        address: u32,
        /// The operation.
        by: Kind,
    },
    /// An operation has a verdict; told behind what the operation does.
    Verdict {
        /// Which.
        value: bool,
    },
    /// It sets an event.
    Set {
        /// The event.
        cell: Cell,
        /// Its location.
        address: u32,
    },
    /// It clears an event.
    Clear {
        /// The event.
        cell: Cell,
        /// Its location.
        address: u32,
    },
    /// It goes on because an event is set.
    Waited {
        /// The event.
        cell: Cell,
        /// Its location.
        address: u32,
    },
    /// It arrives at a barrier.
    Arrive {
        /// The barrier.
        cell: Cell,
        /// Its location.
        address: u32,
    },
    /// It goes on because all have arrived; one such event for each of them, after the last arrival.
    Leave {
        /// The barrier.
        cell: Cell,
        /// Its location.
        address: u32,
    },
    /// It begins to wait for a condition, or bare (`None`).
    Wait {
        /// The condition.
        cell: Option<Cell>,
        /// Its location.
        condition: Option<u32>,
        /// The operation.
        by: Kind,
    },
    /// It notifies one or all that wait for a condition, or bare (`None`). The woken threads follow.
    Notify {
        /// The condition.
        cell: Option<Cell>,
        /// Its location.
        condition: Option<u32>,
        /// Whether all of them.
        all: bool,
    },
    /// It begins to wait for a readers-writer lock to write. Only where writers are preferred.
    WaitToWrite {
        /// The lock.
        cell: Cell,
        /// Its location.
        address: u32,
    },
    /// It gives up waiting for a condition.
    TimedOut {
        /// The condition.
        cell: Cell,
        /// Its location.
        address: u32,
    },
    /// It is woken by a thread, or (`None`) for no reason.
    Woken {
        /// Who notified it.
        by: Option<ThreadName>,
    },
    /// It lowers a semaphore.
    Acquire {
        /// The semaphore.
        cell: Cell,
        /// Its location.
        address: u32,
    },
    /// It raises a semaphore.
    Release {
        /// The semaphore.
        cell: Cell,
        /// Its location.
        address: u32,
    },
    /// It makes a thread for its next join.
    Fork {
        /// The new thread.
        child: ThreadName,
    },
    /// It makes a thread that nobody waits for by itself.
    Spawn {
        /// The new thread.
        child: ThreadName,
    },
    /// All threads that it has forked have ended, and it goes on.
    Join,
    /// A spawned thread has ended, and it goes on.
    JoinThread {
        /// The thread that has ended.
        child: ThreadName,
    },
    /// It ends.
    End {
        /// The thread whose join waits for it.
        parent: Option<ThreadName>,
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
        /// The instance of the variable.
        object: Object,
        /// The location of its first cell.
        address: u32,
        /// Number of its cells.
        size: u32,
    },
    /// It has given an object on the heap back; told behind the writes of its cells.
    Free {
        /// The object.
        object: Object,
        /// The location of its first cell.
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

impl Event {
    /// The operation on synchronisation objects that it is (a part of), and the location of its object, if that has one: the
    /// lock of a wait on a condition that releases or acquires it, the condition where the wait begins. Being woken names
    /// neither.
    #[must_use]
    pub fn synchronisation(self) -> Option<(Kind, Option<u32>)> {
        Some(match self {
            Event::Lock { address, by, .. }
            | Event::Unlock { address, by, .. }
            | Event::Nested { address, by, .. }
            | Event::NotTaken { address, by, .. } => (by, Some(address)),
            Event::WaitToWrite { address, .. } => (Kind::WriteLock, Some(address)),
            Event::TimedOut { address, .. } => (Kind::TimedWait, Some(address)),
            Event::Set { address, .. } => (Kind::Set, Some(address)),
            Event::Clear { address, .. } => (Kind::Clear, Some(address)),
            Event::Waited { address, .. } => (Kind::WaitEvent, Some(address)),
            Event::Arrive { address, .. } | Event::Leave { address, .. } => (Kind::Barrier, Some(address)),
            Event::Wait { condition, by, .. } => (by, condition),
            Event::Notify { condition, all, .. } => match (condition, all) {
                (Some(_), false) => (Kind::Notify, condition),
                (Some(_), true) => (Kind::NotifyAll, condition),
                (None, false) => (Kind::NotifyBare, None),
                (None, true) => (Kind::NotifyAllBare, None),
            },
            Event::Acquire { address, .. } => (Kind::Acquire, Some(address)),
            Event::Release { address, .. } => (Kind::Release, Some(address)),
            Event::Read { .. }
            | Event::Write { .. }
            | Event::Woken { .. }
            | Event::Fork { .. }
            | Event::Spawn { .. }
            | Event::Join
            | Event::JoinThread { .. }
            | Event::End { .. }
            | Event::Choose { .. }
            | Event::Verdict { .. }
            | Event::Print { .. }
            | Event::Allocate { .. }
            | Event::Free { .. }
            | Event::AtomicBegin
            | Event::AtomicEnd
            | Event::Failure(_) => return None,
        })
    }
}

/// Watches an execution. Only [`Observer::event`] must be there; what the others tell is not asked for then.
pub trait Observer {
    /// Whether it wants to be told of events, branches, and functions that are entered, called and left.
    const ACTIVE: bool = true;

    /// Whether it asks for the names of cells and for the functions that are entered. Where nobody does, events name any
    /// cell and [`Observer::enter`] is not called: most searches keep locations alone, and finding names takes time.
    const DETAILS: bool = true;

    /// `thread` does something at the instruction `at`.
    fn event(&mut self, thread: ThreadName, at: CodeIndex, event: Event);

    /// The execution begins with this thread.
    #[inline(always)]
    fn begin_main(&mut self, _: ThreadName) {}

    /// A step of `thread` begins. Before the first one, main may do local work.
    #[inline(always)]
    fn begin_step(&mut self, _: ThreadName) {}

    /// A step of `thread`, which may have ended, is over; also one that fails or is discarded. `instructions` is how
    /// many were executed in it, by this thread and by those that it has made or woken.
    #[inline(always)]
    fn end_step(&mut self, _: ThreadName, _instructions: u32) {}

    /// `thread` comes to the branch at an instruction, and goes the way that it has if the condition holds, or not.
    #[inline(always)]
    fn branch(&mut self, _: ThreadName, _at: CodeIndex, _holds: bool) {}

    /// `thread` enters a function: by a call, or because it begins there. This is told when the first event or the
    /// first step within the function begins, or else the function is left.
    #[inline(always)]
    fn enter(&mut self, _: ThreadName, _: FunctionId) {}

    /// `thread` leaves the function that it has entered last.
    #[inline(always)]
    fn leave(&mut self, _: ThreadName) {}

    /// `thread` calls a function at an instruction, with these arguments, as bits; told at once, unlike [`Observer::enter`].
    #[inline(always)]
    fn call(&mut self, _: ThreadName, _at: CodeIndex, _: FunctionId, _arguments: &[i64]) {}

    /// The function that `thread` is about to leave gives this result, as bits; only where calls are told.
    #[inline(always)]
    fn result(&mut self, _: ThreadName, _bits: i64) {}
}

/// An observer of any type, as a step sees it.
pub(super) trait Told {
    fn event(&mut self, thread: ThreadName, at: CodeIndex, event: Event);
    fn branch(&mut self, thread: ThreadName, at: CodeIndex, holds: bool);
    fn enter(&mut self, thread: ThreadName, function: FunctionId);
    fn leave(&mut self, thread: ThreadName);
    fn call(&mut self, thread: ThreadName, at: CodeIndex, function: FunctionId, arguments: &[i64]);
    fn result(&mut self, thread: ThreadName, bits: i64);
}

impl<O: Observer> Told for O {
    fn event(&mut self, thread: ThreadName, at: CodeIndex, event: Event) {
        Observer::event(self, thread, at, event);
    }

    fn branch(&mut self, thread: ThreadName, at: CodeIndex, holds: bool) {
        Observer::branch(self, thread, at, holds);
    }

    fn enter(&mut self, thread: ThreadName, function: FunctionId) {
        Observer::enter(self, thread, function);
    }

    fn leave(&mut self, thread: ThreadName) {
        Observer::leave(self, thread);
    }

    fn call(&mut self, thread: ThreadName, at: CodeIndex, function: FunctionId, arguments: &[i64]) {
        Observer::call(self, thread, at, function, arguments);
    }

    fn result(&mut self, thread: ThreadName, bits: i64) {
        Observer::result(self, thread, bits);
    }
}

/// What a step tells of: to whom, and whether with [details](Observer::DETAILS). Where the types of observers end: behind this the
/// machine is compiled in its own crate, not in each one that has an observer.
pub(super) fn told<O: Observer>(observer: &mut O) -> Option<(&mut dyn Told, bool)> {
    if O::ACTIVE { Some((observer, O::DETAILS)) } else { None }
}
