//! Decides which instances of patterns some execution covers: the feasible total, which the paper leaves to future work.
//!
//! **Input**: a model, its universe, the instances to decide, and a budget. **Output**: the instances that some execution covers
//! (it may fail or deadlock, but is not discarded); on request, an execution that covers each of them.
//!
//! **Algorithm**: reachability on the graph of all steps.
//! 1. Make the graph ([`explore::steps`]). Its states do not record the past ([`graph`]).
//! 2. A beginning of a match is *possible* in a state if some walk to the state has it. If a beginning is possible where a step
//!    begins, then it is possible where the step leads, both unchanged and extended by the accesses of the step. The beginnings
//!    that the step itself creates are possible there too. This is a union over walks: a state has one set of beginnings, not one
//!    for each walk, since one walk suffices for an instance.
//! 3. Compute the least such sets for the instances of one first access at a time ([`pass`]). The sets are bit sets, so that they
//!    are small for any number of instances.
//! 4. Search for an execution that covers a given instance separately ([`mod@witness`]).
//!
//! **Soundness and limits**: exact if no bound was hit. Otherwise the instances found are feasible, and the others stay
//! undecided.

mod beginnings;
mod graph;
mod pass;
mod witness;

use super::instance::Instance;
use super::matching::Candidates;
use super::matching::{Meaning, Step, Trie};
use super::universe::{AccessId, Binding, Universe};
use cssame_budget::{Bound, Budget, Statistics};
use cssame_explore as explore;
use cssame_explore::StepGraph;
use cssame_model::Model;
use cssame_vm::Choice;
use graph::StepKinds;
use pass::Pass;
use std::collections::{BTreeMap, BTreeSet};
use witness::witness;

/// Words of sets that are looked at, at most: some ten seconds.
const MAX_WORK: u64 = 20_000_000_000;

/// Pairs of a state and a beginning that are looked at for all executions together, at most: some ten seconds.
const MAX_PAIRS: u64 = 100_000_000;

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

/// An execution, up to the last access of an instance that it covers.
#[derive(Clone, Debug)]
pub struct Witness {
    /// Its steps.
    pub steps: Vec<Choice>,
    /// What it covers of that which was missing, and no earlier one does.
    pub instances: BTreeSet<Instance>,
}

/// The steps of all executions of a program, as far as matches depend on them.
#[derive(Debug)]
pub struct Space {
    trie: Trie,
    graph: StepGraph<Step>,
    kinds: StepKinds,
}

impl Space {
    /// Searches all states.
    #[must_use]
    pub fn new(model: &Model, universe: &Universe, budget: &Budget<'_>) -> Space {
        let binding = Binding::new(universe, model.program());
        let mut meaning = Meaning::new(model.machine(), universe, &binding);
        let tell = |thread, at, event| Step::of_event(&mut meaning, thread, at, event);
        let graph = explore::steps(model.machine(), budget, tell);
        let kinds = StepKinds::new(&graph);
        Space { trie: Trie::new(), graph, kinds }
    }

    /// Decides which of the open instances some execution covers.
    #[must_use]
    pub fn feasible(&self, open: impl IntoIterator<Item = Instance>, budget: &Budget<'_>) -> Feasible {
        let mut groups: BTreeMap<AccessId, Vec<Instance>> = BTreeMap::new();
        for instance in open {
            if let Some(&first) = instance.accesses().first() {
                groups.entry(first).or_default().push(instance);
            }
        }
        let StepGraph { statistics, bound, .. } = self.graph;
        let mut found = Feasible { covered: Vec::new(), bound, statistics };
        let mut work = 0;
        for (first, instances) in groups {
            let mut pass = Pass::new(&self.trie, &self.graph, &self.kinds, first, Candidates::new(instances));
            let bound = pass.run(budget, MAX_WORK.saturating_sub(work));
            work += pass.work();
            found.covered.extend(pass.into_covered());
            if bound.is_some() {
                found.bound = found.bound.or(bound);
                break;
            }
        }
        found.covered.sort_unstable();
        found
    }

    /// Executions that cover these instances, as far as the bounds allow: each covers one that no earlier one covers. `covers`
    /// tells all that an execution covers.
    #[must_use]
    pub fn witnesses(
        &self,
        mut missing: BTreeSet<Instance>,
        covers: impl Fn(&[Choice]) -> Vec<Instance>,
        budget: &Budget<'_>,
    ) -> Vec<Witness> {
        let (mut found, mut left) = (Vec::new(), MAX_PAIRS);
        // Those of many accesses stand last, and their executions cover most of the others.
        while let Some(instance) = missing.pop_last() {
            let Some(steps) = witness(self, instance, &mut left, budget) else { continue };
            let others = covers(&steps).into_iter().filter(|other| missing.remove(other));
            let instances = std::iter::once(instance).chain(others.collect::<Vec<_>>()).collect();
            found.push(Witness { steps, instances });
        }
        found
    }
}
