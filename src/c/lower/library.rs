//! Calls of known functions.
//!
//! In: a name, what is known of it, arguments. Out: what it does. Locks, threads, choices and output have files of their own.

use super::ask::Done;
use super::builder::{Builder, Typed};
use super::facts::Own;
use super::heap::UNTYPED;
use crate::supported::library::Known;
use crate::supported::{Reason, is_standard, without_conversions};
use crate::tree::{BitCount, Conversion, ExprId, ExprKind, UnaryOperator};
use cssame_ir::{Instruction, Operand, ScalarType, Terminator, Value};

/// Functions that only prepare or give back what is known already: they do nothing and return 0.
const WITHOUT_EFFECT: &[&str] = &[
    "pthread_mutex_init",
    "pthread_mutex_destroy",
    "pthread_mutexattr_init",
    "pthread_mutexattr_destroy",
    "pthread_mutexattr_settype",
    "pthread_mutexattr_setpshared",
    "pthread_cond_init",
    "pthread_cond_destroy",
    "pthread_condattr_init",
    "pthread_condattr_destroy",
    "pthread_condattr_setclock",
    "pthread_rwlock_init",
    "pthread_rwlock_destroy",
    "pthread_rwlockattr_init",
    "pthread_rwlockattr_destroy",
    "pthread_barrier_init",
    "pthread_barrier_destroy",
    "pthread_barrierattr_init",
    "pthread_barrierattr_destroy",
    "pthread_spin_init",
    "pthread_spin_destroy",
    "pthread_attr_init",
    "pthread_attr_destroy",
    "pthread_attr_setdetachstate",
    "sem_init",
    "sem_destroy",
    "mtx_init",
    "mtx_destroy",
    "cnd_init",
    "cnd_destroy",
    "pthread_detach",
    "thrd_detach",
    "pthread_testcancel",
    "pthread_setcancelstate",
    "pthread_setcanceltype",
];

impl Builder<'_, '_> {
    /// What a known function does, and its value.
    pub fn library(
        &mut self,
        name: &str,
        known: Known,
        arguments: &[ExprId],
        expr: ExprId,
        wanted: bool,
    ) -> Done<Option<Typed>> {
        let place = self.expr(expr).place;
        match known {
            Known::Nothing => {
                self.evaluated(arguments)?;
                Ok(Some(self.zero_result(expr)))
            }
            Known::Failure => self.failing(name, arguments, expr).map(|()| None),
            Known::Assumption => {
                if let Some(&condition) = arguments.first() {
                    let condition = self.truth(condition)?.operand;
                    self.emit(Instruction::Assume { condition }, place.span);
                }
                Ok(Some(self.zero_result(expr)))
            }
            Known::Choice => self.choice(name, arguments, expr, wanted),
            Known::Section => {
                let begins = name.ends_with("_begin");
                self.emit(if begins { Instruction::AtomicBegin } else { Instruction::AtomicEnd }, place.span);
                Ok(None)
            }
            Known::Prints(index) => {
                if wanted {
                    return self.refuse(Reason::ResultOf(name.into()), place);
                }
                self.print(arguments, index, expr)?;
                Ok(None)
            }
            Known::Linked => self.refuse(Reason::StringFunction, place),
            Known::Later(later) => self.refuse(later.reason(), place),
            Known::TakesFunction | Known::Meant => {
                if WITHOUT_EFFECT.contains(&name) {
                    self.evaluated(arguments)?;
                    return Ok(Some(self.zero_result(expr)));
                }
                self.meant(name, arguments, expr, wanted)
            }
        }
    }

    fn meant(&mut self, name: &str, arguments: &[ExprId], expr: ExprId, wanted: bool) -> Done<Option<Typed>> {
        if let Some(found) = self.synchronise(name, arguments, expr, wanted)? {
            return Ok(Some(found));
        }
        if let Some(found) = self.specific(name, arguments, expr)? {
            return Ok(Some(found));
        }
        if let Some(found) = self.bytes(name, arguments, expr, wanted)? {
            return Ok(Some(found));
        }
        let place = self.expr(expr).place;
        match (name, arguments) {
            ("pthread_create", [handle, _, routine, argument]) => {
                self.create(*handle, *routine, Some(*argument), expr).map(Some)
            }
            ("thrd_create", [handle, routine, argument]) => {
                self.create(*handle, *routine, Some(*argument), expr).map(Some)
            }
            ("pthread_join" | "thrd_join", [handle, rest @ ..]) => {
                self.join(name, *handle, rest.first().copied(), expr).map(Some)
            }
            ("pthread_exit" | "thrd_exit", [value]) => self.exit_thread(*value, expr).map(|()| None),
            ("malloc" | "calloc" | "aligned_alloc" | "valloc", _) => match self.type_of_memory(expr) {
                Some(memory) => self.memory_given(expr, memory).map(Some),
                None => self.refuse(Reason::UnclearMemory(UNTYPED), place),
            },
            ("free" | "cfree", [pointer]) => self.give_back(*pointer, expr).map(|()| None),
            ("pthread_self" | "thrd_current", _) => {
                let dest = self.temporary(ScalarType::Thread, place.span);
                self.emit(Instruction::CurrentThread { dest }, place.span);
                Ok(Some(Typed::register(dest, ScalarType::Thread)))
            }
            ("pthread_equal" | "thrd_equal", [one, other]) => {
                let one = self.handle(*one)?;
                let other = self.handle(*other)?;
                Ok(Some(self.same(one, other, place.span)))
            }
            ("pthread_once" | "call_once", [object, routine]) => self.once(*object, *routine, expr).map(Some),
            ("__pthread_cleanup_push" | "pthread_cleanup_push", [routine, argument]) => {
                self.push_handler(*routine, *argument, expr).map(|()| None)
            }
            ("__pthread_cleanup_pop" | "pthread_cleanup_pop", [execute]) => {
                self.pop_handler(*execute, expr).map(|()| None)
            }
            ("__errno_location", []) => self.own_address(Own::Errno).map(Some),
            ("abs" | "labs" | "llabs", [value]) => self.absolute(*value, expr).map(Some),
            ("ffs" | "ffsl" | "ffsll", [value]) => self.bit_count(BitCount::FirstSet, *value, expr).map(Some),
            ("exit" | "_Exit" | "_exit" | "quick_exit" | "err" | "errx", _) => {
                self.evaluated(arguments)?;
                if self.input().facts.in_threads.contains(&self.key) {
                    let condition = Operand::Constant(Value::Bool(false));
                    self.emit(Instruction::Assume { condition }, place.span);
                }
                self.leave(Terminator::End(None), place.span);
                Ok(None)
            }
            ("puts", [text]) => self.put_text(*text, expr, wanted).map(|()| None),
            ("putchar", [sign]) => self.put_sign(*sign, expr, wanted).map(|()| None),
            ("fputs", [text, stream]) if is_standard(self.unit, *stream) => {
                self.put_text(*text, expr, wanted).map(|()| None)
            }
            ("fputc" | "putc", [sign, stream]) if is_standard(self.unit, *stream) => {
                self.put_sign(*sign, expr, wanted).map(|()| None)
            }
            _ => self.refuse(Reason::LaterFunction(name.into()), place),
        }
    }

    /// Evaluates arguments for what they do. The address of something, or nothing, is no access.
    pub fn evaluated(&mut self, arguments: &[ExprId]) -> Done<()> {
        for &argument in arguments {
            let is_address = matches!(
                self.expr(without_conversions(self.unit, argument)).kind,
                ExprKind::Unary { operator: UnaryOperator::AddressOf, .. }
                    | ExprKind::Convert { conversion: Conversion::ArrayToPointer, .. }
                    | ExprKind::Convert { conversion: Conversion::FunctionToPointer, .. }
            );
            if !is_address {
                self.effect(argument)?;
            }
        }
        Ok(())
    }

    /// 0, of the type of a call.
    pub fn zero_result(&self, expr: ExprId) -> Typed {
        let ty = self.input().scalar(self.key.unit, self.expr(expr).ty).unwrap_or(ScalarType::Int);
        Typed::constant(super::datum::zero(ty))
    }

    /// The program fails here.
    pub fn failure(&mut self, message: &str, expr: ExprId) -> Done<()> {
        let span = self.span(expr);
        let message = Some(self.lowering.text(message));
        self.emit(Instruction::Error { message }, span);
        self.leave(Terminator::End(None), span);
        Ok(())
    }

    /// `abort`, `reach_error`, and assertions that are calls.
    fn failing(&mut self, name: &str, arguments: &[ExprId], expr: ExprId) -> Done<()> {
        let is_failure = matches!(name, "abort" | "reach_error" | "__VERIFIER_error");
        let text = arguments.first().and_then(|&text| self.literal_text(text));
        match (is_failure, arguments.first(), text) {
            (false, Some(_), Some(text)) => {
                let message = Some(self.lowering.text(&text));
                let condition = Operand::Constant(Value::Bool(false));
                let span = self.span(expr);
                self.emit(Instruction::Assert { condition, message }, span);
                self.leave(Terminator::End(None), span);
                Ok(())
            }
            (false, Some(&condition), None) => {
                let value = self.truth(condition)?.operand;
                let message = Some(self.lowering.text_at(self.span(condition)));
                self.emit(Instruction::Assert { condition: value, message }, self.span(condition));
                Ok(())
            }
            _ => {
                self.evaluated(arguments)?;
                self.failure(name, expr)
            }
        }
    }

    /// The text of a string literal that is an argument.
    pub fn literal_text(&self, argument: ExprId) -> Option<String> {
        let at = crate::supported::without_conversions(self.unit, argument);
        let ExprKind::Convert { conversion: Conversion::ArrayToPointer, operand } = self.expr(at).kind else {
            return None;
        };
        let ExprKind::String(string) = self.expr(operand).kind else { return None };
        let literal = &self.unit.strings[string];
        let bytes = literal.bytes.split_last().map(|(_, bytes)| bytes).filter(|_| literal.width == 1)?;
        Some(String::from_utf8_lossy(bytes).into_owned())
    }
}
