//! The objects whose fields are read, as far as the references of one function show.
//!
//! In: a function. Out: for each of its reference registers, the [`Object`].

use cssame_ir::{Base, Function, Instruction, Operand, RegisterId, VariableId};
use std::collections::BTreeMap;

/// The object that a variable was read of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Object {
    /// A declared one, or none.
    Declared(VariableId),
    /// The one that a parameter of the function refers to. Two parameters are taken for two objects.
    Parameter(u32),
    /// Nobody knows.
    Unknown,
}

impl Object {
    /// Whether two may be one.
    pub fn may_be(self, other: Object) -> bool {
        match (self, other) {
            (Object::Declared(a), Object::Declared(b)) => a == b,
            (Object::Parameter(a), Object::Parameter(b)) => a == b,
            _ => true,
        }
    }
}

/// What the reference registers of a function point into.
pub(super) struct Objects(BTreeMap<RegisterId, Object>);

impl Objects {
    pub fn of(function: &Function) -> Objects {
        let parameters = function.parameters.iter().enumerate();
        let found = parameters.map(|(position, &register)| (register, Object::Parameter(position as u32)));
        let mut found = Objects(found.collect());
        for instruction in function.blocks.iter().flat_map(|block| &block.instructions) {
            match instruction {
                Instruction::Address { dest, place } => {
                    let object = found.of_base(place.base);
                    found.0.insert(*dest, object);
                }
                Instruction::Allocate { dest, variable, .. } => {
                    found.0.insert(*dest, Object::Declared(*variable));
                }
                _ => {}
            }
        }
        found
    }

    /// The object that a place lies in.
    pub fn of_base(&self, base: Base) -> Object {
        match base {
            Base::Global(variable) => Object::Declared(variable),
            Base::Reference(register) => self.0.get(&register).copied().unwrap_or(Object::Unknown),
            Base::Pointer(_) => Object::Unknown,
        }
    }

    /// An object of a callee, as the caller knows it.
    pub fn of_argument(&self, object: Object, arguments: &[Operand]) -> Object {
        let Object::Parameter(position) = object else { return object };
        match arguments.get(position as usize) {
            Some(&Operand::Register(register)) => self.of_base(Base::Reference(register)),
            _ => Object::Unknown,
        }
    }
}
