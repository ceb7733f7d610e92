//! The order in which functions are analysed: callees before their callers.
//!
//! In: a program. Out: the strongly connected components of the call graph, callees first. Forks and spawns of threads are not
//! calls: other threads perform their actions. [`depth`] returns how many calls may be open at the same time.

use cssame_ir::{Follow, FunctionId, Instruction, Program};
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

/// The components of the call graph, callees first; within one, by number.
pub(super) fn components(program: &Program) -> Vec<Vec<FunctionId>> {
    let mut graph: DiGraph<(), ()> = DiGraph::with_capacity(program.functions.len(), program.functions.len());
    for _ in program.functions.iter() {
        graph.add_node(());
    }
    for (id, function) in program.functions.entries() {
        for instruction in function.blocks.iter().flat_map(|block| &block.instructions) {
            if let Instruction::Call { function, .. } = instruction {
                graph.add_edge(NodeIndex::new(id.index()), NodeIndex::new(function.index()), ());
            }
        }
    }
    let components = kosaraju_scc(&graph).into_iter();
    components
        .map(|component| {
            let mut functions: Vec<FunctionId> =
                component.into_iter().map(|node| FunctionId::new(node.index())).collect();
            functions.sort_unstable();
            functions
        })
        .collect()
}

/// Functions that may be open at once in a thread, that of the thread or of a call from outside included. Nothing where one of those
/// that run may call itself.
pub(super) fn depth(program: &Program) -> Option<u32> {
    let mut depths: Vec<Option<u32>> = vec![None; program.functions.len()];
    for component in components(program) {
        let &[id] = component.as_slice() else { continue };
        let blocks = program.functions[id].blocks.iter();
        let callees = blocks.flat_map(|block| &block.instructions).filter_map(|instruction| match instruction {
            Instruction::Call { function, .. } => Some(depths[function.index()]),
            _ => None,
        });
        // What calls itself has no depth, and neither has what calls that.
        depths[id.index()] = callees.into_iter().try_fold(1, |most: u32, of| Some(most.max(of? + 1)));
    }
    running(program).into_iter().map(|id| depths[id.index()]).try_fold(0, |most: u32, of| Some(most.max(of?)))
}

/// The functions that `main` comes to, by calls and as threads; without a `main`, all.
fn running(program: &Program) -> Vec<FunctionId> {
    match program.main {
        Some(main) => program.reached_functions([main], Follow::CallsAndThreads),
        None => program.functions.ids().collect(),
    }
}
