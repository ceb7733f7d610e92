//! How much memory the process has, and how much it may have.
//!
//! **Input**: what the allocator of the program gives out and gets back. **Output**: the [`Budget`](crate::budget::Budget) asks
//! whether that is too much, wherever it looks at the clock; and where the user has named a bound, the allocator itself ends
//! the process behind it.
//!
//! **Soundness and limits**: searches count what they keep, and stop at a part of the bound ([`for_searches`]), so that they stop
//! at the same place in each run and for any number of cores. What nobody counts, such as reports, is only seen here, and what
//! gaps between blocks take only by the system ([`resident`](super::resident)). Bounds
//! below [`LEAST`] are bounds of searches alone: the program itself takes some of that.

use std::sync::atomic::{AtomicU64, Ordering};

/// The memory of this process. An allocator belongs to a process, so this is a static.
pub static PROCESS: Memory = Memory::unbounded();

/// The least bound that the whole process is held to.
const LEAST: u64 = 64 << 20;

/// What the program, what it is made from, and its answer take, besides searches.
const PROGRAM: u64 = 16 << 20;

/// Bytes that an allocator has given out, and those that the system has given to the process.
#[derive(Debug)]
pub struct Memory {
    /// Both numbers.
    counters: [AtomicU64; 2],
    most: AtomicU64,
}

/// What a block takes with what the allocator of the GNU C library keeps beside it.
fn block(size: usize) -> u64 {
    ((size as u64).saturating_add(8).next_multiple_of(16)).max(32)
}

impl Memory {
    const fn unbounded() -> Memory {
        Memory { counters: [const { AtomicU64::new(0) }; 2], most: AtomicU64::new(u64::MAX) }
    }

    /// A block is asked for. Whether it may be had.
    #[inline]
    pub fn give(&self, size: usize) -> bool {
        let size = block(size);
        self.counters[0].fetch_add(size, Ordering::Relaxed).saturating_add(size) <= self.most.load(Ordering::Relaxed)
    }

    /// A block came back.
    #[inline]
    pub fn take_back(&self, size: usize) {
        self.counters[0].fetch_sub(block(size), Ordering::Relaxed);
    }

    /// The bytes that are given out; 0 where the program has another allocator. Behind it what the process has as the system
    /// counts it; 0 where nobody [watches](super::resident) that.
    pub(super) fn counters(&self) -> &[AtomicU64; 2] {
        &self.counters
    }

    /// The bytes that are given out now.
    pub(super) fn given(&self) -> u64 {
        self.counters[0].load(Ordering::Relaxed)
    }

    /// From now on nothing is given out beyond a bound, if that is not too small for the program.
    pub(super) fn bound(&self, bytes: u64) {
        self.most.store(bytes.max(LEAST), Ordering::Relaxed);
    }

    /// There is no bound any more: the process ends, and has to say why.
    pub fn lift_bound(&self) {
        self.most.store(u64::MAX, Ordering::Relaxed);
    }
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
    (bound / 20 * 19).max(LEAST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_back_may_be_given_again() {
        let memory = Memory::unbounded();
        memory.bound(80 << 20);
        assert!(memory.give(50 << 20) && !memory.give(40 << 20));
        memory.take_back(40 << 20);
        memory.take_back(50 << 20);
        assert_eq!(memory.given(), 0);
        memory.bound(1);
        assert!(memory.give(60 << 20), "a small bound is one of searches alone");
    }

    #[test]
    fn searches_get_a_part() {
        assert_eq!(for_searches(1 << 30, 9 << 20), ((1 << 30) - (16 << 20)) / 4 * 3);
        assert_eq!((for_searches(8 << 20, 0), for_searches(1, 0)), (18 << 18, 0));
        assert_eq!(for_searches(128 << 20, 32 << 20), ((128 - 44) << 20) / 4 * 3);
        assert_eq!(for_searches(8 << 20, 1 << 30), 3 << 20);
    }
}
