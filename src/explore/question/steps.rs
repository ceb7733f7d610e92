//! All steps of all executions, as a graph.
//!
//! **Input**: a machine, the function that selects the relevant data of an event, and a budget. **Output**: a [`StepGraph`]: the
//! states, the steps between them, and for each step the relevant events, in order.
//!
//! **Algorithm**: a search through all states without memory of the past: outputs and last writers are ignored. Equal lists of
//! events are stored once. If executions may be discarded, only those steps are kept that lead to a state from which some
//! execution continues without being discarded.
//!
//! **Soundness and limits**: if no bound was hit, the walks of the graph from its first state are the beginnings of the
//! executions that are not discarded, including endless ones. Threads and cells have the same names on all of them.

use crate::states::assumption::{Unexpanded, lasting_states};
use crate::states::{self, EndContext, Monitor, Transition, Visitor};
use cssame_budget::{Bound, Budget, Statistics};
use cssame_vm::{Choice, CodeIndex, Event, Machine, Observer, State, ThreadName};
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use std::hash::Hash;
use std::ops::{ControlFlow, Range};

/// A step from a state to a state, both by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepEdge {
    /// Where it begins.
    pub from: u32,
    /// Where it leads.
    pub to: u32,
    /// What happens: a number for [`StepGraph::events`].
    pub label: u32,
    /// Which step of its state it is.
    pub choice: Choice,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct StepGraph<E> {
    /// By the state where they begin.
    edges: Vec<StepEdge>,
    /// By state: where its edges begin, and one more.
    first: Vec<u32>,
    labels: IndexSet<Vec<E>, FxBuildHasher>,
    /// What happens before the first step, as a number for [`StepGraph::events`].
    pub beginning: u32,
    /// The bound that was hit; `None` if every state was visited.
    pub bound: Option<Bound>,
    /// How much was visited.
    pub statistics: Statistics,
}

impl<E> StepGraph<E> {
    /// Number of states; 0 is the first one.
    #[must_use]
    pub fn states(&self) -> usize {
        self.first.len() - 1
    }

    /// All steps, by the state where they begin.
    #[must_use]
    pub fn edges(&self) -> &[StepEdge] {
        &self.edges
    }

    /// The steps of a state, as places in [`StepGraph::edges`].
    #[must_use]
    pub fn edges_of(&self, state: u32) -> Range<usize> {
        self.first[state as usize] as usize..self.first[state as usize + 1] as usize
    }

    /// The events of a step, in order.
    #[must_use]
    pub fn events(&self, label: u32) -> &[E] {
        self.labels.get_index(label as usize).map_or(&[], Vec::as_slice)
    }
}

/// Searches all states; `tell` gives what is to be known of an event, if anything.
pub fn steps<E: Hash + Eq>(
    machine: &Machine,
    budget: &Budget<'_>,
    tell: impl FnMut(ThreadName, CodeIndex, Event) -> Option<E>,
) -> StepGraph<E> {
    let mut recorder =
        Recorder { tell, current: Vec::new(), labels: IndexSet::default(), edges: Vec::new(), beginning: 0, kept: 0 };
    let searched = states::search(machine, budget, Forgetful, &mut recorder);
    let Recorder { labels, mut edges, beginning, .. } = recorder;
    if machine.may_discard() {
        let lasting = lasting_states(&searched.graph, Unexpanded::Lost);
        edges.retain(|edge| lasting.contains(edge.to as usize));
    }
    // States are expanded in the order of their numbers; to sort would take room.
    debug_assert!(edges.is_sorted_by_key(|edge| edge.from));
    let states = searched.graph.len();
    let mut first = vec![0u32; states + 1];
    for edge in &edges {
        first[edge.from as usize + 1] += 1;
    }
    for state in 0..states {
        first[state + 1] += first[state];
    }
    StepGraph { edges, first, labels, beginning, bound: searched.bound, statistics: searched.statistics }
}

/// Remembers nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Forgetful;

impl Observer for Forgetful {
    const ACTIVE: bool = false;
    const DETAILS: bool = false;

    fn event(&mut self, _: ThreadName, _: CodeIndex, _: Event) {}
}

impl Monitor for Forgetful {
    type Note = ();

    const REMEMBERS: bool = false;

    fn encode(&self, _: &mut Vec<u64>) {}

    fn decode(&mut self, _: &[u64]) {}

    fn settle(&mut self, _: &Machine, state: &mut State) {
        state.forget_past();
    }
}

/// Keeps the steps.
struct Recorder<E, F> {
    tell: F,
    /// Events of the step that is being done.
    current: Vec<E>,
    labels: IndexSet<Vec<E>, FxBuildHasher>,
    edges: Vec<StepEdge>,
    beginning: u32,
    /// Events that are kept.
    kept: usize,
}

impl<E: Hash + Eq, F: FnMut(ThreadName, CodeIndex, Event) -> Option<E>> Recorder<E, F> {
    fn label(&mut self) -> u32 {
        let current = std::mem::take(&mut self.current);
        let length = current.len();
        let (number, is_new) = self.labels.insert_full(current);
        self.kept += if is_new { length } else { 0 };
        number as u32
    }
}

impl<E: Hash + Eq, F: FnMut(ThreadName, CodeIndex, Event) -> Option<E>> Visitor<Forgetful> for Recorder<E, F> {
    const ACTIVE: bool = true;
    const DETAILS: bool = true;

    fn begin(&mut self) {
        self.current.clear();
    }

    fn event(&mut self, thread: ThreadName, at: CodeIndex, event: Event) {
        self.current.extend((self.tell)(thread, at, event));
    }

    fn transition(&mut self, &Transition { from, choice, to }: &Transition, _: &[()]) {
        let label = self.label();
        match choice {
            Some(choice) => self.edges.push(StepEdge { from, to, label, choice }),
            None => self.beginning = label,
        }
    }

    fn discarded(&mut self, _: u32, _: Choice) {
        self.current.clear();
    }

    fn bytes(&self) -> u64 {
        let lists = self.labels.capacity() * (size_of::<Vec<E>>() + 2 * size_of::<usize>());
        (self.edges.capacity() * size_of::<StepEdge>() + lists + self.kept * size_of::<E>()) as u64
    }

    fn end(&mut self, _: &EndContext<'_, Forgetful>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cssame_budget::Limits;
    use cssame_model::{Model, Options};

    fn model(text: &str) -> Model {
        Model::from_text("test.csm", text, &Options::default()).expect("it compiles")
    }

    fn writes(text: &str, budget: &Budget<'_>) -> StepGraph<i64> {
        steps(model(text).machine(), budget, |_, _, event| match event {
            Event::Write { value, shared: true, .. } => Some(value),
            _ => None,
        })
    }

    #[test]
    fn the_walks_are_the_executions() {
        let graph = writes("int x; cobegin A: x = 1; B: x = 2; coend", &Budget::unlimited());
        let mut orders = std::collections::BTreeSet::new();
        let mut work = vec![(0u32, Vec::new())];
        while let Some((state, done)) = work.pop() {
            let edges = graph.edges_of(state);
            if edges.is_empty() {
                orders.insert(done);
                continue;
            }
            for edge in &graph.edges()[edges] {
                let mut longer = done.clone();
                longer.extend_from_slice(graph.events(edge.label));
                work.push((edge.to, longer));
            }
        }
        assert_eq!(orders.into_iter().collect::<Vec<_>>(), [vec![1, 2], vec![2, 1]]);
        assert_eq!(graph.bound, None);
    }

    #[test]
    fn discarded_executions_are_left_out() {
        let text = "int x; cobegin A: { x = 1; assume(x == 1); } B: x = 2; coend";
        let graph = writes(text, &Budget::unlimited());
        // After 1 and then 2 the assumption fails, unless x was read before.
        let leads = |edge: &&StepEdge| !graph.events(edge.label).is_empty();
        assert!(graph.edges().iter().filter(leads).count() >= 3);
        let ends = (0..graph.states() as u32).filter(|&state| graph.edges_of(state).is_empty()).count();
        assert!(ends >= 1);
    }

    #[test]
    fn a_bound_is_told() {
        let limits = Limits { max_states: Some(2), ..Limits::default() };
        let graph = writes("int x; cobegin A: x = 1; B: x = 2; coend", &Budget::from(limits));
        assert_eq!(graph.bound, Some(Bound::States));
    }
}
