//! Pairs of accesses that occur in one order only.
//!
//! **Input**: the whole graph of a search, the steps that make each requested access, and pairs. **Output**: the pairs of which
//! one access comes before the other in every execution that has both.
//!
//! **Algorithm**: an access b never comes before an access a if no step that makes a begins in a state that can be reached from
//! the state after a step that makes b. This is a forward search from those states.
//!
//! **Soundness and limits**: exact for a whole graph. Pairs are examined as long as the amount of work is reasonable.

use super::AlwaysBefore;
use super::recorder::Recorder;
use crate::states::graph::{DISCARDED, Graph};
use cssame_ir::Access;
use fixedbitset::FixedBitSet;

/// States that all searches together may visit.
const MAX_WORK: usize = 20_000_000;

/// The pairs that have one order only.
pub(super) fn ordered(graph: &Graph, recorder: &Recorder<'_>, wanted: &[[Access; 2]]) -> Vec<AlwaysBefore> {
    let mut found = Vec::new();
    let mut left = MAX_WORK;
    let racing = |pair: &[Access; 2]| recorder.pairs.iter().any(|known| known.accesses == *pair);
    for pair in wanted.iter().filter(|pair| pair[0] != pair[1] && !racing(pair)) {
        for [first, second] in [*pair, [pair[1], pair[0]]] {
            if left < graph.len() {
                return found;
            }
            let (Some(early), Some(late)) = (recorder.steps.get(&first), recorder.steps.get(&second)) else { continue };
            // What never happens is in no order.
            if early.is_empty() || late.is_empty() {
                break;
            }
            left -= graph.len();
            let behind = reachable(graph, late.iter().map(|step| step.1));
            if early.iter().all(|step| !behind.contains(step.0 as usize)) {
                found.push(AlwaysBefore { first, second });
                break;
            }
        }
    }
    found
}

/// The states that can be reached from some others, those included.
fn reachable(graph: &Graph, from: impl Iterator<Item = u32>) -> FixedBitSet {
    let mut found = FixedBitSet::with_capacity(graph.len());
    let (lists, mut open) = (graph.edge_lists(), Vec::new());
    let mut enter = |node: u32, open: &mut Vec<u32>| {
        if node != DISCARDED && !found.put(node as usize) {
            open.push(node);
        }
    };
    from.for_each(|node| enter(node, &mut open));
    while let Some(node) = open.pop() {
        lists.of(node).iter().for_each(|&target| enter(target, &mut open));
    }
    found
}
