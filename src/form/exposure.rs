//! Exposure within mutex bodies.
//!
//! **Input**: an access under a lock. **Output**: whether a definition reaches the exit of its mutex body, and whether a read is
//! upward-exposed in its body.
//!
//! **Algorithm** (Novillo, Unrau and Schaeffer 1998; "Controlling the Future", section on CSSAME)
//! 1. A definition reaches the exit of its body if some path from it meets a release of the lock before another definition that
//!    certainly replaces the whole variable.
//! 2. A read is upward-exposed if some backward path from it meets an acquisition of the lock before such a definition.
//!
//! **Soundness and limits**: an operation that *may* release or acquire the lock counts as one that does, and a walk of more than
//! [`MAX_BLOCKS`] blocks answers yes. Both cases can only keep terms.

use super::access::Table;
use cssame_concurrency::lockset::Locksets;
use cssame_concurrency::mutex_body::{Direction, Site, Visit, Walked, walk};
use cssame_concurrency::{Concurrency, Event, LocationId};
use cssame_ssa::AccessKind;

/// A walk visits at most that many blocks.
const MAX_BLOCKS: usize = 4096;

/// What the walks look at.
pub(super) struct Exposure<'a> {
    pub concurrency: &'a Concurrency,
    pub locksets: &'a Locksets,
    pub table: &'a Table,
}

impl Exposure<'_> {
    fn kills(&self, event: u32, variable: u32) -> bool {
        let (start, end) = self.table.of_event[event as usize];
        self.table.ssa.all()[start as usize..end as usize]
            .iter()
            .any(|access| access.variable == variable && access.kind == AccessKind::Definition)
    }

    /// Whether what an access writes can still be there when the lock is released.
    pub fn reaches_release(&self, access: u32, lock: LocationId) -> bool {
        self.meets(access, Direction::Forward, |event| self.concurrency.may_release(event, lock))
    }

    /// Whether a read can see what was there when its body was entered.
    pub fn reached_from_acquisition(&self, access: u32, lock: LocationId) -> bool {
        self.meets(access, Direction::Backward, |event| self.concurrency.may_acquire(event, lock))
    }

    /// Whether some way from an access meets a boundary of the body before a definition that replaces its variable.
    fn meets(&self, access: u32, direction: Direction, is_boundary: impl Fn(&Event) -> bool) -> bool {
        let of = self.table.accesses[access as usize];
        let variable = self.table.variable_of(access);
        let first = |block: u32| self.concurrency.first_event(block) as u32;
        let from = Site { block: of.block, offset: of.event - first(of.block) };
        let walked = walk(self.concurrency, self.locksets, from, direction, MAX_BLOCKS, |at, event| {
            if is_boundary(event) {
                Visit::Abort
            } else if self.kills(first(at.block) + at.offset, variable) {
                Visit::End
            } else {
                Visit::Pass
            }
        });
        matches!(walked, Walked::Aborted | Walked::TooFar)
    }
}
