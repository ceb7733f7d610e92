//! What expressions name.
//!
//! In: an expression that names a place or points at one. Out: its [`Owner`]: the declared variable or the member that it is, or
//! an element of; what a pointer leads to is called by the pointer.

use super::heap::request;
use super::input::Input;
use super::owner::Owner;
use crate::tree::{Conversion, ExprId, ExprKind, TypeKind, UnaryOperator};

impl Input<'_> {
    /// What an lvalue is called.
    pub fn owner(&self, unit: u32, lvalue: ExprId) -> Owner {
        let tree = self.unit(unit);
        let node = &tree.expressions[lvalue];
        match node.kind {
            ExprKind::Name(decl) | ExprKind::CompoundLiteral(decl) => {
                Owner::Object(self.links.resolve(tree, unit, decl))
            }
            ExprKind::String(string) => Owner::Literal(unit, string),
            ExprKind::Member { base, field } => match tree.type_of(base).kind {
                TypeKind::Record(record) => Owner::Field(self.records.canonical(unit, record), field),
                _ => Owner::Text(node.place.span),
            },
            ExprKind::Subscript { base: pointer, .. }
            | ExprKind::Unary { operator: UnaryOperator::Dereference, operand: pointer } => self.target(unit, pointer),
            _ => Owner::Text(node.place.span),
        }
    }

    /// What a pointer leads to is called.
    pub fn target(&self, unit: u32, pointer: ExprId) -> Owner {
        let tree = self.unit(unit);
        let node = &tree.expressions[pointer];
        match node.kind {
            ExprKind::Convert { conversion: Conversion::ArrayToPointer, operand } => self.owner(unit, operand),
            ExprKind::Unary { operator: UnaryOperator::AddressOf, operand } => self.owner(unit, operand),
            ExprKind::Convert { conversion: Conversion::Read, operand } => match self.owner(unit, operand) {
                Owner::Text(span) => Owner::Text(span),
                owner => Owner::Target(Box::new(owner)),
            },
            ExprKind::Cast(operand) | ExprKind::Convert { conversion: Conversion::Pointer, operand } => {
                self.target(unit, operand)
            }
            ExprKind::Binary { left, right, .. } => {
                let is_pointer = |expr: ExprId| tree.pointee(tree.expressions[expr].ty).is_some();
                match (is_pointer(left), is_pointer(right)) {
                    (true, false) => self.target(unit, left),
                    (false, true) => self.target(unit, right),
                    _ => Owner::Text(node.place.span),
                }
            }
            ExprKind::Call { .. } if request(tree, pointer).is_some() => Owner::Memory(unit, pointer),
            _ => Owner::Text(node.place.span),
        }
    }
}
