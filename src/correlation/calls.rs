//! The order in which functions are looked at: callees before their callers.
//!
//! In: a program. Out: the strongly connected components of the graph of calls, callees first. Forked and spawned threads
//! are no calls: what they do is done by others.

use cssame_ir::{FunctionId, Instruction, Program};
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
