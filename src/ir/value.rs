//! Types and values.

use super::TextId;

/// Types of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScalarType {
    /// 32 bits, two's complement, wrapping.
    Int,
    /// 64 bits, two's complement, wrapping.
    Long,
    /// Truth.
    Bool,
    /// IEEE 754 binary64.
    Double,
    /// An interned text.
    String,
    /// A thread handle: 0, or the number of a thread plus one.
    Thread,
}

impl ScalarType {
    /// As it is written.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ScalarType::Int => "int",
            ScalarType::Long => "long",
            ScalarType::Bool => "bool",
            ScalarType::Double => "double",
            ScalarType::String => "string",
            ScalarType::Thread => "thread",
        }
    }
}

/// A constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// An `int`.
    Int(i32),
    /// A `long`.
    Long(i64),
    /// A `bool`.
    Bool(bool),
    /// A `double`.
    Double(f64),
    /// A `string`.
    String(TextId),
    /// No thread.
    NoThread,
}

impl Value {
    /// Its type.
    #[must_use]
    pub fn ty(self) -> ScalarType {
        match self {
            Value::Int(_) => ScalarType::Int,
            Value::Long(_) => ScalarType::Long,
            Value::Bool(_) => ScalarType::Bool,
            Value::Double(_) => ScalarType::Double,
            Value::String(_) => ScalarType::String,
            Value::NoThread => ScalarType::Thread,
        }
    }

    /// The 64 bits that stand for it in a register or a memory cell.
    #[must_use]
    pub fn bits(self) -> i64 {
        match self {
            Value::Int(value) => i64::from(value),
            Value::Long(value) => value,
            Value::Bool(value) => i64::from(value),
            Value::Double(value) => value.to_bits() as i64,
            Value::String(text) => i64::from(text.0),
            Value::NoThread => 0,
        }
    }

    /// The value of that type that the bits stand for.
    #[must_use]
    pub fn from_bits(ty: ScalarType, bits: i64) -> Value {
        match ty {
            ScalarType::Int => Value::Int(bits as i32),
            ScalarType::Long => Value::Long(bits),
            ScalarType::Bool => Value::Bool(bits != 0),
            ScalarType::Double => Value::Double(f64::from_bits(bits as u64)),
            ScalarType::String => Value::String(TextId(bits as u32)),
            // A handle has no literal but the empty one.
            ScalarType::Thread => Value::NoThread,
        }
    }
}
