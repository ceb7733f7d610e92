//! Reads that see the same version as an earlier read of their thread.
//!
//! **Input**: reads with their terms, and the locks that are held at all accesses. **Output**: for each such read, the earlier
//! one.
//!
//! **Algorithm**: three conditions must hold. On every backward path from the read, the walk meets the earlier read before it
//! meets an acquisition or a release of a lock L that is held at both, or a definition of the variable. The two reads have the
//! same SSA version. Every definition of another thread that the read may see holds L, in modes that exclude each other if L is a
//! readers-writer lock.
//!
//! **Soundness and limits**: between the two reads, no definition that the read may see can happen, since L is held all the time.
//! A definition that the read cannot see in any execution is not the last one before it. So the last definition before the read
//! is the last one before the earlier read. Only reads of one certain location in one context are considered.

use super::access::Table;
use super::{ReadInstance, TermSetId};
use cssame_concurrency::lockset::{ATOMIC, Hold, Locksets};
use cssame_concurrency::mutex_body::{Direction, Site, Visit, Walked, walk};
use cssame_concurrency::{Concurrency, LocationId};
use cssame_ir::{DefinitionId, Program, ReadId};
use cssame_ssa::Ssa;
use rustc_hash::FxHashMap;

/// Blocks that a walk visits at most.
const MAX_BLOCKS: usize = 64;

/// Earlier reads that a read is held against at most.
const MAX_EARLIER: usize = 4;

/// What is known of the accesses.
pub(super) struct Known<'a> {
    pub program: &'a Program,
    pub concurrency: &'a Concurrency,
    pub locksets: &'a Locksets,
    pub table: &'a Table,
    pub ssa: &'a Ssa,
    /// By access.
    pub held: &'a [Option<u32>],
    pub sets: &'a [Vec<DefinitionId>],
}

/// For reads that see the same version as an earlier one, the first of these.
pub(super) fn find_same(known: &Known<'_>, reads: &[ReadInstance]) -> FxHashMap<ReadId, ReadId> {
    let mut same = FxHashMap::default();
    // Reads of one version of a variable, in the order of blocks and events.
    let mut earlier: FxHashMap<(u32, u32), Vec<ReadInstance>> = FxHashMap::default();
    let mut guarded: FxHashMap<(TermSetId, Hold), bool> = FxHashMap::default();
    let alone = reads.chunk_by(|a, b| a.read == b.read).filter(|of| of.len() == 1);
    let mut alone: Vec<ReadInstance> = alone.map(|of| of[0]).filter(|of| known.is_under_lock(of)).collect();
    alone.sort_by_key(|of| of.access);
    for of in alone {
        let key = (known.table.variable_of(of.access), known.ssa.used(of.access as usize));
        let leaders = earlier.entry(key).or_default();
        let first = leaders.iter().find(|first| known.see_the_same(first, &of, &mut guarded)).map(|first| first.read);
        if let Some(first) = first {
            same.insert(of.read, first);
        } else if leaders.len() < MAX_EARLIER {
            leaders.push(of);
        }
    }
    same
}

impl Known<'_> {
    fn is_under_lock(&self, of: &ReadInstance) -> bool {
        let locks = self.held[of.access as usize].map(|set| self.locksets.locks(set));
        locks.is_some_and(|locks| !locks.is_empty()) && self.location(of).is_some()
    }

    fn location(&self, of: &ReadInstance) -> Option<LocationId> {
        let event = &self.concurrency.events[self.table.accesses[of.access as usize].event as usize];
        self.concurrency.certain_location(self.program, event)
    }

    fn see_the_same(
        &self,
        first: &ReadInstance,
        second: &ReadInstance,
        guarded: &mut FxHashMap<(TermSetId, Hold), bool>,
    ) -> bool {
        let locks = |of: &ReadInstance| self.held[of.access as usize].map_or(&[][..], |set| self.locksets.locks(set));
        let (held, of_first) = (locks(second), locks(first));
        self.location(first) == self.location(second)
            && held.iter().filter(|hold| of_first.contains(hold)).any(|&hold| {
                let is_guarded = *guarded
                    .entry((second.concurrent, hold))
                    .or_insert_with(|| self.hold(&self.sets[second.concurrent.index()], hold));
                is_guarded && self.is_preceded(first, second, hold.lock)
            })
    }

    /// Whether all accesses that make some definitions hold a lock, so that they exclude who has that hold.
    fn hold(&self, definitions: &[DefinitionId], hold: Hold) -> bool {
        let holds = |&access: &u32| {
            // What is never reached is never seen.
            self.held[access as usize].is_none_or(|set| self.locksets.locks(set).iter().any(|of| of.excludes(hold)))
        };
        hold.lock == ATOMIC || definitions.iter().all(|&one| self.table.events_of_definition(one).iter().all(holds))
    }

    /// Whether every way backwards from a read meets the first one under the lock, and no definition before it.
    fn is_preceded(&self, first: &ReadInstance, second: &ReadInstance, lock: LocationId) -> bool {
        let site = |of: &ReadInstance| {
            let access = self.table.accesses[of.access as usize];
            let offset = access.event - self.concurrency.first_event(access.block) as u32;
            Site { block: access.block, offset }
        };
        let (wanted, variable) = (site(first), self.table.variable_of(second.access));
        let walked =
            walk(self.concurrency, self.locksets, site(second), Direction::Backward, MAX_BLOCKS, |at, event| {
                let index = self.concurrency.first_event(at.block) + at.offset as usize;
                let (start, end) = self.table.of_event[index];
                let defines = (start..end).any(|access| {
                    self.table.accesses[access as usize].definition.is_some()
                        && self.table.variable_of(access) == variable
                });
                if at == wanted {
                    Visit::End
                } else if defines
                    || self.concurrency.may_acquire(event, lock)
                    || self.concurrency.may_release(event, lock)
                {
                    Visit::Abort
                } else {
                    Visit::Pass
                }
            });
        walked == Walked::All
    }
}
