//! The graph of the states of a program, with the thread of each step.
//!
//! **Input**: a machine, the loops that count as waiting, and a budget. **Output**: a [`Space`]: numbered states, the steps
//! between them with their [`Label`]s, and the states that are ends.
//!
//! **Algorithm**: a search through all states without memory of the past: outputs and last writers are ignored, so that
//! `while (true) { lock(L); print(1); unlock(L); }` has finitely many states. Threads are distinguished.
//!
//! **Soundness and limits**: exact if no bound was hit. A thread can move in a state if and only if one of the steps from it,
//! including discarded ones, is its own: no step is left out. Slots of threads are reused. A thread that can move ends only by
//! its own step, so a fact about a slot holds for the threads in it.

use super::waiting::WaitingLoops;
use crate::states::graph::{DISCARDED, Graph};
use crate::states::reversed::Reversed;
use crate::states::{self, EndContext, Monitor, Searched, Transition, Visitor};
use cssame_budget::{Bound, Budget, Statistics};
use cssame_vm::{Choice, CodeIndex, Event, Machine, Observer, State, ThreadIndex, ThreadName};
use fixedbitset::FixedBitSet;
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;
use std::ops::{ControlFlow, Range};

/// What is known of a step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Label {
    /// Who takes it.
    pub thread: ThreadIndex,
    /// The first thing that it does there; `None` where nothing is told.
    pub at: Option<CodeIndex>,
    /// Whether it changes nothing that another thread could see, locks that it takes and gives back aside.
    pub is_quiet: bool,
    /// Whether the thread wakes for no reason: nothing makes it do so.
    pub is_spurious: bool,
    /// Loops of [`WaitingLoops`] that the thread leaves.
    pub left: SmallVec<[u16; 2]>,
    /// Loops in which it goes on.
    pub stayed: SmallVec<[u16; 2]>,
    /// Threads that wait for a condition and are woken.
    pub woken: SmallVec<[ThreadIndex; 2]>,
}

impl Label {
    /// A step of which nothing is known but who takes it.
    pub(super) fn of(thread: ThreadIndex) -> Label {
        let (left, stayed, woken) = (SmallVec::new(), SmallVec::new(), SmallVec::new());
        Label { thread, at: None, is_quiet: false, is_spurious: false, left, stayed, woken }
    }

    /// The threads that come further by it, by slot.
    pub(super) fn who_goes_on(&self) -> impl Iterator<Item = usize> + '_ {
        std::iter::once(&self.thread).chain(&self.woken).map(|thread| thread.index())
    }
}

/// States and steps by number.
#[derive(Default)]
pub(super) struct Space {
    /// By state: where its steps begin; one more at the end.
    first: Vec<u32>,
    /// By step: the state that it leads to, or [`DISCARDED`].
    targets: Vec<u32>,
    /// By step.
    label_ids: Vec<u32>,
    labels: IndexSet<Label, FxBuildHasher>,
    /// States in the middle of an atomic block.
    atomic: FixedBitSet,
    /// States in which executions end.
    ends: FixedBitSet,
    /// One more than the highest number of a thread.
    threads: usize,
}

impl Space {
    /// Number of states.
    pub(super) fn len(&self) -> usize {
        self.first.len().saturating_sub(1)
    }

    /// One more than the highest number of a thread.
    pub(super) fn threads(&self) -> usize {
        self.threads
    }

    /// The steps of a state.
    pub(super) fn steps(&self, state: u32) -> Range<usize> {
        self.first[state as usize] as usize..self.first[state as usize + 1] as usize
    }

    /// Where a step leads; `None` where it is discarded.
    pub(super) fn target(&self, step: usize) -> Option<u32> {
        Some(self.targets[step]).filter(|&target| target != DISCARDED)
    }

    /// What is known of a step.
    pub(super) fn label(&self, step: usize) -> &Label {
        &self.labels[self.label_ids[step] as usize]
    }

    /// Whether a state is in the middle of an atomic block: other threads cannot move in it, but it is no point in time of its own.
    pub(super) fn is_atomic(&self, state: u32) -> bool {
        self.atomic.contains(state as usize)
    }

    /// Whether executions end in a state.
    pub(super) fn is_end(&self, state: u32) -> bool {
        self.ends.contains(state as usize)
    }

    /// The choice that a step of a state is: steps stand by thread, and those of a thread in the order of its alternatives.
    pub(super) fn choice(&self, state: u32, step: usize) -> Choice {
        let thread = self.label(step).thread;
        let same = self.steps(state).take_while(|&before| before < step);
        let alternative = same.filter(|&before| self.label(before).thread == thread).count() as u32;
        Choice { thread, alternative }
    }

    /// All steps turned round: for each state, the states from which steps lead to it.
    pub(super) fn reversed(&self) -> Reversed {
        Reversed::new(self.len(), |tell| {
            for state in 0..self.len() as u32 {
                self.steps(state).filter_map(|step| self.target(step)).for_each(|target| tell(state, target));
            }
        })
    }

    /// Begins the steps of the next states, up to this one.
    pub(super) fn begin(&mut self, state: u32) {
        self.first.resize(state as usize + 1, self.targets.len() as u32);
    }

    /// Adds a step to the state that was begun last.
    pub(super) fn add(&mut self, target: Option<u32>, label: Label) {
        self.threads = self.threads.max(label.thread.index() + 1);
        self.targets.push(target.unwrap_or(DISCARDED));
        let (id, _) = self.labels.insert_full(label);
        self.label_ids.push(id as u32);
    }

    /// There are so many states, of which these are in the middle of atomic blocks and these are ends.
    pub(super) fn finish(&mut self, states: usize, atomic: FixedBitSet, ends: FixedBitSet) {
        self.first.resize(states + 1, self.targets.len() as u32);
        (self.atomic, self.ends) = (atomic, ends);
    }

    fn bytes(&self) -> u64 {
        let words = self.first.capacity() + self.targets.capacity() + self.label_ids.capacity();
        (words * size_of::<u32>() + self.labels.len() * size_of::<Label>()) as u64
    }
}

/// A program's states, with shortest ways to them.
pub(super) struct Explored {
    pub space: Space,
    pub graph: Graph,
    pub statistics: Statistics,
    /// The bound that was hit: nothing is known then.
    pub bound: Option<Bound>,
}

/// Searches all states.
pub(super) fn explore(machine: &Machine, loops: &WaitingLoops, budget: &Budget<'_>) -> Explored {
    let mut recorder = Recorder { space: Space::default(), atomic: FixedBitSet::new() };
    let monitor = Watch { loops, mover: None, step: Step::default(), notes: SmallVec::new() };
    let Searched { graph, statistics, bound, .. } = states::search(machine, budget, monitor, &mut recorder);
    let Recorder { mut space, mut atomic } = recorder;
    let states = graph.len();
    let mut ends = FixedBitSet::with_capacity(states);
    ends.extend((0..states).filter(|&state| graph.kind(state as u32).is_end()));
    atomic.grow(states);
    space.finish(states, atomic, ends);
    Explored { space, graph, statistics, bound }
}

/// What a step has shown, bit by bit.
#[derive(Clone, Copy, Debug)]
enum Note {
    At(CodeIndex),
    Loud,
    Spurious,
    Left(u16),
    Stayed(u16),
    /// It wakes one that waits for a condition.
    Woke(ThreadIndex),
    /// It makes a thread.
    Made(ThreadIndex),
    /// It leads into the middle of an atomic block.
    Atomic,
}

/// The same, put together.
#[derive(Clone, Debug, Default)]
struct Step {
    at: Option<CodeIndex>,
    is_loud: bool,
    is_spurious: bool,
    left: SmallVec<[u16; 2]>,
    stayed: SmallVec<[u16; 2]>,
    woken: SmallVec<[ThreadIndex; 2]>,
    /// The highest thread that it makes.
    made: Option<ThreadIndex>,
    leads_into_block: bool,
}

impl Step {
    fn clear(&mut self) {
        (self.at, self.is_loud, self.is_spurious, self.leads_into_block) = (None, false, false, false);
        self.made = None;
        self.left.clear();
        self.stayed.clear();
        self.woken.clear();
    }

    fn add(&mut self, note: Note) {
        match note {
            Note::At(at) => self.at = self.at.or(Some(at)),
            Note::Loud => self.is_loud = true,
            Note::Spurious => self.is_spurious = true,
            Note::Left(of) => insert(&mut self.left, of),
            Note::Stayed(of) => insert(&mut self.stayed, of),
            Note::Woke(thread) => insert(&mut self.woken, thread),
            Note::Made(thread) => self.made = self.made.max(Some(thread)),
            Note::Atomic => self.leads_into_block = true,
        }
    }

    fn write(&self, notes: &mut SmallVec<[Note; 4]>) {
        notes.clear();
        notes.extend(self.at.map(Note::At));
        notes.extend(self.is_loud.then_some(Note::Loud));
        notes.extend(self.is_spurious.then_some(Note::Spurious));
        notes.extend(self.left.iter().map(|&of| Note::Left(of)));
        notes.extend(self.stayed.iter().map(|&of| Note::Stayed(of)));
        notes.extend(self.woken.iter().map(|&thread| Note::Woke(thread)));
        notes.extend(self.made.map(Note::Made));
        notes.extend(self.leads_into_block.then_some(Note::Atomic));
    }
}

fn insert<T: Copy + Ord>(list: &mut SmallVec<[T; 2]>, one: T) {
    if let Err(place) = list.binary_search(&one) {
        list.insert(place, one);
    }
}

/// Forgets the past of states, and watches who does what in a step.
#[derive(Clone, Debug)]
struct Watch<'a> {
    loops: &'a WaitingLoops,
    mover: Option<ThreadIndex>,
    step: Step,
    notes: SmallVec<[Note; 4]>,
}

impl Observer for Watch<'_> {
    const DETAILS: bool = false;

    fn begin_step(&mut self, thread: ThreadName) {
        self.mover = Some(thread.slot);
        self.step.clear();
    }

    fn event(&mut self, thread: ThreadName, at: CodeIndex, event: Event) {
        if self.mover != Some(thread.slot) {
            if matches!(event, Event::Woken { by: Some(_) }) {
                self.step.add(Note::Woke(thread.slot));
            }
            return;
        }
        self.step.add(Note::At(at));
        if let Event::Fork { child } | Event::Spawn { child } = event {
            self.step.add(Note::Made(child.slot));
        }
        if !is_quiet(event) {
            self.step.add(Note::Loud);
        }
        if matches!(event, Event::Woken { by: None }) {
            self.step.add(Note::Spurious);
        }
    }

    fn branch(&mut self, thread: ThreadName, at: CodeIndex, holds: bool) {
        if self.mover != Some(thread.slot) {
            return;
        }
        let Some(of) = self.loops.at(at, holds) else { return };
        of.left.iter().for_each(|&of| self.step.add(Note::Left(of)));
        of.stayed.iter().for_each(|&of| self.step.add(Note::Stayed(of)));
    }
}

/// Whether what happens can be a part of waiting: it changes nothing shared but a lock, nobody is woken by it, and nothing is
/// printed.
fn is_quiet(event: Event) -> bool {
    match event {
        Event::Write { shared, .. } => !shared,
        Event::Wait { condition, .. } => condition.is_some(),
        Event::Read { .. }
        | Event::Lock { .. }
        | Event::Unlock { .. }
        | Event::Nested { .. }
        | Event::NotTaken { .. }
        | Event::Verdict { .. }
        | Event::Waited { .. }
        | Event::WaitToWrite { .. }
        | Event::TimedOut { .. }
        | Event::Woken { .. }
        | Event::Choose { .. }
        | Event::Allocate { .. }
        | Event::AtomicBegin
        | Event::AtomicEnd => true,
        _ => false,
    }
}

impl Monitor for Watch<'_> {
    type Note = Note;

    const REMEMBERS: bool = false;

    fn encode(&self, _: &mut Vec<u64>) {}

    fn decode(&mut self, _: &[u64]) {}

    fn settle(&mut self, _: &Machine, state: &mut State) {
        state.forget_past();
        if state.exclusive().is_some() {
            self.step.add(Note::Atomic);
        }
        let mut notes = std::mem::take(&mut self.notes);
        self.step.write(&mut notes);
        self.notes = notes;
    }

    fn notes(&self) -> &[Note] {
        &self.notes
    }
}

/// Keeps the steps.
struct Recorder {
    space: Space,
    atomic: FixedBitSet,
}

impl<'a> Visitor<Watch<'a>> for Recorder {
    fn transition(&mut self, &Transition { from, choice, to }: &Transition, notes: &[Note]) {
        let mut step = Step::default();
        notes.iter().for_each(|&note| step.add(note));
        if step.leads_into_block {
            self.atomic.grow(to as usize + 1);
            self.atomic.insert(to as usize);
        }
        self.space.threads = self.space.threads.max(step.made.map_or(0, |thread| thread.index() + 1));
        let Some(Choice { thread, .. }) = choice else { return };
        let Step { at, is_loud, is_spurious, left, stayed, woken, .. } = step;
        self.space.begin(from);
        self.space.add(Some(to), Label { thread, at, is_quiet: !is_loud, is_spurious, left, stayed, woken });
    }

    fn discarded(&mut self, from: u32, Choice { thread, .. }: Choice) {
        self.space.begin(from);
        self.space.add(None, Label::of(thread));
    }

    fn bytes(&self) -> u64 {
        self.space.bytes() + (self.atomic.len() / 8) as u64
    }

    fn end(&mut self, _: &EndContext<'_, Watch<'a>>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
