//! Values and types in generated Rust.
//!
//! In: types and constants of the intermediate representation. Out: the text of Rust types and literals.

use crate::datum::Datum;
use cssame_ir::{ScalarType, Texts, Value};

/// The Rust type.
pub(super) fn rust_type(ty: ScalarType) -> &'static str {
    match ty {
        ScalarType::Int => "i32",
        ScalarType::Long => "i64",
        ScalarType::Bool => "bool",
        ScalarType::Double => "f64",
        ScalarType::String => "&'static str",
        ScalarType::Thread => "Handle",
        ScalarType::SignedChar => "i8",
        ScalarType::UnsignedChar => "u8",
        ScalarType::Short => "i16",
        ScalarType::UnsignedShort => "u16",
        ScalarType::UnsignedInt => "u32",
        ScalarType::UnsignedLong => "u64",
        ScalarType::Pointer => "i64",
    }
}

/// What a variable begins with.
pub(super) fn rust_default(ty: ScalarType) -> &'static str {
    match ty {
        ScalarType::Bool => "false",
        ScalarType::Double => "0.0",
        ScalarType::String => "\"\"",
        ScalarType::Thread => "Handle(0)",
        _ => "0",
    }
}

/// A literal whose type Rust finds by itself.
pub(super) fn literal(texts: &Texts, value: Value) -> String {
    match value {
        Value::Int(value) => value.to_string(),
        Value::Long(i64::MIN) => "i64::MIN".to_owned(),
        Value::Long(value) => format!("{value}_i64"),
        Value::Bool(value) => value.to_string(),
        Value::Double(value) if value.is_finite() => format!("{value:?}_f64"),
        Value::Double(value) => format!("f64::from_bits({:#x})", value.to_bits()),
        Value::String(text) => format!("{:?}", texts.get(text)),
        Value::NoThread => "Handle(0)".to_owned(),
        Value::Integer(ScalarType::UnsignedLong, bits) => format!("{}_u64", bits as u64),
        Value::Integer(ty, bits) => format!("{bits}_{}", rust_type(ty)),
        Value::Pointer(pointer) if pointer.target().is_none() => literal(texts, Value::Long(pointer.bits())),
        Value::Pointer(pointer) => format!("{:#x}_i64", pointer.bits()),
    }
}

/// A literal that a method can be called on.
pub(super) fn receiver(texts: &Texts, value: Value) -> String {
    match value {
        Value::Int(value) if value < 0 => format!("({value}_i32)"),
        Value::Int(value) => format!("{value}_i32"),
        Value::Long(value) if value < 0 => format!("({})", literal(texts, Value::Long(value))),
        Value::Integer(..) | Value::Pointer(_) if value.bits() < 0 => format!("({})", literal(texts, value)),
        _ => literal(texts, value),
    }
}

/// A `Value` of the runtime.
pub(super) fn datum(value: &Datum) -> String {
    match value {
        Datum::Int(value) => format!("Int({value})"),
        Datum::Long(value) => format!("Long({value})"),
        Datum::Unsigned(value) => format!("Unsigned({value})"),
        Datum::Pointer(bits, name) => format!("Pointer({bits:#x}, {name:?})"),
        Datum::Bool(value) => format!("Bool({value})"),
        Datum::Double(value) if value.is_finite() => format!("Double({value:?})"),
        Datum::Double(value) => format!("Double(f64::from_bits({:#x}))", value.to_bits()),
        Datum::Text(text) => format!("Text({text:?})"),
        Datum::Thread(number) => format!("Thread({number})"),
    }
}
