//! Selections of pi terms.

use cssame_ir::{DefinitionId, ReadId};

/// A read that is to read from a definition: every evaluation of it does, and there is at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The read, in each of the contexts that are meant. None where it is asked whether a definition happens at all.
    pub reads: Vec<ReadId>,
    /// The evaluation that is meant, counted from 1 in each thread; `None` means every one.
    pub instance: Option<u32>,
    /// The definition, in each of the contexts that are meant.
    pub definitions: Vec<DefinitionId>,
}

impl Selection {
    /// One read, every evaluation of which reads from one definition.
    #[must_use]
    pub fn of(read: ReadId, definition: DefinitionId) -> Selection {
        Selection { reads: vec![read], instance: None, definitions: vec![definition] }
    }

    /// The same for one evaluation of the read in its thread, counted from 1.
    #[must_use]
    pub fn at(self, instance: u32) -> Selection {
        Selection { instance: Some(instance), ..self }
    }

    /// A definition that is to happen, whoever reads it.
    #[must_use]
    pub fn of_write(definitions: Vec<DefinitionId>, instance: Option<u32>) -> Selection {
        Selection { reads: Vec::new(), instance, definitions }
    }

    /// Whether it asks for a definition, not for a term.
    #[must_use]
    pub fn is_write(&self) -> bool {
        self.reads.is_empty()
    }

    /// Whether a read is meant.
    #[must_use]
    pub fn selects(&self, read: ReadId) -> bool {
        self.reads.contains(&read)
    }

    /// Whether it may read from a definition.
    #[must_use]
    pub fn accepts(&self, definition: Option<DefinitionId>) -> bool {
        definition.is_some_and(|definition| self.definitions.contains(&definition))
    }

    /// The read in the first of its contexts; all of them stand at one place. Not of one that [asks for a definition](Self::is_write).
    #[must_use]
    pub fn read(&self) -> ReadId {
        self.reads.first().copied().unwrap_or(ReadId::new(0))
    }

    /// The definition in the first of its contexts.
    #[must_use]
    pub fn definition(&self) -> DefinitionId {
        self.definitions.first().copied().unwrap_or(DefinitionId::new(0))
    }
}
