//! The known parts of states, and the known steps.
//!
//! **Input**: the states that a search visits, and the steps that the machine executes. **Output**: the numbers of states, their
//! moves, and the steps that were executed before.
//!
//! **Soundness and limits**: exact. If parts do not recur, numbers save nothing: if they take more than [`PER_STATE`] bytes for
//! each state, states are written as words from then on.

use super::memo::Memo;
use super::origin::{Happened, Origin};
use crate::reduction::{Reduction, first_of};
use cssame_vm::{Choice, Encoding, Footprint, Machine, Move, Parts, State, ThreadIndex};

/// Memory that parts and steps may take, and what is added to it for each state.
const AT_FIRST: u64 = 1 << 20;
const PER_STATE: u64 = 16;

/// States from which on parts are numbered: to enter what is met takes more time than few states save. Where results are checked
/// there are few states, so it begins sooner.
const FROM: u64 = if cfg!(debug_assertions) { 16 } else { 1_000 };

/// The parts and the steps that were met.
pub(super) struct Collapse {
    pub parts: Parts,
    pub memo: Memo,
    /// Whether new states are written as numbers, and whether that may begin yet.
    pub is_on: bool,
    may_begin: bool,
    /// The numbers of the state that is expanded, where the machine has loaded it; of one that it has led to; its words.
    pub loaded: Vec<u32>,
    pub behind: Vec<u32>,
    pub words: Encoding,
    pub footprint: Footprint,
    pub events: Vec<Happened>,
}

impl Collapse {
    /// Nothing yet.
    pub(super) fn new(machine: &Machine, may_begin: bool) -> Collapse {
        Collapse {
            parts: Parts::default(),
            memo: Memo::new(machine.global_locks()),
            is_on: false,
            may_begin,
            loaded: Vec::new(),
            behind: Vec::new(),
            words: Encoding::default(),
            footprint: Footprint::default(),
            events: Vec::new(),
        }
    }

    /// Memory that it takes.
    pub(super) fn bytes(&self) -> u64 {
        self.parts.bytes() + if self.is_on { self.memo.bytes() } else { 0 }
    }

    /// A level begins: so many states were met.
    pub(super) fn begin(&mut self, states: u64) {
        if self.may_begin && states >= FROM {
            (self.is_on, self.may_begin) = (true, false);
        }
    }

    /// Stops where numbers take more than they save.
    pub(super) fn look(&mut self, states: u64) {
        self.is_on = self.is_on && self.bytes() <= AT_FIRST + PER_STATE * states;
    }

    /// The state that the machine has loaded is none that is known by its numbers.
    pub(super) fn forget_loaded(&mut self) {
        self.loaded.clear();
    }

    /// A state that a step begins in.
    pub(super) fn origin<'n>(&self, numbers: &'n [u32], choice: Choice) -> Origin<'n> {
        Origin::new(numbers, self.parts.cells(numbers), choice)
    }

    /// The numbers of a state, whose words are given; `before` are the words of the state that the machine has loaded.
    pub(super) fn numbers_of(
        &mut self,
        machine: &Machine,
        of: (&State, &Encoding),
        before: &Encoding,
        reduction: Option<Reduction<'_>>,
    ) -> &[u32] {
        let commutes = |state: &State, thread: ThreadIndex| {
            reduction.is_some_and(|reduction| reduction.commutes(machine, state, thread))
        };
        machine.write_numbers(of, (before, &self.loaded), &mut self.parts, &mut self.behind, commutes);
        &self.behind
    }
}

/// The moves of a state; false where more than its threads and single cells decides about them.
pub(super) fn moves(parts: &Parts, numbers: &[u32], out: &mut Vec<Move>) -> bool {
    out.clear();
    if parts.is_exclusive(numbers) {
        return false;
    }
    for (slot, &number) in numbers[parts.cells(numbers)..].iter().enumerate() {
        match parts.alternatives(numbers, slot, number) {
            Some(0) => {}
            Some(alternatives) => out.push(Move { thread: ThreadIndex(slot as u16), alternatives }),
            None => return false,
        }
    }
    true
}

/// The place, in the list of all moves, of a thread that may go first, as [`Reduction::first`] gives it.
pub(super) fn first(parts: &Parts, numbers: &[u32], moves: &[Move]) -> Option<usize> {
    let threads = &numbers[parts.cells(numbers)..];
    first_of(moves, |thread| parts.commutes(threads[thread.index()]))
}
