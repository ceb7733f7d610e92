//! Keys of `pthread_key_create`: a value for each thread.
//!
//! In: calls of the functions on keys. Out: accesses to the value that the thread has of its own (`private`), and a call of the
//! destructor where a thread ends. A key is read where it is one variable, and made at one place that runs once.

use super::ask::Done;
use super::builder::{Builder, Typed};
use super::facts::{Key, Own};
use super::home::{Home, Lvalue};
use super::link::DeclKey;
use super::own::key_variable;
use super::owner::Owner;
use crate::supported::{Reason, is_null};
use crate::tree::{ExprId, Place as TreePlace};
use cssame_ir::{BinaryOperator, Instruction, Operand, ScalarType, Terminator};
use cssame_source::Span;

impl Builder<'_, '_> {
    /// A call of a function on keys; none where it is no such one.
    pub fn specific(&mut self, name: &str, arguments: &[ExprId], expr: ExprId) -> Done<Option<Typed>> {
        let place = self.expr(expr).place;
        match (name, arguments) {
            ("pthread_key_create" | "tss_create", &[pointer, destructor]) => {
                self.create_key(name, pointer, destructor, place).map(Some)
            }
            ("pthread_getspecific" | "tss_get", &[key]) => {
                let (variable, _) = self.key(name, key, place)?;
                self.value(key)?;
                self.read_value(variable, place.span).map(Some)
            }
            ("pthread_setspecific" | "tss_set", &[key, value]) => {
                let (variable, _) = self.key(name, key, place)?;
                self.value(key)?;
                let value = self.value_as(value, ScalarType::Pointer)?;
                self.write_value(variable, value, place.span)?;
                Ok(Some(Typed::int(0)))
            }
            ("pthread_key_delete" | "tss_delete", &[key]) => {
                let (_, made) = self.key(name, key, place)?;
                // No destructor is called any more, but for that it would have to be known which threads still run.
                if made.destructor.is_some() && !self.is_main() {
                    return self.refuse(Reason::LaterFunction(name.into()), place);
                }
                self.value(key)?;
                Ok(Some(Typed::int(0)))
            }
            _ => Ok(None),
        }
    }

    /// The variable that holds a key, and how that is made.
    fn key(&self, name: &str, argument: ExprId, place: TreePlace) -> Done<(DeclKey, Key)> {
        let input = self.input();
        let variable = key_variable(input, self.key.unit, argument);
        match variable.and_then(|variable| Some((variable, *input.facts.keys.get(&variable)?))) {
            Some(found) => Ok(found),
            None => self.refuse(Reason::LaterFunction(name.into()), place),
        }
    }

    /// Keys are numbered; who reads one before it is there races with this.
    fn create_key(&mut self, name: &str, pointer: ExprId, destructor: ExprId, place: TreePlace) -> Done<Typed> {
        let (variable, made) = self.key(name, pointer, place)?;
        let is_repeated = made.creations != 1 || self.loops > 0 || !self.labels.is_empty() || !self.runs_once();
        if is_repeated {
            return self.refuse(Reason::LaterFunction(name.into()), place);
        }
        if made.destructor.is_none() && !is_null(self.unit, destructor) {
            return self.refuse(Reason::FunctionPointer, self.expr(destructor).place);
        }
        let number = self.input().facts.keys.keys().position(|&key| key == variable);
        let target = self.pointed(pointer)?;
        self.store(&target, Typed::int(number.unwrap_or(0) as i32), pointer)?;
        Ok(Typed::int(0))
    }

    /// Whether the function is `main`, called by `pthread_once`, or called once by `main`.
    fn runs_once(&self) -> bool {
        let facts = &self.input().facts;
        if self.is_main() || facts.once.contains(&self.key) {
            return true;
        }
        let calls = |of: &[DeclKey]| of.iter().filter(|&&called| called == self.key).count();
        let all: usize = facts.calls.values().map(|called| calls(called)).sum();
        let by_main = facts.main.and_then(|main| facts.calls.get(&main)).map_or(0, |called| calls(called));
        all == 1 && by_main == 1 && !facts.in_threads.contains(&self.key)
    }

    /// The value of a key.
    fn value_place(&mut self, variable: DeclKey, span: Span) -> Done<Lvalue> {
        let home = self.own_home(Own::Key(variable))?;
        let owner = Owner::Hidden(self.lowering.value_name(variable));
        let ty = self.lowering.unit(variable.unit).declarations[variable.decl].ty;
        Ok(Lvalue { home, scalar: Some(ScalarType::Pointer), seen_as: None, ty, owner, atomic: false, span })
    }

    fn read_value(&mut self, variable: DeclKey, span: Span) -> Done<Typed> {
        let lvalue = self.value_place(variable, span)?;
        let Home::Memory(place) = lvalue.home.clone() else { return Ok(self.null()) };
        let read = self.new_read(&lvalue);
        // The text there is that of a call, or of the name of a function.
        self.lowering.program.reads[read].name = self.lowering.value_name(variable);
        let dest = self.temporary(ScalarType::Pointer, span);
        self.emit(Instruction::Load { dest, place, read }, span);
        Ok(Typed::register(dest, ScalarType::Pointer))
    }

    fn write_value(&mut self, variable: DeclKey, value: Operand, span: Span) -> Done<()> {
        let lvalue = self.value_place(variable, span)?;
        let Home::Memory(place) = lvalue.home.clone() else { return Ok(()) };
        let definition = self.new_definition(&lvalue);
        self.lowering.program.definitions[definition].name = self.lowering.value_name(variable);
        self.emit(Instruction::Store { place, value, definition }, span);
        Ok(())
    }

    /// The end of a thread: values that are not null are taken away, and given to their destructors.
    pub fn call_destructors(&mut self, place: TreePlace) -> Done<()> {
        let span = place.span;
        for own in self.input().facts.own_of(self.key) {
            let Own::Key(variable) = own else { continue };
            let made = self.input().facts.keys.get(&variable);
            let Some(destructor) = made.and_then(|made| made.destructor) else { continue };
            let value = self.read_value(variable, span)?;
            let operands = (value.operand, self.null().operand);
            let condition = self.operation(BinaryOperator::Equal, ScalarType::Bool, operands, span);
            let (call, join) = (self.new_block(), self.new_block());
            self.terminate(Terminator::Branch { condition, then_block: join, else_block: call }, span);
            self.current = call;
            let nothing = self.null().operand;
            self.write_value(variable, nothing, span)?;
            self.call_function(destructor, &[value], false, span, place)?;
            self.jump_into(join, span);
        }
        Ok(())
    }
}
