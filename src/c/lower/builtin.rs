//! Functions of the compiler that are no atomic operations.

use super::ask::Done;
use super::builder::{Builder, Typed};
use crate::supported::Reason;
use crate::tree::{BinaryOperator as Operator, Builtin, ExprId};
use cssame_ir::{Instruction, Operand, Terminator, UnaryOperator, Value};

impl Builder<'_, '_> {
    /// The value of a function of the compiler, if it has one.
    pub fn builtin(&mut self, builtin: Builtin, operands: &[ExprId], expr: ExprId) -> Done<Option<Typed>> {
        let node = self.expr(expr);
        let Some(&operand) = operands.first() else {
            return match builtin {
                Builtin::Unreachable => self.failure("unreachable", expr).map(|()| None),
                Builtin::Trap => self.failure("trap", expr).map(|()| None),
                _ => self.refuse(Reason::Builtin("function of the compiler"), node.place),
            };
        };
        match builtin {
            Builtin::Expect => self.own_value(operand).map(Some),
            Builtin::Prefetch => Ok(None),
            Builtin::ConstantProbe => Ok(Some(Typed::int(0))),
            Builtin::AbsoluteValue => self.absolute(operand, expr).map(Some),
            Builtin::Overflow { operator, exact, stores } => {
                self.overflow(operator, exact, stores, operands, expr).map(Some)
            }
            Builtin::ByteSwap => self.byte_swap(operand, expr).map(Some),
            Builtin::BitCount(count) => self.bit_count(count, operand, expr).map(Some),
            Builtin::Unreachable | Builtin::Trap => self.failure("unreachable", expr).map(|()| None),
            _ => self.refuse(Reason::Builtin("function of the compiler"), node.place),
        }
    }

    /// The value without its sign.
    pub fn absolute(&mut self, operand: ExprId, expr: ExprId) -> Done<Typed> {
        let (ty, place) = (self.scalar(expr)?, self.expr(expr).place);
        let span = place.span;
        let value = self.value(operand)?;
        let value = Typed { operand: self.converted(value, ty, span), ty };
        let dest = self.temporary(ty, span);
        self.emit(Instruction::Copy { dest, source: value.operand }, span);
        let (negative, join) = (self.new_block(), self.new_block());
        let zero = Typed::constant(Value::from_bits(ty, 0));
        let below = self.computed(Operator::Less, ty, value.operand, zero, place)?;
        self.terminate(Terminator::Branch { condition: below.operand, then_block: negative, else_block: join }, span);
        self.current = negative;
        let op = UnaryOperator::Negate(self.arithmetic(ty, place)?);
        self.emit(Instruction::Unary { dest, op, operand: Operand::Register(dest) }, span);
        self.jump_into(join, span);
        Ok(Typed::register(dest, ty))
    }
}
