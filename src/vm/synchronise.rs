//! Synchronisation: locks, events, barriers, conditions, semaphores, bare notifications.
//!
//! **Input**: a thread that stands before such an operation, which is possible now. **Output**: the changed objects,
//! and the threads that it wakes, which run ahead at once where they need nothing more.

use super::code::{Code, TableIndex};
use super::observe::{Event, Observer};
use super::outcome::{FailureKind, Progress};
use super::state::{NO_WRITER, ThreadIndex, ThreadStatus};
use super::step::{Performed, Run};
use crate::ir::sync::Kind;
use smallvec::SmallVec;

type Threads = SmallVec<[ThreadIndex; 8]>;

impl<O: Observer> Run<'_, O> {
    /// Performs an operation on synchronisation objects.
    pub(super) fn synchronise(
        &mut self,
        kind: Kind,
        object: TableIndex,
        lock: TableIndex,
        alternative: u32,
    ) -> Performed {
        let performed = match kind {
            Kind::Lock => self.with(object, |run, address| {
                run.take_lock(address);
                run.event(Event::Lock { cell: run.cell(address), address, again: false });
                Performed::On
            }),
            Kind::Unlock => self.with(object, |run, address| match run.free_lock(address, false) {
                Some(over) => Performed::Over(over),
                None => Performed::On,
            }),
            Kind::Set => self.with(object, |run, address| {
                run.state.cells[address as usize].value = 1;
                run.event(Event::Set { cell: run.cell(address), address });
                Performed::On
            }),
            Kind::Clear => self.with(object, |run, address| {
                run.state.cells[address as usize].value = 0;
                run.event(Event::Clear { cell: run.cell(address), address });
                Performed::On
            }),
            Kind::WaitEvent => self.with(object, |run, address| {
                run.event(Event::Waited { cell: run.cell(address), address });
                Performed::On
            }),
            Kind::Acquire => self.with(object, |run, address| {
                run.state.cells[address as usize].value -= 1;
                run.event(Event::Acquire { cell: run.cell(address), address });
                Performed::On
            }),
            Kind::Release => self.with(object, |run, address| {
                let cell = &mut run.state.cells[address as usize];
                cell.value = cell.value.wrapping_add(1);
                run.event(Event::Release { cell: run.cell(address), address });
                Performed::On
            }),
            Kind::Barrier => self.with(object, Run::arrive),
            Kind::WaitCondition => {
                self.with(object, |run, condition| run.with(lock, |run, lock| run.wait(condition, lock)))
            }
            Kind::Notify => self.with(object, |run, address| run.notify(address, Some(alternative))),
            Kind::NotifyAll => self.with(object, |run, address| run.notify(address, None)),
            Kind::WaitBare => {
                self.event(Event::Wait { cell: None, condition: None });
                self.this().status = ThreadStatus::WaitingBare;
                Performed::Blocked
            }
            Kind::NotifyBare => self.notify_bare(Some(alternative)),
            Kind::NotifyAllBare => self.notify_bare(None),
        };
        if matches!(performed, Performed::On) {
            self.this().pc += 1;
        }
        performed
    }

    fn with(&mut self, place: TableIndex, operation: impl FnOnce(&mut Self, u32) -> Performed) -> Performed {
        match self.machine.cell_at(self.state, self.thread, place) {
            Some((address, _)) => operation(self, address),
            None => Performed::Over(self.fail(FailureKind::IndexOutOfRange, None)),
        }
    }

    fn take_lock(&mut self, address: u32) {
        let (holder, at) = (i64::from(self.thread.0) + 1, self.pc());
        let cell = &mut self.state.cells[address as usize];
        cell.value = holder;
        cell.writer = at;
    }

    /// Frees a lock; gives the failure where this thread does not hold it.
    fn free_lock(&mut self, address: u32, waits: bool) -> Option<Progress> {
        if self.state.value(address) != i64::from(self.thread.0) + 1 {
            return Some(self.fail(FailureKind::UnlockNotHeld, None));
        }
        let cell = &mut self.state.cells[address as usize];
        cell.value = 0;
        cell.writer = NO_WRITER;
        self.event(Event::Unlock { cell: self.cell(address), address, waits });
        None
    }

    fn arrive(&mut self, address: u32) -> Performed {
        self.event(Event::Arrive { cell: self.cell(address), address });
        let count = self.state.value(address);
        let arrived = &mut self.state.cells[address as usize + 1].value;
        *arrived += 1;
        if *arrived < count {
            let this = self.this();
            this.status = ThreadStatus::AtBarrier;
            this.wait = address;
            return Performed::Blocked;
        }
        *arrived = 0;
        let slots = self.state.threads.iter().enumerate();
        let waiting: Threads = slots
            .filter(|(_, thread)| thread.status == ThreadStatus::AtBarrier && thread.wait == address)
            .map(|(index, _)| ThreadIndex(index as u16))
            .collect();
        for &thread in &waiting {
            self.event_of(thread, Event::Leave { cell: self.cell(address), address });
        }
        self.event(Event::Leave { cell: self.cell(address), address });
        self.release(&waiting);
        Performed::On
    }

    /// Lets threads that were blocked go on behind the operation at which they stand.
    fn release(&mut self, threads: &[ThreadIndex]) {
        for &thread in threads {
            let slot = &mut self.state.threads[thread.index()];
            slot.status = ThreadStatus::Ready;
            slot.wait = 0;
            slot.pc += 1;
        }
        for &thread in threads {
            self.run_ahead(thread);
        }
    }

    fn wait(&mut self, condition: u32, lock: u32) -> Performed {
        if let Some(over) = self.free_lock(lock, true) {
            return Performed::Over(over);
        }
        self.event(Event::Wait { cell: Some(self.cell(condition)), condition: Some(condition) });
        let this = self.this();
        this.status = ThreadStatus::WaitingCondition;
        this.wait = condition;
        Performed::Blocked
    }

    /// Takes the lock again after a wait.
    pub(super) fn reacquire(&mut self) {
        if let Code::Synchronise { lock, .. } = self.code()
            && let Some((address, _)) = self.machine.cell_at(self.state, self.thread, lock)
        {
            self.take_lock(address);
            self.event(Event::Lock { cell: self.cell(address), address, again: true });
        }
        let this = self.this();
        this.status = ThreadStatus::Ready;
        this.wait = 0;
        this.pc += 1;
    }

    /// Wakes one (by its place among those that wait) or all that wait for a condition.
    fn notify(&mut self, condition: u32, one: Option<u32>) -> Performed {
        let cell = Some(self.cell(condition));
        self.event(Event::Notify { cell, condition: Some(condition), all: one.is_none() });
        let waiting: Threads = self.machine.waiting_for(self.state, condition).collect();
        for thread in selected(waiting, one) {
            self.state.threads[thread.index()].status = ThreadStatus::Reacquiring;
            let by = Some(self.name());
            self.event_of(thread, Event::Woken { by });
        }
        Performed::On
    }

    /// Wakes one or all that wait bare.
    fn notify_bare(&mut self, one: Option<u32>) -> Performed {
        self.event(Event::Notify { cell: None, condition: None, all: one.is_none() });
        let waiting: Threads = self.machine.waiting_bare(self.state).collect();
        let woken = selected(waiting, one);
        for &thread in &woken {
            let by = Some(self.name());
            self.event_of(thread, Event::Woken { by });
        }
        self.release(&woken);
        Performed::On
    }
}

fn selected(waiting: Threads, one: Option<u32>) -> Threads {
    match one {
        None => waiting,
        Some(index) => waiting.into_iter().skip(index as usize).take(1).collect(),
    }
}
