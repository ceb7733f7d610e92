//! Matches the events of one execution incrementally.
//!
//! **Algorithm**: each beginning of a match is kept once, with the last time at which it was created: a thread that does not know
//! of an earlier creation does not know of a later one either. Vector clocks of forks and joins decide whether a thread knows of
//! an access. Beginnings are indexed by the access that they wait for, so that an access meets only the beginnings that it can
//! extend. If the possible instances are known, a beginning is dropped as soon as the execution has covered all instances that
//! begin with its accesses: many threads and cells repeat the same beginnings.

use super::candidates::Candidates;
use super::partial::{Awaited, CellNumber, Meaning, Partial, Step};
use super::trie::Trie;
use crate::instance::Instance;
use crate::universe::{Binding, Universe};
use cssame_ir::FunctionId;
use cssame_schedule::{Clocks, Edges, Stamp};
use cssame_vm::{CodeIndex, Event, Machine, Observer, PathId, ThreadName};
use indexmap::{IndexMap, IndexSet};
use rustc_hash::{FxBuildHasher, FxHashMap};

/// Beginnings of matches that an execution may have, at most.
pub const MAX_PARTIALS: usize = 1_000_000;

/// What is known of a beginning.
#[derive(Clone, Copy, Debug)]
struct Last {
    /// The last time at which its last access was made.
    stamp: Stamp,
    /// Its number among the beginnings of candidates, and how many of them begin so.
    prefix: Option<(usize, u32)>,
}

/// See the module above.
#[derive(Debug)]
pub struct Matcher<'a> {
    meaning: Meaning<'a>,
    trie: Trie,
    clocks: Clocks<'a>,
    /// What may be covered at all, if that is known, and how much of it the execution has covered, by beginning.
    candidates: Option<(&'a Candidates, Vec<u32>)>,
    partials: IndexMap<Partial, Last, FxBuildHasher>,
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
            candidates: None,
            partials: IndexMap::default(),
            waiting: FxHashMap::default(),
            covered: IndexSet::default(),
            added: Vec::new(),
            is_cut: false,
        }
    }

    /// The same, where these alone can be covered.
    #[must_use]
    pub fn among(self, candidates: &'a Candidates) -> Matcher<'a> {
        Matcher { candidates: Some((candidates, vec![0; candidates.beginnings()])), ..self }
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
            self.extend(awaited, step, thread, &mut added);
        }
        let now = self.clocks.stamp(thread);
        for partial in added.drain(..) {
            if let Some(instance) = partial.instance(&self.trie)
                && self.covered.insert(instance)
                && let Some((candidates, done)) = &mut self.candidates
            {
                candidates.numbers(instance).for_each(|number| done[number] += 1);
            }
            self.keep(partial, now);
        }
        self.added = added;
    }

    /// Extends the beginnings that wait for an access.
    fn extend(&mut self, awaited: Awaited, step: &Step, thread: PathId, added: &mut Vec<Partial>) {
        let Some(waiting) = self.waiting.get_mut(&awaited) else { return };
        let done = self.candidates.as_ref().map(|(_, done)| done);
        waiting.retain(|&number| {
            let Some((partial, last)) = self.partials.get_index(number as usize) else { return false };
            if is_exhausted(done, last.prefix) {
                return false;
            }
            let changes = partial.last(&self.trie) != Some(thread);
            if !(changes && self.clocks.clock(thread).knows(last.stamp)) {
                partial.extend(&self.trie, step, added);
            }
            true
        });
    }

    fn keep(&mut self, partial: Partial, stamp: Stamp) {
        let waits = partial.waits(&self.trie);
        if waits.is_empty() {
            return;
        }
        let prefix = match &self.candidates {
            None => None,
            Some((candidates, done)) => {
                let Some(found) = candidates.find(&partial.prefix()) else { return };
                if is_exhausted(Some(done), Some(found)) {
                    return;
                }
                Some(found)
            }
        };
        if self.partials.len() >= MAX_PARTIALS && !self.partials.contains_key(&partial) {
            self.is_cut = true;
            return;
        }
        let (number, known) = self.partials.insert_full(partial, Last { stamp, prefix });
        if known.is_none() {
            for awaited in waits {
                self.waiting.entry(awaited).or_default().push(number as u32);
            }
        }
    }
}

/// Whether the execution has covered all that can begin so.
fn is_exhausted(done: Option<&Vec<u32>>, prefix: Option<(usize, u32)>) -> bool {
    done.zip(prefix).is_some_and(|(done, (number, count))| done[number] >= count)
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
