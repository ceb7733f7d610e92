//! The call graph.
//!
//! **Input**: a program. **Output**: the functions that may call themselves, and how long calls may take.
//!
//! **Soundness and limits**: the effects of recursive functions count only for themselves.

use cssame_ir::{FunctionId, Instruction, Program};
use cssame_ssa::control::cyclic;
use fixedbitset::FixedBitSet;
use petgraph::algo::tarjan_scc;
use petgraph::graph::DiGraph;

/// Who calls whom.
pub(super) struct Calls {
    graph: DiGraph<(), ()>,
    /// Functions that may call themselves, directly or through others.
    pub(super) recursive: FixedBitSet,
}

impl Calls {
    pub(super) fn new(program: &Program) -> Calls {
        let mut graph: DiGraph<(), ()> = DiGraph::new();
        let nodes: Vec<_> = program.functions.ids().map(|_| graph.add_node(())).collect();
        for (id, function) in program.functions.entries() {
            for instruction in function.blocks.iter().flat_map(|block| &block.instructions) {
                if let Instruction::Call { function: callee, .. } = instruction {
                    graph.add_edge(nodes[id.index()], nodes[callee.index()], ());
                }
            }
        }
        let recursive = cyclic(&graph);
        Calls { graph, recursive }
    }

    /// The most instructions that one pass through a function takes, and the longest chain of calls; what recursive
    /// functions do counts for themselves alone.
    pub(super) fn extent(&self, program: &Program) -> (u64, u32) {
        let count = program.functions.len();
        let (mut costs, mut depths) = (vec![0u64; count], vec![0u32; count]);
        let (mut most, mut deepest) = (0, 0);
        // Callees come before their callers.
        for node in tarjan_scc(&self.graph).into_iter().flatten() {
            let function = &program.functions[FunctionId::new(node.index())];
            let own: usize = function.blocks.iter().map(|block| block.instructions.len() + 1).sum();
            let (mut cost, mut depth) = (own as u64, 1);
            for callee in self.graph.neighbors(node) {
                cost = cost.saturating_add(costs[callee.index()]);
                depth = depth.max(1 + depths[callee.index()]);
            }
            most = most.max(cost);
            if !self.recursive.contains(node.index()) {
                costs[node.index()] = cost;
                depths[node.index()] = depth;
                deepest = deepest.max(depth);
            }
        }
        (most, deepest)
    }
}
