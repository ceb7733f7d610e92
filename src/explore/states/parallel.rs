//! A level that workers expand, entered as one core would have entered it.
//!
//! **Input**: the blocks of a level that come next. **Output**: their successors in the graph, and the calls of the visitor.
//!
//! **Algorithm**: each worker expands a piece of the level into a batch (`batch`). The batches are entered in the order
//! of the level; where one was full before its piece was done, the level goes on from there.
//!
//! **Soundness and limits**: an end that is new, and a step that a worker could not take down, are done again here, since
//! the visitor looks at their states.

use super::batch::{self, Leads, Piece, Scene, Worker};
use super::frontier::{BLOCK, Block};
use super::graph::NodeKind;
use super::{Engine, Monitor, Visitor};
use std::ops::{ControlFlow, Range};

/// The part of the memory that the user allows which the batches of all workers may take.
const PART_OF_MEMORY: u64 = 32;

/// Where a state stands: in which of the blocks, and at which place there.
#[derive(Clone, Copy)]
struct Place<'a> {
    block: &'a Block,
    number: usize,
    node: u32,
}

impl<G: Monitor, V: Visitor<G>> Engine<'_, G, V> {
    /// Lets workers expand states of the blocks behind the first `done` ones, and enters what they have found; gives the number of
    /// states that were entered.
    pub(super) fn expand_in_parallel(&mut self, blocks: &[Block], done: usize) -> ControlFlow<(), usize> {
        let jobs = self.budget.jobs();
        let bytes = self.budget.limits().max_memory.map_or(u64::MAX, |limit| limit / PART_OF_MEMORY / jobs as u64);
        let mut workers = std::mem::take(&mut self.workers);
        workers.resize_with(jobs, || Worker::new(&self.parent.1, bytes));
        let pieces = pieces(blocks, done, self.piece.min(self.left.div_ceil(jobs)), jobs);
        let (machine, found, dictionary) = (self.machine, &self.found, &self.dictionary);
        let scene = Scene { machine, found, dictionary, blocks, watched: V::ACTIVE, reduction: self.reduction() };
        batch::expand(&mut workers, scene, &pieces);
        let (mut entered, mut all) = (0, true);
        let mut over = ControlFlow::Continue(());
        for (worker, piece) in workers.iter().zip(&pieces) {
            self.executed.0 += worker.executed.0;
            over = self.enter_batch(&blocks[piece.block], &worker.batch, piece.states.start);
            entered += worker.batch.states();
            all = worker.batch.states() == piece.states.len();
            // What the others have found of later states cannot be entered before those that are left out here.
            if over.is_break() || !all {
                break;
            }
        }
        self.workers = workers;
        over?;
        self.piece = if all { 2 * self.piece } else { entered.div_ceil(jobs) }.clamp(1, BLOCK);
        if entered == 0
            && let Some(first) = pieces.first()
        {
            // Even one state does not fit into a batch.
            self.expand_here(&blocks[first.block], first.states.start..first.states.start + 1)?;
            entered = 1;
        }
        ControlFlow::Continue(entered)
    }

    /// Enters the states of a batch, the first of which stands at a place of the block.
    fn enter_batch(&mut self, block: &Block, batch: &batch::Batch<G::Note>, start: usize) -> ControlFlow<()> {
        for (number, (state, steps)) in (start..).zip(batch.by_state()) {
            self.words = state.words;
            self.look()?;
            self.enter(Place { block, number, node: state.node }, batch, steps, state.alone)?;
        }
        ControlFlow::Continue(())
    }

    /// Enters the steps of a state that a worker has expanded: of all threads, or of one alone.
    fn enter(
        &mut self,
        of: Place<'_>,
        batch: &batch::Batch<G::Note>,
        steps: Range<usize>,
        alone: Option<usize>,
    ) -> ControlFlow<()> {
        if steps.is_empty() {
            self.load_at(of.block, of.number);
            return self.deadlock(of.node);
        }
        self.found.graph.begin_edges(of.node);
        let mut over = ControlFlow::Continue(());
        for index in steps {
            over = self.enter_step(of, &batch.step(index));
            if over.is_break() {
                break;
            }
        }
        // What the thread alone has led to may be known, which the worker could not tell.
        if over.is_continue() && alone.is_some() && !self.leads_on_from(of.node) {
            self.load_at(of.block, of.number);
            let moves = self.parent_moves();
            over = self.follow_all_but(of.node, &moves, alone);
            self.moves = moves;
        }
        self.expanded(of.node, over)
    }

    fn enter_step(&mut self, of: Place<'_>, step: &batch::Step<'_, G::Note>) -> ControlFlow<()> {
        let batch::Successor { choice, leads, fingerprint, known, .. } = step.successor;
        let known = known.or_else(|| self.found.graph.find(fingerprint));
        let is_new_end = leads == Leads::ToEnd && known.is_none();
        if leads == Leads::Unknown || is_new_end {
            self.load_at(of.block, of.number);
            return self.step(of.node, choice);
        }
        self.may_step()?;
        self.found.statistics.steps += 1;
        self.visitor.begin();
        for &(thread, at, event) in step.events {
            self.visitor.event(thread, at, event);
        }
        if leads == Leads::Discarded {
            self.discard(of.node, choice);
            return ControlFlow::Continue(());
        }
        let to = known.unwrap_or_else(|| self.found.graph.visit(fingerprint, of.node, choice, NodeKind::Waiting).0);
        self.visitor.notes(step.notes);
        self.lead_to(of.node, choice, to);
        self.found.statistics.executions += u64::from(leads == Leads::ToEnd);
        if self.visitor.is_enough() {
            return self.ended(ControlFlow::Break(()));
        }
        if known.is_some() {
            return ControlFlow::Continue(());
        }
        self.next.push(to, step.state, step.monitor, &mut self.dictionary);
        self.wait()
    }
}

/// Up to so many pieces of the states behind the first `done` ones, one behind the other, of `size` states at most.
fn pieces(blocks: &[Block], done: usize, size: usize, count: usize) -> Vec<Piece> {
    let (mut pieces, mut start, mut index) = (Vec::new(), done, 0);
    while pieces.len() < count
        && let Some(block) = blocks.get(index)
    {
        if start >= block.len() {
            start -= block.len();
            index += 1;
            continue;
        }
        let end = block.len().min(start + size.max(1));
        pieces.push(Piece { block: index, states: start..end });
        start = end;
    }
    pieces
}
