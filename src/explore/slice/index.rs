//! A program with numbers for all its parts, and the instructions that access each part.
//!
//! **Input**: a program and the facts about its memory. **Output**: an [`Index`]: consecutive numbers for instructions, blocks
//! and registers; for each register its writers, for each function its call sites, for each class of cells its writers.

use super::classes::Classes;
use cssame_concurrency::Concurrency;
use cssame_ir::{BlockId, Function, FunctionId, Instruction, Operand, Program, ReadId, RegisterId};
use cssame_ssa::Control;

/// Where an instruction stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site {
    pub(super) function: FunctionId,
    pub(super) block: BlockId,
    pub(super) instruction: u32,
}

/// A place that calls a function, or makes a thread of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallSite {
    pub(super) instruction: u32,
    /// Which of the threads of a fork.
    pub(super) arm: u32,
}

/// A program with numbers.
pub(super) struct Index<'a> {
    pub(super) program: &'a Program,
    pub(super) classes: Classes,
    pub(super) control: Vec<Control>,
    pub(super) sites: Vec<Site>,
    /// By function: the numbers of its first block and its first register.
    first_block: Vec<u32>,
    first_register: Vec<u32>,
    /// By block: the number of its first instruction.
    first_instruction: Vec<u32>,
    /// By register.
    writers: Vec<Vec<u32>>,
    /// By function.
    calls: Vec<Vec<CallSite>>,
    /// By class of cells.
    class_writers: Vec<Vec<u32>>,
    /// By read.
    read_sites: Vec<Vec<u32>>,
    pub(super) registers: usize,
}

impl<'a> Index<'a> {
    pub(super) fn new(program: &'a Program, concurrency: &Concurrency) -> Index<'a> {
        let classes = Classes::new(program, concurrency);
        let mut index = Index {
            program,
            control: program.functions.iter().map(Control::new).collect(),
            sites: Vec::new(),
            first_block: Vec::new(),
            first_register: Vec::new(),
            first_instruction: Vec::new(),
            writers: Vec::new(),
            calls: vec![Vec::new(); program.functions.len()],
            class_writers: vec![Vec::new(); classes.count()],
            read_sites: vec![Vec::new(); program.reads.len()],
            registers: 0,
            classes,
        };
        for (id, function) in program.functions.entries() {
            index.add_function(id, function);
        }
        index.registers = index.writers.len();
        index
    }

    fn add_function(&mut self, id: FunctionId, function: &Function) {
        self.first_block.push(self.first_instruction.len() as u32);
        self.first_register.push(self.writers.len() as u32);
        self.writers.resize(self.writers.len() + function.registers.len(), Vec::new());
        for (block, content) in function.blocks.entries() {
            self.first_instruction.push(self.sites.len() as u32);
            for (position, instruction) in content.instructions.iter().enumerate() {
                let number = self.sites.len() as u32;
                self.sites.push(Site { function: id, block, instruction: position as u32 });
                self.add_instruction(number, id, instruction);
            }
        }
    }

    fn add_instruction(&mut self, number: u32, function: FunctionId, instruction: &Instruction) {
        if let Some(dest) = instruction.dest() {
            let register = self.register(function, dest);
            self.writers[register as usize].push(number);
        }
        match instruction {
            Instruction::Load { read, .. } => self.read_sites[read.index()].push(number),
            Instruction::Store { definition, .. } => self.add_writer(number, *definition),
            Instruction::Atomic { read, definition, .. } => {
                self.read_sites[read.index()].push(number);
                self.add_writer(number, *definition);
            }
            Instruction::Call { function, .. } => {
                self.calls[function.index()].push(CallSite { instruction: number, arm: 0 });
            }
            Instruction::Fork { .. } | Instruction::Spawn { .. } => {
                for (arm, thread) in instruction.new_threads().iter().enumerate() {
                    let site = CallSite { instruction: number, arm: arm as u32 };
                    thread.functions().for_each(|function| self.calls[function.index()].push(site));
                }
            }
            _ => {}
        }
    }

    fn add_writer(&mut self, number: u32, definition: cssame_ir::DefinitionId) {
        for &class in self.classes.of_definition(definition) {
            self.class_writers[class as usize].push(number);
        }
    }

    pub(super) fn instruction(&self, number: u32) -> &'a Instruction {
        let Site { function, block, instruction } = self.sites[number as usize];
        &self.program.functions[function].blocks[block].instructions[instruction as usize]
    }

    pub(super) fn block(&self, function: FunctionId, block: BlockId) -> u32 {
        self.first_block[function.index()] + block.0
    }

    pub(super) fn block_of(&self, instruction: u32) -> u32 {
        let Site { function, block, .. } = self.sites[instruction as usize];
        self.block(function, block)
    }

    /// The function of a block, and its number in it.
    pub(super) fn place_of(&self, block: u32) -> (FunctionId, BlockId) {
        let function = self.first_block.partition_point(|&first| first <= block) - 1;
        (FunctionId::new(function), BlockId(block - self.first_block[function]))
    }

    pub(super) fn blocks(&self) -> usize {
        self.first_instruction.len()
    }

    /// The number of the first instruction of a block.
    pub(super) fn first_instruction(&self, function: FunctionId, block: BlockId) -> u32 {
        self.first_instruction[self.block(function, block) as usize]
    }

    pub(super) fn register(&self, function: FunctionId, register: RegisterId) -> u32 {
        self.first_register[function.index()] + register.0
    }

    /// The function of a register, and its number in it.
    pub(super) fn owner_of(&self, register: u32) -> (FunctionId, RegisterId) {
        let function = self.first_register.partition_point(|&first| first <= register) - 1;
        (FunctionId::new(function), RegisterId(register - self.first_register[function]))
    }

    /// The instructions that write a register.
    pub(super) fn writers(&self, register: u32) -> &[u32] {
        &self.writers[register as usize]
    }

    /// The places that call a function, or make a thread of it.
    pub(super) fn calls(&self, function: FunctionId) -> &[CallSite] {
        &self.calls[function.index()]
    }

    /// The instructions that write a class of cells.
    pub(super) fn class_writers(&self, class: u32) -> &[u32] {
        &self.class_writers[class as usize]
    }

    /// The instructions of a read.
    pub(super) fn read_sites(&self, read: ReadId) -> &[u32] {
        &self.read_sites[read.index()]
    }

    /// The argument that a place hands to a parameter.
    pub(super) fn argument(&self, site: CallSite, parameter: usize) -> Option<Operand> {
        let instruction = self.instruction(site.instruction);
        let arguments = match instruction {
            Instruction::Call { arguments, .. } => arguments,
            _ => &instruction.new_threads().get(site.arm as usize)?.arguments,
        };
        arguments.get(parameter).copied()
    }
}
