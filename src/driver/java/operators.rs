//! Operators in Java.
//!
//! In: operators, and the text of their operands, in parentheses where an operator needs them. Out: text. Arithmetic is that of
//! the language, and Java's is the same: integers wrap around, and shifts use the low bits of the count.

use cssame_ir::{Arithmetic, BinaryOperator, ScalarType, UnaryOperator};

/// An operator with one operand; none for a conversion that changes nothing.
pub(crate) fn unary(op: UnaryOperator, value: &str) -> Option<String> {
    use ScalarType::{Bool, Double, Int, Long};
    let cast = |name: &str| format!("({name}) {value}");
    Some(match op {
        UnaryOperator::Negate(_) => format!("-{value}"),
        UnaryOperator::Complement(_) => format!("~{value}"),
        UnaryOperator::Not => format!("!{value}"),
        UnaryOperator::Convert(Bool, Int) => format!("{value} ? 1 : 0"),
        UnaryOperator::Convert(Bool, Long) => format!("{value} ? 1L : 0L"),
        UnaryOperator::Convert(Bool, Double) => format!("{value} ? 1.0 : 0.0"),
        UnaryOperator::Convert(Double, Bool) => format!("{value} != 0.0"),
        UnaryOperator::Convert(Int | Long, Bool) => format!("{value} != 0"),
        UnaryOperator::Convert(Long | Double, Int) => cast("int"),
        UnaryOperator::Convert(Int | Double, Long) => cast("long"),
        UnaryOperator::Convert(Int | Long, Double) => cast("double"),
        UnaryOperator::Convert(..) => return None,
    })
}

/// An operator with two operands; `is_text`: strings, which are objects.
pub(crate) fn binary(op: BinaryOperator, is_text: bool, first: &str, second: &str) -> String {
    use BinaryOperator as Op;
    let sign = match op {
        Op::Add(_) | Op::PointerAdd => "+",
        Op::Subtract(_) => "-",
        Op::Multiply(_) => "*",
        Op::Divide(_) => "/",
        Op::Remainder(_) => "%",
        Op::ShiftLeft(_) => "<<",
        Op::ShiftRight(_) => ">>",
        Op::And => "&",
        Op::Or => "|",
        Op::Xor => "^",
        Op::Less(_) => "<",
        Op::LessEqual(_) => "<=",
        Op::Equal if is_text => return format!("{first}.equals({second})"),
        Op::NotEqual if is_text => return format!("!{first}.equals({second})"),
        Op::Equal | Op::EqualDouble => "==",
        Op::NotEqual | Op::NotEqualDouble => "!=",
    };
    format!("{first} {sign} {second}")
}

/// The operator that holds where another one does not, and whether its operands change places; not of the order of doubles,
/// which may be no numbers.
pub(crate) fn opposite(op: BinaryOperator) -> Option<(BinaryOperator, bool)> {
    use BinaryOperator as Op;
    Some(match op {
        Op::Equal => (Op::NotEqual, false),
        Op::NotEqual => (Op::Equal, false),
        Op::EqualDouble => (Op::NotEqualDouble, false),
        Op::NotEqualDouble => (Op::EqualDouble, false),
        Op::Less(kind @ (Arithmetic::Int | Arithmetic::Long)) => (Op::LessEqual(kind), true),
        Op::LessEqual(kind @ (Arithmetic::Int | Arithmetic::Long)) => (Op::Less(kind), true),
        _ => return None,
    })
}
