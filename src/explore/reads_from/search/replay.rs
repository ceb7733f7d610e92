//! The way back: bringing the machine behind the log of a branch.
//!
//! **Input**: the branches that wait. **Output**: a machine that has done all operations of a log, in an order in which
//! each read sees its source, if there is such an order.

use super::super::log::{Kind, Operation};
use super::{Followed, Position, Refusal, Search, Stepped};
use crate::budget::Bound;
use crate::vm::{Choice, Obstacle, PathId, Pending, ThreadIndex};
use smallvec::SmallVec;

impl<const NAMES: bool> Search<'_, NAMES> {
    /// Enters the last branch that has an order; gives the length of the log that it shares with the execution before.
    pub(super) fn enter_branch(&mut self) -> Result<Option<usize>, Refusal> {
        while let Some(node) = self.nodes.last_mut() {
            if self.found.bound.is_some_and(|bound| bound != Bound::Executions) {
                return Ok(None);
            }
            let Some(operations) = node.pop() else {
                self.spare.extend(self.nodes.pop());
                continue;
            };
            let base = node.base;
            self.log.truncate(base);
            for operation in operations {
                self.log.push(operation);
            }
            node.at = self.log.len() - 1;
            self.halted.clear();
            if self.replay(base)? {
                return Ok(Some(base));
            }
        }
        Ok(None)
    }

    /// Brings the machine behind the log of a branch; `false` if the log has no order.
    fn replay(&mut self, base: usize) -> Result<bool, Refusal> {
        // Whether the last operation, if it is a `cas`, writes, shows when it is done.
        loop {
            let Some(node) = self.nodes.last() else { return Ok(false) };
            let followed = if self.is_direct(base, &node.before) {
                self.now.copy_from(&node.before);
                self.follow(base as u32..self.log.len() as u32)?
            } else {
                let Some(order) = self.sorter.order(&self.log, self.budget) else {
                    // Whether there is an order is open then; that outweighs a bound that may be reached just at the end.
                    self.found.bound = self.sorter.stopped().or(self.found.bound);
                    return Ok(false);
                };
                self.now.copy_from(&self.initial);
                self.follow(order)?
            };
            match followed {
                Followed::All => return Ok(true),
                Followed::LastWrites => self.log.last_writes(),
                Followed::NoWrite => return Ok(false),
            }
        }
    }

    /// Whether the operations behind the base can be done in the order of the log.
    fn is_direct(&self, base: usize, before: &Position) -> bool {
        let mut written: SmallVec<[(u32, u32); 8]> = SmallVec::new();
        for (index, operation) in self.log.operations.iter().enumerate().skip(base) {
            let newest = written.iter().rev().find(|(cell, _)| *cell == operation.cell);
            let held = newest.map_or_else(|| before.held(operation.cell), |&(_, write)| write);
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
    fn follow(&mut self, order: impl IntoIterator<Item = u32>) -> Result<Followed, Refusal> {
        let last = self.log.len() - 1;
        let mut order = order.into_iter().peekable();
        while let Some(index) = order.next() {
            let Operation { thread, alternative, kind, cell, writes, .. } = self.log.operations[index as usize];
            let done = self.perform(thread, alternative)?;
            if self.found.bound.is_some_and(|bound| bound != Bound::Executions) {
                return Ok(Followed::NoWrite);
            }
            debug_assert_eq!(
                (done, self.cells.number(self.seen.cell())),
                (kind, cell),
                "an execution that repeats another departs from it"
            );
            match (self.seen.write.is_some(), writes) {
                (true, false) if index as usize == last => {
                    if order.peek().is_some() {
                        return Ok(Followed::LastWrites);
                    }
                    self.log.last_writes();
                    self.now.hold(cell, index);
                }
                (written, _) if written != writes => return Ok(Followed::NoWrite),
                (true, _) => self.now.hold(cell, index),
                (false, _) => {}
            }
        }
        Ok(Followed::All)
    }

    /// Lets a thread go on to its next operation.
    fn perform(&mut self, thread: PathId, alternative: u32) -> Result<Kind, Refusal> {
        loop {
            let slot = self.slot(thread).ok_or(Refusal::Synchronisation)?;
            let state = &self.now.state;
            if self.machine.alternatives(state, slot) == 0 {
                self.end_joined(slot)?;
                continue;
            }
            let chooses = matches!(self.machine.pending(state, slot), Some(Pending::Choose));
            let choice = Choice { thread: slot, alternative: if chooses { alternative } else { 0 } };
            match self.step(choice)? {
                Stepped::Operation(kind) => return Ok(kind),
                Stepped::Local => {}
                Stepped::Discarded => return Err(Refusal::Synchronisation),
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
            Stepped::Operation(_) | Stepped::Discarded => Err(Refusal::Synchronisation),
        }
    }
}
