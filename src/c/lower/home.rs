//! Lvalues: where they are, and what they are called.

use super::owner::Owner;
use crate::tree::TypeId;
use cssame_ir::{Base, Place, Program, RegisterId, ScalarType, VariableId};
use cssame_source::Span;

/// Where an lvalue is.
#[derive(Clone, Debug, PartialEq)]
pub enum Home {
    Register(RegisterId),
    Memory(Place),
}

/// An lvalue.
#[derive(Clone, Debug)]
pub struct Lvalue {
    pub home: Home,
    /// What its cell holds; `None` for what is no scalar.
    pub scalar: Option<ScalarType>,
    /// What the member of a union is that the access names, where its cell holds another type of the same size.
    pub seen_as: Option<ScalarType>,
    pub ty: TypeId,
    pub owner: Owner,
    /// Whether an access to it is atomic.
    pub atomic: bool,
    pub span: Span,
}

impl Lvalue {
    /// An object that is no scalar, or is looked at cell by cell.
    pub fn whole(home: Home, ty: TypeId, owner: Owner, span: Span) -> Lvalue {
        Lvalue { home, scalar: None, seen_as: None, ty, owner, atomic: false, span }
    }
}

/// The place so far behind another one: cells behind a name, bytes behind a pointer.
pub fn part_at(mut place: Place, cells: u32, bytes: u32) -> Place {
    place.offset = place.offset.saturating_add(match place.base {
        Base::Pointer(_) => bytes,
        Base::Global(_) | Base::Reference(_) => cells,
    });
    place
}

/// The place of a cell of a variable that begins there.
pub fn cell_at(program: &Program, base: Base, variable: VariableId, cell: u32) -> Place {
    part_at(Place::at(base, 0), cell, program.byte_of(variable, cell).unwrap_or(0))
}
