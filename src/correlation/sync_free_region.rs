//! Synchronisation-free regions: the parts of a function between operations of synchronisation.
//!
//! **Input**: regions, and between which of them control passes without synchronisation. **Output**: which belong
//! together. Union-find by `ena`; a root is only compared, so that it does not matter which member it is.

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
