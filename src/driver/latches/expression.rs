//! Expressions in Java.
//!
//! In: operators, and expressions. Out: expressions, with the data needed to write them as operands and as conditions.

use crate::java::operators;
use crate::java::text::literal;
use cssame_ir::{BinaryOperator, ScalarType, Texts, UnaryOperator, Value};

/// An expression.
#[derive(Clone, Debug)]
pub(super) struct Expression {
    pub(super) text: String,
    /// Whether it can be an operand as it is.
    is_single: bool,
    /// Of a condition: the text of its negation, where there is a plain one.
    opposite: Option<String>,
}

impl Expression {
    /// The name of a field or a local.
    pub(super) fn name(text: String) -> Expression {
        Expression { text, is_single: true, opposite: None }
    }

    /// A constant.
    pub(super) fn constant(texts: &Texts, value: Value) -> Expression {
        let text = literal(texts, value);
        let is_single = !text.starts_with(['-', '(']);
        Expression { text, is_single, opposite: None }
    }

    /// A call.
    pub(super) fn call(text: String) -> Expression {
        Expression::name(text)
    }

    fn compound(text: String) -> Expression {
        Expression { text, is_single: false, opposite: None }
    }

    /// As an operand.
    pub(super) fn inner(&self) -> String {
        if self.is_single { self.text.clone() } else { format!("({})", self.text) }
    }

    /// As a condition, or its negation.
    pub(super) fn condition(&self, negated: bool) -> String {
        match (negated, &self.opposite) {
            (false, _) => self.text.clone(),
            (true, Some(opposite)) => opposite.clone(),
            (true, None) => format!("!{}", self.inner()),
        }
    }
}

/// An operator with one operand.
pub(super) fn unary(op: UnaryOperator, operand: &Expression) -> Expression {
    if op == UnaryOperator::Not {
        let opposite = Some(operand.text.clone());
        return Expression { opposite, ..Expression::compound(operand.condition(true)) };
    }
    operators::unary(op, &operand.inner()).map_or_else(|| operand.clone(), Expression::compound)
}

/// An operator with two operands of that type.
pub(super) fn binary(op: BinaryOperator, ty: ScalarType, left: &Expression, right: &Expression) -> Expression {
    let (first, second, is_text) = (left.inner(), right.inner(), ty == ScalarType::String);
    let opposite = operators::opposite(op).map(|(opposite, swaps)| {
        let (first, second) = if swaps { (&second, &first) } else { (&first, &second) };
        operators::binary(opposite, is_text, first, second)
    });
    Expression { opposite, ..Expression::compound(operators::binary(op, is_text, &first, &second)) }
}
