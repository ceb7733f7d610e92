//! The operands of instructions: values, and places in memory.

use super::{RegisterId, Value, VariableId};

/// What an instruction works on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operand {
    /// The value of a register.
    Register(RegisterId),
    /// A constant.
    Constant(Value),
}

impl From<RegisterId> for Operand {
    fn from(register: RegisterId) -> Operand {
        Operand::Register(register)
    }
}

impl From<i32> for Operand {
    fn from(value: i32) -> Operand {
        Operand::Constant(Value::Int(value))
    }
}

/// Where a place begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// A global variable.
    Global(VariableId),
    /// What a reference register points to.
    Reference(RegisterId),
    /// What a register of type `pointer` points to; the program fails where that is no cell of an object.
    Pointer(RegisterId),
}

impl Base {
    /// The register that it is computed from.
    #[must_use]
    pub fn register(self) -> Option<RegisterId> {
        match self {
            Base::Global(_) => None,
            Base::Reference(register) | Base::Pointer(register) => Some(register),
        }
    }
}

/// A place in memory: base + offset + any number of indices, each times its stride. What is skipped counts cells, but behind a pointer
/// bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// Where it begins.
    pub base: Base,
    /// Cells to skip; bytes behind a pointer.
    pub offset: u32,
    /// Elements of arrays, outermost first. They are tested in this order where the place is accessed.
    pub indices: Vec<Index>,
}

/// An index into an array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Index {
    /// Its value, an `int` or a `long`; outside `0..length` the program fails.
    pub operand: Operand,
    /// Length of the array: a constant, or a register where an array was passed by reference.
    pub length: Operand,
    /// Cells from one element to the next; bytes behind a pointer.
    pub stride: u32,
}

impl Place {
    /// A place without an index.
    #[must_use]
    pub fn at(base: Base, offset: u32) -> Place {
        Place { base, offset, indices: Vec::new() }
    }

    /// A whole variable, or its first cell.
    #[must_use]
    pub fn global(variable: VariableId) -> Place {
        Place::at(Base::Global(variable), 0)
    }

    /// Calls `f` with every register that the address is computed from.
    pub fn uses(&self, f: &mut impl FnMut(RegisterId)) {
        if let Some(register) = self.base.register() {
            f(register);
        }
        for operand in self.indices.iter().flat_map(|index| [index.operand, index.length]) {
            if let Operand::Register(register) = operand {
                f(register);
            }
        }
    }
}
