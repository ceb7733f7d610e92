//! The locks that may be held, and the places where they were acquired, in addition to the locks that are certainly held.
//!
//! **Input**: the unfolded graph and its locksets. **Output**: [`Held`]: for each event, the acquisitions (`lock`, and `P` of a
//! semaphore that works as a lock) whose lock may still be held.
//!
//! **Algorithm** (forward may-analysis over the local graph)
//! 1. An acquisition adds itself. A release removes the acquisitions that may refer to exactly the same locks. Sets meet by
//!    union.
//! 2. A lock is [`Held::doubtful`] if some operation may refer to it without certainty.
//! 3. A try may have taken its lock until a branch tests its result.
//! 4. Levels are not counted: one release counts as the last one. Locks that a thread may hold several times are detected, and
//!    excluded from reports about single locks ([`Held::single_lock_of`]).
//!
//! **Soundness and limits**: an over-approximation of the held locks, up to [`MAX_TAKES`] acquisitions. Reports about single
//! locks exclude the doubtful ones.

use super::Subject;
use cssame_concurrency::forward;
use cssame_concurrency::lockset::{Hold, Locksets};
use cssame_concurrency::set_table::SetTable;
use cssame_concurrency::{Concurrency, Event, EventKind, LocationId, ThreadId};
use cssame_ir::sync::{Kind, Mode};
use cssame_ir::{LeafKind, Program};
use rustc_hash::FxHashSet;

/// A set of operations keeps at most that many.
const MAX_TAKES: usize = 32;

/// An event, and what is held just before it.
pub(super) struct At<'a> {
    pub block: u32,
    /// Its index in the events of the graph.
    pub index: u32,
    pub event: &'a Event,
    /// Locks that are certainly held.
    pub must: &'a [Hold],
    /// Operations (indices of events) that took a lock which may still be held.
    pub may: &'a [u32],
}

/// What is held everywhere.
pub(super) struct Held<'a> {
    program: &'a Program,
    concurrency: &'a Concurrency,
    pub locksets: Locksets,
    sets: SetTable<u32>,
    at_entry: Vec<Option<u32>>,
    /// The block of each event.
    pub block_of: Vec<u32>,
    /// Locks that some operation may mean without certainty.
    pub doubtful: FxHashSet<LocationId>,
    /// Re-entrant locks and readers-writer locks that a thread may hold several times.
    nested: FxHashSet<LocationId>,
    /// Whether calling contexts are mixed, so that some ways through the graph are none of the program.
    pub vague: bool,
}

impl<'a> Held<'a> {
    pub fn new(subject: Subject<'a>) -> Held<'a> {
        let (program, concurrency) = (subject.program, &subject.form.concurrency);
        let mut held = Held {
            program,
            concurrency,
            locksets: subject.form.locksets.clone(),
            sets: SetTable::new(MAX_TAKES),
            at_entry: vec![None; concurrency.local.node_count()],
            block_of: vec![0; concurrency.events.len()],
            doubtful: FxHashSet::default(),
            nested: FxHashSet::default(),
            vague: is_vague(concurrency),
        };
        held.scan();
        held.solve();
        held.find_nested();
        held
    }

    /// The locks that a thread may hold at several levels: what is held behind one release is not known of them.
    fn find_nested(&mut self) {
        let mut nested = FxHashSet::default();
        self.visit(|held, at| {
            let Some(kind) = at.event.kind.synchronisation().filter(|kind| kind.only_acquires() || kind.tries()) else {
                return;
            };
            for &lock in held.concurrency.locations_of(at.event) {
                let may_nest = held.is_reentrant(lock) || kind.mode() == Mode::Shared;
                if may_nest && !held.taking(at.may, lock).is_empty() {
                    nested.insert(lock);
                }
            }
        });
        self.nested = nested;
    }

    /// Whether its holder may take a lock again.
    pub fn is_reentrant(&self, lock: LocationId) -> bool {
        self.program.leaves[self.concurrency.locations[lock].leaf].kind == LeafKind::ReentrantLock
    }

    /// The mode in which an operation, by its index, takes its lock.
    pub fn mode_of(&self, take: u32) -> Mode {
        self.event(take).kind.acquisition().map_or(Mode::Exclusive, Kind::mode)
    }

    /// Calls `f` with every event that control can come to, in the order of the blocks.
    pub fn visit(&mut self, mut f: impl FnMut(&Held<'a>, &At<'_>)) {
        for block in 0..self.concurrency.blocks.len() as u32 {
            self.visit_block(block, &mut f);
        }
    }

    fn visit_block(&mut self, block: u32, f: &mut impl FnMut(&Held<'a>, &At<'_>)) {
        let (Some(mut lockset), Some(mut takes)) = (self.locksets.at_entry(block), self.at_entry[block as usize])
        else {
            return;
        };
        let first = self.concurrency.first_event(block);
        for (offset, event) in self.concurrency.events_of(block).iter().enumerate() {
            let index = (first + offset) as u32;
            let (must, may) = (self.locksets.locks(lockset), self.sets.get(takes));
            f(self, &At { block, index, event, must, may });
            lockset = self.locksets.step(self.program, self.concurrency, lockset, event);
            takes = self.step(takes, index);
        }
    }

    /// What is held at the begin of a block: certainly, and by which operations perhaps.
    pub fn at_entry(&self, block: u32) -> Option<(&[Hold], &[u32])> {
        let lockset = self.locksets.at_entry(block)?;
        let takes = self.at_entry[block as usize]?;
        Some((self.locksets.locks(lockset), self.sets.get(takes)))
    }

    /// The operations whose lock may be held at the end of a block.
    pub fn at_end(&mut self, block: u32) -> Vec<u32> {
        let Some(takes) = self.at_entry[block as usize] else { return Vec::new() };
        let end = self.after(block, takes);
        self.sets.get(end).to_vec()
    }

    /// The lock that an operation certainly takes or frees, unless other operations leave doubt about it.
    pub fn lock_of(&self, event: &Event) -> Option<LocationId> {
        let lock = self.concurrency.certain_location(self.program, event)?;
        (!self.doubtful.contains(&lock)).then_some(lock)
    }

    /// The same, unless the thread may hold the lock several times.
    pub fn single_lock_of(&self, event: &Event) -> Option<LocationId> {
        self.lock_of(event).filter(|&lock| self.is_single(lock))
    }

    /// Whether all operations on a lock are certain, and no thread may hold it several times.
    pub fn is_single(&self, lock: LocationId) -> bool {
        !self.doubtful.contains(&lock) && !self.nested.contains(&lock)
    }

    /// Those of the operations that may have taken that lock.
    pub fn taking(&self, takes: &[u32], lock: LocationId) -> Vec<u32> {
        let takes = takes.iter().copied();
        takes.filter(|&take| self.concurrency.locations_of(self.event(take)).contains(&lock)).collect()
    }

    /// The graph that it was computed on.
    pub fn concurrency(&self) -> &'a Concurrency {
        self.concurrency
    }

    /// The thread of a block.
    pub fn thread_of(&self, block: u32) -> ThreadId {
        self.concurrency.thread_of(block)
    }

    /// An event by its index.
    pub fn event(&self, index: u32) -> &'a Event {
        &self.concurrency.events[index as usize]
    }

    fn scan(&mut self) {
        for block in 0..self.concurrency.blocks.len() as u32 {
            let first = self.concurrency.first_event(block);
            for (offset, event) in self.concurrency.events_of(block).iter().enumerate() {
                self.block_of[first + offset] = block;
                let acquired = self.concurrency.acquired_by(event);
                let locks = if acquired.is_empty() { self.concurrency.released_by(event) } else { acquired };
                let certain = self.concurrency.certain(self.program, locks).is_some();
                if !certain {
                    self.doubtful.extend(locks);
                }
            }
        }
    }

    fn solve(&mut self) {
        let behind = |held: &mut Self, takes, block| held.after(block, takes);
        let meet = |held: &mut Self, known, end| held.sets.union(known, end);
        self.at_entry = forward::solve(self.concurrency, self, behind, meet);
    }

    fn after(&mut self, block: u32, takes: u32) -> u32 {
        let first = self.concurrency.first_event(block);
        let end = first + self.concurrency.events_of(block).len();
        (first..end).fold(takes, |takes, index| self.step(takes, index as u32))
    }

    fn step(&mut self, takes: u32, index: u32) -> u32 {
        let event = self.event(index);
        let locks = self.concurrency.locations_of(event);
        let is_mutex = locks.iter().any(|lock| self.locksets.mutex_semaphores.contains(lock));
        let concurrency = self.concurrency;
        // Behind a branch that tells its verdict, a try is replaced by the verdict.
        let is_tried = |take: u32| {
            let of = &concurrency.events[take as usize];
            of.kind.tries() && of.span == event.span && concurrency.locations_of(of) == locks
        };
        match event.kind {
            EventKind::Synchronise(kind) if kind.only_acquires() || kind.tries() => {
                if is_mutex || kind.is_on_lock() {
                    self.sets.with(takes, index)
                } else {
                    takes
                }
            }
            EventKind::Taken(_) => {
                let others = self.sets.retain(takes, |take| !is_tried(take));
                self.sets.with(others, index)
            }
            EventKind::NotTaken(_) => self.sets.retain(takes, |take| !is_tried(take)),
            EventKind::Synchronise(kind) if kind.only_releases() => {
                let locks_of = |take: u32| concurrency.locations_of(&concurrency.events[take as usize]);
                self.sets.retain(takes, |take| locks_of(take) != locks)
            }
            _ => takes,
        }
    }
}

fn is_vague(concurrency: &Concurrency) -> bool {
    concurrency.merged
        || concurrency.threads.iter().any(|thread| thread.unordered)
        || concurrency
            .contexts
            .iter()
            .any(|context| !context.recursive && concurrency.local.predecessors(context.entry).len() > 1)
}
