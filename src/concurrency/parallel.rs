//! May-happen-in-parallel (MHP).
//!
//! **Input**: the thread tree, the live regions of child threads, and the facts of each class of blocks. **Output**: whether
//! two blocks, or all blocks of two classes, may run in parallel.
//!
//! **Algorithm**
//! 1. Find the last common thread on the paths from `main` down to the threads of the two blocks.
//! 2. If a thread to which both belong may have several instances, they may run in parallel.
//! 3. If one of the blocks belongs to the common thread itself, they may if it lies in the live region of the child thread that
//!    contains the other.
//! 4. If both belong to child threads, they may if one fork creates both children, or the fork of one lies in the live region of
//!    the other.
//! 5. Finally, no pair is parallel if a signal or a barrier orders it ([`super::order`]).
//!
//! **Soundness and limits**: an over-approximation. Two blocks that are reported as not parallel are ordered, or exclude each
//! other, in every execution; locks are ignored.

use super::apart::Apart;
use super::order::ClassId;
use super::{Concurrency, MAIN_THREAD, ThreadId};
use smallvec::SmallVec;

impl Concurrency {
    /// The threads from `main` down to that of a block.
    fn chain(&self, thread: ThreadId) -> SmallVec<[ThreadId; 6]> {
        let mut chain = SmallVec::new();
        let mut at = Some(thread);
        while let Some(thread) = at {
            chain.push(thread);
            at = self.threads[thread].parent;
        }
        chain.reverse();
        chain
    }

    /// Whether two blocks may run in parallel by the structure of forks and joins alone.
    #[must_use]
    pub fn structurally_parallel(&self, a: u32, b: u32) -> bool {
        self.parallel_in_frame(a, b, None)
    }

    /// The same for two blocks that mean one and the same frame of `owner`: that the owner, or a thread above it, may have
    /// several instances does not count, since each has frames of its own.
    #[must_use]
    pub fn parallel_in_frame(&self, a: u32, b: u32, owner: Option<ThreadId>) -> bool {
        self.apart_in_frame(a, b, owner).is_none()
    }

    /// What keeps two blocks apart by the structure of forks and joins alone, as [`Self::parallel_in_frame`].
    #[must_use]
    pub fn apart_in_frame(&self, a: u32, b: u32, owner: Option<ThreadId>) -> Option<Apart> {
        let (thread_a, thread_b) = (self.thread_of(a), self.thread_of(b));
        if self.threads[thread_a].unordered || self.threads[thread_b].unordered {
            return None;
        }
        if thread_a == MAIN_THREAD && thread_b == MAIN_THREAD {
            return Some(Apart::SameThread(MAIN_THREAD));
        }
        // Step 1: the last common thread.
        let (chain_a, chain_b) = (self.chain(thread_a), self.chain(thread_b));
        let common = chain_a.iter().zip(&chain_b).take_while(|(x, y)| x == y).count();
        let above = owner.and_then(|owner| chain_a[..common].iter().position(|&thread| thread == owner));
        let from = above.map_or(0, |above| above + 1);
        // Step 2: several instances of a thread that both belong to.
        if chain_a[from..common].iter().any(|&thread| self.threads[thread].multiple) {
            return None;
        }
        let outside = |child: ThreadId, block: u32| {
            let alive = self.regions.contains(self.threads[child].region, block);
            (!alive).then_some(Apart::OutsideLife { block, child })
        };
        match (chain_a.get(common), chain_b.get(common)) {
            (None, None) => Some(Apart::SameThread(thread_a)),
            // Step 3: one of them lies in the common thread itself.
            (Some(&child), None) => outside(child, b),
            (None, Some(&child)) => outside(child, a),
            // Step 4: both lie in child threads.
            (Some(&child_a), Some(&child_b)) => {
                let (a, b) = (&self.threads[child_a], &self.threads[child_b]);
                let together = a.fork == b.fork
                    || self.regions.contains(a.region, b.fork)
                    || self.regions.contains(b.region, a.fork);
                (!together).then_some(Apart::Lives(child_a, child_b))
            }
        }
    }

    /// Whether blocks of two classes may run in parallel.
    #[must_use]
    pub fn parallel_classes(&self, a: ClassId, b: ClassId) -> bool {
        let (block_a, block_b) = (self.order.representative(a), self.order.representative(b));
        // Step 5: unless a signal or a barrier orders them.
        self.structurally_parallel(block_a, block_b) && !self.order.separated(a, b)
    }

    /// What keeps all blocks of two classes apart, if anything does.
    #[must_use]
    pub fn classes_apart(&self, a: ClassId, b: ClassId) -> Option<Apart> {
        let (block_a, block_b) = (self.order.representative(a), self.order.representative(b));
        self.apart_in_frame(block_a, block_b, None).or_else(|| self.order.separation(a, b))
    }
}
