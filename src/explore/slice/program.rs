//! Builds the program that remains when everything irrelevant is removed.
//!
//! **Input**: an [`Index`] and a [`Relevance`]. **Output**: a [`Slice`]: a program whose reads and definitions have the ids of
//! the whole program, and which of them are visible.
//!
//! **Algorithm**: an irrelevant read returns 0, an irrelevant write does nothing, an irrelevant branch takes the second
//! direction; an index is still checked against its range. Irrelevant registers are replaced by 0 wherever they are used.

use super::index::Index;
use super::relevance::{Relevance, may_miss};
use cssame_concurrency::Sharing;
use cssame_ir::arena::Arena;
use cssame_ir::{
    AtomicOperation, BlockId, Definition, DefinitionId, Function, FunctionId, Instruction, NewThread, Operand, Program,
    Read, ReadId, Register, RegisterId, RegisterType, ScalarType, Terminator, Value,
};
use cssame_source::Span;
use cssame_vm::Visibility;
use fixedbitset::FixedBitSet;

/// A program that holds only what matters.
pub(super) struct Slice {
    pub(super) program: Program,
    /// The accesses that are left.
    pub(super) visible: Visibility,
    /// The reads that are left at all their places, visible or not.
    pub(super) kept: FixedBitSet,
    /// Accesses of the whole program of which a step without effect is left.
    pub(super) steps: Visibility,
    /// Whether any access of the whole program is gone.
    pub(super) is_smaller: bool,
}

impl Slice {
    /// `shared` are the accesses that are visible in the whole program; of those in `after_prints` a step stays.
    pub(super) fn new(
        index: &Index<'_>,
        relevance: &Relevance,
        shared: &Sharing,
        after_prints: Option<&FixedBitSet>,
    ) -> Slice {
        let mut visible = Visibility::none(index.program);
        let is_kept = |read: &ReadId| index.read_sites(*read).iter().all(|&site| relevance.keeps(site));
        let kept = index.program.reads.ids().filter(is_kept).map(ReadId::index).collect();
        for number in (0..index.sites.len() as u32).filter(|&number| relevance.keeps(number)) {
            let (read, definition) = accesses(index.instruction(number));
            visible.reads.extend(read.filter(|&read| shared.read(read)).map(ReadId::index));
            visible.definitions.extend(definition.filter(|&one| shared.definition(one)).map(DefinitionId::index));
        }
        let is_smaller = (0..index.sites.len() as u32).filter(|&number| !relevance.keeps(number)).any(|number| {
            let (read, definition) = accesses(index.instruction(number));
            read.is_some_and(|read| shared.read(read)) || definition.is_some_and(|one| shared.definition(one))
        });
        let mut steps = Visibility::none(index.program);
        for number in after_prints.into_iter().flat_map(FixedBitSet::ones).filter(|&one| !relevance.keeps(one as u32)) {
            let (read, definition) = accesses(index.instruction(number as u32));
            steps.reads.extend(read.map(ReadId::index));
            // Of an atomic expression the read stands for the step.
            steps.definitions.extend(definition.filter(|_| read.is_none()).map(DefinitionId::index));
        }
        let mut program = index.program.clone();
        for (id, function) in index.program.functions.entries() {
            let (program, visible) = (&mut program, &mut visible);
            let mut builder = Builder { index, relevance, after_prints, id, function, program, visible, scratch: None };
            let made = builder.function();
            program.functions[id] = made;
        }
        Slice { program, visible, kept, steps, is_smaller }
    }
}

impl Slice {
    /// Whether a read of the whole program is left.
    pub(super) fn holds(&self, read: ReadId) -> bool {
        // Reads that were added have higher numbers.
        self.kept.contains(read.index())
    }
}

/// What an instruction reads and writes.
pub(super) fn accesses(instruction: &Instruction) -> (Option<ReadId>, Option<DefinitionId>) {
    match *instruction {
        Instruction::Load { read, .. } => (Some(read), None),
        Instruction::Store { definition, .. } => (None, Some(definition)),
        Instruction::Atomic { read, definition, .. } => (Some(read), Some(definition)),
        _ => (None, None),
    }
}

/// Makes the function that is left of one.
struct Builder<'b, 'a> {
    index: &'b Index<'a>,
    relevance: &'b Relevance,
    after_prints: Option<&'b FixedBitSet>,
    id: FunctionId,
    function: &'a Function,
    program: &'b mut Program,
    visible: &'b mut Visibility,
    /// The register for what nobody reads.
    scratch: Option<RegisterId>,
}

impl Builder<'_, '_> {
    fn function(&mut self) -> Function {
        let source = self.function;
        let mut made = Function { blocks: Arena::new(), ..source.clone() };
        for (block, content) in source.blocks.entries() {
            let first = self.index.first_instruction(self.id, block);
            let (mut instructions, mut spans) = (Vec::new(), Vec::new());
            for (position, instruction) in content.instructions.iter().enumerate() {
                let before = instructions.len();
                self.instruction(first + position as u32, instruction, &mut made.registers, &mut instructions);
                let span = content.spans.get(position).copied().unwrap_or(source.span);
                spans.extend(std::iter::repeat_n(span, instructions.len() - before));
            }
            made.blocks.push(cssame_ir::Block {
                instructions,
                spans,
                terminator: self.terminator(block),
                terminator_span: content.terminator_span,
                negated: content.negated,
            });
        }
        made
    }

    /// Appends what is left of an instruction.
    fn instruction(
        &mut self,
        number: u32,
        instruction: &Instruction,
        registers: &mut Arena<RegisterId, Register>,
        out: &mut Vec<Instruction>,
    ) {
        if self.relevance.keeps(number) {
            out.push(self.kept(number, instruction));
            return;
        }
        let place = match instruction {
            Instruction::Allocate { .. } => {
                out.push(instruction.clone());
                return;
            }
            Instruction::Load { place, .. } | Instruction::Store { place, .. } | Instruction::Atomic { place, .. } => {
                place
            }
            _ => return,
        };
        let is_step = self.after_prints.is_some_and(|all| all.contains(number as usize));
        if is_step || may_miss(place) {
            let read = self.read_for(instruction);
            self.visible.reads.grow(read.index() + 1);
            self.visible.reads.set(read.index(), is_step);
            let ty = RegisterType::Scalar(ScalarType::Int);
            let nobody = || registers.push(Register { name: None, span: Span::default(), ty, pointee: None });
            let dest = *self.scratch.get_or_insert_with(nobody);
            out.push(Instruction::Load { dest, place: place.clone(), read });
        }
    }

    fn kept(&self, number: u32, instruction: &Instruction) -> Instruction {
        let mut made = instruction.clone();
        match &mut made {
            Instruction::Store { value, .. } if !self.relevance.values(number) => *value = self.nothing(*value),
            Instruction::Atomic { op, .. } if !self.relevance.values(number) => match op {
                AtomicOperation::Swap(value)
                | AtomicOperation::FetchAdd(value, _)
                | AtomicOperation::FetchModify(_, value, _) => *value = self.nothing(*value),
                AtomicOperation::CompareAndSwap { .. } | AtomicOperation::CompareExchange { .. } => {}
            },
            Instruction::Call { arguments, .. } => self.arguments(arguments),
            Instruction::Fork { threads, .. } => {
                threads.iter_mut().for_each(|NewThread { arguments, .. }| self.arguments(arguments));
            }
            Instruction::Spawn { thread, .. } => self.arguments(&mut thread.arguments),
            _ => {}
        }
        made
    }

    fn arguments(&self, arguments: &mut [Operand]) {
        for argument in arguments {
            *argument = self.operand(*argument);
        }
    }

    /// An operand, or 0 for a register that does not matter.
    fn operand(&self, operand: Operand) -> Operand {
        match operand {
            Operand::Register(register) if !self.matters(register) => self.nothing(operand),
            _ => operand,
        }
    }

    fn matters(&self, register: RegisterId) -> bool {
        self.relevance.has_register(self.index.register(self.id, register))
    }

    /// A constant of the type of an operand.
    fn nothing(&self, operand: Operand) -> Operand {
        let Operand::Register(register) = operand else { return operand };
        Operand::Constant(match self.function.registers[register].ty {
            RegisterType::Scalar(ScalarType::Thread) => Value::NoThread,
            RegisterType::Scalar(ty) => Value::from_bits(ty, 0),
            RegisterType::Reference => Value::Int(0),
        })
    }

    /// A read that stands for an access that is taken out, to hold its index to its range or to keep a step.
    fn read_for(&mut self, instruction: &Instruction) -> ReadId {
        let (name, symbol, span) = match accesses(instruction) {
            (Some(read), _) => {
                let Read { name, symbol, span, .. } = self.program.reads[read];
                (name, symbol, span)
            }
            (None, Some(definition)) => {
                let Definition { name, symbol, span, .. } = self.program.definitions[definition];
                (name, symbol, span)
            }
            (None, None) => return ReadId::new(0),
        };
        self.program.reads.push(Read { name, symbol, span, function: self.id })
    }

    fn terminator(&self, block: BlockId) -> Terminator {
        match self.function.blocks[block].terminator {
            Terminator::Branch { condition: Operand::Register(register), else_block, .. }
                if !self.matters(register) =>
            {
                Terminator::Jump(else_block)
            }
            Terminator::Return(Some(value)) => Terminator::Return(Some(self.operand(value))),
            Terminator::End(Some(value)) => Terminator::End(Some(self.operand(value))),
            other => other,
        }
    }
}
