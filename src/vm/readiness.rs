//! The data that decides whether a thread can move.
//!
//! **Input**: a thread, and the value of a cell, or the positions of other threads. **Output**: the number of ways in which the
//! thread can move, if no other data decides it.

use super::locks;
use super::standing::Standing;
use super::state::{REENTRANT, ThreadIndex};
use cssame_ir::sync::Kind;

/// What decides whether a thread can move, where no other one is in the middle of an atomic block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Readiness {
    /// Nothing but the thread itself: it can move in so many ways.
    Fixed(u32),
    /// It can move, in one way, if that holds of the value at an address.
    ByCell(u32, CellTest),
    /// It can move, in one way, if that thread has ended.
    ByEnd(ThreadIndex),
    /// It can move in one way for each thread that stands so, and in one way if there is none.
    ByGroup(Standing),
    /// More than that.
    ByOthers,
}

/// A condition on the value of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CellTest {
    /// It is a lock that the thread may take.
    MayLock,
    /// It is a lock that nobody holds.
    Free,
    /// It is not zero.
    NotZero,
    /// It is more than zero.
    Positive,
}

impl CellTest {
    /// What has to hold of the object of an operation, if that is one cell; `None` for operations that are always possible, and those
    /// that others decide.
    pub(super) fn of(kind: Kind) -> Option<CellTest> {
        match kind {
            Kind::Lock => Some(CellTest::MayLock),
            Kind::WaitEvent => Some(CellTest::NotZero),
            Kind::Acquire => Some(CellTest::Positive),
            Kind::TryLock
            | Kind::TryReadLock
            | Kind::TryWriteLock
            | Kind::Unlock
            | Kind::UnlockRw
            | Kind::TimedWait
            | Kind::Set
            | Kind::Clear
            | Kind::Release
            | Kind::Barrier
            | Kind::WaitCondition
            | Kind::WaitBare
            | Kind::NotifyAll
            | Kind::NotifyAllBare
            | Kind::ReadLock
            | Kind::WriteLock
            | Kind::Notify
            | Kind::NotifyBare => None,
        }
    }

    pub(super) fn holds(self, value: i64, thread: ThreadIndex) -> bool {
        match self {
            CellTest::MayLock => locks::may_lock(value, thread),
            CellTest::Free => locks::holder(value) == 0,
            CellTest::NotZero => value != 0,
            CellTest::Positive => value > 0,
        }
    }
}

/// Whether some thread could do an operation on an object, by the value of its cell.
#[must_use]
pub fn lets_through(kind: Kind, value: i64) -> bool {
    match kind {
        // Its holder takes a re-entrant lock again.
        Kind::Lock => locks::holder(value) == 0 || value & REENTRANT != 0,
        Kind::ReadLock => locks::holder(value) == 0,
        Kind::WriteLock => value == 0,
        // The others do not ask who the thread is.
        kind => CellTest::of(kind).is_none_or(|test| test.holds(value, ThreadIndex::default())),
    }
}
