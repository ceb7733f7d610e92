//! What is declared once: a variable, or a field of all objects of a class.
//!
//! In: a place in memory. Out: the declaration that it names, unless a reference hides that.

use crate::ir::types::Part;
use crate::ir::{Base, ClassId, FunctionId, Place, Program, Type, VariableId};

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
        (_, Base::Reference(_)) => return None,
    };
    Some((key, elements > 0))
}
