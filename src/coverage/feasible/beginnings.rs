//! Numbered beginnings of matches, and how the steps of a graph extend them.
//!
//! **Input**: the graph of all steps, and instances of one first access. **Output**: for a kind of step and a beginning, the
//! beginnings that result, and the instances that the step completes.
//!
//! **Algorithm**: the effect of a step on a beginning is computed once for each kind of step.
//!
//! **Soundness and limits**: a beginning is left out if all instances that it could complete are already covered.

use super::graph::StepKinds;
use crate::instance::Instance;
use crate::matching::{Awaited, Candidates, Partial, Step, Threads, Trie};
use crate::universe::AccessId;
use cssame_explore::StepGraph;
use cssame_vm::PathId;
use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;

pub(super) type Numbers = SmallVec<[u32; 2]>;

/// Stands for no beginning.
pub(super) const NONE: u32 = u32::MAX;

/// See the module.
pub(super) struct Beginnings<'a> {
    trie: &'a Trie,
    graph: &'a StepGraph<Step>,
    kinds: &'a StepKinds,
    first: AccessId,
    /// The instances that no step has completed.
    pub open: Candidates,
    /// Those that some step has.
    pub covered: Vec<Instance>,
    partials: IndexSet<Partial, FxBuildHasher>,
    waiting: FxHashMap<Awaited, Vec<u32>>,
    /// By kind of step and beginning: the beginnings that come of it; by kind alone: those that the step makes.
    after: FxHashMap<(u32, u32), Numbers>,
}

impl<'a> Beginnings<'a> {
    pub fn new(
        trie: &'a Trie,
        graph: &'a StepGraph<Step>,
        kinds: &'a StepKinds,
        first: AccessId,
        open: Candidates,
    ) -> Beginnings<'a> {
        Beginnings {
            trie,
            graph,
            kinds,
            first,
            open,
            covered: Vec::new(),
            partials: IndexSet::default(),
            waiting: FxHashMap::default(),
            after: FxHashMap::default(),
        }
    }

    pub fn bytes(&self) -> u64 {
        (self.partials.capacity() * (size_of::<Partial>() + 32) + self.after.capacity() * 32) as u64
    }

    /// Those that are there before the first step.
    pub fn at_first(&mut self) -> Numbers {
        self.steps_of(None, self.graph.beginning, &mut Threads::new(PathId(0)))
    }

    /// Those that wait for such an access.
    pub fn waiting(&self, awaited: Awaited) -> &[u32] {
        self.waiting.get(&awaited).map_or(&[], Vec::as_slice)
    }

    /// The beginnings that a step makes of one, or by itself.
    pub fn of_kind(&mut self, kind: u32, number: u32) -> Numbers {
        if let Some(known) = self.after.get(&(kind, number)) {
            return known.clone();
        }
        let Some((label, threads)) = self.kinds.get(kind) else { return Numbers::new() };
        let from = self.partials.get_index(number as usize).cloned();
        let found = self.steps_of(from, label, &mut threads.clone());
        self.after.insert((kind, number), found.clone());
        found
    }

    /// The beginnings behind a list of events: those that come of one that was there before, or, without, those that
    /// the events themselves make.
    fn steps_of(&mut self, from: Option<Partial>, label: u32, threads: &mut Threads) -> Numbers {
        let begins = from.is_none();
        let mut current: Vec<Partial> = from.into_iter().collect();
        let mut added = Vec::new();
        for step in self.graph.events(label) {
            let told = threads.step(step);
            for partial in &mut current {
                told.iter().for_each(|&one| partial.tell(self.trie, one));
                partial.extend(self.trie, step, &mut added);
            }
            if begins && matches!(step, Step::Access { access, .. } if *access == self.first) {
                Partial::begin(self.trie, step, &mut added);
            }
            for partial in added.drain(..) {
                if self.open.count(&partial.prefix()) == 0 {
                    continue;
                }
                if let Some(instance) = partial.instance(self.trie)
                    && self.open.remove(&instance)
                {
                    self.covered.push(instance);
                }
                current.push(partial);
            }
        }
        let mut numbers = Numbers::new();
        for partial in current {
            if self.open.count(&partial.prefix()) > 0 && !partial.is_hopeless(self.trie, &threads.alive) {
                numbers.push(self.number(partial));
            }
        }
        numbers
    }

    fn number(&mut self, partial: Partial) -> u32 {
        let waits = partial.waits(self.trie);
        let (number, is_new) = self.partials.insert_full(partial);
        if is_new {
            for awaited in waits {
                self.waiting.entry(awaited).or_default().push(number as u32);
            }
        }
        number as u32
    }
}
