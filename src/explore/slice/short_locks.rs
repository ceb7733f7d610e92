//! Locks that no thread keeps in a deadlock.
//!
//! **Input**: a program and its unfolded graph. **Output**: the *short* locks.
//!
//! **Algorithm**
//! 1. A forward may-analysis over the local graph finds the locks that may be held at each event: an acquisition adds its lock, a
//!    release removes it, and sets meet by union. Threads begin with none. A semaphore is a lock here if it begins with 1 or more
//!    and is raised only by threads that have lowered it: it has as many units as its initial value, and a thread that holds a
//!    unit holds the lock.
//! 2. A lock is not short in these cases: some operation may refer to it without certainty; it is tried, or waited with for a
//!    limited time; it may be held where its thread ends, or waits for anything but a lock; it may be taken while it is held. A
//!    wait on a condition releases its own lock during the wait.
//! 3. Among the others, a lock is short if its bodies take only locks that were found short before.
//!
//! **Soundness and limits**: suppose that a thread keeps a short lock in a deadlock. It has not ended (2), so it waits. It does
//! not wait for the notification of a condition with that lock, since it would release the lock then. So it waits for another
//! short lock, which step 3 has found before (2, 3). The thread itself does not keep that lock (2), so another thread keeps it,
//! or a unit of it, and the same holds for that thread. But step 3 has found some lock first. Hence no thread keeps a short lock
//! in a deadlock, and a thread that only waits for short locks is not in one. Threads that loop for ever while they hold a lock
//! are not in a deadlock.

use cssame_concurrency::lockset::Locksets;
use cssame_concurrency::{Concurrency, Event, EventKind, LocationId};
use cssame_ir::Program;
use cssame_ir::sync::{Blocking, Kind, ObjectKind};
use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet};

/// More locks than that are not looked at.
const MAX_LOCKS: usize = 1_000;

/// Whether an operation takes a lock, or a unit of a semaphore, and waits for it.
pub(super) fn takes(kind: Kind) -> bool {
    matches!(kind, Kind::Lock | Kind::Acquire)
}

/// Whether an operation gives a lock back, or a unit of a semaphore.
pub(super) fn gives_back(kind: Kind) -> bool {
    matches!(kind, Kind::Unlock | Kind::Release)
}

/// See the module; with the [units](cssame_concurrency::lockset::find_units_held) that threads hold.
pub(super) fn short_locks(program: &Program, concurrency: &Concurrency, units: &Locksets) -> FxHashSet<LocationId> {
    let Some(bodies) = Bodies::of(program, concurrency, units) else { return FxHashSet::default() };
    let short = bodies.short();
    bodies.ids.iter().filter(|&(_, &id)| short.contains(id)).map(|(&lock, _)| lock).collect()
}

/// The locks that every operation means with certainty, sorted.
fn certain_locks(program: &Program, concurrency: &Concurrency, units: &Locksets) -> Vec<LocationId> {
    let (mut found, mut doubtful) = (Vec::new(), FxHashSet::default());
    let part = |lock: LocationId| (concurrency.locations[lock].instance, concurrency.locations[lock].leaf);
    for event in &concurrency.events {
        let Some(kind) = event.kind.synchronisation() else { continue };
        let locks = match kind {
            Kind::WaitCondition => concurrency.locks_of(event),
            // Others see whether the lock was taken, or who has taken it last.
            Kind::TimedWait => {
                doubtful.extend(concurrency.locks_of(event).iter().map(|&lock| part(lock)));
                continue;
            }
            _ if kind.tries() => {
                doubtful.extend(concurrency.locations_of(event).iter().map(|&lock| part(lock)));
                continue;
            }
            _ if kind.is_on(ObjectKind::Lock) || kind.is_on(ObjectKind::Semaphore) => concurrency.locations_of(event),
            _ => continue,
        };
        match concurrency.certain(program, locks) {
            Some(signal) if kind.is_on(ObjectKind::Semaphore) && !units.mutex_semaphores.contains(&signal) => {}
            Some(lock) => found.push(lock),
            None => doubtful.extend(locks.iter().map(|&lock| part(lock))),
        }
    }
    found.sort_unstable();
    found.dedup();
    found.retain(|&lock| !doubtful.contains(&part(lock)));
    found
}

/// The bodies of the locks that every operation means with certainty.
pub(super) struct Bodies<'a> {
    concurrency: &'a Concurrency,
    /// The locks, by number.
    pub(super) ids: FxHashMap<LocationId, usize>,
    /// By block: what may be held at its begin; nothing where control does not come.
    at_entry: Vec<Option<FixedBitSet>>,
    /// Those of which it is known that they are not short, or must not count as such.
    pub(super) long: FixedBitSet,
    /// The locks that are taken while one may be held.
    inner: Vec<Vec<usize>>,
}

impl<'a> Bodies<'a> {
    /// Steps 1 and 2; `None` where there are no such locks, or too many.
    pub(super) fn of(program: &Program, concurrency: &'a Concurrency, units: &Locksets) -> Option<Bodies<'a>> {
        let locks = certain_locks(program, concurrency, units);
        if locks.is_empty() || locks.len() > MAX_LOCKS {
            return None;
        }
        let ids = locks.iter().enumerate().map(|(id, &lock)| (lock, id)).collect();
        let long = FixedBitSet::with_capacity(locks.len());
        let mut bodies = Bodies { concurrency, ids, at_entry: Vec::new(), long, inner: vec![Vec::new(); locks.len()] };
        bodies.solve();
        bodies.look_through();
        Some(bodies)
    }

    /// The number of the lock that an operation takes or frees.
    pub(super) fn lock(&self, locks: &[LocationId]) -> Option<usize> {
        locks.first().and_then(|lock| self.ids.get(lock)).copied()
    }

    /// Whether a lock may be taken while another one is held, both by number.
    pub(super) fn takes_in(&self, outer: usize, inner: usize) -> bool {
        self.inner[outer].contains(&inner)
    }

    /// What may be held at the begin of a block; `None` where control does not come.
    pub(super) fn at_entry(&self, block: u32) -> Option<&FixedBitSet> {
        self.at_entry[block as usize].as_ref()
    }

    /// What may be held behind an event, where `held` may be before it.
    pub(super) fn step(&self, held: &mut FixedBitSet, event: &Event) {
        let EventKind::Synchronise(kind) = event.kind else { return };
        if let Some(lock) = self.lock(self.concurrency.locations_of(event)) {
            if takes(kind) {
                held.insert(lock);
            } else if gives_back(kind) {
                held.set(lock, false);
            }
        }
    }

    fn solve(&mut self) {
        self.at_entry = vec![None; self.concurrency.blocks.len()];
        let mut work = Vec::new();
        for thread in self.concurrency.threads.iter() {
            let entry = self.concurrency.contexts[thread.root].entry;
            self.at_entry[entry as usize].get_or_insert_with(|| FixedBitSet::with_capacity(self.ids.len()));
            work.push(entry);
        }
        while let Some(block) = work.pop() {
            let Some(mut held) = self.at_entry[block as usize].clone() else { continue };
            self.concurrency.events_of(block).iter().for_each(|event| self.step(&mut held, event));
            for &target in self.concurrency.local.successors(block) {
                match &mut self.at_entry[target as usize] {
                    Some(known) if held.is_subset(known) => continue,
                    Some(known) => known.union_with(&held),
                    unknown => *unknown = Some(held.clone()),
                }
                work.push(target);
            }
        }
    }

    fn look_through(&mut self) {
        for block in 0..self.concurrency.blocks.len() as u32 {
            let Some(mut held) = self.at_entry[block as usize].clone() else { continue };
            for event in self.concurrency.events_of(block) {
                self.look_at(&held, event);
                self.step(&mut held, event);
            }
        }
        for thread in self.concurrency.threads.iter() {
            let exit = self.concurrency.contexts[thread.root].exit;
            if let Some(held) = &self.at_entry[exit as usize] {
                self.long.union_with(held);
            }
        }
    }

    /// What an event means for the locks that may be held there.
    fn look_at(&mut self, held: &FixedBitSet, event: &Event) {
        match event.kind {
            EventKind::Synchronise(kind) if takes(kind) => match self.lock(self.concurrency.locations_of(event)) {
                Some(lock) if !held.contains(lock) => held.ones().for_each(|outer| self.inner[outer].push(lock)),
                _ => self.long.union_with(held),
            },
            EventKind::Synchronise(Kind::WaitCondition) => {
                let own = self.lock(self.concurrency.locks_of(event));
                self.long.extend(held.ones().filter(|&lock| Some(lock) != own));
            }
            EventKind::Synchronise(kind) if kind.properties().blocking == Blocking::Never => {}
            EventKind::Synchronise(_) | EventKind::Join | EventKind::JoinThread => self.long.union_with(held),
            _ => {}
        }
    }

    /// Step 3: the locks whose bodies take only others that are found first, by number.
    pub(super) fn short(&self) -> FixedBitSet {
        let mut short = FixedBitSet::with_capacity(self.ids.len());
        loop {
            let before = short.count_ones(..);
            for lock in (0..self.ids.len()).filter(|&lock| !self.long.contains(lock)) {
                if self.inner[lock].iter().all(|&inner| short.contains(inner)) {
                    short.insert(lock);
                }
            }
            if short.count_ones(..) == before {
                return short;
            }
        }
    }
}
