//! Constants, before it is known of which type their cells are.

use cssame_ir::{Pointer, ScalarType, Value};

/// A constant, before it is known of which type its cell is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Datum {
    /// A number.
    Integer(i128),
    /// A number that need not be whole.
    Floating(f64),
    /// An address.
    Pointer(Pointer),
}

impl Datum {
    /// It as a value of a type.
    pub fn value(self, ty: ScalarType) -> Value {
        let bits = match self {
            Datum::Integer(value) => value as i64,
            Datum::Pointer(pointer) => pointer.bits(),
            Datum::Floating(value) if ty == ScalarType::Double => return Value::Double(value),
            Datum::Floating(value) if ty == ScalarType::Bool => return Value::Bool(value != 0.0),
            Datum::Floating(value) => value as i64,
        };
        match ty {
            ScalarType::Bool => Value::Bool(bits != 0),
            ScalarType::Double => Value::Double(bits as f64),
            _ => Value::from_bits(ty, ty.integer().map_or(bits, |integer| integer.wrap(bits))),
        }
    }
}

/// The zero of a type.
pub fn zero(ty: ScalarType) -> Value {
    match ty {
        ScalarType::Double => Value::Double(0.0),
        _ => Value::from_bits(ty, 0),
    }
}
