//! The machine: a compiled program, and queries about its states.
//!
//! **Input**: a program and its [`Visibility`]. **Output**: the threads that can move in a state, and the reason why another
//! thread cannot. `start` creates the first state, `step` executes steps.

use super::code::{Code, CodeIndex, Origin, Source, TableIndex};
use super::compile::{self, Slots};
use super::compiled::Compiled;
use super::locks;
use super::memory::Layout;
use super::observe::Cell;
use super::outcome::{Choice, Move};
use super::readiness::{CellTest, Readiness};
use super::standing::Standing;
use super::state::{NO_THREAD, State, Thread, ThreadIndex, ThreadStatus};
use super::tables::{PathId, Tables};
use super::visibility::Visibility;
use super::watched::Watched;
use cssame_ir::sync::{Kind, Mode};
use cssame_ir::{FunctionId, LeafId, Pointer, Program, TextId, Texts, VariableId};
use cssame_source::Span;
use fixedbitset::FixedBitSet;

/// Limits and options of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Local instructions between two visible operations beyond which a thread counts as one that runs for ever.
    pub local_instructions: u32,
    /// Instructions of one atomic block, its visible operations included, beyond which it counts as one that runs for ever.
    pub block_instructions: u32,
    /// Frames of one thread beyond which its calls count as endless.
    pub frames: u32,
    /// Thread slots in use at one time beyond which a program fails.
    pub threads: u16,
    /// Which executions a program has.
    pub semantics: Semantics,
}

/// What may be had one way or another of the executions of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Semantics {
    /// Whether a thread that waits for a condition may wake without a notification.
    pub spurious_wakeups: bool,
    /// Whether no thread gets a readers-writer lock for reading while one waits to write.
    pub prefer_writers: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            local_instructions: 1_000_000,
            block_instructions: 10_000_000,
            frames: 1_000,
            threads: 65_000,
            semantics: Semantics::default(),
        }
    }
}

/// Which states have one fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fingerprints {
    /// Those that have the same future, the same outputs and the same last writers.
    Exact,
    /// Also those that differ only in which iteration of a `parfor` does what: see [`Machine::up_to_symmetry`].
    UpToSymmetry,
}

/// A compiled program.
#[derive(Clone, Debug)]
pub struct Machine {
    pub(super) compiled: Compiled,
    pub(super) layout: Layout,
    pub(super) options: Options,
    pub(super) texts: Texts,
    pub(super) main: Option<FunctionId>,
    pub(super) main_label: TextId,
    /// See [`Machine::watching`].
    pub(super) watched: Option<Watched>,
    /// See [`Machine::knowing_looks`].
    pub(super) may_look: FixedBitSet,
    pub(super) fingerprints: Fingerprints,
    pub(super) visibility: Visibility,
    /// See [`Machine::ending_at_once`].
    pub(super) ends_at_once: bool,
}

impl Machine {
    /// Compiles a program with the usual [`Options`].
    #[must_use]
    pub fn new(program: &Program, visible: &Visibility) -> Machine {
        Machine::with_options(program, visible, Options::default())
    }

    /// Compiles a program.
    #[must_use]
    pub fn with_options(program: &Program, visible: &Visibility, options: Options) -> Machine {
        let layout = Layout::new(program);
        let compiled = compile::compile(program, visible, &layout, Slots::Shared);
        let mut texts = program.texts.clone();
        let main_label = texts.intern("main");
        let (main, fingerprints) = (program.main, Fingerprints::Exact);
        Machine {
            compiled,
            layout,
            options,
            texts,
            main,
            main_label,
            watched: None,
            may_look: FixedBitSet::new(),
            fingerprints,
            visibility: visible.clone(),
            ends_at_once: false,
        }
    }

    /// A machine whose fingerprints take iterations of a `parfor` for one another where nothing tells them apart: they
    /// do not print and make no threads, and what they do depends on what is live, not on who they are. Such states
    /// have the same futures, but for the names of those iterations. `None` for a program without such a `parfor`, or
    /// with a watched thread.
    #[must_use]
    pub fn up_to_symmetry(&self) -> Option<Machine> {
        // A thread that is watched is known by its number.
        let can = self.compiled.interchangeable.contains(&true) && self.watched.is_none();
        can.then(|| Machine { fingerprints: Fingerprints::UpToSymmetry, ..self.clone() })
    }

    /// How many addresses globals have, the first one included, which nothing uses.
    #[must_use]
    pub fn global_cells(&self) -> u32 {
        self.layout.global_count()
    }

    /// The machine in which one thread alone performs a read that is visible.
    #[must_use]
    pub fn watching(mut self, watched: Watched) -> Machine {
        watched.mark(&mut self.compiled);
        self.watched = Some(watched);
        self
    }

    /// The read that one thread alone performs.
    #[must_use]
    pub fn watched(&self) -> Option<Watched> {
        self.watched
    }

    /// Which accesses to memory are steps of their own.
    #[must_use]
    pub fn visibility(&self) -> &Visibility {
        &self.visibility
    }

    /// Which states have one fingerprint.
    #[must_use]
    pub fn fingerprints(&self) -> Fingerprints {
        self.fingerprints
    }

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

    /// Whether states tell who reads under readers-writer locks.
    pub(super) fn has_readers(&self) -> bool {
        self.layout.has_rwlocks
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

    /// A machine in which the other threads do nothing any more where main has ended, if that ends the program: an execution that
    /// goes on for ever does so before. None where it does the same as this one.
    #[must_use]
    pub fn ending_at_once(&self) -> Option<Machine> {
        self.compiled.ends_with_main.then(|| Machine { ends_at_once: true, ..self.clone() })
    }

    fn is_stuck(&self, state: &State) -> bool {
        (0..state.threads.len()).all(|index| self.alternatives(state, ThreadIndex(index as u16)) == 0)
    }

    /// Whether no thread can move and some thread has not ended.
    #[must_use]
    pub fn is_deadlock(&self, state: &State) -> bool {
        state.unfinished > 0 && !self.is_over(state) && self.is_stuck(state)
    }

    /// Where the frames of a thread go on, the innermost one first: the instruction that it stands before or waits at,
    /// then those behind the calls that it is in.
    pub fn frames(&self, state: &State, thread: ThreadIndex) -> impl Iterator<Item = CodeIndex> {
        let slot = state.threads.get(thread.index());
        let open = slot.filter(|slot| !matches!(slot.status, ThreadStatus::Free | ThreadStatus::Ended));
        let first = open.map(|slot| (slot.pc, slot.base + slot.frame, slot.depth));
        let outer = move |&(_, start, depth): &(u32, u32, u32)| {
            let return_to = *state.stack.get(start as usize)? as u32;
            let caller = self.compiled.origins.get(return_to.checked_sub(1)? as usize)?.function;
            let size = self.compiled.functions[caller].frame_size;
            Some((return_to, start.checked_sub(size)?, depth.checked_sub(1)?))
        };
        std::iter::successors(first, outer).map(|(at, ..)| CodeIndex(at))
    }

    /// The functions that a thread has entered and in which it has done nothing yet, the innermost one first.
    pub fn entered(&self, state: &State, thread: ThreadIndex) -> impl Iterator<Item = FunctionId> {
        let fresh = state.threads.get(thread.index()).map_or(0, |slot| slot.fresh as usize);
        let mut frames = self.frames(state, thread).take(fresh);
        let first = frames.next().map(|at| self.origin(at).function);
        // Those behind a call may stand at the end of their function.
        let callers =
            frames.filter_map(|at| self.compiled.origins.get(at.index().checked_sub(1)?).map(|of| of.function));
        first.into_iter().chain(callers)
    }

    /// Where an instruction comes from.
    #[must_use]
    pub fn origin(&self, at: CodeIndex) -> Origin {
        self.compiled.origins[at.index()]
    }

    /// The place in the text of an instruction.
    #[must_use]
    pub fn span(&self, at: CodeIndex) -> Span {
        self.compiled.spans[at.index()]
    }

    /// The same instruction in the function that this one's is a copy of: copies of one place are one place.
    #[must_use]
    pub fn place(&self, at: CodeIndex) -> CodeIndex {
        let Compiled { copied_from, origins, functions, .. } = &self.compiled;
        let Some(origin) = origins.get(at.index()) else { return at };
        let Some(&source) = copied_from.get(origin.function.index()) else { return at };
        let place = at.0 - functions[origin.function].entry + functions[source].entry;
        // Copies have the same code; where they had not, an instruction would stand for itself.
        let is_same = origins.get(place as usize).is_some_and(|other| {
            (other.function, other.block, other.instruction) == (source, origin.block, origin.instruction)
        });
        if is_same { CodeIndex(place) } else { at }
    }

    /// Number of instructions.
    #[must_use]
    pub fn code_length(&self) -> usize {
        self.compiled.code.len()
    }

    /// The texts of the program.
    #[must_use]
    pub fn texts(&self) -> &Texts {
        &self.texts
    }

    /// The options that it was made with.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The variable that a cell belongs to, and the offset of the cell in it.
    #[must_use]
    pub fn variable_at(&self, state: &State, address: u32) -> Option<(VariableId, u32)> {
        self.layout.variable_at(state, address)
    }

    /// The leaf that a cell belongs to, and the offset of the cell in it.
    #[must_use]
    pub fn leaf_at(&self, state: &State, address: u32) -> Option<(LeafId, u32)> {
        let (variable, offset) = self.layout.variable_at(state, address)?;
        self.layout.leaf_at(variable, offset)
    }

    /// The name of a cell: what it is a part of, and which part.
    #[must_use]
    pub fn cell(&self, state: &State, address: u32) -> Option<Cell> {
        self.layout.cell(&state.blocks, address)
    }

    /// The cell that a pointer leads to, if there is one.
    #[must_use]
    pub fn pointed_at(&self, state: &State, pointer: Pointer) -> Option<u32> {
        self.layout.objects(&state.blocks).cell(pointer).map(|(_, address, _)| address)
    }

    /// The first cell of a global variable.
    #[must_use]
    pub fn global_address(&self, variable: VariableId) -> Option<u32> {
        self.layout.global_address(variable)
    }

    /// The name of a thread as users read it.
    #[must_use]
    pub fn path_name(&self, tables: &Tables, path: PathId) -> String {
        tables.path_name(&self.texts, path)
    }

    /// What the threads have printed, in the order of the threads; those that have printed nothing are left out.
    #[must_use]
    pub fn outputs(&self, state: &State, tables: &Tables) -> Vec<(PathId, super::tables::OutputId)> {
        let mut outputs: Vec<_> = state.printed().collect();
        outputs.sort_by(|left, right| tables.compare_paths(left.0, right.0));
        outputs
    }
}
