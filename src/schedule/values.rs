//! Values in a form for readers: the text of a scalar in a trace or in the facts of a failure.

use cssame_ir::print::pointer_text;
use cssame_ir::{Program, ScalarType, Value};
use cssame_source::Span;
use cssame_vm as vm;

/// A value: a text in quotes, the enumerator of a variable that is declared with the name of an enum (by its name in that
/// declaration), and else as `print` writes it. A pointer is the name of what it leads to.
#[must_use]
pub fn shown_value(program: &Program, declared: Option<Span>, ty: ScalarType, bits: i64) -> String {
    match Value::from_bits(ty, bits) {
        Value::String(text) => format!("{:?}", program.texts.get(text)),
        Value::Int(value) => {
            let name = declared.and_then(|declared| program.enumerations.name(declared, i64::from(value)));
            name.map_or_else(|| value.to_string(), |name| program.texts.get(name).to_owned())
        }
        Value::Pointer(pointer) => pointer_text(program, pointer),
        _ => vm::format_value(&program.texts, ty, bits),
    }
}
