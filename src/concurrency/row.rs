//! Which elements of arrays with unknown indices are those of one row: `stripe[k]` and `table[k]`, the lock and the balance
//! of one account.
//!
//! **Input**: a place in its context that means an element of an array which is not known. **Output**: its [`Row`]: for each
//! dimension what its index is, as a constant or as a register.
//!
//! **Soundness and limits**: two places of one context with equal indices mean elements with equal indices, as long as none of
//! the registers is written in between. A place behind a reference of which the element is not known shares its indices
//! only with places behind the same register.

use super::value::{AbstractValue, Evaluator};
use super::{ContextId, LocationId};
use cssame_ir::{Base, Instruction, Leaf, Operand, Place, RegisterId};

/// What an index is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowIndex {
    /// That number; behind a reference that is not known, so much more than there.
    Known(u32),
    /// What the register holds.
    Register(RegisterId),
}

/// The indices of an element, as far as they are known.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Row {
    /// The context whose registers these are.
    pub context: ContextId,
    /// The reference that the place is behind, unless what that means is known.
    pub behind: Option<RegisterId>,
    /// One for each dimension of the leaf.
    pub indices: Vec<RowIndex>,
    /// Any element of the array.
    pub array: LocationId,
}

impl Row {
    /// Whether a lock of this row has as its indices the first ones of a cell of another row.
    pub fn is_of(&self, cell: &Row) -> bool {
        self.context == cell.context && self.behind == cell.behind && cell.indices.starts_with(&self.indices)
    }

    /// Whether it changes when a register is written.
    pub fn follows(&self, register: RegisterId) -> bool {
        self.behind == Some(register) || self.indices.contains(&RowIndex::Register(register))
    }
}

/// The reference that a place is behind, unless what it means is known, and its indices. `before` are the instructions before it in its
/// block, `element` is the one that it would mean if all indices that are not known were 0. None where an index cannot be told to be
/// that of one dimension.
pub(super) fn indices_of(
    evaluator: &Evaluator<'_>,
    before: &[Instruction],
    place: &Place,
    leaf: &Leaf,
    element: u32,
) -> Option<(Option<RegisterId>, Vec<RowIndex>)> {
    let behind = match place.base {
        Base::Global(_) => None,
        Base::Reference(register) => match evaluator.operand(Operand::Register(register)) {
            AbstractValue::References(addresses) if addresses.iter().all(|address| address.exact) => None,
            _ => Some(register),
        },
    };
    let mut indices: Vec<RowIndex> = leaf.indices_of(element).into_iter().map(RowIndex::Known).collect();
    for index in &place.indices {
        let Operand::Register(register) = index.operand else { continue };
        if evaluator.constant(index.operand).is_some() {
            continue;
        }
        let mut same = (0..indices.len()).filter(|&place| leaf.dimensions[place].stride == index.stride);
        let dimension = same.next().filter(|_| same.next().is_none())?;
        if indices[dimension] != RowIndex::Known(0) {
            return None;
        }
        indices[dimension] = RowIndex::Register(copied(before, register));
    }
    Some((behind.map(|register| copied(before, register)), indices))
}

/// Instructions that are looked back over at most.
const MAX_BACK: usize = 64;

/// The register that still holds what another one was copied from, in the instructions before a place in its block.
fn copied(before: &[Instruction], register: RegisterId) -> RegisterId {
    let mut found = register;
    let mut written: Vec<RegisterId> = Vec::new();
    for instruction in before.iter().rev().take(MAX_BACK) {
        match *instruction {
            Instruction::Copy { dest, source: Operand::Register(source) } if dest == found => {
                if written.contains(&source) {
                    break;
                }
                found = source;
            }
            _ if instruction.dest() == Some(found) => break,
            _ => {}
        }
        written.extend(instruction.dest());
    }
    found
}
