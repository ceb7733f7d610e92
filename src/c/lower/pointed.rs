//! Functions that pointers lead to.
//!
//! In: names of functions that are used as values, and calls through pointers. Out: for each such function an object that nothing
//! accesses, whose address stands for it; and for a call a comparison with the address of each function of the type, and a call of the
//! one that it is.

use super::ask::Done;
use super::builder::{Builder, Typed};
use super::link::DeclKey;
use super::program::Lowering;
use crate::supported::Reason;
use crate::tree::{Conversion, DeclKind, ExprId, ExprKind, UnaryOperator};
use cssame_ir::{
    BinaryOperator, Instruction, LeafKind, Object, Operand, Pointer, ScalarType, Terminator, Value, VariableId,
};
use cssame_source::Span;

/// What is said where a pointer is called that leads to no function.
const NO_FUNCTION: &str = "the pointer leads to no function of this type";

impl Lowering<'_> {
    /// The object that stands for a function.
    pub fn stand_in(&mut self, key: DeclKey) -> VariableId {
        if let Some(&known) = self.stand_ins.get(&key) {
            return known;
        }
        let (name, span) =
            (self.declared_name(key.unit, key.decl), self.unit(key.unit).declarations[key.decl].place.span);
        let name = self.program.texts.get(name).to_owned();
        let variable = self.hidden(&name, span, LeafKind::Data(ScalarType::Int));
        self.stand_ins.insert(key, variable);
        variable
    }

    /// The functions that a pointer may lead to which is called with so many arguments, with the types of parameters and of the result
    /// that are known.
    fn callable(&self, parameters: &[ScalarType], result: Option<ScalarType>) -> Vec<DeclKey> {
        let pointed = self.input.facts.pointed.iter().copied();
        let is_one = |&key: &DeclKey| {
            !self.passes_structures(key) && self.parameter_types(key) == parameters && self.result_of(key) == result
        };
        pointed.filter(is_one).collect()
    }
}

impl Builder<'_, '_> {
    /// The value of the name of a function, or of what a pointer to one leads to.
    pub fn function_value(&mut self, expr: ExprId) -> Done<Option<Typed>> {
        let (ExprKind::Convert { conversion: Conversion::FunctionToPointer, operand }
        | ExprKind::Unary { operator: UnaryOperator::AddressOf, operand }) = self.expr(expr).kind
        else {
            return Ok(None);
        };
        match self.expr(operand).kind {
            ExprKind::Name(decl) if self.unit.declarations[decl].kind == DeclKind::Function => {
                let key = self.input().links.resolve(self.unit, self.key.unit, decl);
                if !self.lowering.functions.contains_key(&key) {
                    return self.refuse(Reason::FunctionPointer, self.expr(operand).place);
                }
                Ok(Some(self.address_of_function(key)))
            }
            ExprKind::Unary { operator: UnaryOperator::Dereference, operand: pointer }
                if self.unit.function_type(self.expr(pointer).ty).is_some() =>
            {
                self.value(pointer).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn address_of_function(&mut self, key: DeclKey) -> Typed {
        let variable = self.lowering.stand_in(key);
        Typed::constant(Value::Pointer(Pointer::to(Object::Global(variable), 0)))
    }

    /// A call through a pointer.
    pub fn call_pointed(
        &mut self,
        callee: ExprId,
        arguments: &[ExprId],
        expr: ExprId,
        wanted: bool,
    ) -> Done<Option<Typed>> {
        let place = self.expr(expr).place;
        let Some(ty) = self.unit.function_type(self.expr(callee).ty) else {
            return self.refuse(Reason::FunctionPointer, place);
        };
        let (unit, input) = (self.key.unit, self.input());
        let of_arguments = arguments.iter().map(|&argument| self.expr(argument).ty);
        let types: Vec<_> = if ty.prototype { ty.parameters.to_vec() } else { of_arguments.collect() };
        let scalars: Option<Vec<ScalarType>> = types.iter().map(|&ty| input.scalar(unit, ty)).collect();
        let (Some(scalars), false) = (scalars, ty.variadic || self.is_aggregate(expr)) else {
            return self.refuse(Reason::FunctionPointer, place);
        };
        let result = input.scalar(unit, ty.result);
        let pointer = self.value(callee)?;
        let pointer = self.copied(pointer, place.span);
        let values = self.values_of(arguments)?;
        let dest = result.filter(|_| wanted).map(|ty| (self.temporary(ty, place.span), ty));
        let functions = self.lowering.callable(&scalars, result);
        self.for_each_pointed(pointer.operand, &functions, place.span, |builder, key| {
            let value = builder.call_function(key, &values, wanted, place.span, place)?;
            if let (Some((dest, ty)), Some(value)) = (dest, value) {
                let source = builder.converted(value, ty, place.span);
                builder.emit(Instruction::Copy { dest, source }, place.span);
            }
            Ok(())
        })?;
        Ok(dest.map(|(dest, ty)| Typed::register(dest, ty)))
    }

    /// The functions that a thread may begin with which a pointer leads to.
    pub fn routines_pointed(&self) -> Vec<DeclKey> {
        let pointed = self.input().facts.pointed.iter().copied();
        let takes_one = |&key: &DeclKey| {
            self.lowering.parameter_types(key) == [ScalarType::Pointer]
                && self.lowering.result_of(key).is_some_and(|ty| matches!(ty, ScalarType::Pointer | ScalarType::Int))
        };
        pointed.filter(takes_one).collect()
    }

    /// Does something for the function that a pointer leads to, of some; else the program fails.
    pub fn for_each_pointed(
        &mut self,
        pointer: Operand,
        functions: &[DeclKey],
        span: Span,
        mut f: impl FnMut(&mut Self, DeclKey) -> Done<()>,
    ) -> Done<()> {
        let join = self.new_block();
        for &key in functions {
            let right = self.address_of_function(key).operand;
            let condition = self.operation(BinaryOperator::Equal, ScalarType::Bool, (pointer, right), span);
            let (then_block, else_block) = (self.new_block(), self.new_block());
            self.terminate(Terminator::Branch { condition, then_block, else_block }, span);
            self.current = then_block;
            f(self, key)?;
            self.terminate(Terminator::Jump(join), span);
            self.current = else_block;
        }
        self.fail(NO_FUNCTION, span);
        self.current = join;
        Ok(())
    }
}
