//! The graph of the states that a search has met.
//!
//! A node is a state: the step by which it was reached first, and what became of it. The nodes with their first steps
//! are a tree of shortest schedules, so a schedule is kept as one node. Edges stand in the order in which the machine
//! lists the choices of a state, so that an edge names its choice by its place. States themselves are not kept.

use crate::explore::states::visited::Visited;
use crate::vm::{Choice, ThreadIndex};

/// The target of an edge that leads to a discarded execution.
pub(in crate::explore) const DISCARDED: u32 = u32::MAX;

/// What became of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::explore) enum NodeKind {
    /// Not expanded, because a bound was hit.
    Waiting,
    /// Expanded: all its edges are known.
    Expanded,
    /// All threads have ended.
    Finished,
    /// The program has failed.
    Failed,
    /// No thread can move, and some has not ended.
    Deadlock,
}

impl NodeKind {
    /// Whether an execution ends there.
    pub(in crate::explore) fn is_end(self) -> bool {
        matches!(self, NodeKind::Finished | NodeKind::Failed | NodeKind::Deadlock)
    }
}

#[derive(Clone, Copy, Debug)]
struct Node {
    parent: u32,
    alternative: u32,
    thread: u16,
    kind: NodeKind,
}

/// The states that were met.
#[derive(Default)]
pub(in crate::explore) struct Graph {
    nodes: Vec<Node>,
    /// By node: where its edges begin; grows as nodes are expanded.
    first_edge: Vec<u32>,
    edges: Vec<u32>,
    visited: Visited,
}

impl Graph {
    /// Number of nodes.
    pub(in crate::explore) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Memory that it takes. The table of fingerprints is grown by moving it: for a moment there are two.
    pub(in crate::explore) fn bytes(&self) -> u64 {
        let lists =
            self.nodes.capacity() * size_of::<Node>() + (self.first_edge.capacity() + self.edges.capacity()) * 4;
        (lists + self.visited.bytes()) as u64
    }

    /// The node of a fingerprint that is known.
    pub(in crate::explore) fn find(&self, fingerprint: u128) -> Option<u32> {
        self.visited.find(fingerprint)
    }

    /// The node of a fingerprint, and whether it is new.
    pub(in crate::explore) fn visit(
        &mut self,
        fingerprint: u128,
        parent: u32,
        choice: Choice,
        kind: NodeKind,
    ) -> (u32, bool) {
        let next = self.nodes.len() as u32;
        let node = self.visited.find_or_insert(fingerprint, next);
        if node == next {
            self.nodes.push(Node { parent, alternative: choice.alternative, thread: choice.thread.0, kind });
        }
        (node, node == next)
    }

    /// Begins the edges of a node; nodes are expanded in order.
    pub(in crate::explore) fn begin_edges(&mut self, node: u32) {
        self.first_edge.resize(node as usize + 1, self.edges.len() as u32);
    }

    /// Adds an edge to the node whose edges were begun last.
    pub(in crate::explore) fn add_edge(&mut self, target: u32) {
        self.edges.push(target);
    }

    /// Forgets the edges of the node whose edges were begun last: it was not expanded to its end.
    pub(in crate::explore) fn cancel_edges(&mut self, node: u32) {
        let start = self.first_edge.get(node as usize).map_or(self.edges.len(), |&start| start as usize);
        self.edges.truncate(start);
    }

    /// The targets of the edges of a node.
    pub(in crate::explore) fn edges(&self, node: u32) -> &[u32] {
        let end = self.edges.len() as u32;
        let start = self.first_edge.get(node as usize).copied().unwrap_or(end);
        let end = self.first_edge.get(node as usize + 1).copied().unwrap_or(end);
        &self.edges[start as usize..end as usize]
    }

    pub(in crate::explore) fn kind(&self, node: u32) -> NodeKind {
        self.nodes[node as usize].kind
    }

    pub(in crate::explore) fn set_kind(&mut self, node: u32, kind: NodeKind) {
        self.nodes[node as usize].kind = kind;
    }

    /// The first choice that leads from a node to another, if that is how the other was reached first.
    pub(in crate::explore) fn choice_to(&self, from: u32, to: u32) -> Option<Choice> {
        let Node { parent, alternative, thread, .. } = self.nodes[to as usize];
        (parent == from && to != 0).then_some(Choice { thread: ThreadIndex(thread), alternative })
    }

    /// The steps that have led to a node first.
    pub(in crate::explore) fn path_to(&self, node: u32) -> Vec<Choice> {
        let mut path = Vec::new();
        let mut at = node;
        // The first node is its own parent.
        while at != 0 {
            let Node { parent, alternative, thread, .. } = self.nodes[at as usize];
            path.push(Choice { thread: ThreadIndex(thread), alternative });
            at = parent;
        }
        path.reverse();
        path
    }

    /// Whether no state leads back to itself; of a graph whose states are all expanded.
    pub(in crate::explore) fn is_acyclic(&self) -> bool {
        let mut open = vec![0u32; self.len()];
        let targets = |node: u32| self.edges(node).iter().filter(|&&target| target != DISCARDED);
        (0..self.len() as u32).for_each(|node| targets(node).for_each(|&target| open[target as usize] += 1));
        let mut waiting: Vec<u32> = (0..self.len() as u32).filter(|&node| open[node as usize] == 0).collect();
        let mut taken = 0;
        while let Some(node) = waiting.pop() {
            taken += 1;
            for &target in targets(node) {
                open[target as usize] -= 1;
                if open[target as usize] == 0 {
                    waiting.push(target);
                }
            }
        }
        taken == self.len()
    }

    /// All edges turned round: for every node the nodes that lead to it.
    pub(in crate::explore) fn reversed(&self) -> Reversed {
        let mut first = vec![0u32; self.len() + 1];
        for &target in &self.edges {
            if target != DISCARDED {
                first[target as usize + 1] += 1;
            }
        }
        for index in 1..first.len() {
            first[index] += first[index - 1];
        }
        let mut sources = vec![0u32; first.last().map_or(0, |&count| count as usize)];
        let mut next = first.clone();
        for node in 0..self.len() as u32 {
            for &target in self.edges(node) {
                if target != DISCARDED {
                    let place = &mut next[target as usize];
                    sources[*place as usize] = node;
                    *place += 1;
                }
            }
        }
        Reversed { first, sources }
    }
}

/// Edges turned round.
pub(in crate::explore) struct Reversed {
    first: Vec<u32>,
    sources: Vec<u32>,
}

impl Reversed {
    /// The nodes that lead to a node, once for each edge.
    pub(in crate::explore) fn sources(&self, node: u32) -> &[u32] {
        &self.sources[self.first[node as usize] as usize..self.first[node as usize + 1] as usize]
    }
}
