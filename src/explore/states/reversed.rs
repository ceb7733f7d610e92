//! The reversed edges of a graph.
//!
//! **Input**: the edges between numbered nodes. **Output**: for every node, its predecessors; for a set, the nodes that lead to
//! some member in any number of steps.

use fixedbitset::FixedBitSet;

/// Edges turned round.
pub(crate) struct Reversed {
    /// By node: where its sources begin; one more at the end.
    first: Vec<usize>,
    sources: Vec<u32>,
}

impl Reversed {
    /// Turns round edges between so many nodes. `each_edge` tells all edges, from one node to another, whenever it is called.
    pub(crate) fn new(nodes: usize, each_edge: impl Fn(&mut dyn FnMut(u32, u32))) -> Reversed {
        let mut first = vec![0usize; nodes + 1];
        each_edge(&mut |_, target| first[target as usize + 1] += 1);
        for index in 1..first.len() {
            first[index] += first[index - 1];
        }
        let mut sources = vec![0u32; first.last().copied().unwrap_or(0)];
        let mut next = first.clone();
        each_edge(&mut |from, target| {
            let place = &mut next[target as usize];
            sources[*place] = from;
            *place += 1;
        });
        Reversed { first, sources }
    }

    /// The nodes that lead to a node, once for each edge.
    pub(crate) fn sources(&self, node: u32) -> &[u32] {
        &self.sources[self.first[node as usize]..self.first[node as usize + 1]]
    }

    /// Marks the nodes that lead to one of those that wait.
    pub(crate) fn close(&self, marked: &mut FixedBitSet, mut waiting: Vec<u32>) {
        while let Some(node) = waiting.pop() {
            for &source in self.sources(node) {
                if !marked.put(source as usize) {
                    waiting.push(source);
                }
            }
        }
    }

    /// The nodes of a set, and those that lead to one of them.
    pub(crate) fn closure(&self, nodes: Vec<u32>) -> FixedBitSet {
        let mut marked = FixedBitSet::with_capacity(self.first.len() - 1);
        marked.extend(nodes.iter().map(|&node| node as usize));
        self.close(&mut marked, nodes);
        marked
    }
}
