//! Locks: the contents of the cell of a lock, the threads that may acquire it, and the effects of acquiring and releasing it.
//!
//! **Input**: a state, a lock and a thread. **Output**: whether the thread may acquire the lock, and the state after that.
//!
//! **Algorithm**: the lower half of a cell is the thread that holds the lock exclusively, from 1; 0 means no thread. The upper
//! half counts: for a re-entrant lock, the levels of its holder beyond the first; for a readers-writer lock, the reading threads.
//! The state has a sorted list of these threads and their counts next to the cells, so that a program without such locks has no
//! such data. A separate bit says that a lock is re-entrant: the property belongs to the object, however it is reached.
//!
//! If writers are preferred ([`Semantics::prefer_writers`](super::machine::Semantics::prefer_writers)), a thread that cannot
//! write at once begins to wait in a separate step, which its status records. Until it writes, no thread gets the lock for
//! reading. Writers are not ordered among each other: a writer that finds the lock free acquires it at once.
//!
//! **Soundness and limits**: a thread that holds a lock [`MAX_LEVELS`] times and acquires it once more counts as one that runs
//! for ever.

use super::memory::Layout;
use super::standing::Standing;
use super::state::{NO_THREAD, NO_WRITER, REENTRANT, ReadHold, State, ThreadIndex};
use cssame_ir::sync::{Kind, Mode, ObjectKind};

/// A thread holds one lock at most that often.
pub(super) const MAX_LEVELS: u32 = u16::MAX as u32;

/// The part of a cell that names the holder.
const HOLDER: i64 = u32::MAX as i64;

/// One level, or one reader.
const ONE: i64 = 1 << 32;

/// What has become of a lock that a thread takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// The thread holds it now.
    First,
    /// The thread holds it once more.
    Again,
    /// It may not be held more often.
    TooOften,
}

/// The number of a thread in the cell of a lock that it holds.
fn number(thread: ThreadIndex) -> i64 {
    i64::from(thread.0) + 1
}

/// The thread that holds a lock for itself, by the value of its cell: from 1, 0 for nobody.
#[inline]
pub(super) fn holder(value: i64) -> i64 {
    value & HOLDER
}

/// How many levels beyond the first the holder of a re-entrant lock has, or how many threads read.
fn count(value: i64) -> u32 {
    ((value & !REENTRANT) >> 32) as u32
}

impl State {
    /// Whether the holders of a lock let a thread take it by an operation.
    pub(super) fn may_take(&self, address: u32, thread: ThreadIndex, kind: Kind) -> bool {
        let value = self.value(address);
        if kind.is_on(ObjectKind::RwLock) {
            return match kind.mode() {
                Mode::Shared => holder(value) == 0,
                Mode::Exclusive => value == 0,
            };
        }
        may_lock(value, thread)
    }

    fn read_hold(&self, address: u32, thread: u16) -> Result<usize, usize> {
        self.readers.binary_search_by_key(&(address, thread), |hold| (hold.address, hold.thread))
    }

    /// The threads that read under a readers-writer lock, but for those that have ended.
    pub(super) fn readers_of(&self, address: u32) -> impl Iterator<Item = ThreadIndex> {
        let first = self.readers.partition_point(|hold| hold.address < address);
        let holds = self.readers[first..].iter().take_while(move |hold| hold.address == address);
        holds.filter(|hold| hold.thread != NO_THREAD).map(|hold| ThreadIndex(hold.thread))
    }

    /// The threads that wait for a readers-writer lock to write, where writers are preferred.
    pub(super) fn waiting_writers(&self, address: u32) -> impl Iterator<Item = ThreadIndex> {
        self.group(Standing::ToWrite(address))
    }

    /// Lets a thread take a lock that it may take, at that instruction.
    pub(super) fn take(&mut self, address: u32, thread: ThreadIndex, mode: Mode, at: u32) -> Taken {
        if mode == Mode::Shared {
            return self.take_for_reading(address, thread);
        }
        let cell = &mut self.cells[address as usize];
        if holder(cell.value) == 0 {
            cell.value |= number(thread);
            cell.writer = at;
            return Taken::First;
        }
        if count(cell.value) + 1 >= MAX_LEVELS {
            return Taken::TooOften;
        }
        cell.value += ONE;
        Taken::Again
    }

    fn take_for_reading(&mut self, address: u32, thread: ThreadIndex) -> Taken {
        match self.read_hold(address, thread.0) {
            Ok(index) if self.readers[index].count >= MAX_LEVELS => Taken::TooOften,
            Ok(index) => {
                self.readers[index].count += 1;
                Taken::Again
            }
            Err(index) => {
                self.readers.insert(index, ReadHold { address, thread: thread.0, count: 1 });
                self.cells[address as usize].value += ONE;
                Taken::First
            }
        }
    }

    /// Gives one hold of a lock back: the mode of it, and whether it was the last one of the thread. `None` where the
    /// thread does not hold the lock.
    pub(super) fn give_back(&mut self, address: u32, thread: ThreadIndex, kind: Kind) -> Option<(Mode, bool)> {
        let value = self.value(address);
        if holder(value) == number(thread) {
            let cell = &mut self.cells[address as usize];
            if count(value) > 0 {
                cell.value -= ONE;
                return Some((Mode::Exclusive, false));
            }
            cell.value &= REENTRANT;
            cell.writer = NO_WRITER;
            return Some((Mode::Exclusive, true));
        }
        if !kind.is_on(ObjectKind::RwLock) {
            return None;
        }
        let index = self.read_hold(address, thread.0).ok()?;
        self.readers[index].count -= 1;
        let is_last = self.readers[index].count == 0;
        if is_last {
            self.readers.remove(index);
            self.cells[address as usize].value -= ONE;
        }
        Some((Mode::Shared, is_last))
    }

    /// Frees all levels of a lock that a thread holds; gives those beyond the first. `None` where it does not hold it.
    pub(super) fn free_all(&mut self, address: u32, thread: ThreadIndex) -> Option<u16> {
        let cell = &mut self.cells[address as usize];
        if holder(cell.value) != number(thread) {
            return None;
        }
        let levels = count(cell.value) as u16;
        cell.value &= REENTRANT;
        cell.writer = NO_WRITER;
        Some(levels)
    }

    /// Lets a thread take a free lock again, with levels beyond the first.
    pub(super) fn take_all(&mut self, address: u32, thread: ThreadIndex, levels: u16, at: u32) {
        let cell = &mut self.cells[address as usize];
        cell.value |= number(thread) | i64::from(levels) << 32;
        cell.writer = at;
    }

    /// Forgets who reads under the locks of some cells, which are gone.
    pub(super) fn forget_readers(&mut self, start: u32, end: u32) {
        self.readers.retain(|hold| !(start..end).contains(&hold.address));
    }
}

/// Whether a thread may take a lock, by the value of its cell.
#[inline]
pub(super) fn may_lock(value: i64, thread: ThreadIndex) -> bool {
    holder(value) == 0 || value & REENTRANT != 0 && holder(value) == number(thread)
}

impl Layout {
    /// Notes that the holder of some locks is no more: its slot may be used again, and the locks stay taken.
    pub(super) fn orphan_locks(&self, state: &mut State, ended: ThreadIndex) {
        let State { cells, blocks, .. } = state;
        self.each_lock(blocks, |address| {
            let cell = &mut cells[address as usize];
            if holder(cell.value) == number(ended) {
                cell.value = (cell.value & REENTRANT) | (i64::from(NO_THREAD) + 1);
            }
        });
        let mut index = 0;
        while index < state.readers.len() {
            let ReadHold { address, thread, .. } = state.readers[index];
            if thread != ended.0 {
                index += 1;
                continue;
            }
            state.readers.remove(index);
            // One that has ended is as good as many.
            match state.read_hold(address, NO_THREAD) {
                Ok(_) => state.cells[address as usize].value -= ONE,
                Err(place) => state.readers.insert(place, ReadHold { address, thread: NO_THREAD, count: 1 }),
            }
        }
    }
}

/// The holder of a lock, as an index of a thread, and its levels beyond the first.
pub(super) fn held(value: i64) -> Option<(usize, u32)> {
    let holder = usize::try_from(holder(value) - 1).ok()?;
    Some((holder, count(value)))
}
