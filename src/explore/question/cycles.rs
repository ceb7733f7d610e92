//! Steps of a search that lie on a cycle of states.
//!
//! **Input**: a search through states, and the relevant events. **Output**: whether a step with such an event lies on a cycle.
//!
//! **Algorithm**: each edge records whether such an event belongs to it. Two states are on a cycle if they are in one strongly
//! connected component (Tarjan 1972, without recursion); an edge within a component lies on a cycle.
//!
//! **Soundness and limits**: a cycle that was found exists even if a bound has cut the search; only a complete search shows that
//! there is none.

use crate::states::graph::{DISCARDED, Graph};
use crate::states::{EndContext, Monitor, Transition, Visitor};
use cssame_vm::{Choice, CodeIndex, Event, ThreadName};
use fixedbitset::FixedBitSet;
use std::ops::ControlFlow;

/// Notes which edges have an event that counts, in the order of edges.
pub struct MarkedSteps<F> {
    counts: F,
    edges: FixedBitSet,
    /// Edges so far.
    length: usize,
    /// Whether the step that goes on has one.
    now: bool,
}

impl<F: Fn(Event) -> bool> MarkedSteps<F> {
    /// Before the first step.
    pub fn new(counts: F) -> MarkedSteps<F> {
        MarkedSteps { counts, edges: FixedBitSet::new(), length: 0, now: false }
    }

    /// Whether a step that was noted lies on a cycle of states that are asked for. Of the states of a cycle all have to be, or none.
    pub fn are_on_cycle(&self, graph: &Graph, asked: &dyn Fn(u32) -> bool) -> bool {
        if self.edges.is_clear() {
            return false;
        }
        let component = components(graph);
        let mut edge = 0;
        let mut found = false;
        graph.each_edge(|node, target| {
            let is_inside = target != DISCARDED && component[target as usize] == component[node as usize];
            found |= is_inside && self.edges.contains(edge) && asked(node);
            edge += 1;
        });
        found
    }

    fn edge(&mut self) {
        if self.now {
            self.edges.grow_and_insert(self.length);
        }
        self.length += 1;
    }
}

impl<G: Monitor, F: Fn(Event) -> bool> Visitor<G> for MarkedSteps<F> {
    const ACTIVE: bool = true;
    const DETAILS: bool = true;

    fn begin(&mut self) {
        self.now = false;
    }

    fn event(&mut self, _: ThreadName, _: CodeIndex, event: Event) {
        self.now |= (self.counts)(event);
    }

    fn bytes(&self) -> u64 {
        (self.edges.len() / 8) as u64
    }

    fn transition(&mut self, transition: &Transition, _: &[G::Note]) {
        // The beginning is no edge.
        if transition.choice.is_some() {
            self.edge();
        }
    }

    fn discarded(&mut self, _: u32, _: Choice) {
        self.edge();
    }

    fn end(&mut self, _: &EndContext<'_, G>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Not met yet.
const NEW: u32 = u32::MAX;

/// By node: the number of its strongly connected component.
fn components(graph: &Graph) -> Vec<u32> {
    let (count, edges) = (graph.len(), graph.edge_lists());
    let (mut order, mut low) = (vec![NEW; count], vec![NEW; count]);
    let mut component = vec![NEW; count];
    let (mut met, mut closed) = (0, 0);
    let mut open: Vec<u32> = Vec::new();
    // A node, and how many of its edges were followed.
    let mut path: Vec<(u32, usize)> = Vec::new();
    for root in 0..count as u32 {
        if order[root as usize] != NEW {
            continue;
        }
        path.push((root, 0));
        while let Some(&(node, done)) = path.last() {
            let at = node as usize;
            if done == 0 && order[at] == NEW {
                (order[at], low[at]) = (met, met);
                met += 1;
                open.push(node);
            }
            if let Some(&target) = edges.of(node).get(done) {
                if let Some(last) = path.last_mut() {
                    last.1 += 1;
                }
                if target == DISCARDED {
                    continue;
                }
                if order[target as usize] == NEW {
                    path.push((target, 0));
                } else if component[target as usize] == NEW {
                    low[at] = low[at].min(order[target as usize]);
                }
                continue;
            }
            path.pop();
            if let Some(&(parent, _)) = path.last() {
                low[parent as usize] = low[parent as usize].min(low[at]);
            }
            if low[at] == order[at] {
                while let Some(member) = open.pop() {
                    component[member as usize] = closed;
                    if member == node {
                        break;
                    }
                }
                closed += 1;
            }
        }
    }
    component
}
