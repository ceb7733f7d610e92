//! Records which steps of each state were executed, or wait to be executed.
//!
//! **Input**: states by number, and threads. **Output**: whether a step is still unclaimed. **Algorithm**: a word for each state,
//! with a bit for each of the first [`FEW`] threads; other threads are stored separately.

use crate::states::chunks::Chunks;
use cssame_vm::ThreadIndex;
use rustc_hash::FxHashSet;

/// Threads that have a bit.
const FEW: u16 = 30;

/// Bits that say that all steps wait, and that all were done.
const ALL_WAIT: u32 = 1 << 30;
const ALL_DONE: u32 = 1 << 31;

/// See the module.
#[derive(Default)]
pub(super) struct Claims {
    words: Chunks<u32>,
    others: FxHashSet<(u32, ThreadIndex)>,
}

impl Claims {
    fn word(&mut self, state: u32) -> u32 {
        while self.words.len() <= state as usize {
            self.words.push(0);
        }
        self.words.get(state as usize)
    }

    fn mark(&mut self, state: u32, bit: u32) -> bool {
        let word = self.word(state);
        self.words.set(state as usize, word | bit);
        word & bit == 0
    }

    /// Claims the steps of a thread; whether nobody has before.
    pub(super) fn claim(&mut self, state: u32, thread: ThreadIndex) -> bool {
        if thread.0 < FEW { self.mark(state, 1 << thread.0) } else { self.others.insert((state, thread)) }
    }

    /// Claims that all steps wait for this number of preemptions; whether that was so before.
    pub(super) fn all_wait(&mut self, state: u32) -> bool {
        !self.mark(state, ALL_WAIT)
    }

    /// All steps are done now.
    pub(super) fn set_all(&mut self, state: u32) {
        self.mark(state, ALL_DONE | ALL_WAIT);
    }

    /// Whether all steps were done.
    pub(super) fn all_done(&mut self, state: u32) -> bool {
        self.word(state) & ALL_DONE != 0
    }

    /// Memory that they take.
    pub(super) fn bytes(&self) -> u64 {
        self.words.bytes() + (self.others.capacity() * (size_of::<(u32, ThreadIndex)>() + 1)) as u64
    }
}
