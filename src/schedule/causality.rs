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
//! **Soundness and limits**. This is neither happens-before ([`super::Clocks`]) nor dependence of steps
//! ([`super::Footprint`]). It contains what reads see, which happens-before does not. It leaves out that a write comes after
//! the reads that it overwrites, which dependence contains: they do not cause it. And of a semaphore, the last `V` alone
//! stands for all that have let a `P` go on: people want to see one reason, not all.

use crate::vm::{Event, PathId};
use rustc_hash::FxHashMap;

/// The last rows that later ones depend on.
#[derive(Default)]
pub(super) struct Causality {
    by_thread: FxHashMap<PathId, usize>,
    last_write: FxHashMap<u32, usize>,
    /// The last row of each synchronisation object that lets others go on.
    last_use: FxHashMap<u32, usize>,
    /// The last notification of each condition.
    last_notify: FxHashMap<Option<u32>, usize>,
    /// What each waiting thread waits for.
    waits: FxHashMap<PathId, Option<u32>>,
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

    /// Notes the row of an event.
    pub(super) fn remember(&mut self, row: usize, thread: PathId, event: Event) {
        self.by_thread.insert(thread, row);
        match event {
            Event::Write { address, .. } => {
                self.last_write.insert(address, row);
            }
            Event::Lock { address, .. }
            | Event::WaitToWrite { address, .. }
            | Event::Unlock { address, .. }
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
            Event::Wait { condition, .. } => {
                self.waits.insert(thread, condition);
            }
            Event::Notify { condition, .. } => {
                self.last_notify.insert(condition, row);
            }
            _ => {}
        }
    }

    /// Notes an event that has no row.
    pub(super) fn pass(&mut self, thread: PathId, event: Event) {
        match event {
            Event::Unlock { address, .. } => {
                // The beginning of a wait frees the lock; its row comes next, and nobody can be faster.
                if let Some(row) = self.last_row(thread) {
                    self.last_use.insert(address, row);
                }
            }
            Event::Leave { address, .. } => {
                let (rows, is_left) = self.arrivals.entry(address).or_default();
                *is_left = true;
                let rows = rows.clone();
                self.next.entry(thread).or_default().extend(rows);
            }
            Event::Woken { by: Some(_) } => {
                let condition = self.waits.get(&thread).copied().flatten();
                let row = self.last_notify.get(&condition).copied();
                self.next.entry(thread).or_default().extend(row);
            }
            Event::End { parent: Some(parent) } => {
                if let Some(row) = self.last_row(thread) {
                    self.ends.entry(parent.path).or_default().push(row);
                }
            }
            _ => {}
        }
    }
}
