//! Rows by the places of the text: the relation of two accesses of one function, over all bindings of its parameters.
//!
//! **Input**: the rows of a program whose functions are distinguished by their bindings. **Output**: [`TextRows`], which says
//! whether two reads or writes of the text are always in one row, or never.
//!
//! **Limits**: nothing is known about accesses in two different functions.

use super::binding::BoundProgram;
use super::row::{Row, Rows};
use cssame_ir::{Access, FunctionId, Instruction};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// How two accesses lie to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Relation {
    /// In one row.
    Same,
    /// Nobody knows.
    Unknown,
    /// In different rows.
    Apart,
}

/// The rows of the text.
#[derive(Clone, Debug, Default)]
pub(super) struct TextRows {
    rows: Rows,
    /// By access: its row in each binding of its function.
    of: FxHashMap<Access, SmallVec<[(FunctionId, Row); 1]>>,
}

impl TextRows {
    /// The rows of all accesses to memory.
    pub fn new(bound: &BoundProgram<'_>, rows: Rows) -> TextRows {
        let mut of: FxHashMap<Access, SmallVec<[(FunctionId, Row); 1]>> = FxHashMap::default();
        for (id, function) in bound.program.functions.entries() {
            for (block, content) in function.blocks.entries() {
                for (position, instruction) in content.instructions.iter().enumerate() {
                    let Some(row) = rows.at((id, block, position as u32)) else { continue };
                    let accesses = match *instruction {
                        Instruction::Load { read, .. } => [Some(Access::Read(read)), None],
                        Instruction::Store { definition, .. } => [Some(Access::Write(definition)), None],
                        Instruction::Atomic { read, definition, .. } => {
                            [Some(Access::Read(read)), Some(Access::Write(definition))]
                        }
                        _ => [None, None],
                    };
                    accesses.into_iter().flatten().for_each(|access| of.entry(access).or_default().push((id, row)));
                }
            }
        }
        TextRows { rows, of }
    }

    /// How two accesses lie to each other.
    pub fn relation(&self, a: Access, b: Access) -> Relation {
        let of = |access: Access| self.of.get(&access).map_or(&[][..], SmallVec::as_slice);
        let mut relation: Option<Relation> = None;
        for &(function, one) in of(a) {
            let other = of(b).iter().find(|other| other.0 == function);
            let here = match other {
                Some(&(_, other)) if self.rows.is_same(one, other) => Relation::Same,
                Some(&(_, other)) if self.rows.differ(one, other) => Relation::Apart,
                _ => Relation::Unknown,
            };
            if relation.is_some_and(|known| known != here) {
                return Relation::Unknown;
            }
            relation = Some(here);
        }
        relation.unwrap_or(Relation::Unknown)
    }
}
