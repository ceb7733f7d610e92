//! Flow graphs as flat arrays.
//!
//! **Input**: edges between nodes `0..count`. **Output**: the successors and the predecessors of each node as slices of two
//! arrays (compressed rows), built by counting sort. Node 0 is the entry. Equal edges are kept separate: a branch with equal
//! targets is two edges, and a phi function has an argument for each.

use std::ops::Range;

/// A directed graph; node 0 is the entry.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    successor_starts: Vec<u32>,
    successors: Vec<u32>,
    predecessor_starts: Vec<u32>,
    predecessors: Vec<u32>,
    /// For each entry of `successors`, where its edge stands in `predecessors`.
    slots: Vec<u32>,
}

impl Graph {
    /// The graph of nodes `0..node_count` with those edges. Both ends of each must be below `node_count`. The successors
    /// of a node stand in the order of `edges`.
    #[must_use]
    pub fn from_edges(node_count: usize, edges: &[(u32, u32)]) -> Graph {
        let mut successor_starts = starts_of(node_count, edges.iter().map(|&(from, _)| from));
        let mut successors = vec![0; edges.len()];
        for &(from, to) in edges {
            let next = &mut successor_starts[from as usize];
            successors[*next as usize] = to;
            *next += 1;
        }
        rewind(&mut successor_starts);
        Graph::from_rows(successor_starts, successors)
    }

    /// The graph in which the successors of node `i` are `successors[starts[i]..starts[i + 1]]`; `starts` has one entry
    /// more than there are nodes.
    #[must_use]
    pub fn from_rows(starts: Vec<u32>, successors: Vec<u32>) -> Graph {
        let node_count = starts.len().saturating_sub(1);
        let mut predecessor_starts = starts_of(node_count, successors.iter().copied());
        let mut predecessors = vec![0; successors.len()];
        let mut slots = vec![0; successors.len()];
        for node in 0..node_count {
            for edge in starts[node] as usize..starts[node + 1] as usize {
                let next = &mut predecessor_starts[successors[edge] as usize];
                predecessors[*next as usize] = node as u32;
                slots[edge] = *next;
                *next += 1;
            }
        }
        rewind(&mut predecessor_starts);
        Graph { successor_starts: starts, successors, predecessor_starts, predecessors, slots }
    }

    /// Number of nodes.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.successor_starts.len().saturating_sub(1)
    }

    /// Number of edges.
    #[must_use]
    pub fn edge_count(&self) -> usize {
        self.successors.len()
    }

    /// Where the edges from `node` lead to, in order.
    #[must_use]
    pub fn successors(&self, node: u32) -> &[u32] {
        &self.successors[row(&self.successor_starts, node)]
    }

    /// Where the edges to `node` come from: by rising number, then in the order of the successors.
    #[must_use]
    pub fn predecessors(&self, node: u32) -> &[u32] {
        &self.predecessors[row(&self.predecessor_starts, node)]
    }

    /// For each successor of `node`, which one of the successor's predecessors this edge is.
    pub fn edges(&self, node: u32) -> impl Iterator<Item = (u32, usize)> + '_ {
        row(&self.successor_starts, node).map(|edge| {
            let target = self.successors[edge];
            (target, (self.slots[edge] - self.predecessor_starts[target as usize]) as usize)
        })
    }
}

/// The range of the entries of `node`.
pub(super) fn row(starts: &[u32], node: u32) -> Range<usize> {
    starts[node as usize] as usize..starts[node as usize + 1] as usize
}

/// Where the entries of each key begin when entries are sorted by key; one entry more than there are keys.
pub(super) fn starts_of(key_count: usize, keys: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut starts = vec![0_u32; key_count + 1];
    for key in keys {
        starts[key as usize + 1] += 1;
    }
    for key in 0..key_count {
        starts[key + 1] += starts[key];
    }
    starts
}

/// Undoes the advance of `starts` by a counting sort that has placed all entries.
pub(super) fn rewind(starts: &mut [u32]) {
    for key in (1..starts.len()).rev() {
        starts[key] = starts[key - 1];
    }
    if let Some(first) = starts.first_mut() {
        *first = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_directions_agree_and_equal_edges_are_kept() {
        let graph = Graph::from_edges(3, &[(0, 1), (2, 1), (0, 1), (1, 2), (0, 2)]);
        assert_eq!(graph.successors(0), [1, 1, 2]);
        assert_eq!(graph.predecessors(1), [0, 0, 2]);
        assert_eq!(graph.predecessors(2), [0, 1]);
        assert_eq!(graph.edges(0).collect::<Vec<_>>(), [(1, 0), (1, 1), (2, 0)]);
        assert_eq!(graph.edges(2).collect::<Vec<_>>(), [(1, 2)]);
        assert_eq!((graph.node_count(), graph.edge_count()), (3, 5));
    }

    #[test]
    fn a_graph_without_nodes() {
        assert_eq!(Graph::from_edges(0, &[]).node_count(), 0);
        assert_eq!(Graph::default().node_count(), 0);
    }
}
