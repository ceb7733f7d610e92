//! Replay: brings the machine to the state after the log of a branch.
//!
//! **Input**: the waiting branches. **Output**: a machine that has executed all operations of a log, in an order in which each
//! read sees its source, if there is such an order.
//!
//! **Algorithm**
//! 1. Bring the machine to the point where the branch begins, from the nearest stored position. If all operations that the branch
//!    adds can be executed there in the order of the log, execute them.
//! 2. Otherwise a read that the branch adds sees a value that the execution has overwritten, so it has to be executed earlier.
//!    Find the first of the writes before which it has to be executed, go back to the nearest stored position before that write,
//!    and search for an order of all remaining operations from there.
//! 3. If there is none, search for an order of all operations from the beginning.

use super::super::operation::{Kind, NONE, Operation, ReaderBody};
use super::super::order::Left;
use super::super::tree::START;
use super::node::bytes_of;
use super::{Followed, INTERVAL, LONG, Refusal, Search, Stepped};
use cssame_budget::Bound;
use cssame_ir::sync;
use cssame_vm::{Choice, Obstacle, PathId, Pending, ThreadIndex};
use smallvec::SmallVec;

/// Where a branch parts from the execution that it was found in.
#[derive(Clone, Copy, Debug)]
struct Parting {
    /// The length of the log that they share.
    base: usize,
    /// The last step before it.
    before: u32,
    /// Whether it is the last branch of its node.
    is_last: bool,
    /// Whether some of the operations that they share come behind that step.
    is_early: bool,
}

impl<const NAMES: bool> Search<'_, NAMES> {
    /// Enters the last branch that has an order; gives the length of the log that it shares with the execution before.
    pub(super) fn enter_branch(&mut self) -> Result<Option<usize>, Refusal> {
        while let Some(node) = self.nodes.last_mut() {
            if self.found.bound.is_some_and(|bound| bound != Bound::Executions) {
                return Ok(None);
            }
            let Some(mut operations) = node.pop() else {
                self.leave_node();
                continue;
            };
            self.branch_bytes -= bytes_of(&operations);
            let base = node.base;
            self.log.truncate(base);
            // Who comes first on an object does that anew: what it leads to is open.
            let first = operations.pop_if(|last| last.changes_object());
            self.body = match operations.last() {
                Some(last) if first.is_none() && last.synchronises() => {
                    Some(ReaderBody { lock: last.cell, source: last.source })
                }
                _ => node.body,
            };
            let parting =
                Parting { base, before: node.before, is_last: node.waiting.is_empty(), is_early: node.is_early };
            for operation in operations {
                self.log.push(operation);
            }
            node.at = if first.is_some() { self.log.len() } else { self.log.len() - 1 };
            self.halted.clear();
            self.looks.thread = None;
            self.asleep.clone_from(&node.asleep);
            let nodes = self.nodes.len();
            if self.replay(parting)? {
                match first {
                    Some(first) if !self.come_first(&first)? => {}
                    _ => return Ok(Some(base)),
                }
            }
            while self.nodes.len() > nodes {
                self.leave_node();
            }
            if self.work_done() >= self.next_look {
                self.look();
            }
        }
        Ok(None)
    }

    /// Does an operation on an object, as the last node has it, and logs it; `false` if that is not possible.
    fn come_first(&mut self, first: &Operation) -> Result<bool, Refusal> {
        let Some(kind) = self.perform(first.thread, first.alternative)? else { return Ok(false) };
        self.log_operation(kind, first.thread)?;
        let sleeper = self.log.operations.last().and_then(|operation| self.sleeper(operation));
        if let Some(sleeper) = sleeper {
            self.turn = self.slot(first.thread).ok_or(Refusal::Synchronisation)?;
            self.nodes.last_mut().into_iter().for_each(|node| node.asleep.push(sleeper));
        }
        if let Some(node) = self.nodes.last_mut().filter(|_| first.alternative == 0) {
            let before = node.bytes;
            node.push_others(&self.log, &self.wakeable);
            self.branch_bytes += node.bytes - before;
        }
        Ok(true)
    }

    /// Drops the last node, of which all branches were entered.
    fn leave_node(&mut self) {
        let Some(node) = self.nodes.pop() else { return };
        self.branch_bytes -= node.bytes;
        if let Some(cell) = node.cell {
            self.readers[cell as usize].pop();
        }
        self.spare.push(node);
    }

    /// Brings the machine behind the log of a branch; `false` if the log has no order.
    fn replay(&mut self, Parting { base, before, is_last, is_early }: Parting) -> Result<bool, Refusal> {
        // Whether the last operation, if it is a `cas`, writes, shows when it is done.
        loop {
            self.tree.truncate(before.wrapping_add(1));
            // 1.
            self.go_to(before)?;
            if !is_last {
                self.keep();
            }
            let mut order = std::mem::take(&mut self.order);
            order.clear();
            if !is_early && self.is_direct(base) {
                order.extend(base as u32..self.log.len() as u32);
            } else if !self.find_order(base, before, &mut order) {
                self.order = order;
                // Whether there is an order is open then; that outweighs a bound that may be reached just at the end.
                self.found.bound = self.sorter.stopped().or(self.found.bound);
                return Ok(false);
            }
            let followed = self.follow(&order)?;
            self.order = order;
            match followed {
                Followed::All => return Ok(true),
                Followed::LastWrites => self.log.last_writes(),
                Followed::NoWrite => return Ok(false),
            }
        }
    }

    /// Finds an order of all operations that the machine has not done, once it is brought back to where that order begins.
    fn find_order(&mut self, base: usize, before: u32, order: &mut Vec<u32>) -> bool {
        // 2.
        let place = self.place_before_overwritten(base, before);
        self.now.copy_from(self.tree.nearest(place, &mut self.again));
        let mut found = self.find_order_from_here(base, order);
        // 3.
        if !found && self.sorter.stopped().is_none() && self.now.last != START {
            self.now.copy_from(self.tree.nearest(START, &mut self.again));
            found = self.find_order_from_here(base, order);
        }
        self.kept = self.now.length;
        found
    }

    /// Where the execution that a branch parts from stood before it first overwrote what the branch still has to read.
    fn place_before_overwritten(&mut self, base: usize, before: u32) -> u32 {
        self.places.clear();
        self.places.resize(base, START);
        for (number, step) in self.tree.back_from(before) {
            if let Some(place) = self.places.get_mut(step.operation as usize) {
                *place = number;
            }
        }
        // Steps behind others have higher numbers.
        let place = |write: u32| self.places.get(write as usize).copied();
        let mut first = before;
        for operation in self.log.operations[base..].iter().filter(|operation| operation.reads()) {
            if operation.source != NONE && operation.source as usize >= base {
                continue;
            }
            let source = place(operation.source);
            // What was not done then has no place.
            let is_later = |&write: &u32| write != START && source.is_none_or(|source| write > source);
            let later = |&write: &u32| place(write).filter(is_later);
            if let Some(overwritten) = self.log.writes_of(operation.cell).iter().filter_map(later).min()
                && (first == before || overwritten < first)
            {
                first = overwritten;
            }
        }
        if first == before { before } else { self.tree.before(first) }
    }

    /// Finds an order of all operations that the machine has not done; `places` says which step has done which.
    fn find_order_from_here(&mut self, base: usize, order: &mut Vec<u32>) -> bool {
        let done = self.now.last;
        let left = &mut self.left;
        left.clear();
        left.extend((0..base as u32).filter(|&index| done == START || self.places[index as usize] > done));
        left.extend(base as u32..self.log.len() as u32);
        // An operation that is put in order costs about as much as a step. Where threads spin beside locks, there are many.
        if self.log.learns() {
            self.work += 8 * left.len() as u64;
        }
        let left = Left { operations: left, holds: &self.now.holds, open: self.body };
        self.sorter.order(&self.log, &left, self.budget, order)
    }

    /// Whether the operations behind the base can be done in the order of the log.
    fn is_direct(&self, base: usize) -> bool {
        let mut written: SmallVec<[(u32, u32); 8]> = SmallVec::new();
        for (index, operation) in self.log.operations.iter().enumerate().skip(base) {
            let newest = written.iter().rev().find(|(cell, _)| *cell == operation.cell);
            let held = newest.map_or_else(|| self.now.held(operation.cell), |&(_, write)| write);
            if operation.reads() && held != operation.source {
                return false;
            }
            if operation.writes {
                written.push((operation.cell, index as u32));
            }
        }
        true
    }

    /// Does operations of the log in an order.
    fn follow(&mut self, order: &[u32]) -> Result<Followed, Refusal> {
        let (length, mut is_looking) = (self.log.len(), false);
        for (place, &index) in order.iter().enumerate() {
            if self.now.length >= self.kept + INTERVAL && !is_looking {
                self.keep();
            }
            let operation = &self.log.operations[index as usize];
            is_looking = operation.begins_to_look() || is_looking && !operation.ends_to_look();
            let Operation { thread, alternative, kind, cell, writes, .. } = *operation;
            let done = self.perform(thread, alternative)?.ok_or(Refusal::Synchronisation)?;
            self.tree.set_operation(self.now.last, index);
            if self.found.bound.is_some_and(|bound| bound != Bound::Executions) {
                return Ok(Followed::NoWrite);
            }
            debug_assert_eq!(
                (done, self.cell_of_step()),
                (kind, cell),
                "an execution that repeats another departs from it"
            );
            match (self.seen.write.is_some(), writes) {
                (false, true) if matches!(kind, Kind::Synchronise(_)) => self.now.hold(cell, index),
                (true, false) if index as usize + 1 == length => {
                    if place + 1 < order.len() {
                        return Ok(Followed::LastWrites);
                    }
                    self.log.last_writes();
                    self.now.hold(cell, index);
                }
                (written, _) if written != writes => return Ok(Followed::NoWrite),
                (true, _) => self.now.hold(cell, index),
                (false, _) => {}
            }
            if self.body.is_some() && index as usize + 1 == length {
                self.end_body(thread, place + 1 < order.len())?;
            }
        }
        Ok(Followed::All)
    }

    /// Lets a reader do the rest of its body: a writer may come next. Each read becomes a node, an early one if other operations of
    /// the log are still to be done.
    fn end_body(&mut self, thread: PathId, is_early: bool) -> Result<(), Refusal> {
        while self.body.is_some() {
            if self.now.length >= LONG {
                return Err(Refusal::Endless);
            }
            if self.now.length >= self.kept + INTERVAL {
                self.keep();
            }
            let before = self.now.last;
            let kind = self.perform(thread, 0)?.ok_or(Refusal::Synchronisation)?;
            self.log_operation(kind, thread)?;
            if self.parts(kind) {
                self.open_node(before, 1, is_early);
            }
        }
        Ok(())
    }

    /// Lets a thread go on to its next operation; `None` if a synchronisation object keeps it from that. Without an alternative that is
    /// above 0 it is done anew.
    fn perform(&mut self, thread: PathId, alternative: u32) -> Result<Option<Kind>, Refusal> {
        loop {
            let slot = self.slot(thread).ok_or(Refusal::Synchronisation)?;
            let state = &self.now.state;
            let pending = self.machine.pending(state, slot);
            if self.machine.alternatives(state, slot) == 0 {
                if matches!(pending, Some(Pending::Synchronise { .. } | Pending::Relock { .. })) {
                    return Ok(None);
                }
                self.end_joined(slot)?;
                continue;
            }
            self.wakeable = self.machine.wakeable(state, slot);
            // What it prints comes in a step before.
            let alternative = match pending {
                Some(Pending::Choose) => alternative,
                // One that wakes a thread says which.
                Some(Pending::Synchronise { kind: sync::Kind::Notify | sync::Kind::NotifyBare, .. })
                    if alternative > 0 =>
                {
                    let place = self.wakeable.iter().position(|path| path.0 + 1 == alternative);
                    place.ok_or(Refusal::Synchronisation)? as u32
                }
                _ => 0,
            };
            match self.step(Choice { thread: slot, alternative })? {
                Stepped::Operation(kind) => return Ok(Some(kind)),
                Stepped::Local => {}
                Stepped::Discarded => return Err(Refusal::Synchronisation),
                Stepped::Failed(_) => return Err(Refusal::Failure),
            }
        }
    }

    /// Lets a thread that another one waits for do its last local work, which is no operation.
    fn end_joined(&mut self, joining: ThreadIndex) -> Result<(), Refusal> {
        let state = &self.now.state;
        let handle = match self.machine.obstacle(state, joining) {
            Some(Obstacle::Thread { thread }) => vec![thread],
            Some(Obstacle::Children { threads }) => threads,
            _ => Vec::new(),
        };
        let able = |&thread: &ThreadIndex| self.machine.alternatives(state, thread) > 0;
        let thread = handle.into_iter().find(able).ok_or(Refusal::Synchronisation)?;
        match self.step(Choice { thread, alternative: 0 })? {
            Stepped::Local => Ok(()),
            Stepped::Failed(_) => Err(Refusal::Failure),
            Stepped::Operation(_) | Stepped::Discarded => Err(Refusal::Synchronisation),
        }
    }
}
