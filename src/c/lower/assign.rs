//! Assignments, and `++` and `--`.
//!
//! In: a target and what is done to it. Out: one load at most, one store; of an `_Atomic` target one atomic operation where there is
//! one, else a loop that tries until nobody was in between.

use super::ask::Done;
use super::builder::{Builder, Typed};
use super::home::{Home, Lvalue};
use crate::supported::Reason;
use crate::tree::{BinaryOperator as Operator, ExprId, TypeId, UnaryOperator as Unary};
use cssame_ir::{
    AtomicOperation, BinaryOperator, Instruction, Modification, Operand, Place, ScalarType, Terminator, Value,
};

/// What is done to a place.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    pub operator: Operator,
    /// The type in which it is computed.
    pub computation: TypeId,
    pub operand: Typed,
}

/// Which value of a change is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Nothing,
    Old,
    New,
}

impl Builder<'_, '_> {
    /// An assignment; its value is what the target then holds.
    pub fn assign(
        &mut self,
        operator: Option<Operator>,
        computation: TypeId,
        target: ExprId,
        value: ExprId,
        (expr, is_dropped): (ExprId, bool),
    ) -> Done<Typed> {
        if operator.is_none() && self.begins_anew(target, value)? {
            return Ok(Typed::int(0));
        }
        if operator.is_none() && self.is_aggregate(target) {
            // Nobody asks for the value here.
            return self.assign_aggregate(target, value).map(|_| Typed::int(0));
        }
        let lvalue = self.lvalue(target)?;
        let operand = self.value(value)?;
        let span = self.span(expr);
        let Some(operator) = operator else {
            let ty = match lvalue.seen_as.or(lvalue.scalar) {
                Some(ty) => ty,
                None => return self.refuse(Reason::StructByValue, self.expr(expr).place),
            };
            let value = Typed { operand: self.converted(operand, ty, span), ty };
            self.store(&lvalue, value, target)?;
            return Ok(value);
        };
        let change = Change { operator, computation, operand };
        self.change(&lvalue, change, target, if is_dropped { Wanted::Nothing } else { Wanted::New })
    }

    /// `++` and `--`, before or behind.
    pub fn increment(&mut self, operator: Unary, target: ExprId, is_dropped: bool) -> Done<Typed> {
        let lvalue = self.lvalue(target)?;
        let up = matches!(operator, Unary::PreIncrement | Unary::PostIncrement);
        let change = Change {
            operator: if up { Operator::Add } else { Operator::Subtract },
            computation: self.expr(target).ty,
            operand: Typed::int(1),
        };
        let wanted = match operator {
            _ if is_dropped => Wanted::Nothing,
            Unary::PreIncrement | Unary::PreDecrement => Wanted::New,
            _ => Wanted::Old,
        };
        self.change(&lvalue, change, target, wanted)
    }

    /// Changes what a place holds, and gives what is wanted of it.
    fn change(&mut self, lvalue: &Lvalue, change: Change, target: ExprId, wanted: Wanted) -> Done<Typed> {
        let Some(ty) = lvalue.seen_as.or(lvalue.scalar) else {
            return self.refuse(Reason::StructByValue, self.expr(target).place);
        };
        if let (Home::Memory(place), true) = (&lvalue.home, lvalue.atomic) {
            self.plain_cell(lvalue, target)?;
            return self.atomic_change(lvalue, place.clone(), ty, change, (target, wanted));
        }
        let old = self.load(lvalue, target)?;
        let old = match (&lvalue.home, wanted) {
            (Home::Register(_), Wanted::Old) => self.copied(old, lvalue.span),
            _ => old,
        };
        let new = self.changed(old, ty, change, target, lvalue.atomic)?;
        self.store(lvalue, new, target)?;
        Ok(if wanted == Wanted::Old { old } else { new })
    }

    /// What becomes of a value of a type; arithmetic of atomic operations wraps.
    fn changed(&mut self, old: Typed, ty: ScalarType, change: Change, target: ExprId, is_atomic: bool) -> Done<Typed> {
        let place = self.expr(target).place;
        let Change { operator, computation, operand } = change;
        if ty == ScalarType::Pointer {
            return match operator {
                Operator::Add | Operator::Subtract => {
                    self.moved_by(old, target, operand, operator == Operator::Subtract, place.span)
                }
                _ => self.refuse(Reason::Form("operator on a pointer"), place),
            };
        }
        let computed_in = match self.input().scalar(self.key.unit, computation) {
            // `++` of a small integer is done in `int`.
            Some(ScalarType::Double) => ScalarType::Double,
            Some(wide) if wide.integer().is_some_and(|integer| integer.bits >= 32) => wide,
            _ => ScalarType::Int,
        };
        let left = self.converted(old, computed_in, place.span);
        let new = self.computed(operator, computed_in, left, operand, place)?;
        if !is_atomic {
            self.check_result();
        }
        Ok(Typed { operand: self.converted(new, ty, place.span), ty })
    }

    fn atomic_change(
        &mut self,
        lvalue: &Lvalue,
        place: Place,
        ty: ScalarType,
        change: Change,
        (target, wanted): (ExprId, Wanted),
    ) -> Done<Typed> {
        if let (Some(modification), Some(_)) = (modification(change.operator), ty.integer()) {
            let operand = self.converted(change.operand, ty, lvalue.span);
            let old = self.fetch_modify(lvalue, place, modification, operand, ty);
            return if wanted == Wanted::New { self.modified(modification, old, operand, target) } else { Ok(old) };
        }
        let compute = |builder: &mut Self, old: Typed| builder.changed(old, ty, change, target, true);
        let (old, new) = self.try_until(lvalue, place, ty, target, compute)?;
        Ok(if wanted == Wanted::Old { old } else { new })
    }

    /// One atomic operation that computes; what was there.
    pub fn fetch_modify(
        &mut self,
        lvalue: &Lvalue,
        place: Place,
        modification: Modification,
        operand: Operand,
        ty: ScalarType,
    ) -> Typed {
        let op = AtomicOperation::FetchModify(modification, operand, ty);
        self.atomic_on(lvalue, place, op, ty)
    }

    /// An atomic operation.
    pub fn atomic_on(&mut self, lvalue: &Lvalue, place: Place, op: AtomicOperation, ty: ScalarType) -> Typed {
        let (read, definition) = (self.new_read(lvalue), self.new_definition(lvalue));
        let dest = self.temporary(ty, lvalue.span);
        self.emit(Instruction::Atomic { dest, op, place, read, definition }, lvalue.span);
        Typed::register(dest, ty)
    }

    /// What a modification makes of a value.
    pub fn modified(
        &mut self,
        modification: Modification,
        old: Typed,
        operand: Operand,
        target: ExprId,
    ) -> Done<Typed> {
        let (place, ty) = (self.expr(target).place, old.ty);
        let operand = Typed { operand, ty };
        let operator = match modification {
            Modification::Add => Operator::Add,
            Modification::Subtract => Operator::Subtract,
            Modification::And | Modification::NotAnd => Operator::And,
            Modification::Or => Operator::Or,
            Modification::ExclusiveOr => Operator::ExclusiveOr,
        };
        let wide = match ty.integer() {
            Some(integer) if integer.bits >= 32 => ty,
            _ => ScalarType::Int,
        };
        let left = self.converted(old, wide, place.span);
        let mut new = self.computed(operator, wide, left, operand, place)?;
        if modification == Modification::NotAnd {
            let op = cssame_ir::UnaryOperator::Complement(self.arithmetic(wide, place)?);
            let dest = self.temporary(wide, place.span);
            self.emit(Instruction::Unary { dest, op, operand: new.operand }, place.span);
            new = Typed::register(dest, wide);
        }
        Ok(Typed { operand: self.converted(new, ty, place.span), ty })
    }

    /// Reads, computes, and writes if nobody has written in between, else again: what was there, and what is there then.
    pub fn try_until(
        &mut self,
        lvalue: &Lvalue,
        place: Place,
        ty: ScalarType,
        target: ExprId,
        compute: impl FnOnce(&mut Self, Typed) -> Done<Typed>,
    ) -> Done<(Typed, Typed)> {
        let span = lvalue.span;
        let old = Typed::register(self.temporary(ty, span), ty);
        let Operand::Register(dest) = old.operand else {
            return self.refuse(Reason::Form("value without a register"), self.expr(target).place);
        };
        let first = self.load(lvalue, target)?;
        self.emit(Instruction::Copy { dest, source: first.operand }, span);
        let (head, again, after) = (self.new_block(), self.new_block(), self.new_block());
        self.jump_into(head, span);
        let new = compute(self, old)?;
        let op = AtomicOperation::CompareExchange { old: old.operand, new: new.operand };
        let found = self.atomic_on(lvalue, place, op, ty);
        let same = self.same(found, old, span);
        let branch = Terminator::Branch { condition: same.operand, then_block: after, else_block: again };
        self.terminate(branch, span);
        self.current = again;
        self.emit(Instruction::Copy { dest, source: found.operand }, span);
        self.terminate(Terminator::Jump(head), span);
        self.current = after;
        Ok((old, new))
    }

    /// Whether two values of one type are equal.
    pub fn same(&mut self, one: Typed, other: Typed, span: cssame_source::Span) -> Typed {
        let operands = (one.operand, other.operand);
        let operand = self.operation(BinaryOperator::Equal, ScalarType::Bool, operands, span);
        Typed { operand, ty: ScalarType::Bool }
    }

    /// A number for each truth value.
    pub fn number_for(&mut self, truth: Typed, yes: i32, no: i32, span: cssame_source::Span) -> Typed {
        let dest = self.temporary(ScalarType::Int, span);
        let (then_block, else_block, join) = (self.new_block(), self.new_block(), self.new_block());
        self.terminate(Terminator::Branch { condition: truth.operand, then_block, else_block }, span);
        for (block, number) in [(then_block, yes), (else_block, no)] {
            self.current = block;
            self.emit(Instruction::Copy { dest, source: Operand::Constant(Value::Int(number)) }, span);
            self.terminate(Terminator::Jump(join), span);
        }
        self.current = join;
        Typed::register(dest, ScalarType::Int)
    }
}

fn modification(operator: Operator) -> Option<Modification> {
    Some(match operator {
        Operator::Add => Modification::Add,
        Operator::Subtract => Modification::Subtract,
        Operator::And => Modification::And,
        Operator::Or => Modification::Or,
        Operator::ExclusiveOr => Modification::ExclusiveOr,
        _ => return None,
    })
}
