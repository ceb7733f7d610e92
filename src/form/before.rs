//! The events that have certainly, or possibly, happened when control reaches a block.
//!
//! **Input**: for each block, the facts that it establishes, as a set of at most 64 bits. **Output**: for each block, the facts
//! that hold at its beginning on all paths, or on some path.
//!
//! **Algorithm**: forward data flow over the value-flow graph. On all paths: blocks and edges add facts, paths meet by
//! intersection, and at the join of a `cobegin` or a `parfor` each thread adds its own facts. On some path: paths meet by union.
//!
//! **Soundness and limits**: the blocks that an execution runs before a block contain a path of the value-flow graph to it, so a
//! fact that holds on all paths of this graph has happened. An event that has happened before a block and cannot run in parallel
//! with it has a path of value flow to it.

use cssame_concurrency::{AndJoin, Concurrency, EventKind};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// The facts that hold at the begin of each block on all ways; `own` are those that blocks add, `side` those of edges.
pub(super) fn certainly_before(concurrency: &Concurrency, own: &[u64], side: &dyn Fn(u32, u32) -> u64) -> Vec<u64> {
    let flow = &concurrency.flow;
    let joins: FxHashMap<u32, &AndJoin> = concurrency.and_joins.iter().map(|join| (join.block, join)).collect();
    // Everything counts as happened until a way shows that it may not be.
    let mut at_entry = vec![u64::MAX; flow.node_count()];
    at_entry[0] = 0;
    let mut queued = vec![false; flow.node_count()];
    let mut waiting: VecDeque<u32> = VecDeque::from([0]);
    while let Some(block) = waiting.pop_front() {
        queued[block as usize] = false;
        for &next in flow.successors(block) {
            let out = |&before: &u32| at_entry[before as usize] | own[before as usize] | side(before, next);
            let meet = |ways: &[u32]| ways.iter().map(out).fold(u64::MAX, |all, one| all & one);
            // Behind a fork there is a block that no value passes: what holds of it is not known.
            let is_passed = |ways: &[u32]| ways.iter().any(|&way| concurrency.dominators.is_reachable(way));
            let met = match joins.get(&next) {
                Some(join) if is_join(concurrency, next) => {
                    let branches = join.branches.iter().filter(|ways| is_passed(ways));
                    branches.map(|ways| meet(ways)).fold(0, |all, one| all | one)
                }
                _ => meet(flow.predecessors(next)),
            };
            if next != 0 && met != at_entry[next as usize] {
                at_entry[next as usize] = met;
                if !std::mem::replace(&mut queued[next as usize], true) {
                    waiting.push_back(next);
                }
            }
        }
    }
    at_entry
}

/// The facts that hold at the begin of each block on some way.
pub(super) fn possibly_before(concurrency: &Concurrency, own: &[u64]) -> Vec<u64> {
    let flow = &concurrency.flow;
    let mut at_entry = vec![0; flow.node_count()];
    let sources = (0..flow.node_count() as u32).filter(|&block| own[block as usize] != 0);
    let mut waiting: VecDeque<u32> = sources.collect();
    while let Some(block) = waiting.pop_front() {
        let out = at_entry[block as usize] | own[block as usize];
        for &next in flow.successors(block) {
            if at_entry[next as usize] | out != at_entry[next as usize] {
                at_entry[next as usize] |= out;
                waiting.push_back(next);
            }
        }
    }
    at_entry
}

/// Whether a block begins with the join of a `cobegin` or a `parfor`.
fn is_join(concurrency: &Concurrency, block: u32) -> bool {
    concurrency.events_of(block).first().is_some_and(|event| event.kind == EventKind::Join)
}
