//! Join targets: determines for which spawn a join of a thread handle waits.
//!
//! **Input**: the joins of the graph under construction. **Output**: for the fork block of each spawn, the blocks that begin with
//! a join of its handle, and of no other handle ([`Joins`]).
//!
//! **Algorithm**: follow the handle of a join back through copies, private variables and memory cells that a single store sets,
//! to the spawn that created it. A cell is an element of an array if the index is known in the iteration of the surrounding
//! loops. Registers and stores are indexed once, and the origin of each register is cached: programs may have thousands of
//! handles.
//!
//! **Soundness and limits**: a join is matched only if the handle can contain only that thread; a join of an empty handle fails.
//! A variable that several threads may set at the same time, each for itself, gives no information: such joins are
//! [`Joins::shared`], and count only if a single thread makes the spawn. Handles in parameters and in elements with an unknown
//! index are not followed: their joins wait for an unknown thread.

use super::builder::GraphBuilder;
use super::context::Site;
use super::unrolling::NO_ITERATION;
use super::value::{Address, Evaluator};
use super::{ContextId, InstanceId, IterationId};
use cssame_ir::{BlockId, Function, FunctionId, Instruction, Operand, RegisterId, RegisterType, ScalarType};
use rustc_hash::{FxHashMap, FxHashSet};

/// No chain of copies is followed further.
const MAX_CHAIN: u32 = 16;

/// The blocks that begin with a join of a spawned thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Joins {
    /// Its handle is in a variable of the activation that joins.
    pub own: FxHashSet<u32>,
    /// Its handle is in memory that other activations reach.
    pub shared: FxHashSet<u32>,
}

/// The blocks that begin with a join of the handle that the spawn at the end of a block made, by that block.
pub(super) fn joins_of_spawns(builder: &mut GraphBuilder<'_>) -> FxHashMap<u32, Joins> {
    let mut joins: FxHashMap<u32, Joins> = FxHashMap::default();
    for context in builder.joins.iter().map(|join| join.at.context).collect::<FxHashSet<ContextId>>() {
        // From now on they are at hand.
        builder.unfolding.loops(builder.program, builder.unfolding.contexts[context].function);
    }
    let mut handles = Handles::new(builder);
    for join in &builder.joins {
        let function = &builder.program.functions[builder.unfolding.contexts[join.at.context].function];
        let Instruction::JoinThread { handle: Operand::Register(register), .. } =
            function.blocks[join.at.block].instructions[join.at.position as usize]
        else {
            continue;
        };
        let Some(Origin { spawn, shared }) = handles.origin(join.at, register, MAX_CHAIN) else { continue };
        if let Some(&fork) = builder.fork_blocks.get(&spawn) {
            let of_fork = joins.entry(fork).or_default();
            let list = if shared { &mut of_fork.shared } else { &mut of_fork.own };
            list.insert(join.block);
        }
    }
    joins
}

/// The spawn that made a handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Origin {
    spawn: Site,
    /// Whether the handle came through memory that other activations reach.
    shared: bool,
}

/// The values that a function gives to a register, and where.
type Sources = FxHashMap<RegisterId, Vec<(BlockId, u32, Operand)>>;

/// Follows handles back.
struct Handles<'a> {
    builder: &'a GraphBuilder<'a>,
    /// By function, where somebody has asked.
    sources: FxHashMap<FunctionId, Sources>,
    stores: Option<Stores>,
    /// Registers that certainly hold the handle of one spawn.
    known: FxHashMap<(ContextId, IterationId, RegisterId), Origin>,
}

impl<'a> Handles<'a> {
    fn new(builder: &'a GraphBuilder<'a>) -> Handles<'a> {
        Handles { builder, sources: FxHashMap::default(), stores: None, known: FxHashMap::default() }
    }

    /// The spawn whose handle a register certainly holds at a place.
    fn origin(&mut self, at: Site, register: RegisterId, fuel: u32) -> Option<Origin> {
        let rest = fuel.checked_sub(1)?;
        if let Some(&origin) = self.known.get(&(at.context, at.iteration, register)) {
            return Some(origin);
        }
        let function_id = self.builder.unfolding.contexts[at.context].function;
        let function = &self.builder.program.functions[function_id];
        let writers = &self.builder.unfolding.writers[function_id.index()];
        let Some((block, position)) = writers.place(register) else { return self.variable(at, register, rest) };
        // What is written once is written before it is read: in the iteration of the reader, or in one around it.
        let writer = Site { iteration: self.iteration_of(at, block)?, block, position, ..at };
        let origin = match &function.blocks[block].instructions[position as usize] {
            Instruction::Spawn { .. } => Some(Origin { spawn: writer, shared: false }),
            Instruction::Copy { source: Operand::Register(source), .. } => self.origin(writer, *source, rest),
            Instruction::Load { place, .. } => {
                let (program, at) = (self.builder.program, (writer.context, writer.iteration));
                let evaluate = |evaluator: &Evaluator<'_>| evaluator.targets(place);
                match self.builder.unfolding.evaluate(program, at, evaluate)[..] {
                    [cell] if cell.exact => self.cell(writer.context, cell, rest),
                    _ => None,
                }
            }
            _ => None,
        }?;
        self.known.insert((at.context, at.iteration, register), origin);
        Some(origin)
    }

    /// The iteration in which control has come last to a block, of those that a place lies in.
    fn iteration_of(&self, at: Site, block: BlockId) -> Option<IterationId> {
        let iterations = &self.builder.unfolding.iterations[at.context.index()];
        iterations.around(at.iteration).find(|&iteration| iterations.blocks.binary_search(&(iteration, block)).is_ok())
    }

    /// A private handle that is declared empty and then set by one spawn.
    fn variable(&mut self, at: Site, register: RegisterId, fuel: u32) -> Option<Origin> {
        let function = self.builder.unfolding.contexts[at.context].function;
        let sources = self.sources.entry(function).or_insert_with(|| sources(self.builder, function));
        let sources = sources.get(&register)?.clone();
        let mut found = None;
        for (block, position, source) in sources {
            let Operand::Register(source) = source else { continue };
            let iteration = self.iteration_of(at, block)?;
            // In a loop it may have been set in another iteration, unless every way there sets it in this one.
            if iteration != NO_ITERATION && !self.comes_before((block, position), at) {
                return None;
            }
            let setter = Site { iteration, block, position, ..at };
            let origin = if source == register { None } else { self.origin(setter, source, fuel) }?;
            if *found.get_or_insert(origin) != origin {
                return None;
            }
        }
        found
    }

    /// Whether every way to a place leads through an instruction.
    fn comes_before(&self, (block, position): (BlockId, u32), at: Site) -> bool {
        let function = self.builder.unfolding.contexts[at.context].function;
        let loops = self.builder.unfolding.known_loops(function);
        if block == at.block { position < at.position } else { loops.is_some_and(|of| of.dominates(block, at.block)) }
    }

    /// A cell that one store in the whole program sets.
    fn cell(&mut self, context: ContextId, cell: Address, fuel: u32) -> Option<Origin> {
        let stores = self.stores.get_or_insert_with(|| stores(self.builder));
        if stores.anywhere || stores.unknown.contains(&cell.instance) {
            return None;
        }
        let instance = &self.builder.unfolding.instances[cell.instance];
        if self.builder.program.variables[instance.variable].heap && !instance.single {
            return None;
        }
        let (at, source) = stores.of_cell.get(&(cell.instance, cell.byte)).copied().flatten()?;
        let Operand::Register(source) = source else { return None };
        let owner = self.builder.unfolding.instances[cell.instance].context;
        let origin = self.origin(at, source, fuel)?;
        Some(Origin { shared: origin.shared || owner != Some(context) || at.context != context, ..origin })
    }
}

/// What the instructions of a function give to its registers. What is no copy stands for itself.
fn sources(builder: &GraphBuilder<'_>, function: FunctionId) -> Sources {
    let mut sources = Sources::default();
    for (id, block) in builder.program.functions[function].blocks.entries() {
        for (position, instruction) in block.instructions.iter().enumerate() {
            let given = match instruction {
                Instruction::Copy { dest, source } => Some((*dest, *source)),
                other => other.dest().map(|dest| (dest, Operand::Register(dest))),
            };
            if let Some((dest, source)) = given {
                sources.entry(dest).or_default().push((id, position as u32, source));
            }
        }
    }
    sources
}

/// The stores of handles to memory, in all contexts.
#[derive(Default)]
struct Stores {
    /// Of each cell the store, if there is only one.
    of_cell: FxHashMap<(InstanceId, u32), Option<(Site, Operand)>>,
    /// Variables of which some store sets a part that is not known.
    unknown: FxHashSet<InstanceId>,
    /// Whether some store may set any variable.
    anywhere: bool,
}

fn stores(builder: &GraphBuilder<'_>) -> Stores {
    let mut stores = Stores::default();
    for (context, of) in builder.unfolding.contexts.entries() {
        let function = &builder.program.functions[of.function];
        for &(iteration, block) in &builder.unfolding.iterations[context.index()].blocks {
            for (position, instruction) in function.blocks[block].instructions.iter().enumerate() {
                let Instruction::Store { place, value, .. } = instruction else { continue };
                if !is_handle(function, *value) {
                    continue;
                }
                let site = Site { context, iteration, block, position: position as u32 };
                let evaluate = |evaluator: &Evaluator<'_>| evaluator.targets(place);
                let targets = builder.unfolding.evaluate(builder.program, (context, iteration), evaluate);
                stores.anywhere |= targets.is_empty();
                for cell in targets {
                    if cell.exact {
                        let store = Some((site, *value));
                        let known = stores.of_cell.entry((cell.instance, cell.byte));
                        known.and_modify(|only| *only = None).or_insert(store);
                    } else {
                        stores.unknown.insert(cell.instance);
                    }
                }
            }
        }
    }
    stores
}

fn is_handle(function: &Function, value: Operand) -> bool {
    match value {
        Operand::Register(register) => function.registers[register].ty == RegisterType::Scalar(ScalarType::Thread),
        Operand::Constant(value) => value.ty() == ScalarType::Thread,
    }
}
