//! Parts of a function between operations of synchronisation.
//!
//! In: segments, and between which of them control passes freely. Out: which belong together. Union-find by `ena`; a root
//! is only compared, so that it does not matter which member it is.

use super::sets::Key;
use crate::ir::Instruction;
use ena::unify::InPlaceUnificationTable;

/// The segments of a function.
pub(super) struct Segments {
    table: InPlaceUnificationTable<Key>,
}

impl Segments {
    pub fn new() -> Segments {
        Segments { table: InPlaceUnificationTable::new() }
    }

    /// A new segment.
    pub fn add(&mut self) -> u32 {
        self.table.new_key(()).0
    }

    pub fn unite(&mut self, a: u32, b: u32) {
        self.table.union(Key(a), Key(b));
    }

    pub fn root(&mut self, segment: u32) -> u32 {
        self.table.find(Key(segment)).0
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
