//! What decides whether a block runs.
//!
//! **Input**: a function. **Output**: for each block the branches that it depends on, and the blocks that stand in a
//! cycle.
//!
//! **Algorithm**: control dependence (Ferrante, Ottenstein and Warren, "The Program Dependence Graph and Its Use in
//! Optimization", 1987), from the dominance frontiers of the graph turned round.
//!
//! **Soundness and limits**: a block from which no return can be reached counts as one that may end the function, so
//! that it depends on more, not on less.

use crate::ir::{Function, FunctionId, Instruction, Program, flow};
use crate::ssa::{Dominators, Graph};
use fixedbitset::FixedBitSet;
use petgraph::algo::tarjan_scc;
use petgraph::graph::DiGraph;

/// What one function's blocks depend on.
pub(super) struct Control {
    /// By block: blocks whose branches decide whether it runs.
    pub(super) branches: Vec<Vec<u32>>,
    /// Blocks that may follow themselves.
    pub(super) cyclic: FixedBitSet,
}

impl Control {
    pub(super) fn new(function: &Function) -> Control {
        let count = function.blocks.len();
        // Node 0 is the end of the function; block b is node b + 1.
        let mut edges: Vec<(u32, u32)> = Vec::new();
        for (block, content) in function.blocks.entries() {
            let mut ends = true;
            for target in content.terminator.successors() {
                edges.push((target.0 + 1, block.0 + 1));
                ends = false;
            }
            if ends {
                edges.push((0, block.0 + 1));
            }
        }
        let mut turned = Graph::from_edges(count + 1, &edges);
        let mut dominators = Dominators::new(&turned);
        let endless: Vec<u32> = (1..=count as u32).filter(|&node| !dominators.is_reachable(node)).collect();
        if !endless.is_empty() {
            edges.extend(endless.into_iter().map(|node| (0, node)));
            turned = Graph::from_edges(count + 1, &edges);
            dominators = Dominators::new(&turned);
        }
        let frontiers = dominators.frontiers(&turned);
        let branches = (1..=count as u32)
            .map(|node| frontiers.of(node).iter().filter(|&&branch| branch != 0).map(|&branch| branch - 1).collect())
            .collect();
        Control { branches, cyclic: cyclic(&flow::flow_graph(function)) }
    }
}

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

/// The nodes of a graph that stand in a cycle.
fn cyclic<N, E>(graph: &DiGraph<N, E>) -> FixedBitSet {
    let mut found = FixedBitSet::with_capacity(graph.node_count());
    for component in tarjan_scc(graph) {
        if component.len() > 1 || graph.contains_edge(component[0], component[0]) {
            found.extend(component.iter().map(|node| node.index()));
        }
    }
    found
}
