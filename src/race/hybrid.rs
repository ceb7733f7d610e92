//! Hybrid race prediction: combines locksets with the order of events in one execution.
//!
//! **Input**: the events of an execution. **Output**: pairs of accesses that may race ([`Predicted`]), each with the
//! observations.
//!
//! **Algorithm** (O'Callahan and Choi 2003, as in phase 1 of Sen 2008): two accesses of different threads to one cell, at least
//! one of them a write, are predicted to race if
//!
//! 1. neither happens before the other by [`Edges::WithoutMutualExclusion`]: an order that only locks cause may be reversed in
//!    another execution;
//! 2. the threads hold no lock in common;
//! 3. not both are atomic.
//!
//! For each cell, the last access is kept for each thread, set of locks, place and kind: every access that is ordered with the
//! later one is also ordered with an earlier one of the same thread. The place is part of the key because it is reported. With
//! only the last access, `x = 2; x = 1;` against a later read would lose a pair.
//!
//! **Soundness and limits**: a predicted race need not happen, and a race that the execution does not reach is not predicted: use
//! several executions. A local variable that reuses the cells of a dead one starts afresh.

use cssame_ir::sync::Mode;
use cssame_ir::{Access, Program};
use cssame_schedule::{Clocks, Edges, HeldLocks, LocksetId, Stamp};
use cssame_vm::{Cell, CodeIndex, Event, Machine, Observer, PathId, ThreadName};
use rustc_hash::FxHashMap;

/// One of two accesses that may race, as it was seen.
#[derive(Clone, Debug)]
pub struct Side {
    /// Its thread.
    pub thread: PathId,
    /// The locks that it held, with the mode of each.
    pub locks: Vec<(Cell, Mode)>,
}

/// What was seen of two accesses that may race, the first time.
#[derive(Clone, Debug)]
pub struct Predicted {
    /// The accesses, sorted.
    pub accesses: [Access; 2],
    /// Their sides, in the same order.
    pub sides: [Side; 2],
    /// Whether one is atomic and the other is not.
    pub mixed: bool,
    /// The cells, each once.
    pub cells: Vec<Cell>,
}

/// The last access to a cell by a thread, with some locks, at a place.
#[derive(Clone, Copy, Debug)]
struct Last {
    access: Access,
    thread: PathId,
    locks: LocksetId,
    atomic: bool,
    stamp: Stamp,
}

/// Predicts races from one execution.
#[derive(Debug)]
pub struct HybridDetector<'a> {
    machine: &'a Machine,
    program: &'a Program,
    clocks: Clocks<'a>,
    held: HeldLocks,
    /// By address.
    history: Vec<Vec<Last>>,
    /// Atomic blocks that the step is in: it runs to its end before another thread moves.
    blocks: u32,
    numbers: FxHashMap<[Access; 2], usize>,
    found: Vec<Predicted>,
}

impl<'a> HybridDetector<'a> {
    /// Before the first event.
    #[must_use]
    pub fn new(machine: &'a Machine, program: &'a Program) -> HybridDetector<'a> {
        HybridDetector {
            machine,
            program,
            clocks: Clocks::new(machine, Edges::WithoutMutualExclusion),
            held: HeldLocks::default(),
            history: Vec::new(),
            blocks: 0,
            numbers: FxHashMap::default(),
            found: Vec::new(),
        }
    }

    /// What was predicted so far.
    #[must_use]
    pub fn found(&self) -> &[Predicted] {
        &self.found
    }

    fn access(&mut self, thread: PathId, at: CodeIndex, (access, cell, address): (Access, Cell, u32)) {
        let declared = self.program.symbols[access.symbol(self.program)].atomic;
        let now = Last {
            access,
            thread,
            locks: self.held.set(thread),
            atomic: self.blocks > 0 || declared || self.machine.is_atomic(at),
            stamp: self.clocks.stamp(thread),
        };
        let index = address as usize;
        if self.history.len() <= index {
            self.history.resize_with(index + 1, Vec::new);
        }
        let mut history = std::mem::take(&mut self.history[index]);
        let mut own = None;
        for (place, last) in history.iter().enumerate() {
            if last.thread == thread {
                let same = last.access == access && last.locks == now.locks && last.atomic == now.atomic;
                own = if same { Some(place) } else { own };
            } else if self.may_race(last, &now) {
                self.predict(last, &now, cell);
            }
        }
        match own {
            Some(place) => history[place] = now,
            None => history.push(now),
        }
        self.history[index] = history;
    }

    fn may_race(&self, last: &Last, now: &Last) -> bool {
        (last.access.is_write() || now.access.is_write())
            && !(last.atomic && now.atomic)
            && !self.clocks.clock(now.thread).knows(last.stamp)
            && !self.held.exclude(last.locks, now.locks)
    }

    fn predict(&mut self, last: &Last, now: &Last, cell: Cell) {
        let (first, second) = if now.access < last.access { (now, last) } else { (last, now) };
        let accesses = [first.access, second.access];
        let next = self.found.len();
        let place = *self.numbers.entry(accesses).or_insert(next);
        if place == next {
            let sides =
                [first, second].map(|side| Side { thread: side.thread, locks: self.held.locks(side.locks).to_vec() });
            self.found.push(Predicted { accesses, sides, mixed: false, cells: Vec::new() });
        }
        let found = &mut self.found[place];
        found.mixed |= first.atomic != second.atomic;
        if !found.cells.contains(&cell) {
            found.cells.push(cell);
        }
    }
}

impl Observer for HybridDetector<'_> {
    fn event(&mut self, thread: ThreadName, at: CodeIndex, event: Event) {
        match event {
            Event::Read { shared: false, .. } | Event::Write { shared: false, .. } => return,
            _ => self.clocks.event(thread, at, event),
        }
        match event {
            Event::Read { read, cell, address, .. } => {
                self.access(thread.path, at, (Access::Read(read), cell, address));
            }
            Event::Write { definition, cell, address, .. } => {
                self.access(thread.path, at, (Access::Write(definition), cell, address));
            }
            Event::Allocate { address, size, .. } => {
                let cells = self.history.iter_mut().skip(address as usize).take(size as usize);
                cells.for_each(Vec::clear);
            }
            Event::AtomicBegin => self.blocks += 1,
            Event::AtomicEnd => self.blocks = self.blocks.saturating_sub(1),
            _ => self.held.event(thread, at, event),
        }
    }

    fn enter(&mut self, thread: ThreadName, function: cssame_ir::FunctionId) {
        self.clocks.enter(thread, function);
    }

    fn leave(&mut self, thread: ThreadName) {
        self.clocks.leave(thread);
    }
}
