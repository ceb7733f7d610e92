//! Forward analyses over the control flow within threads, with interned sets.
//!
//! **Input**: the unfolded graph, the transfer function of a block, and the meet operation of sets. **Output**: for each block
//! the set at its beginning; none if control does not reach it.
//!
//! **Algorithm**: a worklist from the entries of all threads, which begin with the empty set. At merges of paths, sets only
//! shrink, or only grow, so the algorithm terminates.

use super::Concurrency;
use super::set_table::SetId;
use std::collections::VecDeque;

/// Solves the equations. `state` holds the sets; `behind` gives the set behind a block for that before it.
pub fn solve<S>(
    concurrency: &Concurrency,
    state: &mut S,
    behind: impl Fn(&mut S, SetId, u32) -> SetId,
    meet: impl Fn(&mut S, SetId, SetId) -> SetId,
) -> Vec<Option<SetId>> {
    let count = concurrency.local.node_count();
    let mut at_entry: Vec<Option<SetId>> = vec![None; count];
    let mut queued = vec![false; count];
    let mut waiting = VecDeque::new();
    for thread in concurrency.threads.iter() {
        let entry = concurrency.contexts[thread.root].entry;
        at_entry[entry as usize] = Some(0);
        if !std::mem::replace(&mut queued[entry as usize], true) {
            waiting.push_back(entry);
        }
    }
    while let Some(block) = waiting.pop_front() {
        queued[block as usize] = false;
        let Some(before) = at_entry[block as usize] else { continue };
        let set = behind(state, before, block);
        for &target in concurrency.local.successors(block) {
            let joined = match at_entry[target as usize] {
                Some(known) => meet(state, known, set),
                None => set,
            };
            if at_entry[target as usize] != Some(joined) {
                at_entry[target as usize] = Some(joined);
                if !std::mem::replace(&mut queued[target as usize], true) {
                    waiting.push_back(target);
                }
            }
        }
    }
    at_entry
}
