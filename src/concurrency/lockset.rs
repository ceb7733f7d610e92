//! Locksets: for each block and each event, the locks that its thread certainly holds.
//!
//! **Input**: the unfolded graph. **Output**: [`Locksets`], interned sets of [`Hold`]s: locks, and the mode of each.
//!
//! **Algorithm** (forward must-analysis; locksets as in Savage et al. 1997, but static)
//! 1. Candidates for locks are all locks, and the semaphores that begin with 1 and are always named unambiguously.
//! 2. Solve the data-flow equations over the local graph: an acquisition adds its lock, a release removes all locks to which it
//!    may refer, and sets meet by intersection. Every thread begins with the empty set. A try adds its lock only after a branch
//!    that shows its success. The levels of re-entrant locks and of nested reads are counted.
//! 3. Drop the semaphores that some thread raises without holding them (they are not mutexes), and solve again until none is
//!    dropped.
//!
//! **Soundness and limits**: a lock in a set is held on every path to the event. The analysis does not see locks built from
//! variables (`cas`, Peterson's), and to which of several locks an ambiguous reference refers.

use super::set_table::{SetId, SetTable};
use super::{Concurrency, Event, EventKind, LocationId, forward};
use cssame_ir::sync::{Kind, Mode, ObjectKind};
use cssame_ir::{LeafKind, Program, Value};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// Names an interned set of locks; 0 is the empty set.
pub type LocksetId = SetId;

/// Stands in the sets for "inside an atomic block", which all other threads respect.
pub const ATOMIC: LocationId = LocationId(u32::MAX);

/// The hold that every thread in an atomic block has.
const ATOMIC_HOLD: Hold = Hold { level: 0, lock: ATOMIC, mode: Mode::Exclusive };

/// A lock that is held, and whom that excludes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hold {
    /// 0, and one more for each time that the thread holds the lock beside; sets that others see have level 0 alone.
    level: u8,
    /// The lock.
    pub lock: LocationId,
    /// For itself, or for reading.
    pub mode: Mode,
}

/// Levels beyond these are not counted: less counts as held than is.
const MAX_LEVEL: u8 = 16;

impl Hold {
    /// A hold that is no inner level.
    pub fn outermost(lock: LocationId, mode: Mode) -> Hold {
        Hold { level: 0, lock, mode }
    }

    /// The same of another lock.
    pub fn of(self, lock: LocationId) -> Hold {
        Hold { level: 0, lock, mode: self.mode }
    }

    /// Whether two threads cannot have these holds at once: of one lock, and not for reading both.
    #[must_use]
    pub fn excludes(self, other: Hold) -> bool {
        self.lock == other.lock && self.mode.excludes(other.mode)
    }
}

/// The hold of a set on a lock.
#[must_use]
pub fn hold_of(holds: &[Hold], lock: LocationId) -> Option<Hold> {
    holds.iter().copied().find(|hold| hold.lock == lock)
}

/// Whether a set holds a lock, in any mode.
#[must_use]
pub fn holds_lock(holds: &[Hold], lock: LocationId) -> bool {
    hold_of(holds, lock).is_some()
}

/// Those of the holds of one set that exclude a hold of another one.
pub fn excluding<'a>(holds: &'a [Hold], others: &'a [Hold]) -> impl Iterator<Item = Hold> + 'a {
    holds.iter().copied().filter(|hold| others.iter().any(|other| hold.excludes(*other)))
}

/// Sets of held locks.
#[derive(Clone, Debug)]
pub struct Locksets {
    sets: SetTable<Hold>,
    /// At the begin of each block; `None` where control does not come.
    at_entry: Vec<Option<LocksetId>>,
    /// Semaphores that work as locks.
    pub mutex_semaphores: FxHashSet<LocationId>,
    /// See [`Locksets::is_inner`].
    inner: FxHashSet<u32>,
}

impl Locksets {
    /// The locks of a set, sorted.
    #[must_use]
    pub fn locks(&self, set: LocksetId) -> &[Hold] {
        let holds = self.sets.get(set);
        &holds[..holds.partition_point(|hold| hold.level == 0)]
    }

    /// The deepest hold of a lock in a set.
    fn deepest(&self, set: LocksetId, lock: LocationId) -> Option<Hold> {
        self.sets.get(set).iter().rev().copied().find(|hold| hold.lock == lock)
    }

    /// Whether an event, by its index in the graph, takes a lock that its thread certainly holds already, or gives one back
    /// that its thread certainly holds behind it: it neither begins nor ends a mutex body.
    #[must_use]
    pub fn is_inner(&self, event: u32) -> bool {
        self.inner.contains(&event)
    }

    /// What is held at the begin of a block; `None` where control does not come.
    #[must_use]
    pub fn at_entry(&self, block: u32) -> Option<LocksetId> {
        self.at_entry[block as usize]
    }

    /// Whether an object that an operation acquires is a lock, or works as one.
    #[must_use]
    pub fn is_lock(&self, kind: Kind, object: LocationId) -> bool {
        kind.is_on_lock() || self.mutex_semaphores.contains(&object)
    }

    /// What is held behind an event, where `set` is held before it.
    pub fn step(&mut self, program: &Program, concurrency: &Concurrency, set: LocksetId, event: &Event) -> LocksetId {
        if let Some(kind) = event.kind.certain_acquisition() {
            return match concurrency.certain(program, concurrency.acquired_by(event)) {
                Some(lock) if self.is_lock(kind, lock) => self.take(program, concurrency, set, (lock, kind.mode())),
                _ => set,
            };
        }
        match event.kind {
            EventKind::Synchronise(kind) if kind.only_releases() => {
                // One level of each lock that it may mean.
                let released = concurrency.released_by(event);
                let deepest = released.iter().filter_map(|&lock| self.deepest(set, lock));
                let gone: SmallVec<[Hold; 2]> = deepest.collect();
                self.sets.retain(set, |hold| !gone.contains(&hold))
            }
            EventKind::AtomicBegin => self.sets.with(set, ATOMIC_HOLD),
            EventKind::AtomicEnd => self.sets.retain(set, |hold| hold != ATOMIC_HOLD),
            _ => set,
        }
    }
}

impl Locksets {
    /// A set with one level more of a lock.
    fn take(
        &mut self,
        program: &Program,
        concurrency: &Concurrency,
        set: LocksetId,
        (lock, mode): (LocationId, Mode),
    ) -> LocksetId {
        let known = self.deepest(set, lock);
        let kind = program.leaves[concurrency.locations[lock].leaf].kind;
        let nests = kind == LeafKind::ReentrantLock || mode == Mode::Shared;
        let level = match known {
            Some(hold) if nests && hold.mode == mode => (hold.level + 1).min(MAX_LEVEL),
            _ => 0,
        };
        self.sets.with(set, Hold { level, lock, mode })
    }

    /// Notes the events that work on inner levels.
    fn find_inner(&mut self, program: &Program, concurrency: &Concurrency) {
        let leaves = concurrency.locations.iter().map(|location| &program.leaves[location.leaf]);
        if !leaves.into_iter().any(|leaf| matches!(leaf.kind, LeafKind::ReentrantLock | LeafKind::RwLock)) {
            return;
        }
        for block in 0..concurrency.blocks.len() as u32 {
            let Some(mut set) = self.at_entry(block) else { continue };
            let first = concurrency.first_event(block) as u32;
            for (offset, event) in concurrency.events_of(block).iter().enumerate() {
                let acquired = concurrency.acquired_by(event);
                let released = concurrency.released_by(event);
                let levels = |lock: &LocationId| self.deepest(set, *lock).map_or(0, |hold| u32::from(hold.level) + 1);
                let is_inner = match (acquired.is_empty(), released.is_empty()) {
                    (false, true) => acquired.iter().all(|lock| levels(lock) > 0),
                    (true, false) => released.iter().all(|lock| levels(lock) > 1),
                    _ => false,
                };
                if is_inner {
                    self.inner.insert(first + offset as u32);
                }
                set = self.step(program, concurrency, set, event);
            }
        }
    }
}

/// Computes the locks held everywhere.
#[must_use]
pub fn find_locksets(program: &Program, concurrency: &Concurrency) -> Locksets {
    find_with(program, concurrency, |units| units == 1)
}

/// As [`find_locksets`], and also which semaphores that begin with more than 1 a thread has certainly lowered and not yet raised: its sets
/// say who holds a unit of one, not who excludes whom.
#[must_use]
pub fn find_units_held(program: &Program, concurrency: &Concurrency) -> Locksets {
    find_with(program, concurrency, |units| units >= 1)
}

/// The locksets, with semaphores that begin with such a number as locks.
fn find_with(program: &Program, concurrency: &Concurrency, is_lock: fn(i32) -> bool) -> Locksets {
    // Step 1.
    let mut candidates = mutex_candidates(program, concurrency, is_lock);
    loop {
        // Step 2.
        let mut locksets = solve(program, concurrency, candidates.clone());
        // Step 3: fewer candidates mean smaller sets, so this ends.
        let wrong = wrong_releases(program, concurrency, &mut locksets);
        if wrong.is_empty() {
            locksets.find_inner(program, concurrency);
            return locksets;
        }
        candidates.retain(|semaphore| !wrong.contains(semaphore));
    }
}

fn mutex_candidates(program: &Program, concurrency: &Concurrency, is_lock: fn(i32) -> bool) -> FxHashSet<LocationId> {
    let mut candidates = FxHashSet::default();
    let mut doubtful = FxHashSet::default();
    for event in &concurrency.events {
        if !event.kind.synchronisation().is_some_and(|kind| kind.is_on(ObjectKind::Semaphore)) {
            continue;
        }
        match concurrency.certain_location(program, event) {
            Some(location) => {
                let leaf = &program.leaves[concurrency.locations[location].leaf];
                let begins_as_lock = matches!(leaf.initial.first(), Some(&Value::Int(units)) if is_lock(units));
                if leaf.kind == LeafKind::Semaphore && begins_as_lock {
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
                && !holds_lock(locksets.locks(set), location)
            {
                wrong.insert(location);
            }
            set = locksets.step(program, concurrency, set, event);
        }
    }
    wrong
}

fn solve(program: &Program, concurrency: &Concurrency, mutex_semaphores: FxHashSet<LocationId>) -> Locksets {
    let mut locksets = Locksets {
        sets: SetTable::new(usize::MAX),
        at_entry: Vec::new(),
        mutex_semaphores,
        inner: FxHashSet::default(),
    };
    let behind = |locksets: &mut Locksets, before, block| {
        concurrency.events_of(block).iter().fold(before, |set, event| locksets.step(program, concurrency, set, event))
    };
    let meet = |locksets: &mut Locksets, known, set| locksets.sets.intersection(known, set);
    locksets.at_entry = forward::solve(concurrency, &mut locksets, behind, meet);
    locksets
}
