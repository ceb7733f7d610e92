//! Synchronisation: locks ([`super::locks`]), events, barriers, conditions, semaphores, bare notifications.
//!
//! **Input**: a thread that stands before such an operation, which is currently possible. **Output**: the changed objects, and
//! the woken threads. These run ahead at once if they need nothing more.

use super::code::{Code, NO_SLOT, Slot, TableIndex};
use super::locks::Taken;
use super::observe::Event;
use super::outcome::FailureKind;
use super::standing::Standing;
use super::state::{ThreadIndex, ThreadStatus};
use super::step::{Performed, Run};
use cssame_ir::sync::{Kind, Mode};
use smallvec::SmallVec;

type Threads = SmallVec<[ThreadIndex; 8]>;

impl<const WATCHED: bool> Run<'_, WATCHED> {
    /// Performs an operation on synchronisation objects.
    pub(super) fn synchronise(
        &mut self,
        kind: Kind,
        (object, lock, verdict): (TableIndex, TableIndex, Slot),
        alternative: u32,
    ) -> Performed {
        let performed = match kind {
            Kind::WriteLock => self.with(object, Run::write_lock),
            Kind::Lock | Kind::ReadLock => self.with(object, |run, address| run.lock(address, kind)),
            Kind::TryLock | Kind::TryReadLock | Kind::TryWriteLock => {
                self.with(object, |run, address| run.try_lock(address, kind, verdict))
            }
            Kind::Unlock | Kind::UnlockRw => self.with(object, |run, address| run.unlock(address, kind)),
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
            Kind::WaitCondition | Kind::TimedWait => {
                self.with(object, |run, condition| run.with(lock, |run, lock| run.wait(condition, lock, kind)))
            }
            Kind::Notify => self.with(object, |run, address| run.notify(address, Some(alternative))),
            Kind::NotifyAll => self.with(object, |run, address| run.notify(address, None)),
            Kind::WaitBare => {
                self.event(Event::Wait { cell: None, condition: None, by: kind });
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
            None => Performed::Over(self.fail(self.out_of_range(self.code()), None)),
        }
    }

    /// Takes a lock that the thread may take.
    fn lock(&mut self, address: u32, by: Kind) -> Performed {
        let (cell, mode) = (self.cell(address), by.mode());
        match self.state.take(address, self.thread, mode, self.pc()) {
            Taken::First => self.event(Event::Lock { cell, address, by }),
            Taken::Again => self.event(Event::Nested { cell, address, by, mode }),
            Taken::TooOften => return Performed::Over(self.fail(FailureKind::LockLevels, None)),
        }
        Performed::On
    }

    /// Takes a readers-writer lock to write, or begins to wait for it where writers are preferred.
    fn write_lock(&mut self, address: u32) -> Performed {
        if self.state.may_take(address, self.thread, Kind::WriteLock) {
            return self.lock(address, Kind::WriteLock);
        }
        self.event(Event::WaitToWrite { cell: self.cell(address), address });
        let this = self.this();
        this.status = ThreadStatus::WaitingToWrite;
        this.wait = address;
        Performed::Blocked
    }

    /// Takes the readers-writer lock that the thread has waited for.
    pub(super) fn begin_to_write(&mut self) {
        let address = self.this().wait;
        self.state.take(address, self.thread, Mode::Exclusive, self.pc());
        self.event(Event::Lock { cell: self.cell(address), address, by: Kind::WriteLock });
        let this = self.this();
        this.status = ThreadStatus::Ready;
        this.wait = 0;
        this.pc += 1;
    }

    fn try_lock(&mut self, address: u32, by: Kind, verdict: Slot) -> Performed {
        let value = self.machine.may_take(self.state, address, self.thread, by);
        if value {
            if let Performed::Over(over) = self.lock(address, by) {
                return Performed::Over(over);
            }
        } else {
            self.event(Event::NotTaken { cell: self.cell(address), address, by });
        }
        self.decide(verdict, value);
        Performed::On
    }

    /// Tells the verdict of the operation.
    fn decide(&mut self, verdict: Slot, value: bool) {
        if verdict != NO_SLOT {
            self.set_register(verdict, i64::from(value));
        }
        self.event(Event::Verdict { value });
    }

    fn unlock(&mut self, address: u32, by: Kind) -> Performed {
        let cell = self.cell(address);
        match self.state.give_back(address, self.thread, by) {
            Some((mode, true)) => self.event(Event::Unlock { cell, address, by, mode }),
            Some((mode, false)) => self.event(Event::Nested { cell, address, by, mode }),
            None => return Performed::Over(self.fail(FailureKind::UnlockNotHeld, None)),
        }
        Performed::On
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
        let waiting: Threads = self.state.group(Standing::AtBarrier(address)).collect();
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
            self.state.touch(thread);
            let slot = &mut self.state.threads[thread.index()];
            slot.status = ThreadStatus::Ready;
            slot.wait = 0;
            slot.pc += 1;
        }
        for &thread in threads {
            self.run_ahead(thread);
        }
    }

    fn wait(&mut self, condition: u32, lock: u32, by: Kind) -> Performed {
        let Some(levels) = self.state.free_all(lock, self.thread) else {
            return Performed::Over(self.fail(FailureKind::UnlockNotHeld, None));
        };
        self.event(Event::Unlock { cell: self.cell(lock), address: lock, by, mode: Mode::Exclusive });
        self.event(Event::Wait { cell: Some(self.cell(condition)), condition: Some(condition), by });
        let this = self.this();
        this.status = ThreadStatus::WaitingCondition;
        this.wait = condition;
        this.levels = levels;
        Performed::Blocked
    }

    /// Stops waiting for a condition without a notification: a timed wait by its first alternative, otherwise for no reason.
    pub(super) fn give_up(&mut self, alternative: u32) {
        let is_timed = matches!(self.code(), Code::Synchronise { kind: Kind::TimedWait, .. });
        let condition = self.this().wait;
        if is_timed && alternative == 0 {
            self.this().status = ThreadStatus::TimedOut;
            self.event(Event::TimedOut { cell: self.cell(condition), address: condition });
        } else {
            self.this().status = ThreadStatus::Reacquiring;
            self.event(Event::Woken { by: None });
        }
    }

    /// Takes the lock again after a wait, at all levels.
    pub(super) fn reacquire(&mut self) {
        if let Code::Synchronise { kind, lock, verdict, .. } = self.code()
            && let Some((address, _)) = self.machine.cell_at(self.state, self.thread, lock)
        {
            let (levels, at) = (self.this().levels, self.pc());
            self.state.take_all(address, self.thread, levels, at);
            self.event(Event::Lock { cell: self.cell(address), address, by: kind });
            if kind == Kind::TimedWait {
                let is_notified = self.this().status == ThreadStatus::Reacquiring;
                self.decide(verdict, is_notified);
            }
        }
        let this = self.this();
        this.status = ThreadStatus::Ready;
        this.wait = 0;
        this.levels = 0;
        this.pc += 1;
    }

    /// Wakes one (by its place among those that wait) or all that wait for a condition.
    fn notify(&mut self, condition: u32, one: Option<u32>) -> Performed {
        let cell = Some(self.cell(condition));
        self.event(Event::Notify { cell, condition: Some(condition), all: one.is_none() });
        let waiting: Threads = self.state.group(Standing::ForCondition(condition)).collect();
        for thread in selected(waiting, one) {
            self.state.touch(thread);
            self.state.threads[thread.index()].status = ThreadStatus::Reacquiring;
            let by = Some(self.name());
            self.event_of(thread, Event::Woken { by });
        }
        Performed::On
    }

    /// Wakes one or all that wait bare.
    fn notify_bare(&mut self, one: Option<u32>) -> Performed {
        self.event(Event::Notify { cell: None, condition: None, all: one.is_none() });
        let waiting: Threads = self.state.group(Standing::Bare).collect();
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
