//! Reachability between places of one function.
//!
//! **Input**: a flow graph and two lists of places. **Output**: whether control can come from one of the first to one of the
//! second, by a search through the blocks. All searches together visit at most [`MAX_STEPS`] blocks; beyond that the answer is
//! yes.

use crate::ir::BlockId;
use crate::ssa::graph::Graph;
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
