//! Formats of `printf`, and where it prints to.

use super::pointers::without_conversions;
use super::reason::Reason;
use crate::tree::{Conversion, ExprId, ExprKind, Unit};

/// What stands in the way of a format: `index` is its place among the arguments.
pub fn format(unit: &Unit, arguments: &[ExprId], index: usize) -> Option<Reason> {
    let Some(bytes) = arguments.get(index).and_then(|&format| literal(unit, format)) else {
        return Some(Reason::Format("no literal".into()));
    };
    let mut signs = bytes.iter().copied();
    while let Some(sign) = signs.next() {
        if sign != b'%' {
            continue;
        }
        let is_modifier = |sign: &u8| sign.is_ascii_digit() || b"-+ #.hlzjt".contains(sign);
        match signs.find(|sign| !is_modifier(sign)) {
            Some(b'%' | b'd' | b'i' | b'u' | b'x' | b'X' | b'o' | b'c' | b's' | b'p' | b'f') => {}
            Some(other) => return Some(Reason::Format(format!("`%{}`", char::from(other)).into())),
            None => return Some(Reason::Format("`%` at its end".into())),
        }
    }
    None
}

/// The bytes of a literal.
fn literal(unit: &Unit, expr: ExprId) -> Option<&[u8]> {
    match unit.expressions[without_conversions(unit, expr)].kind {
        ExprKind::Convert { conversion: Conversion::ArrayToPointer, operand } => match unit.expressions[operand].kind {
            ExprKind::String(string) if unit.strings[string].width == 1 => {
                unit.strings[string].bytes.split_last().map(|(_, bytes)| bytes)
            }
            _ => None,
        },
        _ => None,
    }
}

/// Whether an argument is the standard output, or that of errors.
pub fn is_standard(unit: &Unit, stream: ExprId) -> bool {
    let mut at = stream;
    loop {
        at = match unit.expressions[at].kind {
            ExprKind::Cast(operand) | ExprKind::Convert { operand, .. } => operand,
            ExprKind::Name(decl) => {
                return matches!(unit.declarations[decl].name.as_deref(), Some("stdout" | "stderr"));
            }
            _ => return false,
        };
    }
}
