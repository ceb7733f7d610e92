//! Atomic operations of the compiler: `__atomic_*`, `__sync_*`, and C11 by these.
//!
//! In: the operation and its operands, the first of which is an address. Out: one access that is atomic, whatever the object is
//! declared as; a fence is nothing, since all of them are sequentially consistent.

use super::ask::Done;
use super::builder::{Builder, Typed};
use super::home::{Home, Lvalue};
use crate::supported::Reason;
use crate::tree::{AtomicOperation as Operation, ExprId, Modification as TreeModification, Order};
use cssame_ir::{AtomicOperation, BinaryOperator, Modification, Operand, Place, ScalarType, Terminator, Value};
use cssame_source::Span;

impl Builder<'_, '_> {
    /// Says, once, that a weaker order than the sequentially consistent one has no other executions here.
    pub fn note_order(&mut self, order: Order, expr: ExprId) {
        if matches!(order, Order::Relaxed | Order::Acquire | Order::Release | Order::AcquireRelease) {
            let limit = "executions are sequentially consistent, even for weaker memory orders";
            self.limit(limit, limit.to_owned(), self.expr(expr).place);
        }
    }

    /// The value of an atomic operation, if it has one.
    pub fn atomic(&mut self, operation: Operation, operands: &[ExprId], expr: ExprId) -> Done<Option<Typed>> {
        if matches!(operation, Operation::Fence | Operation::SignalFence) {
            return Ok(None);
        }
        let node = self.expr(expr);
        let Some(&object) = operands.first() else {
            return self.refuse(Reason::Form("atomic operation without an object"), node.place);
        };
        let lvalue = Lvalue { atomic: true, ..self.pointed(object)? };
        let (Home::Memory(place), Some(ty)) = (lvalue.home.clone(), lvalue.scalar) else {
            return self.refuse(Reason::Form("atomic operation on this object"), node.place);
        };
        self.plain_cell(&lvalue, object)?;
        let operand = |index: usize| operands.get(index).copied();
        let second = |builder: &mut Self| match operand(1) {
            Some(value) => {
                let value = builder.value(value)?;
                let operand = builder.converted(value, ty, node.place.span);
                Ok(Typed { operand, ty })
            }
            None => Ok(Typed::constant(super::datum::zero(ty))),
        };
        match operation {
            Operation::Load => self.load(&lvalue, object).map(Some),
            Operation::Store => {
                let value = second(self)?;
                self.store(&lvalue, value, object)?;
                Ok(None)
            }
            Operation::LoadInto => {
                let into = self.result_place(operand(1), expr)?;
                let value = self.load(&lvalue, object)?;
                self.store(&into, value, expr)?;
                Ok(None)
            }
            Operation::Exchange | Operation::ExchangeInto | Operation::TestAndSet => {
                self.exchange(operation, (&lvalue, place), operands, expr)
            }
            Operation::CompareExchange => self.compare_exchange(&lvalue, place, operands, expr).map(Some),
            Operation::CompareAndSwap | Operation::CompareAndSwapValue => {
                let old = second(self)?;
                let new = self.third(operands, ty, expr)?;
                let op = AtomicOperation::CompareExchange { old: old.operand, new: new.operand };
                let found = self.atomic_on(&lvalue, place, op, ty);
                if operation == Operation::CompareAndSwapValue {
                    return Ok(Some(found));
                }
                Ok(Some(self.same(found, old, node.place.span)))
            }
            Operation::FetchThen(what) | Operation::ThenFetch(what) => {
                let is_new = matches!(operation, Operation::ThenFetch(_));
                self.read_modify_write(&lvalue, (place, is_new), modification(what), operands, expr).map(Some)
            }
            Operation::Fence | Operation::SignalFence => Ok(None),
        }
    }

    /// Writes, and gives what was there.
    fn exchange(
        &mut self,
        operation: Operation,
        (lvalue, place): (&Lvalue, Place),
        operands: &[ExprId],
        expr: ExprId,
    ) -> Done<Option<Typed>> {
        let (span, ty) = (self.span(expr), lvalue.scalar.unwrap_or(ScalarType::Int));
        if operation == Operation::TestAndSet {
            let one = self.converted(Typed::constant(Value::Bool(true)), ty, span);
            let old = self.atomic_on(lvalue, place, AtomicOperation::Swap(one), ty);
            let operand = self.converted(old, ScalarType::Bool, span);
            return Ok(Some(Typed { operand, ty: ScalarType::Bool }));
        }
        let Some(&value) = operands.get(1) else {
            return self.refuse(Reason::Form("atomic operation without a value"), self.expr(expr).place);
        };
        let value = self.value_as(value, ty)?;
        if operation == Operation::Exchange {
            return Ok(Some(self.atomic_on(lvalue, place, AtomicOperation::Swap(value), ty)));
        }
        let into = self.result_place(operands.get(2).copied(), expr)?;
        let old = self.atomic_on(lvalue, place, AtomicOperation::Swap(value), ty);
        self.store(&into, old, expr)?;
        Ok(None)
    }

    /// The third operand, as a value of the type of the object.
    fn third(&mut self, operands: &[ExprId], ty: ScalarType, expr: ExprId) -> Done<Typed> {
        match operands.get(2) {
            Some(&value) => Ok(Typed { operand: self.value_as(value, ty)?, ty }),
            None => self.refuse(Reason::Form("atomic operation without a value"), self.expr(expr).place),
        }
    }

    /// Where a result goes that is given by its address.
    fn result_place(&mut self, pointer: Option<ExprId>, expr: ExprId) -> Done<Lvalue> {
        match pointer {
            Some(pointer) => self.pointed(pointer),
            None => self.refuse(Reason::Form("atomic operation without a result"), self.expr(expr).place),
        }
    }

    fn compare_exchange(&mut self, lvalue: &Lvalue, place: Place, operands: &[ExprId], expr: ExprId) -> Done<Typed> {
        let span = self.span(expr);
        let ty = lvalue.scalar.unwrap_or(ScalarType::Int);
        let expected = self.result_place(operands.get(1).copied(), expr)?;
        let old = self.load(&expected, expr)?;
        let old = Typed { operand: self.converted(old, ty, span), ty };
        // The value is tested behind the operation once more.
        let old = self.copied(old, span);
        let new = self.third(operands, ty, expr)?;
        let op = AtomicOperation::CompareExchange { old: old.operand, new: new.operand };
        let found = self.atomic_on(lvalue, place, op, ty);
        let same = self.same(found, old, span);
        let (failed, join) = (self.new_block(), self.new_block());
        self.terminate(Terminator::Branch { condition: same.operand, then_block: join, else_block: failed }, span);
        self.current = failed;
        self.store(&expected, found, expr)?;
        self.jump_into(join, span);
        Ok(same)
    }

    fn read_modify_write(
        &mut self,
        lvalue: &Lvalue,
        (place, is_new): (Place, bool),
        modification: Modification,
        operands: &[ExprId],
        expr: ExprId,
    ) -> Done<Typed> {
        let ty = lvalue.scalar.unwrap_or(ScalarType::Int);
        let object = operands.first().copied().unwrap_or(expr);
        let value = match operands.get(1) {
            Some(&value) => self.value(value)?,
            None => Typed::int(0),
        };
        if ty.integer().is_some() {
            let operand = self.converted(value, ty, lvalue.span);
            let old = self.fetch_modify(lvalue, place, modification, operand, ty);
            return if is_new { self.modified(modification, old, operand, object) } else { Ok(old) };
        }
        let (old, new) = self.try_until(lvalue, place, ty, object, |builder, old| match (ty, modification) {
            // The operand counts bytes, which `__atomic_fetch_add` of a pointer adds as they are.
            (ScalarType::Pointer, Modification::Add | Modification::Subtract) => {
                Ok(builder.moved_bytes(old, value, modification == Modification::Subtract, lvalue.span))
            }
            (ScalarType::Bool, _) => {
                let int = ScalarType::Int;
                let old = Typed { operand: builder.converted(old, int, lvalue.span), ty: int };
                let operand = builder.converted(value, int, lvalue.span);
                let new = builder.modified(modification, old, operand, object)?;
                Ok(Typed { operand: builder.converted(new, ty, lvalue.span), ty })
            }
            _ => builder.refuse(Reason::Form("atomic operation on this object"), builder.expr(expr).place),
        })?;
        Ok(if is_new { new } else { old })
    }

    fn moved_bytes(&mut self, old: Typed, bytes: Typed, back: bool, span: Span) -> Typed {
        let bytes = self.converted(bytes, ScalarType::Long, span);
        let zero = Operand::Constant(Value::Long(0));
        let bytes = if back { self.long_binary(BinaryOperator::Subtract, zero, bytes, span) } else { bytes };
        self.plus(old, bytes, span)
    }
}

fn modification(what: TreeModification) -> Modification {
    match what {
        TreeModification::Add => Modification::Add,
        TreeModification::Subtract => Modification::Subtract,
        TreeModification::And => Modification::And,
        TreeModification::NotAnd => Modification::NotAnd,
        TreeModification::Or => Modification::Or,
        TreeModification::ExclusiveOr => Modification::ExclusiveOr,
    }
}
