//! Determines which instructions a slice has to keep.
//!
//! **Input**: an [`Index`], and the reads whose sources are requested. **Output**: a [`Relevance`]: the instructions that are
//! *kept*, since their execution matters, and those that are *valued*, since their results matter as well.
//!
//! **Algorithm**: a program slice (Weiser, "Program Slicing", 1984; of threads, with interference through memory:
//! Krinke, "Static Slicing of Threaded Programs", 1998), as a worklist over dependences.
//! 1. Begin with the instructions that always matter: synchronisation, threads, choices, assumptions, possible failures, every
//!    loop and its conditions, every recursive call. Add the requested instructions, including prints.
//! 2. A kept instruction needs the branches on which it depends, and the calls of its function.
//! 3. A valued instruction needs the values of its operands. A read requires that the writes of its cells are kept; if the read
//!    is valued, the writes must be valued.
//!
//! **Soundness and limits**: the write that a read sees does not depend on the written values. So if only the source of a read of
//! a cell is requested, the writes of the cell are kept but not valued. By step 1, a thread of the slice blocks, fails and ends
//! where the thread of the program does. The slice is not the smallest one: [`classes`](super::classes) distinguish cells, not
//! values.

use super::calls::Calls;
use super::index::Index;
use cssame_ir::{Base, FunctionId, Instruction, Operand, Place, ReadId, RegisterId, Terminator, Value};
use fixedbitset::FixedBitSet;

/// The instructions, and parts of the program, that a slice has to keep. All sets are indexed by the numbers of the [`Index`].
#[derive(Clone, Debug, Default)]
pub(super) struct Relevance {
    kept: FixedBitSet,
    valued: FixedBitSet,
    registers: FixedBitSet,
    blocks: FixedBitSet,
    functions: FixedBitSet,
    results: FixedBitSet,
    written: FixedBitSet,
    read: FixedBitSet,
}

impl Relevance {
    pub(super) fn keeps(&self, instruction: u32) -> bool {
        self.kept.contains(instruction as usize)
    }

    pub(super) fn values(&self, instruction: u32) -> bool {
        self.valued.contains(instruction as usize)
    }

    pub(super) fn has_register(&self, register: u32) -> bool {
        self.registers.contains(register as usize)
    }
}

/// What is still to be followed.
#[derive(Clone, Copy, Debug)]
enum Item {
    Kept(u32),
    Valued(u32),
    Register(u32),
    Block(u32),
    Function(FunctionId),
    /// The result of a function.
    Result(FunctionId),
    /// A class of cells whose writes matter.
    Written(u32),
    /// A class of cells whose values matter.
    Read(u32),
}

/// The slice that preserves which threads there are, where they block, and whether they fail or end.
pub(super) fn always(index: &Index<'_>, calls: &Calls) -> Relevance {
    let count = index.sites.len();
    let functions = index.program.functions.len();
    let found = Relevance {
        kept: FixedBitSet::with_capacity(count),
        valued: FixedBitSet::with_capacity(count),
        registers: FixedBitSet::with_capacity(index.registers),
        blocks: FixedBitSet::with_capacity(index.blocks()),
        functions: FixedBitSet::with_capacity(functions),
        results: FixedBitSet::with_capacity(functions),
        written: FixedBitSet::with_capacity(index.classes.count()),
        read: FixedBitSet::with_capacity(index.classes.count()),
    };
    let mut closure = Closure { index, found, work: Vec::new() };
    for number in 0..count as u32 {
        closure.begin_with(number, &calls.recursive);
    }
    for (function, content) in index.program.functions.entries() {
        for block in index.control[function.index()].cyclic.ones() {
            let block = cssame_ir::BlockId::new(block);
            // A loop without a condition keeps its thread, so it matters whether it is come to.
            closure.block(index.block(function, block));
            if let Terminator::Branch { condition, .. } = content.blocks[block].terminator {
                closure.operand(function, condition);
            }
        }
    }
    closure.close()
}

/// The slice that also preserves which writes these reads see.
pub(super) fn with_reads(index: &Index<'_>, base: &Relevance, reads: &[ReadId]) -> Relevance {
    let mut closure = Closure { index, found: base.clone(), work: Vec::new() };
    for &read in reads {
        for &site in index.read_sites(read) {
            closure.keep(site);
        }
        for &class in index.classes.of_read(read) {
            closure.written(class);
        }
    }
    closure.close()
}

/// The slice that also preserves whether these instructions are reached.
pub(super) fn with_places(index: &Index<'_>, base: &Relevance, places: &FixedBitSet) -> Relevance {
    let mut closure = Closure { index, found: base.clone(), work: Vec::new() };
    for place in places.ones() {
        closure.block(index.block_of(place as u32));
    }
    closure.close()
}

/// The slice that also preserves what is printed.
pub(super) fn with_prints(index: &Index<'_>, base: &Relevance) -> Relevance {
    let mut closure = Closure { index, found: base.clone(), work: Vec::new() };
    for number in 0..index.sites.len() as u32 {
        if matches!(index.instruction(number), Instruction::Print { .. }) {
            closure.keep(number);
        }
    }
    closure.close()
}

/// Whether an instruction may make the program fail.
pub(super) fn may_fail(instruction: &Instruction) -> bool {
    match instruction {
        Instruction::Assert { .. }
        | Instruction::Error { .. }
        | Instruction::JoinThread { .. }
        | Instruction::Free { .. } => true,
        Instruction::Synchronise(operation) => operation.kind.needs_held_lock() || operation.places().any(may_miss),
        Instruction::Binary { op, right, .. } => op.may_fail(*right),
        Instruction::Load { place, .. }
        | Instruction::Store { place, .. }
        | Instruction::Atomic { place, .. }
        | Instruction::Address { place, .. } => may_miss(place),
        _ => false,
    }
}

struct Closure<'i, 'a> {
    index: &'i Index<'a>,
    found: Relevance,
    work: Vec<Item>,
}

impl Closure<'_, '_> {
    fn begin_with(&mut self, number: u32, recursive: &FixedBitSet) {
        let function = self.index.sites[number as usize].function;
        match self.index.instruction(number) {
            Instruction::Assert { .. }
            | Instruction::Error { .. }
            | Instruction::Assume { .. }
            | Instruction::Choose { .. }
            | Instruction::Synchronise(_)
            | Instruction::Fork { .. }
            | Instruction::Spawn { .. }
            | Instruction::Join
            | Instruction::JoinThread { .. }
            | Instruction::Free { .. }
            | Instruction::AtomicBegin
            | Instruction::AtomicEnd => self.keep(number),
            Instruction::Binary { op, right, .. } if op.may_fail(*right) => self.value(number),
            Instruction::Address { place, .. } if may_miss(place) => self.value(number),
            Instruction::Call { .. } if recursive.contains(function.index()) => self.keep(number),
            // How many cells there are decides what fails.
            Instruction::Allocate { elements: Some(elements), .. } => {
                self.block(self.index.block_of(number));
                self.operand(function, Operand::Register(*elements));
            }
            Instruction::Load { place, .. } | Instruction::Store { place, .. } | Instruction::Atomic { place, .. }
                if may_miss(place) =>
            {
                self.block(self.index.block_of(number));
                self.place(function, place);
            }
            _ => {}
        }
    }

    fn close(mut self) -> Relevance {
        while let Some(item) = self.work.pop() {
            match item {
                Item::Kept(number) => self.follow_kept(number),
                Item::Valued(number) => self.follow_valued(number),
                Item::Register(register) => self.follow_register(register),
                Item::Block(block) => self.follow_block(block),
                Item::Function(function) => {
                    for site in self.index.calls(function) {
                        self.keep(site.instruction);
                    }
                }
                Item::Result(function) => self.follow_result(function),
                Item::Written(class) => {
                    for &writer in self.index.class_writers(class) {
                        self.keep(writer);
                    }
                }
                Item::Read(class) => {
                    for &writer in self.index.class_writers(class) {
                        self.value(writer);
                    }
                }
            }
        }
        self.found
    }

    fn follow_kept(&mut self, number: u32) {
        let function = self.index.sites[number as usize].function;
        self.block(self.index.block_of(number));
        match self.index.instruction(number) {
            Instruction::Load { place, .. } | Instruction::Store { place, .. } => self.place(function, place),
            // Whether it writes depends on what it reads.
            Instruction::Atomic { op, .. } if op.may_fail() => self.value(number),
            Instruction::Atomic { place, .. } => self.place(function, place),
            // Arguments matter where the parameter does.
            Instruction::Call { .. } => {}
            instruction @ (Instruction::Fork { .. } | Instruction::Spawn { .. }) => {
                for ordinal in instruction.new_threads().iter().filter_map(|thread| thread.ordinal) {
                    self.operand(function, ordinal);
                }
            }
            instruction => self.uses(function, instruction),
        }
    }

    fn follow_valued(&mut self, number: u32) {
        let index = self.index;
        let function = index.sites[number as usize].function;
        match index.instruction(number) {
            Instruction::Load { read, .. } => {
                for &class in index.classes.of_read(*read) {
                    self.read(class);
                }
            }
            Instruction::Store { value, .. } => self.operand(function, *value),
            instruction @ Instruction::Atomic { read, .. } => {
                self.uses(function, instruction);
                for &class in index.classes.of_read(*read) {
                    self.read(class);
                }
            }
            Instruction::Call { function: callee, .. } => {
                if !self.found.results.put(callee.index()) {
                    self.work.push(Item::Result(*callee));
                }
            }
            Instruction::Fork { .. } | Instruction::Spawn { .. } => {}
            instruction => self.uses(function, instruction),
        }
    }

    fn follow_register(&mut self, register: u32) {
        let index = self.index;
        for &writer in index.writers(register) {
            self.value(writer);
        }
        let (function, own) = index.owner_of(register);
        let parameters = &index.program.functions[function].parameters;
        let Some(position) = parameters.iter().position(|&parameter| parameter == own) else { return };
        for &site in index.calls(function) {
            self.keep(site.instruction);
            if let Some(argument) = index.argument(site, position) {
                self.operand(index.sites[site.instruction as usize].function, argument);
            }
        }
    }

    fn follow_block(&mut self, block: u32) {
        let index = self.index;
        let (function, own) = index.place_of(block);
        if !self.found.functions.put(function.index()) {
            self.work.push(Item::Function(function));
        }
        for &branch in &index.control[function.index()].branches[own.index()] {
            let branch = cssame_ir::BlockId(branch);
            self.block(index.block(function, branch));
            if let Terminator::Branch { condition, .. } = index.program.functions[function].blocks[branch].terminator {
                self.operand(function, condition);
            }
        }
    }

    fn follow_result(&mut self, function: FunctionId) {
        for (block, content) in self.index.program.functions[function].blocks.entries() {
            if let Terminator::Return(value) = content.terminator {
                self.block(self.index.block(function, block));
                if let Some(value) = value {
                    self.operand(function, value);
                }
            }
        }
    }

    fn keep(&mut self, number: u32) {
        if !self.found.kept.put(number as usize) {
            self.work.push(Item::Kept(number));
        }
    }

    fn value(&mut self, number: u32) {
        self.keep(number);
        if !self.found.valued.put(number as usize) {
            self.work.push(Item::Valued(number));
        }
    }

    fn block(&mut self, block: u32) {
        if !self.found.blocks.put(block as usize) {
            self.work.push(Item::Block(block));
        }
    }

    fn written(&mut self, class: u32) {
        if !self.found.written.put(class as usize) {
            self.work.push(Item::Written(class));
        }
    }

    fn read(&mut self, class: u32) {
        if !self.found.read.put(class as usize) {
            self.work.push(Item::Read(class));
        }
    }

    fn register(&mut self, function: FunctionId, register: RegisterId) {
        let register = self.index.register(function, register);
        if !self.found.registers.put(register as usize) {
            self.work.push(Item::Register(register));
        }
    }

    fn operand(&mut self, function: FunctionId, operand: Operand) {
        if let Operand::Register(register) = operand {
            self.register(function, register);
        }
    }

    fn place(&mut self, function: FunctionId, place: &Place) {
        place.uses(&mut |register| self.register(function, register));
    }

    fn uses(&mut self, function: FunctionId, instruction: &Instruction) {
        instruction.uses(&mut |register| self.register(function, register));
    }
}

/// Whether an index may be out of range.
pub(super) fn may_miss(place: &Place) -> bool {
    let constant = |operand: Operand| match operand {
        Operand::Constant(Value::Int(value)) => Some(i64::from(value)),
        Operand::Constant(Value::Long(value)) => Some(value),
        _ => None,
    };
    matches!(place.base, Base::Pointer(_))
        || place.indices.iter().any(|index| {
            let known = constant(index.operand).zip(constant(index.length));
            known.is_none_or(|(at, length)| !(0..length).contains(&at))
        })
}
