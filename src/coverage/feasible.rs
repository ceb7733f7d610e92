//! Which instances of patterns some execution covers: the feasible total, which the paper leaves to future work.
//!
//! **Input**: a model, its universe, which instances are to be decided, and a budget. **Output**: those of them that some
//! execution covers, which is not discarded; it may fail or deadlock.
//!
//! **Algorithm**: reachability on the graph of all steps, for all instances at once.
//! 1. Make the graph ([`explore::steps`]): its states know nothing of the past.
//! 2. A beginning of a match is *possible* in a state if some walk to the state has it. A beginning that is possible where
//!    a step begins, extended by the accesses of the step or not, is possible where the step leads; so are the
//!    beginnings that the step itself makes. This is a union over walks: a state has one set of beginnings, not
//!    one for each walk, since an instance needs one walk alone. Work through pairs of a state and a beginning until
//!    there is no new one.
//! 3. What a step makes of a beginning depends on neither states nor walks, and is computed once.
//! 4. Beginnings that lead to no instance that is still open are left out.
//!
//! **Soundness and limits**: exact if no bound was hit; else what is found is feasible, and nothing is said of the rest.

use super::instance::Instance;
use super::matching::{Meaning, NodeId, Partial, Step, Threads, Trie};
use super::pattern::MAX_LETTERS;
use super::universe::{AccessId, Binding, Universe};
use crate::budget::{Bound, Budget, Statistics};
use crate::explore::{self, StepGraph};
use crate::model::Model;
use crate::vm::PathId;
use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// Pairs of a state and a beginning that are worked through at most.
const MAX_PAIRS: usize = 50_000_000;

/// What some execution covers.
#[derive(Clone, Debug)]
pub struct Feasible {
    /// Those of the open instances that some execution covers, in order.
    pub covered: Vec<Instance>,
    /// The bound that was hit; `None` if no execution covers the others.
    pub bound: Option<Bound>,
    /// How much was visited.
    pub statistics: Statistics,
}

/// Decides which of the open instances some execution covers.
#[must_use]
pub fn feasible(
    model: &Model,
    universe: &Universe,
    open: impl IntoIterator<Item = Instance>,
    budget: &Budget<'_>,
) -> Feasible {
    let trie = Trie::new();
    let open = Open::new(&trie, open);
    if open.instances.is_empty() {
        return Feasible { covered: Vec::new(), bound: None, statistics: Statistics::default() };
    }
    let binding = Binding::new(universe, model.program());
    let mut meaning = Meaning::new(model.machine(), universe, &binding);
    let tell = |thread, at, event| Step::of_event(&mut meaning, thread, at, event);
    let graph = explore::steps(model.machine(), budget, tell);
    let statistics = graph.statistics;
    let mut walks = Walks::new(&trie, &graph, open);
    let bound = graph.bound.or(walks.run(budget));
    let mut covered: Vec<Instance> = walks.covered.into_iter().collect();
    covered.sort_unstable();
    Feasible { covered, bound, statistics }
}

/// The first accesses of an instance.
type Prefix = (NodeId, [AccessId; MAX_LETTERS]);

/// The instances that are not decided, and how many of them begin in each way.
struct Open {
    instances: FxHashSet<Instance>,
    beginnings: FxHashMap<Prefix, u32>,
}

impl Open {
    fn new(trie: &Trie, instances: impl IntoIterator<Item = Instance>) -> Open {
        let instances: FxHashSet<Instance> = instances.into_iter().collect();
        let mut beginnings: FxHashMap<Prefix, u32> = FxHashMap::default();
        for instance in &instances {
            for prefix in prefixes(trie, instance) {
                *beginnings.entry(prefix).or_default() += 1;
            }
        }
        Open { instances, beginnings }
    }

    /// Whether an open instance begins, or ends, so.
    fn has(&self, partial: &Partial) -> bool {
        self.beginnings.get(&partial.prefix()).is_some_and(|&count| count > 0)
    }

    /// Takes an instance out; whether it was in.
    fn close(&mut self, trie: &Trie, instance: &Instance) -> bool {
        let was_open = self.instances.remove(instance);
        if was_open {
            for prefix in prefixes(trie, instance) {
                if let Some(count) = self.beginnings.get_mut(&prefix) {
                    *count -= 1;
                }
            }
        }
        was_open
    }
}

fn prefixes<'t>(trie: &'t Trie, instance: &Instance) -> impl Iterator<Item = Prefix> + use<'t> {
    let instance = *instance;
    (1..=instance.accesses().len()).map(move |length| {
        let mut steps = [AccessId(0); MAX_LETTERS];
        steps[..length].copy_from_slice(&instance.accesses()[..length]);
        (trie.behind(instance.pattern, length), steps)
    })
}

/// The walks of a graph.
struct Walks<'a> {
    trie: &'a Trie,
    graph: &'a StepGraph<Step>,
    open: Open,
    /// By step: its events together with the threads that there are where it begins, as a number.
    kinds: Vec<u32>,
    kind_of: IndexSet<(u32, Threads), FxBuildHasher>,
    partials: IndexSet<Partial, FxBuildHasher>,
    /// What steps make of beginnings.
    after: FxHashMap<(u32, u32), SmallVec<[u32; 2]>>,
    /// Pairs of a state and a beginning that are known.
    known: FxHashSet<(u32, u32)>,
    work: Vec<(u32, u32)>,
    covered: FxHashSet<Instance>,
}

impl<'a> Walks<'a> {
    fn new(trie: &'a Trie, graph: &'a StepGraph<Step>, open: Open) -> Walks<'a> {
        let mut walks = Walks {
            trie,
            graph,
            open,
            kinds: Vec::new(),
            kind_of: IndexSet::default(),
            partials: IndexSet::default(),
            after: FxHashMap::default(),
            known: FxHashSet::default(),
            work: Vec::new(),
            covered: FxHashSet::default(),
        };
        walks.find_threads();
        walks
    }

    /// Which threads there are in each state: any walk tells, for states that differ in it differ.
    fn find_threads(&mut self) {
        let mut threads: Vec<Option<Threads>> = vec![None; self.graph.states()];
        let mut first = Threads::new(PathId(0));
        for step in self.graph.events(self.graph.beginning) {
            first.step(step);
        }
        if let Some(state) = threads.first_mut() {
            *state = Some(first);
        }
        self.kinds = vec![0; self.graph.edges().len()];
        let mut work = vec![0u32];
        while let Some(state) = work.pop() {
            for place in self.graph.edges_of(state) {
                let edge = self.graph.edges()[place];
                let Some(before) = threads[state as usize].clone() else { continue };
                if threads[edge.to as usize].is_none() {
                    let mut after = before.clone();
                    for step in self.graph.events(edge.label) {
                        after.step(step);
                    }
                    threads[edge.to as usize] = Some(after);
                    work.push(edge.to);
                }
                self.kinds[place] = self.kind_of.insert_full((edge.label, before)).0 as u32;
            }
        }
    }

    fn run(&mut self, budget: &Budget<'_>) -> Option<Bound> {
        let mut first = Threads::new(PathId(0));
        for number in self.steps_of(None, self.graph.beginning, &mut first) {
            self.reach(0, number);
        }
        for place in 0..self.graph.edges().len() {
            let made = self.made_by(place);
            for number in made {
                self.reach(self.graph.edges()[place].to, number);
            }
        }
        let mut done = 0u64;
        while let Some((state, number)) = self.work.pop() {
            done += 1;
            if done.is_multiple_of(4096)
                && let Some(bound) = budget.check().or_else(|| self.is_too_large(budget).then_some(Bound::Memory))
            {
                return Some(bound);
            }
            if !self.open.has(&self.partials[number as usize]) {
                continue;
            }
            for place in self.graph.edges_of(state) {
                let to = self.graph.edges()[place].to;
                for next in self.after(place, number) {
                    self.reach(to, next);
                }
            }
        }
        None
    }

    fn is_too_large(&self, budget: &Budget<'_>) -> bool {
        let pairs = self.known.capacity() * 9 + self.work.capacity() * 8;
        let partials = self.partials.capacity() * (size_of::<Partial>() + 16) + self.after.capacity() * 32;
        self.known.len() > MAX_PAIRS || budget.exceeds_memory((pairs + partials) as u64)
    }

    fn reach(&mut self, state: u32, number: u32) {
        if self.known.insert((state, number)) {
            self.work.push((state, number));
        }
    }

    /// The beginnings that a step makes.
    fn made_by(&mut self, place: usize) -> SmallVec<[u32; 2]> {
        let none = u32::MAX;
        self.of_kind(self.kinds[place], none)
    }

    /// What a step makes of a beginning.
    fn after(&mut self, place: usize, number: u32) -> SmallVec<[u32; 2]> {
        self.of_kind(self.kinds[place], number)
    }

    fn of_kind(&mut self, kind: u32, number: u32) -> SmallVec<[u32; 2]> {
        if let Some(known) = self.after.get(&(kind, number)) {
            return known.clone();
        }
        let Some((label, mut threads)) = self.kind_of.get_index(kind as usize).cloned() else { return SmallVec::new() };
        let from = self.partials.get_index(number as usize).cloned();
        let found = self.steps_of(from, label, &mut threads);
        self.after.insert((kind, number), found.clone());
        found
    }

    /// The beginnings behind a list of events: those that come of one that was there before, or, without, those that
    /// the events themselves make.
    fn steps_of(&mut self, from: Option<Partial>, label: u32, threads: &mut Threads) -> SmallVec<[u32; 2]> {
        let begins = from.is_none();
        let mut current: Vec<Partial> = from.into_iter().collect();
        let mut added = Vec::new();
        for step in self.graph.events(label) {
            let told = threads.step(step);
            for partial in &mut current {
                told.iter().for_each(|&one| partial.tell(self.trie, one));
                partial.extend(self.trie, step, &mut added);
            }
            if begins {
                Partial::begin(self.trie, step, &mut added);
            }
            for partial in added.drain(..) {
                if !self.open.has(&partial) {
                    continue;
                }
                if let Some(instance) = partial.instance(self.trie)
                    && self.open.close(self.trie, &instance)
                {
                    self.covered.insert(instance);
                }
                current.push(partial);
            }
        }
        let is_useful = |partial: &Partial| self.open.has(partial) && !partial.is_hopeless(self.trie, &threads.alive);
        let useful: Vec<Partial> = current.into_iter().filter(is_useful).collect();
        useful.into_iter().map(|partial| self.partials.insert_full(partial).0 as u32).collect()
    }
}
