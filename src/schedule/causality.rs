//! Causality between the rows of a trace: what a row would not have been without.
//!
//! **Input**: the events of an execution, in order; of each, whether the trace has a row for it.
//!
//! **Output**: for each row the rows right before it in the causal order.
//!
//! **Algorithm**. Right before a row come the last row of its thread, or the one that has made the thread; for a read the write
//! that it reads from; for an operation on a synchronisation object the last one on it that lets others go on, or takes it
//! away from them; for a thread that goes on behind a barrier all arrivals, behind a notification the notification, behind a
//! join the last rows of the threads that have ended. An event without a row hands what it depends on to the next row of its
//! thread.
//!
//! A thread that is blocked at the end depends, beside its own last row, on what has taken away what it waits for:
//!
//! - for a lock, the rows in which its holders have taken it;
//! - for an event, the last `clear`, and so the `set` before it, and each `set` since the wait began;
//! - for a semaphore, of each thread the last `P` that it has not made good by a `V`, and so the `V` that it has consumed; of
//!   those since the wait began all, and each `V` that is not a unit given back;
//! - for a notification, all that came while it was waiting, with the waits of those that they have woken instead, and what these
//!   did before they gave a lock back or waited again; where there is none, the last one before that nobody heard.
//!
//! **Soundness and limits**. This is neither happens-before ([`super::Clocks`]) nor dependence of steps
//! ([`super::Footprint`]). It contains what reads see, which happens-before does not. It leaves out that a write comes after
//! the reads that it overwrites, which dependence contains: they do not cause it. And of a semaphore, the last `V` alone
//! stands for all that have let a `P` go on: people want to see one reason, not all.

use super::wakeups::{Wakeups, forget};
use cssame_vm::{Event, Obstacle, PathId};
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
