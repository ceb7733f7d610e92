//! `switch`: a chain of tests that lead into its body.

use super::ask::Done;
use super::builder::{Builder, Leavable, Typed};
use crate::tree::{BinaryOperator as Operator, Case, ExprId, StmtId};
use cssame_ir::{Operand, ScalarType, Terminator, Value};

impl Builder<'_, '_> {
    pub fn switch(&mut self, value: ExprId, body: StmtId, cases: &[Case], default: Option<StmtId>) -> Done<()> {
        let (span, place) = (self.span(value), self.expr(value).place);
        let ty = self.scalar(value)?;
        let tested = self.value(value)?;
        let tested = Typed { operand: self.converted(tested, ty, span), ty };
        let after = self.new_block();
        for case in cases {
            let target = self.case_block(case.body);
            let constant = |value: i128| Typed::constant(Value::from_bits(ty, wrapped(ty, value)));
            if case.low == case.high {
                let same = self.same(tested, constant(case.low), span);
                self.test(same.operand, target, span);
            } else {
                let (low, high) = (constant(case.low), constant(case.high));
                let next = self.new_block();
                let above = self.computed(Operator::GreaterEqual, ty, tested.operand, low, place)?;
                let middle = self.new_block();
                self.terminate(
                    Terminator::Branch { condition: above.operand, then_block: middle, else_block: next },
                    span,
                );
                self.current = middle;
                let below = self.computed(Operator::LessEqual, ty, tested.operand, high, place)?;
                self.terminate(
                    Terminator::Branch { condition: below.operand, then_block: target, else_block: next },
                    span,
                );
                self.current = next;
            }
        }
        let otherwise = default.map_or(after, |default| self.case_block(default));
        self.leave(Terminator::Jump(otherwise), span);
        self.leavable.push(Leavable { after, next: None, cleanups: self.cleanups.len() });
        self.statement(body)?;
        self.leavable.pop();
        self.jump_into(after, self.unit.statements[body].place.span);
        Ok(())
    }

    /// Goes to `target` where the condition holds, and on in a new block where not.
    fn test(&mut self, condition: Operand, target: cssame_ir::BlockId, span: cssame_source::Span) {
        let next = self.new_block();
        self.terminate(Terminator::Branch { condition, then_block: target, else_block: next }, span);
        self.current = next;
    }

    /// The block of what a label of a switch labels.
    pub fn case_block(&mut self, body: StmtId) -> cssame_ir::BlockId {
        if let Some(&block) = self.cases.get(&body) {
            return block;
        }
        let block = self.new_block();
        self.cases.insert(body, block);
        block
    }
}

fn wrapped(ty: ScalarType, value: i128) -> i64 {
    ty.integer().map_or(value as i64, |integer| integer.wrap(value as i64))
}
