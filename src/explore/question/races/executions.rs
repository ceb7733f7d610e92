//! Finds racing accesses with one execution of each future.
//!
//! **Input**: a program with its machine, and a budget. **Output**: [`Racing`]: the pairs of accesses that may race; all others do not.
//!
//! **Algorithm**
//! 1. Visit one execution of each future ([`each_future`]), and replay it.
//! 2. The *causal past* of an event consists of the events before it by program order, forks, joins and reads-from. Vector clocks
//!    represent it ([`Clocks`]).
//! 3. Two accesses of different threads to one cell, at least one of them a write and not both atomic, may race if the earlier
//!    one is not in the causal past of the events that precede the later one in its thread.
//!
//! **Soundness**: let two threads stand before two such accesses in some state. Continue from there with both accesses, one
//! directly after the other, to the end. Some visited execution has the same reads from the same writes, and so the same causal
//! pasts. For each access, the past of its thread before it is a part of the execution that led to the state, so it contains
//! neither access. Conversely, if there is no such pair, no accesses race. A `cas` that would write in the state writes in the
//! execution in which it goes first.
//!
//! **Limits**: the limits of [`each_future`].

use crate::question::each_future;
use cssame_budget::Budget;
use cssame_ir::{Access, FunctionId, Program};
use cssame_schedule::{Clock, Clocks, Edges, Stamp, walk};
use cssame_vm::{Choice, CodeIndex, Event, Machine, Observer, PathId, Tables, ThreadName};
use rustc_hash::FxHashSet;
use std::ops::ControlFlow;

/// Steps of all executions together.
const MOST_STEPS: usize = 5_000_000;

/// What all executions show.
#[derive(Clone, Debug, Default)]
pub struct Racing {
    /// How many executions there are, one for each future.
    pub executions: u64,
    /// The pairs that may race, each sorted.
    pub pairs: FxHashSet<[Access; 2]>,
    /// Whether some execution fails.
    pub fails: bool,
}

/// The pairs of accesses that may race, by executions alone; `None` where they do not tell, or are too many.
pub fn races_by_executions(machine: &Machine, program: &Program, budget: &Budget<'_>) -> Option<Racing> {
    let mut racing = Racing::default();
    let visited = each_future::visit(machine, budget, MOST_STEPS, &mut |choices, fails| {
        racing.fails |= fails;
        racing.add(machine, program, choices);
        ControlFlow::Continue(())
    });
    racing.executions = visited?.executions;
    Some(racing)
}

impl Racing {
    /// Whether two accesses, sorted, race in no execution.
    #[must_use]
    pub fn keeps_apart(&self, accesses: [Access; 2]) -> bool {
        !self.pairs.contains(&accesses)
    }

    /// Steps 2 and 3 for one execution.
    fn add(&mut self, machine: &Machine, program: &Program, choices: &[Choice]) {
        let mut detector = Detector::new(machine, program, &mut self.pairs);
        let done = walk(machine, &mut Tables::new(), choices, &mut detector).is_ok();
        debug_assert!(done, "an execution that was found can be replayed");
    }
}

/// The last access to a cell by a thread, at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Last {
    access: Access,
    thread: PathId,
    atomic: bool,
    stamp: Stamp,
}

/// A cell, as far as an execution has come.
#[derive(Debug, Default)]
struct CellHistory {
    accesses: Vec<Last>,
    /// The causal past of its last write, with it.
    written: Option<Clock>,
}

/// Follows one execution.
struct Detector<'a> {
    machine: &'a Machine,
    program: &'a Program,
    clocks: Clocks<'a>,
    /// By address.
    cells: Vec<CellHistory>,
    /// The accesses of the step that runs now: what it reads comes before what its thread does next, not before itself.
    current: Vec<(u32, Last)>,
    pairs: &'a mut FxHashSet<[Access; 2]>,
}

impl<'a> Detector<'a> {
    fn new(machine: &'a Machine, program: &'a Program, pairs: &'a mut FxHashSet<[Access; 2]>) -> Detector<'a> {
        let clocks = Clocks::new(machine, Edges::ForksAndJoins);
        Detector { machine, program, clocks, cells: Vec::new(), current: Vec::new(), pairs }
    }

    /// An access of the step that runs.
    fn access(&mut self, thread: PathId, at: CodeIndex, (access, address): (Access, u32)) {
        let declared = self.program.symbols[access.symbol(self.program)].atomic;
        let atomic = declared || self.machine.is_atomic(at);
        let now = Last { access, thread, atomic, stamp: self.clocks.stamp(thread) };
        let place = address as usize;
        if self.cells.len() <= place {
            self.cells.resize_with(place + 1, CellHistory::default);
        }
        for last in self.cells[place].accesses.iter().filter(|last| last.thread != thread) {
            let conflict = (last.access.is_write() || access.is_write()) && !(last.atomic && atomic);
            if conflict && !self.clocks.clock(thread).knows(last.stamp) {
                let pair = [last.access, access];
                self.pairs.insert([pair[0].min(pair[1]), pair[0].max(pair[1])]);
            }
        }
        self.current.push((address, now));
    }
}

impl Observer for Detector<'_> {
    fn event(&mut self, thread: ThreadName, at: CodeIndex, event: Event) {
        self.clocks.event(thread, at, event);
        match event {
            Event::Read { read, address, shared: true, .. } => {
                self.access(thread.path, at, (Access::Read(read), address));
            }
            Event::Write { definition, address, shared: true, .. } => {
                self.access(thread.path, at, (Access::Write(definition), address));
            }
            Event::Allocate { address, size, .. } => {
                let cells = self.cells.iter_mut().skip(address as usize).take(size as usize);
                cells.for_each(|cell| *cell = CellHistory::default());
            }
            _ => {}
        }
    }

    fn enter(&mut self, thread: ThreadName, function: FunctionId) {
        self.clocks.enter(thread, function);
    }

    fn leave(&mut self, thread: ThreadName) {
        self.clocks.leave(thread);
    }

    fn end_step(&mut self, _: ThreadName, _: u32) {
        for (address, now) in self.current.drain(..) {
            let cell = &mut self.cells[address as usize];
            if now.access.is_write() {
                cell.written = Some(self.clocks.clock(now.thread).clone());
            } else if let Some(written) = &cell.written {
                self.clocks.learn(now.thread, written);
            }
            // An earlier one of the same thread is in each past that the later one is in.
            let is_same =
                |last: &&mut Last| (last.access, last.thread, last.atomic) == (now.access, now.thread, now.atomic);
            match cell.accesses.iter_mut().find(is_same) {
                Some(last) => *last = now,
                None => cell.accesses.push(now),
            }
        }
    }
}
