//! Visibility: the accesses to memory that are separate steps.
//!
//! **Input**: sets of reads and definitions that the static analyses have found to be shared. **Output**: a [`Visibility`], which
//! the compiler of the machine queries for every access.
//!
//! An invisible access is local work: the machine executes it together with the next visible operation. The caller guarantees
//! that no other thread can observe the invisible accesses.

use cssame_ir::{DefinitionId, Instruction, Program, ReadId};
use fixedbitset::FixedBitSet;

/// The reads and writes of shared variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Visibility {
    /// Indexed by [`ReadId`].
    pub reads: FixedBitSet,
    /// Indexed by [`DefinitionId`].
    pub definitions: FixedBitSet,
}

impl Visibility {
    /// Every access to memory is visible.
    #[must_use]
    pub fn all(program: &Program) -> Visibility {
        let mut all = Visibility::none(program);
        all.reads.insert_range(..);
        all.definitions.insert_range(..);
        all
    }

    /// No access to memory is visible; only synchronisation, threads and choices are.
    #[must_use]
    pub fn none(program: &Program) -> Visibility {
        Visibility {
            reads: FixedBitSet::with_capacity(program.reads.len()),
            definitions: FixedBitSet::with_capacity(program.definitions.len()),
        }
    }

    /// Whether that read is a step of its own.
    #[must_use]
    pub fn read(&self, read: ReadId) -> bool {
        self.reads.contains(read.index())
    }

    /// Whether that write is a step of its own.
    #[must_use]
    pub fn definition(&self, definition: DefinitionId) -> bool {
        self.definitions.contains(definition.index())
    }

    /// Whether an instruction makes an access to memory that is a step of its own.
    #[must_use]
    pub fn access(&self, instruction: &Instruction) -> bool {
        match instruction {
            Instruction::Load { read, .. } => self.read(*read),
            Instruction::Store { definition, .. } | Instruction::Free { definition, .. } => {
                self.definition(*definition)
            }
            Instruction::Atomic { read, definition, .. } => self.read(*read) || self.definition(*definition),
            _ => false,
        }
    }
}
