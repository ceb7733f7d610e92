//! The graph of the states that a search has visited.
//!
//! A node is a state: the step by which it was reached first, and its status. The nodes with their first steps are a tree of
//! shortest schedules, so a schedule is kept as one node. Edges are in the order in which the machine lists the choices of a
//! state, so that the position of an edge determines its choice, unless there was reduction. The states themselves are not kept.

use super::chunks::Chunks;
pub use super::edges::DISCARDED;
use super::edges::{EdgeLists, Edges};
use super::reversed::Reversed;
use super::visited::Visited;
use cssame_vm::{Choice, ThreadIndex};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Nodes among which a cycle is looked for before all edges are.
const NEAR: usize = 1 << 10;

/// What became of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
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
    pub fn is_end(self) -> bool {
        matches!(self, NodeKind::Finished | NodeKind::Failed | NodeKind::Deadlock)
    }
}

/// A node: the one that it was reached from first, by which choice, and what became of it.
#[derive(Clone, Copy, Debug)]
struct Node {
    parent: u32,
    /// From the lowest bit on: the kind, the thread of the choice, and its alternative where that is small, else [`WIDE`].
    packed: u32,
}

const KIND_BITS: u32 = 3;
const THREAD_BITS: u32 = 16;

/// Stands for an alternative that is kept apart.
const WIDE: u32 = (1 << (32 - KIND_BITS - THREAD_BITS)) - 1;

const KINDS: [NodeKind; 5] =
    [NodeKind::Waiting, NodeKind::Expanded, NodeKind::Finished, NodeKind::Failed, NodeKind::Deadlock];

/// The states that were met.
#[derive(Default)]
pub struct Graph {
    nodes: Chunks<Node>,
    /// By node: the alternatives that a node has no room for.
    wide: FxHashMap<u32, u32>,
    edges: Edges,
    has_no_edges: bool,
    /// Whether some states have edges for one thread alone.
    is_reduced: bool,
    visited: Visited,
}

impl Graph {
    /// A graph whose edges nobody asks for: none are kept.
    pub(crate) fn without_edges() -> Graph {
        Graph { has_no_edges: true, ..Graph::default() }
    }

    /// From now on states may have edges for one thread alone, or those of one thread before all others.
    pub(crate) fn set_reduced(&mut self) {
        self.is_reduced = true;
    }

    /// Whether the place of an edge does not name its choice.
    pub(crate) fn is_reduced(&self) -> bool {
        self.is_reduced
    }

    /// Number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Memory that it takes.
    pub(crate) fn bytes(&self) -> u64 {
        let wide = self.wide.capacity() * (size_of::<(u32, u32)>() + 1);
        self.nodes.bytes() + wide as u64 + self.edges.bytes() + self.visited.bytes()
    }

    /// Memory that it takes to follow the edges backwards when the search is over, and to measure ways.
    pub(crate) fn bytes_of_ways(&self) -> u64 {
        // Two places in lists, and two distances, for each node; the source of each edge.
        if self.has_no_edges { 0 } else { self.len() as u64 * 24 + self.edges.count() * 4 }
    }

    /// The node of a fingerprint that is known.
    pub(crate) fn find(&self, fingerprint: u128) -> Option<u32> {
        self.visited.find(fingerprint)
    }

    /// The fingerprints.
    pub(crate) fn visited(&self) -> &Visited {
        &self.visited
    }

    /// The node of a fingerprint, and whether it is new.
    pub(crate) fn visit(&mut self, fingerprint: u128, parent: u32, choice: Choice, kind: NodeKind) -> (u32, bool) {
        let next = self.nodes.len() as u32;
        let node = self.visited.find_or_insert(fingerprint, next);
        if node == next {
            self.add_node(parent, choice, kind);
        }
        (node, node == next)
    }

    /// Adds another way to a state that is known; it ends in a node of its own, which stands for no further state.
    pub(crate) fn add_way(&mut self, parent: u32, choice: Choice) -> u32 {
        self.add_node(parent, choice, NodeKind::Expanded);
        self.nodes.len() as u32 - 1
    }

    fn add_node(&mut self, parent: u32, choice: Choice, kind: NodeKind) {
        if choice.alternative >= WIDE {
            self.wide.insert(self.nodes.len() as u32, choice.alternative);
        }
        let choice = choice.alternative.min(WIDE) << THREAD_BITS | u32::from(choice.thread.0);
        self.nodes.push(Node { parent, packed: choice << KIND_BITS | kind as u32 });
    }

    /// Begins the edges of a node; nodes are expanded in order.
    pub(crate) fn begin_edges(&mut self, node: u32) {
        if !self.has_no_edges {
            self.edges.begin(node);
        }
    }

    /// Adds an edge to the node whose edges were begun last.
    pub(crate) fn add_edge(&mut self, target: u32) {
        self.edges.add(target);
    }

    /// Forgets the edges of the node whose edges were begun last: it was not expanded to its end.
    pub(crate) fn cancel_edges(&mut self, node: u32) {
        self.edges.cancel(node);
    }

    /// The targets of the edges of a node.
    pub(crate) fn edges(&self, node: u32) -> SmallVec<[u32; 8]> {
        self.edges.of(node)
    }

    /// Tells of all edges, those that lead to discarded executions included, in the order of the nodes that they come from.
    pub fn each_edge(&self, tell: impl FnMut(u32, u32)) {
        self.edges.each(tell);
    }

    /// All edges, for whoever follows them.
    pub(crate) fn edge_lists(&self) -> EdgeLists {
        EdgeLists::new(&self.edges, self.len())
    }

    /// What became of a node.
    pub fn kind(&self, node: u32) -> NodeKind {
        KINDS[(self.nodes.get(node as usize).packed & ((1 << KIND_BITS) - 1)) as usize]
    }

    pub(crate) fn set_kind(&mut self, node: u32, kind: NodeKind) {
        let Node { parent, packed } = self.nodes.get(node as usize);
        self.nodes.set(node as usize, Node { parent, packed: packed >> KIND_BITS << KIND_BITS | kind as u32 });
    }

    /// The node that one was reached from first, and by which choice.
    fn parent(&self, node: u32) -> (u32, Choice) {
        let Node { parent, packed } = self.nodes.get(node as usize);
        let choice = packed >> KIND_BITS;
        let alternative = match choice >> THREAD_BITS {
            WIDE => self.wide.get(&node).copied().unwrap_or(WIDE),
            narrow => narrow,
        };
        (parent, Choice { thread: ThreadIndex(choice as u16), alternative })
    }

    /// The first choice that leads from a node to another, if that is how the other was reached first.
    pub fn choice_to(&self, from: u32, to: u32) -> Option<Choice> {
        let (parent, choice) = self.parent(to);
        (parent == from && to != 0).then_some(choice)
    }

    /// The steps that have led to a node first.
    pub fn path_to(&self, node: u32) -> Vec<Choice> {
        let mut path = Vec::new();
        let mut at = node;
        // The first node is its own parent.
        while at != 0 {
            let (parent, choice) = self.parent(at);
            path.push(choice);
            at = parent;
        }
        path.reverse();
        path
    }

    /// Whether no state leads back to itself; of a graph whose states are all expanded.
    pub fn is_acyclic(&self) -> bool {
        // Where all edges lead to later nodes there is no cycle, and if there is one, some edge that leads back is part of it.
        let Some(back) = self.edges.back() else { return true };
        if self.has_cycle_behind(back) {
            return false;
        }
        let mut open = vec![0u32; self.len()];
        self.each_edge(|_, target| {
            if target != DISCARDED {
                open[target as usize] += 1;
            }
        });
        let lists = self.edge_lists();
        let mut waiting: Vec<u32> = (0..self.len() as u32).filter(|&node| open[node as usize] == 0).collect();
        let mut taken = 0;
        while let Some(node) = waiting.pop() {
            taken += 1;
            for &target in lists.of(node).iter().filter(|&&target| target != DISCARDED) {
                open[target as usize] -= 1;
                if open[target as usize] == 0 {
                    waiting.push(target);
                }
            }
        }
        taken == self.len()
    }

    /// Whether a cycle is found behind a node, among the [`NEAR`] nodes that are looked at first, the last edge of each before the others.
    fn has_cycle_behind(&self, node: u32) -> bool {
        // By node that was looked at: whether its edges are not all done, so that it leads to the one that is looked at now.
        let mut leads_here = FxHashMap::from_iter([(node, true)]);
        let mut open = vec![(node, self.edges(node))];
        while leads_here.len() < NEAR
            && let Some((node, edges)) = open.last_mut()
        {
            match edges.pop() {
                None => {
                    leads_here.insert(*node, false);
                    open.pop();
                }
                Some(DISCARDED) => {}
                Some(target) => match leads_here.get(&target) {
                    Some(true) => return true,
                    Some(false) => {}
                    None => {
                        leads_here.insert(target, true);
                        open.push((target, self.edges(target)));
                    }
                },
            }
        }
        false
    }

    /// All edges turned round: for every node the nodes that lead to it.
    pub(crate) fn reversed(&self) -> Reversed {
        Reversed::new(self.len(), |tell| {
            self.each_edge(|from, target| {
                if target != DISCARDED {
                    tell(from, target);
                }
            });
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_are_found_near_and_far() {
        let choice = Choice { thread: ThreadIndex(0), alternative: 0 };
        let line = |len: u32, back: &[(u32, u32)]| {
            let mut graph = Graph::default();
            (0..len)
                .for_each(|node| _ = graph.visit(u128::from(node), node.saturating_sub(1), choice, NodeKind::Expanded));
            for node in 0..len {
                graph.begin_edges(node);
                let behind = (node + 1 < len).then_some(node + 1);
                let back = back.iter().filter(|edge| edge.0 == node).map(|edge| edge.1);
                behind.into_iter().chain(back).for_each(|target| graph.add_edge(target));
            }
            graph.is_acyclic()
        };
        let far = 3 * NEAR as u32;
        assert!(line(far, &[]));
        assert!(!line(10, &[(5, 5)]) && !line(10, &[(9, 0)]) && !line(far, &[(far - 1, 0)]));
        // The first edge that leads back is a cycle, far from the first node.
        assert!(!line(far, &[(far / 2, far / 2), (far - 1, far - 2)]));
    }

    #[test]
    fn back_edges_alone_are_no_cycle() {
        let choice = Choice { thread: ThreadIndex(0), alternative: 0 };
        let mut graph = Graph::default();
        (0..4).for_each(|node| _ = graph.visit(node, 0, choice, NodeKind::Expanded));
        for (node, targets) in [(0, vec![1, 2, 3]), (2, vec![1]), (3, vec![2, DISCARDED])] {
            graph.begin_edges(node);
            targets.into_iter().for_each(|target| graph.add_edge(target));
        }
        assert_eq!(graph.edges.back(), Some(1));
        assert!(graph.is_acyclic());
    }

    #[test]
    fn a_choice_from_many_is_kept_whole() {
        let mut graph = Graph::default();
        let choice = |thread, alternative| Choice { thread: ThreadIndex(thread), alternative };
        let choices = [choice(0, 0), choice(u16::MAX, WIDE - 1), choice(7, WIDE), choice(u16::MAX, u32::MAX)];
        for (node, &choice) in choices.iter().enumerate() {
            let parent = node.saturating_sub(1) as u32;
            assert_eq!(graph.visit(node as u128, parent, choice, NodeKind::Failed), (node as u32, true));
            graph.set_kind(node as u32, NodeKind::Deadlock);
        }
        assert_eq!(graph.path_to(3), choices[1..]);
        assert_eq!((graph.choice_to(1, 2), graph.choice_to(0, 2)), (Some(choices[2]), None));
        assert!((0..4).all(|node| graph.kind(node) == NodeKind::Deadlock));
    }
}
