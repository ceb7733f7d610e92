//! Values of expressions.
//!
//! In: an expression. Out: an operand with the type that it has in the graph: a truth value stays one until something wants a number.
//! Evaluation goes from left to right.

use super::ask::Done;
use super::builder::{Builder, Typed};
use super::datum::Datum;
use crate::supported::Reason;
use crate::tree::{
    AddressBase, BinaryOperator as Operator, Constant, Conversion, ExprId, ExprKind, StmtId, StmtKind, TypeKind,
    UnaryOperator,
};
use cssame_ir::{Instruction, Operand, Pointer, ScalarType, Terminator, Value};

impl Builder<'_, '_> {
    /// The value of an expression.
    pub fn value(&mut self, expr: ExprId) -> Done<Typed> {
        match self.value_or_nothing(expr)? {
            Some(value) => Ok(value),
            None => self.refuse(Reason::Form("value of what has none"), self.expr(expr).place),
        }
    }

    /// The value of an expression as one of a type.
    pub fn value_as(&mut self, expr: ExprId, ty: ScalarType) -> Done<Operand> {
        let value = self.value(expr)?;
        Ok(self.converted(value, ty, self.span(expr)))
    }

    /// The value of an expression as one of its own type.
    pub fn own_value(&mut self, expr: ExprId) -> Done<Typed> {
        let ty = self.scalar(expr)?;
        Ok(Typed { operand: self.value_as(expr, ty)?, ty })
    }

    /// Evaluates an expression for what it does.
    pub fn effect(&mut self, expr: ExprId) -> Done<()> {
        let node = self.expr(expr);
        match &node.kind {
            // `(void)x` is no access.
            ExprKind::Cast(operand) | ExprKind::Convert { conversion: Conversion::Discard, operand }
                if matches!(self.unit.types[node.ty].kind, TypeKind::Void) =>
            {
                match self.expr(*operand).kind {
                    ExprKind::Convert { conversion: Conversion::Read, operand: place }
                        if matches!(node.kind, ExprKind::Cast(_)) =>
                    {
                        if matches!(self.expr(place).kind, ExprKind::Name(_)) {
                            Ok(())
                        } else {
                            self.lvalue(place).map(drop)
                        }
                    }
                    ExprKind::Name(_) => Ok(()),
                    _ => self.effect(*operand),
                }
            }
            ExprKind::Call { callee, arguments } => self.call(*callee, arguments, expr, false).map(drop),
            ExprKind::Unary {
                operator:
                    operator @ (UnaryOperator::PreIncrement
                    | UnaryOperator::PreDecrement
                    | UnaryOperator::PostIncrement
                    | UnaryOperator::PostDecrement),
                operand,
            } => self.increment(*operator, *operand, true).map(drop),
            ExprKind::Assign { operator, computation, target, value } => {
                self.assign(*operator, *computation, *target, *value, (expr, true)).map(drop)
            }
            ExprKind::Comma { first, second } => {
                self.effect(*first)?;
                self.effect(*second)
            }
            ExprKind::Conditional { condition, then, otherwise } => self.either(*condition, *then, *otherwise, expr),
            ExprKind::StatementExpression(body) => self.statement(*body),
            ExprKind::Name(_) | ExprKind::Constant(_) | ExprKind::String(_) => Ok(()),
            ExprKind::Unary { operator: UnaryOperator::Dereference, .. }
            | ExprKind::Member { .. }
            | ExprKind::Subscript { .. } => self.lvalue(expr).map(drop),
            _ => self.value_or_nothing(expr).map(drop),
        }
    }

    /// The value of an expression, if it has one.
    fn value_or_nothing(&mut self, expr: ExprId) -> Done<Option<Typed>> {
        if let Some(&known) = self.known.get(&expr) {
            return Ok(Some(known));
        }
        let node = self.expr(expr);
        if let Some(constant) = self.constant(expr)? {
            return Ok(Some(constant));
        }
        if let Some(function) = self.function_value(expr)? {
            return Ok(Some(function));
        }
        let value = match &node.kind {
            ExprKind::Convert { conversion: Conversion::Read, operand } => {
                let lvalue = self.lvalue(*operand)?;
                self.load(&lvalue, *operand)?
            }
            ExprKind::Convert { conversion: Conversion::ArrayToPointer, operand } => self.address_of(*operand)?,
            ExprKind::Convert { conversion: Conversion::Discard, .. } => return self.effect(expr).map(|()| None),
            ExprKind::Cast(_) if matches!(self.unit.types[node.ty].kind, TypeKind::Void) => {
                return self.effect(expr).map(|()| None);
            }
            ExprKind::Convert { conversion: Conversion::Truth, operand } => self.truth(*operand)?,
            ExprKind::Cast(operand) | ExprKind::Convert { operand, .. } => self.cast(*operand, expr)?,
            ExprKind::Unary { operator, operand } => self.unary(*operator, *operand, expr)?,
            ExprKind::Binary { operator: Operator::LogicalAnd | Operator::LogicalOr, .. } => {
                self.truth_by_branches(expr)?
            }
            ExprKind::Binary { operator, left, right } => self.binary(*operator, *left, *right, expr)?,
            ExprKind::Assign { operator, computation, target, value } => {
                self.assign(*operator, *computation, *target, *value, (expr, false))?
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                if self.input().scalar(self.key.unit, node.ty).is_none() {
                    return self.either(*condition, *then, *otherwise, expr).map(|()| None);
                }
                self.chosen(*condition, *then, *otherwise, expr)?
            }
            ExprKind::Comma { first, second } => {
                self.effect(*first)?;
                return self.value_or_nothing(*second);
            }
            ExprKind::StatementExpression(body) => return self.statement_expression(*body),
            ExprKind::Call { callee, arguments } => return self.call(*callee, arguments, expr, true),
            ExprKind::Atomic { operation, operands, order } => {
                self.note_order(*order, expr);
                return self.atomic(*operation, operands, expr);
            }
            ExprKind::Builtin { builtin, operands } => return self.builtin(*builtin, operands, expr),
            // A member of what is no place: of what a call gives.
            ExprKind::Member { .. } => {
                let lvalue = self.lvalue(expr)?;
                self.load(&lvalue, expr)?
            }
            ExprKind::Name(_)
            | ExprKind::Subscript { .. }
            | ExprKind::CompoundLiteral(_)
            | ExprKind::String(_)
            | ExprKind::Constant(_)
            | ExprKind::LabelAddress(_)
            | ExprKind::Error => return self.refuse(Reason::Form("value of this form"), node.place),
        };
        Ok(Some(value))
    }

    /// The value of an expression that is constant.
    fn constant(&mut self, expr: ExprId) -> Done<Option<Typed>> {
        let Some(constant) = self.unit.constant(expr) else { return Ok(None) };
        let Some(ty) = self.input().scalar(self.key.unit, self.expr(expr).ty) else { return Ok(None) };
        // What a local begins with is evaluated where its declaration is reached.
        if let Constant::Address { base: AddressBase::Declaration(_), .. } = constant
            && !matches!(self.expr(expr).kind, ExprKind::Constant(_))
        {
            return Ok(None);
        }
        let datum = self.lowering.datum(self.key.unit, expr)?;
        Ok(datum.map(|datum| match datum {
            Datum::Pointer(pointer) if ty != ScalarType::Pointer => {
                Typed::constant(Value::from_bits(ty, pointer.bits()))
            }
            datum => Typed::constant(datum.value(ty)),
        }))
    }

    /// A conversion of a value to the type of `expr`.
    fn cast(&mut self, operand: ExprId, expr: ExprId) -> Done<Typed> {
        let to = self.scalar(expr)?;
        if let (Some(call), Some(element)) = (self.request(operand), self.unit.pointee(self.expr(expr).ty))
            && !matches!(self.unit.types[element].kind, TypeKind::Void)
        {
            let memory = (self.key.unit, element);
            return match self.wrapper_of(call) {
                Some(wrapper) => self.call_wrapper(wrapper, call, memory),
                None => self.memory_given(call, memory),
            };
        }
        let value = match self.value(operand)? {
            // The front end folds a null pointer only where it is written so.
            value if value.operand == Operand::Constant(Value::Int(0)) && to == ScalarType::Pointer => {
                return Ok(Typed::constant(Value::Pointer(Pointer::NULL)));
            }
            value => value,
        };
        // To what a handle was before it was one.
        if value.ty == ScalarType::Thread && to == ScalarType::UnsignedLong {
            return Ok(value);
        }
        Ok(Typed { operand: self.converted(value, to, self.span(expr)), ty: to })
    }

    /// `condition ? then : otherwise` of a scalar type.
    fn chosen(&mut self, condition: ExprId, then: ExprId, otherwise: ExprId, expr: ExprId) -> Done<Typed> {
        let (ty, span) = (self.scalar(expr)?, self.span(expr));
        if let Some(truth) = self.unit.integer(condition) {
            let value = self.value(if truth != 0 { then } else { otherwise })?;
            return Ok(Typed { operand: self.converted(value, ty, span), ty });
        }
        let dest = self.temporary(ty, span);
        let (then_block, else_block, join) = (self.new_block(), self.new_block(), self.new_block());
        let shared = self.branch_on_shared(condition, then, then_block, else_block)?;
        for (block, value) in [(then_block, then), (else_block, otherwise)] {
            self.current = block;
            let source = self.value_as(value, ty)?;
            self.emit(Instruction::Copy { dest, source }, span);
            self.terminate(Terminator::Jump(join), span);
            if let Some(shared) = shared {
                self.known.remove(&shared);
            }
        }
        self.current = join;
        Ok(Typed::register(dest, ty))
    }

    /// Branches on a condition; of `a ?: b` the operand of the condition is evaluated once, and known then.
    fn branch_on_shared(
        &mut self,
        condition: ExprId,
        then: ExprId,
        then_block: cssame_ir::BlockId,
        else_block: cssame_ir::BlockId,
    ) -> Done<Option<ExprId>> {
        let mut shared = then;
        // The operand is the same node, perhaps behind a conversion of its own.
        while let ExprKind::Convert { operand, .. } = self.expr(shared).kind
            && !self.holds(condition, shared)
        {
            shared = operand;
        }
        if !self.holds(condition, shared) {
            self.branch(condition, then_block, else_block)?;
            return Ok(None);
        }
        let value = self.value(shared)?;
        let value = self.copied(value, self.span(shared));
        self.known.insert(shared, value);
        self.branch(condition, then_block, else_block)?;
        Ok(Some(shared))
    }

    /// Whether a condition is a node, behind conversions.
    fn holds(&self, condition: ExprId, node: ExprId) -> bool {
        let mut at = condition;
        loop {
            if at == node {
                return true;
            }
            match self.expr(at).kind {
                ExprKind::Convert { operand, .. } => at = operand,
                _ => return false,
            }
        }
    }

    /// `condition ? then : otherwise` for what it does.
    fn either(&mut self, condition: ExprId, then: ExprId, otherwise: ExprId, expr: ExprId) -> Done<()> {
        if self.assertion(condition, otherwise)? {
            return Ok(());
        }
        let span = self.span(expr);
        let (then_block, else_block, join) = (self.new_block(), self.new_block(), self.new_block());
        self.branch(condition, then_block, else_block)?;
        for (block, value) in [(then_block, then), (else_block, otherwise)] {
            self.current = block;
            self.effect(value)?;
            self.terminate(Terminator::Jump(join), span);
        }
        self.current = join;
        Ok(())
    }

    /// `({ … })`: the value of its last statement.
    fn statement_expression(&mut self, body: StmtId) -> Done<Option<Typed>> {
        let StmtKind::Block(list) = &self.unit.statements[body].kind else {
            self.statement(body)?;
            return Ok(None);
        };
        let Some((&last, before)) = list.split_last() else { return Ok(None) };
        let open = self.cleanups.len();
        self.choices_of(list);
        for &stmt in before {
            self.statement(stmt)?;
        }
        let mut last = last;
        while let StmtKind::Label { label, body } = self.unit.statements[last].kind {
            let block = self.label_block(label);
            self.jump_into(block, self.unit.statements[last].place.span);
            last = body;
        }
        let value = match self.unit.statements[last].kind {
            StmtKind::Expression(value) if self.input().scalar(self.key.unit, self.expr(value).ty).is_some() => {
                let span = self.span(value);
                let value = self.value(value)?;
                Some(self.copied(value, span))
            }
            _ => {
                self.statement(last)?;
                None
            }
        };
        self.clean_down_to(open, self.unit.statements[body].place.span)?;
        self.cleanups.truncate(open);
        Ok(value)
    }

    /// A null pointer.
    pub fn null(&self) -> Typed {
        Typed::constant(Value::Pointer(Pointer::NULL))
    }
}
