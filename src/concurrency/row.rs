//! Determines which elements of arrays with unknown indices belong to one row: `stripe[k]` and `table[k]`, the lock and the
//! balance of one account.
//!
//! **Input**: a place in its context that refers to an unknown element of an array. **Output**: its [`Row`]s: for each dimension
//! its index, as a constant, or as an expression of registers. There is one row with the registers of the place, one with the
//! registers from which they were copied, and one with the expressions from which they are computed ([`super::index_value`]), if
//! these differ.
//!
//! **Soundness and limits**: two places with equal indices refer to elements with equal indices, as long as none of the registers
//! is written in between. A place behind a reference to an unknown element shares its indices only with places behind the same
//! register.

use super::index_value::{Path, Term};
use super::value::{AbstractValue, Evaluator};
use super::{ContextId, LocationId};
use cssame_ir::{Base, Instruction, Leaf, Operand, Place, RegisterId};
use smallvec::SmallVec;

/// What an index is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RowIndex {
    /// That number; behind a reference that is not known, so much more than there.
    Known(u32),
    /// The value of an expression.
    Value(Vec<Term>),
}

/// The rows of one place: as it is written, by what its indices are copied from, and by what they are computed from.
pub type Rows = SmallVec<[u32; 4]>;

/// How many copies are followed back for each of the rows of a place.
pub(super) const COPIES: [usize; 4] = [0, 1, 2, usize::MAX];

/// The indices of an element, as far as they are known.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Row {
    /// The reference that the place is behind, unless what that means is known.
    pub behind: Option<(ContextId, RegisterId)>,
    /// One for each dimension of the leaf.
    pub indices: Vec<RowIndex>,
    /// Any element of the array.
    pub array: LocationId,
}

impl Row {
    /// Whether a lock of this row has as its indices the first ones of a cell of another row.
    pub fn is_of(&self, cell: &Row) -> bool {
        self.behind == cell.behind && cell.indices.starts_with(&self.indices)
    }

    /// The registers that it is known by.
    fn registers(&self) -> impl Iterator<Item = (ContextId, RegisterId)> {
        let terms = self.indices.iter().flat_map(|index| match index {
            RowIndex::Known(_) => &[][..],
            RowIndex::Value(terms) => terms,
        });
        let registers = terms.filter_map(|term| match *term {
            Term::Register(context, register) => Some((context, register)),
            _ => None,
        });
        registers.chain(self.behind)
    }

    /// Whether it changes when a register is written.
    pub fn follows(&self, context: ContextId, register: RegisterId) -> bool {
        self.registers().any(|known| known == (context, register))
    }

    /// Whether it is known by registers of a context.
    pub fn is_in(&self, context: ContextId) -> bool {
        self.registers().any(|(known, _)| known == context)
    }

    /// Whether some numbers are its first indices.
    pub fn begins_with(&self, indices: &[u32]) -> bool {
        let known = |(index, number): (&RowIndex, &u32)| *index == RowIndex::Known(*number);
        self.behind.is_none() && indices.len() <= self.indices.len() && self.indices.iter().zip(indices).all(known)
    }
}

/// The indices of an element, by those of its place that are not constant; `element` is the one that it would mean if
/// these were 0. None where an index cannot be told to be that of one dimension.
pub(super) fn indices_of(leaf: &Leaf, element: u32, path: &Path) -> Option<Vec<RowIndex>> {
    let mut indices: Vec<RowIndex> = leaf.indices_of(element).into_iter().map(RowIndex::Known).collect();
    for (stride, value) in &path.indices {
        let mut same = (0..indices.len()).filter(|&place| leaf.dimensions[place].stride == *stride);
        let dimension = same.next().filter(|_| same.next().is_none())?;
        if indices[dimension] != RowIndex::Known(0) {
            return None;
        }
        indices[dimension] = RowIndex::Value(value.clone());
    }
    Some(indices)
}

/// A place by the registers that stand in it, or by those that these were copied from in its block, over so many copies at
/// most. `before` are the instructions before it there.
pub(super) fn written_path(
    evaluator: &Evaluator<'_>,
    context: ContextId,
    before: &[Instruction],
    place: &Place,
    copies: usize,
) -> Path {
    let behind = match place.base {
        Base::Global(_) => None,
        Base::Reference(register) => match evaluator.operand(Operand::Register(register)) {
            AbstractValue::References(addresses) if addresses.iter().all(|address| address.exact) => None,
            _ => Some((context, copied(before, register, copies))),
        },
        Base::Pointer(register) => Some((context, register)),
    };
    let mut path = Path { behind, indices: Vec::new() };
    for index in &place.indices {
        if let (Operand::Register(register), None) = (index.operand, evaluator.constant(index.operand)) {
            let value = vec![Term::Register(context, copied(before, register, copies))];
            path.indices.push((index.stride, value));
        }
    }
    path
}

/// Instructions that are looked back over at most.
const MAX_BACK: usize = 64;

/// The register that still holds what another one was copied from, in the instructions before a place in its block.
fn copied(before: &[Instruction], register: RegisterId, mut copies: usize) -> RegisterId {
    let mut found = register;
    let mut written: Vec<RegisterId> = Vec::new();
    for instruction in before.iter().rev().take(MAX_BACK) {
        match *instruction {
            Instruction::Copy { dest, source: Operand::Register(source) } if dest == found => {
                if copies == 0 || written.contains(&source) {
                    break;
                }
                copies -= 1;
                found = source;
            }
            _ if instruction.dest() == Some(found) => break,
            _ => {}
        }
        written.extend(instruction.dest());
    }
    found
}
