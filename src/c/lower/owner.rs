//! Owners: what the text calls a part of memory, and who declares it.

use super::link::DeclKey;
use crate::tree::{ExprId, StringId};
use cssame_source::Span;
use cssame_source::texts::TextId;

/// What a part of memory is called.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Owner {
    /// A declared object.
    Object(DeclKey),
    /// A string literal.
    Literal(u32, StringId),
    /// A member of a structure.
    Field(u32, u32),
    /// What a pointer leads to that is called so.
    Target(Box<Owner>),
    /// What a call of `malloc` gives.
    Memory(u32, ExprId),
    /// What an expression leads to that has no name.
    Text(Span),
    /// Something that the text does not show.
    Hidden(TextId),
}

impl Owner {
    /// Whether it is declared: all accesses to it are known by this name.
    pub fn is_declared(&self) -> bool {
        matches!(self, Owner::Object(_) | Owner::Field(..))
    }
}
