//! Synchronisation-free regions: the parts of a function between synchronisation operations.
//!
//! **Input**: regions, and the pairs of them between which control passes without synchronisation. **Output**: the regions that
//! belong together. Union-find by `ena`; roots are only compared, so the choice of the root does not matter.

use super::sets::Key;
use cssame_ir::Instruction;
use ena::unify::InPlaceUnificationTable;

/// The regions of a function.
pub(super) struct SyncFreeRegions {
    table: InPlaceUnificationTable<Key>,
}

impl SyncFreeRegions {
    pub fn new() -> SyncFreeRegions {
        SyncFreeRegions { table: InPlaceUnificationTable::new() }
    }

    /// A new region.
    pub fn add(&mut self) -> u32 {
        self.table.new_key(()).0
    }

    pub fn unite(&mut self, a: u32, b: u32) {
        self.table.union(Key(a), Key(b));
    }

    pub fn root(&mut self, region: u32) -> u32 {
        self.table.find(Key(region)).0
    }
}

/// Whether other threads may be let in or kept out here. An atomic access is a critical section of its own.
pub(super) fn is_synchronisation(instruction: &Instruction) -> bool {
    matches!(
        instruction,
        Instruction::Synchronise(_)
            | Instruction::Fork { .. }
            | Instruction::Join
            | Instruction::Spawn { .. }
            | Instruction::JoinThread { .. }
            | Instruction::AtomicBegin
            | Instruction::AtomicEnd
            | Instruction::Atomic { .. }
    )
}
