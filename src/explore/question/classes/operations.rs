//! Which cells' accesses are operations.
//!
//! **Input**: a program and what is known of its memory. **Output**: the cells of shared leaves that some thread may
//! write; of the others, those that are only read by several threads are listed ([`Operations::read_shared`]).
//!
//! **Algorithm**: a leaf is written if some write in the text that is visible may touch it. Its initial definition is
//! no write.
//!
//! **Soundness and limits**: of a leaf, not of its instances or elements: an array of which one element is written is
//! written.

use crate::concurrency::{Concurrency, EventKind};
use crate::ir::{LeafId, Program};
use crate::vm::Cell;
use fixedbitset::FixedBitSet;

/// The cells whose accesses are operations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operations {
    /// By variable and offset: whether it is such a cell.
    cells: Vec<FixedBitSet>,
    read_shared: Vec<LeafId>,
}

impl Operations {
    /// Those of a program: visible accesses to what is shared and written.
    #[must_use]
    pub fn new(program: &Program, concurrency: &Concurrency) -> Operations {
        let sharing = &concurrency.sharing;
        let mut written = FixedBitSet::with_capacity(program.leaves.len());
        for event in &concurrency.events {
            let (EventKind::Write(definition) | EventKind::Update { definition, .. }) = event.kind else { continue };
            if sharing.definition(definition) {
                let locations = concurrency.locations_of(event).iter();
                written.extend(locations.map(|&location| concurrency.locations[location].leaf.index()));
            }
        }
        let is_read_only = |leaf: &usize| !written.contains(*leaf);
        let read_shared = sharing.leaves.ones().filter(is_read_only).map(LeafId::new).collect();
        written.intersect_with(&sharing.leaves);
        Operations { cells: cells_of(program, &written), read_shared }
    }

    /// Every visible access is an operation.
    #[must_use]
    pub fn all(program: &Program) -> Operations {
        let mut leaves = FixedBitSet::with_capacity(program.leaves.len());
        leaves.insert_range(..);
        Operations { cells: cells_of(program, &leaves), read_shared: Vec::new() }
    }

    /// The shared leaves that nobody writes: their accesses are no operations.
    #[must_use]
    pub fn read_shared(&self) -> &[LeafId] {
        &self.read_shared
    }

    /// Whether visible accesses to a cell are operations.
    #[inline]
    #[must_use]
    pub fn contains(&self, cell: Cell) -> bool {
        self.cells.get(cell.object.variable.index()).is_some_and(|cells| cells.contains(cell.part as usize))
    }
}

fn cells_of(program: &Program, leaves: &FixedBitSet) -> Vec<FixedBitSet> {
    let cells = program.variables.iter().map(|variable| {
        let mut cells = FixedBitSet::with_capacity(variable.size as usize);
        for id in variable.leaves().filter(|leaf| leaves.contains(leaf.index())) {
            let leaf = &program.leaves[id];
            cells.insert_range(leaf.offset as usize..(leaf.offset + leaf.length) as usize);
        }
        cells
    });
    cells.collect()
}
