//! The unfolded graph and all relations over it.
//!
//! **Input**: the program and its [`Unfolding`]. **Output**: [`Concurrency`].
//!
//! **Algorithm**
//! 1. Build blocks, events and edges ([`super::builder`]).
//! 2. Find the live regions of child threads, the locals that are one variable for all threads, and the order imposed by barriers
//!    and signals. This order adds value-flow edges.
//! 3. Compute dominators of the value flow, and move the marker of each merge of all branches up to a position where it dominates
//!    the merge.
//! 4. Partition the blocks into classes of equal parallelism, and find the shared memory.

use super::builder::GraphBuilder;
use super::context::Unfolding;
use super::{Concurrency, live_region, order, sharing, unique};
use cssame_ir::Program;
use cssame_ssa::dominators::Dominators;
use cssame_ssa::graph::Graph;

/// Builds the graph and all relations.
pub(super) fn build(program: &Program, unfolding: Unfolding) -> Concurrency {
    let mut builder = GraphBuilder::new(program, unfolding);
    builder.add_blocks();
    let local = Graph::from_edges(builder.blocks.len(), &builder.local_edges);
    builder.wire_joins(&local);
    finish(builder, local)
}

fn finish(mut builder: GraphBuilder<'_>, local: Graph) -> Concurrency {
    let program = builder.program;
    unique::find_single_memory(&mut builder, &local);
    let regions = live_region::find_regions(&mut builder, &local);
    unique::find_unique(&mut builder, &local);
    let order = order::find_order(&mut builder, &local);
    // Barriers add blocks where their rounds meet.
    let local = if builder.blocks.len() == local.node_count() {
        local
    } else {
        Graph::from_edges(builder.blocks.len(), &builder.local_edges)
    };
    let flow = Graph::from_edges(builder.blocks.len(), &builder.flow_edges);
    let dominators = Dominators::new(&flow);
    for join in &mut builder.and_joins {
        // The fork of a `parfor` stands in a loop that the graph lets control pass by.
        while !parts_before(&dominators, join.marker, join.block) {
            match dominators.immediate_dominator(join.marker) {
                Some(above) => join.marker = above,
                None => break,
            }
        }
    }
    let mut concurrency = Concurrency {
        contexts: builder.unfolding.contexts,
        threads: builder.unfolding.threads,
        instances: builder.unfolding.instances,
        locations: builder.locations,
        blocks: builder.blocks,
        events: builder.events,
        operands: builder.operands,
        local,
        flow,
        dominators,
        forks: builder.forks,
        and_joins: builder.and_joins,
        joined: builder.joined,
        sharing: sharing::Sharing::default(),
        classes: Vec::new(),
        rows: builder.rows,
        row_list: builder.row_list,
        order,
        regions,
        merged: builder.unfolding.merged,
    };
    order::classify(&mut concurrency);
    concurrency.sharing = sharing::find_shared(program, &concurrency);
    concurrency
}

fn parts_before(dominators: &Dominators, marker: u32, block: u32) -> bool {
    marker == 0 || dominators.dominates(marker, block)
}
