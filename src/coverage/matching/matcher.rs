//! Matches the events of one execution, as they come.

use super::partial::{CellNumber, Meaning, Partial, Step, Threads};
use super::trie::Trie;
use crate::coverage::instance::Instance;
use crate::coverage::universe::{Binding, Universe};
use crate::vm::{CodeIndex, Event, Machine, Observer, ThreadName};
use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};

/// Beginnings of matches that an execution may have at a time, at most.
pub const MAX_PARTIALS: usize = 1_000_000;

/// See the module above.
#[derive(Debug)]
pub struct Matcher<'a> {
    meaning: Meaning<'a>,
    trie: Trie,
    threads: Threads,
    alive: IndexSet<Partial, FxBuildHasher>,
    /// By cell, the beginnings that are about it.
    of_cell: FxHashMap<CellNumber, Vec<u32>>,
    /// Those that wait for any cell of a second variable.
    open: Vec<u32>,
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
            threads: Threads::default(),
            alive: IndexSet::default(),
            of_cell: FxHashMap::default(),
            open: Vec::new(),
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

    fn access(&mut self, step: &Step, cell: CellNumber) {
        let mut added = std::mem::take(&mut self.added);
        Partial::begin(&self.trie, step, &mut added);
        let same = self.of_cell.get(&cell).map_or(&[][..], Vec::as_slice);
        for &number in same {
            self.alive[number as usize].extend(&self.trie, step, &mut added);
        }
        // Those that are about the cell were extended already.
        for &number in &self.open {
            let partial = &self.alive[number as usize];
            if partial.cells().all(|known| known != cell) {
                partial.extend(&self.trie, step, &mut added);
            }
        }
        for partial in added.drain(..) {
            self.covered.extend(partial.instance(&self.trie));
            self.keep(partial);
        }
        self.added = added;
    }

    fn keep(&mut self, partial: Partial) {
        if partial.is_hopeless(&self.trie, &self.threads.alive) {
            return;
        }
        if self.alive.len() >= MAX_PARTIALS {
            self.is_cut = true;
            return;
        }
        let (number, is_new) = self.alive.insert_full(partial);
        if !is_new {
            return;
        }
        let partial = &self.alive[number];
        for cell in partial.cells() {
            self.of_cell.entry(cell).or_default().push(number as u32);
        }
        if partial.may_begin_second(&self.trie) {
            self.open.push(number as u32);
        }
    }

    /// A step that changes which threads there are, or what they know.
    fn threads(&mut self, step: &Step) {
        let told = self.threads.step(step);
        let before = std::mem::take(&mut self.alive);
        self.of_cell.clear();
        self.open.clear();
        for mut partial in before {
            told.iter().for_each(|&one| partial.tell(&self.trie, one));
            self.keep(partial);
        }
    }
}

impl Observer for Matcher<'_> {
    fn event(&mut self, thread: ThreadName, at: CodeIndex, event: Event) {
        match Step::of_event(&mut self.meaning, thread, at, event) {
            Some(step @ Step::Access { cell, .. }) => self.access(&step, cell),
            Some(step) => self.threads(&step),
            None => {}
        }
    }

    fn begin_main(&mut self, main: ThreadName) {
        self.threads = Threads::new(main.path);
    }
}
