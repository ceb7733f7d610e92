//! The records of a search for races: accesses that are pending at the same time, and the ends of executions.
//!
//! **Input**: the steps of a search, those of each state one after the other, with their events. **Output**: the pairs of
//! accesses, each time that two threads stand before them ([`Occurrence`]), and the ends.
//!
//! **Algorithm**: the accesses to visible memory of each step are kept until the last step of the state is done. Then each two
//! steps of different threads are compared. Discarded steps count, since the execution with the other order may continue.
//!
//! **Soundness and limits**: two accesses of one state that refer to the same cell have the same address.

use super::{OutcomeNumbers, Race};
use crate::question::bad_ends::BadEnds;
use crate::states::graph::DISCARDED;
use crate::states::{End, EndContext, Transition, Visitor};
use cssame_ir::{Access, Leaf, LeafKind, Program, ScalarType};
use cssame_vm::{Cell, Choice, CodeIndex, Event, Machine, PathId, ThreadName};
use rustc_hash::FxHashMap;
use std::ops::ControlFlow;

/// Two accesses that were pending at once.
#[derive(Debug)]
pub(super) struct Pair {
    pub accesses: [Access; 2],
    pub mixed: bool,
    pub cells: Vec<Cell>,
}

/// A state in which two accesses are pending.
#[derive(Clone, Copy, Debug)]
pub(super) struct Occurrence {
    pub pair: u32,
    pub node: u32,
    /// The states behind the steps that make them.
    pub to: [u32; 2],
    pub steps: [Choice; 2],
    pub threads: [PathId; 2],
}

/// An access of a step.
#[derive(Clone, Copy, Debug)]
struct Pending {
    access: Access,
    cell: Cell,
    address: u32,
    atomic: bool,
    thread: PathId,
}

/// Steps that make an access that is asked for: from a state to a state.
pub(super) type Steps = FxHashMap<Access, Vec<(u32, u32)>>;

/// Notes pairs and ends.
pub(super) struct Recorder<'a> {
    machine: &'a Machine,
    program: &'a Program,
    pub pairs: Vec<Pair>,
    numbers: FxHashMap<[Access; 2], u32>,
    pub occurrences: Vec<Occurrence>,
    pub bad: BadEnds<u32>,
    /// States in which executions end, and the numbers of their outcomes.
    pub end_outcomes: Vec<(u32, u32)>,
    outcomes: OutcomeNumbers,
    /// The cells of global data, whose last values are a part of an outcome.
    cells: Vec<u32>,
    /// By access of a pair whose order is asked for: the steps that make it.
    pub steps: Steps,
    /// The state whose steps are noted now, and their accesses, step by step.
    node: u32,
    pending: Vec<(Pending, Choice, u32)>,
    /// Accesses of the step that runs now.
    current: Vec<Pending>,
    /// Atomic blocks that the step is in.
    blocks: u32,
}

/// The addresses of global data.
fn global_data(machine: &Machine, program: &Program) -> Vec<u32> {
    let is_data = |leaf: &&Leaf| matches!(leaf.kind, LeafKind::Data(ty) if ty != ScalarType::Thread);
    let start = |leaf: &Leaf| machine.global_address(leaf.variable);
    let leaves = program.leaves.iter().filter(is_data).filter_map(|leaf| Some((leaf, start(leaf)?)));
    leaves.flat_map(|(leaf, start)| (0..leaf.element_count()).map(move |element| start + leaf.cell(element))).collect()
}

impl<'a> Recorder<'a> {
    pub(super) fn new(machine: &'a Machine, program: &'a Program, wanted: &[[Access; 2]]) -> Recorder<'a> {
        Recorder {
            machine,
            program,
            pairs: Vec::new(),
            numbers: FxHashMap::default(),
            occurrences: Vec::new(),
            bad: BadEnds::default(),
            end_outcomes: Vec::new(),
            outcomes: OutcomeNumbers::default(),
            cells: global_data(machine, program),
            steps: wanted.iter().flatten().map(|&access| (access, Vec::new())).collect(),
            node: 0,
            pending: Vec::new(),
            current: Vec::new(),
            blocks: 0,
        }
    }

    /// The last state of the search has no more steps.
    pub(super) fn finish(&mut self) {
        self.compare();
    }

    /// A step from a state is over; it has led to another one, or was discarded.
    fn note(&mut self, from: u32, choice: Choice, to: u32) {
        if from != self.node {
            self.compare();
            self.node = from;
        }
        for pending in self.current.drain(..) {
            if let Some(steps) = self.steps.get_mut(&pending.access) {
                steps.push((from, to));
            }
            self.pending.push((pending, choice, to));
        }
    }

    /// Compares the steps of the state.
    fn compare(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        for (index, first) in pending.iter().enumerate() {
            for second in &pending[index + 1..] {
                let ((a, one, _), (b, other, _)) = (first, second);
                let conflict = a.address == b.address && (a.access.is_write() || b.access.is_write());
                if conflict && one.thread != other.thread && !(a.atomic && b.atomic) {
                    let (first, second) = if b.access < a.access { (second, first) } else { (first, second) };
                    self.occurs(first, second);
                }
            }
        }
        self.pending = pending;
        self.pending.clear();
    }

    fn occurs(&mut self, first: &(Pending, Choice, u32), second: &(Pending, Choice, u32)) {
        let accesses = [first.0.access, second.0.access];
        let pairs = &mut self.pairs;
        let pair = *self.numbers.entry(accesses).or_insert_with(|| {
            pairs.push(Pair { accesses, mixed: false, cells: Vec::new() });
            pairs.len() as u32 - 1
        });
        let known = &mut self.pairs[pair as usize];
        known.mixed |= first.0.atomic != second.0.atomic;
        if !known.cells.contains(&first.0.cell) {
            known.cells.push(first.0.cell);
        }
        self.occurrences.push(Occurrence {
            pair,
            node: self.node,
            to: [first.2, second.2],
            steps: [first.1, second.1],
            threads: [first.0.thread, second.0.thread],
        });
    }

    fn access(&mut self, thread: ThreadName, at: CodeIndex, (access, cell, address): (Access, Cell, u32)) {
        let declared = self.program.symbols[access.symbol(self.program)].atomic;
        let atomic = self.blocks > 0 || declared || self.machine.is_atomic(at);
        let pending = Pending { access, cell, address, atomic, thread: thread.path };
        // An atomic block may come to one place many times.
        let same = |known: &Pending| known.access == access && known.address == address;
        if !self.current.iter().any(same) {
            self.current.push(pending);
        }
    }
}

impl Visitor<()> for Recorder<'_> {
    const ACTIVE: bool = true;
    const DETAILS: bool = true;

    fn begin(&mut self) {
        self.current.clear();
        self.blocks = 0;
    }

    fn event(&mut self, thread: ThreadName, at: CodeIndex, event: Event) {
        match event {
            Event::Read { read, cell, address, shared: true, .. } => {
                self.access(thread, at, (Access::Read(read), cell, address));
            }
            Event::Write { definition, cell, address, shared: true, .. } => {
                self.access(thread, at, (Access::Write(definition), cell, address));
            }
            Event::AtomicBegin => self.blocks += 1,
            Event::AtomicEnd => self.blocks = self.blocks.saturating_sub(1),
            _ => {}
        }
    }

    fn transition(&mut self, transition: &Transition, _: &[()]) {
        if let Some(choice) = transition.choice {
            self.note(transition.from, choice, transition.to);
        }
    }

    fn discarded(&mut self, from: u32, choice: Choice) {
        self.note(from, choice, DISCARDED);
    }

    fn bytes(&self) -> u64 {
        let steps: usize = self.steps.values().map(Vec::capacity).sum();
        let bytes = self.occurrences.capacity() * size_of::<Occurrence>() + steps * size_of::<(u32, u32)>();
        (bytes + self.end_outcomes.capacity() * size_of::<(u32, u32)>()) as u64
    }

    fn end(&mut self, context: &EndContext<'_, ()>) -> ControlFlow<()> {
        let EndContext { machine, tables, state, node, end, .. } = *context;
        self.bad.note((machine, tables, state), end, || node);
        let cells = self.cells.iter().filter(|_| end == End::Finished);
        let values = cells.map(|&address| state.value(address)).collect();
        let next = self.outcomes.len() as u32;
        let number = *self.outcomes.entry(((machine.outputs(state, tables), end.into()), values)).or_insert(next);
        self.end_outcomes.push((node, number));
        ControlFlow::Continue(())
    }
}

impl Race {
    /// Whether a failure or a deadlock can follow.
    #[must_use]
    pub fn is_harmful(&self) -> bool {
        self.failing.iter().any(Option::is_some)
    }
}
