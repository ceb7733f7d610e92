//! Arrays of variable length.
//!
//! In: declarations whose types have lengths that are expressions. Out: a register for each length, written where the declaration
//! runs; what asks for the length later, such as an index or `sizeof`, finds it there. The cells of an array are made there, too. A
//! program that wants more than are read ends with an error.

use super::ask::Done;
use super::builder::{Builder, Typed};
use super::shape::MOST_VARIABLE;
use crate::tree::{DeclId, ExprId, Length, TypeId, TypeKind};
use cssame_ir::{Arithmetic, BinaryOperator, Instruction, Operand, RegisterId, RegisterType, ScalarType, Value};
use cssame_source::Span;

impl Builder<'_, '_> {
    /// Evaluates the lengths in the type of a declaration, which keep their values whatever becomes of what they were computed from.
    pub fn evaluate_lengths(&mut self, decl: DeclId) -> Done<()> {
        let declared = &self.unit.declarations[decl];
        let mut ty = declared.ty;
        loop {
            match self.unit.types[ty].kind {
                TypeKind::Array { element, .. } => {
                    if let Some(length) = self.variable_length(ty) {
                        self.evaluate_length(length)?;
                    }
                    ty = element;
                }
                TypeKind::Pointer(target) => ty = target,
                _ => return Ok(()),
            }
        }
    }

    /// The expression that says how long an array is, where that is not known before the program runs.
    fn variable_length(&self, array: TypeId) -> Option<ExprId> {
        match self.unit.types[array].kind {
            TypeKind::Array { length: Length::Variable(length), .. } => {
                self.unit.integer(length).is_none().then_some(length)
            }
            _ => None,
        }
    }

    fn evaluate_length(&mut self, length: ExprId) -> Done<()> {
        // The name of a type has done so already.
        if self.known.contains_key(&length) {
            return Ok(());
        }
        let span = self.span(length);
        let value = self.value(length)?;
        let ty = if value.ty == ScalarType::Int { ScalarType::Int } else { ScalarType::Long };
        let source = self.converted(value, ty, span);
        let dest = self.temporary(ty, span);
        self.emit(Instruction::Copy { dest, source }, span);
        self.known.insert(length, Typed::register(dest, ty));
        Ok(())
    }

    /// The register of the length of an array, where its declaration has run.
    pub fn length_register(&self, array: TypeId) -> Option<RegisterId> {
        match self.known.get(&self.variable_length(array)?)?.operand {
            Operand::Register(register) => Some(register),
            Operand::Constant(_) => None,
        }
    }

    /// The register of the length of a declared array of variable length, as a `long`.
    pub fn length_of(&mut self, decl: DeclId) -> Option<RegisterId> {
        let declared = &self.unit.declarations[decl];
        let length = self.length_register(declared.ty)?;
        let RegisterType::Scalar(ty) = self.function.registers[length].ty else { return None };
        let span = declared.place.span;
        let length = self.converted(Typed::register(length, ty), ScalarType::Long, span);
        Some(self.in_register(Typed { operand: length, ty: ScalarType::Long }, span))
    }

    /// Ends the program where an array of variable length has no element, or more than there are cells for.
    pub fn test_length(&mut self, decl: DeclId) -> Done<()> {
        let declared = &self.unit.declarations[decl];
        let Some(length) = self.length_register(declared.ty) else { return Ok(()) };
        if let TypeKind::Array { element, .. } = self.unit.types[declared.ty].kind {
            // Only the first length may be variable: how far elements lie apart is a constant.
            self.input().cells(self.key.unit, element, declared.place)?;
        }
        let is_long = self.function.registers[length].ty == RegisterType::Scalar(ScalarType::Long);
        let bound = |number: u32| match is_long {
            true => Operand::Constant(Value::Long(i64::from(number))),
            false => Operand::Constant(Value::Int(number as i32)),
        };
        let arithmetic = if is_long { Arithmetic::Long } else { Arithmetic::Int };
        let (name, span) = (self.lowering.declared_name(self.key.unit, decl), declared.place.span);
        let name = self.lowering.program.texts.get(name).to_owned();
        let length = Operand::Register(length);
        let message = format!("the length of `{name}` is not positive");
        self.fail_where((length, bound(1)), arithmetic, &message, span);
        let message = format!("arrays of more than {MOST_VARIABLE} elements are not read: `{name}`");
        self.fail_where((bound(MOST_VARIABLE), length), arithmetic, &message, span);
        Ok(())
    }

    /// An error where the first value is less than the second.
    pub fn fail_where(&mut self, operands: (Operand, Operand), arithmetic: Arithmetic, message: &str, span: Span) {
        let is_less = self.operation(BinaryOperator::Less(arithmetic), ScalarType::Bool, operands, span);
        self.fail_if(is_less, message, span);
    }
}
