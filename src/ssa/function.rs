//! The SSA form of functions of the PFG.
//!
//! **Input**: a function, and the possible writes of calls and joins ([`Effects`]). **Output**: [`FunctionSsa`]: the version of
//! each register and each memory access of each instruction, and the phi functions of the blocks.
//!
//! **Algorithm**
//! 1. Variables are the registers, and the memory variables of `memory`.
//! 2. A call is a weak definition ("chi", Chow et al. 1996) of the variables that the callee may write. A join is a weak
//!    definition of the variables that its threads may write.
//! 3. [`super::construct`] does the rest.
//!
//! **Soundness and limits**: other threads that run at the same time are ignored. The value at entry of a memory variable is
//! version 0, whichever thread wrote it.

use super::access::{AccessKind, Accesses};
use super::construct::{Origin, Ssa, build_ssa};
use super::dominators::Dominators;
use super::effects::{Effects, joined};
use super::graph::Graph;
use super::memory::{Memory, SsaVariable, access};
use cssame_ir::{
    BlockId, Function, FunctionId, Instruction, Program, RegisterId, SymbolId, Terminator, TextId, VariableId,
};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// The SSA form of a function.
#[derive(Clone, Debug)]
pub struct FunctionSsa {
    /// The function.
    pub id: FunctionId,
    /// Its flow graph: node `i` is block `i`.
    pub graph: Graph,
    /// The dominators of the graph.
    pub dominators: Dominators,
    /// The variables: first the registers by number, then memory.
    pub variables: Vec<SsaVariable>,
    /// The names of the memory variables.
    memory_names: Vec<TextId>,
    /// All accesses. Those of an instruction stand in this order: registers read, by number; memory read; memory written;
    /// what a call, a join or an allocation writes; the register written.
    pub accesses: Accesses,
    /// The versions.
    pub ssa: Ssa,
    /// The first site of each block, and the first access of each site; a terminator is the last site of its block.
    first_sites: Vec<u32>,
    first_accesses: Vec<u32>,
    register_count: u32,
}

impl FunctionSsa {
    /// Which accesses are those of an instruction; the terminator stands behind the last one.
    #[must_use]
    pub fn of_site(&self, block: BlockId, position: usize) -> Range<usize> {
        let site = self.first_sites[block.index()] as usize + position;
        self.first_accesses[site] as usize..self.first_accesses[site + 1] as usize
    }

    /// The access by which an instruction reads a register.
    #[must_use]
    pub fn register_read(&self, block: BlockId, position: usize, register: RegisterId) -> Option<usize> {
        let range = self.of_site(block, position);
        let all = &self.accesses.all()[range.clone()];
        let reads = all.partition_point(|each| self.is_register(each.variable) && each.kind == AccessKind::Use);
        let found = all[..reads].binary_search_by_key(&register.0, |each| each.variable).ok()?;
        Some(range.start + found)
    }

    /// The access by which an instruction writes its register.
    #[must_use]
    pub fn register_write(&self, block: BlockId, position: usize) -> Option<usize> {
        let last = self.of_site(block, position).next_back()?;
        let access = self.accesses.all()[last];
        (self.is_register(access.variable) && access.kind == AccessKind::Definition).then_some(last)
    }

    /// The accesses to memory of an instruction, those of a call or a join included.
    pub fn memory_accesses(&self, block: BlockId, position: usize) -> impl Iterator<Item = usize> + '_ {
        self.of_site(block, position).filter(|&access| !self.is_register(self.accesses.all()[access].variable))
    }

    /// Whether a variable is a register.
    #[must_use]
    pub fn is_register(&self, variable: u32) -> bool {
        variable < self.register_count
    }

    /// The name of a memory variable as its first access has it.
    #[must_use]
    pub fn memory_name(&self, variable: u32) -> Option<TextId> {
        let index = variable.checked_sub(self.register_count)?;
        self.memory_names.get(index as usize).copied()
    }

    /// The access that makes a version, if one does.
    #[must_use]
    pub fn maker(&self, variable: u32, version: u32) -> Option<usize> {
        match self.ssa.origin(variable, version) {
            Origin::Access(access) => Some(access as usize),
            Origin::Entry | Origin::Phi(_) => None,
        }
    }
}

/// The flow graph of a function: node `i` is block `i`.
#[must_use]
pub fn graph_of(function: &Function) -> Graph {
    let mut starts = vec![0_u32];
    let mut successors = Vec::new();
    for block in function.blocks.iter() {
        successors.extend(block.terminator.successors().map(|target| target.0));
        starts.push(successors.len() as u32);
    }
    Graph::from_rows(starts, successors)
}

/// Builds the SSA form of a function.
#[must_use]
pub fn build_function(program: &Program, effects: &Effects, id: FunctionId) -> FunctionSsa {
    let function = &program.functions[id];
    let graph = graph_of(function);
    let dominators = Dominators::new(&graph);
    let memory = Memory::new(program, function);
    let mut collector = Collector {
        program,
        effects,
        joined: joined(function),
        written: WrittenVariables::new(&memory),
        memory: &memory,
        accesses: Accesses::new(),
        first_accesses: Vec::new(),
    };
    let mut first_sites = Vec::with_capacity(function.blocks.len());
    for (block, content) in function.blocks.entries() {
        first_sites.push(collector.first_accesses.len() as u32);
        for (position, instruction) in content.instructions.iter().enumerate() {
            collector.instruction(block, position, instruction);
        }
        collector.terminator(&content.terminator);
    }
    let Collector { accesses, mut first_accesses, .. } = collector;
    first_accesses.push(accesses.all().len() as u32);
    let (memory_variables, memory_names): (Vec<SsaVariable>, Vec<TextId>) = memory.variables.into_iter().unzip();
    let variables: Vec<SsaVariable> =
        function.registers.ids().map(SsaVariable::Register).chain(memory_variables).collect();
    let ssa = build_ssa(&graph, &dominators, variables.len(), &accesses);
    let register_count = function.registers.len() as u32;
    FunctionSsa {
        id,
        graph,
        dominators,
        variables,
        memory_names,
        accesses,
        ssa,
        first_sites,
        first_accesses,
        register_count,
    }
}

/// The memory variables of each symbol.
struct WrittenVariables {
    /// Symbols and variables, sorted.
    pairs: Vec<(SymbolId, u32)>,
}

impl WrittenVariables {
    fn new(memory: &Memory) -> WrittenVariables {
        let mut pairs: Vec<(SymbolId, u32)> = memory.numbered().map(|(variable, symbol)| (symbol, variable)).collect();
        pairs.sort_unstable();
        WrittenVariables { pairs }
    }

    /// Adds the variables of those symbols, which are sorted; looks through the shorter list.
    fn add(&self, symbols: &[SymbolId], variables: &mut Vec<u32>) {
        if symbols.len() > self.pairs.len() {
            let written = self.pairs.iter().filter(|(symbol, _)| symbols.binary_search(symbol).is_ok());
            variables.extend(written.map(|&(_, variable)| variable));
            return;
        }
        for &symbol in symbols {
            let from = self.pairs.partition_point(|&(other, _)| other < symbol);
            let same = self.pairs[from..].iter().take_while(|&&(other, _)| other == symbol);
            variables.extend(same.map(|&(_, variable)| variable));
        }
    }
}

/// Collects the accesses of a function, site by site.
struct Collector<'a> {
    program: &'a Program,
    effects: &'a Effects,
    joined: FxHashMap<(BlockId, usize), Vec<FunctionId>>,
    written: WrittenVariables,
    memory: &'a Memory,
    accesses: Accesses,
    first_accesses: Vec<u32>,
}

impl Collector<'_> {
    fn begin_site(&mut self, mut registers: Vec<RegisterId>) {
        self.first_accesses.push(self.accesses.all().len() as u32);
        registers.sort_unstable();
        registers.dedup();
        for register in registers {
            self.accesses.push(register.0, AccessKind::Use);
        }
    }

    fn instruction(&mut self, block: BlockId, position: usize, instruction: &Instruction) {
        let mut registers = Vec::new();
        instruction.uses(&mut |register| registers.push(register));
        self.begin_site(registers);
        self.memory_access(instruction);
        match instruction {
            Instruction::Allocate { dest, variable, .. } => self.allocate(*dest, *variable),
            Instruction::Call { function, .. } => self.effect(&[*function]),
            Instruction::Join => {
                let functions = self.joined.remove(&(block, position)).unwrap_or_default();
                self.effect(&functions);
            }
            Instruction::JoinThread { .. } => self.effect_of_spawned(),
            _ => {}
        }
        if let Some(dest) = instruction.dest() {
            self.accesses.push(dest.0, AccessKind::Definition);
        }
    }

    /// The cells of a local variable begin anew.
    fn allocate(&mut self, dest: RegisterId, variable: VariableId) {
        for &cell in self.memory.cells_of(dest) {
            self.accesses.push(cell, AccessKind::Definition);
        }
        let symbols = self.program.variables[variable].leaves().map(|leaf| self.program.leaves[leaf].symbol);
        let mut whole: Vec<(u32, bool)> = symbols.filter_map(|symbol| self.memory.whole(symbol, dest)).collect();
        whole.sort_unstable();
        whole.dedup();
        for (variable, alone) in whole {
            self.accesses.push(variable, if alone { AccessKind::Definition } else { AccessKind::WeakDefinition });
        }
    }

    fn memory_access(&mut self, instruction: &Instruction) {
        let Some((place, symbol, _)) = access(self.program, instruction) else { return };
        let Some((variable, replaces)) = self.memory.variable(place, symbol) else { return };
        let (reads, writes, certain) = match instruction {
            Instruction::Load { .. } => (true, false, true),
            // A compare-and-swap may leave the old value.
            Instruction::Atomic { op, .. } => (true, true, !op.may_fail()),
            _ => (false, true, true),
        };
        if reads {
            self.accesses.push(variable, AccessKind::Use);
        }
        if writes {
            let kind = if replaces && certain { AccessKind::Definition } else { AccessKind::WeakDefinition };
            self.accesses.push(variable, kind);
        }
    }

    /// What functions that run to their end here may write.
    fn effect(&mut self, functions: &[FunctionId]) {
        let mut variables = Vec::new();
        for &function in functions {
            self.written.add(self.effects.of_function(function), &mut variables);
        }
        self.weaken(&mut variables);
    }

    /// What any spawned thread that ends before here may write.
    fn effect_of_spawned(&mut self) {
        let mut variables = Vec::new();
        self.written.add(self.effects.of_spawned(), &mut variables);
        self.weaken(&mut variables);
    }

    fn weaken(&mut self, variables: &mut Vec<u32>) {
        variables.sort_unstable();
        variables.dedup();
        for &variable in &*variables {
            self.accesses.push(variable, AccessKind::WeakDefinition);
        }
    }

    fn terminator(&mut self, terminator: &Terminator) {
        self.begin_site(terminator.register().into_iter().collect());
        self.accesses.end_block();
    }
}
