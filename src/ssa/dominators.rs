//! Dominators, the dominator tree and dominance frontiers.
//!
//! **Input**: a [`Graph`]. **Output**: for each node that the entry reaches, its immediate dominator, its position in the
//! dominator tree (so that [`Dominators::dominates`] is two comparisons) and its dominance frontier.
//!
//! **Algorithm** (Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm", 2001)
//! 1. Intersect the dominators of the predecessors in reverse postorder until nothing changes, all in arrays that reverse
//!    postorder numbers index.
//! 2. One addition: a node with many predecessors marks the nodes that its intersections visit, so that no walk is repeated. A
//!    block with a million predecessors costs a million steps, not their square.
//! 3. Collect the frontiers from the join nodes upwards. They are sparse.
//!
//! **Soundness and limits**: nodes that the entry does not reach dominate nothing, nothing dominates them, and edges from them do
//! not count.

use super::graph::{Graph, rewind, row, starts_of};

/// No node, or no number.
const NONE: u32 = u32::MAX;

/// The dominator tree of a [`Graph`].
#[derive(Clone, Debug)]
pub struct Dominators {
    order: Vec<u32>,
    ranks: Vec<u32>,
    immediate: Vec<u32>,
    tree: Vec<u32>,
    first: Vec<u32>,
    last: Vec<u32>,
}

impl Dominators {
    /// The dominators of a graph. Deterministic; linear in the size of a reducible graph in practice.
    #[must_use]
    pub fn new(graph: &Graph) -> Dominators {
        let order = reverse_postorder(graph);
        let mut ranks = vec![NONE; graph.node_count()];
        for (rank, &node) in order.iter().enumerate() {
            ranks[node as usize] = rank as u32;
        }
        let immediate_ranks = immediate_dominators(graph, &order, &ranks);
        let mut immediate = vec![NONE; graph.node_count()];
        for (&node, &dominator) in order.iter().zip(&immediate_ranks).skip(1) {
            immediate[node as usize] = order[dominator as usize];
        }
        let mut dominators =
            Dominators { order, ranks, immediate, tree: Vec::new(), first: Vec::new(), last: Vec::new() };
        dominators.number_tree(&immediate_ranks);
        dominators
    }

    /// Preorder numbers of the tree, children in reverse postorder: a parent comes before its children in that order,
    /// so that one pass backwards gives the sizes of the subtrees and one forwards the numbers.
    fn number_tree(&mut self, immediate_ranks: &[u32]) {
        let mut sizes = vec![1_u32; self.order.len()];
        for rank in (1..self.order.len()).rev() {
            sizes[immediate_ranks[rank] as usize] += sizes[rank];
        }
        self.first = vec![NONE; self.ranks.len()];
        self.last = vec![NONE; self.ranks.len()];
        self.tree = vec![0; self.order.len()];
        let mut next = vec![0_u32; self.order.len()];
        for rank in 0..self.order.len() {
            let parent = immediate_ranks[rank] as usize;
            let number = if rank == 0 { 0 } else { next[parent] };
            let node = self.order[rank];
            next[parent] += sizes[rank];
            next[rank] = number + 1;
            self.first[node as usize] = number;
            self.last[node as usize] = number + sizes[rank] - 1;
            self.tree[number as usize] = node;
        }
    }

    /// Whether the entry reaches the node.
    #[must_use]
    pub fn is_reachable(&self, node: u32) -> bool {
        self.ranks[node as usize] != NONE
    }

    /// The immediate dominator; `None` for the entry and for a node that it does not reach
    /// ([`Dominators::is_reachable`] tells them apart).
    #[must_use]
    pub fn immediate_dominator(&self, node: u32) -> Option<u32> {
        Some(self.immediate[node as usize]).filter(|&dominator| dominator != NONE)
    }

    /// Whether every path from the entry to `b` goes through `a`; a node dominates itself. No where the entry does not
    /// reach one of them.
    #[must_use]
    pub fn dominates(&self, a: u32, b: u32) -> bool {
        let number = self.first[b as usize];
        number != NONE && self.first[a as usize] <= number && number <= self.last[a as usize] && self.is_reachable(a)
    }

    /// The nodes that the entry reaches, in reverse postorder.
    #[must_use]
    pub fn reverse_postorder(&self) -> &[u32] {
        &self.order
    }

    /// Place of a node in reverse postorder.
    #[must_use]
    pub fn rank(&self, node: u32) -> Option<u32> {
        Some(self.ranks[node as usize]).filter(|&rank| rank != NONE)
    }

    /// The nodes that the entry reaches, in preorder of the dominator tree; the children of a node stand in reverse
    /// postorder.
    #[must_use]
    pub fn tree_preorder(&self) -> &[u32] {
        &self.tree
    }

    /// The first and the last place of the subtree of a node in [`Dominators::tree_preorder`].
    #[must_use]
    pub fn subtree(&self, node: u32) -> Option<(u32, u32)> {
        self.is_reachable(node).then(|| (self.first[node as usize], self.last[node as usize]))
    }

    /// The nodes that `node` immediately dominates, in reverse postorder.
    pub fn children(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let (mut next, last) = self.subtree(node).map_or((1, 0), |(first, last)| (first + 1, last));
        std::iter::from_fn(move || {
            let child = *self.tree[..=last as usize].get(next as usize)?;
            next = self.last[child as usize] + 1;
            Some(child)
        })
    }

    /// The dominance frontiers of all nodes.
    #[must_use]
    pub fn frontiers(&self, graph: &Graph) -> Frontiers {
        let mut pairs = Vec::new();
        let mut newest = vec![NONE; graph.node_count()];
        for &join in &self.order {
            let predecessors = graph.predecessors(join);
            // The entry has one more way in, from outside.
            if predecessors.len() < 2 && join != 0 {
                continue;
            }
            let stop = self.immediate[join as usize];
            for &predecessor in predecessors.iter().filter(|&&node| self.is_reachable(node)) {
                let mut runner = predecessor;
                while runner != stop && newest[runner as usize] != join {
                    newest[runner as usize] = join;
                    pairs.push((runner, join));
                    runner = self.immediate[runner as usize];
                    if runner == NONE {
                        break;
                    }
                }
            }
        }
        Frontiers::from_pairs(graph.node_count(), &pairs)
    }
}

/// The dominance frontier of every node: where its dominance ends.
#[derive(Clone, Debug)]
pub struct Frontiers {
    starts: Vec<u32>,
    nodes: Vec<u32>,
}

impl Frontiers {
    fn from_pairs(node_count: usize, pairs: &[(u32, u32)]) -> Frontiers {
        let mut starts = starts_of(node_count, pairs.iter().map(|&(node, _)| node));
        let mut nodes = vec![0; pairs.len()];
        for &(node, join) in pairs {
            nodes[starts[node as usize] as usize] = join;
            starts[node as usize] += 1;
        }
        rewind(&mut starts);
        Frontiers { starts, nodes }
    }

    /// The nodes that `node` does not strictly dominate, but of which it dominates a predecessor; in reverse postorder.
    #[must_use]
    pub fn of(&self, node: u32) -> &[u32] {
        &self.nodes[row(&self.starts, node)]
    }
}

/// The nodes that node 0 reaches, in reverse postorder; of two successors the first comes first where it can.
#[must_use]
pub fn reverse_postorder(graph: &Graph) -> Vec<u32> {
    let mut order = Vec::with_capacity(graph.node_count());
    if graph.node_count() == 0 {
        return order;
    }
    let mut seen = vec![false; graph.node_count()];
    seen[0] = true;
    // A node and the number of its successors that are still to be visited, from the last to the first.
    let mut stack = vec![(0_u32, graph.successors(0).len())];
    while let Some((node, left)) = stack.last_mut() {
        if *left == 0 {
            order.push(*node);
            stack.pop();
            continue;
        }
        *left -= 1;
        let target = graph.successors(*node)[*left];
        if !std::mem::replace(&mut seen[target as usize], true) {
            stack.push((target, graph.successors(target).len()));
        }
    }
    order.reverse();
    order
}

/// For each place of the reverse postorder, the place of its immediate dominator; that of the entry is the entry.
fn immediate_dominators(graph: &Graph, order: &[u32], ranks: &[u32]) -> Vec<u32> {
    let mut immediate = vec![NONE; order.len()];
    let mut marks = Marks { stamps: vec![0; order.len()], current: 0 };
    if let Some(entry) = immediate.first_mut() {
        *entry = 0;
    }
    loop {
        let (mut changed, mut cyclic) = (false, false);
        for (rank, &node) in order.iter().enumerate().skip(1) {
            let predecessors = graph.predecessors(node);
            let mut meet = NONE;
            marks.begin();
            for &predecessor in predecessors {
                let other = ranks[predecessor as usize];
                cyclic |= other != NONE && other as usize >= rank;
                if other == NONE || immediate[other as usize] == NONE {
                    continue;
                }
                meet = if meet == NONE { other } else { marks.meet(&immediate, meet, other) };
            }
            changed |= immediate[rank] != meet;
            immediate[rank] = meet;
        }
        // Without an edge backwards, all predecessors were final when they were met.
        if !changed || !cyclic {
            return immediate;
        }
    }
}

/// The nodes that the meets of one node have walked over. From each of them the tree leads up to the result so far.
struct Marks {
    stamps: Vec<u32>,
    current: u32,
}

impl Marks {
    fn begin(&mut self) {
        self.current = self.current.wrapping_add(1);
        if self.current == 0 {
            self.stamps.fill(0);
            self.current = 1;
        }
    }

    /// The nearest common ancestor of `meet`, the result so far, and `other`.
    fn meet(&mut self, immediate: &[u32], mut meet: u32, mut other: u32) -> u32 {
        while meet != other {
            if other > meet {
                if std::mem::replace(&mut self.stamps[other as usize], self.current) == self.current {
                    return meet;
                }
                other = immediate[other as usize];
            } else {
                self.stamps[meet as usize] = self.current;
                meet = immediate[meet as usize];
            }
        }
        meet
    }
}
