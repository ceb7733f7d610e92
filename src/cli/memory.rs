//! The memory of the process, and its limit.
//!
//! **Input**: the allocations and deallocations of the program's allocator. **Output**: the [`Budget`](cssame_budget::Budget)
//! checks the limit whenever it checks the clock. The allocator itself ends the process beyond the limit.
//!
//! **Algorithm**: blocks are counted when they are allocated. Only the system sees gaps between blocks
//! ([`resident`](super::resident)), and it is asked only from time to time. Each time it reports how much more may be allocated
//! if all of that were new to the system; half of that amount is allocated before the next question.
//!
//! **Soundness and limits**: searches count the data that they keep, and stop at a part of the limit ([`for_searches`]), so that
//! they stop at the same place in each run and for any number of cores. Data that no search counts, such as reports, is only seen
//! here. Limits below [`LEAST`] are limits of searches alone, since the program itself takes some of that. If the system provides
//! no information, gaps are not seen.

use super::resident::resident;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The memory of this process. An allocator belongs to a process, so this is a static.
pub static PROCESS: Memory = Memory::unbounded();

/// The least bound that the whole process is held to.
const LEAST: u64 = 64 << 20;

/// What the program, what it is made from, and its answer take, besides searches.
const PROGRAM: u64 = 16 << 20;

/// The least that is given out before the system is asked again.
const LEAST_MORE: u64 = 1 << 18;

/// Blocks of that many bytes are no matter of a few steps: the system is asked before each of them.
const LARGE: u64 = 1 << 22;

/// Bytes that an allocator has given out, and those that the system has given to the process.
#[derive(Debug)]
pub struct Memory {
    /// Both numbers.
    counters: [AtomicU64; 2],
    /// What may be given out before the system is asked.
    until_asked: AtomicU64,
    /// What may be given out at all.
    bound: AtomicU64,
    /// Whether the system is asked now.
    is_asked: AtomicBool,
}

/// What a block takes with what the allocator of the GNU C library keeps beside it.
fn block(size: usize) -> u64 {
    ((size as u64).saturating_add(8).next_multiple_of(16)).max(32)
}

impl Memory {
    /// Nothing is given out, and there is no bound.
    const fn unbounded() -> Memory {
        let [until_asked, bound] = [const { AtomicU64::new(u64::MAX) }; 2];
        let (counters, is_asked) = ([const { AtomicU64::new(0) }; 2], AtomicBool::new(false));
        Memory { counters, until_asked, bound, is_asked }
    }

    /// A block is asked for, and counted. Whether it may be had without more ado.
    #[inline]
    pub fn give(&self, size: usize) -> bool {
        let size = block(size);
        let given = self.counters[0].fetch_add(size, Ordering::Relaxed).saturating_add(size);
        size < LARGE && given <= self.until_asked.load(Ordering::Relaxed)
    }

    /// Whether a block that is counted, and was not to be had without more ado, may be had: the system is asked how much memory the
    /// process has. So many bytes of the block are new, not moved from another one. Nothing here allocates.
    #[cold]
    pub fn give_after_asking(&self, new: usize) -> bool {
        let bound = self.bound.load(Ordering::Relaxed);
        if self.given() > bound {
            return false;
        }
        // It seldom fits into a gap if it is large.
        let new = if new as u64 >= LARGE { new as u64 } else { 0 };
        if new == 0 && self.is_asked.swap(true, Ordering::Relaxed) {
            // Another thread asks. A small block may be had: soon there is an answer.
            return true;
        }
        let more = self.more(resident().map_or(0, |resident| resident + new));
        self.is_asked.store(false, Ordering::Relaxed);
        more > 0
    }

    /// Notes what the system has given to the process, or is about to give; gives what may be given out until it is asked again, 0
    /// where that is too much.
    pub(super) fn more(&self, resident: u64) -> u64 {
        self.counters[1].store(resident, Ordering::Relaxed);
        let (given, bound) = (self.given(), self.bound.load(Ordering::Relaxed));
        // Blocks that nobody has written to yet are no memory of the system, and will be.
        let left = with_gaps(bound).saturating_sub(resident.max(given));
        let more = (left / 2).max(LEAST_MORE.min(left));
        self.until_asked.store(given.saturating_add(more).min(bound), Ordering::Relaxed);
        more
    }

    /// A block came back.
    #[inline]
    pub fn take_back(&self, size: usize) {
        self.counters[0].fetch_sub(block(size), Ordering::Relaxed);
    }

    /// The bytes that are given out; 0 where the program has another allocator. Behind it what the process has as the system
    /// counted it when it was asked last; 0 where it was not.
    pub(super) fn counters(&self) -> &[AtomicU64; 2] {
        &self.counters
    }

    /// The bytes that are given out now.
    pub(super) fn given(&self) -> u64 {
        self.counters[0].load(Ordering::Relaxed)
    }

    /// From now on nothing is given out beyond a bound, if that is not too small for the program.
    pub(super) fn bound(&self, bytes: u64) {
        let bytes = bytes.max(LEAST);
        self.bound.store(bytes, Ordering::Relaxed);
        self.until_asked.store(self.given().saturating_add(LEAST_MORE).min(bytes), Ordering::Relaxed);
    }

    /// The bound.
    pub fn bytes(&self) -> u64 {
        self.bound.load(Ordering::Relaxed)
    }

    /// There is no bound any more: the process ends, and has to say why.
    pub fn lift_bound(&self) {
        self.bound.store(u64::MAX, Ordering::Relaxed);
        self.until_asked.store(u64::MAX, Ordering::Relaxed);
    }
}

/// What the system may have given to a process with a bound on what is given out: an allocator cannot use every gap, and the text of
/// the program is no block.
fn with_gaps(bound: u64) -> u64 {
    bound.saturating_add(bound / 16)
}

/// Of a bound, the part that searches may fill: the program takes some, more where so much was given out before the search, and an
/// allocator cannot use every gap.
pub(super) fn for_searches(bound: u64, given: u64) -> u64 {
    // In large steps: a path that is longer by a letter makes no difference.
    const STEP: u64 = 4 << 20;
    let taken = given.saturating_add(given / 4).next_multiple_of(STEP) + STEP;
    let more = taken.saturating_sub(PROGRAM).min(bound / 4);
    (bound - PROGRAM.min(bound / 4) - more) / 4 * 3
}

/// Of a bound, what the process may have before searches that do not count their memory stop: the answer takes some.
pub(super) fn for_all(bound: u64) -> u64 {
    (bound / 8 * 7).max(LEAST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_back_may_be_given_again() {
        let memory = Memory::unbounded();
        let gives = |bytes| memory.give(bytes) || memory.give_after_asking(bytes);
        memory.bound(80 << 30);
        assert!(gives(50 << 30) && !gives(40 << 30));
        memory.take_back(40 << 30);
        memory.take_back(50 << 30);
        assert_eq!(memory.given(), 0);
        memory.bound(1);
        assert_eq!(memory.bytes(), LEAST, "a small bound is one of searches alone");
    }

    #[test]
    fn gaps_count() {
        let memory = Memory::unbounded();
        memory.bound(160 << 20);
        assert!(memory.give(LEAST_MORE as usize / 2), "the system is not asked at once");
        // What the system has given is 10 MiB less than the bound with a sixteenth of it.
        assert_eq!(memory.more(160 << 20), 5 << 20);
        assert!(memory.give(3 << 20) && !memory.give(3 << 20) && !memory.give(LARGE as usize));
        assert_eq!((memory.more(170 << 20), memory.more(1 << 40)), (0, 0));
        assert!(!memory.give(1));
    }

    #[test]
    fn searches_get_a_part() {
        assert_eq!(for_searches(1 << 30, 9 << 20), ((1 << 30) - (16 << 20)) / 4 * 3);
        assert_eq!((for_searches(8 << 20, 0), for_searches(1, 0)), (18 << 18, 0));
        assert_eq!(for_searches(128 << 20, 32 << 20), ((128 - 44) << 20) / 4 * 3);
        assert_eq!(for_searches(8 << 20, 1 << 30), 3 << 20);
    }
}
