//! Arithmetic that says whether its result fits: `__builtin_add_overflow` and its like.
//!
//! In: two operands and where the result goes. Out: the result as the target has it, and whether it is another one than that of whole
//! numbers without bounds. It is computed in 64 bits; what needs more is refused.

use super::ask::Done;
use super::builder::{Builder, Typed};
use crate::supported::Reason;
use crate::tree::{BinaryOperator as Operator, ExprId, Place, TypeId};
use cssame_ir::{Instruction, Operand, ScalarType, Terminator, Value};

/// The operands and the result of an operation in 64 bits.
#[derive(Clone, Copy)]
struct Computed {
    ty: ScalarType,
    left: Operand,
    right: Operand,
    result: Operand,
}

impl Builder<'_, '_> {
    /// Whether the result does not fit; it is stored where the third operand points at, if so.
    pub fn overflow(
        &mut self,
        operator: Operator,
        exact: TypeId,
        stores: bool,
        operands: &[ExprId],
        expr: ExprId,
    ) -> Done<Typed> {
        let place = self.expr(expr).place;
        let refused = Reason::Builtin("arithmetic with overflow");
        let (&[left, right, target], Some(exact)) = (operands, self.exact_type(exact)) else {
            return self.refuse(refused, place);
        };
        let ty = if exact.signed { ScalarType::Long } else { ScalarType::UnsignedLong };
        let left = self.value_as(left, ty)?;
        let right = self.value_as(right, ty)?;
        let lvalue = if stores { Some(self.pointed(target)?) } else { None };
        let narrow = match &lvalue {
            Some(lvalue) => lvalue.scalar,
            None => self.input().scalar(self.key.unit, self.expr(target).ty),
        };
        let Some(narrow) = narrow.filter(|ty| ty.integer().is_some()) else { return self.refuse(refused, place) };
        let result = self.wrapped(operator, ty, (left, right), place)?;
        let stored = Typed { operand: self.converted(Typed { operand: result, ty }, narrow, place.span), ty: narrow };
        let back = Typed { operand: self.converted(stored, ty, place.span), ty };
        let mut fails = self.computed(Operator::NotEqual, ty, result, back, place)?;
        if exact.bits > 32 {
            let computed = Computed { ty, left, right, result };
            let leaves = match operator {
                Operator::Multiply => self.product_leaves(computed, place)?,
                _ => self.sum_leaves(operator, computed, place)?,
            };
            fails = self.computed(Operator::Or, ScalarType::Bool, fails.operand, leaves, place)?;
        }
        if let Some(lvalue) = lvalue {
            self.store(&lvalue, stored, target)?;
        }
        Ok(fails)
    }

    /// The type that holds all values of the operands and of the target, where there is one of 64 bits.
    fn exact_type(&self, exact: TypeId) -> Option<crate::tree::Integer> {
        match self.unit.types[exact].kind {
            crate::tree::TypeKind::Integer(integer) if integer.bits <= 64 => Some(integer),
            _ => None,
        }
    }

    /// The result without a sign, which wraps, as one of the type.
    fn wrapped(
        &mut self,
        operator: Operator,
        ty: ScalarType,
        (left, right): (Operand, Operand),
        place: Place,
    ) -> Done<Operand> {
        let word = ScalarType::UnsignedLong;
        let left = self.converted(Typed { operand: left, ty }, word, place.span);
        let right = self.converted(Typed { operand: right, ty }, word, place.span);
        let result = self.computed(operator, word, left, Typed { operand: right, ty: word }, place)?;
        Ok(self.converted(result, ty, place.span))
    }

    /// Whether a sum or a difference leaves 64 bits.
    fn sum_leaves(&mut self, operator: Operator, computed: Computed, place: Place) -> Done<Typed> {
        let Computed { ty, left, right, result } = computed;
        let typed = |operand: Operand| Typed { operand, ty };
        if ty == ScalarType::UnsignedLong {
            return match operator {
                Operator::Add => self.computed(Operator::Less, ty, result, typed(left), place),
                _ => self.computed(Operator::Less, ty, left, typed(right), place),
            };
        }
        // The result has another sign than the left operand, and than the right one, or its negation.
        let one = self.computed(Operator::ExclusiveOr, ty, left, typed(result), place)?;
        let with = if operator == Operator::Add { result } else { left };
        let other = self.computed(Operator::ExclusiveOr, ty, right, typed(with), place)?;
        let both = self.computed(Operator::And, ty, one.operand, other, place)?;
        self.computed(Operator::Less, ty, both.operand, Typed::constant(Value::Long(0)), place)
    }

    /// Whether a product leaves 64 bits: whether dividing it gives another factor.
    fn product_leaves(&mut self, computed: Computed, place: Place) -> Done<Typed> {
        let Computed { ty, left, right, result } = computed;
        let typed = |operand: Operand| Typed { operand, ty };
        let dest = self.temporary(ScalarType::Bool, place.span);
        let join = self.new_block();
        let none = Typed::constant(Value::Bool(false));
        self.given_where(left, Typed::constant(super::datum::zero(ty)), (dest, none, join), place)?;
        if ty == ScalarType::Long {
            // The lowest number has no negation.
            let lowest = Typed::constant(Value::Long(i64::MIN));
            let leaves = self.computed(Operator::Equal, ty, right, lowest, place)?;
            self.given_where(left, Typed::constant(Value::Long(-1)), (dest, leaves, join), place)?;
        }
        let factor = self.computed(Operator::Divide, ty, result, typed(left), place)?;
        let leaves = self.computed(Operator::NotEqual, ty, factor.operand, typed(right), place)?;
        self.emit(Instruction::Copy { dest, source: leaves.operand }, place.span);
        self.jump_into(join, place.span);
        Ok(Typed::register(dest, ScalarType::Bool))
    }

    /// Where a value is that number, the answer is known, and it goes on in `join`.
    fn given_where(
        &mut self,
        value: Operand,
        number: Typed,
        (dest, answer, join): (cssame_ir::RegisterId, Typed, cssame_ir::BlockId),
        place: Place,
    ) -> Done<()> {
        let condition = self.computed(Operator::Equal, number.ty, value, number, place)?.operand;
        let (then_block, else_block) = (self.new_block(), self.new_block());
        self.terminate(Terminator::Branch { condition, then_block, else_block }, place.span);
        self.current = then_block;
        self.emit(Instruction::Copy { dest, source: answer.operand }, place.span);
        self.terminate(Terminator::Jump(join), place.span);
        self.current = else_block;
        Ok(())
    }
}
