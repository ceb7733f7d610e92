//! Matches the events of one execution, as they come.
//!
//! **Algorithm**: each beginning of a match is kept once, with the last time at which it was made: a thread that does not
//! know of an earlier one does not know of a later one either. Whether a thread knows of an access, vector clocks of forks and
//! joins tell. Beginnings are found by what they wait for, so that an access meets those alone that may go on with it.

use super::partial::{Awaited, CellNumber, Meaning, Partial, Step};
use super::trie::Trie;
use crate::coverage::instance::Instance;
use crate::coverage::universe::{Binding, Universe};
use crate::ir::FunctionId;
use crate::schedule::{Clocks, Edges, Stamp};
use crate::vm::{CodeIndex, Event, Machine, Observer, PathId, ThreadName};
use indexmap::{IndexMap, IndexSet};
use rustc_hash::{FxBuildHasher, FxHashMap};

/// Beginnings of matches that an execution may have, at most.
pub const MAX_PARTIALS: usize = 1_000_000;

/// See the module above.
#[derive(Debug)]
pub struct Matcher<'a> {
    meaning: Meaning<'a>,
    trie: Trie,
    clocks: Clocks<'a>,
    /// With the last time at which the last access was made.
    partials: IndexMap<Partial, Stamp, FxBuildHasher>,
    waiting: FxHashMap<Awaited, Vec<u32>>,
    covered: IndexSet<Instance, FxBuildHasher>,
    /// What the event that is matched adds.
    added: Vec<Partial>,
    is_cut: bool,
}

impl<'a> Matcher<'a> {
    /// Before the first event of main.
    #[must_use]
    pub fn new(machine: &'a Machine, universe: &'a Universe, binding: &'a Binding) -> Matcher<'a> {
        Matcher {
            meaning: Meaning::new(machine, universe, binding),
            trie: Trie::new(),
            clocks: Clocks::new(machine, Edges::ForksAndJoins),
            partials: IndexMap::default(),
            waiting: FxHashMap::default(),
            covered: IndexSet::default(),
            added: Vec::new(),
            is_cut: false,
        }
    }

    /// The instances that the execution has so far, in the order in which their last accesses were made.
    pub fn covered(&self) -> impl ExactSizeIterator<Item = &Instance> {
        self.covered.iter()
    }

    /// Whether there were too many beginnings to keep them all.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    fn access(&mut self, step: &Step, thread: PathId, cell: CellNumber) {
        let mut added = std::mem::take(&mut self.added);
        Partial::begin(&self.trie, step, &mut added);
        for awaited in [(Some(thread), Some(cell)), (Some(thread), None), (None, Some(cell)), (None, None)] {
            for &number in self.waiting.get(&awaited).map_or(&[][..], Vec::as_slice) {
                let Some((partial, &last)) = self.partials.get_index(number as usize) else { continue };
                let changes = partial.last(&self.trie) != Some(thread);
                if !(changes && self.clocks.clock(thread).knows(last)) {
                    partial.extend(&self.trie, step, &mut added);
                }
            }
        }
        let now = self.clocks.stamp(thread);
        for partial in added.drain(..) {
            self.covered.extend(partial.instance(&self.trie));
            self.keep(partial, now);
        }
        self.added = added;
    }

    fn keep(&mut self, partial: Partial, now: Stamp) {
        let waits = partial.waits(&self.trie);
        if waits.is_empty() {
            return;
        }
        if self.partials.len() >= MAX_PARTIALS && !self.partials.contains_key(&partial) {
            self.is_cut = true;
            return;
        }
        let (number, known) = self.partials.insert_full(partial, now);
        if known.is_none() {
            for awaited in waits {
                self.waiting.entry(awaited).or_default().push(number as u32);
            }
        }
    }
}

impl Observer for Matcher<'_> {
    fn event(&mut self, thread: ThreadName, at: CodeIndex, event: Event) {
        self.clocks.event(thread, at, event);
        if let Some(step @ Step::Access { thread, cell, .. }) = Step::of_event(&mut self.meaning, thread, at, event) {
            self.access(&step, thread, cell);
        }
    }

    fn enter(&mut self, thread: ThreadName, function: FunctionId) {
        self.clocks.enter(thread, function);
    }

    fn leave(&mut self, thread: ThreadName) {
        self.clocks.leave(thread);
    }
}
