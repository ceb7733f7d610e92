//! Values in the form of plans.
//!
//! **Input**: the bits of a cell, and their type. **Output**: a [`Datum`], which every target writes in its own language.

use cssame_ir::print::pointer_text;
use cssame_ir::{Program, ScalarType, Texts, Value};

/// A value of the program.
#[derive(Clone, Debug)]
pub enum Datum {
    /// An `int`.
    Int(i32),
    /// A `long`, or a shorter integer of C.
    Long(i64),
    /// An `unsigned long` of C.
    Unsigned(u64),
    /// A `bool`.
    Bool(bool),
    /// A `double`. Two are equal where their bits are.
    Double(f64),
    /// A `string`.
    Text(String),
    /// A handle: the number of the thread, or 0 for none.
    Thread(i64),
    /// A pointer of C: its bits, and what it leads to. Two are equal where their bits are.
    Pointer(i64, String),
}

impl Datum {
    /// What bits of that type mean; `texts` are those of the machine.
    pub(super) fn of(program: &Program, texts: &Texts, ty: ScalarType, bits: i64) -> Datum {
        match Value::from_bits(ty, bits) {
            Value::Int(value) => Datum::Int(value),
            Value::Long(value) => Datum::Long(value),
            Value::Bool(value) => Datum::Bool(value),
            Value::Double(value) => Datum::Double(value),
            Value::String(text) => Datum::Text(texts.get(text).to_owned()),
            Value::NoThread => Datum::Thread(bits),
            Value::Integer(ScalarType::UnsignedLong, bits) => Datum::Unsigned(bits as u64),
            Value::Integer(_, bits) => Datum::Long(bits),
            Value::Pointer(pointer) => Datum::Pointer(bits, pointer_text(program, pointer)),
        }
    }
}

impl PartialEq for Datum {
    fn eq(&self, other: &Datum) -> bool {
        match (self, other) {
            (Datum::Int(one), Datum::Int(two)) => one == two,
            (Datum::Long(one), Datum::Long(two)) | (Datum::Thread(one), Datum::Thread(two)) => one == two,
            (Datum::Unsigned(one), Datum::Unsigned(two)) => one == two,
            (Datum::Pointer(one, _), Datum::Pointer(two, _)) => one == two,
            (Datum::Bool(one), Datum::Bool(two)) => one == two,
            (Datum::Double(one), Datum::Double(two)) => one.to_bits() == two.to_bits(),
            (Datum::Text(one), Datum::Text(two)) => one == two,
            _ => false,
        }
    }
}

impl Eq for Datum {}
