//! The key of a declaration: a variable, or a field of all objects of a class.
//!
//! In: a place in memory. Out: the declaration that it refers to, unless a reference hides it.

use cssame_ir::types::Part;
use cssame_ir::{Base, ClassId, FunctionId, LeafKind, Place, Program, Type, VariableId};

/// A variable, or a field of all objects of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Global(VariableId),
    Field(ClassId, u32),
}

/// The variable or field that a place of one thing names, and whether it is an element of it; none behind a reference.
pub(super) fn key_of(program: &Program, function: FunctionId, place: &Place) -> Option<(Key, bool)> {
    let base = program.base_type(function, place)?;
    let parts = program.parts_of(base, place, |ty| matches!(ty, Type::Single(_)))?;
    let elements = parts.iter().rev().take_while(|part| !matches!(part, Part::Field(..))).count();
    let key = match (parts.iter().rev().nth(elements), place.base) {
        (Some(&Part::Field(class, number)), _) => Key::Field(class, number),
        (_, Base::Global(variable)) => Key::Global(variable),
        (_, Base::Reference(_) | Base::Pointer(_)) => return None,
    };
    Some((key, elements > 0))
}

/// Whether something of a type is what a reference of another one leads to: an array of some length is one of any length.
pub(super) fn fits(program: &Program, ty: Type, wanted: Type) -> bool {
    match (ty, wanted) {
        (Type::Array(array), Type::Array(other)) => {
            let (array, other) = (program.arrays[array], program.arrays[other]);
            fits(program, array.element, other.element)
                && other.length.is_none_or(|length| array.length == Some(length))
        }
        (Type::Single(LeafKind::Lock | LeafKind::ReentrantLock), Type::Single(LeafKind::Lock)) => true,
        (Type::Single(LeafKind::Barrier(_)), Type::Single(LeafKind::Barrier(_))) => true,
        _ => ty == wanted,
    }
}
