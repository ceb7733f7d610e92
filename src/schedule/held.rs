//! Tracks the locks that threads hold during an execution.
//!
//! **Input**: the events of an execution. **Output**: for each thread, the set of its locks, with the place and the mode of each
//! acquisition. Equal sets have equal numbers, so that an access can keep its set as a number.
//!
//! **Algorithm**: an acquisition adds a lock, and a release removes it; a wait for a condition does both. Each set is stored
//! once.
//!
//! **Soundness and limits**: exact. Semaphores do not count as locks: the thread that raises one need not be the thread that
//! lowered it.

use cssame_ir::Program;
use cssame_ir::sync::Mode;
use cssame_source::arena::{Arena, id};
use cssame_vm::{Cell, CodeIndex, Event, Observer, PathId, ThreadName};
use rustc_hash::FxHashMap;

id! {
    /// A set of locks.
    LocksetId
}

/// A lock that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// The lock.
    pub lock: Cell,
    /// Whom it excludes.
    pub mode: Mode,
    /// Where it was taken.
    pub at: CodeIndex,
}

/// The name of a lock that is held: `L`, `R (read)`.
#[must_use]
pub fn lock_name(program: &Program, lock: Cell, mode: Mode) -> String {
    match mode {
        Mode::Exclusive => lock.name(program),
        Mode::Shared => format!("{} (read)", lock.name(program)),
    }
}

/// The locks of all threads of an execution.
#[derive(Debug)]
pub struct HeldLocks {
    sets: Arena<LocksetId, Vec<(Cell, Mode)>>,
    ids: FxHashMap<Vec<(Cell, Mode)>, LocksetId>,
    threads: FxHashMap<PathId, (Vec<Held>, LocksetId)>,
    empty: LocksetId,
}

impl Default for HeldLocks {
    fn default() -> Self {
        let mut sets = Arena::default();
        let empty = sets.push(Vec::new());
        let ids = FxHashMap::from_iter([(Vec::new(), empty)]);
        HeldLocks { sets, ids, threads: FxHashMap::default(), empty }
    }
}

impl HeldLocks {
    /// What a thread holds, in the order in which it was taken.
    #[must_use]
    pub fn of(&self, thread: PathId) -> &[Held] {
        self.threads.get(&thread).map_or(&[], |(held, _)| held.as_slice())
    }

    /// The same as the number of a set.
    #[must_use]
    pub fn set(&self, thread: PathId) -> LocksetId {
        self.threads.get(&thread).map_or(self.empty, |&(_, set)| set)
    }

    /// Number of sets.
    #[must_use]
    pub fn count(&self) -> usize {
        self.sets.len()
    }

    /// The locks of a set, sorted, with the mode of each.
    #[must_use]
    pub fn locks(&self, set: LocksetId) -> &[(Cell, Mode)] {
        &self.sets[set]
    }

    /// Whether two threads cannot hold two sets at once: some lock is in both, not for reading in both.
    #[must_use]
    pub fn exclude(&self, a: LocksetId, b: LocksetId) -> bool {
        let others = &self.sets[b];
        self.sets[a].iter().any(|&(lock, mode)| others.iter().any(|&(with, of)| with == lock && mode.excludes(of)))
    }

    fn change(&mut self, thread: PathId, change: impl FnOnce(&mut Vec<Held>)) {
        let (held, set) = self.threads.entry(thread).or_insert((Vec::new(), self.empty));
        change(held);
        let mut locks: Vec<(Cell, Mode)> = held.iter().map(|held| (held.lock, held.mode)).collect();
        locks.sort_unstable();
        locks.dedup();
        *set = match self.ids.get(&locks) {
            Some(&known) => known,
            None => {
                let id = self.sets.push(locks.clone());
                self.ids.insert(locks, id);
                id
            }
        };
    }
}

impl Observer for HeldLocks {
    fn event(&mut self, thread: ThreadName, at: CodeIndex, event: Event) {
        match event {
            Event::Lock { cell, by, .. } => {
                self.change(thread.path, |held| held.push(Held { lock: cell, mode: by.mode(), at }));
            }
            Event::Unlock { cell, .. } => self.change(thread.path, |held| {
                if let Some(place) = held.iter().rposition(|held| held.lock == cell) {
                    held.remove(place);
                }
            }),
            Event::End { .. } => {
                self.threads.remove(&thread.path);
            }
            _ => {}
        }
    }
}
