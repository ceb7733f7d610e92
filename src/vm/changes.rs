//! The changes of a state, and copies that transfer only these.
//!
//! **Input**: a state, and an earlier copy of it, with steps and [loads](super::Machine::load) in between. **Output**: the
//! updated copy.
//!
//! **Algorithm**: threads are most of a state, and a step changes one or two of them. Each slot that may have changed is recorded
//! (one bit; the last bit stands for all slots from there on), and its thread is copied with its segment of the stack. Cells and
//! lists are copied whole.
//!
//! **Soundness and limits**: every operation that changes a thread or moves its segment calls [`State::touch`], on which
//! fingerprints rely as well. Without optimisation each copy is compared.

use super::state::{State, ThreadIndex};

impl State {
    /// Something may have changed in all threads.
    pub(super) fn touch_all(&mut self) {
        self.touched = u64::MAX;
    }

    /// Something may have changed in a thread.
    #[inline(always)]
    pub(super) fn touch(&mut self, thread: ThreadIndex) {
        self.touched |= 1 << thread.0.min(63);
    }

    /// Whether something may have changed in a thread.
    #[inline(always)]
    pub(super) fn is_touched(&self, slot: usize) -> bool {
        self.touched >> slot.min(63) & 1 != 0
    }

    /// Becomes a copy of `source`, and from now on it is noted in which threads something may have changed. It was such a copy
    /// before, or of another size: what has changed since, here by a step or there by [loading](super::Machine::load), is copied
    /// alone.
    pub fn copy_changes_from(&mut self, source: &mut State) {
        let touched = self.touched | std::mem::take(&mut source.touched);
        if self.threads.len() == source.threads.len() && self.stack.len() == source.stack.len() {
            self.copy_threads(source, touched);
            self.cells.clone_from(&source.cells);
            self.clone_lists_from(source);
        } else {
            self.clone_from(source);
        }
        debug_assert!(self.is_same(source), "all that has changed was noted");
    }

    /// Copies the threads that were touched, with their segments of the stack.
    fn copy_threads(&mut self, source: &State, mut touched: u64) {
        let count = source.threads.len();
        while touched != 0 {
            let slot = touched.trailing_zeros() as usize;
            touched &= touched - 1;
            if slot >= count {
                return;
            }
            let end = if slot == 63 { count } else { slot + 1 };
            self.threads[slot..end].copy_from_slice(&source.threads[slot..end]);
            let (first, last) = (source.threads[slot], source.threads[end - 1]);
            let segments = first.base as usize..(last.base + last.capacity) as usize;
            self.stack[segments.clone()].copy_from_slice(&source.stack[segments]);
        }
    }

    /// Whether all is the same, but for what has changed since when.
    pub(super) fn is_same(&self, other: &State) -> bool {
        let instances = self.blocks == other.blocks && self.instances == other.instances;
        let shapes = |state: &State| Vec::from_iter(state.closed.iter().map(|closed| closed.shape));
        let same = self.has_same_rest(other) && instances && shapes(self) == shapes(other);
        same && self.cells == other.cells && self.threads == other.threads && self.stack == other.stack
    }

    /// Whether what stands neither in cells nor in threads is the same, but for what only events name.
    pub(super) fn has_same_rest(&self, other: &State) -> bool {
        let counts = |state: &State| (state.cells.len(), state.threads.len(), state.exclusive, state.unfinished);
        let places = |state: &State| state.blocks.len() + state.closed.len() + state.readers.len();
        if counts(self) != counts(other) {
            return false;
        }
        places(self) == 0 && places(other) == 0
            || self.readers == other.readers && self.blocks == other.blocks && self.closed == other.closed
    }
}
