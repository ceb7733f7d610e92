//! Computes which beginnings of matches are possible in which states, for the instances of one first access.
//!
//! **Input**: the graph of all steps, and the instances. **Output**: the instances that some walk covers.
//!
//! **Algorithm**: each beginning has a number, and each state has a set of bits. States are processed in reverse postorder, and
//! again when their set has grown, until no set grows. A repeated visit looks only at the new beginnings (semi-naive evaluation).
//! A step that only accesses memory keeps all beginnings, so its set is added as whole words. Only the beginnings that wait for
//! this access are examined one by one ([`Beginnings`]).
//!
//! **Soundness and limits**: the pass ends as soon as all instances are covered.

use super::beginnings::{Beginnings, NONE};
use super::graph::StepKinds;
use crate::instance::Instance;
use crate::matching::{Candidates, Step, Trie};
use crate::universe::AccessId;
use cssame_budget::{Bound, Budget};
use cssame_explore::StepGraph;
use fixedbitset::FixedBitSet;

/// Words between two looks at the bounds: sets may grow by as many.
const LOOK: u64 = 1 << 18;

/// What it takes to look at one beginning, in words.
const WORK_FOR_ONE: u64 = 16;

/// See the module.
pub(super) struct Pass<'a> {
    graph: &'a StepGraph<Step>,
    kinds: &'a StepKinds,
    beginnings: Beginnings<'a>,
    /// By state: the beginnings that are possible, and those that its steps were followed with.
    rows: Vec<Vec<u64>>,
    followed: Vec<Vec<u64>>,
    /// By place in the order: whether a state is to be worked through.
    dirty: FixedBitSet,
    work: u64,
    words: u64,
}

impl<'a> Pass<'a> {
    pub fn new(
        trie: &'a Trie,
        graph: &'a StepGraph<Step>,
        kinds: &'a StepKinds,
        first: AccessId,
        open: Candidates,
    ) -> Pass<'a> {
        Pass {
            graph,
            kinds,
            beginnings: Beginnings::new(trie, graph, kinds, first, open),
            rows: vec![Vec::new(); graph.states()],
            followed: vec![Vec::new(); graph.states()],
            dirty: FixedBitSet::with_capacity(kinds.order.len()),
            work: 0,
            words: 0,
        }
    }

    /// Words that were looked at.
    pub fn work(&self) -> u64 {
        self.work
    }

    /// The instances that some walk covers.
    pub fn into_covered(self) -> Vec<Instance> {
        self.beginnings.covered
    }

    /// Works until nothing changes, or the bound that is hit.
    pub fn run(&mut self, budget: &Budget<'_>, max_work: u64) -> Option<Bound> {
        for number in self.beginnings.at_first() {
            self.set(0, number);
        }
        self.begin();
        let mut looked = 0;
        while let Some(place) = self.dirty.minimum() {
            self.dirty.set(place, false);
            self.expand(self.kinds.order[place]);
            if self.beginnings.open.is_empty() {
                return None;
            }
            if self.work - looked >= LOOK {
                looked = self.work;
                if self.work > max_work {
                    return Some(Bound::Executions);
                }
                if budget.exceeds_memory(self.bytes()) {
                    return Some(Bound::Memory);
                }
                if let Some(bound) = budget.check() {
                    return Some(bound);
                }
            }
        }
        None
    }

    fn bytes(&self) -> u64 {
        2 * 8 * self.words + self.beginnings.bytes()
    }

    /// The states that a step leads to which makes the first access.
    fn begin(&mut self) {
        for place in 0..self.graph.edges().len() {
            let edge = self.graph.edges()[place];
            if self.kinds.places[edge.from as usize].is_none() {
                continue;
            }
            for number in self.beginnings.of_kind(self.kinds.of(place), NONE) {
                self.set(edge.to, number);
            }
        }
    }

    /// A beginning is possible in a state.
    fn set(&mut self, state: u32, number: u32) {
        let (word, bit) = ((number / 64) as usize, 1u64 << (number % 64));
        let row = &mut self.rows[state as usize];
        if row.len() <= word {
            self.words += (word + 1 - row.len()) as u64;
            row.resize(word + 1, 0);
        }
        if row[word] & bit == 0 {
            row[word] |= bit;
            self.touch(state);
        }
    }

    fn touch(&mut self, state: u32) {
        if let Some(place) = self.kinds.places[state as usize] {
            self.dirty.insert(place as usize);
        }
    }

    /// Follows the steps of a state with the beginnings that were not possible there before.
    fn expand(&mut self, state: u32) {
        let row = self.take_new(state);
        for place in self.graph.edges_of(state) {
            let (to, kind) = (self.graph.edges()[place].to, self.kinds.of(place));
            let Some((label, _)) = self.kinds.get(kind) else { continue };
            match self.graph.events(label) {
                [] => self.keep_all(state, to, &row),
                [step @ Step::Access { .. }] => {
                    let step = *step;
                    self.keep_all(state, to, &row);
                    self.access(kind, to, &row, &step);
                }
                _ => {
                    for number in ones(&row) {
                        for next in self.beginnings.of_kind(kind, number) {
                            self.set(to, next);
                        }
                        self.work += WORK_FOR_ONE;
                    }
                }
            }
            self.work += 1 + row.len() as u64;
        }
    }

    /// The beginnings that the steps of a state were not followed with so far.
    fn take_new(&mut self, state: u32) -> Vec<u64> {
        let (row, followed) = (&self.rows[state as usize], &mut self.followed[state as usize]);
        followed.resize(row.len(), 0);
        let new = row.iter().zip(followed.iter()).map(|(row, followed)| row & !followed).collect();
        followed.copy_from_slice(row);
        new
    }

    /// All beginnings are possible there as well.
    fn keep_all(&mut self, state: u32, to: u32, row: &[u64]) {
        if state == to {
            return;
        }
        let other = &mut self.rows[to as usize];
        if other.len() < row.len() {
            self.words += (row.len() - other.len()) as u64;
            other.resize(row.len(), 0);
        }
        let mut changed = false;
        for (other, &own) in other.iter_mut().zip(row) {
            changed |= own & !*other != 0;
            *other |= own;
        }
        if changed {
            self.touch(to);
        }
    }

    /// What an access makes of the beginnings that wait for it.
    fn access(&mut self, kind: u32, to: u32, row: &[u64], step: &Step) {
        let Step::Access { thread, cell, .. } = *step else { return };
        let mut waiting: Vec<u32> = Vec::new();
        for awaited in [(Some(thread), Some(cell)), (Some(thread), None), (None, Some(cell)), (None, None)] {
            waiting.extend(self.beginnings.waiting(awaited).iter().filter(|&&number| has(row, number)));
        }
        self.work += WORK_FOR_ONE * waiting.len() as u64;
        for number in waiting {
            for next in self.beginnings.of_kind(kind, number) {
                self.set(to, next);
            }
        }
    }
}

fn has(row: &[u64], number: u32) -> bool {
    row.get((number / 64) as usize).is_some_and(|word| word >> (number % 64) & 1 == 1)
}

fn ones(row: &[u64]) -> impl Iterator<Item = u32> + '_ {
    row.iter().enumerate().flat_map(|(place, &word)| {
        let mut left = word;
        std::iter::from_fn(move || {
            (left != 0).then(|| {
                let bit = left.trailing_zeros();
                left &= left - 1;
                place as u32 * 64 + bit
            })
        })
    })
}
