//! Races that a search by preemptions finds.
//!
//! **Input**: each new state, with the thread that has led there. **Output**: the pairs of accesses before which two threads
//! stand at the same time, each with the first state that shows it.
//!
//! **Algorithm**: only these threads stand before something new: the thread that has moved, those that it has created or
//! released, and those whose steps depend on the values of cells (a `cas` may write now). Their accesses are compared with the
//! accesses before which the others stand. An atomic block, and the first step of a thread, is executed on a copy, once in a
//! state, if another thread stands before an access.
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
    /// The threads of the state that is looked at, but for those whose next step accesses nothing; and the places of those whose step
    /// may make an access that is not atomic.
    standing: Vec<Standing>,
    plain: Vec<usize>,
    copy: State,
}

/// What a thread stands before.
struct Standing {
    thread: ThreadIndex,
    /// `None` until somebody has done the step on a copy, where only that tells.
    accesses: Option<NextAccesses>,
    may_be_plain: bool,
}

/// An access that the next step of a thread makes.
#[derive(Clone, Copy)]
struct Next {
    access: Access,
    address: u32,
    atomic: bool,
    thread: ThreadIndex,
}

type NextAccesses = SmallVec<[Next; 4]>;

impl<'a> Races<'a> {
    pub(super) fn new(machine: &'a Machine, program: &'a Program) -> Races<'a> {
        let (met, copy) = (IndexMap::default(), State::default());
        Races { machine, program, met, standing: Vec::new(), plain: Vec::new(), copy }
    }

    /// Looks at a new state, to which a step of the last thread has led from the one before: its node, and the preemptions so far.
    pub(super) fn look(
        &mut self,
        (before, state): (&State, &State),
        tables: &mut Tables,
        (last, node, preemptions): (ThreadIndex, u32, u32),
    ) {
        if state.exclusive().is_some() {
            return;
        }
        let may_be_new = |&thread: &ThreadIndex| {
            thread == last || stands_elsewhere(before, state, thread) || self.depends_on_cells(state, thread)
        };
        let looked_at: SmallVec<[ThreadIndex; 8]> = state.threads().filter(may_be_new).collect();
        if looked_at.is_empty() {
            return;
        }
        self.stand(state);
        for thread in looked_at {
            self.look_at(state, tables, thread, (node, preemptions));
        }
    }

    /// What each thread stands before.
    fn stand(&mut self, state: &State) {
        self.standing.clear();
        self.plain.clear();
        for thread in state.threads() {
            let accesses = self.accesses(state, thread);
            let may_be_plain = match &accesses {
                Some(known) if known.is_empty() => continue,
                Some(known) => known.iter().any(|next| !next.atomic),
                None => !matches!(self.machine.pending(state, thread), Some(Pending::AtomicBlock)),
            };
            if may_be_plain {
                self.plain.push(self.standing.len());
            }
            self.standing.push(Standing { thread, accesses, may_be_plain });
        }
    }

    /// Whether what the next step of a thread accesses depends on the values of cells.
    fn depends_on_cells(&self, state: &State, thread: ThreadIndex) -> bool {
        let pending = self.machine.pending(state, thread);
        matches!(pending, Some(Pending::Atomic { .. } | Pending::AtomicBlock | Pending::Effect { .. }))
    }

    fn look_at(&mut self, state: &State, tables: &mut Tables, thread: ThreadIndex, (node, preemptions): (u32, u32)) {
        let Ok(ours) = self.standing.binary_search_by_key(&thread, |standing| standing.thread) else { return };
        // Of two atomic accesses nobody asks.
        let all = self.standing[ours].may_be_plain;
        let count = if all { self.standing.len() } else { self.plain.len() };
        for at in 0..count {
            let other = if all { at } else { self.plain[at] };
            if other != ours {
                self.do_step(state, tables, ours);
                self.do_step(state, tables, other);
                self.compare(state, [ours, other], (node, preemptions));
            }
        }
    }

    /// Does the next step of a thread on a copy, where only that tells what it accesses and nobody has done it yet.
    fn do_step(&mut self, state: &State, tables: &mut Tables, at: usize) {
        let Standing { thread, ref accesses, .. } = self.standing[at];
        if accesses.is_none() {
            self.standing[at].accesses = Some(self.of_step(state, tables, thread));
        }
    }

    fn compare(&mut self, state: &State, threads: [usize; 2], (node, preemptions): (u32, u32)) {
        let [ours, theirs] = threads.map(|at| self.standing[at].accesses.clone().unwrap_or_default());
        for one in &ours {
            for other in &theirs {
                let is_written = one.access.is_write() || other.access.is_write();
                if one.address == other.address && is_written && !(one.atomic && other.atomic) {
                    let pair = if other.access < one.access { [other, one] } else { [one, other] };
                    self.meets(state, pair, (node, preemptions));
                }
            }
        }
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
        if let Some(cell) = self.machine.cell(state, pair[0].address)
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
        let mut add = |access: Access, address: Option<u32>| {
            let atomic = self.is_atomic(access, at);
            found.extend(address.map(|address| Next { access, address, atomic, thread }));
        };
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
                (first..first + cells).for_each(|address| add(Access::Write(definition), Some(address)));
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
            Next { access, address, atomic, thread }
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
