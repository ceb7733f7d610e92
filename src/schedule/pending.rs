//! The resources of the next steps of threads: dependence before the steps are executed.
//!
//! **Input**: a machine, a state, a thread that stands before an operation. **Output**: the [`PendingFootprint`] of its next
//! step: resources as in [`Footprint`], and whether the list is complete.
//!
//! **Algorithm**. The operation comes from [`Machine::pending`]. Each operation uses the resources of its events. A read uses its
//! cell; a write, and an atomic expression that would write, change it. Operations on synchronisation objects change the object;
//! a wait for a condition also changes its lock. A join changes the thread that it waits for. The local work after the operation
//! may end the thread, so a forked thread uses the children of its parent in every step.
//!
//! **Soundness and limits**. Two independent next steps can be exchanged, like steps with such footprints (with the limits
//! described there). The effects of a step after its first operation are unknown in three cases: an atomic block, a thread in the
//! middle of one, and a `print`, which is executed together with the next operation. Such a step counts as dependent on every
//! other one. Resources that only exist after the step are left out, because no other thread can stand before an operation on
//! them: threads that it creates, and the actions of threads that it wakes.

use super::dependence::{Footprint, Resource, Use};
use cssame_ir::sync::Kind;
use cssame_vm::{Machine, Pending, State, ThreadIndex};

/// What the next step of a thread uses, so far as that can be said before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingFootprint {
    known: Footprint,
    is_complete: bool,
}

impl PendingFootprint {
    /// That of a thread; `None` where the thread has ended or waits to be woken.
    #[must_use]
    pub fn of(machine: &Machine, state: &State, thread: ThreadIndex) -> Option<PendingFootprint> {
        let pending = machine.pending(state, thread)?;
        let mut known = Footprint::default();
        known.add(Resource::Thread(state.path(thread)), Use::Exclusive);
        if let Some(parent) = state.parent(thread) {
            known.add(Resource::Children(state.path(parent)), Use::Shared);
        }
        let mut cell = |address: Option<u32>, by| {
            // An index out of range fails, and touches nothing.
            if let Some(address) = address {
                known.add(Resource::Cell(address), by);
            }
        };
        match pending {
            Pending::Read { address, .. } => cell(address, Use::Shared),
            Pending::Write { address, .. } | Pending::Relock { address } => cell(address, Use::Exclusive),
            Pending::Free { first, cells, .. } => {
                // There may be none, or none any more.
                (first..first + cells.max(1)).for_each(|address| cell(Some(address), Use::Exclusive));
            }
            Pending::Atomic { address, writes, .. } => {
                cell(address, if writes { Use::Exclusive } else { Use::Shared });
            }
            Pending::Synchronise { kind: Kind::WaitEvent, address } => cell(address, Use::Shared),
            Pending::Synchronise { kind, address: Some(address) }
                if machine.shares_lock(state, thread, kind, address) =>
            {
                cell(Some(address), Use::Shared);
            }
            Pending::Synchronise { kind, address } => {
                cell(address, Use::Exclusive);
                cell(machine.released_lock(state, thread), Use::Exclusive);
                if kind.operands().is_empty() {
                    known.add(Resource::Bare, Use::Exclusive);
                }
            }
            Pending::WaitToWrite { address } | Pending::TimeOut { address } | Pending::SpuriousWakeup { address } => {
                cell(Some(address), Use::Exclusive);
            }
            Pending::Join => known.add(Resource::Children(state.path(thread)), Use::Exclusive),
            Pending::JoinThread { thread: Some(joined) } if joined.index() < state.thread_count() => {
                known.add(Resource::Thread(state.path(joined)), Use::Exclusive);
            }
            Pending::JoinThread { .. }
            | Pending::Fork
            | Pending::Spawn
            | Pending::Choose
            | Pending::AtomicBlock
            | Pending::Effect { .. }
            | Pending::Divergence => {}
        }
        let goes_on = matches!(pending, Pending::AtomicBlock | Pending::Effect { name: "print" });
        Some(PendingFootprint { known, is_complete: !goes_on && !state.is_in_atomic_block(thread) })
    }

    /// What is known to be used. A step that is not complete may use more.
    #[must_use]
    pub fn known(&self) -> &Footprint {
        &self.known
    }

    /// Whether the step uses nothing else, but for threads that it makes or wakes.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Whether the two steps may have to keep their order.
    #[must_use]
    pub fn depends_on(&self, other: &PendingFootprint) -> bool {
        !self.is_complete || !other.is_complete || self.known.depends_on(&other.known)
    }
}

#[cfg(test)]
mod tests;
