//! Functions.

use super::ask::{Done, is_section, refuse};
use super::builder::{Builder, Typed};
use super::datum::zero;
use super::link::DeclKey;
use super::memory::Memory;
use super::program::{Lowering, empty};
use crate::supported::Reason;
use crate::tree::StmtId;
use cssame_ir::{
    BlockId, FunctionId, FunctionKind, Instruction, LeafKind, Object, Operand, Pointer, RegisterId, ScalarType,
    Terminator, Value,
};
use cssame_source::Span;
use rustc_hash::FxHashMap;

impl<'a> Lowering<'a> {
    /// A builder of a function that has its place already.
    fn builder(&mut self, id: FunctionId, key: DeclKey) -> Builder<'_, 'a> {
        let template = &self.program.functions[id];
        let mut function = empty(template.name, template.span, template.kind);
        function.result = template.result;
        let unit = self.unit(key.unit);
        let mut builder = Builder {
            lowering: self,
            unit,
            key,
            id,
            function,
            current: BlockId(0),
            slots: FxHashMap::default(),
            own: FxHashMap::default(),
            allocated: Vec::new(),
            labels: FxHashMap::default(),
            cases: FxHashMap::default(),
            leavable: Vec::new(),
            cleanups: Vec::new(),
            handlers: Vec::new(),
            ranges: FxHashMap::default(),
            loops: 0,
            is_section: false,
            temporaries: FxHashMap::default(),
            result_to: None,
            memory: None,
            copied_calls: FxHashMap::default(),
            known: FxHashMap::default(),
        };
        builder.current = builder.new_block();
        builder
    }

    /// Lowers a function.
    pub fn function(&mut self, key: DeclKey) -> Done<()> {
        let Some(&id) = self.functions.get(&key) else { return Ok(()) };
        let decl = &self.unit(key.unit).declarations[key.decl];
        let Some(body) = decl.body else { return Ok(()) };
        let builder = self.builder(id, key);
        let function = builder.whole(body)?;
        self.program.functions[id] = function;
        Ok(())
    }

    /// Lowers a copy of a function that gives memory.
    pub fn copy(&mut self, id: FunctionId, key: DeclKey, memory: Memory) -> Done<()> {
        let Some(body) = self.unit(key.unit).declarations[key.decl].body else { return Ok(()) };
        let mut builder = self.builder(id, key);
        builder.memory = Some(memory);
        let function = builder.whole(body)?;
        self.program.functions[id] = function;
        Ok(())
    }

    /// A function that nobody calls.
    pub fn nothing(&mut self, id: FunctionId) {
        let template = &self.program.functions[id];
        let mut function = empty(template.name, template.span, template.kind);
        function.result = template.result;
        let value = function.result.map(|ty| Operand::Constant(zero(ty)));
        function.blocks.push(cssame_ir::Block {
            instructions: Vec::new(),
            spans: Vec::new(),
            terminator: Terminator::Return(value),
            terminator_span: function.span,
            negated: false,
        });
        self.program.functions[id] = function;
    }

    /// The function that a thread begins with for a function whose result is no pointer, or that uses what the thread has of its own.
    pub fn routine(&mut self, function: FunctionId, key: DeclKey) -> Done<FunctionId> {
        let result = self.program.functions[function].result;
        if result.is_none_or(|ty| ty == ScalarType::Pointer) && self.input.facts.own_of(key).is_empty() {
            return Ok(function);
        }
        if let Some(&wrapper) = self.starters.get(&function) {
            return Ok(wrapper);
        }
        let target = &self.program.functions[function];
        let (name, span) = (target.name, target.span);
        let parameters = self.parameter_types(key);
        let pointer = Some(ScalarType::Pointer);
        let made = cssame_ir::Function { result: pointer, ..empty(name, span, FunctionKind::Function) };
        let wrapper = self.program.functions.push(made);
        self.starters.insert(function, wrapper);
        let mut builder = self.builder(wrapper, key);
        let mut arguments: Vec<Operand> = Vec::new();
        for ty in parameters {
            let register = builder.new_register(None, span, ty);
            builder.function.parameters.push(register);
            arguments.push(Operand::Register(register));
        }
        arguments.extend(builder.make_own()?);
        let dest = result.map(|ty| builder.temporary(ty, span));
        builder.emit(Instruction::Call { dest, function, arguments }, span);
        let value = match (dest, result) {
            (Some(dest), Some(ty)) => builder.converted(Typed::register(dest, ty), ScalarType::Pointer, span),
            _ => builder.null().operand,
        };
        let place = builder.unit.declarations[key.decl].place;
        builder.call_destructors(place)?;
        builder.terminate(Terminator::Return(Some(value)), span);
        let made = builder.done();
        self.program.functions[wrapper] = made;
        Ok(wrapper)
    }

    /// Whether a function returns a structure: its first parameter is where that goes.
    pub fn returns_structure(&self, key: DeclKey) -> bool {
        let unit = self.unit(key.unit);
        let function = unit.function_type(unit.declarations[key.decl].ty);
        function.is_some_and(|function| self.is_structure(key.unit, function.result))
    }

    /// Whether a function takes or returns a structure.
    pub fn passes_structures(&self, key: DeclKey) -> bool {
        let unit = self.unit(key.unit);
        let mut parameters = unit.declarations[key.decl].parameters.iter();
        self.returns_structure(key)
            || parameters.any(|&parameter| self.is_structure(key.unit, unit.declarations[parameter].ty))
    }

    /// The types of the parameters of a function that has a body, those of a structure one by one.
    pub fn parameter_types(&self, key: DeclKey) -> Vec<ScalarType> {
        let unit = self.unit(key.unit);
        let declared = &unit.declarations[key.decl];
        let of = |&decl: &crate::tree::DeclId| {
            let parameter = &unit.declarations[decl];
            self.scalars_of(key.unit, parameter.ty, parameter.place)
        };
        let address = self.returns_structure(key).then_some(ScalarType::Pointer);
        address.into_iter().chain(declared.parameters.iter().flat_map(of)).collect()
    }
}

impl Builder<'_, '_> {
    /// The function, from its parameters to its end.
    fn whole(mut self, body: StmtId) -> Done<cssame_ir::Function> {
        let decl = &self.unit.declarations[self.key.decl];
        if self.is_main() {
            self.arguments_of_main(&decl.parameters)?;
        } else {
            self.take_result_address()?;
            for &parameter in &decl.parameters {
                self.parameter(parameter)?;
            }
            self.take_own()?;
        }
        self.is_section = decl.name.as_deref().is_some_and(is_section);
        if self.is_section {
            self.emit(Instruction::AtomicBegin, decl.place.span);
        }
        self.body(body)?;
        Ok(self.done())
    }

    fn body(&mut self, body: StmtId) -> Done<()> {
        self.find_labels();
        self.statement(body)?;
        let span = self.unit.statements[body].place.span;
        let end = Span { start: span.end.saturating_sub(1).max(span.start), ..span };
        self.end_of_section(end);
        if let Some(handler) = self.handlers.first() {
            let place = self.unit.declarations[handler.routine.decl].place;
            return refuse(Reason::EndInCleanup, place);
        }
        let result = self.function.result.map(|ty| Operand::Constant(zero(ty)));
        self.terminate(Terminator::Return(result), end);
        Ok(())
    }

    /// The parameter that says where the structure goes that the function returns.
    fn take_result_address(&mut self) -> Done<()> {
        if !self.lowering.returns_structure(self.key) {
            return Ok(());
        }
        let declared = &self.unit.declarations[self.key.decl];
        let (span, place) = (declared.place.span, declared.place);
        let Some(ty) = self.unit.function_type(declared.ty).map(|function| function.result) else { return Ok(()) };
        let register = self.new_register(None, span, ScalarType::Pointer);
        let pointee = self.lowering.ir_type(self.key.unit, ty, &super::owner::Owner::Text(span), place)?;
        self.function.registers[register].pointee = Some(pointee);
        self.function.parameters.push(register);
        self.result_to = Some(register);
        Ok(())
    }

    /// A label makes it possible that a declaration runs again.
    fn find_labels(&mut self) {
        let Some(body) = self.unit.declarations[self.key.decl].body else { return };
        let span = self.unit.statements[body].place.span;
        for (id, label) in self.unit.labels.entries() {
            let at = label.body.map(|body| self.unit.statements[body].place.span);
            if at.is_some_and(|at| at.file == span.file && span.start <= at.start && at.end <= span.end) {
                self.label_block(id);
            }
        }
    }

    /// `argc` is 1; `argv` leads to a name without a letter, as where that is not known, and a null pointer.
    fn arguments_of_main(&mut self, parameters: &[crate::tree::DeclId]) -> Done<()> {
        for (index, &parameter) in parameters.iter().enumerate() {
            let declared = &self.unit.declarations[parameter];
            if index == 0 {
                let slot = self.slot(parameter)?;
                if let super::builder::Slot::Register(dest, ty) = slot {
                    let source = self.converted(Typed::int(1), ty, declared.place.span);
                    self.emit(Instruction::Copy { dest, source }, declared.place.span);
                } else {
                    return self.refuse(Reason::Arguments, declared.place);
                }
                continue;
            }
            let is_named = |kind: &crate::tree::ExprKind| *kind == crate::tree::ExprKind::Name(parameter);
            let Some(used) = self.unit.expressions.iter().find(|expr| is_named(&expr.kind)) else { continue };
            let super::builder::Slot::Register(dest, ScalarType::Pointer) = self.slot(parameter)? else {
                return self.refuse(Reason::Arguments, used.place);
            };
            if index > 1 {
                return self.refuse(Reason::Arguments, used.place);
            }
            let (span, pointer) = (declared.place.span, LeafKind::Data(ScalarType::Pointer));
            let name = self.lowering.hidden("argv[0]", span, LeafKind::Data(ScalarType::SignedChar));
            let array = self.lowering.hidden_array("argv", span, pointer, Some(2));
            let to = |variable| Pointer::to(Object::Global(variable), 0);
            self.lowering.set(array, 0, super::datum::Datum::Pointer(to(name)));
            let source = Operand::Constant(Value::Pointer(to(array)));
            self.emit(Instruction::Copy { dest, source }, span);
        }
        Ok(())
    }

    /// The function, with its memory variables made at the entry.
    fn done(self) -> cssame_ir::Function {
        let mut function = self.function;
        let entry = &mut function.blocks[BlockId(0)];
        let allocate =
            |&(dest, variable, _): &(RegisterId, _, Span)| Instruction::Allocate { dest, variable, elements: None };
        entry.instructions.splice(0..0, self.allocated.iter().map(allocate));
        entry.spans.splice(0..0, self.allocated.iter().map(|&(_, _, span)| span));
        function
    }
}
