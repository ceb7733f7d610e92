//! Constant expressions of integer type, folded while they are copied.
//!
//! Operands come before what they belong to, so each node is looked at once. What the language does not define, an overflow or a
//! division by zero, is not folded: it is for later passes to find.

use crate::tree::expression::{BinaryOperator, Builtin, Constant, Conversion, ExprKind, UnaryOperator};
use crate::tree::ids::ExprId;
use crate::tree::types::Integer;

/// The value of an expression of an integer type (or a truth value, of one bit) from the values of its operands.
pub fn fold(kind: &ExprKind, of: Integer, value: &dyn Fn(ExprId) -> Option<i128>) -> Option<i128> {
    match kind {
        ExprKind::Cast(operand) | ExprKind::Convert { conversion: Conversion::Arithmetic, operand } => {
            let value = value(*operand)?;
            Some(if of.bits == 1 { i128::from(value != 0) } else { wrap(value, of) })
        }
        ExprKind::Convert { conversion: Conversion::Truth, operand } => Some(i128::from(value(*operand)? != 0)),
        ExprKind::Unary { operator, operand } => unary(*operator, value(*operand)?, of),
        ExprKind::Binary { operator, left, right } => binary(*operator, value(*left)?, value(*right)?, of),
        ExprKind::Conditional { condition, then, otherwise } => {
            value(if value(*condition)? != 0 { *then } else { *otherwise })
        }
        ExprKind::Builtin { builtin: Builtin::Expect, operands } => value(*operands.first()?),
        _ => None,
    }
}

/// The value of a constant node.
pub fn integer(kind: &ExprKind) -> Option<i128> {
    match kind {
        ExprKind::Constant(Constant::Integer(value)) => Some(*value),
        _ => None,
    }
}

/// The value of that type with the same low bits.
fn wrap(value: i128, of: Integer) -> i128 {
    let unused = 128 - of.bits.clamp(1, 128);
    if of.signed { (value << unused) >> unused } else { ((value << unused) as u128 >> unused) as i128 }
}

/// What a computation gives, if the type holds it or is unsigned.
fn fit(value: i128, of: Integer) -> Option<i128> {
    let wrapped = wrap(value, of);
    (!of.signed || wrapped == value).then_some(wrapped)
}

fn unary(operator: UnaryOperator, value: i128, of: Integer) -> Option<i128> {
    match operator {
        UnaryOperator::Plus => Some(value),
        UnaryOperator::Minus => fit(value.checked_neg()?, of),
        UnaryOperator::Complement => Some(wrap(!value, of)),
        UnaryOperator::Not => Some(i128::from(value == 0)),
        _ => None,
    }
}

fn binary(operator: BinaryOperator, left: i128, right: i128, of: Integer) -> Option<i128> {
    use BinaryOperator as Operator;
    let shift = u32::try_from(right).ok().filter(|&by| by < of.bits);
    let truth = |holds: bool| Some(i128::from(holds));
    match operator {
        Operator::Multiply => fit(left.checked_mul(right)?, of),
        Operator::Divide => fit(left.checked_div(right)?, of),
        Operator::Remainder => fit(left.checked_rem(right)?, of),
        Operator::Add => fit(left.checked_add(right)?, of),
        Operator::Subtract => fit(left.checked_sub(right)?, of),
        Operator::ShiftLeft => {
            // The front end keeps a value of 128 bits in one: what is shifted out of it is lost, as it is in the type.
            let moved = left.wrapping_shl(shift?);
            if left < 0 { None } else { fit(moved, of) }
        }
        Operator::ShiftRight => Some(left >> shift?),
        Operator::Less => truth(left < right),
        Operator::Greater => truth(left > right),
        Operator::LessEqual => truth(left <= right),
        Operator::GreaterEqual => truth(left >= right),
        Operator::Equal => truth(left == right),
        Operator::NotEqual => truth(left != right),
        Operator::And => Some(wrap(left & right, of)),
        Operator::ExclusiveOr => Some(wrap(left ^ right, of)),
        Operator::Or => Some(wrap(left | right, of)),
        Operator::LogicalAnd => truth(left != 0 && right != 0),
        Operator::LogicalOr => truth(left != 0 || right != 0),
    }
}
