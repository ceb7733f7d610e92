//! Races that a search by preemptions finds.
//!
//! **Input**: each new state, with the thread that has led there. **Output**: the pairs of accesses before which two threads
//! stand at the same time, each with the first state that shows it.
//!
//! **Algorithm**: only these threads stand before something new: the thread that has moved, those that it has created or
//! released, and those whose steps depend on the values of cells (a `cas` may write now). The accesses before which all threads stand
//! are sorted by address, so those of one cell lie side by side; of these, each new one is compared with the others. An atomic block,
//! and the first step of a thread, is executed on a copy, once in a state.
//!
//! **Soundness and limits**: two accesses race if they refer to one cell, one of them writes, and not both are atomic. The module
//! does not serve programs whose executions may be discarded: there, later events decide whether a state counts.

use cssame_ir::{Access, Program};
use cssame_vm::{
    Cell, Choice, CodeIndex, Event, Machine, Observer, PathId, Pending, State, Tables, ThreadIndex, ThreadName,
};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

/// So many accesses can be looked at while a step is done on a copy of the state.
const COPY: usize = 32;

/// A race: two threads stand before two accesses to one cell.
#[derive(Clone, Debug)]
pub(super) struct Met {
    /// Whether one of the accesses is atomic in some state, and the other not.
    pub mixed: bool,
    pub cells: Vec<Cell>,
    pub node: u32,
    pub steps: [Choice; 2],
    pub threads: [PathId; 2],
    pub preemptions: u32,
}

/// See the module.
pub(super) struct Races<'a> {
    machine: &'a Machine,
    program: &'a Program,
    pub met: IndexMap<[Access; 2], Met, FxBuildHasher>,
    /// What the threads of the state that is looked at access next, and whether that is new.
    nexts: Vec<(Next, bool)>,
    copy: State,
}

/// An access that the next step of a thread makes.
#[derive(Clone, Copy)]
struct Next {
    access: Access,
    address: u32,
    /// So many cells from there on: of an object that is given back, all.
    cells: u32,
    atomic: bool,
    thread: ThreadIndex,
}

type NextAccesses = SmallVec<[Next; 4]>;

impl<'a> Races<'a> {
    pub(super) fn new(machine: &'a Machine, program: &'a Program) -> Races<'a> {
        let (met, copy) = (IndexMap::default(), State::default());
        Races { machine, program, met, nexts: Vec::new(), copy }
    }

    /// Looks at a new state, to which a step of the last thread has led from the one before: its node, and the preemptions so far. Gives
    /// the number of accesses that it has looked at; a step on a copy counts as several.
    pub(super) fn look(
        &mut self,
        (before, state): (&State, &State),
        tables: &mut Tables,
        (last, node, preemptions): (ThreadIndex, u32, u32),
    ) -> usize {
        if state.exclusive().is_some() {
            return 0;
        }
        let (mut nexts, mut copies) = (std::mem::take(&mut self.nexts), 0);
        nexts.clear();
        for thread in state.threads() {
            let depends = self.depends_on_cells(state, thread);
            let is_new = depends || thread == last || stands_elsewhere(before, state, thread);
            let accesses = self.accesses(state, thread).unwrap_or_else(|| {
                copies += 1;
                self.of_step(state, tables, thread)
            });
            nexts.extend(accesses.into_iter().map(|next| (next, is_new)));
        }
        if nexts.iter().any(|(_, is_new)| *is_new) {
            nexts.sort_unstable_by_key(|(next, _)| (next.address, next.thread, next.access));
            self.meet(state, &nexts, (node, preemptions));
        }
        self.nexts = nexts;
        self.nexts.len() + COPY * copies
    }

    /// Which of some accesses, in the order of addresses, are to common cells: of pairs with a new one, as the others have been met.
    fn meet(&mut self, state: &State, nexts: &[(Next, bool)], (node, preemptions): (u32, u32)) {
        for (at, (one, is_new)) in nexts.iter().enumerate() {
            let behind = nexts[at + 1..].iter();
            for (other, other_is_new) in behind.take_while(|(other, _)| other.address < one.address + one.cells) {
                let is_written = one.access.is_write() || other.access.is_write();
                let is_asked = one.thread != other.thread && (*is_new || *other_is_new);
                if is_asked && is_written && !(one.atomic && other.atomic) {
                    let pair = if other.access < one.access { [other, one] } else { [one, other] };
                    self.meets(state, pair, (node, preemptions));
                }
            }
        }
    }

    /// Whether what the next step of a thread accesses depends on the values of cells.
    fn depends_on_cells(&self, state: &State, thread: ThreadIndex) -> bool {
        let pending = self.machine.pending(state, thread);
        matches!(pending, Some(Pending::Atomic { .. } | Pending::AtomicBlock | Pending::Effect { .. }))
    }

    fn meets(&mut self, state: &State, pair: [&Next; 2], (node, preemptions): (u32, u32)) {
        let met = self.met.entry(pair.map(|next| next.access)).or_insert_with(|| Met {
            mixed: false,
            cells: Vec::new(),
            node,
            steps: pair.map(|next| Choice { thread: next.thread, alternative: 0 }),
            threads: pair.map(|next| state.path(next.thread)),
            preemptions,
        });
        met.mixed |= pair[0].atomic != pair[1].atomic;
        let common = pair[0].address.max(pair[1].address);
        if let Some(cell) = self.machine.cell(state, common)
            && !met.cells.contains(&cell)
        {
            met.cells.push(cell);
        }
    }

    /// The accesses of the next step of a thread; `None` where only doing it tells: at an atomic block, and where the thread begins,
    /// which may be with local work.
    fn accesses(&self, state: &State, thread: ThreadIndex) -> Option<NextAccesses> {
        let mut found = NextAccesses::new();
        let at = state.position(thread);
        let mut add_cells = |access: Access, address: Option<u32>, cells: u32| {
            let atomic = self.is_atomic(access, at);
            found.extend(address.map(|address| Next { access, address, cells, atomic, thread }));
        };
        let mut add = |access, address| add_cells(access, address, 1);
        match self.machine.pending(state, thread) {
            Some(Pending::Read { read, address }) => add(Access::Read(read), address),
            Some(Pending::Write { definition, address }) => add(Access::Write(definition), address),
            Some(Pending::Atomic { read, definition, address, writes, .. }) => {
                add(Access::Read(read), address);
                if writes {
                    add(Access::Write(definition), address);
                }
            }
            Some(Pending::Free { definition, first, cells }) => {
                add_cells(Access::Write(definition), Some(first), cells);
            }
            Some(Pending::AtomicBlock | Pending::Effect { .. }) => return None,
            _ => {}
        }
        Some(found)
    }

    fn is_atomic(&self, access: Access, at: CodeIndex) -> bool {
        self.program.symbols[access.symbol(self.program)].atomic || self.machine.is_atomic(at)
    }

    /// The accesses of the next step of a thread, which is done on a copy.
    fn of_step(&mut self, state: &State, tables: &mut Tables, thread: ThreadIndex) -> NextAccesses {
        self.copy.clone_from(state);
        let mut seen = Seen::default();
        let marks = tables.marks();
        self.machine.step(&mut self.copy, tables, Choice { thread, alternative: 0 }, &mut seen);
        tables.truncate(marks);
        let next = |&(access, at, address, is_in_block): &(Access, CodeIndex, u32, bool)| {
            let atomic = is_in_block || self.is_atomic(access, at);
            Next { access, address, cells: 1, atomic, thread }
        };
        seen.found.iter().map(next).collect()
    }
}

/// Whether a thread was made, or let on, by a step of another one.
fn stands_elsewhere(before: &State, state: &State, thread: ThreadIndex) -> bool {
    let standing = |state: &State| (state.path(thread), state.status(thread), state.position(thread));
    thread.index() >= before.thread_count() || standing(before) != standing(state)
}

/// The accesses of a step: where they stand, to which cell, and whether within an atomic block.
#[derive(Default)]
struct Seen {
    found: SmallVec<[(Access, CodeIndex, u32, bool); 4]>,
    blocks: u32,
}

impl Observer for Seen {
    fn event(&mut self, _: ThreadName, at: CodeIndex, event: Event) {
        let (access, address) = match event {
            Event::Read { read, address, shared: true, .. } => (Access::Read(read), address),
            Event::Write { definition, address, shared: true, .. } => (Access::Write(definition), address),
            Event::AtomicBegin => return self.blocks += 1,
            Event::AtomicEnd => return self.blocks = self.blocks.saturating_sub(1),
            _ => return,
        };
        // An atomic block may come to one place many times.
        if !self.found.iter().any(|&(known, _, same, _)| known == access && same == address) {
            self.found.push((access, at, address, self.blocks > 0));
        }
    }
}
