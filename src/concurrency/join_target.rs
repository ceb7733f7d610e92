//! Join targets: which spawn a join of a thread handle waits for.
//!
//! **Input**: the joins of the graph under construction. **Output**: for the fork block of each spawn, the blocks that begin
//! with a join of its handle, and of no other.
//!
//! **Algorithm**: follow the handle of a join back through copies, private variables and globals that one store sets, until
//! the spawn that made it; an element of an array is followed where all stores to the array have constant indices. Registers and stores are indexed once, and the origin of each register is remembered: programs may
//! have thousands of handles.
//!
//! **Soundness and limits**: a join is matched only where the handle can hold that thread alone (or none). Handles in
//! parameters, in elements whose index is computed, and in objects and arrays that some store reaches by reference are not
//! followed: their joins wait for an unknown thread.

use super::ContextId;
use super::builder::GraphBuilder;
use crate::ir::{
    Base, BlockId, Function, FunctionId, Instruction, Leaf, Operand, Place, Program, RegisterId, RegisterType,
    ScalarType, VariableId,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// A spawn: context, block, position.
type Site = (ContextId, BlockId, u32);

/// No chain of copies is followed further.
const MAX_CHAIN: u32 = 16;

/// The blocks that begin with a join of the handle that the spawn at the end of a block made, by that block.
pub(super) fn joins_of_spawns(builder: &GraphBuilder<'_>) -> FxHashMap<u32, FxHashSet<u32>> {
    let mut handles = Handles::new(builder);
    let mut joins: FxHashMap<u32, FxHashSet<u32>> = FxHashMap::default();
    for join in &builder.joins {
        let function = &builder.program.functions[builder.unfolding.contexts[join.context].function];
        let Instruction::JoinThread { handle: Operand::Register(register) } =
            function.blocks[join.at.0].instructions[join.at.1 as usize]
        else {
            continue;
        };
        let origin = handles.origin(join.context, register, MAX_CHAIN);
        if let Some(&fork) = origin.and_then(|site| builder.fork_blocks.get(&site)) {
            joins.entry(fork).or_default().insert(join.block);
        }
    }
    joins
}

/// The values that a function gives to a register.
type Sources = FxHashMap<RegisterId, Vec<Operand>>;

/// Follows handles back.
struct Handles<'a> {
    builder: &'a GraphBuilder<'a>,
    /// By function, where somebody has asked.
    sources: FxHashMap<FunctionId, Sources>,
    stores: Option<Stores>,
    /// Registers that certainly hold the handle of one spawn.
    known: FxHashMap<(ContextId, RegisterId), Site>,
}

impl<'a> Handles<'a> {
    fn new(builder: &'a GraphBuilder<'a>) -> Handles<'a> {
        Handles { builder, sources: FxHashMap::default(), stores: None, known: FxHashMap::default() }
    }

    /// The spawn whose handle a register certainly holds (or none).
    fn origin(&mut self, context: ContextId, register: RegisterId, fuel: u32) -> Option<Site> {
        let rest = fuel.checked_sub(1)?;
        if let Some(&site) = self.known.get(&(context, register)) {
            return Some(site);
        }
        let function_id = self.builder.unfolding.contexts[context].function;
        let function = &self.builder.program.functions[function_id];
        let writers = &self.builder.unfolding.writers[function_id.index()];
        let site = match writers.place(register) {
            None => self.variable(context, register, rest),
            Some((block, position)) => match &function.blocks[block].instructions[position as usize] {
                Instruction::Spawn { .. } => Some((context, block, position)),
                Instruction::Copy { source: Operand::Register(source), .. } => self.origin(context, *source, rest),
                Instruction::Load { place, .. } => match (place.base, constant_cell(place)) {
                    (Base::Global(variable), Some(cell)) => self.global(variable, cell, rest),
                    _ => None,
                },
                _ => None,
            },
        }?;
        self.known.insert((context, register), site);
        Some(site)
    }

    /// A private handle that is declared empty and then set by one spawn.
    fn variable(&mut self, context: ContextId, register: RegisterId, fuel: u32) -> Option<Site> {
        let function = self.builder.unfolding.contexts[context].function;
        let sources = self.sources.entry(function).or_insert_with(|| sources(self.builder, function));
        let sources = sources.get(&register)?.clone();
        let mut found = None;
        for source in sources {
            let Operand::Register(source) = source else { continue };
            let site = if source == register { None } else { self.origin(context, source, fuel) }?;
            if *found.get_or_insert(site) != site {
                return None;
            }
        }
        found
    }

    /// A global handle that one store in the whole program sets.
    fn global(&mut self, variable: VariableId, offset: u32, fuel: u32) -> Option<Site> {
        let stores = self.stores.get_or_insert_with(|| stores(self.builder));
        if stores.unknown.contains(&variable) {
            return None;
        }
        match stores.of_cell.get(&(variable, offset)).copied().flatten()? {
            (context, Operand::Register(source)) => self.origin(context, source, fuel),
            (_, Operand::Constant(_)) => None,
        }
    }
}

/// What the instructions of a function give to its registers. What is no copy stands for itself.
fn sources(builder: &GraphBuilder<'_>, function: FunctionId) -> Sources {
    let mut sources = Sources::default();
    for instruction in builder.program.functions[function].blocks.iter().flat_map(|block| &block.instructions) {
        match instruction {
            Instruction::Copy { dest, source } => sources.entry(*dest).or_default().push(*source),
            other => {
                if let Some(dest) = other.dest() {
                    sources.entry(dest).or_default().push(Operand::Register(dest));
                }
            }
        }
    }
    sources
}

/// The stores of handles to global variables, in all contexts.
struct Stores {
    /// Of each cell the store, if there is only one.
    of_cell: FxHashMap<(VariableId, u32), Option<(ContextId, Operand)>>,
    /// Arrays of which some store sets an element that is not known.
    unknown: FxHashSet<VariableId>,
}

fn stores(builder: &GraphBuilder<'_>) -> Stores {
    let mut stores = Stores { of_cell: FxHashMap::default(), unknown: FxHashSet::default() };
    let mut by_reference = false;
    for (context, of) in builder.unfolding.contexts.entries() {
        let function = &builder.program.functions[of.function];
        for instruction in function.blocks.iter().flat_map(|block| &block.instructions) {
            let Instruction::Store { place, value, .. } = instruction else { continue };
            match (place.base, constant_cell(place)) {
                (Base::Global(variable), Some(cell)) => {
                    let store = Some((context, *value));
                    stores.of_cell.entry((variable, cell)).and_modify(|only| *only = None).or_insert(store);
                }
                (Base::Global(variable), None) => {
                    stores.unknown.insert(variable);
                }
                // Objects and arrays are passed by reference, a single handle is passed by value.
                (Base::Reference(_), _) => by_reference |= is_handle(function, *value),
            }
        }
    }
    if by_reference {
        stores.unknown.extend(passed_by_reference(builder.program));
    }
    stores
}

/// The cell of its base that a place means, where all its indices are constants in their arrays.
fn constant_cell(place: &Place) -> Option<u32> {
    let mut cell = place.offset;
    for index in &place.indices {
        let (Operand::Constant(at), Operand::Constant(length)) = (index.operand, index.length) else { return None };
        let at = Some(at.bits()).filter(|at| (0..length.bits()).contains(at))?;
        cell = cell.checked_add(u32::try_from(at).ok()?.checked_mul(index.stride)?)?;
    }
    Some(cell)
}

fn is_handle(function: &Function, value: Operand) -> bool {
    match value {
        Operand::Register(register) => function.registers[register].ty == RegisterType::Scalar(ScalarType::Thread),
        Operand::Constant(value) => value.ty() == ScalarType::Thread,
    }
}

/// The variables that are objects or arrays.
fn passed_by_reference(program: &Program) -> impl Iterator<Item = VariableId> + '_ {
    let is_part = |leaf: &&Leaf| leaf.is_array() || program.symbols[leaf.symbol].class.is_some();
    program.leaves.iter().filter(is_part).map(|leaf| leaf.variable)
}
