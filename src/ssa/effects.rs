//! Side effects: the possible writes of a call or a join.
//!
//! **Input**: a program. **Output**: for each function, the symbols that it, the functions that it calls and the threads that it
//! forks write; for each join, the functions whose threads it waits for.
//!
//! **Algorithm**: unite the sets over the strongly connected components of the call graph, callees first. `join(t)` may wait for
//! any function that is spawned anywhere.
//!
//! **Soundness and limits**: an over-approximation. The module does not distinguish the objects of a class (a symbol stands for
//! the field of all of them). The concurrent forms handle the writes of other threads that run at the same time.

use cssame_ir::dot::joins_after;
use cssame_ir::{BlockId, Function, FunctionId, Instruction, NewThread, Program, SymbolId};
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::FxHashMap;

/// The symbols that each function may write.
#[derive(Clone, Debug)]
pub struct Effects {
    /// For each function, sorted.
    writes: Vec<Vec<SymbolId>>,
    /// Those of all spawned functions, sorted.
    spawned: Vec<SymbolId>,
}

impl Effects {
    /// Computes the effects of all functions.
    #[must_use]
    pub fn new(program: &Program) -> Effects {
        let count = program.functions.len();
        let graph = call_graph(program);
        let mut writes = vec![Vec::new(); count + 1];
        // Components come callees first.
        for component in petgraph::algo::kosaraju_scc(&graph) {
            let mut united = Vec::new();
            for node in &component {
                if let Some(function) = program.functions.get(FunctionId::new(node.index())) {
                    own_writes(program, function, &mut united);
                }
                for callee in graph.neighbors(*node) {
                    united.extend_from_slice(&writes[callee.index()]);
                }
            }
            united.sort_unstable();
            united.dedup();
            for node in component {
                writes[node.index()].clone_from(&united);
            }
        }
        let spawned = writes.pop().unwrap_or_default();
        Effects { writes, spawned }
    }

    /// The symbols that a call of the function may write, sorted.
    #[must_use]
    pub fn of_function(&self, function: FunctionId) -> &[SymbolId] {
        &self.writes[function.index()]
    }

    /// The symbols that a thread may write that some `join(t)` waits for, sorted.
    #[must_use]
    pub fn of_spawned(&self) -> &[SymbolId] {
        &self.spawned
    }
}

fn own_writes(program: &Program, function: &Function, symbols: &mut Vec<SymbolId>) {
    for instruction in function.blocks.iter().flat_map(|block| &block.instructions) {
        if let Instruction::Store { definition, .. } | Instruction::Atomic { definition, .. } = instruction {
            symbols.push(program.definitions[*definition].symbol);
        }
    }
}

/// Who waits for whom: callers for callees, forks for their threads. The last node stands for all spawned threads.
fn call_graph(program: &Program) -> DiGraph<(), ()> {
    let count = program.functions.len();
    let mut graph = DiGraph::with_capacity(count + 1, count);
    for _ in 0..=count {
        graph.add_node(());
    }
    let spawned = NodeIndex::new(count);
    let mut add = |from, to: FunctionId| graph.add_edge(from, NodeIndex::new(to.index()), ());
    let mut joining = Vec::new();
    for (id, function) in program.functions.entries() {
        let from = NodeIndex::new(id.index());
        for instruction in function.blocks.iter().flat_map(|block| &block.instructions) {
            match instruction {
                Instruction::Call { function, .. } => {
                    add(from, *function);
                }
                Instruction::Fork { threads, .. } => threads.iter().flat_map(NewThread::functions).for_each(|run| {
                    add(from, run);
                }),
                Instruction::Spawn { thread, .. } => {
                    add(spawned, thread.function);
                }
                Instruction::JoinThread { .. } => joining.push(from),
                _ => {}
            }
        }
    }
    for from in joining {
        graph.add_edge(from, spawned, ());
    }
    graph
}

/// For each join of a function (block and position) the functions whose threads it waits for; sorted, each once.
pub(super) fn joined(function: &Function) -> FxHashMap<(BlockId, usize), Vec<FunctionId>> {
    let mut result: FxHashMap<(BlockId, usize), Vec<FunctionId>> = FxHashMap::default();
    for (block, content) in function.blocks.entries() {
        for (position, instruction) in content.instructions.iter().enumerate() {
            if let Instruction::Fork { threads, .. } = instruction {
                for join in joins_after(function, block, position + 1) {
                    let functions = threads.iter().flat_map(NewThread::functions);
                    result.entry(join).or_default().extend(functions);
                }
            }
        }
    }
    for functions in result.values_mut() {
        functions.sort_unstable();
        functions.dedup();
    }
    result
}
