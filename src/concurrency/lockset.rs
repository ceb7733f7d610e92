//! Locksets: for each block and each event, the locks that its thread certainly holds.
//!
//! **Input**: the unfolded graph. **Output**: [`Locksets`], interned sets of lock locations.
//!
//! **Algorithm** (forward must-analysis; locksets as in Savage et al. 1997, but static)
//! 1. Candidates for locks are all locks, and the semaphores that begin with 1 and are never named ambiguously.
//! 2. Solve the dataflow equations over the local graph: an acquisition adds its lock, a release removes all locks that it may
//!    mean, and sets meet by intersection. Every thread begins with the empty set.
//! 3. Drop the semaphores that some thread raises without holding them (they are no mutexes), and solve again until none is
//!    dropped.
//!
//! **Soundness and limits**: a lock of a set is held on every path to the event. Not seen: locks made of variables (`cas`,
//! Peterson's), and which of several locks an ambiguous reference means.

use super::set_table::{SetId, SetTable};
use super::{Concurrency, Event, EventKind, LocationId};
use crate::ir::sync::{Kind, ObjectKind};
use crate::ir::{LeafKind, Program, Value};
use rustc_hash::FxHashSet;

/// Names an interned set of locks; 0 is the empty set.
pub type LocksetId = SetId;

/// Stands in the sets for "inside an atomic block", which all other threads respect.
pub const ATOMIC: LocationId = LocationId(u32::MAX);

/// Sets of held locks.
#[derive(Clone, Debug)]
pub struct Locksets {
    sets: SetTable<LocationId>,
    /// At the begin of each block; `None` where control does not come.
    at_entry: Vec<Option<LocksetId>>,
    /// Semaphores that work as locks.
    pub mutex_semaphores: FxHashSet<LocationId>,
}

impl Locksets {
    /// The locks of a set, sorted.
    #[must_use]
    pub fn locks(&self, set: LocksetId) -> &[LocationId] {
        self.sets.get(set)
    }

    /// What is held at the begin of a block; `None` where control does not come.
    #[must_use]
    pub fn at_entry(&self, block: u32) -> Option<LocksetId> {
        self.at_entry[block as usize]
    }

    /// Whether an object that an operation acquires is a lock, or works as one.
    #[must_use]
    pub fn is_lock(&self, kind: Kind, object: LocationId) -> bool {
        kind.is_on(ObjectKind::Lock) || self.mutex_semaphores.contains(&object)
    }

    /// What is held behind an event, where `set` is held before it.
    pub fn step(&mut self, program: &Program, concurrency: &Concurrency, set: LocksetId, event: &Event) -> LocksetId {
        match event.kind {
            EventKind::Synchronise(kind) if kind.only_acquires() => {
                match concurrency.certain(program, concurrency.acquired_by(event)) {
                    Some(lock) if self.is_lock(kind, lock) => self.sets.with(set, lock),
                    _ => set,
                }
            }
            EventKind::Synchronise(kind) if kind.only_releases() => {
                let released = concurrency.released_by(event);
                self.sets.retain(set, |lock| !released.contains(&lock))
            }
            EventKind::AtomicBegin => self.sets.with(set, ATOMIC),
            EventKind::AtomicEnd => self.sets.retain(set, |lock| lock != ATOMIC),
            _ => set,
        }
    }
}

/// Computes the locks held everywhere.
#[must_use]
pub fn find_locksets(program: &Program, concurrency: &Concurrency) -> Locksets {
    // Step 1.
    let mut candidates = mutex_candidates(program, concurrency);
    loop {
        // Step 2.
        let mut locksets = solve(program, concurrency, candidates.clone());
        // Step 3: fewer candidates mean smaller sets, so this ends.
        let wrong = wrong_releases(program, concurrency, &mut locksets);
        if wrong.is_empty() {
            return locksets;
        }
        candidates.retain(|semaphore| !wrong.contains(semaphore));
    }
}

fn mutex_candidates(program: &Program, concurrency: &Concurrency) -> FxHashSet<LocationId> {
    let mut candidates = FxHashSet::default();
    let mut doubtful = FxHashSet::default();
    for event in &concurrency.events {
        if !event.kind.synchronisation().is_some_and(|kind| kind.is_on(ObjectKind::Semaphore)) {
            continue;
        }
        match concurrency.certain_location(program, event) {
            Some(location) => {
                let leaf = &program.leaves[concurrency.locations[location].leaf];
                if leaf.kind == LeafKind::Semaphore && leaf.initial.first() == Some(&Value::Int(1)) {
                    candidates.insert(location);
                }
            }
            None => doubtful.extend(concurrency.locations_of(event).iter().copied()),
        }
    }
    candidates.retain(|location| !doubtful.contains(location));
    candidates
}

/// Candidates that are raised somewhere by a thread that may not hold them.
fn wrong_releases(program: &Program, concurrency: &Concurrency, locksets: &mut Locksets) -> FxHashSet<LocationId> {
    let mut wrong = FxHashSet::default();
    if locksets.mutex_semaphores.is_empty() {
        return wrong;
    }
    for block in 0..concurrency.blocks.len() as u32 {
        let Some(mut set) = locksets.at_entry(block) else { continue };
        for event in concurrency.events_of(block) {
            if event
                .kind
                .synchronisation()
                .is_some_and(|kind| kind.only_releases() && kind.is_on(ObjectKind::Semaphore))
                && let Some(location) = concurrency.certain_location(program, event)
                && locksets.mutex_semaphores.contains(&location)
                && !locksets.locks(set).contains(&location)
            {
                wrong.insert(location);
            }
            set = locksets.step(program, concurrency, set, event);
        }
    }
    wrong
}

fn solve(program: &Program, concurrency: &Concurrency, mutex_semaphores: FxHashSet<LocationId>) -> Locksets {
    let count = concurrency.local.node_count();
    let mut locksets = Locksets { sets: SetTable::new(usize::MAX), at_entry: vec![None; count], mutex_semaphores };
    let mut queued = vec![false; count];
    let mut waiting: std::collections::VecDeque<u32> = std::collections::VecDeque::new();
    for thread in concurrency.threads.iter() {
        let entry = concurrency.contexts[thread.root].entry;
        locksets.at_entry[entry as usize] = Some(0);
        if !std::mem::replace(&mut queued[entry as usize], true) {
            waiting.push_back(entry);
        }
    }
    while let Some(block) = waiting.pop_front() {
        queued[block as usize] = false;
        let Some(mut set) = locksets.at_entry[block as usize] else { continue };
        for event in concurrency.events_of(block) {
            set = locksets.step(program, concurrency, set, event);
        }
        for &target in concurrency.local.successors(block) {
            let joined = match locksets.at_entry[target as usize] {
                Some(known) => locksets.sets.intersection(known, set),
                None => set,
            };
            if locksets.at_entry[target as usize] != Some(joined) {
                locksets.at_entry[target as usize] = Some(joined);
                if !std::mem::replace(&mut queued[target as usize], true) {
                    waiting.push_back(target);
                }
            }
        }
    }
    locksets
}
