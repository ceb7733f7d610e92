//! Lowering: one instruction of the intermediate representation to one instruction of the machine.
//!
//! **Input**: an instruction, and the slots of its function. **Output**: a [`Code`]; data that does not fit goes into the tables
//! of the compiler. Every instruction becomes exactly one, so the order of places in the text is kept.

use super::code::*;
use super::compiled::Compiled;
use super::memory::{Content, Layout};
use super::places::{ComputedIndex, ComputedPlace, PointerTo};
use super::visibility::Visibility;
use cssame_ir::{
    AtomicOperation, Base, BinaryOperator, DefinitionId, Function, FunctionId, Instruction, Line, NewThread, Object,
    Operand, Place, Pointer, Printed, ReadId, RegisterId, RegisterType, ScalarType, Synchronisation, ThreadLabel,
};
use rustc_hash::FxHashMap;

/// What the compilation of all functions shares.
pub(super) struct Compiler<'a> {
    pub visibility: &'a Visibility,
    pub layout: &'a Layout,
    pub output: Compiled,
    pub constant_index: FxHashMap<i64, usize>,
    pub ranks: FxHashMap<(u32, u32, u32, u32), u32>,
}

impl Compiler<'_> {
    /// The pool entry of a constant.
    pub(super) fn constant(&mut self, bits: i64) -> Source {
        let constants = &mut self.output.constants;
        let index = *self.constant_index.entry(bits).or_insert_with(|| {
            constants.push(bits);
            constants.len() - 1
        });
        Source::constant(index)
    }
}

/// Lowers the instructions of one place.
pub(super) struct Lowering<'c, 'a> {
    pub compiler: &'c mut Compiler<'a>,
    pub function: &'c Function,
    pub slots: &'c [Slot],
    pub origin: Origin,
}

impl Lowering<'_, '_> {
    fn slot(&self, register: RegisterId) -> Slot {
        self.slots[register.index()]
    }

    fn optional_slot(&self, register: Option<RegisterId>) -> Slot {
        register.map_or(NO_SLOT, |register| self.slot(register))
    }

    /// An operand.
    pub(super) fn source(&mut self, operand: Operand) -> Source {
        match operand {
            Operand::Register(register) => Source::slot(self.slot(register)),
            Operand::Constant(value) => self.compiler.constant(value.bits()),
        }
    }

    fn sources(&mut self, operands: &[Operand]) -> Box<[Source]> {
        operands.iter().map(|&operand| self.source(operand)).collect()
    }

    /// The address of a place that is known now.
    fn fixed_address(&self, place: &Place) -> Option<u32> {
        match place.base {
            Base::Global(variable) if place.indices.is_empty() => {
                self.compiler.layout.global_address(variable).map(|base| base + place.offset)
            }
            _ => None,
        }
    }

    fn place(&mut self, place: &Place, content: Option<Content>) -> TableIndex {
        let pointed = content.filter(|_| matches!(place.base, Base::Pointer(_)));
        let computed = ComputedPlace { pointed, ..self.computed(place) };
        let places = &mut self.compiler.output.places;
        places.push(computed);
        places.len() as TableIndex - 1
    }

    fn computed(&mut self, place: &Place) -> ComputedPlace {
        let (reference, base) = match place.base {
            Base::Global(variable) => (NO_SLOT, self.compiler.layout.global_address(variable).unwrap_or(0)),
            Base::Reference(register) | Base::Pointer(register) => (self.slot(register), 0),
        };
        let mut indices = place.indices.iter().map(|index| ComputedIndex {
            index: self.source(index.operand),
            length: self.source(index.length),
            stride: index.stride,
        });
        let (index, further) = (indices.next(), indices.collect());
        ComputedPlace { reference, pointed: None, address: base + place.offset, index, further }
    }

    /// A pointer to a place.
    fn pointer_to(&mut self, dest: RegisterId, place: &Place) -> Code {
        let base = match place.base {
            // Of a whole variable: what is behind a name counts cells.
            Base::Global(variable) => self.compiler.constant(Pointer::to(Object::Global(variable), 0).bits()),
            Base::Reference(register) | Base::Pointer(register) => Source::slot(self.slot(register)),
        };
        let behind = self.computed(place);
        let place = ComputedPlace { reference: NO_SLOT, address: place.offset, ..behind };
        let dest = self.slot(dest);
        let pointers = &mut self.compiler.output.pointers;
        pointers.push(PointerTo { base, place });
        Code::PointerTo { dest, pointer: pointers.len() as TableIndex - 1 }
    }

    /// What a cell is for that a value is read from or written to.
    fn content(&self, value: Operand) -> Option<Content> {
        match self.function.type_of(value) {
            RegisterType::Scalar(ty) => Some(Content::Data(ty)),
            RegisterType::Reference => None,
        }
    }

    fn is_pointer(&self, register: RegisterId) -> bool {
        self.function.registers[register].ty == RegisterType::Scalar(ScalarType::Pointer)
    }

    fn load(&mut self, dest: RegisterId, place: &Place, read: ReadId) -> Code {
        let (dest_register, dest) = (dest, self.slot(dest));
        let shared = self.compiler.visibility.read(read);
        let content = self.content(Operand::Register(dest_register));
        match (self.fixed_address(place), shared) {
            (Some(address), true) => Code::SharedLoad { dest, address, read },
            (Some(address), false) => Code::Load { dest, address, read },
            (None, true) => Code::SharedLoadAt { dest, place: self.place(place, content), read },
            (None, false) => Code::LoadAt { dest, place: self.place(place, content), read },
        }
    }

    fn store(&mut self, place: &Place, value: Operand, definition: DefinitionId) -> Code {
        let content = self.content(value);
        let value = self.source(value);
        let shared = self.compiler.visibility.definition(definition);
        match (self.fixed_address(place), shared) {
            (Some(address), true) => Code::SharedStore { address, value, definition },
            (Some(address), false) => Code::Store { address, value, definition },
            (None, true) => Code::SharedStoreAt { place: self.place(place, content), value, definition },
            (None, false) => Code::StoreAt { place: self.place(place, content), value, definition },
        }
    }

    fn binary(&mut self, dest: RegisterId, op: BinaryOperator, left: Operand, right: Operand) -> Code {
        let may_fail = op.may_fail(right);
        let (dest, left, right) = (self.slot(dest), self.source(left), self.source(right));
        if may_fail { Code::Partial { dest, op, left, right } } else { Code::Binary { dest, op, left, right } }
    }

    fn start(&mut self, thread: &NewThread, arm: u32) -> Start {
        let Origin { function, block, instruction } = self.origin;
        let rank = self.compiler.ranks.get(&(function.0, block.0, instruction, arm)).copied().unwrap_or(0);
        let label = match thread.label {
            ThreadLabel::Name(text) | ThreadLabel::Iteration(text) | ThreadLabel::Element(text) => text,
        };
        Start {
            function: thread.function,
            rounds: thread.rounds.clone().into_boxed_slice(),
            arguments: self.sources(&thread.arguments),
            label,
            ordinal: thread.ordinal.map(|ordinal| self.source(ordinal)),
            rank,
        }
    }

    fn fork(&mut self, threads: &[NewThread]) -> TableIndex {
        let starts = threads.iter().enumerate().map(|(arm, thread)| self.start(thread, arm as u32)).collect();
        let forks = &mut self.compiler.output.forks;
        forks.push(starts);
        forks.len() as TableIndex - 1
    }

    fn atomic(
        &mut self,
        dest: RegisterId,
        op: &AtomicOperation,
        place: &Place,
        read: ReadId,
        definition: DefinitionId,
    ) -> Code {
        let shared = self.compiler.visibility.read(read) || self.compiler.visibility.definition(definition);
        let dest = self.slot(dest);
        let content = self.content(op.value());
        let place = self.place(place, content);
        let kind = AtomicKind::resolve(op, |operand| self.source(operand));
        let atomics = &mut self.compiler.output.atomics;
        atomics.push(Atomic { dest, place, kind, read, definition });
        let atomic = atomics.len() as TableIndex - 1;
        if shared { Code::SharedAtomic { atomic } } else { Code::Atomic { atomic } }
    }

    fn print(&mut self, arguments: &[Printed], line: Line) -> Code {
        let arguments = arguments.iter().map(|one| (self.source(one.operand), one.ty, one.conversion)).collect();
        let prints = &mut self.compiler.output.prints;
        prints.push(Print { arguments, line });
        Code::Print { print: prints.len() as TableIndex - 1 }
    }

    fn call(&mut self, dest: Option<RegisterId>, function: FunctionId, arguments: &[Operand]) -> Code {
        let call = Call { function, arguments: self.sources(arguments), dest: self.optional_slot(dest) };
        let calls = &mut self.compiler.output.calls;
        calls.push(call);
        Code::Call { call: calls.len() as TableIndex - 1 }
    }

    fn synchronise(&mut self, operation: &Synchronisation) -> Code {
        let kinds = operation.kind.operands();
        let mut place = |place: &Option<Place>, number: usize| {
            let content = kinds.get(number).map(|&kind| Content::Object(kind));
            place.as_ref().map_or(NO_PLACE, |place| self.place(place, content))
        };
        let (object, lock) = (place(&operation.object, 0), place(&operation.lock, 1));
        Code::Synchronise { kind: operation.kind, object, lock, verdict: self.optional_slot(operation.verdict) }
    }

    /// An instruction.
    pub(super) fn instruction(&mut self, instruction: &Instruction) -> Code {
        match instruction {
            Instruction::Copy { dest, source } => Code::Copy { dest: self.slot(*dest), source: self.source(*source) },
            Instruction::Unary { dest, op, operand } => {
                Code::Unary { dest: self.slot(*dest), op: *op, operand: self.source(*operand) }
            }
            Instruction::Binary { dest, op, left, right } => self.binary(*dest, *op, *left, *right),
            Instruction::Load { dest, place, read } => self.load(*dest, place, *read),
            Instruction::Store { place, value, definition } => self.store(place, *value, *definition),
            Instruction::Atomic { dest, op, place, read, definition } => {
                self.atomic(*dest, op, place, *read, *definition)
            }
            Instruction::Address { dest, place } if self.is_pointer(*dest) => self.pointer_to(*dest, place),
            Instruction::Address { dest, place } if !place.indices.is_empty() => {
                Code::ElementAddress { dest: self.slot(*dest), place: self.place(place, None) }
            }
            Instruction::Address { dest, place } => {
                Code::Address { dest: self.slot(*dest), place: self.place(place, None) }
            }
            Instruction::Allocate { dest, variable, elements } => {
                let (is_pointer, elements) = (self.is_pointer(*dest), self.optional_slot(*elements));
                Code::Allocate { dest: self.slot(*dest), variable: *variable, is_pointer, elements }
            }
            Instruction::Free { pointer, definition } => {
                let (pointer, definition) = (Source::slot(self.slot(*pointer)), *definition);
                let is_shared = self.compiler.visibility.definition(definition);
                self.compiler.output.frees |= is_shared;
                if is_shared { Code::SharedFree { pointer, definition } } else { Code::Free { pointer, definition } }
            }
            Instruction::Choose { dest, low, high } => {
                Code::Choose { dest: self.slot(*dest), low: self.source(*low), high: self.source(*high) }
            }
            Instruction::Print { arguments, line } => self.print(arguments, *line),
            Instruction::Assert { condition, message } => {
                Code::Assert { condition: self.source(*condition), message: *message }
            }
            Instruction::Error { message } => Code::Error { message: *message },
            Instruction::Assume { condition } => Code::Assume { condition: self.source(*condition) },
            Instruction::Call { dest, function, arguments } => self.call(*dest, *function, arguments),
            Instruction::Synchronise(operation) => self.synchronise(operation),
            Instruction::Fork { threads, .. } => Code::Fork { fork: self.fork(threads) },
            Instruction::Join => Code::Join,
            Instruction::Spawn { dest, thread } => {
                Code::Spawn { dest: self.optional_slot(*dest), fork: self.fork(std::slice::from_ref(thread)) }
            }
            Instruction::JoinThread { handle, dest } => {
                self.compiler.output.has_results |= dest.is_some();
                Code::JoinThread { handle: self.source(*handle), dest: self.optional_slot(*dest) }
            }
            Instruction::CurrentThread { dest } => Code::CurrentThread { dest: self.slot(*dest) },
            Instruction::AtomicBegin => Code::AtomicBegin,
            Instruction::AtomicEnd => Code::AtomicEnd,
        }
    }
}
