//! Ids in functions: registers, blocks, variables, reads, definitions, functions and texts all exist.
//!
//! In: a function. Out: missing ids, and missing spans.

use super::Scope;
use crate::{
    AtomicOperation, Base, Block, DefinitionId, Function, FunctionId, Index, Instruction, NewThread, Operand, Place,
    ReadId, Register, RegisterId, Synchronisation, TextId, ThreadLabel, TripBounds, Value, VariableId,
};

/// Checks that all ids of a function exist.
pub(super) fn check_ids(scope: &mut Scope<'_>) {
    let Function { name, span: _, kind: _, parameters, result: _, registers, blocks } = scope.function;
    scope.text(*name);
    scope.demand(!blocks.is_empty(), || "no block".into());
    for Register { name, span: _, ty: _, pointee: _ } in registers.iter() {
        name.iter().for_each(|&name| scope.text(name));
    }
    for &parameter in parameters {
        scope.register(parameter);
    }
    let mut sorted = parameters.clone();
    sorted.sort_unstable();
    sorted.dedup();
    scope.demand(sorted.len() == parameters.len(), || "a parameter twice".into());
    for (id, Block { instructions, spans, terminator, terminator_span: _, negated: _ }) in blocks.entries() {
        scope.at(id, None);
        scope.demand(spans.len() == instructions.len(), || "not as many spans as instructions".into());
        for (position, instruction) in instructions.iter().enumerate() {
            scope.at(id, Some(position));
            scope.instruction(instruction);
        }
        scope.at(id, Some(instructions.len()));
        for target in terminator.successors() {
            scope.exists(blocks.get(target).is_some(), "block", target.0);
        }
        if let Some(operand) = terminator.operand() {
            scope.operand(&operand);
        }
    }
}

impl Scope<'_> {
    fn exists(&mut self, exists: bool, kind: &str, number: u32) {
        self.demand(exists, || format!("{kind} {number} does not exist"));
    }

    fn text(&mut self, id: TextId) {
        self.exists(id.index() < self.program.texts.len(), "text", id.0);
    }

    fn register(&mut self, id: RegisterId) {
        self.exists(self.function.registers.get(id).is_some(), "register", id.0);
    }

    fn variable(&mut self, id: VariableId) {
        self.exists(self.program.variables.get(id).is_some(), "variable", id.0);
    }

    fn called(&mut self, id: FunctionId) {
        self.exists(self.program.functions.get(id).is_some(), "function", id.0);
    }

    fn read(&mut self, id: ReadId) {
        self.exists(self.program.reads.get(id).is_some(), "read", id.0);
    }

    fn definition(&mut self, id: DefinitionId) {
        self.exists(self.program.definitions.get(id).is_some(), "definition", id.0);
    }

    fn operand(&mut self, operand: &Operand) {
        match operand {
            Operand::Register(register) => self.register(*register),
            Operand::Constant(Value::String(text)) => self.text(*text),
            Operand::Constant(_) => {}
        }
    }

    fn operands<'o>(&mut self, operands: impl IntoIterator<Item = &'o Operand>) {
        operands.into_iter().for_each(|operand| self.operand(operand));
    }

    fn place(&mut self, place: &Place) {
        let Place { base, offset: _, indices } = place;
        match base {
            Base::Global(variable) => self.variable(*variable),
            Base::Reference(register) | Base::Pointer(register) => self.register(*register),
        }
        for Index { operand, length, stride: _ } in indices {
            self.operand(operand);
            self.operand(length);
        }
    }

    fn thread(&mut self, thread: &NewThread) {
        let NewThread { function, rounds, arguments, label, ordinal } = thread;
        self.called(*function);
        rounds.iter().for_each(|&function| self.called(function));
        self.operands(arguments.iter().chain(ordinal));
        match label {
            ThreadLabel::Name(text) | ThreadLabel::Iteration(text) | ThreadLabel::Element(text) => self.text(*text),
        }
    }

    fn atomic(&mut self, op: &AtomicOperation) {
        op.operands().for_each(|operand| self.operand(&operand));
    }

    fn synchronisation(&mut self, operation: &Synchronisation) {
        operation.places().for_each(|place| self.place(place));
    }

    fn instruction(&mut self, instruction: &Instruction) {
        instruction.dest().into_iter().for_each(|dest| self.register(dest));
        match instruction {
            Instruction::Copy { dest: _, source: operand }
            | Instruction::Unary { dest: _, op: _, operand }
            | Instruction::Assume { condition: operand }
            | Instruction::JoinThread { handle: operand, dest: _ } => self.operand(operand),
            Instruction::Binary { dest: _, op: _, left, right }
            | Instruction::Choose { dest: _, low: left, high: right } => {
                self.operands([left, right]);
            }
            Instruction::Load { dest: _, place, read } => {
                self.place(place);
                self.read(*read);
            }
            Instruction::Store { place, value, definition } => {
                self.place(place);
                self.operand(value);
                self.definition(*definition);
            }
            Instruction::Atomic { dest: _, op, place, read, definition } => {
                self.atomic(op);
                self.place(place);
                self.read(*read);
                self.definition(*definition);
            }
            Instruction::Address { dest: _, place } => self.place(place),
            Instruction::Allocate { dest: _, variable, elements: _ } => self.variable(*variable),
            Instruction::Free { pointer: _, definition } => self.definition(*definition),
            Instruction::Print { arguments, line: _ } => self.operands(arguments.iter().map(|one| &one.operand)),
            Instruction::Assert { condition, message } => {
                self.operand(condition);
                message.iter().for_each(|&message| self.text(message));
            }
            Instruction::Error { message } => message.iter().for_each(|&message| self.text(message)),
            Instruction::Call { dest: _, function, arguments } => {
                self.called(*function);
                self.operands(arguments);
            }
            Instruction::Synchronise(operation) => self.synchronisation(operation),
            Instruction::Fork { threads, bounds } => {
                threads.iter().for_each(|thread| self.thread(thread));
                if let Some(TripBounds { first, limit, step: _ }) = bounds {
                    self.operands([first, limit]);
                }
            }
            Instruction::Spawn { dest: _, thread } => self.thread(thread),
            Instruction::Join
            | Instruction::CurrentThread { dest: _ }
            | Instruction::AtomicBegin
            | Instruction::AtomicEnd => {}
        }
    }
}
