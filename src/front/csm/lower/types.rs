//! Lowering of types.
//!
//! In: the classes and types of the tree. Out: those of the graph, with the same numbers.

use super::scalar_type;
use crate::csm::hir;
use cssame_ir::{ArrayId, ArrayType, Class, ClassId, Field, LeafKind, Program, Type};

/// Gives a program all classes and types of arrays.
pub(super) fn lower_types(program: &mut Program, tree: &hir::Program) {
    for array in tree.arrays.iter() {
        program.arrays.push(ArrayType { element: lower_type(array.element), length: array.length });
    }
    for class in tree.classes.iter() {
        let field = |field: &hir::Field| Field {
            name: field.name,
            span: field.span,
            ty: lower_type(field.ty),
            offset: field.offset,
        };
        let fields = class.fields.iter().map(field).collect();
        program.classes.push(Class { name: class.name, span: class.span, fields });
    }
}

/// The type of the graph for a type of the tree.
pub(super) fn lower_type(ty: hir::Type) -> Type {
    Type::Single(match ty {
        hir::Type::Array(id) => return Type::Array(ArrayId(id.0)),
        hir::Type::Class(id) => return Type::Class(class_id(id)),
        hir::Type::Scalar(scalar) => LeafKind::Data(scalar_type(scalar)),
        hir::Type::Lock | hir::Type::Error => LeafKind::Lock,
        hir::Type::ReentrantLock => LeafKind::ReentrantLock,
        hir::Type::RwLock => LeafKind::RwLock,
        hir::Type::Event => LeafKind::Event,
        hir::Type::Barrier => LeafKind::Barrier(0),
        hir::Type::Condition => LeafKind::Condition,
        hir::Type::Semaphore => LeafKind::Semaphore,
    })
}

/// The class of the graph for a class of the tree.
pub(super) fn class_id(id: hir::ClassId) -> ClassId {
    ClassId(id.0)
}
