//! Which states belong to executions that no assumption discards.
//!
//! In: the graph of a search. Out: the states from which some execution ends, or runs for ever, without being discarded:
//! the greatest set in which every expanded state has a successor of the set. Found by taking away, backwards, the
//! states that have none left.

use crate::explore::states::graph::{DISCARDED, Graph, NodeKind};
use fixedbitset::FixedBitSet;

/// The states that can go on without being discarded. `waiting` says what to make of states that were not expanded.
pub(in crate::explore) fn lasting_states(graph: &Graph, waiting: bool) -> FixedBitSet {
    let count = graph.len();
    let mut lasting = FixedBitSet::with_capacity(count);
    lasting.insert_range(..);
    let mut open_edges = vec![0u32; count];
    let mut lost = Vec::new();
    for node in 0..count as u32 {
        let open = graph.edges(node).iter().filter(|&&target| target != DISCARDED).count() as u32;
        open_edges[node as usize] = open;
        let is_lost = match graph.kind(node) {
            NodeKind::Expanded => open == 0,
            NodeKind::Waiting => !waiting,
            NodeKind::Finished | NodeKind::Failed | NodeKind::Deadlock => false,
        };
        if is_lost {
            lasting.remove(node as usize);
            lost.push(node);
        }
    }
    if lost.is_empty() {
        return lasting;
    }
    let reversed = graph.reversed();
    while let Some(node) = lost.pop() {
        for &source in reversed.sources(node) {
            let open = &mut open_edges[source as usize];
            *open -= 1;
            if *open == 0 && lasting.contains(source as usize) {
                lasting.remove(source as usize);
                lost.push(source);
            }
        }
    }
    lasting
}
