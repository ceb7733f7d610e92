//! Where a parent may be while the threads that it made are alive.
//!
//! In: the local graph, the forks and the joins. Out: for each block, the regions that it lies in; for each thread, its region.
//! A region begins behind the fork and ends at the join; that of a spawned thread ends at a join of its handle, where the
//! handle certainly means that thread. A thread that may outlive the one that made it, other than `main`, is unordered.

use super::graph::GraphBuilder;
use super::{MAIN_THREAD, RegionId, ThreadId};
use crate::ir::{Base, Instruction, Operand};
use crate::ssa::graph::Graph;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// Regions together may hold that many blocks; threads beyond are unordered.
const MAX_REGION_BLOCKS: usize = 20_000_000;

/// The regions of each block that lies in any.
#[derive(Clone, Debug, Default)]
pub(crate) struct Regions {
    of_block: FxHashMap<u32, SmallVec<[RegionId; 2]>>,
    count: u32,
}

impl Regions {
    /// The regions that a block lies in, sorted.
    pub fn of(&self, block: u32) -> &[RegionId] {
        self.of_block.get(&block).map_or(&[], |regions| regions.as_slice())
    }

    pub fn contains(&self, region: Option<RegionId>, block: u32) -> bool {
        region.is_some_and(|region| self.of(block).contains(&region))
    }
}

/// Finds the region of every thread; marks spawned threads that may have several instances at once.
pub(super) fn find_regions(builder: &mut GraphBuilder<'_>, local: &Graph) -> Regions {
    let mut regions = Regions::default();
    let mut total = 0;
    let mut forks: Vec<u32> = builder.forks.keys().copied().collect();
    forks.sort_unstable();
    let joined: FxHashMap<u32, u32> = builder.joined.iter().copied().collect();
    for fork in forks {
        let threads = builder.forks[&fork].clone();
        let Some(&first) = threads.first() else { continue };
        let spawned = builder.unfolding.threads[first].spawned;
        let ends: FxHashSet<u32> =
            if spawned { handle_joins(builder, fork, first) } else { joined.get(&fork).copied().into_iter().collect() };
        let mut blocks = reach(local, fork, &ends);
        let again = spawned && blocks.contains(&fork);
        if again {
            // Of several instances a join ends only one.
            blocks = reach(local, fork, &FxHashSet::default());
        } else if spawned {
            wire_handle_joins(builder, local, fork, first, &ends);
        }
        total += blocks.len();
        let parent = builder.unfolding.threads[first].parent.unwrap_or(MAIN_THREAD);
        let parent_exit = builder.unfolding.contexts[builder.unfolding.threads[parent].root].exit;
        let outlives = spawned && parent != MAIN_THREAD && blocks.contains(&parent_exit);
        for &thread in &threads {
            let thread = &mut builder.unfolding.threads[thread];
            thread.multiple |= again;
            thread.unordered |= outlives || total > MAX_REGION_BLOCKS;
            thread.multiple |= thread.unordered;
        }
        let region = RegionId(regions.count);
        regions.count += 1;
        if total <= MAX_REGION_BLOCKS {
            for block in blocks {
                regions.of_block.entry(block).or_default().push(region);
            }
        }
        for thread in threads {
            builder.unfolding.threads[thread].region = Some(region);
        }
    }
    // A thread below an unordered one is unordered as well; parents come before their children.
    for thread in builder.unfolding.threads.ids() {
        let parent = builder.unfolding.threads[thread].parent;
        if parent.is_some_and(|parent| builder.unfolding.threads[parent].unordered) {
            builder.unfolding.threads[thread].unordered = true;
            builder.unfolding.threads[thread].multiple = true;
        }
    }
    regions
}

/// Lets values pass from the end of a spawned thread to the joins of its handle.
fn wire_handle_joins(
    builder: &mut GraphBuilder<'_>,
    local: &Graph,
    fork: u32,
    thread: ThreadId,
    ends: &FxHashSet<u32>,
) {
    let exit = builder.unfolding.contexts[builder.unfolding.threads[thread].root].exit;
    let mut ends: Vec<u32> = ends.iter().copied().collect();
    ends.sort_unstable();
    for end in ends {
        builder.flow_edges.push((exit, end));
        let branches = vec![vec![exit], local.predecessors(end).to_vec()];
        builder.and_joins.push(super::AndJoin { block: end, marker: fork, branches, threads: vec![thread] });
    }
}

/// Blocks that can be reached behind `from` without entering one of `ends`, sorted; `from` itself only through a cycle.
pub(super) fn reach(local: &Graph, from: u32, ends: &FxHashSet<u32>) -> Vec<u32> {
    let mut seen: FxHashSet<u32> = FxHashSet::default();
    let mut waiting: Vec<u32> = local.successors(from).to_vec();
    while let Some(block) = waiting.pop() {
        if !ends.contains(&block) && seen.insert(block) {
            waiting.extend(local.successors(block));
        }
    }
    let mut blocks: Vec<u32> = seen.into_iter().collect();
    blocks.sort_unstable();
    blocks
}

/// The blocks that begin with a join of the handle that the spawn at the end of `fork` made, and of no other thread.
fn handle_joins(builder: &GraphBuilder<'_>, fork: u32, thread: ThreadId) -> FxHashSet<u32> {
    let mut ends = FxHashSet::default();
    let Some((&site, _)) = builder.fork_blocks.iter().find(|&(_, &block)| block == fork) else { return ends };
    for join in &builder.joins {
        let function = &builder.program.functions[builder.unfolding.contexts[join.context].function];
        let Instruction::JoinThread { handle: Operand::Register(register) } =
            function.blocks[join.at.0].instructions[join.at.1 as usize]
        else {
            continue;
        };
        if comes_from(builder, join.context, register, site, 16) && !builder.unfolding.threads[thread].multiple {
            ends.insert(join.block);
        }
    }
    ends
}

type Site = (super::ContextId, crate::ir::BlockId, u32);

/// Whether a register certainly holds the handle that a spawn made (or none).
fn comes_from(
    builder: &GraphBuilder<'_>,
    context: super::ContextId,
    register: crate::ir::RegisterId,
    spawn: Site,
    fuel: u32,
) -> bool {
    let function_id = builder.unfolding.contexts[context].function;
    let function = &builder.program.functions[function_id];
    let writers = &builder.unfolding.writers[function_id.index()];
    if fuel == 0 {
        return false;
    }
    let Some(instruction) = writers.instruction(function, register) else {
        return handle_variable(builder, context, register, spawn, fuel);
    };
    match instruction {
        Instruction::Spawn { .. } => {
            // The block is one of the function of its own context.
            let at = || function.blocks[spawn.1].instructions.get(spawn.2 as usize);
            context == spawn.0 && at().is_some_and(|at| std::ptr::eq(at, instruction))
        }
        Instruction::Copy { source: Operand::Register(source), .. } => {
            comes_from(builder, context, *source, spawn, fuel - 1)
        }
        Instruction::Load { place, .. } if place.index.is_none() => {
            let Base::Global(variable) = place.base else { return false };
            global_handle(builder, variable, place.offset, spawn, fuel)
        }
        _ => false,
    }
}

/// A private handle that is declared empty and then set by one spawn.
fn handle_variable(
    builder: &GraphBuilder<'_>,
    context: super::ContextId,
    register: crate::ir::RegisterId,
    spawn: Site,
    fuel: u32,
) -> bool {
    let function = &builder.program.functions[builder.unfolding.contexts[context].function];
    let mut sources =
        function.blocks.iter().flat_map(|block| &block.instructions).filter_map(|instruction| match instruction {
            Instruction::Copy { dest, source } if *dest == register => Some(*source),
            other if other.dest() == Some(register) => Some(Operand::Register(register)),
            _ => None,
        });
    let mut found = false;
    let all = sources.all(|source| match source {
        Operand::Constant(_) => true,
        Operand::Register(source) if source != register => {
            found = true;
            comes_from(builder, context, source, spawn, fuel - 1)
        }
        Operand::Register(_) => false,
    });
    all && found
}

/// A global handle that one store in the whole program sets.
fn global_handle(
    builder: &GraphBuilder<'_>,
    variable: crate::ir::VariableId,
    offset: u32,
    spawn: Site,
    fuel: u32,
) -> bool {
    let mut stores = 0;
    let mut matches = false;
    for (context, of) in builder.unfolding.contexts.entries() {
        for instruction in builder.program.functions[of.function].blocks.iter().flat_map(|block| &block.instructions) {
            if let Instruction::Store { place, value, .. } = instruction
                && place.base == Base::Global(variable)
                && place.offset == offset
            {
                stores += 1;
                matches = match value {
                    Operand::Register(source) => comes_from(builder, context, *source, spawn, fuel - 1),
                    Operand::Constant(_) => false,
                };
            }
        }
    }
    stores == 1 && matches
}
