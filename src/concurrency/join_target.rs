//! Join targets: which spawn a join of a thread handle waits for.
//!
//! **Input**: the joins of the graph under construction. **Output**: for the fork block of each spawn, the blocks that begin
//! with a join of its handle, and of no other.
//!
//! **Algorithm**: follow the handle of a join back through copies, private variables and globals that one store sets, until
//! the spawn that made it. Registers and stores are indexed once, and the origin of each register is remembered: programs may
//! have thousands of handles.
//!
//! **Soundness and limits**: a join is matched only where the handle can hold that thread alone (or none). Handles in
//! parameters, fields and arrays are not followed: their joins wait for an unknown thread.

use super::ContextId;
use super::builder::GraphBuilder;
use crate::ir::{Base, BlockId, FunctionId, Instruction, Operand, RegisterId, VariableId};
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
    /// By cell of a global: the only store; nothing where there are several.
    stores: Option<FxHashMap<(VariableId, u32), Option<(ContextId, Operand)>>>,
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
                Instruction::Load { place, .. } if place.indices.is_empty() => match place.base {
                    Base::Global(variable) => self.global(variable, place.offset, rest),
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
        match stores.get(&(variable, offset)).copied().flatten()? {
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

/// The stores to global cells whose place is known, in all contexts.
fn stores(builder: &GraphBuilder<'_>) -> FxHashMap<(VariableId, u32), Option<(ContextId, Operand)>> {
    let mut stores = FxHashMap::default();
    for (context, of) in builder.unfolding.contexts.entries() {
        for instruction in builder.program.functions[of.function].blocks.iter().flat_map(|block| &block.instructions) {
            if let Instruction::Store { place, value, .. } = instruction
                && let Base::Global(variable) = place.base
            {
                let store = Some((context, *value));
                stores.entry((variable, place.offset)).and_modify(|only| *only = None).or_insert(store);
            }
        }
    }
    stores
}
