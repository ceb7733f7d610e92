//! Reachability between places of one function.
//!
//! **Input**: a flow graph and two lists of places. **Output**: whether control can reach one of the second places from one of
//! the first, by a search through the blocks. All searches together visit at most [`MAX_STEPS`] blocks. Beyond that, the answer
//! is yes.

use cssame_ir::BlockId;
use cssame_ssa::graph::Graph;
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

/// Blocks visited in all.
const MAX_STEPS: usize = 20_000_000;

/// A block and a position in it.
pub(super) type Place = (BlockId, u32);

/// Searches, and what they may still visit.
pub(super) struct Reachability {
    steps: usize,
}

impl Default for Reachability {
    fn default() -> Reachability {
        Reachability { steps: MAX_STEPS }
    }
}

impl Reachability {
    /// Whether control can come from one place to another one without passing a maker: an instruction, or without a position the
    /// entry of a block.
    pub fn reaches_past(&mut self, graph: &Graph, from: Place, to: Place, makers: &[(BlockId, Option<u32>)]) -> bool {
        // The first instruction of a block, from a position on, that is a maker.
        let next = |block: BlockId, position: u32| {
            let own = makers.iter().filter(|maker| maker.0 == block).filter_map(|maker| maker.1);
            own.filter(|&at| at >= position).min()
        };
        let comes = |block: BlockId, position: u32| {
            block == to.0 && position <= to.1 && next(block, position).is_none_or(|maker| maker >= to.1)
        };
        if from.1 < to.1 && comes(from.0, from.1) {
            return true;
        }
        let mut seen = FixedBitSet::with_capacity(graph.node_count());
        let mut waiting: Vec<u32> = Vec::new();
        if next(from.0, from.1).is_none() {
            waiting.extend(graph.successors(from.0.0));
        }
        while let Some(node) = waiting.pop() {
            self.steps = self.steps.saturating_sub(1);
            if self.steps == 0 {
                return true;
            }
            let block = BlockId(node);
            if seen.put(node as usize) || makers.contains(&(block, None)) {
                continue;
            }
            if comes(block, 0) {
                return true;
            }
            if next(block, 0).is_none() {
                waiting.extend(graph.successors(node));
            }
        }
        false
    }

    /// Whether control can come from one of the first places to one of the second.
    pub fn reaches(&mut self, graph: &Graph, from: &[Place], to: &[Place]) -> bool {
        let mut earliest: FxHashMap<BlockId, u32> = FxHashMap::default();
        for &(block, position) in from {
            let known = earliest.entry(block).or_insert(position);
            *known = position.min(*known);
        }
        if to.iter().any(|(block, position)| earliest.get(block).is_some_and(|earlier| earlier < position)) {
            return true;
        }
        let mut goal = FixedBitSet::with_capacity(graph.node_count());
        goal.extend(to.iter().map(|(block, _)| block.index()));
        let mut seen = FixedBitSet::with_capacity(graph.node_count());
        let mut waiting: Vec<u32> = earliest.keys().map(|block| block.0).collect();
        while let Some(block) = waiting.pop() {
            self.steps = self.steps.saturating_sub(1);
            if self.steps == 0 {
                return true;
            }
            for &target in graph.successors(block) {
                if goal.contains(target as usize) {
                    return true;
                }
                if !seen.put(target as usize) {
                    waiting.push(target);
                }
            }
        }
        false
    }
}
