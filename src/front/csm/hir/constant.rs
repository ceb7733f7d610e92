//! Constants and their folding.
//!
//! In: operators and constants. Out: the constant result, or nothing if the operation fails at run time (a division by zero),
//! which is then left to run time. The arithmetic is that of the language: wrapping, truncating, masked shifts.

use super::Scalar;
use crate::csm::syntax::ast::{BinaryOp, UnaryOp};
use cssame_source::texts::TextId;

/// A constant of the language.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Constant {
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

impl Constant {
    /// Its type.
    #[must_use]
    pub fn ty(self) -> Scalar {
        match self {
            Constant::Int(_) => Scalar::Int,
            Constant::Long(_) => Scalar::Long,
            Constant::Bool(_) => Scalar::Bool,
            Constant::Double(_) => Scalar::Double,
            Constant::String(_) => Scalar::String,
            Constant::NoThread => Scalar::Thread,
        }
    }

    /// What a variable of that type holds before the first write; `empty` is the empty text.
    #[must_use]
    pub fn zero(ty: Scalar, empty: TextId) -> Constant {
        match ty {
            Scalar::Int | Scalar::Error => Constant::Int(0),
            Scalar::Long => Constant::Long(0),
            Scalar::Bool => Constant::Bool(false),
            Scalar::Double => Constant::Double(0.0),
            Scalar::String => Constant::String(empty),
            Scalar::Thread => Constant::NoThread,
        }
    }

    /// Its value as an integer, if it is one.
    #[must_use]
    pub fn integer(self) -> Option<i64> {
        match self {
            Constant::Int(value) => Some(i64::from(value)),
            Constant::Long(value) => Some(value),
            Constant::Bool(value) => Some(i64::from(value)),
            _ => None,
        }
    }

    /// Converted to that type; `None` where there is no such conversion.
    #[must_use]
    pub fn convert(self, ty: Scalar) -> Option<Constant> {
        if self.ty() == ty {
            return Some(self);
        }
        Some(match (self, ty) {
            (Constant::Double(value), Scalar::Int) => Constant::Int(value as i32),
            (Constant::Double(value), Scalar::Long) => Constant::Long(value as i64),
            (Constant::Double(value), Scalar::Bool) => Constant::Bool(value != 0.0),
            (_, Scalar::Int) => Constant::Int(self.integer()? as i32),
            (_, Scalar::Long) => Constant::Long(self.integer()?),
            (_, Scalar::Bool) => Constant::Bool(self.integer()? != 0),
            (_, Scalar::Double) => Constant::Double(self.integer()? as f64),
            _ => return None,
        })
    }
}

/// Folds an operator of one operand.
#[must_use]
pub fn fold_unary(op: UnaryOp, operand: Constant) -> Option<Constant> {
    Some(match (op, operand) {
        (UnaryOp::Negate, Constant::Int(value)) => Constant::Int(value.wrapping_neg()),
        (UnaryOp::Negate, Constant::Long(value)) => Constant::Long(value.wrapping_neg()),
        (UnaryOp::Negate, Constant::Double(value)) => Constant::Double(-value),
        (UnaryOp::Complement, Constant::Int(value)) => Constant::Int(!value),
        (UnaryOp::Complement, Constant::Long(value)) => Constant::Long(!value),
        (UnaryOp::Not, Constant::Bool(value)) => Constant::Bool(!value),
        _ => return None,
    })
}

/// Folds an operator of two operands of one type; a shift count is a `long`.
#[must_use]
pub fn fold_binary(op: BinaryOp, left: Constant, right: Constant) -> Option<Constant> {
    match (left, right) {
        (Constant::Int(left), Constant::Int(right)) => {
            let wide = integer(op, i64::from(left), i64::from(right))?;
            Some(if let Constant::Long(value) = wide { Constant::Int(value as i32) } else { wide })
        }
        (Constant::Int(left), Constant::Long(count)) => Some(Constant::Int(match op {
            BinaryOp::ShiftLeft => left.wrapping_shl(count as u32),
            BinaryOp::ShiftRight => left.wrapping_shr(count as u32),
            _ => return None,
        })),
        (Constant::Long(left), Constant::Long(right)) => integer(op, left, right),
        (Constant::Bool(left), Constant::Bool(right)) => Some(Constant::Bool(match op {
            BinaryOp::Equal => left == right,
            BinaryOp::NotEqual | BinaryOp::BitXor => left != right,
            BinaryOp::BitAnd | BinaryOp::And => left && right,
            BinaryOp::BitOr | BinaryOp::Or => left || right,
            _ => return None,
        })),
        (Constant::Double(left), Constant::Double(right)) => double(op, left, right),
        (Constant::String(left), Constant::String(right)) => match op {
            BinaryOp::Equal => Some(Constant::Bool(left == right)),
            BinaryOp::NotEqual => Some(Constant::Bool(left != right)),
            _ => None,
        },
        _ => None,
    }
}

/// Integer arithmetic in 64 bits; the caller narrows a result of 32-bit operands, which wraps alike.
/// A comparison of two values.
fn compare<T: PartialOrd>(op: BinaryOp, left: T, right: T) -> Option<Constant> {
    Some(Constant::Bool(match op {
        BinaryOp::Less => left < right,
        BinaryOp::LessEqual => left <= right,
        BinaryOp::Greater => left > right,
        BinaryOp::GreaterEqual => left >= right,
        BinaryOp::Equal => left == right,
        BinaryOp::NotEqual => left != right,
        _ => return None,
    }))
}

fn integer(op: BinaryOp, left: i64, right: i64) -> Option<Constant> {
    Some(match op {
        BinaryOp::Add => Constant::Long(left.wrapping_add(right)),
        BinaryOp::Subtract => Constant::Long(left.wrapping_sub(right)),
        BinaryOp::Multiply => Constant::Long(left.wrapping_mul(right)),
        BinaryOp::Divide if right != 0 => Constant::Long(left.wrapping_div(right)),
        BinaryOp::Remainder if right != 0 => Constant::Long(left.wrapping_rem(right)),
        BinaryOp::ShiftLeft => Constant::Long(left.wrapping_shl(right as u32)),
        BinaryOp::ShiftRight => Constant::Long(left.wrapping_shr(right as u32)),
        BinaryOp::BitAnd => Constant::Long(left & right),
        BinaryOp::BitXor => Constant::Long(left ^ right),
        BinaryOp::BitOr => Constant::Long(left | right),
        _ => return compare(op, left, right),
    })
}

fn double(op: BinaryOp, left: f64, right: f64) -> Option<Constant> {
    Some(match op {
        BinaryOp::Add => Constant::Double(left + right),
        BinaryOp::Subtract => Constant::Double(left - right),
        BinaryOp::Multiply => Constant::Double(left * right),
        BinaryOp::Divide => Constant::Double(left / right),
        _ => return compare(op, left, right),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_wrap_truncate_and_mask() {
        let int = |op, left, right| fold_binary(op, Constant::Int(left), Constant::Int(right));
        assert_eq!(int(BinaryOp::Add, i32::MAX, 1), Some(Constant::Int(i32::MIN)));
        assert_eq!(int(BinaryOp::Multiply, i32::MAX, i32::MAX), Some(Constant::Int(1)));
        assert_eq!(int(BinaryOp::Divide, -7, 2), Some(Constant::Int(-3)));
        assert_eq!(int(BinaryOp::Remainder, -7, 2), Some(Constant::Int(-1)));
        assert_eq!(int(BinaryOp::Divide, i32::MIN, -1), Some(Constant::Int(i32::MIN)));
        assert_eq!(int(BinaryOp::Divide, 1, 0), None);
        let shift = fold_binary(BinaryOp::ShiftLeft, Constant::Int(1), Constant::Long(33));
        assert_eq!(shift, Some(Constant::Int(2)));
    }
}
