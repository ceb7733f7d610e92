//! The facts about the unfolded program that do not depend on a selection.
//!
//! **Input**: the CSSAME form. **Output**: which blocks run at most once, reachability within a thread, dominance from the
//! beginning of the program, the joins that wait for a thread, and the mutex bodies that contain an event.

use super::Site;
use crate::Form;
use cssame_concurrency::mutex_body::{MutexBodies, MutexBody};
use cssame_concurrency::repetition::Repetitions;
use cssame_concurrency::{Concurrency, Event, EventKind, ThreadId};
use cssame_ir::Program;
use cssame_ssa::dominators::Dominators;
use cssame_ssa::graph::Graph;
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

pub(super) struct Facts<'a> {
    pub program: &'a Program,
    pub concurrency: &'a Concurrency,
    bodies: MutexBodies<'a>,
    /// Dominators of the local graph, with an edge from each fork to the threads that it makes.
    dominators: Dominators,
    reach: FxHashMap<u32, FixedBitSet>,
    repetitions: Repetitions<'a>,
}

impl<'a> Facts<'a> {
    pub fn new(program: &'a Program, form: &'a Form) -> Facts<'a> {
        let concurrency = &form.concurrency;
        let local = &concurrency.local;
        let mut edges: Vec<(u32, u32)> = Vec::new();
        for block in 0..local.node_count() as u32 {
            edges.extend(local.successors(block).iter().map(|&to| (block, to)));
        }
        for thread in concurrency.threads.iter().filter(|thread| thread.parent.is_some()) {
            edges.push((thread.fork, concurrency.contexts[thread.root].entry));
        }
        let dominators = Dominators::new(&Graph::from_edges(local.node_count(), &edges));
        let bodies = MutexBodies::new(program, concurrency, form.locksets.clone());
        let (reach, repetitions) = (FxHashMap::default(), concurrency.repetitions());
        Facts { program, concurrency, bodies, dominators, reach, repetitions }
    }

    pub fn event(&self, site: Site) -> &Event {
        &self.concurrency.events_of(site.block)[site.offset as usize]
    }

    pub fn thread(&self, site: Site) -> ThreadId {
        self.concurrency.thread_of(site.block)
    }

    /// The sites of a block.
    pub fn sites(&self, block: u32) -> impl Iterator<Item = Site> + use<> {
        (0..self.concurrency.events_of(block).len() as u32).map(move |offset| Site { block, offset })
    }

    /// The blocks that are certainly passed before a block, itself left out.
    pub fn dominators_of(&self, block: u32) -> Vec<u32> {
        let mut found = Vec::new();
        let mut at = block;
        while let Some(above) = self.dominators.immediate_dominator(at) {
            found.push(above);
            at = above;
        }
        found
    }

    pub fn dominates(&self, above: u32, below: u32) -> bool {
        self.dominators.dominates(above, below)
    }

    /// Whether control may come from behind one block to another within a thread.
    pub fn reaches(&mut self, from: u32, to: u32) -> bool {
        let local = &self.concurrency.local;
        let reach = self.reach.entry(from).or_insert_with(|| {
            let mut seen = FixedBitSet::with_capacity(local.node_count());
            let mut waiting = vec![from];
            while let Some(block) = waiting.pop() {
                for &next in local.successors(block) {
                    if !seen.put(next as usize) {
                        waiting.push(next);
                    }
                }
            }
            seen
        });
        reach.contains(to as usize)
    }

    /// Whether a block runs at most once in an execution.
    pub fn once(&mut self, block: u32) -> bool {
        self.repetitions.of(block).is_once()
    }

    /// The order of two events of one thread that each happen once: whether the first comes before the second, or none where
    /// they lie on different branches.
    pub fn program_order(&mut self, first: Site, second: Site) -> Option<bool> {
        if first.block == second.block {
            return Some(first.offset < second.offset);
        }
        if self.reaches(first.block, second.block) {
            return Some(true);
        }
        self.reaches(second.block, first.block).then_some(false)
    }

    /// The join events that wait for a thread.
    pub fn joins_of(&self, thread: ThreadId) -> Vec<Site> {
        let exit = self.concurrency.contexts[self.concurrency.threads[thread].root].exit;
        let joins = |event: &Event| matches!(event.kind, EventKind::Join | EventKind::JoinThread);
        let blocks = self.concurrency.flow.successors(exit).iter().copied();
        blocks
            .filter(|&block| self.concurrency.events_of(block).first().is_some_and(joins))
            .map(|block| Site { block, offset: 0 })
            .collect()
    }

    /// The mutex bodies that an event lies in, its ends included.
    pub fn bodies(&mut self, site: Site) -> Vec<MutexBody> {
        self.bodies.of(site)
    }
}
