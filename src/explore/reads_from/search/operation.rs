//! Operations: the steps in the form of the log.
//!
//! **Input**: the events of the last step. **Output**: an operation with its cell or object, its source, and its direct
//! predecessors, at the end of the log. Also the operation before which a thread stands.

use super::super::operation::{Kind, NONE, Operation, ReaderBody};
use super::{Refusal, Search};
use cssame_ir::sync::{self, ObjectKind};
use cssame_vm::{Cell, PathId, Pending, ThreadIndex};
use smallvec::SmallVec;

impl<const NAMES: bool> Search<'_, NAMES> {
    /// Adds the operation that the last step was to the log.
    pub(super) fn log_operation(&mut self, kind: Kind, thread: PathId) -> Result<(), Refusal> {
        if let Some((condition, (_, lock))) = self.seen.condition.zip(self.seen.synchronised)
            && !self.groups.join(self.cells.number(Some(condition)), self.cells.number(lock))
        {
            return Err(Refusal::Regrouped);
        }
        let cell = self.cell_of_step();
        let mut before = self.before_thread(thread);
        let fork_at = self.seen.fork_at;
        if kind == Kind::Fork && self.log.open_forks(thread).next().is_some_and(|open| open.place != fork_at) {
            return Err(Refusal::NestedForks);
        }
        let (synchronises, arrives) = (matches!(kind, Kind::Synchronise(_)), kind == Kind::Arrive);
        let shares = self.readers_share && self.seen.shares;
        let looks = synchronises && self.note_look(thread);
        let reads = self.seen.read.is_some() || synchronises;
        let source = if reads { self.now.held(cell) } else { NONE };
        let leaves_it = shares || looks || self.leaves_event(kind, source);
        let writes = self.seen.write.is_some() || synchronises && !leaves_it;
        let object = self.seen.synchronised.and_then(|(_, object)| object);
        let value = object.map_or(0, |(_, address)| self.now.state.value(address));
        let by_object = if kind == Kind::Synchronise(sync::Kind::Acquire) {
            self.log.add_raise(self.cells.raises_of(cell), value, &mut before)
        } else if synchronises && writes {
            self.log.add_looks(cell, source, &mut before)
        } else {
            0
        };
        let number = self.log.len() as u32;
        if writes {
            self.now.hold(cell, number);
        }
        self.tree.set_operation(self.now.last, number);
        let makes = if synchronises { &self.seen.woken } else { &self.seen.forks };
        let operation = Operation {
            kind,
            thread,
            alternative: if arrives { self.log.next_round(thread, cell) } else { self.result_of_step() },
            cell,
            source,
            writes,
            looks,
            before,
            by_object,
            makes: makes.iter().copied().collect(),
            place: if synchronises { self.cells.number(object) } else { fork_at },
            value,
            hash: 0,
        };
        if arrives && self.log.arrivals(cell, operation.alternative).count() as i64 >= operation.value {
            return Err(Refusal::Synchronisation);
        }
        self.note_body(&operation, shares)?;
        self.log.push(operation);
        Ok(())
    }

    /// What comes right before the last step of a thread by program order, fork and join, and what has woken the thread.
    fn before_thread(&self, thread: PathId) -> SmallVec<[u32; 2]> {
        let mut before = SmallVec::new();
        self.log.add_last_of(thread, &mut before);
        if self.seen.joined {
            let children = self.log.open_forks(thread).flat_map(|fork| &fork.makes);
            children.for_each(|&child| self.log.add_last_of(child, &mut before));
        }
        if let Some(child) = self.seen.joined_thread {
            self.log.add_last_of(self.now.state.path(child), &mut before);
        }
        before
    }

    /// The operation on an object that a thread stands before, anywhere, and whether it is that of a reader.
    pub(super) fn standing(&mut self, thread: ThreadIndex) -> Option<(Operation, bool)> {
        let state = &self.now.state;
        let (by, address) = match self.machine.pending(state, thread)? {
            Pending::Synchronise { kind, address } => (kind, address?),
            Pending::Relock { address } => (sync::Kind::Lock, address?),
            _ => return None,
        };
        let (thread, object) = (state.path(thread), (self.machine.cell(state, address)?, address));
        let cell = self.group(by, Some(object));
        let mut before = SmallVec::new();
        self.log.add_last_of(thread, &mut before);
        let shares = self.readers_share && by == sync::Kind::ReadLock;
        let operation = Operation {
            kind: Kind::Synchronise(by),
            thread,
            alternative: 0,
            cell,
            source: NONE,
            writes: !shares,
            looks: false,
            before,
            by_object: 0,
            makes: SmallVec::new(),
            place: self.cells.number(Some(object)),
            value: 0,
            hash: 0,
        };
        Some((operation, shares))
    }

    /// Notes where a body of a reader begins and ends. There is nothing in it but reads.
    fn note_body(&mut self, operation: &Operation, shares: bool) -> Result<(), Refusal> {
        let Operation { kind, cell: lock, source, .. } = *operation;
        self.body = match (self.body, shares) {
            (None, true) if !operation.gives_back_rwlock() => Some(ReaderBody { lock, source }),
            (Some(body), true) if operation.gives_back_rwlock() && body.lock == lock => None,
            (body, false) if body.is_none() || kind == Kind::Read => body,
            _ => return Err(Refusal::Synchronisation),
        };
        Ok(())
    }

    /// The cell that the last step has accessed, the object that it has worked on, or the group of that.
    pub(super) fn cell_of_step(&mut self) -> u32 {
        match self.seen.synchronised {
            Some((by, object)) => self.group(by, object),
            None => self.cells.number(self.seen.cell()),
        }
    }

    /// Whether an operation leaves an event as it is, where events that are set stay so.
    fn leaves_event(&self, kind: Kind, source: u32) -> bool {
        let leaves_it = match kind {
            Kind::Synchronise(sync::Kind::WaitEvent) => true,
            Kind::Synchronise(sync::Kind::Set) => source != NONE,
            _ => false,
        };
        self.keeps_events && leaves_it
    }

    /// The number of an object, or of its [group](super::groups); that of the address that nothing uses where there is no object.
    /// Operations that raise a semaphore have an order of their own.
    pub(super) fn group(&mut self, by: sync::Kind, object: Option<(Cell, u32)>) -> u32 {
        let number = self.cells.number(object);
        let is_condition = by.is_on(ObjectKind::Condition);
        if self.is_grouped && object.is_some() && (is_condition || by.is_on(ObjectKind::Lock)) {
            return self.groups.of(number, is_condition && by != sync::Kind::WaitCondition);
        }
        if by == sync::Kind::Release { self.cells.raises_of(number) } else { number }
    }

    /// What the last step has led to, where that was an operation on an object.
    fn result_of_step(&self) -> u32 {
        match (self.seen.synchronised, self.seen.verdict, self.seen.woken.first()) {
            (None, ..) => 0,
            (_, Some(verdict), _) => 1 + u32::from(verdict),
            (Some((sync::Kind::Notify | sync::Kind::NotifyBare, _)), _, Some(woken)) => 1 + woken.0,
            _ => 0,
        }
    }
}
