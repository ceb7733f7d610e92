//! Determines which states lie on executions that no assumption discards.
//!
//! **Input**: the graph of a search. **Output**: the states from which some execution ends, or runs for ever, without
//! being discarded.
//!
//! **Algorithm**: the greatest set of states in which every expanded state has a successor in the set.
//! 1. Begin with all states; for each, count the edges that are not discarded.
//! 2. A state without such an edge is lost. So is a state that was not expanded, if it should count as lost ([`Unexpanded`]).
//! 3. Go backwards from lost states: a state whose last edge has led to a lost one is lost itself.
//!
//! **Soundness and limits**: exact for a complete graph. If a bound has cut the graph, the set is too small or too large,
//! depending on [`Unexpanded`]; the two sets together show what is known.

use crate::states::graph::{DISCARDED, Graph, NodeKind};
use fixedbitset::FixedBitSet;

/// What becomes of the states that were not expanded, since a bound was hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unexpanded {
    /// All their executions may be discarded: what is found lasts for certain.
    Lost,
    /// Some of their executions may last: what is not found is lost for certain.
    Lasting,
}

/// The states that can go on without being discarded.
pub fn lasting_states(graph: &Graph, unexpanded: Unexpanded) -> FixedBitSet {
    // 1. All states, with the number of their edges that lead on.
    let count = graph.len();
    let mut lasting = FixedBitSet::with_capacity(count);
    lasting.insert_range(..);
    let mut open_edges = vec![0u32; count];
    let mut lost = Vec::new();
    graph.each_edge(|node, target| open_edges[node as usize] += u32::from(target != DISCARDED));
    for node in 0..count as u32 {
        let open = open_edges[node as usize];
        // 2. Those that have none are lost.
        let is_lost = match graph.kind(node) {
            NodeKind::Expanded => open == 0,
            NodeKind::Waiting => unexpanded == Unexpanded::Lost,
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
    // 3. So are those whose last edge leads to a lost one.
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
