//! Control definitions: the definitions that reach an SSA version.
//!
//! **Input**: the SSA form over the value-flow graph. **Output**: [`Reaching`]: for a version, the accesses that may have created
//! its value, and whether its value may be the initial value of a global.
//!
//! **Algorithm** (pruning rule `overwritten`)
//! 1. Walk back from the version through phi functions and weak definitions to the accesses that create values.
//! 2. At a merge where all branches have run (a join, a barrier, a wait for a signal), consider the version that was current
//!    where the branches parted, its *marker*.
//! 3. That version is dropped from the merge under two conditions. Some branch can only be passed with another version, that is,
//!    a backward walk from the branch does not meet it. No definition that reaches it can run while the branches do. A branch
//!    may pass through merges of its own, such as a wait for another event: a version that is dropped there is not met after
//!    them. So merges are examined again as long as another version was dropped.
//!
//! **Soundness and limits**: on the branch of step 3, a definition replaces the old value after the parting in every execution.
//! All branches have run at the merge, so the old value is gone. A check of more than [`MAX_VERSIONS`] versions drops nothing.

use super::access::Table;
use cssame_concurrency::{Concurrency, ThreadId};
use cssame_ssa::{AccessKind, NO_VERSION, Origin, Ssa};
use rustc_hash::{FxHashMap, FxHashSet};

/// What may be the value of a version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Reaching {
    /// Accesses that write, sorted.
    pub accesses: Vec<u32>,
    /// Whether the initial value may.
    pub initial: bool,
}

/// Whether a walk leaves out the versions that are dropped at merges where all branches have run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Drops {
    /// It does.
    Applied,
    /// It passes every phi function with all arguments.
    Ignored,
}

/// Finds the definitions that reach versions.
pub(super) struct ReachingDefinitions<'a> {
    pub concurrency: &'a Concurrency,
    pub table: &'a Table,
    pub ssa: &'a Ssa,
    /// Phi functions (by index) at which a version (of the same variable) is dropped.
    dropped: FxHashMap<u32, u32>,
    memo: FxHashMap<usize, Reaching>,
}

/// Merges in a row, each of which is looked at behind those that come before it in time, not in the list.
const MAX_PASSES: usize = 8;

/// A walk that checks a merge follows at most that many versions.
const MAX_VERSIONS: usize = 10_000;

impl<'a> ReachingDefinitions<'a> {
    pub fn new(concurrency: &'a Concurrency, table: &'a Table, ssa: &'a Ssa) -> ReachingDefinitions<'a> {
        let mut found =
            ReachingDefinitions { concurrency, table, ssa, dropped: FxHashMap::default(), memo: FxHashMap::default() };
        found.find_dropped();
        found
    }

    /// What reaches a version.
    pub fn reaching(&mut self, variable: u32, version: u32) -> Reaching {
        if version == NO_VERSION {
            return Reaching::default();
        }
        let value = self.ssa.value(variable, version);
        if let Some(known) = self.memo.get(&value) {
            return known.clone();
        }
        let (reaching, _) = self.walk_back(variable, &[version], None, Drops::Applied, usize::MAX);
        self.memo.insert(value, reaching.clone());
        reaching
    }

    /// What reaches a version where nothing is dropped.
    pub fn reaching_without_drops(&self, variable: u32, version: u32) -> Reaching {
        if version == NO_VERSION {
            return Reaching::default();
        }
        self.walk_back(variable, &[version], None, Drops::Ignored, usize::MAX).0
    }

    /// Walks back from versions, not past `stop`; says whether `stop` was met. Past `limit` versions it pretends that it was.
    fn walk_back(
        &self,
        variable: u32,
        from: &[u32],
        stop: Option<u32>,
        drops: Drops,
        limit: usize,
    ) -> (Reaching, bool) {
        let mut reaching = Reaching::default();
        let mut met = false;
        // A version is visited once for each version that is being dropped on the way to it.
        let mut seen: FxHashSet<(u32, Option<u32>)> = FxHashSet::default();
        let mut waiting: Vec<(u32, Option<u32>)> = from.iter().map(|&version| (version, None)).collect();
        while let Some((version, without)) = waiting.pop() {
            if version == NO_VERSION || Some(version) == without {
                continue;
            }
            if Some(version) == stop {
                met = true;
                continue;
            }
            if !seen.insert((version, without)) {
                continue;
            }
            if seen.len() > limit {
                return (reaching, true);
            }
            match self.ssa.origin(variable, version) {
                Origin::Entry => reaching.initial = true,
                Origin::Access(access) => {
                    reaching.accesses.push(access);
                    if self.table.ssa.all()[access as usize].kind == AccessKind::WeakDefinition {
                        waiting.push((self.ssa.used(access as usize), without));
                    }
                }
                Origin::Phi(phi) => {
                    let dropped = match drops {
                        Drops::Applied => self.dropped.get(&phi).copied().or(without),
                        Drops::Ignored => None,
                    };
                    waiting.extend(self.ssa.arguments(phi as usize).iter().map(|&argument| (argument, dropped)));
                }
            }
        }
        reaching.accesses.sort_unstable();
        reaching.accesses.dedup();
        (reaching, met)
    }

    /// Finds the phi functions at merges of branches that have all run, of which one certainly replaces the value from before.
    fn find_dropped(&mut self) {
        // Step 2: the version that was current where the branches parted.
        let mut open = Vec::new();
        for (index, join) in self.concurrency.and_joins.iter().enumerate() {
            if !self.concurrency.dominators.dominates(join.marker, join.block) {
                continue;
            }
            for phi in self.ssa.phis_of_block(join.block) {
                let variable = self.ssa.phis()[phi].variable;
                let Some(&marker) = self.table.markers.get(&(index as u32, variable)) else { continue };
                let before = self.ssa.used(marker as usize);
                if before != NO_VERSION {
                    open.push((index, phi, variable, before));
                }
            }
        }
        for _ in 0..MAX_PASSES {
            let still_open = open.len();
            open.retain(|&(index, phi, variable, before)| {
                let is_dropped = self.replaced(index, phi, variable, before);
                if is_dropped {
                    self.dropped.insert(phi as u32, before);
                }
                !is_dropped
            });
            if open.len() == still_open {
                break;
            }
        }
    }

    /// Step 3: whether some branch certainly replaces the version from before the parting.
    fn replaced(&self, join: usize, phi: usize, variable: u32, before: u32) -> bool {
        let join = &self.concurrency.and_joins[join];
        let predecessors = self.concurrency.flow.predecessors(join.block);
        let arguments = self.ssa.arguments(phi);
        let certain = join.branches.iter().any(|branch| {
            let of_branch: Vec<u32> = predecessors
                .iter()
                .zip(arguments)
                .filter(|(predecessor, argument)| branch.contains(predecessor) && **argument != NO_VERSION)
                .map(|(_, &argument)| argument)
                .collect();
            if of_branch.is_empty() {
                return false;
            }
            let (_, met) = self.walk_back(variable, &of_branch, Some(before), Drops::Applied, MAX_VERSIONS);
            // A branch that shows the variable's value at entry has not replaced it either.
            !met && !of_branch.contains(&before)
        });
        certain && !self.made_meanwhile(&join.threads, variable, before)
    }

    /// Whether a definition behind `before` can also run while the branches do: it may then be newer than theirs.
    fn made_meanwhile(&self, threads: &[ThreadId], variable: u32, before: u32) -> bool {
        let (reaching, _) = self.walk_back(variable, &[before], None, Drops::Ignored, MAX_VERSIONS);
        reaching.accesses.iter().any(|&access| {
            let block = self.table.block_of(access);
            let regions = threads.iter().map(|&thread| self.concurrency.threads[thread].region);
            regions.into_iter().any(|region| self.concurrency.regions.contains(region, block))
        })
    }
}
