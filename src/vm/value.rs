//! Arithmetic on the 64 bits that represent a value, and the printing of values.
//!
//! **Input**: operators of the intermediate representation and operands as bits ([`Value::bits`](cssame_ir::Value::bits)).
//! **Output**: the result as bits. `int` values are kept sign-extended, so comparisons need not know the width. Operators that have
//! no result for some operands, such as integer division, are separate ([`partial`]).

use cssame_ir::{
    Arithmetic, BinaryOperator, Conversion, Letter, Modification, Pointer, ScalarType, Texts, UnaryOperator, Value,
};
use std::fmt::Write;

fn double(bits: i64) -> f64 {
    f64::from_bits(bits as u64)
}

fn bits(value: f64) -> i64 {
    value.to_bits() as i64
}

fn narrow(value: i64) -> i64 {
    i64::from(value as i32)
}

/// `op operand`.
#[must_use]
pub fn unary(op: UnaryOperator, operand: i64) -> i64 {
    match op {
        UnaryOperator::Negate(Arithmetic::Int) => narrow(operand.wrapping_neg()),
        UnaryOperator::Negate(Arithmetic::Long) => operand.wrapping_neg(),
        UnaryOperator::Negate(Arithmetic::Double) => bits(-double(operand)),
        UnaryOperator::Negate(kind) => wrap(kind, operand.wrapping_neg()),
        UnaryOperator::Complement(kind) => wrap(kind, !operand),
        UnaryOperator::Not => i64::from(operand == 0),
        UnaryOperator::Convert(from, to) => convert(from, to, operand),
    }
}

fn convert(from: ScalarType, to: ScalarType, operand: i64) -> i64 {
    match (from, to) {
        (ScalarType::Double, ScalarType::Double) => operand,
        // `as` saturates and makes 0 of what is not a number, as the language wants.
        (ScalarType::Double, ScalarType::Int) => i64::from(double(operand) as i32),
        (ScalarType::Double, ScalarType::Long) => double(operand) as i64,
        (ScalarType::Double, ScalarType::Bool) => i64::from(double(operand) != 0.0),
        (ScalarType::Double, to) => to.integer().map_or(operand, |of| of.wrap(double(operand) as i64)),
        (ScalarType::UnsignedLong, ScalarType::Double) => bits(operand as u64 as f64),
        (_, ScalarType::Double) => bits(operand as f64),
        (_, ScalarType::Int) => narrow(operand),
        (_, ScalarType::Bool) => i64::from(operand != 0),
        (_, to) => to.integer().map_or(operand, |of| of.wrap(operand)),
    }
}

/// What is left of bits in the type that arithmetic is done in.
fn wrap(kind: Arithmetic, bits: i64) -> i64 {
    kind.scalar().integer().map_or(bits, |of| of.wrap(bits))
}

/// `left op right`, for every operator that cannot fail; where another one has no result, it is 0 here.
#[inline]
#[must_use]
pub fn binary(op: BinaryOperator, left: i64, right: i64) -> i64 {
    match op {
        BinaryOperator::Add(kind) => add(kind, left, right),
        BinaryOperator::Subtract(Arithmetic::Int) => narrow(left.wrapping_sub(right)),
        BinaryOperator::Subtract(Arithmetic::Long) => left.wrapping_sub(right),
        BinaryOperator::Subtract(Arithmetic::Double) => bits(double(left) - double(right)),
        BinaryOperator::Subtract(kind) => wrap(kind, left.wrapping_sub(right)),
        BinaryOperator::Multiply(Arithmetic::Int) => narrow(left.wrapping_mul(right)),
        BinaryOperator::Multiply(Arithmetic::Long) => left.wrapping_mul(right),
        BinaryOperator::Multiply(Arithmetic::Double) => bits(double(left) * double(right)),
        BinaryOperator::Multiply(kind) => wrap(kind, left.wrapping_mul(right)),
        BinaryOperator::Divide(_) | BinaryOperator::Remainder(_) => partial(op, left, right).unwrap_or(0),
        BinaryOperator::ShiftLeft(Arithmetic::Int | Arithmetic::CheckedInt) => {
            i64::from((left as i32).wrapping_shl(right as u32))
        }
        BinaryOperator::ShiftLeft(Arithmetic::UnsignedInt) => i64::from((left as u32).wrapping_shl(right as u32)),
        BinaryOperator::ShiftLeft(_) => left.wrapping_shl(right as u32),
        BinaryOperator::ShiftRight(Arithmetic::Int | Arithmetic::CheckedInt) => {
            i64::from((left as i32).wrapping_shr(right as u32))
        }
        BinaryOperator::ShiftRight(Arithmetic::UnsignedInt) => i64::from((left as u32).wrapping_shr(right as u32)),
        BinaryOperator::ShiftRight(Arithmetic::UnsignedLong) => (left as u64).wrapping_shr(right as u32) as i64,
        BinaryOperator::ShiftRight(_) => left.wrapping_shr(right as u32),
        BinaryOperator::And => left & right,
        BinaryOperator::Or => left | right,
        BinaryOperator::Xor => left ^ right,
        BinaryOperator::Less(Arithmetic::Double) => i64::from(double(left) < double(right)),
        BinaryOperator::Less(Arithmetic::UnsignedLong) => i64::from((left as u64) < right as u64),
        BinaryOperator::Less(_) => i64::from(left < right),
        BinaryOperator::LessEqual(Arithmetic::Double) => i64::from(double(left) <= double(right)),
        BinaryOperator::LessEqual(Arithmetic::UnsignedLong) => i64::from(left as u64 <= right as u64),
        BinaryOperator::LessEqual(_) => i64::from(left <= right),
        BinaryOperator::Equal => i64::from(left == right),
        BinaryOperator::NotEqual => i64::from(left != right),
        BinaryOperator::EqualDouble => i64::from(double(left) == double(right)),
        BinaryOperator::NotEqualDouble => i64::from(double(left) != double(right)),
        BinaryOperator::PointerAdd => Pointer::from_bits(left).plus(right).bits(),
    }
}

/// What a read-modify-write makes of what is there.
#[must_use]
pub fn modify(modification: Modification, ty: ScalarType, old: i64, operand: i64) -> i64 {
    let bits = match modification {
        Modification::Add => old.wrapping_add(operand),
        Modification::Subtract => old.wrapping_sub(operand),
        Modification::And => old & operand,
        Modification::Or => old | operand,
        Modification::ExclusiveOr => old ^ operand,
        Modification::NotAnd => !(old & operand),
    };
    ty.integer().map_or(bits, |of| of.wrap(bits))
}

/// `left + right`.
#[inline]
#[must_use]
pub fn add(kind: Arithmetic, left: i64, right: i64) -> i64 {
    match kind {
        Arithmetic::Int => narrow(left.wrapping_add(right)),
        Arithmetic::Long => left.wrapping_add(right),
        Arithmetic::Double => bits(double(left) + double(right)),
        kind => wrap(kind, left.wrapping_add(right)),
    }
}

/// `left op right`; `None` where it has no result: where an integer is divided by zero, where the result of checked arithmetic does
/// not fit, and where a shift of C counts beyond the width.
#[must_use]
pub fn partial(op: BinaryOperator, left: i64, right: i64) -> Option<i64> {
    use BinaryOperator as Op;
    match op {
        Op::Divide(Arithmetic::Double) => Some(bits(double(left) / double(right))),
        Op::Remainder(Arithmetic::Double) => Some(bits(double(left) % double(right))),
        Op::Divide(Arithmetic::UnsignedLong) => (left as u64).checked_div(right as u64).map(|result| result as i64),
        Op::Remainder(Arithmetic::UnsignedLong) => (left as u64).checked_rem(right as u64).map(|result| result as i64),
        Op::Divide(kind) if kind.is_checked() => fitting(kind, left.checked_div(right)),
        // The quotient that does not fit makes the remainder undefined as well.
        Op::Remainder(kind) if kind.is_checked() => {
            fitting(kind, left.checked_div(right)).and_then(|_| left.checked_rem(right))
        }
        Op::Divide(kind) => (right != 0).then(|| wrap(kind, left.wrapping_div(right))),
        Op::Remainder(kind) => (right != 0).then(|| wrap(kind, left.wrapping_rem(right))),
        Op::Add(kind) if kind.is_checked() => fitting(kind, left.checked_add(right)),
        Op::Subtract(kind) if kind.is_checked() => fitting(kind, left.checked_sub(right)),
        Op::Multiply(kind) if kind.is_checked() => fitting(kind, left.checked_mul(right)),
        Op::ShiftLeft(kind) | Op::ShiftRight(kind) if op.is_partial() => {
            let width = kind.scalar().integer()?.bits;
            (0..i64::from(width)).contains(&right).then(|| binary(op, left, right))
        }
        op => Some(binary(op, left, right)),
    }
}

/// A result of checked arithmetic, if it fits.
fn fitting(kind: Arithmetic, result: Option<i64>) -> Option<i64> {
    result.filter(|&result| wrap(kind, result) == result)
}

/// Whether two cells hold equal values.
#[must_use]
pub fn equal(is_double: bool, left: i64, right: i64) -> bool {
    if is_double { double(left) == double(right) } else { left == right }
}

/// Appends a value as `print` writes it.
pub fn format(texts: &Texts, ty: ScalarType, bits: i64, out: &mut String) {
    // Writing to a string does not fail.
    let _ = match Value::from_bits(ty, bits) {
        Value::Int(value) => write!(out, "{value}"),
        Value::Long(value) => write!(out, "{value}"),
        Value::Bool(value) => write!(out, "{value}"),
        Value::Double(value) => write!(out, "{value:?}"),
        Value::String(text) => out.write_str(texts.get(text)),
        Value::NoThread => write!(out, "thread {bits}"),
        Value::Integer(ScalarType::UnsignedLong, bits) => write!(out, "{}", bits as u64),
        Value::Integer(_, bits) => write!(out, "{bits}"),
        Value::Pointer(pointer) => write!(out, "{:#x}", pointer.bits()),
    };
}

/// Appends a value as `printf` writes it by a conversion.
pub fn convert_to_text(texts: &Texts, conversion: Conversion, ty: ScalarType, bits: i64, out: &mut String) {
    let unsigned = match ty.integer() {
        Some(of) if of.bits < 64 => bits & ((1 << of.bits) - 1),
        _ => bits,
    };
    let digits = match conversion.letter {
        Letter::Decimal => {
            let number = format_value(texts, ty, bits);
            number.strip_prefix('-').map(str::to_owned).unwrap_or(number)
        }
        Letter::Hexadecimal => format!("{unsigned:x}"),
        Letter::UpperHexadecimal => format!("{unsigned:X}"),
        Letter::Octal => format!("{unsigned:o}"),
        Letter::Character => char::from(bits as u8).to_string(),
        Letter::Text => {
            let text = format_value(texts, ty, bits);
            text.chars().take(conversion.precision.map_or(usize::MAX, usize::from)).collect()
        }
        Letter::Fixed => format!("{:.*}", conversion.precision.map_or(6, usize::from), double(bits).abs()),
    };
    let is_negative = match conversion.letter {
        // As the generated tests write it, what is no number has no sign.
        Letter::Fixed => double(bits).is_sign_negative() && !double(bits).is_nan(),
        _ => ty != ScalarType::UnsignedLong && bits < 0,
    };
    conversion.write(is_negative, &digits, out);
}

/// A value as `print` writes it.
#[must_use]
pub fn format_value(texts: &Texts, ty: ScalarType, bits: i64) -> String {
    let mut out = String::new();
    format(texts, ty, bits, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use cssame_ir::Value;

    fn int(value: i32) -> i64 {
        Value::Int(value).bits()
    }

    #[test]
    fn int_arithmetic_wraps_at_32_bits() {
        assert_eq!(binary(BinaryOperator::Add(Arithmetic::Int), int(i32::MAX), 1), int(i32::MIN));
        assert_eq!(binary(BinaryOperator::Multiply(Arithmetic::Int), int(1 << 20), int(1 << 20)), 0);
        assert_eq!(unary(UnaryOperator::Negate(Arithmetic::Int), int(i32::MIN)), int(i32::MIN));
        assert_eq!(binary(BinaryOperator::Add(Arithmetic::Long), i64::MAX, 1), i64::MIN);
    }

    #[test]
    fn division_truncates_and_wraps() {
        let divide_int = BinaryOperator::Divide(Arithmetic::Int);
        let remainder = BinaryOperator::Remainder(Arithmetic::Int);
        assert_eq!(partial(divide_int, int(-7), 2), Some(-3));
        assert_eq!(partial(remainder, int(-7), 2), Some(-1));
        assert_eq!(partial(divide_int, int(i32::MIN), -1), Some(int(i32::MIN)));
        assert_eq!(partial(remainder, int(i32::MIN), -1), Some(0));
        assert_eq!(partial(BinaryOperator::Divide(Arithmetic::Long), i64::MIN, -1), Some(i64::MIN));
        assert_eq!(partial(divide_int, 1, 0), None);
    }

    #[test]
    fn doubles_divide_by_zero_without_failure() {
        let one = Value::Double(1.0).bits();
        let zero = Value::Double(0.0).bits();
        let infinite = partial(BinaryOperator::Divide(Arithmetic::Double), one, zero);
        assert_eq!(infinite, Some(Value::Double(f64::INFINITY).bits()));
    }

    #[test]
    fn shift_counts_are_masked() {
        assert_eq!(binary(BinaryOperator::ShiftLeft(Arithmetic::Int), 1, 33), 2);
        assert_eq!(binary(BinaryOperator::ShiftRight(Arithmetic::Int), int(-8), 1), int(-4));
        assert_eq!(binary(BinaryOperator::ShiftLeft(Arithmetic::Long), 1, 33), 1 << 33);
        assert_eq!(binary(BinaryOperator::ShiftLeft(Arithmetic::Int), 1, 31), int(i32::MIN));
    }

    #[test]
    fn casts_of_doubles_saturate() {
        let huge = Value::Double(1e20).bits();
        let nan = Value::Double(f64::NAN).bits();
        assert_eq!(convert(ScalarType::Double, ScalarType::Int, huge), int(i32::MAX));
        assert_eq!(convert(ScalarType::Double, ScalarType::Long, nan), 0);
        assert_eq!(convert(ScalarType::Long, ScalarType::Int, 1 << 32), 0);
    }

    #[test]
    fn values_print_as_the_language_says() {
        let texts = Texts::default();
        let mut out = String::new();
        for (ty, bits) in [
            (ScalarType::Int, -3),
            (ScalarType::Bool, 1),
            (ScalarType::Double, Value::Double(2.0).bits()),
            (ScalarType::Double, Value::Double(0.1).bits()),
        ] {
            format(&texts, ty, bits, &mut out);
            out.push(' ');
        }
        assert_eq!(out, "-3 true 2.0 0.1 ");
    }
}
