//! Bytes: where the cells of variables lie that pointers lead into.
//!
//! **Input**: a variable. **Output**: [`Starts`], from bytes to cells.
//!
//! **Algorithm**: the starts of all cells in order, of the first element alone where the variable is an array; a byte is looked up by
//! bisection.

use cssame_ir::{Dimension, Program, Variable};

/// Where the cells of a variable begin.
#[derive(Clone, Debug)]
pub(super) struct Starts {
    /// The bytes and the cells of an element: of the whole variable where that is no array.
    bytes: u32,
    cells: u32,
    /// The bytes and the cells of the variable.
    all: (u32, u32),
    /// The bytes of an element that cells begin with, and these cells, in order.
    starts: Box<[(u32, u32)]>,
}

impl Starts {
    /// Those of a variable.
    pub(super) fn of(program: &Program, variable: &Variable) -> Starts {
        let leaves = || variable.leaves().map(|leaf| &program.leaves[leaf]);
        let outermost = leaves().next().and_then(|leaf| leaf.dimensions.first()).copied();
        let is_shared = |of: &Dimension| leaves().all(|leaf| leaf.dimensions.first().is_some_and(|one| alike(one, of)));
        let array = outermost.filter(|of| of.length * of.stride == variable.size && is_shared(of));
        let mut starts = Vec::new();
        for leaf in leaves() {
            let elements = leaf.element_count() / array.map_or(1, |of| of.length);
            starts.extend((0..elements).map(|element| (leaf.byte(element), leaf.cell(element))));
        }
        starts.sort_unstable();
        let (bytes, cells) = array.map_or((u32::MAX, variable.size), |of| (of.bytes, of.stride));
        Starts { bytes, cells, all: (variable.bytes, variable.size), starts: starts.into_boxed_slice() }
    }

    /// The byte behind an object that has so many cells, as many as there can be where that is not said.
    pub(super) fn end(&self, cells: Option<u32>) -> u32 {
        let (bytes, all) = self.all;
        let Some(cells) = cells.filter(|&cells| cells < all) else { return bytes };
        let (element, rest) = (cells / self.cells, cells % self.cells);
        let at = self.starts.partition_point(|start| start.1 < rest);
        let behind = self.starts.get(at).map_or(self.bytes, |start| start.0);
        element.saturating_mul(self.bytes).saturating_add(behind)
    }

    /// The cell that begins with a byte.
    #[inline]
    pub(super) fn cell(&self, byte: u32) -> Option<u32> {
        let (element, rest) = (byte / self.bytes, byte % self.bytes);
        let at = self.starts.binary_search_by_key(&rest, |start| start.0).ok()?;
        element.checked_mul(self.cells)?.checked_add(self.starts[at].1)
    }
}

fn alike(one: &Dimension, other: &Dimension) -> bool {
    (one.length, one.stride, one.bytes) == (other.length, other.stride, other.bytes)
}
