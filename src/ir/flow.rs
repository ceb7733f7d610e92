//! Flow graphs over the blocks of a function, as `petgraph` graphs.
//!
//! In: a function. Out: a directed graph whose node `i` is block `i`, for petgraph's algorithms and for DOT.

use super::{BlockId, Function};
use petgraph::graph::{DiGraph, NodeIndex};

/// The flow graph of a function: node `i` is block `i`; an edge says whether it is taken where the condition holds.
#[must_use]
pub fn flow_graph(function: &Function) -> DiGraph<BlockId, Option<bool>> {
    let mut graph = DiGraph::with_capacity(function.blocks.len(), function.blocks.len() * 2);
    for block in function.blocks.ids() {
        graph.add_node(block);
    }
    for (id, block) in function.blocks.entries() {
        let branch = block.terminator.successors().count() > 1;
        for (position, target) in block.terminator.successors().enumerate() {
            graph.add_edge(NodeIndex::new(id.index()), NodeIndex::new(target.index()), branch.then_some(position == 0));
        }
    }
    graph
}

/// Predecessors of every block, in the order of the blocks that they come from.
#[must_use]
pub fn predecessors(function: &Function) -> Vec<Vec<BlockId>> {
    let mut result = vec![Vec::new(); function.blocks.len()];
    for (id, block) in function.blocks.entries() {
        for target in block.terminator.successors() {
            result[target.index()].push(id);
        }
    }
    result
}

/// Which successor of a branch a depth-first search visits first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Successors {
    /// In their order.
    InOrder,
    /// In reverse, so that of two successors the first comes first in reverse postorder where it can.
    Reversed,
}

/// Blocks that can be reached from the entry, in reverse postorder.
#[must_use]
pub fn reverse_postorder(function: &Function, successors: Successors) -> Vec<BlockId> {
    let mut order = Vec::with_capacity(function.blocks.len());
    let mut seen = vec![false; function.blocks.len()];
    let mut stack = Vec::new();
    if let Some(entry) = seen.first_mut() {
        *entry = true;
        stack.push((BlockId(0), 0));
    }
    while let Some((block, next)) = stack.pop() {
        let mut targets = function.blocks[block].terminator.successors();
        let target = match successors {
            Successors::InOrder => targets.nth(next),
            Successors::Reversed => targets.rev().nth(next),
        };
        match target {
            Some(target) => {
                stack.push((block, next + 1));
                if !std::mem::replace(&mut seen[target.index()], true) {
                    stack.push((target, 0));
                }
            }
            None => order.push(block),
        }
    }
    order.reverse();
    order
}
