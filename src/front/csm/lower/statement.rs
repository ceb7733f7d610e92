//! Lowering of statements.

use super::{Builder, Leavable, Slot, scalar_type};
use crate::csm::hir::{self, ExpressionKind, Operation, Statement, StatementKind};
use cssame_ir::{BlockId, Instruction, Line, Operand, Place, Printed, RegisterType, Synchronisation, Terminator, sync};
use cssame_source::Span;

impl<'t> Builder<'_, 't> {
    pub(super) fn statements(&mut self, statements: &'t [Statement]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &'t Statement) {
        let span = statement.span;
        match &statement.kind {
            StatementKind::Block(body) => self.statements(body),
            StatementKind::Declare { variable, values } => self.declare(*variable, values, span),
            StatementKind::Construct { object, constructor, arguments } => {
                self.construct(object, *constructor, arguments, span);
            }
            StatementKind::Assign { place, value } => self.assign(place, value),
            StatementKind::Update { place, op, ty, value } => self.update(place, *op, *ty, value, span),
            StatementKind::Evaluate(expression) => match &expression.kind {
                ExpressionKind::Call(call) => self.call(call, None, span),
                _ => {
                    self.expression(expression);
                }
            },
            StatementKind::If { condition, then_branch, else_branch } => {
                self.if_statement(condition, then_branch, else_branch.as_deref(), span);
            }
            StatementKind::Switch { value, cases } => self.switch(value, cases, span),
            StatementKind::While { condition, body, step } => self.while_loop(condition, body, step.as_deref(), span),
            StatementKind::DoWhile { body, condition } => self.do_while_loop(body, condition, span),
            StatementKind::Break | StatementKind::Continue => {
                let leaves = matches!(statement.kind, StatementKind::Break);
                let around = self.loops.iter().rev();
                let target = around.copied().find_map(|one| {
                    let target = if leaves { Some(one.after) } else { one.next };
                    Some((target?, one.held))
                });
                if let Some((target, held)) = target {
                    self.release_down_to(held, span);
                    self.leave(target, span);
                }
            }
            StatementKind::Return(value) => {
                let result = value.as_ref().map(|value| self.expression(value));
                self.release_down_to(0, span);
                self.terminate(Terminator::Return(result), span);
                self.current = self.new_block();
            }
            StatementKind::Cobegin { barriers, arms } => self.cobegin(barriers, arms, span),
            StatementKind::Parfor { .. } => self.parfor(statement),
            StatementKind::Synchronized { lock, body, end } => self.synchronized(lock, body, *end),
            StatementKind::Atomic(body) => {
                self.emit(Instruction::AtomicBegin, span);
                self.statements(body);
                self.emit(Instruction::AtomicEnd, Span { start: span.end.saturating_sub(1), ..span });
            }
            StatementKind::Synchronise(operation) => {
                let operation = self.operation(operation);
                self.emit(Instruction::Synchronise(operation), span);
            }
            StatementKind::Print(arguments) => {
                let operands = self.expressions(arguments);
                let types = arguments.iter().map(|argument| scalar_type(argument.ty));
                let printed = |(operand, ty)| Printed { operand, ty, conversion: None };
                let arguments = operands.into_iter().zip(types).map(printed).collect();
                self.emit(Instruction::Print { arguments, line: Line::Spaced }, span);
            }
            StatementKind::Assert { condition, message } => {
                let condition = self.expression(condition);
                self.emit(Instruction::Assert { condition, message: *message }, span);
            }
            StatementKind::Error(message) => self.emit(Instruction::Error { message: *message }, span),
            StatementKind::Assume(condition) => {
                let condition = self.expression(condition);
                self.emit(Instruction::Assume { condition }, span);
            }
            StatementKind::Spawn { target, call, label } => self.spawn(target.as_ref(), call, *label, span),
            StatementKind::Join(handle) => {
                let handle = self.expression(handle);
                self.emit(Instruction::JoinThread { handle, dest: None }, span);
            }
            StatementKind::Skip => {}
        }
    }

    /// Goes on at `target`; what follows in the text cannot be reached.
    fn leave(&mut self, target: BlockId, span: Span) {
        self.terminate(Terminator::Jump(target), span);
        self.current = self.new_block();
    }

    /// Frees the locks of `synchronized` blocks that a jump leaves.
    fn release_down_to(&mut self, count: usize, span: Span) {
        for position in (count..self.held.len()).rev() {
            let lock = self.held[position].clone();
            self.emit(Instruction::Synchronise(Synchronisation::on(sync::Kind::Unlock, lock)), span);
        }
    }

    fn declare(&mut self, id: hir::VariableId, values: &'t [(u32, hir::Expression)], span: Span) {
        let tree = self.lowering.tree;
        let declared = &tree.variables[id];
        if declared.kind == hir::VariableKind::Global {
            if let Some(&variable) = self.lowering.globals.get(&id) {
                for (cell, value) in values {
                    let value = self.expression(value);
                    let place = Place { offset: *cell, ..Place::global(variable) };
                    let definition = self.initial_definition(variable, *cell);
                    self.emit(Instruction::Store { place, value, definition }, span);
                }
            }
            return;
        }
        match declared.ty {
            hir::Type::Scalar(scalar) if !declared.captured => {
                let source = match values.first() {
                    Some((_, value)) => self.expression(value),
                    None => {
                        let constant = declared.initial.first().copied().unwrap_or(hir::Constant::Int(0));
                        Operand::Constant(super::value(constant))
                    }
                };
                let ty = RegisterType::Scalar(scalar_type(scalar));
                let dest = match self.slots.get(&id) {
                    Some(&Slot::Register(register)) => register,
                    _ => self.new_register(Some(declared.name), declared.span, ty),
                };
                self.slots.insert(id, Slot::Register(dest));
                self.emit(Instruction::Copy { dest, source }, span);
            }
            _ => {
                let values: Vec<(u32, Operand)> =
                    values.iter().map(|(cell, value)| (*cell, self.expression(value))).collect();
                let (variable, reference) = self.allocate(id, span);
                for (cell, value) in values {
                    let place = Place::at(super::Base::Reference(reference), cell);
                    let definition = self.initial_definition(variable, cell);
                    self.emit(Instruction::Store { place, value, definition }, span);
                }
            }
        }
    }

    fn assign(&mut self, place: &'t hir::Place, value: &'t hir::Expression) {
        if let Some(dest) = self.register_of(place) {
            let source = self.expression(value);
            self.emit(Instruction::Copy { dest, source }, place.span);
            return;
        }
        let target = self.place(place);
        let value = self.expression(value);
        let definition = self.new_definition(place);
        self.emit(Instruction::Store { place: target, value, definition }, place.span);
    }

    fn update(
        &mut self,
        place: &'t hir::Place,
        op: crate::csm::syntax::ast::BinaryOp,
        common: hir::Scalar,
        value: &'t hir::Expression,
        span: Span,
    ) {
        let ty = match place.ty {
            hir::Type::Scalar(scalar) => scalar_type(scalar),
            _ => scalar_type(common),
        };
        let common = scalar_type(common);
        let private = self.register_of(place);
        let target = match private {
            Some(_) => None,
            None => Some(self.place(place)),
        };
        let old = match (private, &target) {
            (Some(register), _) => Operand::Register(register),
            (None, Some(target)) => self.load(place, target.clone()),
            (None, None) => return,
        };
        let old = self.converted(old, ty, common, place.span);
        let value = self.expression(value);
        let result = self.binary(op, common, old, value, common, span);
        let result = self.converted(result, common, ty, span);
        match (private, target) {
            (Some(dest), _) => self.emit(Instruction::Copy { dest, source: result }, place.span),
            (None, Some(target)) => {
                let definition = self.new_definition(place);
                self.emit(Instruction::Store { place: target, value: result, definition }, place.span);
            }
            (None, None) => {}
        }
    }

    fn if_statement(
        &mut self,
        condition: &'t hir::Expression,
        then_branch: &'t Statement,
        else_branch: Option<&'t Statement>,
        span: Span,
    ) {
        if let ExpressionKind::Constant(hir::Constant::Bool(truth)) = condition.kind {
            if truth {
                self.statement(then_branch);
            } else if let Some(branch) = else_branch {
                self.statement(branch);
            }
            return;
        }
        let then_block = self.new_block();
        let else_block = else_branch.map(|_| self.new_block());
        let join = self.new_block();
        self.branch(condition, then_block, else_block.unwrap_or(join));
        self.current = then_block;
        self.statement(then_branch);
        self.terminate(Terminator::Jump(join), span);
        if let (Some(block), Some(branch)) = (else_block, else_branch) {
            self.current = block;
            self.statement(branch);
            self.terminate(Terminator::Jump(join), span);
        }
        self.current = join;
    }

    fn while_loop(
        &mut self,
        condition: &'t hir::Expression,
        body: &'t Statement,
        step: Option<&'t Statement>,
        span: Span,
    ) {
        if matches!(condition.kind, ExpressionKind::Constant(hir::Constant::Bool(false))) {
            return;
        }
        let (head, inside, exit) = (self.new_block(), self.new_block(), self.new_block());
        let next = if step.is_some() { self.new_block() } else { head };
        self.jump_into(head, span);
        self.branch(condition, inside, exit);
        self.current = inside;
        self.loops.push(Leavable { after: exit, next: Some(next), held: self.held.len() });
        self.statement(body);
        self.loops.pop();
        self.terminate(Terminator::Jump(next), span);
        if let Some(step) = step {
            self.current = next;
            self.statement(step);
            self.terminate(Terminator::Jump(head), span);
        }
        self.current = exit;
    }

    fn do_while_loop(&mut self, body: &'t Statement, condition: &'t hir::Expression, span: Span) {
        let (inside, test, exit) = (self.new_block(), self.new_block(), self.new_block());
        self.jump_into(inside, span);
        self.loops.push(Leavable { after: exit, next: Some(test), held: self.held.len() });
        self.statement(body);
        self.loops.pop();
        self.jump_into(test, span);
        self.branch(condition, inside, exit);
        self.current = exit;
    }

    fn synchronized(&mut self, lock: &'t hir::Place, body: &'t [Statement], end: Span) {
        let place = self.fixed_place(lock);
        self.emit(Instruction::Synchronise(Synchronisation::on(sync::Kind::Lock, place.clone())), lock.span);
        self.held.push(place.clone());
        self.statements(body);
        self.held.pop();
        self.emit(Instruction::Synchronise(Synchronisation::on(sync::Kind::Unlock, place)), end);
    }

    pub(super) fn operation(&mut self, operation: &'t Operation) -> Synchronisation {
        let mut places = operation.objects.iter().map(|place| self.fixed_place(place));
        Synchronisation { kind: operation.kind, object: places.next(), lock: places.next(), verdict: None }
    }
}
