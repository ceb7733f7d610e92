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
//! - for an event, the last `clear`, and so the `set` before it;
//! - for a semaphore, of each thread the last `P` that it has not made good by a `V`, and so the `V` that it has consumed;
//! - for a notification, the last one that came while it was waiting, with the waits of those that it has woken instead; where
//!   there is none, the last one before that nobody heard.
//!
//! **Soundness and limits**. This is neither happens-before ([`super::Clocks`]) nor dependence of steps
//! ([`super::Footprint`]). It contains what reads see, which happens-before does not. It leaves out that a write comes after
//! the reads that it overwrites, which dependence contains: they do not cause it. And of a semaphore, the last `V` alone
//! stands for all that have let a `P` go on: people want to see one reason, not all.

use cssame_vm::{Event, Obstacle, PathId};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// A notification.
struct Notification {
    row: usize,
    /// The waits that it has ended.
    woken: Vec<usize>,
}

/// The notifications of one condition, or the bare ones.
#[derive(Default)]
struct Notifications {
    last: Option<Notification>,
    /// The last one before that one that has woken nobody.
    unheard: Option<usize>,
}

/// The last rows that later ones depend on.
#[derive(Default)]
pub(super) struct Causality {
    by_thread: FxHashMap<PathId, usize>,
    last_write: FxHashMap<u32, usize>,
    /// The last row of each synchronisation object that lets others go on.
    last_use: FxHashMap<u32, usize>,
    /// By lock: who holds it, and the row in which it was taken.
    holds: FxHashMap<u32, Vec<(PathId, usize)>>,
    /// By semaphore: who has lowered it, and the rows of the units that were not given back by the same thread.
    units: FxHashMap<u32, Vec<(PathId, Vec<usize>)>>,
    /// By condition.
    notifications: FxHashMap<Option<u32>, Notifications>,
    /// What each waiting thread waits for, and the row in which it has begun to.
    waits: FxHashMap<PathId, (Option<u32>, usize)>,
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
                depends.extend(self.holders(address));
            }
            Obstacle::Event { address } => depends.extend(self.last_use.get(&address)),
            Obstacle::Semaphore { address } => {
                let units = self.units.get(&address).into_iter().flatten();
                depends.extend(units.filter_map(|(_, rows)| rows.last()));
            }
            Obstacle::Condition { address } => depends.extend(self.missed(thread, Some(address))),
            Obstacle::Notification => depends.extend(self.missed(thread, None)),
            Obstacle::Barrier { .. }
            | Obstacle::Children { .. }
            | Obstacle::Thread { .. }
            | Obstacle::AtomicBlock { .. } => {}
        }
        depends
    }

    /// The rows in which the holders of a lock have taken it.
    pub(super) fn holders(&self, lock: u32) -> impl Iterator<Item = usize> {
        self.holds.get(&lock).into_iter().flatten().map(|&(_, row)| row)
    }

    /// The notification that a waiting thread has missed, and the waits that this one has ended instead.
    fn missed(&self, thread: PathId, condition: Option<u32>) -> Vec<usize> {
        let Some(Notifications { last: Some(last), unheard }) = self.notifications.get(&condition) else {
            return Vec::new();
        };
        let waits = self.waits.get(&thread).map_or(0, |&(_, row)| row);
        if last.row < waits {
            return vec![if last.woken.is_empty() { last.row } else { unheard.unwrap_or(last.row) }];
        }
        last.woken.iter().copied().chain([last.row]).collect()
    }

    /// Notes the row of an event.
    pub(super) fn remember(&mut self, row: usize, thread: PathId, event: Event) {
        self.by_thread.insert(thread, row);
        match event {
            Event::Write { address, .. } => {
                self.last_write.insert(address, row);
            }
            Event::Lock { address, .. } => {
                self.last_use.insert(address, row);
                self.holds.entry(address).or_default().push((thread, row));
            }
            Event::Unlock { address, .. } => self.free(address, thread, row),
            Event::WaitToWrite { address, .. } | Event::Set { address, .. } | Event::Clear { address, .. } => {
                self.last_use.insert(address, row);
            }
            Event::Acquire { address, .. } => {
                let units = self.units.entry(address).or_default();
                match units.iter_mut().find(|(holder, _)| *holder == thread) {
                    Some((_, rows)) => rows.push(row),
                    None => units.push((thread, vec![row])),
                }
            }
            Event::Release { address, .. } => {
                self.last_use.insert(address, row);
                let units = self.units.get_mut(&address).into_iter().flatten();
                for (_, rows) in units.filter(|(holder, _)| *holder == thread) {
                    rows.pop();
                }
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
            Event::Wait { condition, .. } => {
                self.waits.insert(thread, (condition, row));
            }
            Event::Notify { condition, .. } => {
                let of = self.notifications.entry(condition).or_default();
                if let Some(before) = of.last.replace(Notification { row, woken: Vec::new() })
                    && before.woken.is_empty()
                {
                    of.unheard = Some(before.row);
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
                // The beginning of a wait frees the lock; its row comes next, and nobody can be faster.
                if let Some(row) = self.last_row(thread) {
                    self.free(address, thread, row);
                }
            }
            Event::Leave { address, .. } => {
                let (rows, is_left) = self.arrivals.entry(address).or_default();
                *is_left = true;
                let rows = rows.clone();
                self.next.entry(thread).or_default().extend(rows);
            }
            Event::Woken { by: Some(_) } => {
                let &(condition, wait) = self.waits.get(&thread)?;
                let notification = self.notifications.get_mut(&condition)?.last.as_mut()?;
                notification.woken.push(wait);
                let row = notification.row;
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
        forget(&mut self.units, cells);
        forget(&mut self.arrivals, cells);
        self.notifications.retain(|condition, _| !condition.is_some_and(|address| cells.contains(&address)));
    }
}

/// Removes what is known of some cells, in the shorter one of two ways.
fn forget<T>(known: &mut FxHashMap<u32, T>, cells: &Range<u32>) {
    if cells.len() < known.len() {
        cells.clone().for_each(|address| drop(known.remove(&address)));
    } else {
        known.retain(|address, _| !cells.contains(address));
    }
}
