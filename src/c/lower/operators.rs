//! Operators: arithmetic, comparisons, pointers.

use super::ask::Done;
use super::builder::{Builder, Typed};
use crate::supported::Reason;
use crate::tree::{BinaryOperator as Operator, ExprId, Place, TypeId, TypeKind, UnaryOperator as Unary};
use cssame_ir::{Arithmetic, BinaryOperator, Instruction, Operand, Pointer, ScalarType, UnaryOperator, Value};
use cssame_source::Span;

impl Builder<'_, '_> {
    /// The type of arithmetic of a scalar type.
    pub fn arithmetic(&self, ty: ScalarType, place: Place) -> Done<Arithmetic> {
        match ty {
            ScalarType::Int => Ok(Arithmetic::Int),
            ScalarType::Long => Ok(Arithmetic::Long),
            ScalarType::UnsignedInt => Ok(Arithmetic::UnsignedInt),
            ScalarType::UnsignedLong => Ok(Arithmetic::UnsignedLong),
            ScalarType::Double => Ok(Arithmetic::Double),
            _ => self.refuse(Reason::Form("arithmetic in a type without arithmetic"), place),
        }
    }

    /// An operator with one operand.
    pub fn unary(&mut self, operator: Unary, operand: ExprId, expr: ExprId) -> Done<Typed> {
        let (node, span) = (self.expr(expr), self.span(expr));
        match operator {
            Unary::Plus => self.own_value(operand),
            Unary::Minus if self.scalar(expr)? != ScalarType::Double => {
                let ty = self.scalar(expr)?;
                let value = Typed { operand: self.value_as(operand, ty)?, ty };
                let zero = Operand::Constant(super::datum::zero(ty));
                let result = self.computed(Operator::Subtract, ty, zero, value, node.place)?;
                self.check_result();
                Ok(result)
            }
            Unary::Minus | Unary::Complement => {
                let ty = self.scalar(expr)?;
                let arithmetic = self.arithmetic(ty, node.place)?;
                let value = self.value_as(operand, ty)?;
                let op = match operator {
                    Unary::Minus => UnaryOperator::Negate(arithmetic),
                    _ => UnaryOperator::Complement(arithmetic),
                };
                let dest = self.temporary(ty, span);
                self.emit(Instruction::Unary { dest, op, operand: value }, span);
                Ok(Typed::register(dest, ty))
            }
            Unary::Not => self.truth_by_branches(expr),
            Unary::AddressOf => self.address_of(operand),
            Unary::PreIncrement | Unary::PreDecrement | Unary::PostIncrement | Unary::PostDecrement => {
                self.increment(operator, operand, false)
            }
            Unary::Dereference | Unary::ComplexPart => self.refuse(Reason::Form("operator of this form"), node.place),
        }
    }

    /// An operator with two operands; those of `&&` and `||` are control flow.
    pub fn binary(&mut self, operator: Operator, left: ExprId, right: ExprId, expr: ExprId) -> Done<Typed> {
        let place = self.expr(expr).place;
        let is_pointer = |one: ExprId| self.unit.pointee(self.expr(one).ty).is_some();
        match (is_pointer(left), is_pointer(right)) {
            (false, false) => {}
            (true, true) => return self.pointers(operator, left, right, expr),
            (true, false) if matches!(operator, Operator::Add | Operator::Subtract) => {
                let pointer = self.value(left)?;
                return self.moved(pointer, left, right, operator == Operator::Subtract, place.span);
            }
            (false, true) if operator == Operator::Add => {
                let index = self.value(left)?;
                let pointer = self.value(right)?;
                return self.moved_by(pointer, right, index, false, place.span);
            }
            _ => return self.pointers(operator, left, right, expr),
        }
        let first = self.value(left)?;
        let second = self.value(right)?;
        let comparison = is_comparison(operator);
        let ty = match (comparison, self.scalar(left)?) {
            // Handles compare as what they are.
            (true, ScalarType::UnsignedLong) if first.ty == ScalarType::Thread && second.ty == first.ty => {
                ScalarType::Thread
            }
            (true, ty) => ty,
            (false, _) => self.scalar(expr)?,
        };
        let first = self.converted(first, ty, place.span);
        let result = self.computed(operator, ty, first, second, place)?;
        self.check_result();
        Ok(result)
    }

    /// The operation that was just computed is one that the program asks for: arithmetic with a sign fails where the result does not
    /// fit, unless the options say that it wraps.
    pub fn check_result(&mut self) {
        let wraps = self.unit.wraps;
        if let Some(Instruction::Binary { op, .. }) = self.function.blocks[self.current].instructions.last_mut() {
            *op = in_c(*op, wraps);
        }
    }

    /// `left operator right`, where `left` is of type `ty`, in which the operation is done; it wraps.
    pub fn computed(
        &mut self,
        operator: Operator,
        ty: ScalarType,
        left: Operand,
        right: Typed,
        place: Place,
    ) -> Done<Typed> {
        let span = place.span;
        let is_shift = matches!(operator, Operator::ShiftLeft | Operator::ShiftRight);
        let right = self.converted(right, if is_shift { ScalarType::Long } else { ty }, span);
        let arithmetic = || self.arithmetic(ty, place);
        let (op, left, right) = match operator {
            Operator::Add => (BinaryOperator::Add(arithmetic()?), left, right),
            Operator::Subtract => (BinaryOperator::Subtract(arithmetic()?), left, right),
            Operator::Multiply => (BinaryOperator::Multiply(arithmetic()?), left, right),
            Operator::Divide => (BinaryOperator::Divide(arithmetic()?), left, right),
            Operator::Remainder => (BinaryOperator::Remainder(arithmetic()?), left, right),
            Operator::ShiftLeft => (BinaryOperator::ShiftLeft(arithmetic()?), left, right),
            Operator::ShiftRight => (BinaryOperator::ShiftRight(arithmetic()?), left, right),
            Operator::Less => (BinaryOperator::Less(arithmetic()?), left, right),
            Operator::LessEqual => (BinaryOperator::LessEqual(arithmetic()?), left, right),
            Operator::Greater => (BinaryOperator::Less(arithmetic()?), right, left),
            Operator::GreaterEqual => (BinaryOperator::LessEqual(arithmetic()?), right, left),
            Operator::Equal if ty == ScalarType::Double => (BinaryOperator::EqualDouble, left, right),
            Operator::NotEqual if ty == ScalarType::Double => (BinaryOperator::NotEqualDouble, left, right),
            Operator::Equal => (BinaryOperator::Equal, left, right),
            Operator::NotEqual => (BinaryOperator::NotEqual, left, right),
            Operator::And => (BinaryOperator::And, left, right),
            Operator::Or => (BinaryOperator::Or, left, right),
            Operator::ExclusiveOr => (BinaryOperator::Xor, left, right),
            Operator::LogicalAnd | Operator::LogicalOr => {
                return self.refuse(Reason::Form("operator of this form"), place);
            }
        };
        let result = if is_comparison(operator) { ScalarType::Bool } else { ty };
        let dest = self.temporary(result, span);
        self.emit(Instruction::Binary { dest, op, left, right }, span);
        Ok(Typed::register(dest, result))
    }

    /// Comparison and difference of pointers.
    fn pointers(&mut self, operator: Operator, left: ExprId, right: ExprId, expr: ExprId) -> Done<Typed> {
        let place = self.expr(expr).place;
        let first = self.value_as(left, ScalarType::Pointer)?;
        let second = self.value_as(right, ScalarType::Pointer)?;
        let second = Typed { operand: second, ty: ScalarType::Pointer };
        if matches!(operator, Operator::Equal | Operator::NotEqual) {
            return self.computed(operator, ScalarType::Pointer, first, second, place);
        }
        self.test_same_object(first, second.operand, place.span);
        let first = self.converted(Typed { operand: first, ty: ScalarType::Pointer }, ScalarType::Long, place.span);
        let difference = self.computed(operator, ScalarType::Long, first, second, place)?;
        if operator != Operator::Subtract {
            return Ok(difference);
        }
        let bytes = self.stride(self.expr(left).ty, place)?;
        if bytes <= 1 {
            return Ok(difference);
        }
        let bytes = Typed::constant(Value::Long(i64::from(bytes)));
        self.computed(Operator::Divide, ScalarType::Long, difference.operand, bytes, place)
    }

    /// Bytes from one element to the next of what a pointer points at; what has no size counts single ones, as GNU C has it.
    pub fn stride(&self, pointer: TypeId, place: Place) -> Done<u32> {
        let Some(target) = self.unit.pointee(pointer) else {
            return self.refuse(Reason::Form("pointer that is none"), place);
        };
        match self.unit.types[target].kind {
            TypeKind::Void | TypeKind::Function(_) => Ok(1),
            _ => self.input().size(self.key.unit, target, place),
        }
    }

    /// A pointer so many elements further on.
    pub fn moved(&mut self, pointer: Typed, of: ExprId, index: ExprId, back: bool, span: Span) -> Done<Typed> {
        if self.unit.integer(index) == Some(0) {
            return Ok(pointer);
        }
        let index = self.value(index)?;
        self.moved_by(pointer, of, index, back, span)
    }

    pub fn moved_by(&mut self, pointer: Typed, of: ExprId, index: Typed, back: bool, span: Span) -> Done<Typed> {
        let place = self.expr(of).place;
        let stride = i64::from(self.stride(self.expr(of).ty, place)?) * if back { -1 } else { 1 };
        let bytes = match self.converted(index, ScalarType::Long, span) {
            Operand::Constant(Value::Long(index)) => Operand::Constant(Value::Long(index.wrapping_mul(stride))),
            index if stride == 1 => index,
            index => {
                let stride = Typed::constant(Value::Long(stride));
                let bytes =
                    self.computed(Operator::Multiply, ScalarType::Long, index, stride, Place { span, ..place })?;
                self.check_result();
                bytes.operand
            }
        };
        Ok(self.plus(pointer, bytes, span))
    }

    /// A pointer so many bytes further on.
    pub fn plus(&mut self, pointer: Typed, bytes: Operand, span: Span) -> Typed {
        match (pointer.operand, bytes) {
            (_, Operand::Constant(Value::Long(0))) => return pointer,
            (Operand::Constant(Value::Pointer(pointer)), Operand::Constant(Value::Long(bytes))) => {
                return Typed::constant(Value::Pointer(Pointer::plus(pointer, bytes)));
            }
            _ => {}
        }
        let dest = self.temporary(ScalarType::Pointer, span);
        let left = self.converted(pointer, ScalarType::Pointer, span);
        self.emit(Instruction::Binary { dest, op: BinaryOperator::PointerAdd, left, right: bytes }, span);
        Typed::register(dest, ScalarType::Pointer)
    }
}

/// An operator on types with a sign as C has it.
fn in_c(op: BinaryOperator, wraps: bool) -> BinaryOperator {
    use BinaryOperator as Op;
    let signed = |kind: Arithmetic| match kind {
        Arithmetic::Int => Arithmetic::CheckedInt,
        Arithmetic::Long => Arithmetic::CheckedLong,
        kind => kind,
    };
    match op {
        Op::Add(kind) if !wraps => Op::Add(signed(kind)),
        Op::Subtract(kind) if !wraps => Op::Subtract(signed(kind)),
        Op::Multiply(kind) if !wraps => Op::Multiply(signed(kind)),
        Op::Divide(kind) => Op::Divide(signed(kind)),
        Op::Remainder(kind) => Op::Remainder(signed(kind)),
        Op::ShiftLeft(kind) => Op::ShiftLeft(signed(kind)),
        Op::ShiftRight(kind) => Op::ShiftRight(signed(kind)),
        op => op,
    }
}

fn is_comparison(operator: Operator) -> bool {
    matches!(
        operator,
        Operator::Less
            | Operator::Greater
            | Operator::LessEqual
            | Operator::GreaterEqual
            | Operator::Equal
            | Operator::NotEqual
    )
}
