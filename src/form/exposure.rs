//! Exposure within mutex bodies.
//!
//! In: an access under a lock. Out: whether a definition can reach the end of its body (a release of the lock) without being
//! replaced, and whether a read can be reached from the begin of its body without passing a definition of its variable.
//! Both walk the local graph of the thread; a walk that grows too long answers yes, which keeps terms and is sound.

use super::access::Table;
use crate::concurrency::lockset::{ATOMIC, Locksets};
use crate::concurrency::{Concurrency, Event, EventKind, LocationId};
use crate::ssa::AccessKind;
use rustc_hash::FxHashSet;

/// A walk visits at most that many blocks.
const MAX_BLOCKS: usize = 4096;

/// What the walks look at.
pub(super) struct Exposure<'a> {
    pub concurrency: &'a Concurrency,
    pub locksets: &'a Locksets,
    pub table: &'a Table,
}

impl Exposure<'_> {
    /// Whether an event may free the lock, if only for a while.
    fn releases(&self, event: &Event, lock: LocationId) -> bool {
        match event.kind {
            EventKind::AtomicEnd => lock == ATOMIC,
            _ => self.concurrency.released_by(event).contains(&lock),
        }
    }

    /// Whether an event may take the lock.
    fn takes(&self, event: &Event, lock: LocationId) -> bool {
        match event.kind {
            EventKind::AtomicBegin => lock == ATOMIC,
            _ => self.concurrency.acquired_by(event).contains(&lock),
        }
    }

    fn kills(&self, event: u32, variable: u32) -> bool {
        let (start, end) = self.table.of_event[event as usize];
        self.table.ssa.all()[start as usize..end as usize]
            .iter()
            .any(|access| access.variable == variable && access.kind == AccessKind::Definition)
    }

    /// Whether what an access writes can still be there when the lock is freed.
    pub fn reaches_release(&self, access: u32, lock: LocationId) -> bool {
        let of = self.table.accesses[access as usize];
        let variable = self.table.variable_of(access);
        let end = self.concurrency.first_event(of.block) + self.concurrency.events_of(of.block).len();
        match self.scan_forward(of.event as usize + 1, end, variable, lock) {
            Some(answer) => answer,
            None => self.search(of.block, true, |block| {
                let start = self.concurrency.first_event(block);
                let end = start + self.concurrency.events_of(block).len();
                self.scan_forward(start, end, variable, lock)
            }),
        }
    }

    /// `Some(true)` where the lock is freed, `Some(false)` where the variable is replaced first, `None` where neither happens.
    fn scan_forward(&self, start: usize, end: usize, variable: u32, lock: LocationId) -> Option<bool> {
        for index in start..end {
            if self.releases(&self.concurrency.events[index], lock) {
                return Some(true);
            }
            if self.kills(index as u32, variable) {
                return Some(false);
            }
        }
        None
    }

    /// Whether a read can see what was there when its body began.
    pub fn reached_from_take(&self, access: u32, lock: LocationId) -> bool {
        let of = self.table.accesses[access as usize];
        let variable = self.table.variable_of(access);
        let start = self.concurrency.first_event(of.block);
        match self.scan_backward(start, of.event as usize, variable, lock) {
            Some(answer) => answer,
            None => self.search(of.block, false, |block| {
                let start = self.concurrency.first_event(block);
                let end = start + self.concurrency.events_of(block).len();
                self.scan_backward(start, end, variable, lock)
            }),
        }
    }

    fn scan_backward(&self, start: usize, end: usize, variable: u32, lock: LocationId) -> Option<bool> {
        for index in (start..end).rev() {
            if self.takes(&self.concurrency.events[index], lock) {
                return Some(true);
            }
            if self.kills(index as u32, variable) {
                return Some(false);
            }
        }
        None
    }

    /// Walks on from a block along the local graph until every path is answered; true if some path answers true.
    fn search(&self, from: u32, forward: bool, scan: impl Fn(u32) -> Option<bool>) -> bool {
        let next = |block: u32| {
            if forward { self.concurrency.local.successors(block) } else { self.concurrency.local.predecessors(block) }
        };
        let mut seen: FxHashSet<u32> = FxHashSet::default();
        let mut waiting: Vec<u32> = next(from).to_vec();
        while let Some(block) = waiting.pop() {
            if !seen.insert(block) {
                continue;
            }
            if seen.len() > MAX_BLOCKS {
                return true;
            }
            // What control never reaches holds no locks and answers nothing.
            if self.locksets.at_entry(block).is_none() {
                continue;
            }
            match scan(block) {
                Some(true) => return true,
                Some(false) => {}
                None => waiting.extend(next(block)),
            }
        }
        false
    }
}
