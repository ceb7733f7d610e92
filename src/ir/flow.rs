//! Flow graphs over the blocks of a function, as `petgraph` graphs.
//!
//! In: a function. Out: a directed graph whose node `i` is block `i`, for petgraph's algorithms and for DOT.

use super::{BlockId, Function};
use petgraph::algo::dominators::simple_fast;
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::{BTreeMap, BTreeSet};

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

/// The blocks at whose branch a natural loop is left, of loops that are left nowhere else: the tests of `while`, `for` and `do`
/// without `break` and `return` in them.
#[must_use]
pub fn loop_tests(function: &Function) -> Vec<BlockId> {
    let graph = flow_graph(function);
    let dominators = simple_fast(&graph, NodeIndex::new(0));
    let before = predecessors(function);
    // By head: the blocks from which the head can be reached again, the head included.
    let mut loops: BTreeMap<BlockId, BTreeSet<BlockId>> = BTreeMap::new();
    for edge in graph.edge_indices().filter_map(|edge| graph.edge_endpoints(edge)) {
        let (latch, head) = (graph[edge.0], graph[edge.1]);
        if !dominators.dominators(edge.0).is_some_and(|mut all| all.any(|one| one == edge.1)) {
            continue;
        }
        let body = loops.entry(head).or_insert_with(|| BTreeSet::from([head]));
        let mut work = vec![latch];
        while let Some(block) = work.pop() {
            if body.insert(block) {
                work.extend(&before[block.index()]);
            }
        }
    }
    let test = |body: &BTreeSet<BlockId>| {
        let is_left = |&&block: &&BlockId| function.blocks[block].terminator.successors().any(|to| !body.contains(&to));
        let ends = |&&block: &&BlockId| function.blocks[block].terminator.successors().next().is_none();
        let mut exits = body.iter().filter(|block| is_left(block) || ends(block));
        exits.next().copied().filter(|_| exits.next().is_none())
    };
    loops.values().filter_map(test).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arena, Block, Operand, Terminator, TextId, Value};

    /// A function whose blocks lead there.
    fn function(successors: &[&[u32]]) -> Function {
        let mut blocks = Arena::new();
        for targets in successors {
            let terminator = match **targets {
                [] => Terminator::Return(None),
                [only] => Terminator::Jump(BlockId(only)),
                [one, two, ..] => Terminator::Branch {
                    condition: Operand::Constant(Value::Bool(true)),
                    then_block: BlockId(one),
                    else_block: BlockId(two),
                },
            };
            blocks.push(Block {
                instructions: Vec::new(),
                spans: Vec::new(),
                terminator,
                terminator_span: Default::default(),
                negated: false,
            });
        }
        let (span, kind) = (Default::default(), crate::FunctionKind::Function);
        Function { name: TextId(0), span, kind, parameters: Vec::new(), result: None, registers: Arena::new(), blocks }
    }

    #[test]
    fn a_loop_that_is_left_at_one_branch_has_a_test() {
        let tests = |successors: &[&[u32]]| {
            loop_tests(&function(successors)).into_iter().map(|block| block.0).collect::<Vec<_>>()
        };
        // while, with an `if` in it
        assert_eq!(tests(&[&[1], &[2, 5], &[3, 4], &[4], &[1], &[]]), [1]);
        // do
        assert_eq!(tests(&[&[1], &[2], &[1, 3], &[]]), [2]);
        // One in another.
        assert_eq!(tests(&[&[1], &[2, 5], &[3, 4], &[2], &[1], &[]]), [1, 2]);
        // `break`, and `return`
        assert_eq!(tests(&[&[1], &[2, 4], &[3, 4], &[1], &[]]), [0; 0]);
        assert_eq!(tests(&[&[1], &[2, 4], &[3, 5], &[1], &[], &[]]), [0; 0]);
        // No loop.
        assert_eq!(tests(&[&[1, 2], &[2], &[]]), [0; 0]);
    }
}
