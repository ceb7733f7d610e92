//! Moves: which threads can take a step in a state.
//!
//! **Input**: a machine and a state. **Output**: the threads that can move, each in how many ways, and whether the execution is at
//! its end. `readiness` says what decides about the operations that may have to wait.

use super::code::{Code, Source, TableIndex};
use super::locks;
use super::machine::Machine;
use super::outcome::{Choice, Move};
use super::readiness::{CellTest, Readiness};
use super::standing::Standing;
use super::state::{NO_THREAD, State, Thread, ThreadIndex, ThreadStatus};
use cssame_ir::sync::{Kind, Mode};
use cssame_ir::{Object, Pointer};

impl Machine {
    /// The threads that can move, in the order of their slots.
    pub fn moves(&self, state: &State, out: &mut Vec<Move>) {
        out.clear();
        for index in 0..state.threads.len() {
            let thread = ThreadIndex(index as u16);
            let alternatives = self.alternatives(state, thread);
            if alternatives > 0 {
                out.push(Move { thread, alternatives });
            }
        }
    }

    /// Whether the next step of a thread is an access to shared data outside of an atomic block: it wakes nobody, and takes
    /// nothing that another thread may wait for.
    #[inline]
    #[must_use]
    pub fn is_plain_access(&self, state: &State, thread: ThreadIndex) -> bool {
        let slot = &state.threads[thread.index()];
        let code = self.compiled.code[slot.pc as usize];
        slot.status == ThreadStatus::Ready
            && slot.atomic == 0
            && matches!(
                code,
                Code::SharedLoad { .. }
                    | Code::SharedStore { .. }
                    | Code::SharedLoadAt { .. }
                    | Code::SharedStoreAt { .. }
            )
    }

    /// As [`Machine::moves`], behind a step of `thread` that was a [plain access](Machine::is_plain_access): `out` holds the
    /// moves before it. Unless the thread has ended, the others can do what they could do before.
    #[inline]
    pub fn moves_behind_access(&self, state: &State, thread: ThreadIndex, out: &mut Vec<Move>) {
        // The slot of a thread that has ended may be gone.
        let alternatives = self.alternatives_of(state, thread);
        match out.iter_mut().find(|one| one.thread == thread) {
            Some(one) if alternatives > 0 => one.alternatives = alternatives,
            _ => self.moves(state, out),
        }
        debug_assert!({
            let mut all = Vec::new();
            self.moves(state, &mut all);
            all == *out
        });
    }

    /// All steps that the state allows, in order. A `choose` over a wide range gives as many; [`Machine::moves`] does
    /// not spell them out.
    pub fn enabled(&self, state: &State, out: &mut Vec<Choice>) {
        out.clear();
        for index in 0..state.threads.len() {
            let thread = ThreadIndex(index as u16);
            out.extend((0..self.alternatives(state, thread)).map(|alternative| Choice { thread, alternative }));
        }
    }

    /// In how many ways a thread can move; 0 where it cannot.
    #[inline]
    #[must_use]
    pub fn alternatives(&self, state: &State, thread: ThreadIndex) -> u32 {
        let slot = &state.threads[thread.index()];
        if slot.status != ThreadStatus::Ready {
            return self.waiting_alternatives(state, thread);
        }
        if state.exclusive != NO_THREAD && state.exclusive != thread.0 {
            return 0;
        }
        match self.compiled.code[slot.pc as usize] {
            Code::SharedLoad { .. } | Code::SharedStore { .. } => 1,
            code => self.ready_alternatives(state, thread, code),
        }
    }

    /// As [`Machine::alternatives`], also for a slot that there is not.
    #[must_use]
    pub fn alternatives_of(&self, state: &State, thread: ThreadIndex) -> u32 {
        if thread.index() < state.threads.len() { self.alternatives(state, thread) } else { 0 }
    }

    /// Whether a thread can move by itself: to leave it then is to interrupt it. One that waits for a condition waits, though it may give
    /// up waiting.
    #[must_use]
    pub fn could_go_on(&self, state: &State, thread: ThreadIndex) -> bool {
        let waits = |slot: &Thread| slot.status == ThreadStatus::WaitingCondition;
        state.threads.get(thread.index()).is_some_and(|slot| !waits(slot)) && self.alternatives(state, thread) > 0
    }

    fn waiting_alternatives(&self, state: &State, thread: ThreadIndex) -> u32 {
        if state.exclusive != NO_THREAD {
            return 0;
        }
        let slot = &state.threads[thread.index()];
        match slot.status {
            ThreadStatus::Reacquiring | ThreadStatus::TimedOut => {
                let Code::Synchronise { lock, .. } = self.compiled.code[slot.pc as usize] else { return 0 };
                u32::from(self.cell_at(state, thread, lock).is_none_or(|(_, value)| locks::holder(value) == 0))
            }
            ThreadStatus::WaitingToWrite => u32::from(state.may_take(slot.wait, thread, Kind::WriteLock)),
            ThreadStatus::WaitingCondition => self.ways_to_give_up(slot),
            ThreadStatus::Diverged => 1,
            ThreadStatus::Free
            | ThreadStatus::Ready
            | ThreadStatus::AtBarrier
            | ThreadStatus::WaitingBare
            | ThreadStatus::Ended => 0,
        }
    }

    /// In how many ways a thread that waits for a condition can stop waiting by itself.
    pub(super) fn ways_to_give_up(&self, thread: &Thread) -> u32 {
        let timed = matches!(self.compiled.code[thread.pc as usize], Code::Synchronise { kind: Kind::TimedWait, .. });
        u32::from(timed) + u32::from(self.options.semantics.spurious_wakeups)
    }

    pub(super) fn ready_alternatives(&self, state: &State, thread: ThreadIndex, code: Code) -> u32 {
        match code {
            Code::Synchronise { kind, object, .. } => self.synchronisation_alternatives(state, thread, kind, object),
            Code::Join => u32::from(state.frame(thread)[0] >> 32 == 0),
            Code::JoinThread { handle, .. } => {
                // Without a handle it fails, and failing is always possible.
                u32::from(self.joined(state, thread, handle).is_none_or(|other| state.has_ended(other)))
            }
            Code::Choose { low, high, .. } => {
                let frame = state.frame(thread);
                let low = low.value(frame, &self.compiled.constants);
                let high = high.value(frame, &self.compiled.constants);
                // An empty range discards the execution, in one way.
                u32::try_from(high.saturating_sub(low).saturating_add(1).max(1)).unwrap_or(u32::MAX)
            }
            _ => 1,
        }
    }

    /// The thread that one which stands before a join waits for; none where it has no handle.
    pub(super) fn joined(&self, state: &State, thread: ThreadIndex, handle: Source) -> Option<ThreadIndex> {
        let handle = handle.value(state.frame(thread), &self.compiled.constants);
        handle.checked_sub(1).and_then(|index| u16::try_from(index).ok()).map(ThreadIndex)
    }

    fn synchronisation_alternatives(&self, state: &State, thread: ThreadIndex, kind: Kind, object: TableIndex) -> u32 {
        match self.readiness_of_operation(state, thread, kind, object) {
            Readiness::Fixed(alternatives) => alternatives,
            Readiness::ByCell(address, test) => u32::from(test.holds(state.value(address), thread)),
            Readiness::ByEnd(other) => u32::from(state.has_ended(other)),
            Readiness::ByGroup(standing) => state.group(standing).count().max(1) as u32,
            Readiness::ByOthers => self.alternatives_by_others(state, thread, kind, object),
        }
    }

    /// What decides in how many ways an operation on a synchronisation object can be done.
    pub(super) fn readiness_of_operation(
        &self,
        state: &State,
        thread: ThreadIndex,
        kind: Kind,
        object: TableIndex,
    ) -> Readiness {
        match kind {
            Kind::ReadLock | Kind::WriteLock => Readiness::ByOthers,
            Kind::Notify => {
                let condition = self.cell_at(state, thread, object);
                condition
                    .map_or(Readiness::Fixed(1), |(address, _)| Readiness::ByGroup(Standing::ForCondition(address)))
            }
            Kind::NotifyBare => Readiness::ByGroup(Standing::Bare),
            kind => match CellTest::of(kind) {
                Some(test) => self.readiness_by_cell(state, thread, object, test),
                None => Readiness::Fixed(1),
            },
        }
    }

    /// A thread can move if that holds of a cell. A place whose index is out of range fails, and failing is always possible.
    pub(super) fn readiness_by_cell(
        &self,
        state: &State,
        thread: ThreadIndex,
        place: TableIndex,
        test: CellTest,
    ) -> Readiness {
        let cell = self.cell_at(state, thread, place);
        cell.map_or(Readiness::Fixed(1), |(address, _)| Readiness::ByCell(address, test))
    }

    /// Whether other threads may take away what an operation works on, or have done so: an object that a pointer leads to.
    pub(super) fn may_be_gone(&self, state: &State, thread: ThreadIndex, place: TableIndex) -> bool {
        let Some(place) = self.compiled.places.get(place as usize).filter(|place| place.pointed.is_some()) else {
            return false;
        };
        let pointer = Pointer::from_bits(state.frame(thread)[place.reference as usize]);
        let Some((Object::Local(start), _)) = pointer.target() else { return false };
        let object = self.layout.objects(&state.blocks).on_heap(Pointer::to(Object::Local(start), 0));
        self.compiled.frees || object.is_none()
    }

    fn alternatives_by_others(&self, state: &State, thread: ThreadIndex, kind: Kind, object: TableIndex) -> u32 {
        let address = || self.cell_at(state, thread, object).map(|(address, _)| address);
        match kind {
            // Where writers are preferred, one that cannot write yet begins to wait.
            Kind::WriteLock if self.options.semantics.prefer_writers => 1,
            _ => u32::from(address().is_none_or(|address| self.may_take(state, address, thread, kind))),
        }
    }

    /// Address and value of a cell; `None` where the index is out of range.
    #[inline]
    pub(super) fn cell_at(&self, state: &State, thread: ThreadIndex, place: u32) -> Option<(u32, i64)> {
        let place = &self.compiled.places[place as usize];
        let objects = self.layout.objects(&state.blocks);
        let address = place.address(state.frame(thread), &self.compiled.constants, objects)?;
        Some((address, state.cells[address as usize].value))
    }

    /// Whether a thread that stands before an operation on a lock may take the lock by it.
    pub(super) fn may_take(&self, state: &State, address: u32, thread: ThreadIndex, kind: Kind) -> bool {
        let waits_for_writers = kind.mode() == Mode::Shared && self.options.semantics.prefer_writers;
        state.may_take(address, thread, kind) && !(waits_for_writers && state.waiting_writers(address).next().is_some())
    }

    /// Whether all threads have ended; or main has, whose end ends the program, and nobody else can move.
    #[must_use]
    pub fn is_finished(&self, state: &State) -> bool {
        state.unfinished == 0 || self.is_over(state) && self.is_stuck(state)
    }

    /// Whether main has ended, and with it the program. What other threads do then they could have done before as well: they
    /// go on, but whether they ever end does not matter.
    #[must_use]
    pub fn is_over(&self, state: &State) -> bool {
        let has_ended = |main: &Thread| main.status == ThreadStatus::Ended;
        self.compiled.ends_with_main && state.threads.first().is_some_and(has_ended)
    }

    fn is_stuck(&self, state: &State) -> bool {
        (0..state.threads.len()).all(|index| self.alternatives(state, ThreadIndex(index as u16)) == 0)
    }

    /// Whether no thread can move and some thread has not ended.
    #[must_use]
    pub fn is_deadlock(&self, state: &State) -> bool {
        state.unfinished > 0 && !self.is_over(state) && self.is_stuck(state)
    }
}
