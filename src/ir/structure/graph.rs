//! The reachable blocks of a function: their order, incoming edges, and dominators.
//!
//! **Input**: a function. **Output**: a [`Graph`], unless it is irreducible.
//!
//! **Algorithm**: in a reducible graph each back edge in reverse postorder leads to a dominator, and does not change the
//! dominance relation. So one pass in reverse postorder finds each immediate dominator, as the nearest common ancestor of the
//! predecessors that precede the block. Ancestors are found by jump pointers (Myers, "An Applicative Random-Access Stack", 1983),
//! in logarithmic time however long the chains are. Then this assumption is checked for each back edge.

use super::StructureError;
use crate::flow::{Successors, predecessors, reverse_postorder};
use crate::{BlockId, Function};

/// No place in an order.
const NOWHERE: u32 = u32::MAX;

/// The reachable blocks of a function whose graph is reducible.
pub(super) struct Graph<'a> {
    pub(super) function: &'a Function,
    /// In reverse postorder.
    pub(super) order: Vec<BlockId>,
    /// By block: its place in that order, or [`NOWHERE`].
    ranks: Vec<u32>,
    predecessors: Vec<Vec<BlockId>>,
    dominators: Tree,
}

impl<'a> Graph<'a> {
    pub(super) fn new(function: &'a Function) -> Result<Graph<'a>, StructureError> {
        let order = reverse_postorder(function, Successors::Reversed);
        let ranks = ranks_of(&order, function.blocks.len());
        let mut predecessors = predecessors(function);
        predecessors.iter_mut().for_each(|sources| sources.retain(|source| ranks[source.index()] != NOWHERE));
        let dominators = Tree::new(function.blocks.len());
        let mut graph = Graph { function, order, ranks, predecessors, dominators };
        for at in 1..graph.order.len() {
            let block = graph.order[at];
            let meet = graph.ways_in(block).reduce(|one, other| graph.dominators.nearest_common(one, other));
            if let Some(parent) = meet {
                graph.dominators.add(block, parent);
            }
        }
        for &to in &graph.order {
            if let Some(from) = graph.latches(to).find(|&from| !graph.dominators.is_ancestor(to, from)) {
                return Err(StructureError::Irreducible { from, to });
            }
        }
        Ok(graph)
    }

    /// The blocks that an edge forward leads to `block` from, once for each edge.
    pub(super) fn ways_in(&self, block: BlockId) -> impl Iterator<Item = BlockId> + '_ {
        let before = move |source: &BlockId| self.ranks[source.index()] < self.ranks[block.index()];
        self.predecessors[block.index()].iter().copied().filter(before)
    }

    /// The blocks that an edge backwards leads to `block` from.
    pub(super) fn latches(&self, block: BlockId) -> impl Iterator<Item = BlockId> + '_ {
        let behind = move |source: &BlockId| self.ranks[source.index()] >= self.ranks[block.index()];
        self.predecessors[block.index()].iter().copied().filter(behind)
    }

    /// Whether more than one edge leads forward to the block.
    pub(super) fn is_merge(&self, block: BlockId) -> bool {
        self.ways_in(block).nth(1).is_some()
    }

    /// Whether an edge leads backwards.
    pub(super) fn is_back_edge(&self, from: BlockId, to: BlockId) -> bool {
        self.ranks[to.index()] <= self.ranks[from.index()]
    }

    /// The immediate dominator; of the entry, the entry.
    pub(super) fn immediate_dominator(&self, block: BlockId) -> BlockId {
        self.dominators.parents[block.index()]
    }

    /// Whether every way to the block goes through `upper`.
    pub(super) fn dominates(&self, upper: BlockId, block: BlockId) -> bool {
        self.dominators.is_ancestor(upper, block)
    }

    /// Where the block ends in the text.
    pub(super) fn text_end(&self, block: BlockId) -> u32 {
        self.function.blocks[block].terminator_span.end
    }
}

/// By block, its place in an order.
pub(super) fn ranks_of(order: &[BlockId], block_count: usize) -> Vec<u32> {
    let mut ranks = vec![NOWHERE; block_count];
    for (rank, block) in order.iter().enumerate() {
        ranks[block.index()] = rank as u32;
    }
    ranks
}

/// A tree that grows downwards; block 0 is its root.
struct Tree {
    parents: Vec<BlockId>,
    depths: Vec<u32>,
    /// An ancestor further up, so that two jumps from a block lead as far up as the two jumps before them.
    jumps: Vec<BlockId>,
}

impl Tree {
    fn new(block_count: usize) -> Tree {
        let roots = vec![BlockId(0); block_count];
        Tree { parents: roots.clone(), depths: vec![0; block_count], jumps: roots }
    }

    fn depth(&self, block: BlockId) -> u32 {
        self.depths[block.index()]
    }

    fn add(&mut self, block: BlockId, parent: BlockId) {
        let near = self.jumps[parent.index()];
        let far = self.jumps[near.index()];
        let is_even = self.depth(parent) - self.depth(near) == self.depth(near) - self.depth(far);
        self.parents[block.index()] = parent;
        self.depths[block.index()] = self.depth(parent) + 1;
        self.jumps[block.index()] = if is_even { far } else { parent };
    }

    /// The ancestor of the block at that depth; the block itself where it is not deeper.
    fn ancestor_at(&self, mut block: BlockId, depth: u32) -> BlockId {
        while self.depth(block) > depth {
            let jump = self.jumps[block.index()];
            block = if self.depth(jump) >= depth { jump } else { self.parents[block.index()] };
        }
        block
    }

    fn nearest_common(&self, one: BlockId, other: BlockId) -> BlockId {
        let depth = self.depth(one).min(self.depth(other));
        let (mut one, mut other) = (self.ancestor_at(one, depth), self.ancestor_at(other, depth));
        while one != other {
            let jumps = (self.jumps[one.index()], self.jumps[other.index()]);
            let parents = (self.parents[one.index()], self.parents[other.index()]);
            // Blocks of one depth have jumps of one length.
            (one, other) = if jumps.0 == jumps.1 { parents } else { jumps };
        }
        one
    }

    fn is_ancestor(&self, upper: BlockId, lower: BlockId) -> bool {
        self.ancestor_at(lower, self.depth(upper)) == upper
    }
}
