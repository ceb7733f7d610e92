//! Bodies of a lock that are protected, and which of them conflict.
//!
//! **Input**: the log, and where bodies [may be protected](crate::slice::known_bodies). **Output**: what such a body has
//! accessed, and whether a later body of the lock conflicts with that.
//!
//! **Algorithm**
//! 1. A body is protected if it does nothing but access what others access in bodies of the same lock alone. What it does follows from
//!    which of the bodies that conflict with it come before.
//! 2. Two bodies that do not conflict (none writes what the other one accesses) may change places. So where a body came first in an earlier
//!    branch, it [sleeps](super::sleep) in later ones until a body that conflicts with it has come.
//! 3. Another body comes first at a node of a protected one only where an execution has some body behind the node that conflicts with it:
//!    else that one could come first as well. It need not be that body: what a body accesses depends on those that come before it.
//!
//! **Soundness and limits**: nobody but bodies of the lock accesses what a protected one accesses, so it can be done before others of
//! these with which it does not conflict, as soon as its thread stands before it: the lock is free there, and the body waits for nothing.
//! What it prints would change places as well, so a body that prints is none. That all comes behind the body in the log then, what comes
//! before it in its thread too, does no harm where threads synchronise by one lock alone, and access all else in no conflict: no branch
//! but those of that lock has a past that bodies are a part of.

use super::super::log::Log;
use super::super::operation::{Kind, Operation};
use super::Search;
use super::node::{BodyAccess, Sleeper, Until};
use cssame_ir::sync;
use smallvec::SmallVec;
use std::ops::Range;

/// Accesses of a body beyond which it counts as one that conflicts with all others.
const MOST_ACCESSES: usize = 64;

impl<const NAMES: bool> Search<'_, NAMES> {
    /// Whether the last step takes a lock whose body may be protected.
    pub(super) fn takes_protected(&self) -> bool {
        self.seen.takes_lock.is_some_and(|at| self.machine.may_be_protected_behind(at))
    }

    /// Lets the thread that has just ended a body sleep before it in later branches of the node that the body begins with, if it is
    /// protected.
    pub(super) fn note_protected(&mut self) {
        let end = self.log.len() - 1;
        let Some((begin, body)) =
            body_of(&self.log, end).filter(|(begin, _)| self.log.operations[*begin].may_be_protected)
        else {
            return;
        };
        let Some(node) = self.nodes.iter_mut().rev().find(|node| node.base <= begin).filter(|node| node.at == begin)
        else {
            return;
        };
        let operation = &self.log.operations[begin];
        let (thread, cell, key) = (operation.thread, operation.cell, self.log.hash_anywhere(operation));
        let is_this = |of: &Sleeper| {
            matches!(of.until, Until::Conflict { .. }) && (of.thread, of.cell, of.key) == (thread, cell, key)
        };
        if node.asleep.iter().any(is_this) {
            return;
        }
        let until = Until::Conflict { since: node.base as u32, body: body.as_slice().into() };
        node.asleep.push(Sleeper { thread, cell, key, until });
    }

    /// Finds, for each node, the last body that conflicts with the one that it is at.
    pub(super) fn find_last_conflicts(&mut self) {
        self.last_conflicts.clear();
        if self.protects {
            let bodies = Bodies::of(&self.log);
            let all = self.nodes.iter().map(|node| bodies.last_conflict(&self.log, node.at));
            self.last_conflicts.extend(all);
        }
    }
}

/// Whether an operation on a lock, of those that a log has from `since` on, may keep a protected body from coming before it.
pub(super) fn conflicts(log: &Log, cell: u32, since: u32, body: &[BodyAccess]) -> bool {
    let conflicts = |&index: &u32| {
        let operation = &log.operations[index as usize];
        match operation.kind {
            // It conflicts if the body does.
            Kind::Synchronise(sync::Kind::Lock) => false,
            Kind::Synchronise(sync::Kind::Unlock) => {
                body_of(log, index as usize).is_none_or(|(_, other)| do_conflict(body, &other))
            }
            _ => true,
        }
    };
    let later = |all: &[u32]| all.iter().rev().take_while(|&&index| index >= since).any(conflicts);
    later(log.writes_of(cell)) || later(log.looks_at(cell))
}

/// The operation that begins the body that an operation ends, and what it accesses, where it does nothing else.
fn body_of(log: &Log, end: usize) -> Option<(usize, SmallVec<[BodyAccess; 8]>)> {
    let Operation { thread, place, .. } = log.operations[end];
    let mut accesses = SmallVec::new();
    let mut index = end;
    loop {
        index = *log.operations[index].before.first()? as usize;
        let operation = log.operations.get(index).filter(|operation| operation.thread == thread)?;
        match operation.kind {
            Kind::Synchronise(sync::Kind::Lock) if operation.place == place => return Some((index, accesses)),
            Kind::Read | Kind::Write | Kind::Atomic if accesses.len() < MOST_ACCESSES => {
                accesses.push(BodyAccess { cell: operation.cell, writes: operation.kind != Kind::Read });
            }
            _ => return None,
        }
    }
}

/// The last body that conflicts with the one that a node is at.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LastConflict {
    /// Whether the node is at a protected body.
    is_protected: bool,
    /// The operation that begins the last one that conflicts.
    pub last: Option<u32>,
}

impl LastConflict {
    /// Whether it matters that an operation on the lock comes first at the node instead.
    pub fn may_come_first(self, operation: &Operation) -> bool {
        !self.is_protected || !operation.takes_lock() || self.last.is_some()
    }
}

/// A body of a lock, as a log has it.
#[derive(Debug)]
struct Body {
    begin: u32,
    /// The lock.
    cell: u32,
    /// What it accesses, as a part of all accesses; `None` if it has not ended, or does something else as well.
    accesses: Option<Range<usize>>,
}

/// The bodies of locks that a log has, in the order of their begins.
#[derive(Debug, Default)]
struct Bodies {
    all: Vec<Body>,
    accesses: Vec<BodyAccess>,
}

impl Bodies {
    fn of(log: &Log) -> Bodies {
        let mut bodies = Bodies::default();
        for (index, operation) in log.operations.iter().enumerate() {
            match operation.kind {
                Kind::Synchronise(sync::Kind::Lock) => {
                    bodies.all.push(Body { begin: index as u32, cell: operation.cell, accesses: None });
                }
                Kind::Synchronise(sync::Kind::Unlock) => {
                    let Some((begin, accesses)) = body_of(log, index) else { continue };
                    let place = bodies.all.partition_point(|body| body.begin < begin as u32);
                    let first = bodies.accesses.len();
                    bodies.accesses.extend(accesses);
                    bodies.all[place].accesses = Some(first..bodies.accesses.len());
                }
                _ => {}
            }
        }
        bodies
    }

    /// The last body that conflicts with the one that an operation begins.
    fn last_conflict(&self, log: &Log, begin: usize) -> LastConflict {
        let operation = log.operations.get(begin).filter(|operation| operation.may_be_protected);
        let own = self.all.partition_point(|body| body.begin < begin as u32);
        let accesses = operation.and_then(|_| self.all[own].accesses.clone());
        let Some((operation, accesses)) = operation.zip(accesses) else { return LastConflict::default() };
        let accesses = &self.accesses[accesses];
        let mut later = self.all[own + 1..].iter().rev().filter(|body| body.cell == operation.cell);
        let conflicting = later.find(|body| {
            log.operations[body.begin as usize].thread != operation.thread
                && body.accesses.clone().is_none_or(|range| do_conflict(accesses, &self.accesses[range]))
        });
        LastConflict { is_protected: true, last: conflicting.map(|body| body.begin) }
    }
}

/// Whether one of two bodies writes what the other one accesses.
fn do_conflict(one: &[BodyAccess], other: &[BodyAccess]) -> bool {
    one.iter().any(|one| other.iter().any(|other| one.cell == other.cell && (one.writes || other.writes)))
}
