//! Expressions as text.
//!
//! In: an expression and the precedence of its position. Out: text with parentheses only where precedence requires them.

use super::super::ast::*;
use super::{Printer, type_name};

/// How tightly `?:` binds.
pub(super) const LOOSEST: u8 = 1;
/// How tightly a prefix operator or a cast binds.
const UNARY: u8 = 12;
/// How tightly names, literals, calls and the like bind.
const TIGHTEST: u8 = 13;

impl Printer {
    /// An expression in a place that takes everything that binds at least so tightly.
    pub(super) fn expression(&mut self, expr: &Expr, least: u8) {
        let tightness = tightness(expr);
        if tightness < least {
            self.text("(");
        }
        match &expr.kind {
            ExprKind::Binary { op, left, right } => {
                self.expression(left, tightness);
                self.format(format_args!(" {} ", op.symbol()));
                self.expression(right, tightness + 1);
            }
            ExprKind::Conditional { condition, then_value, else_value } => {
                self.expression(condition, LOOSEST + 1);
                self.text(" ? ");
                self.expression(then_value, LOOSEST);
                self.text(" : ");
                self.expression(else_value, LOOSEST);
            }
            ExprKind::Unary { op, operand } => {
                self.text(op.symbol());
                // `--x` would be one operator.
                let minus_again = *op == UnaryOp::Negate && begins_with_minus(operand);
                self.expression(operand, if minus_again { TIGHTEST + 1 } else { UNARY });
            }
            ExprKind::Cast { ty, operand } => {
                self.format(format_args!("({}) ", type_name(ty)));
                self.expression(operand, UNARY);
            }
            _ => self.primary(expr),
        }
        if tightness < least {
            self.text(")");
        }
    }

    fn primary(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Int { value, long } => {
                // 2^63 stands only behind a minus, which is a node of its own.
                let digits = if *value == i64::MIN { value.unsigned_abs().to_string() } else { value.to_string() };
                let suffix = if *long && *value >= 0 && *value <= i64::from(i32::MAX) { "L" } else { "" };
                self.format(format_args!("{digits}{suffix}"));
            }
            ExprKind::Double(value) => self.format(format_args!("{value:?}")),
            ExprKind::Bool(value) => self.format(format_args!("{value}")),
            ExprKind::String(text) => self.string(text),
            ExprKind::Name(name) => self.text(name),
            ExprKind::This => self.text("this"),
            ExprKind::Field { object, field } => {
                self.expression(object, TIGHTEST);
                self.format(format_args!(".{}", field.name));
            }
            ExprKind::Index { array, index } => {
                self.expression(array, TIGHTEST);
                self.text("[");
                self.expression(index, LOOSEST);
                self.text("]");
            }
            ExprKind::Call { receiver, callee, arguments } => {
                if let Some(receiver) = receiver {
                    self.expression(receiver, TIGHTEST);
                    self.text(".");
                }
                self.format(format_args!("{}(", callee.name));
                self.list(arguments, |printer, argument| printer.expression(argument, LOOSEST));
                self.text(")");
            }
            ExprKind::Spawn(call) => {
                self.text("spawn ");
                self.expression(call, LOOSEST);
            }
            _ => self.text("0 /* error */"),
        }
    }

    fn string(&mut self, text: &str) {
        self.text("\"");
        for character in text.chars() {
            match character {
                '\n' => self.text("\\n"),
                '\t' => self.text("\\t"),
                '\r' => self.text("\\r"),
                '\0' => self.text("\\0"),
                '\\' => self.text("\\\\"),
                '"' => self.text("\\\""),
                other => self.out.push(other),
            }
        }
        self.text("\"");
    }
}

fn tightness(expr: &Expr) -> u8 {
    match &expr.kind {
        ExprKind::Conditional { .. } => LOOSEST,
        ExprKind::Binary { op, .. } => match op {
            BinaryOp::Or => 2,
            BinaryOp::And => 3,
            BinaryOp::BitOr => 4,
            BinaryOp::BitXor => 5,
            BinaryOp::BitAnd => 6,
            BinaryOp::Equal | BinaryOp::NotEqual => 7,
            BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Greater | BinaryOp::GreaterEqual => 8,
            BinaryOp::ShiftLeft | BinaryOp::ShiftRight => 9,
            BinaryOp::Add | BinaryOp::Subtract => 10,
            BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::Remainder => 11,
        },
        ExprKind::Unary { .. } | ExprKind::Cast { .. } => UNARY,
        _ => TIGHTEST,
    }
}

fn begins_with_minus(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Unary { op, .. } => *op == UnaryOp::Negate,
        ExprKind::Int { value, .. } => *value < 0 && *value != i64::MIN,
        _ => false,
    }
}
