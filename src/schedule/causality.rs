//! Causality between the rows of a trace: the earlier rows without which a row would not have occurred.
//!
//! **Input**: the events of an execution, in order; and for each event whether the trace has a row for it.
//!
//! **Output**: for each row, its direct predecessors in the causal order.
//!
//! **Algorithm**. The direct predecessors of a row are the last row of its thread, or the row that created the thread. For a
//! read, also the write that it reads from. For an operation on a synchronisation object, also the last operation on it that lets
//! others continue, or prevents them. For a thread that continues after a barrier, all arrivals; after a notification, the
//! notification; after a join, the last rows of the ended threads. An event without a row passes its dependences to the next row
//! of its thread.
//!
//! A thread that is blocked at the end depends on its own last row, and on the rows that removed what it waits for:
//!
//! - for a lock, the rows in which its holders acquired it;
//! - for an event, the last `clear`, and so the `set` before it, and each `set` since the wait began;
//! - for a semaphore, the last `P` of each thread that it has not balanced by a `V`, and so the `V` that it has consumed; since
//!   the wait began, every such `P`, and each `V` that does not return a unit;
//! - for a notification, all notifications during the wait, with the waits of the threads that they have woken instead, and the
//!   actions of these threads until they released a lock or waited again; if there are none, the last earlier notification that
//!   no thread received.
//!
//! **Soundness and limits**. This relation is neither happens-before ([`super::Clocks`]) nor dependence of steps
//! ([`super::Footprint`]). It contains the writes that reads see, which happens-before does not contain. It omits that a write
//! comes after the reads that it overwrites, which dependence contains: these reads do not cause the write. For a semaphore, only
//! the last `V` represents all that have let a `P` continue: readers want to see one reason, not all.

use super::wakeups::{Wakeups, forget};
use cssame_vm::{Event, Failure, FailureKind, Obstacle, PathId};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// The last rows that later ones depend on.
#[derive(Default)]
pub(super) struct Causality {
    by_thread: FxHashMap<PathId, usize>,
    last_write: FxHashMap<u32, usize>,
    /// The last row of each synchronisation object that lets others go on.
    last_use: FxHashMap<u32, usize>,
    /// By lock: who holds it, and the row in which it was taken.
    holds: FxHashMap<u32, Vec<(PathId, usize)>>,
    /// What may let threads go on, and who has taken it.
    wakeups: Wakeups<usize>,
    /// The locks that a thread has given up by a wait whose row is still to come.
    given_up: FxHashMap<PathId, u32>,
    /// The arrivals at each barrier since it was left last, and whether it is being left.
    arrivals: FxHashMap<u32, (Vec<usize>, bool)>,
    /// More rows that the next one of a thread depends on.
    next: FxHashMap<PathId, Vec<usize>>,
    /// The rows in which memory was given back.
    frees: Vec<usize>,
    /// The last rows of threads that have ended, by the name of the thread whose join waits for them.
    ends: FxHashMap<PathId, Vec<usize>>,
}

impl Causality {
    /// The last row of a thread.
    pub(super) fn last_row(&self, thread: PathId) -> Option<usize> {
        self.by_thread.get(&thread).copied()
    }

    /// The rows that the row of this event depends on.
    pub(super) fn dependences(&mut self, thread: PathId, event: Event) -> Vec<usize> {
        let mut depends = self.next.remove(&thread).unwrap_or_default();
        depends.extend(self.last_row(thread));
        match event {
            Event::Read { address, .. } => depends.extend(self.last_write.get(&address)),
            Event::Lock { address, .. }
            | Event::NotTaken { address, .. }
            | Event::WaitToWrite { address, .. }
            | Event::Waited { address, .. }
            | Event::Acquire { address, .. }
            | Event::Clear { address, .. } => depends.extend(self.last_use.get(&address)),
            // Of which memory is for the facts of the failure to say.
            Event::Failure(Failure { kind: FailureKind::UseAfterFree | FailureKind::DoubleFree, .. }) => {
                depends.extend(&self.frees);
            }
            Event::Join => depends.extend(self.ends.remove(&thread).unwrap_or_default()),
            Event::JoinThread { child } => depends.extend(self.last_row(child.path)),
            _ => {}
        }
        depends
    }

    /// The rows that the row of a thread depends on that is blocked at the end.
    pub(super) fn blocked(&self, thread: PathId, obstacle: &Obstacle) -> Vec<usize> {
        let mut depends: Vec<usize> = self.last_row(thread).into_iter().collect();
        match *obstacle {
            Obstacle::Lock { address, .. } | Obstacle::Readers { address, .. } | Obstacle::Writers { address, .. } => {
                depends.extend(self.holders(address).map(|(_, row)| row));
            }
            Obstacle::Event { address } => {
                depends.extend(self.last_use.get(&address));
                depends.extend(self.wakeups.since(thread, Some(address)).iter().map(|signal| signal.at));
            }
            Obstacle::Semaphore { address } => depends.extend(self.consumed(thread, address)),
            Obstacle::Condition { address } => depends.extend(self.missed(thread, Some(address))),
            Obstacle::Notification => depends.extend(self.missed(thread, None)),
            Obstacle::Barrier { .. }
            | Obstacle::Children { .. }
            | Obstacle::Thread { .. }
            | Obstacle::AtomicBlock { .. } => {}
        }
        depends
    }

    /// The holders of a lock, and the rows in which they have taken it.
    pub(super) fn holders(&self, lock: u32) -> impl Iterator<Item = (PathId, usize)> {
        self.holds.get(&lock).into_iter().flatten().copied()
    }

    /// The notifications that a waiting thread has missed, and what those have done that they have woken instead.
    fn missed(&self, thread: PathId, condition: Option<u32>) -> Vec<usize> {
        let since = self.wakeups.since(thread, condition);
        if !since.is_empty() {
            let woken = since.iter().flat_map(|signal| &signal.taken);
            let rows = woken.flat_map(|taken| [Some(taken.wait), taken.until]).flatten();
            return rows.chain(since.iter().map(|signal| signal.at)).collect();
        }
        let before = self.wakeups.all(condition);
        let unheard = before.iter().rfind(|signal| signal.taken.is_empty());
        unheard.or(before.last()).map(|signal| signal.at).into_iter().collect()
    }

    /// The units of a semaphore that a waiting thread could have had, and where they come from.
    fn consumed(&self, thread: PathId, semaphore: u32) -> Vec<usize> {
        let units: Vec<_> = self.wakeups.units(thread, semaphore).collect();
        let is_last = |place: usize| units.get(place + 1).is_none_or(|next| next.thread != units[place].thread);
        let kept = units.iter().enumerate().filter(|&(place, unit)| unit.is_since || is_last(place));
        let raised = self.wakeups.since(thread, Some(semaphore)).iter().filter(|signal| !signal.gives_back);
        kept.map(|(_, unit)| unit.at).chain(raised.map(|signal| signal.at)).collect()
    }

    /// Notes the row of an event.
    pub(super) fn remember(&mut self, row: usize, thread: PathId, event: Event) {
        self.by_thread.insert(thread, row);
        self.wakeups.remember(thread, event, row);
        match event {
            Event::Write { address, .. } => {
                self.last_write.insert(address, row);
            }
            Event::Lock { address, .. } => {
                self.last_use.insert(address, row);
                self.holds.entry(address).or_default().push((thread, row));
            }
            Event::Free { .. } => self.frees.push(row),
            Event::Unlock { address, .. } => self.free(address, thread, row),
            Event::WaitToWrite { address, .. }
            | Event::Set { address, .. }
            | Event::Clear { address, .. }
            | Event::Release { address, .. } => {
                self.last_use.insert(address, row);
            }
            Event::Fork { child } | Event::Spawn { child } => {
                self.by_thread.insert(child.path, row);
            }
            Event::Arrive { address, .. } => {
                let (rows, is_left) = self.arrivals.entry(address).or_default();
                if std::mem::replace(is_left, false) {
                    rows.clear();
                }
                rows.push(row);
            }
            Event::Wait { .. } => {
                if let Some(lock) = self.given_up.remove(&thread) {
                    self.free(lock, thread, row);
                }
            }
            _ => {}
        }
    }

    /// Notes that a thread has freed a lock.
    fn free(&mut self, lock: u32, thread: PathId, row: usize) {
        self.last_use.insert(lock, row);
        let holds = self.holds.entry(lock).or_default();
        if let Some(place) = holds.iter().rposition(|&(holder, _)| holder == thread) {
            holds.remove(place);
        }
    }

    /// Notes an event that has no row. Gives the row of the notification, for one that wakes a thread.
    pub(super) fn pass(&mut self, thread: PathId, event: Event) -> Option<usize> {
        match event {
            Event::Unlock { address, .. } => {
                // The beginning of a wait gives the lock up. Its row comes next, in the same step.
                self.given_up.insert(thread, address);
            }
            Event::Leave { address, .. } => {
                let (rows, is_left) = self.arrivals.entry(address).or_default();
                *is_left = true;
                let rows = rows.clone();
                self.next.entry(thread).or_default().extend(rows);
            }
            Event::Woken { by: Some(_) } => {
                let row = self.wakeups.woken(thread)?;
                self.next.entry(thread).or_default().push(row);
                return Some(row);
            }
            Event::Allocate { address, size, .. } => self.forget(&(address..address.saturating_add(size))),
            Event::End { parent: Some(parent) } => {
                if let Some(row) = self.last_row(thread) {
                    self.ends.entry(parent.path).or_default().push(row);
                }
            }
            _ => {}
        }
        None
    }

    /// Cells are made new: what was done to others at their place says nothing of them.
    fn forget(&mut self, cells: &Range<u32>) {
        forget(&mut self.last_write, cells);
        forget(&mut self.last_use, cells);
        forget(&mut self.holds, cells);
        forget(&mut self.arrivals, cells);
        self.wakeups.forget(cells);
    }
}
