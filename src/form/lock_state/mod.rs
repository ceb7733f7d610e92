//! Finds terms that no state of a lock shows: executes the mutex bodies of a lock one after the other with their values.
//!
//! **Input**: the reads with their terms. **Output**: the removed terms (reason `lock-state`).
//!
//! **Algorithm**: thread-modular abstract interpretation with an invariant for each lock (as in the resource invariants of
//! Owicki and Gries 1976, found by exploration as in Flanagan and Qadeer, Thread-Modular Model Checking, 2003).
//! 1. `protected`: the cells that a lock protects, and the sites at which their values may change.
//! 2. A state is the set of sites that have run, and for each cell its last definition and, if known, its value. A site may run
//!    in a state under three conditions: all sites that certainly come before it have run, and none that certainly comes after it
//!    ([`super::before`]); and no thread waits on a condition at a place that is not parallel with it.
//! 3. `machine`, `step`, `access`: from the initial state, run each possible body up to the release, with all unprotected data
//!    unknown. This produces new states, until there are no more. If there are too many states, repeat this with only the values
//!    that stores of constants give.
//! 4. A read in a body may see the definitions that it has met. A read outside may see the definitions of all states in which it
//!    may run. Definitions of its own thread stay terms: selections decide which of them go together.
//!
//! **Soundness and limits**: the bodies of a lock exclude each other, and the protected cells that they read change only at
//! sites. So each execution is a sequence of sites as in step 2, and each body behaves like some abstract run of it. `own_swap`
//! finds in the same way those reads of a thread that its own successful `cas` does not reach. A lock with more than
//! [`MAX_STATES`] states, or whose bodies take more than [`MAX_STEPS`] instructions, prunes nothing. Locks after a total of
//! [`MAX_ALL_STEPS`] instructions, or beyond [`MAX_VISITS`] visits of blocks, prune nothing either.

mod access;
mod machine;
mod own_swap;
mod protected;
mod step;

use super::access::Table;
use super::before::{certainly_before, possibly_before};
use super::{Pruned, ReadInstance, Reason, TermSetId};
use cssame_concurrency::lockset::Locksets;
use cssame_concurrency::{Concurrency, KnownReads, LocationId};
use cssame_ir::{DefinitionId, Program, ReadId};
use machine::{Machine, Seen, Values};
use protected::{Finder, MAX_SITES, Protected};
use rustc_hash::{FxHashMap, FxHashSet};

/// States of one lock, those in the middle of a body included.
const MAX_STATES: usize = 4096;

/// Instructions that the bodies of one lock take.
const MAX_STEPS: usize = 50_000;

/// Instructions that the bodies of all locks take.
const MAX_ALL_STEPS: usize = 200_000;

/// Visits of blocks that finding the order of sites takes, for all locks.
const MAX_VISITS: usize = 1_000_000;

/// Locks that are looked at.
const MAX_LOCKS: usize = 32;

/// What is known of the accesses.
pub(super) struct LockStates<'a> {
    pub program: &'a Program,
    pub concurrency: &'a Concurrency,
    pub locksets: &'a Locksets,
    pub table: &'a Table,
    pub known: &'a KnownReads,
    /// By access.
    pub held: &'a [Option<u32>],
}

/// In which order the sites of a lock can run; the observers stand behind the sites.
#[derive(Debug, Default)]
struct Order {
    /// By site: the sites that have certainly run before.
    certain: Vec<u64>,
    /// By site: those that may have.
    possible: Vec<u64>,
    /// By site: those that may run in parallel with it.
    parallel: Vec<u64>,
}

impl LockStates<'_> {
    /// Takes the terms out of reads that no state of a lock shows, and notes them.
    pub fn exclude(
        &self,
        reads: &mut [ReadInstance],
        sets: &mut Vec<Vec<DefinitionId>>,
        excluded: &mut FxHashMap<ReadId, Vec<Pruned>>,
    ) {
        let mut smaller: FxHashMap<Vec<DefinitionId>, TermSetId> = FxHashMap::default();
        for (lock, seen) in self.find_seen(reads, sets) {
            for of in &mut *reads {
                let Some(seen) = seen.get(&self.table.accesses[of.access as usize].event) else { continue };
                let mut left = 0;
                let mut gone: Vec<DefinitionId> = Vec::new();
                for &definition in sets[of.control.index()].iter().chain(&sets[of.concurrent.index()]) {
                    let is_kept = seen.contains(&definition) || self.made_by_reader(of.access, definition);
                    if is_kept { left += 1 } else { gone.push(definition) }
                }
                // A read without any term never runs; that is left to others to say.
                if left == 0 || gone.is_empty() {
                    continue;
                }
                for set in [&mut of.control, &mut of.concurrent] {
                    let rest: Vec<DefinitionId> =
                        sets[set.index()].iter().copied().filter(|one| !gone.contains(one)).collect();
                    if rest.len() < sets[set.index()].len() {
                        *set = *smaller.entry(rest).or_insert_with_key(|rest| {
                            sets.push(rest.clone());
                            TermSetId::new(sets.len() - 1)
                        });
                    }
                }
                let pruned = |definition| Pruned { definition, reason: Reason::LockState, lock: Some(lock) };
                excluded.entry(of.read).or_default().extend(gone.into_iter().map(pruned));
            }
        }
    }

    /// Whether the thread of a read makes a definition itself, and no other does.
    fn made_by_reader(&self, access: u32, definition: DefinitionId) -> bool {
        let thread = |access: u32| self.concurrency.thread_of(self.table.block_of(access));
        let made = self.table.events_of_definition(definition);
        !made.is_empty() && made.iter().all(|&made| thread(made) == thread(access))
    }

    /// For each lock that is looked at, what its reads may see.
    fn find_seen(&self, reads: &[ReadInstance], sets: &[Vec<DefinitionId>]) -> Vec<(LocationId, Seen)> {
        let blocks = self.concurrency.flow.node_count().max(1);
        let count = MAX_LOCKS.min(MAX_VISITS / blocks);
        let useful = self.useful_locks(reads, sets);
        if count == 0 || useful.is_empty() || self.concurrency.threads.iter().any(|thread| thread.unordered) {
            return Vec::new();
        }
        let acquisitions = protected::find_acquisitions(self.program, self.concurrency, self.locksets);
        let finder = Finder {
            program: self.program,
            concurrency: self.concurrency,
            locksets: self.locksets,
            table: self.table,
            held: self.held,
            of_part: protected::accesses_of_parts(self.table),
        };
        let mut found = Vec::new();
        let mut steps_left = MAX_ALL_STEPS;
        for (&lock, sites) in acquisitions.iter().filter(|(lock, _)| useful.contains(*lock)).take(count) {
            let Some(protected) = finder.find(lock, sites) else { continue };
            found.extend(self.seen(lock, &protected, &mut steps_left).map(|seen| (lock, seen)));
        }
        found
    }

    /// The locks under which a read has several terms.
    fn useful_locks(&self, reads: &[ReadInstance], sets: &[Vec<DefinitionId>]) -> FxHashSet<LocationId> {
        let several = reads.iter().filter(|of| sets[of.control.index()].len() + sets[of.concurrent.index()].len() > 1);
        let held: FxHashSet<u32> = several.filter_map(|of| self.held[of.access as usize]).collect();
        held.into_iter().flat_map(|set| self.locksets.locks(set)).map(|hold| hold.lock).collect()
    }

    /// Steps 2 to 4: what the reads of a lock may see.
    fn seen(&self, lock: LocationId, protected: &Protected, steps_left: &mut usize) -> Option<Seen> {
        let order = self.order(protected);
        [Values::All, Values::Constants].into_iter().find_map(|values| {
            let mut machine = Machine::new(self, lock, (protected, &order), values);
            machine.max_steps = MAX_STEPS.min(*steps_left);
            let initial = machine.initial();
            let is_done = machine.run(initial);
            *steps_left = steps_left.saturating_sub(machine.steps);
            is_done.then(|| machine.into_seen())
        })
    }

    /// The order of the sites, and for the observers behind them.
    fn order(&self, protected: &Protected) -> Order {
        let concurrency = self.concurrency;
        let mut own = vec![0; concurrency.flow.node_count()];
        for (index, site) in protected.sites.iter().enumerate() {
            own[site.at.block as usize] |= 1 << index;
        }
        let (certain, possible) = (certainly_before(concurrency, &own, &|_, _| 0), possibly_before(concurrency, &own));
        let places = protected.sites.iter().map(|site| site.at).chain(protected.observers.iter().map(|of| of.1));
        let mut order = Order::default();
        for place in places {
            let earlier = protected.sites.iter().enumerate().fold(0, |bits, (index, site)| {
                let is_earlier = site.at.block == place.block && site.at.offset < place.offset;
                bits | u64::from(is_earlier) << index
            });
            let parallel = protected.sites.iter().enumerate().fold(0, |bits, (index, site)| {
                bits | u64::from(concurrency.parallel(site.at.block, place.block)) << index
            });
            order.certain.push(certain[place.block as usize] | earlier);
            order.possible.push(possible[place.block as usize] | earlier | parallel);
            order.parallel.push(parallel);
        }
        debug_assert!(protected.sites.len() <= MAX_SITES);
        order
    }
}
