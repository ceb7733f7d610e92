//! Threads: how they are made, joined and ended.

use super::ask::Done;
use super::builder::{Builder, Handler, Typed};
use super::home::{Home, Lvalue};
use super::link::DeclKey;
use super::owner::Owner;
use crate::supported::{Reason, is_null, without_conversions};
use crate::tree::{BinaryOperator as Operator, Conversion, ExprId, ExprKind, UnaryOperator as Unary};
use cssame_ir::{Instruction, NewThread, Operand, ScalarType, Terminator, ThreadLabel};
use cssame_source::Span;

/// How a thread is made: where its handle goes, what it is given, and which element of an array the handle is.
struct Start {
    handle: ExprId,
    target: Lvalue,
    argument: Typed,
    element: Option<Operand>,
    routine: ExprId,
}

impl Builder<'_, '_> {
    /// A value as the handle of a thread.
    pub fn handle(&mut self, expr: ExprId) -> Done<Typed> {
        let ty = ScalarType::Thread;
        Ok(Typed { operand: self.value_as(expr, ty)?, ty })
    }

    /// `pthread_create`: makes the thread, then stores its handle.
    pub fn create(&mut self, handle: ExprId, routine: ExprId, argument: Option<ExprId>, expr: ExprId) -> Done<Typed> {
        let place = self.expr(expr).place;
        let span = place.span;
        let named = self.routine_named(routine).ok();
        let pointer = match named {
            Some(_) => None,
            None => {
                let pointer = self.value(routine)?;
                Some(self.copied(pointer, span).operand)
            }
        };
        let element = self.element_index(handle)?;
        let target = self.pointed(handle)?;
        let argument = match argument {
            Some(argument) => self.value(argument)?,
            None => self.null(),
        };
        let start = Start { handle, target, argument, element, routine };
        if let Some(key) = named {
            self.start(key, &start, span)?;
        } else if let Some(pointer) = pointer {
            let functions = self.routines_pointed();
            self.for_each_pointed(pointer, &functions, span, |builder, key| builder.start(key, &start, span))?;
        }
        Ok(Typed::int(0))
    }

    /// Makes a thread that begins with a function.
    fn start(&mut self, key: DeclKey, start: &Start, span: Span) -> Done<()> {
        let Start { handle, ref target, argument, element, routine } = *start;
        let Some(&function) = self.lowering.functions.get(&key) else {
            return self.refuse(Reason::FunctionPointer, self.expr(routine).place);
        };
        let mut arguments = Vec::new();
        for (index, ty) in self.lowering.parameter_types(key).into_iter().enumerate() {
            let value = if index == 0 { argument } else { Typed::constant(super::datum::zero(ty)) };
            let value = Typed { operand: self.converted(value, ScalarType::Pointer, span), ty: ScalarType::Pointer };
            arguments.push(self.converted(value, ty, span));
        }
        let function = self.lowering.routine(function, key)?;
        let line = self.input().sources.line(span);
        let name = self.lowering.program.functions[function].name;
        let name = format!("{}@{line}", self.lowering.program.texts.get(name));
        let (label, ordinal) = match element {
            Some(index) => (ThreadLabel::Element(self.lowering.text(&format!("{name}[]"))), Some(index)),
            None => (ThreadLabel::Name(self.lowering.text(&name)), None),
        };
        let thread = NewThread { function, rounds: Vec::new(), arguments, label, ordinal };
        let dest = self.temporary(ScalarType::Thread, span);
        // The handle is there before the thread runs: what a thread reads is written in one step with the creation.
        let is_read = matches!(target.home, Home::Memory(_)) && self.is_read_by_threads(&target.owner);
        if is_read {
            self.emit(Instruction::AtomicBegin, span);
        }
        self.emit(Instruction::Spawn { dest: Some(dest), thread }, span);
        // Behind a pointer there is a handle too.
        let target = Lvalue { scalar: Some(self.handle_type(target)), ..target.clone() };
        self.store(&target, Typed::register(dest, ScalarType::Thread), handle)?;
        if is_read {
            self.emit(Instruction::AtomicEnd, span);
        }
        Ok(())
    }

    /// Whether a function that threads can be in names something, or a pointer to it.
    fn is_read_by_threads(&self, owner: &Owner) -> bool {
        let named = match owner {
            Owner::Target(pointer) => pointer,
            owner => owner,
        };
        self.input().facts.named_by_threads.contains(named)
    }

    fn handle_type(&self, target: &Lvalue) -> ScalarType {
        match target.scalar {
            Some(ty) if target.owner.is_declared() => ty,
            _ => ScalarType::Thread,
        }
    }

    /// The index of a handle that is an element of an array.
    fn element_index(&mut self, handle: ExprId) -> Done<Option<Operand>> {
        let index = match self.expr(handle).kind {
            ExprKind::Unary { operator: Unary::AddressOf, operand } => match self.expr(operand).kind {
                ExprKind::Subscript { index, .. } => index,
                _ => return Ok(None),
            },
            ExprKind::Binary { operator: Operator::Add, left, right } => {
                let is_array = |one: ExprId| {
                    matches!(self.expr(one).kind, ExprKind::Convert { conversion: Conversion::ArrayToPointer, .. })
                };
                match (is_array(left), is_array(right)) {
                    (true, _) => right,
                    (_, true) => left,
                    _ => return Ok(None),
                }
            }
            _ => return Ok(None),
        };
        // Evaluated again for the place, so it must be nothing but a name or a number.
        if !self.is_simple(index) {
            return Ok(None);
        }
        let value = self.value(index)?;
        Ok(Some(self.converted(value, ScalarType::Long, self.span(index))))
    }

    /// Whether evaluating an expression twice is no other access to memory.
    fn is_simple(&self, expr: ExprId) -> bool {
        let mut at = expr;
        loop {
            if self.unit.integer(at).is_some() {
                return true;
            }
            match self.expr(at).kind {
                ExprKind::Convert { conversion: Conversion::Read, operand } => match self.expr(operand).kind {
                    ExprKind::Name(decl) => {
                        return matches!(self.slots.get(&decl), Some(super::builder::Slot::Register(..)));
                    }
                    _ => return false,
                },
                ExprKind::Convert { operand, .. } | ExprKind::Cast(operand) => at = operand,
                ExprKind::Binary { left, right, .. } if self.is_simple(left) => at = right,
                _ => return false,
            }
        }
    }

    /// `pthread_join`: waits, then stores what the thread has returned.
    pub fn join(&mut self, name: &str, handle: ExprId, into: Option<ExprId>, expr: ExprId) -> Done<Typed> {
        let span = self.span(expr);
        let handle = self.handle(handle)?.operand;
        let into = match into {
            Some(pointer) if !is_null(self.unit, pointer) => {
                // `(void **)&result`: what is written is the result.
                let named = without_conversions(self.unit, pointer);
                let is_address = matches!(self.expr(named).kind, ExprKind::Unary { operator: Unary::AddressOf, .. });
                let pointer = if is_address { named } else { pointer };
                Some((self.pointed(pointer)?, pointer))
            }
            _ => None,
        };
        let dest = into.as_ref().map(|_| self.temporary(ScalarType::Pointer, span));
        self.emit(Instruction::JoinThread { handle, dest }, span);
        if let (Some((into, pointer)), Some(dest)) = (into, dest) {
            let is_as_wide =
                matches!(into.scalar, Some(ScalarType::Pointer | ScalarType::Long | ScalarType::UnsignedLong));
            if name == "pthread_join" && !is_as_wide {
                return self.refuse(Reason::MixedSize, self.expr(pointer).place);
            }
            self.store(&into, Typed::register(dest, ScalarType::Pointer), pointer)?;
        }
        Ok(Typed::int(0))
    }

    /// `pthread_exit`: the handlers that are open in this function, then destructors of keys, then the end of the thread.
    pub fn exit_thread(&mut self, value: ExprId, expr: ExprId) -> Done<()> {
        let place = self.expr(expr).place;
        let value = self.value(value)?;
        let value = Typed { operand: self.converted(value, ScalarType::Pointer, place.span), ty: ScalarType::Pointer };
        let handlers = self.handlers.clone();
        for handler in handlers.iter().rev() {
            self.call_function(handler.routine, &[handler.argument], false, place.span, place)?;
        }
        if !self.cleanups.is_empty() {
            return self.refuse(Reason::EndInCleanup, place);
        }
        self.call_destructors(place)?;
        self.leave(Terminator::End(Some(value.operand)), place.span);
        Ok(())
    }

    pub fn push_handler(&mut self, routine: ExprId, argument: ExprId, expr: ExprId) -> Done<()> {
        let (place, span) = (self.expr(expr).place, self.span(argument));
        // An end of the thread in a function that is called would have to call the handlers of this one.
        if self.input().facts.ends_thread.iter().any(|&function| function != self.key) {
            return self.refuse(Reason::EndInCleanup, place);
        }
        let routine = self.routine_named(routine)?;
        let argument = self.value(argument)?;
        let argument = self.copied(argument, span);
        self.handlers.push(Handler { routine, argument });
        Ok(())
    }

    pub fn pop_handler(&mut self, execute: ExprId, expr: ExprId) -> Done<()> {
        let place = self.expr(expr).place;
        let Some(handler) = self.handlers.pop() else { return self.refuse(Reason::EndInCleanup, place) };
        match self.unit.integer(execute) {
            Some(0) => Ok(()),
            Some(_) => {
                self.call_function(handler.routine, &[handler.argument], false, place.span, place)?;
                Ok(())
            }
            None => {
                let (then_block, join) = (self.new_block(), self.new_block());
                self.branch(execute, then_block, join)?;
                self.current = then_block;
                self.call_function(handler.routine, &[handler.argument], false, place.span, place)?;
                self.jump_into(join, place.span);
                Ok(())
            }
        }
    }
}
