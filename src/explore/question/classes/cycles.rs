//! Whether the classes of a program have an end.
//!
//! **Input**: a machine, and who may move. **Output**: whether a cycle of states can be reached in which some step
//! performs an operation.
//!
//! **Algorithm**: a search through states, without what their threads have done. It notes for each edge whether an
//! operation belongs to it. Two states are in a cycle if they are in one strongly connected component (Tarjan 1972, without
//! recursion); an edge within a component lies on a cycle.
//!
//! **Soundness and limits**: whoever goes round such a cycle once more has performed more operations, so executions, or
//! their beginnings where they have no end, differ in them without an end. A cycle that was found is one even where a
//! bound has cut the search; only a whole search shows that there is none. States that have no end without a cycle, such
//! as those of a counter that only grows, are cut by a bound.

use super::course::Course;
use super::operations::Operations;
use super::scope::Scope;
use crate::budget::{Bound, Budget, Statistics};
use crate::explore::states::graph::{DISCARDED, Graph};
use crate::explore::states::{self, EndContext, Transition, Visitor};
use crate::vm::{Choice, CodeIndex, Event, Machine, Observer, Tables, ThreadName};
use fixedbitset::FixedBitSet;
use std::ops::ControlFlow;

/// What is known of cycles.
pub(super) struct Cycles {
    /// A cycle with an operation was found.
    pub(super) with_operation: bool,
    /// The bound that was hit: there may be others.
    pub(super) bound: Option<Bound>,
    pub(super) statistics: Statistics,
}

/// Looks for cycles with an operation.
pub(super) fn find_cycles(
    machine: &Machine,
    tables: &Tables,
    (operations, scope): (&Operations, &Scope),
    budget: &Budget<'_>,
) -> Cycles {
    let mut marks = Marks { operations, edges: FixedBitSet::new(), count: 0, now: false };
    let course = Course::new(operations, scope, None);
    let searched = states::search_with_names(machine, tables.clone(), budget, course, &mut marks);
    let with_operation = marks.edges.count_ones(..) > 0 && has_marked_cycle(&searched.graph, &marks.edges);
    Cycles { with_operation, bound: searched.bound, statistics: searched.statistics }
}

/// Notes which edges perform an operation, in the order of edges.
struct Marks<'a> {
    operations: &'a Operations,
    edges: FixedBitSet,
    count: usize,
    now: bool,
}

impl Marks<'_> {
    fn edge(&mut self) {
        if self.now {
            self.edges.grow_and_insert(self.count);
        }
        self.count += 1;
    }
}

impl Observer for Marks<'_> {
    fn event(&mut self, _: ThreadName, _: CodeIndex, event: Event) {
        if let Event::Read { cell, shared: true, .. } | Event::Write { cell, shared: true, .. } = event {
            self.now |= self.operations.contains(cell);
        }
    }
}

impl Visitor<Course<'_>> for Marks<'_> {
    fn begin(&mut self) {
        self.now = false;
    }

    fn bytes(&self) -> u64 {
        (self.edges.len() / 8) as u64
    }

    fn transition(&mut self, transition: &Transition) {
        // The beginning is no edge.
        if transition.choice.is_some() {
            self.edge();
        }
    }

    fn discarded(&mut self, _: u32, _: Choice) {
        self.edge();
    }

    fn end(&mut self, _: &EndContext<'_, Course<'_>>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Not met yet.
const NEW: u32 = u32::MAX;

/// Whether a marked edge lies within a strongly connected component.
fn has_marked_cycle(graph: &Graph, marked: &FixedBitSet) -> bool {
    let component = components(graph);
    let mut edge = 0;
    let mut found = false;
    graph.each_edge(|node, target| {
        let is_inside = target != DISCARDED && component[target as usize] == component[node as usize];
        found |= is_inside && marked.contains(edge);
        edge += 1;
    });
    found
}

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
