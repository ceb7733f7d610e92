//! Random flow graphs with accesses, for property tests.
//!
//! In: a range of sizes. Out: proptest strategies. Any shape comes up: loops with several entries, blocks without way in
//! or out, equal edges, edges back to the entry.

use cssame::ssa::{AccessKind, Accesses, Graph};
use proptest::collection::vec;
use proptest::prelude::*;

/// A graph and what its blocks access.
#[derive(Clone, Debug)]
pub struct Flow {
    /// The successors of each node.
    pub successors: Vec<Vec<u32>>,
    /// The accesses of each node.
    pub accesses: Vec<Vec<(u32, AccessKind)>>,
    /// Number of variables.
    pub variables: u32,
}

impl Flow {
    /// The graph.
    pub fn graph(&self) -> Graph {
        let mut edges = Vec::new();
        for (node, targets) in self.successors.iter().enumerate() {
            edges.extend(targets.iter().map(|&target| (node as u32, target)));
        }
        Graph::from_edges(self.successors.len(), &edges)
    }

    /// The accesses.
    pub fn accesses(&self) -> Accesses {
        let mut result = Accesses::new();
        for block in &self.accesses {
            for &(variable, kind) in block {
                result.push(variable, kind);
            }
            result.end_block();
        }
        result
    }
}

/// Successors of up to `most` nodes.
pub fn successors(most: usize) -> impl Strategy<Value = Vec<Vec<u32>>> {
    (1..=most).prop_flat_map(|count| {
        let anywhere = vec(0..count as u32, 0..4);
        // Mostly forward and near, as programs are, so that depth comes about.
        let near = vec(-2_i64..4, 1..3);
        vec((anywhere, near, 0..3_u8), count).prop_map(move |nodes| {
            let node = |(index, (anywhere, near, choice)): (usize, (Vec<u32>, Vec<i64>, u8))| {
                let near = near.into_iter().map(|step| (index as i64 + step).clamp(0, count as i64 - 1) as u32);
                if choice == 0 { anywhere } else { near.collect() }
            };
            nodes.into_iter().enumerate().map(node).collect()
        })
    })
}

/// A graph of up to `most` nodes with accesses to a few variables.
pub fn flow(most: usize) -> impl Strategy<Value = Flow> {
    let kind = prop_oneof![Just(AccessKind::Use), Just(AccessKind::Definition), Just(AccessKind::WeakDefinition)];
    (successors(most), 1..5_u32).prop_flat_map(move |(successors, variables)| {
        let accesses = vec(vec((0..variables, kind.clone()), 0..4), successors.len());
        accesses.prop_map(move |accesses| Flow { successors: successors.clone(), accesses, variables })
    })
}
