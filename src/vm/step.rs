//! One step of an execution.
//!
//! **Input**: a state and a [`Choice`] that it allows.
//!
//! **Output**: the state after the step, and the result of the step.
//!
//! **Algorithm**.
//!
//! 1. Execute the pending local work with an effect, if there is any.
//! 2. Execute one visible operation. Execute an atomic block to its end, unless it contains a choice.
//! 3. Execute all local work without effect, up to the next place where the thread has to stop. Threads that the operation has
//!    created or woken do the same.
//!
//! **Soundness and limits**: a thread always stands before a visible operation, before an effect, or has ended. So it is known
//! without running it whether it can move. Each of the three parts has a budget of
//! [`Options::local_instructions`](super::machine::Options::local_instructions): where a part ends does not depend on other
//! threads, so a thread exceeds its budget in all interleavings or in none.

use super::code::{Code, CodeIndex};
use super::machine::Machine;
use super::observe::{Cell, Event, Object, Observer, ThreadName, Told, told};
use super::outcome::{Choice, Failure, FailureKind, Progress};
use super::state::{NO_THREAD, State, Thread, ThreadIndex, ThreadStatus, Word};
use super::tables::Tables;
use cssame_ir::{FunctionId, Pointer, TextId, VariableId};
use smallvec::SmallVec;

/// A thread that is running.
pub(super) struct Run<'a, const WATCHED: bool> {
    pub machine: &'a Machine,
    pub state: &'a mut State,
    pub tables: &'a mut Tables,
    /// Told of what happens, if `WATCHED`.
    pub told: &'a mut dyn Told,
    /// Whether it asks for details: [`Observer::DETAILS`].
    pub details: bool,
    pub thread: ThreadIndex,
    /// Instructions that are left of the part of the step that runs now.
    pub budget: u32,
    /// Instructions of the parts before, and of other threads.
    pub spent: u32,
}

/// Where a thread stops that does local work.
pub(super) enum Stop {
    /// Before a visible operation.
    Visible,
    /// Before an effect, which it was not to do; or it diverges.
    Effect,
    /// Behind the end of the outermost atomic block.
    AtomicEnd,
    /// The thread has ended.
    Ended,
    /// The execution is over.
    Over(Progress),
}

/// What has become of a thread that performed a visible operation.
pub(super) enum Performed {
    /// It goes on.
    On,
    /// It waits to be woken.
    Blocked,
    /// The execution is over.
    Over(Progress),
}

impl Machine {
    /// Does a step that [`Machine::enabled`] has listed for this state.
    ///
    /// After a failure or a discard the state is that of the middle of the step; its outputs are right.
    #[inline]
    pub fn step<O: Observer>(
        &self,
        state: &mut State,
        tables: &mut Tables,
        choice: Choice,
        observer: &mut O,
    ) -> Progress {
        let thread = choice.thread;
        let name = ThreadName { path: state.threads[thread.index()].path, slot: thread };
        observer.begin_step(name);
        let (progress, instructions) = self.run_step(state, tables, choice, told(observer));
        observer.end_step(name, instructions);
        progress
    }

    /// What becomes of the step, and how many instructions it has executed.
    #[inline(never)]
    fn run_step(
        &self,
        state: &mut State,
        tables: &mut Tables,
        choice: Choice,
        told: Option<(&mut dyn Told, bool)>,
    ) -> (Progress, u32) {
        let Choice { thread, alternative } = choice;
        if let Some((told, details)) = told {
            let mut run = Run::<true>::new(self, state, tables, told, details, thread);
            (run.step(alternative), run.instructions())
        } else {
            let mut nobody = ();
            let mut run = Run::<false>::new(self, state, tables, &mut nobody, false, thread);
            (run.step(alternative), run.instructions())
        }
    }
}

impl<'a, const WATCHED: bool> Run<'a, WATCHED> {
    #[inline(always)]
    pub(super) fn new(
        machine: &'a Machine,
        state: &'a mut State,
        tables: &'a mut Tables,
        told: &'a mut dyn Told,
        details: bool,
        thread: ThreadIndex,
    ) -> Run<'a, WATCHED> {
        state.touch(thread);
        Run { machine, state, tables, told, details, thread, budget: machine.options.local_instructions, spent: 0 }
    }
}

impl<const WATCHED: bool> Run<'_, WATCHED> {
    /// Lets another thread do its local work without effect.
    pub(super) fn run_ahead(&mut self, thread: ThreadIndex) {
        let mut run = Run::<WATCHED>::new(self.machine, self.state, self.tables, self.told, self.details, thread);
        run.local(false);
        self.spent = self.spent.saturating_add(run.instructions());
    }

    /// The next part of the step has a budget of its own.
    #[inline(always)]
    fn renew_budget(&mut self) {
        self.spent = self.instructions();
        self.budget = self.machine.options.local_instructions;
    }

    /// How many instructions were executed.
    #[inline(always)]
    pub(super) fn instructions(&self) -> u32 {
        self.spent.saturating_add(self.machine.options.local_instructions - self.budget)
    }

    #[inline(always)]
    pub(super) fn this(&mut self) -> &mut Thread {
        &mut self.state.threads[self.thread.index()]
    }

    #[inline(always)]
    pub(super) fn pc(&self) -> u32 {
        self.state.threads[self.thread.index()].pc
    }

    #[inline(always)]
    pub(super) fn code(&self) -> Code {
        self.machine.compiled.code[self.pc() as usize]
    }

    #[inline(always)]
    pub(super) fn event(&mut self, event: Event) {
        if WATCHED {
            self.tell_entered();
            let at = CodeIndex(self.pc());
            self.told.event(self.name(), at, event);
        }
    }

    /// The name of the thread.
    #[inline(always)]
    pub(super) fn name(&self) -> ThreadName {
        self.name_of(self.thread)
    }

    /// The name of another thread.
    #[inline(always)]
    pub(super) fn name_of(&self, thread: ThreadIndex) -> ThreadName {
        ThreadName { path: self.state.threads[thread.index()].path, slot: thread }
    }

    /// The name of a cell, where somebody wants to know it.
    #[inline(always)]
    pub(super) fn cell(&self, address: u32) -> Cell {
        let known = if self.details { self.machine.layout.cell(&self.state.blocks, address) } else { None };
        known.unwrap_or(Cell { object: Object::global(VariableId(0)), part: 0 })
    }

    /// Tells of the functions that the thread has entered and in which nothing has happened yet.
    #[inline(always)]
    pub(super) fn tell_entered(&mut self) {
        if !(self.details) {
            self.this().fresh = 0;
        } else if self.this().fresh > 0 {
            self.tell_fresh_frames();
        }
    }

    #[cold]
    fn tell_fresh_frames(&mut self) {
        let name = self.name();
        let Thread { base, mut frame, pc: mut at, fresh, .. } = *self.this();
        self.this().fresh = 0;
        let compiled = &self.machine.compiled;
        let mut functions: SmallVec<[FunctionId; 4]> = SmallVec::new();
        for _ in 0..fresh {
            functions.push(compiled.origins[at as usize].function);
            at = (self.state.stack[(base + frame) as usize] as u32).wrapping_sub(1);
            if let Some(caller) = compiled.origins.get(at as usize) {
                frame -= compiled.functions[caller.function].frame_size;
            }
        }
        for function in functions.into_iter().rev() {
            self.told.enter(name, function);
        }
    }

    /// An event of another thread.
    pub(super) fn event_of(&mut self, thread: ThreadIndex, event: Event) {
        if WATCHED {
            let at = self.state.position(thread);
            let name = self.name_of(thread);
            self.told.event(name, at, event);
        }
    }

    /// Sets a register of the current frame.
    #[inline(always)]
    pub(super) fn set_register(&mut self, slot: u32, value: i64) {
        let Thread { base, frame, .. } = self.state.threads[self.thread.index()];
        self.state.stack[(base + frame + slot) as usize] = value;
    }

    /// The value of an operand in the current frame.
    #[inline(always)]
    pub(super) fn value(&self, source: super::code::Source) -> i64 {
        source.value(self.state.frame(self.thread), &self.machine.compiled.constants)
    }

    /// The execution fails here.
    pub(super) fn fail(&mut self, kind: FailureKind, message: Option<TextId>) -> Progress {
        let failure = Failure { kind, message, thread: self.thread, at: CodeIndex(self.pc()) };
        self.event(Event::Failure(failure));
        Progress::Failed(failure)
    }

    #[inline]
    fn step(&mut self, mut alternative: u32) -> Progress {
        self.state.exclusive = NO_THREAD;
        self.tell_entered();
        if self.this().status != ThreadStatus::Ready {
            return self.step_of_waiting(alternative);
        }
        if !self.code().is_visible() {
            match self.local(true) {
                Stop::Visible if self.machine.alternatives(self.state, self.thread) != 1 => return Progress::Running,
                Stop::Visible => alternative = 0,
                Stop::Over(progress) => return progress,
                Stop::Effect | Stop::AtomicEnd | Stop::Ended => return self.settled(),
            }
            self.renew_budget();
        }
        match self.perform(alternative) {
            Performed::On => {}
            Performed::Blocked => return self.settled(),
            Performed::Over(progress) => return progress,
        }
        if self.this().atomic > 0
            && let Some(progress) = self.atomic_block()
        {
            return progress;
        }
        self.renew_budget();
        self.local(false);
        self.settled()
    }

    fn settled(&self) -> Progress {
        if self.machine.is_finished(self.state) { Progress::Finished } else { Progress::Running }
    }

    /// Why a place is no cell.
    pub(super) fn out_of_range(&self, code: Code) -> FailureKind {
        let compiled = &self.machine.compiled;
        let place = match code {
            Code::LoadAt { place, .. }
            | Code::StoreAt { place, .. }
            | Code::SharedLoadAt { place, .. }
            | Code::WatchedLoad { place, .. }
            | Code::SharedStoreAt { place, .. } => place,
            Code::Atomic { atomic } | Code::SharedAtomic { atomic } => compiled.atomics[atomic as usize].place,
            Code::Synchronise { object, lock, .. } => {
                let is_there = self.machine.cell_at(self.state, self.thread, object).is_some();
                if is_there { lock } else { object }
            }
            Code::Free { pointer, .. } | Code::SharedFree { pointer, .. } => {
                let pointer = Pointer::from_bits(self.value(pointer));
                let is_given_back = self.machine.layout.was_freed(self.state, self.tables, pointer);
                return if is_given_back { FailureKind::DoubleFree } else { FailureKind::InvalidFree };
            }
            _ => return FailureKind::IndexOutOfRange,
        };
        let Some(place) = compiled.places.get(place as usize).filter(|place| place.pointed.is_some()) else {
            return FailureKind::IndexOutOfRange;
        };
        let frame = self.state.frame(self.thread);
        let pointer = Pointer::from_bits(frame[place.reference as usize]);
        let Some(whole) = place.pointer(frame, &compiled.constants) else { return FailureKind::IndexOutOfRange };
        let objects = self.machine.layout.objects(&self.state.blocks);
        match pointer.target() {
            None if pointer == Pointer::NULL => FailureKind::NullPointer,
            None => FailureKind::InvalidPointer,
            Some(_) if self.machine.layout.was_freed(self.state, self.tables, pointer) => FailureKind::UseAfterFree,
            Some(_) if !objects.is_there(pointer) => FailureKind::DanglingPointer,
            Some(_) if objects.is_inside(whole) => FailureKind::OtherContent,
            Some(_) => FailureKind::PointerOutOfRange,
        }
    }

    fn step_of_waiting(&mut self, alternative: u32) -> Progress {
        match self.this().status {
            ThreadStatus::Reacquiring | ThreadStatus::TimedOut => {
                self.reacquire();
                self.local(false);
                self.settled()
            }
            ThreadStatus::WaitingToWrite => {
                self.begin_to_write();
                self.local(false);
                self.settled()
            }
            ThreadStatus::WaitingCondition => {
                self.give_up(alternative);
                Progress::Running
            }
            ThreadStatus::Diverged => self.fail(self.limit(), None),
            ThreadStatus::Free
            | ThreadStatus::Ready
            | ThreadStatus::AtBarrier
            | ThreadStatus::WaitingBare
            | ThreadStatus::Ended => Progress::Running,
        }
    }

    /// Goes on to the end of an atomic block. All its accesses, and the local work before each, have one budget beside that of
    /// local work: a loop over them may wait for what no other thread can do meanwhile. `Some` where the step ends before:
    /// the execution is over, or there is a choice to make inside of the block.
    fn atomic_block(&mut self) -> Option<Progress> {
        loop {
            match self.local(true) {
                Stop::AtomicEnd => return None,
                Stop::Ended | Stop::Effect => return Some(self.settled()),
                Stop::Over(progress) => return Some(progress),
                Stop::Visible => {}
            }
            if self.machine.alternatives(self.state, self.thread) != 1 {
                self.state.exclusive = self.thread.0;
                return Some(Progress::Running);
            }
            match self.perform(0) {
                // Behind the budget of the block there is that of the local work alone.
                Performed::On if self.instructions() < self.machine.options.block_instructions => self.renew_budget(),
                Performed::On => {}
                Performed::Blocked => return Some(self.settled()),
                Performed::Over(progress) => return Some(progress),
            }
        }
    }

    /// Performs the visible operation that the thread stands before; it must be possible now.
    #[inline]
    fn perform(&mut self, alternative: u32) -> Performed {
        match self.code() {
            Code::SharedLoad { dest, address, read } => {
                self.load(dest, address, read);
                self.this().pc += 1;
                Performed::On
            }
            Code::SharedStore { address, value, definition } => {
                let value = self.value(value);
                self.store(address, value, definition);
                self.this().pc += 1;
                Performed::On
            }
            code => self.perform_other(code, alternative),
        }
    }

    fn perform_other(&mut self, code: Code, alternative: u32) -> Performed {
        match code {
            Code::SharedLoadAt { dest, place, read } | Code::WatchedLoad { dest, place, read } => {
                match self.machine.cell_at(self.state, self.thread, place) {
                    Some((address, _)) => self.load(dest, address, read),
                    None => return Performed::Over(self.fail(self.out_of_range(code), None)),
                }
            }
            Code::SharedStoreAt { place, value, definition } => {
                match self.machine.cell_at(self.state, self.thread, place) {
                    Some((address, _)) => {
                        let value = self.value(value);
                        self.store(address, value, definition);
                    }
                    None => return Performed::Over(self.fail(self.out_of_range(code), None)),
                }
            }
            Code::SharedAtomic { atomic } => {
                let is_in_range = self.atomic(atomic, true);
                if !is_in_range {
                    return Performed::Over(self.fail(self.out_of_range(code), None));
                }
            }
            Code::SharedFree { pointer, definition } => {
                let is_freed = self.free(pointer, definition, true);
                if !is_freed {
                    return Performed::Over(self.fail(self.out_of_range(code), None));
                }
            }
            Code::Choose { dest, low, high } => {
                let (low, high) = (self.value(low), self.value(high));
                if low > high {
                    return Performed::Over(Progress::Discarded);
                }
                let value = low.saturating_add(i64::from(alternative)).min(high);
                self.set_register(dest, value);
                self.event(Event::Choose { value });
            }
            Code::AtomicBegin => {
                self.event(Event::AtomicBegin);
                self.this().atomic += 1;
            }
            Code::Fork { .. } | Code::Spawn { .. } | Code::Join | Code::JoinThread { .. } => {
                return self.perform_thread_operation(code);
            }
            Code::Synchronise { kind, object, lock, verdict } => {
                return self.synchronise(kind, (object, lock, verdict), alternative);
            }
            _ => {}
        }
        self.this().pc += 1;
        Performed::On
    }

    /// A shared load.
    #[inline(always)]
    fn load(&mut self, dest: u32, address: u32, read: cssame_ir::ReadId) {
        let cell = self.state.cells[address as usize];
        self.set_register(dest, cell.value);
        let (name, value) = (self.cell(address), cell.value);
        self.event(Event::Read { read, cell: name, address, value, writer: writer(cell), shared: true });
    }

    /// A shared store.
    #[inline(always)]
    fn store(&mut self, address: u32, value: i64, definition: cssame_ir::DefinitionId) {
        let cell = &mut self.state.cells[address as usize];
        let old = cell.value;
        *cell = Word { value, writer: definition.0 };
        self.event(Event::Write { definition, cell: self.cell(address), address, old, value, shared: true });
    }
}

/// The definition that has written a cell.
#[inline(always)]
pub(super) fn writer(cell: Word) -> Option<cssame_ir::DefinitionId> {
    (cell.writer != super::state::NO_WRITER).then_some(cssame_ir::DefinitionId(cell.writer))
}
