//! Determines which branches decide whether a block runs.
//!
//! **Input**: a function. **Output**: for each block the branches on which it depends, and the blocks that are in a cycle.
//!
//! **Algorithm**: control dependence (Ferrante, Ottenstein and Warren, "The Program Dependence Graph and Its Use in
//! Optimization", 1987), from the dominance frontiers of the reversed graph.
//!
//! **Soundness and limits**: a block from which no return can be reached counts as one that may end the function, so that it
//! depends on more branches, not on fewer.

use super::dominators::Dominators;
use super::graph::Graph;
use cssame_ir::{Function, flow};
use fixedbitset::FixedBitSet;
use petgraph::algo::tarjan_scc;
use petgraph::graph::DiGraph;

/// What one function's blocks depend on.
#[derive(Clone, Debug)]
pub struct Control {
    /// By block: blocks whose branches decide whether it runs.
    pub branches: Vec<Vec<u32>>,
    /// Blocks that may follow themselves.
    pub cyclic: FixedBitSet,
}

impl Control {
    /// Finds what the blocks of a function depend on.
    #[must_use]
    pub fn new(function: &Function) -> Control {
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

/// The nodes of a graph that stand in a cycle.
#[must_use]
pub fn cyclic<N, E>(graph: &DiGraph<N, E>) -> FixedBitSet {
    let mut found = FixedBitSet::with_capacity(graph.node_count());
    for component in tarjan_scc(graph) {
        if component.len() > 1 || graph.contains_edge(component[0], component[0]) {
            found.extend(component.iter().map(|node| node.index()));
        }
    }
    found
}
