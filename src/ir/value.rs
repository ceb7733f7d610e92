//! Types and values.

use super::{Pointer, TextId};

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
    /// 8 bits, two's complement, wrapping. This and the types below are those of C.
    SignedChar,
    /// 8 bits, unsigned.
    UnsignedChar,
    /// 16 bits, two's complement, wrapping.
    Short,
    /// 16 bits, unsigned.
    UnsignedShort,
    /// 32 bits, unsigned.
    UnsignedInt,
    /// 64 bits, unsigned.
    UnsignedLong,
    /// The address of a cell, none, or an integer that was cast to a pointer: the bits of a [`Pointer`].
    Pointer,
}

/// Width and sign of an integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Integer {
    /// 8, 16, 32 or 64.
    pub bits: u32,
    /// Whether its values may be negative.
    pub signed: bool,
}

impl Integer {
    /// The bits of the value that is left of others in this type: of fewer than 64 bits, the value itself, with its sign.
    #[inline]
    #[must_use]
    pub fn wrap(self, bits: i64) -> i64 {
        match (self.bits, self.signed) {
            (8, true) => i64::from(bits as i8),
            (8, false) => i64::from(bits as u8),
            (16, true) => i64::from(bits as i16),
            (16, false) => i64::from(bits as u16),
            (32, true) => i64::from(bits as i32),
            (32, false) => i64::from(bits as u32),
            _ => bits,
        }
    }
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
            ScalarType::SignedChar => "signed char",
            ScalarType::UnsignedChar => "unsigned char",
            ScalarType::Short => "short",
            ScalarType::UnsignedShort => "unsigned short",
            ScalarType::UnsignedInt => "unsigned int",
            ScalarType::UnsignedLong => "unsigned long",
            ScalarType::Pointer => "pointer",
        }
    }

    /// Whether memory that was made for one type is read and written as the other one, bit by bit: C lets a pointer be looked at as a
    /// number of its size.
    #[must_use]
    pub fn shares_bits(self, other: ScalarType) -> bool {
        let is_word = |ty| matches!(ty, ScalarType::Long | ScalarType::UnsignedLong | ScalarType::Pointer);
        self == other || is_word(self) && is_word(other)
    }

    /// Its width and sign, if it is an integer type.
    #[must_use]
    pub fn integer(self) -> Option<Integer> {
        let (bits, signed) = match self {
            ScalarType::SignedChar => (8, true),
            ScalarType::UnsignedChar => (8, false),
            ScalarType::Short => (16, true),
            ScalarType::UnsignedShort => (16, false),
            ScalarType::Int => (32, true),
            ScalarType::UnsignedInt => (32, false),
            ScalarType::Long => (64, true),
            ScalarType::UnsignedLong => (64, false),
            ScalarType::Bool | ScalarType::Double | ScalarType::String | ScalarType::Thread | ScalarType::Pointer => {
                return None;
            }
        };
        Some(Integer { bits, signed })
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
    /// A value of an integer type other than `int` and `long`, by its bits.
    Integer(ScalarType, i64),
    /// An address, or none.
    Pointer(Pointer),
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
            Value::Integer(ty, _) => ty,
            Value::Pointer(_) => ScalarType::Pointer,
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
            Value::Integer(_, bits) => bits,
            Value::Pointer(pointer) => pointer.bits(),
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
            ScalarType::Pointer => Value::Pointer(Pointer::from_bits(bits)),
            ScalarType::SignedChar
            | ScalarType::UnsignedChar
            | ScalarType::Short
            | ScalarType::UnsignedShort
            | ScalarType::UnsignedInt
            | ScalarType::UnsignedLong => Value::Integer(ty, bits),
        }
    }
}
