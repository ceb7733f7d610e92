//! The accesses to variables from which SSA form is constructed, block by block.

use super::graph::row;
use std::ops::Range;

/// No version: a use in a block that the entry does not reach, or an argument for an edge from such a block.
pub const NO_VERSION: u32 = u32::MAX;

/// What an access does to its variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// Reads it.
    Use,
    /// Writes all of it.
    Definition,
    /// May write it, or writes a part: the new version also depends on the old one.
    WeakDefinition,
}

/// An access to a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Which variable.
    pub variable: u32,
    /// What it does.
    pub kind: AccessKind,
}

/// The accesses of all blocks, in order.
#[derive(Clone, Debug)]
pub struct Accesses {
    starts: Vec<u32>,
    items: Vec<Access>,
}

impl Default for Accesses {
    fn default() -> Self {
        Accesses { starts: vec![0], items: Vec::new() }
    }
}

impl Accesses {
    /// No block yet.
    #[must_use]
    pub fn new() -> Accesses {
        Accesses::default()
    }

    /// Adds an access to the block that is being filled, and says which access of all it is.
    pub fn push(&mut self, variable: u32, kind: AccessKind) -> usize {
        self.items.push(Access { variable, kind });
        self.items.len() - 1
    }

    /// Ends the block that is being filled; the next one begins.
    pub fn end_block(&mut self) {
        self.starts.push(self.items.len() as u32);
    }

    /// Number of blocks that have ended.
    #[must_use]
    pub fn block_count(&self) -> usize {
        self.starts.len() - 1
    }

    /// All accesses, in the order of the blocks.
    #[must_use]
    pub fn all(&self) -> &[Access] {
        &self.items
    }

    /// Which of the accesses are those of a block.
    #[must_use]
    pub fn of_block(&self, block: u32) -> Range<usize> {
        row(&self.starts, block)
    }
}
