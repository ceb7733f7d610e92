//! Lowering of expressions and conditions.

use super::types::lower_type;
use super::{Builder, scalar_type, value};
use crate::csm::hir::{self, Expression, ExpressionKind};
use crate::csm::syntax::ast::{BinaryOp, UnaryOp};
use cssame_ir::{
    Arithmetic, AtomicOperation, BinaryOperator, BlockId, Index, Instruction, Operand, Place, RegisterId, ScalarType,
    Synchronisation, Terminator, UnaryOperator,
};
use cssame_source::Span;

impl<'t> Builder<'_, 't> {
    /// Evaluates an expression.
    pub(super) fn expression(&mut self, expression: &'t Expression) -> Operand {
        let span = expression.span;
        let ty = scalar_type(expression.ty);
        match &expression.kind {
            ExpressionKind::Constant(constant) => Operand::Constant(value(*constant)),
            ExpressionKind::Read(place) => self.read(place),
            ExpressionKind::Unary(op, operand) => {
                let operand = self.expression(operand);
                let op = match op {
                    UnaryOp::Not => UnaryOperator::Not,
                    UnaryOp::Negate => UnaryOperator::Negate(arithmetic(ty)),
                    UnaryOp::Complement => UnaryOperator::Complement(arithmetic(ty)),
                };
                let dest = self.temporary(ty, span);
                self.emit(Instruction::Unary { dest, op, operand }, span);
                Operand::Register(dest)
            }
            ExpressionKind::Binary(BinaryOp::And | BinaryOp::Or, ..) => self.truth_value(expression),
            ExpressionKind::Binary(op, common, left, right) => {
                let (left, right) = (self.stable_expression(left, right), self.expression(right));
                self.binary(*op, scalar_type(*common), left, right, ty, span)
            }
            ExpressionKind::Conditional(condition, a, b) => self.conditional(condition, a, b, ty, span),
            ExpressionKind::Convert(inner) => {
                let operand = self.expression(inner);
                self.converted(operand, scalar_type(inner.ty), ty, span)
            }
            ExpressionKind::Call(call) => {
                let dest = self.temporary(ty, span);
                self.call(call, Some(dest), span);
                Operand::Register(dest)
            }
            ExpressionKind::Choose(low, high) => {
                let (low, high) = (self.stable_expression(low, high), self.expression(high));
                let dest = self.temporary(ScalarType::Int, span);
                self.emit(Instruction::Choose { dest, low, high }, span);
                Operand::Register(dest)
            }
            ExpressionKind::CompareAndSwap(place, old, new) => {
                let target = self.place(place);
                let (old, new) = (self.stable_expression(old, new), self.expression(new));
                let double = place.ty == hir::Type::Scalar(hir::Scalar::Double);
                self.atomic(place, target, AtomicOperation::CompareAndSwap { old, new, double }, ScalarType::Bool)
            }
            ExpressionKind::Swap(place, operand) => {
                let target = self.place(place);
                let operand = self.expression(operand);
                self.atomic(place, target, AtomicOperation::Swap(operand), ty)
            }
            ExpressionKind::Length(parameter) => self.length(hir::Length::Parameter(*parameter)),
            ExpressionKind::Synchronise(operation) => {
                let operation = self.operation(operation);
                let dest = self.temporary(ScalarType::Bool, span);
                self.emit(Instruction::Synchronise(Synchronisation { verdict: Some(dest), ..operation }), span);
                Operand::Register(dest)
            }
            ExpressionKind::FetchAdd(place, operand) => {
                let target = self.place(place);
                let operand = self.expression(operand);
                self.atomic(place, target, AtomicOperation::FetchAdd(operand, arithmetic(ty)), ty)
            }
        }
    }

    /// Evaluates an operand whose value must survive the evaluation of what comes after it: the value of a private
    /// variable is copied where an atomic expression behind it may change the variable.
    pub(super) fn stable_expression(&mut self, first: &'t Expression, later: &'t Expression) -> Operand {
        let operand = self.expression(first);
        match (operand, &first.kind) {
            (Operand::Register(_), ExpressionKind::Read(_)) if has_atomic(later) => {
                let dest = self.temporary(scalar_type(first.ty), first.span);
                self.emit(Instruction::Copy { dest, source: operand }, first.span);
                Operand::Register(dest)
            }
            _ => operand,
        }
    }

    /// Evaluates operands from left to right.
    pub(super) fn expressions(&mut self, expressions: &'t [Expression]) -> Vec<Operand> {
        let mut operands = Vec::with_capacity(expressions.len());
        for (position, expression) in expressions.iter().enumerate() {
            operands.push(match expressions[position + 1..].iter().find(|later| has_atomic(later)) {
                Some(later) => self.stable_expression(expression, later),
                None => self.expression(expression),
            });
        }
        operands
    }

    fn atomic(&mut self, place: &'t hir::Place, target: Place, op: AtomicOperation, ty: ScalarType) -> Operand {
        let dest = self.temporary(ty, place.span);
        if let Some(variable) = self.register_of(place) {
            self.private_atomic(dest, variable, op, place.span);
            return Operand::Register(dest);
        }
        let (read, definition) = (self.new_read(place), self.new_definition(place));
        self.emit(Instruction::Atomic { dest, op, place: target, read, definition }, place.span);
        Operand::Register(dest)
    }

    /// An atomic operation on a private variable is an ordinary computation.
    fn private_atomic(&mut self, dest: RegisterId, variable: RegisterId, op: AtomicOperation, span: Span) {
        let old_value = Operand::Register(variable);
        match op {
            AtomicOperation::Swap(operand) => {
                self.emit(Instruction::Copy { dest, source: old_value }, span);
                self.emit(Instruction::Copy { dest: variable, source: operand }, span);
            }
            AtomicOperation::FetchAdd(operand, arithmetic) => {
                self.emit(Instruction::Copy { dest, source: old_value }, span);
                let op = BinaryOperator::Add(arithmetic);
                self.emit(Instruction::Binary { dest: variable, op, left: old_value, right: operand }, span);
            }
            AtomicOperation::CompareAndSwap { old, new, double } => {
                let op = if double { BinaryOperator::EqualDouble } else { BinaryOperator::Equal };
                self.emit(Instruction::Binary { dest, op, left: old_value, right: old }, span);
                let (then_block, join) = (self.new_block(), self.new_block());
                let condition = Operand::Register(dest);
                self.terminate(Terminator::Branch { condition, then_block, else_block: join }, span);
                self.current = then_block;
                self.emit(Instruction::Copy { dest: variable, source: new }, span);
                self.jump_into(join, span);
            }
            // The language has no others.
            AtomicOperation::CompareExchange { .. } | AtomicOperation::FetchModify(..) => {}
        }
    }

    /// The place of the graph for a place of the tree; evaluates the index.
    pub(super) fn place(&mut self, place: &'t hir::Place) -> Place {
        let base = self.base(place.root);
        let mut indices = Vec::with_capacity(place.indices.len());
        for (position, index) in place.indices.iter().enumerate() {
            let later = place.indices[position + 1..].iter().find(|later| has_atomic(&later.value));
            indices.push(Index {
                operand: match later {
                    Some(later) => self.stable_expression(&index.value, &later.value),
                    None => self.expression(&index.value),
                },
                length: self.length(index.length),
                stride: index.stride,
            });
        }
        Place { base, offset: place.offset, indices }
    }

    /// The number of elements of an array.
    pub(super) fn length(&self, length: hir::Length) -> Operand {
        match length {
            hir::Length::Constant(length) => Operand::Constant(cssame_ir::Value::Int(length as i32)),
            hir::Length::Parameter(parameter) => {
                Operand::Register(self.lengths.get(&parameter).copied().unwrap_or(RegisterId(0)))
            }
        }
    }

    /// A place whose indices keep their values, whatever is assigned to the variables that they were read from.
    pub(super) fn fixed_place(&mut self, place: &'t hir::Place) -> Place {
        let mut fixed = self.place(place);
        for (index, written) in fixed.indices.iter_mut().zip(&place.indices) {
            if matches!((index.operand, &written.value.kind), (Operand::Register(_), ExpressionKind::Read(_))) {
                let dest = self.temporary(scalar_type(written.value.ty), written.value.span);
                self.emit(Instruction::Copy { dest, source: index.operand }, written.value.span);
                index.operand = Operand::Register(dest);
            }
        }
        fixed
    }

    fn read(&mut self, place: &'t hir::Place) -> Operand {
        if let Some(register) = self.register_of(place) {
            return Operand::Register(register);
        }
        let source = self.place(place);
        self.load(place, source)
    }

    pub(super) fn load(&mut self, place: &hir::Place, source: Place) -> Operand {
        let ty = match place.ty {
            hir::Type::Scalar(scalar) => scalar_type(scalar),
            _ => ScalarType::Int,
        };
        let read = self.new_read(place);
        let dest = self.temporary(ty, place.span);
        self.emit(Instruction::Load { dest, place: source, read }, place.span);
        Operand::Register(dest)
    }

    /// `left op right`, both of type `common`.
    pub(super) fn binary(
        &mut self,
        op: BinaryOp,
        common: ScalarType,
        left: Operand,
        right: Operand,
        result: ScalarType,
        span: Span,
    ) -> Operand {
        let kind = arithmetic(common);
        let double = common == ScalarType::Double;
        let (op, left, right) = match op {
            BinaryOp::Add => (BinaryOperator::Add(kind), left, right),
            BinaryOp::Subtract => (BinaryOperator::Subtract(kind), left, right),
            BinaryOp::Multiply => (BinaryOperator::Multiply(kind), left, right),
            BinaryOp::Divide => (BinaryOperator::Divide(kind), left, right),
            BinaryOp::Remainder => (BinaryOperator::Remainder(kind), left, right),
            BinaryOp::ShiftLeft => (BinaryOperator::ShiftLeft(kind), left, right),
            BinaryOp::ShiftRight => (BinaryOperator::ShiftRight(kind), left, right),
            BinaryOp::BitAnd | BinaryOp::And => (BinaryOperator::And, left, right),
            BinaryOp::BitOr | BinaryOp::Or => (BinaryOperator::Or, left, right),
            BinaryOp::BitXor => (BinaryOperator::Xor, left, right),
            BinaryOp::Less => (BinaryOperator::Less(kind), left, right),
            BinaryOp::LessEqual => (BinaryOperator::LessEqual(kind), left, right),
            BinaryOp::Greater => (BinaryOperator::Less(kind), right, left),
            BinaryOp::GreaterEqual => (BinaryOperator::LessEqual(kind), right, left),
            BinaryOp::Equal if double => (BinaryOperator::EqualDouble, left, right),
            BinaryOp::NotEqual if double => (BinaryOperator::NotEqualDouble, left, right),
            BinaryOp::Equal => (BinaryOperator::Equal, left, right),
            BinaryOp::NotEqual => (BinaryOperator::NotEqual, left, right),
        };
        let dest = self.temporary(result, span);
        self.emit(Instruction::Binary { dest, op, left, right }, span);
        Operand::Register(dest)
    }

    fn conditional(
        &mut self,
        condition: &'t Expression,
        a: &'t Expression,
        b: &'t Expression,
        ty: ScalarType,
        span: Span,
    ) -> Operand {
        let dest = self.temporary(ty, span);
        let (then_block, else_block, join) = (self.new_block(), self.new_block(), self.new_block());
        self.branch(condition, then_block, else_block);
        for (block, expression) in [(then_block, a), (else_block, b)] {
            self.current = block;
            let source = self.expression(expression);
            self.emit(Instruction::Copy { dest, source }, span);
            self.terminate(Terminator::Jump(join), span);
        }
        self.current = join;
        Operand::Register(dest)
    }

    /// The value of `&&` or `||`.
    fn truth_value(&mut self, expression: &'t Expression) -> Operand {
        let span = expression.span;
        let dest = self.temporary(ScalarType::Bool, span);
        let (then_block, else_block, join) = (self.new_block(), self.new_block(), self.new_block());
        self.branch(expression, then_block, else_block);
        for (block, truth) in [(then_block, true), (else_block, false)] {
            self.current = block;
            let source = Operand::Constant(cssame_ir::Value::Bool(truth));
            self.emit(Instruction::Copy { dest, source }, span);
            self.terminate(Terminator::Jump(join), span);
        }
        self.current = join;
        Operand::Register(dest)
    }

    /// Ends the current block with a branch on a condition; `&&`, `||` and `!` become control flow.
    pub(super) fn branch(&mut self, condition: &'t Expression, then_block: BlockId, else_block: BlockId) {
        match &condition.kind {
            ExpressionKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), _, left, right) => {
                let middle = self.new_block();
                if *op == BinaryOp::And {
                    self.branch(left, middle, else_block);
                } else {
                    self.branch(left, then_block, middle);
                }
                self.current = middle;
                self.branch(right, then_block, else_block);
            }
            ExpressionKind::Unary(UnaryOp::Not, inner) => {
                self.branch(inner, else_block, then_block);
                // Where the negated condition is one test, that has become the end of the current block.
                if !matches!(core_of(inner).kind, ExpressionKind::Binary(BinaryOp::And | BinaryOp::Or, ..)) {
                    let block = &mut self.function.blocks[self.current];
                    block.negated = !block.negated;
                    block.terminator_span = condition.span;
                }
            }
            ExpressionKind::Constant(hir::Constant::Bool(truth)) => {
                let target = if *truth { then_block } else { else_block };
                self.terminate(Terminator::Jump(target), condition.span);
            }
            _ => {
                let operand = self.expression(condition);
                self.terminate(Terminator::Branch { condition: operand, then_block, else_block }, condition.span);
            }
        }
    }

    /// Calls a function; references and values are evaluated left to right.
    pub(super) fn call(&mut self, call: &'t hir::Call, dest: Option<RegisterId>, span: Span) {
        let arguments = self.arguments(call);
        let function = super::FunctionId(call.function.0);
        self.emit(Instruction::Call { dest, function, arguments }, span);
    }

    pub(super) fn arguments(&mut self, call: &'t hir::Call) -> Vec<Operand> {
        let mut arguments = Vec::with_capacity(call.arguments.len() + 1);
        if let Some(receiver) = &call.receiver {
            arguments.push(self.reference(receiver));
        }
        arguments.extend(self.values_and_references(call.function, &call.arguments));
        arguments
    }

    fn values_and_references(&mut self, function: hir::FunctionId, arguments: &'t [hir::Argument]) -> Vec<Operand> {
        let parameters = &self.lowering.tree.functions[function].parameters;
        let mut operands = Vec::with_capacity(arguments.len());
        for (position, argument) in arguments.iter().enumerate() {
            let operand = match argument {
                hir::Argument::Value(expression) => self.expression(expression),
                hir::Argument::Reference(place) => self.reference(place),
                hir::Argument::Array(place, length) => {
                    operands.push(self.reference(place));
                    if let Some(&parameter) = parameters.get(position) {
                        self.note_passed(place, parameter);
                    }
                    self.length(*length)
                }
            };
            operands.push(operand);
        }
        operands
    }

    /// Runs a constructor on an object; the arguments are evaluated before the object is looked at.
    pub(super) fn construct(
        &mut self,
        object: &'t hir::Place,
        constructor: hir::FunctionId,
        arguments: &'t [hir::Argument],
        span: Span,
    ) {
        let given = self.values_and_references(constructor, arguments);
        let function = super::FunctionId(constructor.0);
        let tree = self.lowering.tree;
        let mut dimensions = Vec::new();
        let mut ty = object.ty;
        while let hir::Type::Array(id) = ty {
            ty = tree.arrays[id].element;
            dimensions.push((tree.arrays[id].length.unwrap_or(0), tree.size_of(ty)));
        }
        for number in 0..tree.elements_of(object.ty).1 {
            let mut place = self.place(object);
            let mut inner = tree.elements_of(object.ty).1;
            for &(length, stride) in &dimensions {
                inner /= length.max(1);
                let at = number / inner.max(1) % length.max(1);
                let constant = |value: u32| Operand::Constant(cssame_ir::Value::Int(value as i32));
                place.indices.push(Index { operand: constant(at), length: constant(length), stride });
            }
            let mut operands = vec![self.reference_to(place, (ty, object.span))];
            operands.extend(given.iter().copied());
            self.emit(Instruction::Call { dest: None, function, arguments: operands }, span);
        }
    }

    /// Notes that a parameter may name the cells of an array.
    fn note_passed(&mut self, array: &hir::Place, parameter: hir::VariableId) {
        let lowering = &mut *self.lowering;
        let declared = &lowering.tree.variables[parameter];
        let (name, span) = (declared.name, declared.span);
        let array = lowering.symbols.get(&mut lowering.program, array.symbol.0, array.symbol.1);
        let parameter = lowering.symbols.get(&mut lowering.program, name, span);
        lowering.passed.push((array, parameter));
    }

    /// The address of a place.
    fn reference(&mut self, place: &'t hir::Place) -> Operand {
        let target = self.place(place);
        self.reference_to(target, (place.ty, place.span))
    }

    fn reference_to(&mut self, target: Place, (ty, span): (hir::Type, Span)) -> Operand {
        if let (super::Base::Reference(register), 0, true) = (target.base, target.offset, target.indices.is_empty()) {
            return Operand::Register(register);
        }
        let dest = self.new_reference(None, span, Some(lower_type(ty)));
        self.emit(Instruction::Address { dest, place: target }, span);
        Operand::Register(dest)
    }
}

/// A condition without the negations around it.
fn core_of(condition: &Expression) -> &Expression {
    match &condition.kind {
        ExpressionKind::Unary(UnaryOp::Not, inner) => core_of(inner),
        _ => condition,
    }
}

fn arithmetic(ty: ScalarType) -> Arithmetic {
    match ty {
        ScalarType::Long => Arithmetic::Long,
        ScalarType::Double => Arithmetic::Double,
        _ => Arithmetic::Int,
    }
}

/// Whether an expression holds an atomic operation, which may change a private variable.
fn has_atomic(expression: &Expression) -> bool {
    match &expression.kind {
        ExpressionKind::CompareAndSwap(..) | ExpressionKind::Swap(..) | ExpressionKind::FetchAdd(..) => true,
        ExpressionKind::Constant(_) | ExpressionKind::Length(_) => false,
        ExpressionKind::Synchronise(operation) => {
            operation.objects.iter().flat_map(|place| &place.indices).any(|index| has_atomic(&index.value))
        }
        ExpressionKind::Read(place) => place.indices.iter().any(|index| has_atomic(&index.value)),
        ExpressionKind::Unary(_, inner) | ExpressionKind::Convert(inner) => has_atomic(inner),
        ExpressionKind::Binary(_, _, left, right) | ExpressionKind::Choose(left, right) => {
            has_atomic(left) || has_atomic(right)
        }
        ExpressionKind::Conditional(condition, a, b) => has_atomic(condition) || has_atomic(a) || has_atomic(b),
        ExpressionKind::Call(call) => call.arguments.iter().any(|argument| match argument {
            hir::Argument::Value(value) => has_atomic(value),
            hir::Argument::Reference(_) | hir::Argument::Array(..) => false,
        }),
    }
}
