//! Conditions: truth values, and branches on them.
//!
//! `&&`, `||` and `!` become control flow; one test becomes one branch.

use super::ask::Done;
use super::builder::{Builder, Typed};
use crate::tree::{BinaryOperator as Operator, Builtin, Conversion, ExprId, ExprKind, UnaryOperator as Unary};
use cssame_ir::{BlockId, Instruction, ScalarType, Terminator, UnaryOperator, Value};

impl Builder<'_, '_> {
    /// Whether a value is not zero.
    pub fn truth(&mut self, expr: ExprId) -> Done<Typed> {
        let value = self.value(expr)?;
        let operand = self.converted(value, ScalarType::Bool, self.span(expr));
        Ok(Typed { operand, ty: ScalarType::Bool })
    }

    /// A condition without what only makes a number or a truth value of it.
    fn core(&self, expr: ExprId) -> ExprId {
        let mut at = expr;
        loop {
            let node = self.expr(at);
            let operand = match &node.kind {
                ExprKind::Convert { conversion: Conversion::Truth, operand } => *operand,
                ExprKind::Builtin { builtin: Builtin::Expect, operands } => match operands.first() {
                    Some(&operand) => operand,
                    None => return at,
                },
                // A truth value stays what it is as a number.
                ExprKind::Convert { conversion: Conversion::Arithmetic, operand } | ExprKind::Cast(operand)
                    if is_test(&self.expr(*operand).kind) =>
                {
                    *operand
                }
                _ => return at,
            };
            if self.known.contains_key(&at) {
                return at;
            }
            at = operand;
        }
    }

    /// Ends the current block with a branch on a condition.
    pub fn branch(&mut self, condition: ExprId, then_block: BlockId, else_block: BlockId) -> Done<()> {
        let span = self.span(condition);
        if let Some(value) = self.unit.integer(condition) {
            self.terminate(Terminator::Jump(if value != 0 { then_block } else { else_block }), span);
            return Ok(());
        }
        let core = self.core(condition);
        match &self.expr(core).kind {
            ExprKind::Binary { operator: operator @ (Operator::LogicalAnd | Operator::LogicalOr), left, right } => {
                let middle = self.new_block();
                if *operator == Operator::LogicalAnd {
                    self.branch(*left, middle, else_block)?;
                } else {
                    self.branch(*left, then_block, middle)?;
                }
                self.current = middle;
                self.branch(*right, then_block, else_block)
            }
            ExprKind::Unary { operator: Unary::Not, operand } => {
                self.branch(*operand, else_block, then_block)?;
                let inner = self.core(*operand);
                let is_one = !matches!(
                    self.expr(inner).kind,
                    ExprKind::Binary { operator: Operator::LogicalAnd | Operator::LogicalOr, .. }
                );
                if is_one {
                    let block = &mut self.function.blocks[self.current];
                    block.negated = !block.negated;
                    block.terminator_span = span;
                }
                Ok(())
            }
            _ => {
                let condition = self.truth(core)?.operand;
                self.terminate(Terminator::Branch { condition, then_block, else_block }, span);
                Ok(())
            }
        }
    }

    /// The value of `&&`, `||` or `!`.
    pub fn truth_by_branches(&mut self, expr: ExprId) -> Done<Typed> {
        let (span, ty) = (self.span(expr), ScalarType::Bool);
        if let ExprKind::Unary { operator: Unary::Not, operand } = self.expr(expr).kind {
            let operand = self.truth(operand)?.operand;
            let dest = self.temporary(ty, span);
            self.emit(Instruction::Unary { dest, op: UnaryOperator::Not, operand }, span);
            return Ok(Typed::register(dest, ty));
        }
        let dest = self.temporary(ty, span);
        let (then_block, else_block, join) = (self.new_block(), self.new_block(), self.new_block());
        self.branch(expr, then_block, else_block)?;
        for (block, truth) in [(then_block, true), (else_block, false)] {
            self.current = block;
            let source = Typed::constant(Value::Bool(truth)).operand;
            self.emit(Instruction::Copy { dest, source }, span);
            self.terminate(Terminator::Jump(join), span);
        }
        self.current = join;
        Ok(Typed::register(dest, ty))
    }
}

/// Whether an expression is a truth value, whatever its type.
fn is_test(kind: &ExprKind) -> bool {
    use Operator::{Equal, Greater, GreaterEqual, Less, LessEqual, LogicalAnd, LogicalOr, NotEqual};
    match kind {
        ExprKind::Unary { operator: Unary::Not, .. } => true,
        ExprKind::Binary { operator, .. } => {
            matches!(operator, Less | Greater | LessEqual | GreaterEqual | Equal | NotEqual | LogicalAnd | LogicalOr)
        }
        ExprKind::Convert { conversion: Conversion::Truth, .. } => true,
        _ => false,
    }
}
