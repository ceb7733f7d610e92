//! Places whose address is computed when they are used: behind a reference or a pointer, or with an index.
//!
//! **Input**: the registers of a frame, the pool of constants, and the objects of the state. **Output**: an address, or none where an
//! index is out of range or a pointer leads to no cell of the wanted content.

use super::code::{NO_SLOT, Slot, Source};
use super::memory::{Content, Objects};
use cssame_ir::Pointer;

/// A place with a reference or an index in it.
#[derive(Clone, Debug)]
pub(super) struct ComputedPlace {
    /// The slot of the reference; [`NO_SLOT`] for a global.
    pub reference: Slot,
    /// Where the slot holds a pointer: what the cell is for that it leads to in the memory of the state.
    pub pointed: Option<Content>,
    /// Added to the reference, or the address itself: cells, but bytes behind a pointer.
    pub address: u32,
    /// The first index, and those behind it.
    pub index: Option<ComputedIndex>,
    pub further: Box<[ComputedIndex]>,
}

/// An index, the length of the array, and the cells from one element to the next; bytes behind a pointer.
#[derive(Clone, Copy, Debug)]
pub(super) struct ComputedIndex {
    pub index: Source,
    pub length: Source,
    pub stride: u32,
}

impl ComputedIndex {
    /// What it skips, or `None` where it is out of range.
    #[inline(always)]
    fn skipped(self, frame: &[i64], constants: &[i64]) -> Option<u32> {
        let index = self.index.value(frame, constants);
        (0..self.length.value(frame, constants)).contains(&index).then(|| index as u32 * self.stride)
    }
}

impl ComputedPlace {
    /// The address, or `None` where an index is out of range, or a pointer leads to no cell.
    #[inline(always)]
    pub(super) fn address(&self, frame: &[i64], constants: &[i64], objects: Objects<'_>) -> Option<u32> {
        let base = match self.reference {
            NO_SLOT => 0,
            slot => match self.pointed {
                Some(content) => {
                    let pointer = self.pointer(frame, constants)?;
                    return objects.address(pointer, content);
                }
                None => frame[slot as usize] as u32,
            },
        };
        Some(base + self.address + self.skipped(frame, constants)?)
    }

    /// Of a place behind a pointer: the pointer to it, or `None` where an index is out of range.
    pub(super) fn pointer(&self, frame: &[i64], constants: &[i64]) -> Option<Pointer> {
        let bytes = self.address + self.skipped(frame, constants)?;
        Some(Pointer::from_bits(frame[self.reference as usize]).plus(i64::from(bytes)))
    }

    /// What indices skip, or `None` where one is out of range.
    #[inline(always)]
    pub(super) fn skipped(&self, frame: &[i64], constants: &[i64]) -> Option<u32> {
        let Some(index) = self.index else { return Some(0) };
        let mut skipped = index.skipped(frame, constants)?;
        for index in &self.further {
            skipped += index.skipped(frame, constants)?;
        }
        Some(skipped)
    }
}

/// A pointer to a place.
#[derive(Clone, Debug)]
pub(super) struct PointerTo {
    /// Where it begins.
    pub base: Source,
    /// The bytes behind that; its reference is none.
    pub place: ComputedPlace,
}
