//! Control dependence: the branches that decide whether a block runs.
//!
//! **Input**: a function. **Output**: [`Control`]: for each block, the branches on which it is directly control dependent; and
//! the branches that decide whether a loop continues.
//!
//! **Algorithm** (Ferrante, Ottenstein and Warren 1987)
//! 1. Build the postdominator tree, from the reversed flow graph. An endless loop has no postdominators, so an edge from its last
//!    block to the exit is assumed.
//! 2. For each branch and each of its successors, mark the blocks on the path up the tree from the successor to the immediate
//!    postdominator of the branch.
//! 3. A branch in a cycle is a loop branch if one of its successors lies outside the cycle.
//!
//! **Soundness and limits**: dependences of one block beyond [`MAX_BRANCHES`] are left out. So are dependences beyond a bound on
//! the work that only deeply nested loops reach.

use cssame_ir::{BlockId, Function, Terminator};
use cssame_ssa::dominators::{Dominators, reverse_postorder};
use cssame_ssa::function::graph_of;
use cssame_ssa::graph::Graph;
use fixedbitset::FixedBitSet;
use petgraph::algo::kosaraju_scc;
use smallvec::SmallVec;
use std::collections::VecDeque;

/// Branches that a block keeps.
const MAX_BRANCHES: usize = 8;
/// Steps up the tree of postdominators, for each block of the function.
const MAX_STEPS: usize = 256;
/// Conditions around a block that are looked at, from the inside.
const MAX_NEST: usize = 4;

/// Control dependence in one function.
#[derive(Clone, Debug)]
pub(super) struct Control {
    direct: Vec<SmallVec<[BlockId; 2]>>,
    /// For each block, its cycle: blocks of a cycle have the same number; `None` outside of any.
    cycles: Vec<Option<u32>>,
    /// Branches of which one side leaves their cycle.
    loop_branches: FixedBitSet,
}

impl Control {
    /// Finds what the blocks of a function depend on.
    pub fn of(function: &Function) -> Control {
        let cycles = find_cycles(function);
        let mut loop_branches = FixedBitSet::with_capacity(function.blocks.len());
        for (id, block) in function.blocks.entries() {
            let own = cycles[id.index()];
            if own.is_some() && block.terminator.successors().any(|target| cycles[target.index()] != own) {
                loop_branches.insert(id.index());
            }
        }
        Control { direct: find_direct(function), cycles, loop_branches }
    }

    /// The branches that a block directly depends on.
    pub fn direct(&self, block: BlockId) -> &[BlockId] {
        &self.direct[block.index()]
    }

    /// Whether a branch decides if its loop goes on.
    pub fn is_loop_branch(&self, block: BlockId) -> bool {
        self.loop_branches.contains(block.index())
    }

    /// The innermost number that stands for the cycle of a block.
    pub fn cycle(&self, block: BlockId) -> Option<u32> {
        self.cycles[block.index()]
    }

    /// The branches that decide whether a block runs, the nearest first; not those that only keep a loop going.
    pub fn conditions(&self, block: BlockId) -> SmallVec<[BlockId; 4]> {
        let mut found: SmallVec<[BlockId; 4]> = SmallVec::new();
        let mut seen: SmallVec<[BlockId; 8]> = SmallVec::from_slice(&[block]);
        let mut waiting = VecDeque::from([block]);
        while let Some(at) = waiting.pop_front() {
            for &branch in &self.direct[at.index()] {
                if found.len() == MAX_NEST || seen.len() > 4 * MAX_NEST {
                    return found;
                }
                if seen.contains(&branch) {
                    continue;
                }
                seen.push(branch);
                waiting.push_back(branch);
                if !self.is_loop_branch(branch) {
                    found.push(branch);
                }
            }
        }
        found
    }
}

fn find_cycles(function: &Function) -> Vec<Option<u32>> {
    let mut cycles = vec![None; function.blocks.len()];
    let graph = cssame_ir::flow::flow_graph(function);
    for (number, component) in kosaraju_scc(&graph).into_iter().enumerate() {
        let cyclic = component.len() > 1 || component.iter().any(|&node| graph.contains_edge(node, node));
        if cyclic {
            component.into_iter().for_each(|node| cycles[node.index()] = Some(number as u32));
        }
    }
    cycles
}

/// The graph with all edges turned, from an exit (node 0) to the blocks (node `i + 1` is block `i`).
fn reversed(function: &Function, forward: &Graph) -> Graph {
    let mut edges: Vec<(u32, u32)> = Vec::new();
    let mut reached = FixedBitSet::with_capacity(function.blocks.len());
    let mut waiting: Vec<u32> = Vec::new();
    let mut ends: Vec<u32> = function
        .blocks
        .entries()
        .filter(|(_, block)| matches!(block.terminator, Terminator::Return(_) | Terminator::End(_)))
        .map(|(id, _)| id.0)
        .collect();
    // Behind the returns, the last blocks from which none is reached.
    ends.extend(reverse_postorder(forward).into_iter().rev());
    for end in ends {
        if reached.put(end as usize) {
            continue;
        }
        edges.push((0, end + 1));
        waiting.push(end);
        while let Some(block) = waiting.pop() {
            for &from in forward.predecessors(block) {
                edges.push((block + 1, from + 1));
                if !reached.put(from as usize) {
                    waiting.push(from);
                }
            }
        }
    }
    Graph::from_edges(function.blocks.len() + 1, &edges)
}

fn find_direct(function: &Function) -> Vec<SmallVec<[BlockId; 2]>> {
    let forward = graph_of(function);
    let dominators = Dominators::new(&reversed(function, &forward));
    let mut direct: Vec<SmallVec<[BlockId; 2]>> = vec![SmallVec::new(); function.blocks.len()];
    let mut steps = MAX_STEPS.saturating_mul(function.blocks.len());
    for (id, block) in function.blocks.entries() {
        if block.terminator.successors().count() < 2 {
            continue;
        }
        let end = dominators.immediate_dominator(id.0 + 1).unwrap_or(0);
        for target in block.terminator.successors() {
            let mut at = target.0 + 1;
            while at != end && at != 0 && steps > 0 {
                steps -= 1;
                let list = &mut direct[at as usize - 1];
                if list.len() < MAX_BRANCHES && !list.contains(&id) {
                    list.push(id);
                }
                at = dominators.immediate_dominator(at).unwrap_or(0);
            }
        }
    }
    direct
}
