//! Live regions of child threads: for each fork, the blocks of the parent between the fork and the matching join.
//!
//! **Input**: the local graph, the forks and the joins. **Output**: for each block, the live regions that contain it; for each
//! thread, its live region; the threads that may have several instances or be unordered.
//!
//! **Algorithm**
//! 1. A region contains the blocks that are reachable after the fork without entering a matching join: the join of a `cobegin` or
//!    `parfor`; for a spawned thread, a join of its handle, if the handle certainly refers to that thread
//!    ([`super::join_target`]).
//! 2. A fork in its own region creates several instances. Then no join ends the region, since it waits for only one of them.
//! 3. A spawned thread whose region reaches the exit of a parent other than `main` may outlive it: it is unordered. So is
//!    every thread below an unordered one.
//!
//! **Soundness and limits**: a thread is alive only while its parent is in its region (or, unordered, at any time). Regions
//! together contain at most [`MAX_REGION_BLOCKS`] blocks; threads beyond that are unordered.

use super::builder::GraphBuilder;
use super::repetition::may_be_many;
use super::{MAIN_THREAD, RegionId, ThreadId, join_target};
use cssame_ssa::graph::Graph;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// Regions together may hold that many blocks; threads beyond are unordered.
const MAX_REGION_BLOCKS: usize = 20_000_000;

/// The regions of each block that lies in any.
#[derive(Clone, Debug, Default)]
pub struct Regions {
    of_block: FxHashMap<u32, SmallVec<[RegionId; 2]>>,
    count: u32,
}

impl Regions {
    /// The regions that a block lies in, sorted.
    pub fn of(&self, block: u32) -> &[RegionId] {
        self.of_block.get(&block).map_or(&[], |regions| regions.as_slice())
    }

    pub fn contains(&self, region: Option<RegionId>, block: u32) -> bool {
        region.is_some_and(|region| self.of(block).contains(&region))
    }
}

/// Finds the region of every thread; marks spawned threads that may have several instances at once.
pub(super) fn find_regions(builder: &mut GraphBuilder<'_>, local: &Graph) -> Regions {
    let mut regions = Regions::default();
    let mut total = 0;
    let mut forks: Vec<u32> = builder.forks.keys().copied().collect();
    forks.sort_unstable();
    let joined: FxHashMap<u32, u32> = builder.joined.iter().copied().collect();
    let mut handle_joins = join_target::joins_of_spawns(builder);
    for fork in forks {
        let threads = builder.forks[&fork].clone();
        let Some(&first) = threads.first() else { continue };
        let spawned = builder.unfolding.threads[first].spawned;
        let ends: FxHashSet<u32> = if !spawned {
            joined.get(&fork).copied().into_iter().collect()
        } else if builder.unfolding.threads[first].multiple {
            FxHashSet::default()
        } else {
            let joins = handle_joins.remove(&fork).unwrap_or_default();
            let parent = builder.unfolding.threads[first].parent.unwrap_or(MAIN_THREAD);
            // Parents come first, so it is known whether there may be several of this one at once.
            let is_one = !may_be_many(&builder.unfolding.threads, parent);
            let shared = joins.shared.into_iter().filter(|_| is_one);
            joins.own.into_iter().chain(shared).collect()
        };
        // Step 1: the blocks before a matching join.
        let mut blocks = reach(local, fork, &ends);
        let again = spawned && blocks.contains(&fork);
        if again {
            // Step 2: of several instances a join ends only one.
            blocks = reach(local, fork, &FxHashSet::default());
        } else if spawned {
            wire_handle_joins(builder, local, fork, first, &ends);
        }
        total += blocks.len();
        let parent = builder.unfolding.threads[first].parent.unwrap_or(MAIN_THREAD);
        let parent_exit = builder.unfolding.contexts[builder.unfolding.threads[parent].root].exit;
        // Step 3: a thread that may outlive the one that made it.
        let outlives = spawned && parent != MAIN_THREAD && blocks.contains(&parent_exit);
        for &thread in &threads {
            let thread = &mut builder.unfolding.threads[thread];
            thread.multiple |= again;
            thread.unordered |= outlives || total > MAX_REGION_BLOCKS;
            thread.multiple |= thread.unordered;
        }
        let region = RegionId(regions.count);
        regions.count += 1;
        if total <= MAX_REGION_BLOCKS {
            for block in blocks {
                regions.of_block.entry(block).or_default().push(region);
            }
        }
        for thread in threads {
            builder.unfolding.threads[thread].region = Some(region);
        }
    }
    // Step 3, continued: a thread below an unordered one is unordered as well; parents come before their children.
    for thread in builder.unfolding.threads.ids() {
        let parent = builder.unfolding.threads[thread].parent;
        if parent.is_some_and(|parent| builder.unfolding.threads[parent].unordered) {
            builder.unfolding.threads[thread].unordered = true;
            builder.unfolding.threads[thread].multiple = true;
        }
    }
    regions
}

/// Lets values pass from the end of a spawned thread to the joins of its handle.
fn wire_handle_joins(
    builder: &mut GraphBuilder<'_>,
    local: &Graph,
    fork: u32,
    thread: ThreadId,
    ends: &FxHashSet<u32>,
) {
    let exit = builder.unfolding.contexts[builder.unfolding.threads[thread].root].exit;
    let mut ends: Vec<u32> = ends.iter().copied().collect();
    ends.sort_unstable();
    for end in ends {
        builder.flow_edges.push((exit, end));
        let branches = vec![vec![exit], local.predecessors(end).to_vec()];
        builder.and_joins.push(super::AndJoin { block: end, marker: fork, branches, threads: vec![thread] });
    }
}

/// Blocks that can be reached behind `from` without entering one of `ends`, sorted; `from` itself only through a cycle.
pub(super) fn reach(local: &Graph, from: u32, ends: &FxHashSet<u32>) -> Vec<u32> {
    let mut seen: FxHashSet<u32> = FxHashSet::default();
    let mut waiting: Vec<u32> = local.successors(from).to_vec();
    while let Some(block) = waiting.pop() {
        if !ends.contains(&block) && seen.insert(block) {
            waiting.extend(local.successors(block));
        }
    }
    let mut blocks: Vec<u32> = seen.into_iter().collect();
    blocks.sort_unstable();
    blocks
}
