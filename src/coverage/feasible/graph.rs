//! The effects of the steps of a graph, independent of the walk that leads to them.
//!
//! **Input**: the graph of all steps. **Output**: [`StepKinds`]: the kind of each step, which consists of its events and the
//! threads that exist where it begins; and an order of the states in which most steps lead forward.
//!
//! **Soundness and limits**: every walk to a state yields the same threads, since states with different threads are different
//! states.

use crate::matching::{Step, Threads};
use cssame_explore::StepGraph;
use cssame_vm::PathId;
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

/// See the module.
#[derive(Debug)]
pub(super) struct StepKinds {
    /// By step.
    of_edge: Vec<u32>,
    /// The events of a kind, by number in the graph, and the threads before, by number.
    list: IndexSet<(u32, u32), FxBuildHasher>,
    /// The sets of threads, each once: there are few, and one is larger than what else is known of a state.
    threads: IndexSet<Threads, FxBuildHasher>,
    /// The states in reverse postorder.
    pub order: Vec<u32>,
    /// By state: its place in the order; none for one that no walk comes to.
    pub places: Vec<Option<u32>>,
}

impl StepKinds {
    pub fn new(graph: &StepGraph<Step>) -> StepKinds {
        let mut kinds = StepKinds {
            of_edge: vec![0; graph.edges().len()],
            list: IndexSet::default(),
            threads: IndexSet::default(),
            order: Vec::new(),
            places: vec![None; graph.states()],
        };
        kinds.number(graph);
        kinds.sort(graph);
        kinds
    }

    /// Finds the threads of each state, and numbers the kinds of its steps.
    fn number(&mut self, graph: &StepGraph<Step>) {
        const UNKNOWN: u32 = u32::MAX;
        let mut of_state = vec![UNKNOWN; graph.states()];
        let mut work = Vec::new();
        if let Some(first) = of_state.first_mut() {
            *first = self.threads.insert_full(StepKinds::threads_at_first(graph)).0 as u32;
            work.push(0u32);
        }
        while let Some(state) = work.pop() {
            let before = of_state[state as usize];
            for place in graph.edges_of(state) {
                let edge = graph.edges()[place];
                if of_state[edge.to as usize] == UNKNOWN {
                    of_state[edge.to as usize] = self.threads_behind(before, graph.events(edge.label));
                    work.push(edge.to);
                }
                self.of_edge[place] = self.list.insert_full((edge.label, before)).0 as u32;
            }
        }
    }

    /// The threads that there are behind some events, by those before.
    fn threads_behind(&mut self, before: u32, events: &[Step]) -> u32 {
        if events.iter().all(|step| matches!(step, Step::Access { .. })) {
            return before;
        }
        let mut threads = self.threads.get_index(before as usize).cloned().unwrap_or_default();
        for step in events {
            threads.step(step);
        }
        self.threads.insert_full(threads).0 as u32
    }

    /// The threads that there are in the first state.
    pub fn threads_at_first(graph: &StepGraph<Step>) -> Threads {
        let mut threads = Threads::new(PathId(0));
        for step in graph.events(graph.beginning) {
            threads.step(step);
        }
        threads
    }

    /// Depth-first, without recursion.
    fn sort(&mut self, graph: &StepGraph<Step>) {
        let mut seen = vec![false; graph.states()];
        let mut stack: Vec<(u32, usize)> = Vec::new();
        if let Some(first) = seen.first_mut() {
            *first = true;
            stack.push((0, graph.edges_of(0).start));
        }
        while let Some((state, next)) = stack.last_mut() {
            if *next < graph.edges_of(*state).end {
                let to = graph.edges()[*next].to;
                *next += 1;
                if !std::mem::replace(&mut seen[to as usize], true) {
                    stack.push((to, graph.edges_of(to).start));
                }
            } else {
                self.order.push(*state);
                stack.pop();
            }
        }
        self.order.reverse();
        for (place, &state) in self.order.iter().enumerate() {
            self.places[state as usize] = Some(place as u32);
        }
    }

    /// The kind of a step.
    pub fn of(&self, edge: usize) -> u32 {
        self.of_edge[edge]
    }

    /// Its events, by their number in the graph, and the threads that there are before.
    pub fn get(&self, kind: u32) -> Option<(u32, &Threads)> {
        let &(label, threads) = self.list.get_index(kind as usize)?;
        Some((label, self.threads.get_index(threads as usize)?))
    }
}
