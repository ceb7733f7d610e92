//! Calls.
//!
//! In: a call. Out: what a known function means, or a call of a function of the program with the arguments that its parameters want.

use super::ask::{Done, meaning};
use super::builder::{Builder, Typed};
use super::link::DeclKey;
use crate::supported::Reason;
use crate::tree::{ExprId, Place};
use cssame_ir::{Instruction, Operand};
use cssame_source::Span;

impl Builder<'_, '_> {
    /// The value of a call, if it has one and somebody wants it.
    pub fn call(&mut self, callee: ExprId, arguments: &[ExprId], expr: ExprId, wanted: bool) -> Done<Option<Typed>> {
        let place = self.expr(expr).place;
        let Some(decl) = self.unit.called(callee) else {
            return self.call_pointed(callee, arguments, expr, wanted);
        };
        let key = self.input().links.resolve(self.unit, self.key.unit, decl);
        let is_defined = self.lowering.functions.contains_key(&key);
        if let Some((name, known)) = meaning(self.unit, decl)
            && (!is_defined || crate::supported::library::is_meant_despite_body(name))
        {
            return self.library(name, known, arguments, expr, wanted);
        }
        if let (Some(wrapper), Some(memory)) = (self.wrapper_of(expr), self.type_of_memory(expr)) {
            return self.call_wrapper(wrapper, expr, memory).map(Some);
        }
        let mut values = Vec::with_capacity(arguments.len());
        if self.lowering.returns_structure(key) {
            let operand = self.result_address(expr)?;
            values.push(Typed { operand, ty: cssame_ir::ScalarType::Pointer });
        }
        values.extend(self.values_of(arguments)?);
        self.call_function(key, &values, wanted, place.span, place)
    }

    /// Calls a function of the program.
    pub fn call_function(
        &mut self,
        key: DeclKey,
        values: &[Typed],
        wanted: bool,
        span: Span,
        place: Place,
    ) -> Done<Option<Typed>> {
        let Some(&function) = self.lowering.functions.get(&key) else {
            let name = self.lowering.unit(key.unit).declarations[key.decl].name.clone().unwrap_or_default();
            return self.refuse(Reason::UnknownFunction(name), place);
        };
        self.lowering.called_plain.insert(key);
        let arguments = self.arguments_for(key, values, span)?;
        let result = self.lowering.program.functions[function].result.filter(|_| wanted);
        let dest = result.map(|ty| self.temporary(ty, span));
        self.emit(Instruction::Call { dest, function, arguments }, span);
        Ok(dest.zip(result).map(|(dest, ty)| Typed::register(dest, ty)))
    }

    /// The values of arguments, of a structure those of its cells.
    pub fn values_of(&mut self, arguments: &[ExprId]) -> Done<Vec<Typed>> {
        let mut values = Vec::with_capacity(arguments.len());
        for &argument in arguments {
            if self.is_aggregate(argument) {
                values.extend(self.aggregate(argument)?);
            } else {
                values.push(self.value(argument)?);
            }
        }
        Ok(values)
    }

    /// The arguments of a function of the program.
    pub fn arguments_for(&mut self, key: DeclKey, values: &[Typed], span: Span) -> Done<Vec<Operand>> {
        let parameters = self.lowering.parameter_types(key);
        let mut arguments: Vec<Operand> = Vec::with_capacity(parameters.len());
        for (index, &ty) in parameters.iter().enumerate() {
            // An old program may leave arguments out.
            let value = values.get(index).copied().unwrap_or_else(|| Typed::constant(super::datum::zero(ty)));
            arguments.push(self.converted(value, ty, span));
        }
        for own in self.input().facts.own_of(key) {
            arguments.push(self.own_address(own)?.operand);
        }
        Ok(arguments)
    }
}
