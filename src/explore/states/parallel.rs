//! A level that workers expand, entered as one core would have entered it.
//!
//! **Input**: the states of a level. **Output**: their successors in the graph, and the calls of the visitor.
//!
//! **Algorithm**: each worker expands a piece of the level into a batch (`batch`). The batches are entered in the order
//! of the level; where one was full before its piece was done, the level goes on from there.
//!
//! **Soundness and limits**: an end that is new, and a step that a worker could not take down, are done again here, since
//! the visitor looks at their states.

use super::batch::{self, Leads, Worker};
use super::frontier::{Frontier, Waiting};
use super::graph::{DISCARDED, NodeKind};
use super::{Engine, Monitor, PIECE, Transition, Visitor};
use std::ops::{ControlFlow, Range};

impl<G: Monitor, V: Visitor<G>> Engine<'_, G, V> {
    /// Lets workers expand states from a place of the level on, and enters what they have found; gives the place behind.
    pub(super) fn expand_in_parallel(&mut self, level: &Frontier, start: usize) -> ControlFlow<(), usize> {
        let mut workers = std::mem::take(&mut self.workers);
        workers.resize_with(self.budget.jobs(), || Worker::new(&self.parent.1));
        let pieces =
            batch::expand(&mut workers, self.machine, &self.found, level, start..level.len(), (self.piece, V::ACTIVE));
        let (mut done, mut all) = (start, true);
        let mut over = ControlFlow::Continue(());
        for (worker, piece) in workers.iter().zip(pieces) {
            self.executed.0 += worker.executed.0;
            over = self.enter_batch(level, &worker.batch, done);
            done += worker.batch.states();
            all = done == piece.end;
            // What the others have found of later states cannot be entered before those that are left out here.
            if over.is_break() || !all {
                break;
            }
        }
        self.workers = workers;
        over?;
        self.piece = if all { 2 * self.piece } else { (done - start).div_ceil(self.budget.jobs()) }.clamp(1, PIECE);
        if done == start {
            // Even one state does not fit into a batch.
            self.expand_here(level, start..start + 1)?;
            done += 1;
        }
        ControlFlow::Continue(done)
    }

    /// Enters the states of a batch, the first of which stands at a place of the level.
    fn enter_batch(&mut self, level: &Frontier, batch: &batch::Batch<G::Note>, start: usize) -> ControlFlow<()> {
        let states = level.part(start..start + batch.states());
        for ((index, of), steps) in (start..).zip(states).zip(batch.by_state()) {
            self.look(level, index)?;
            self.enter(of, batch, steps)?;
        }
        ControlFlow::Continue(())
    }

    /// Enters the steps of a state that a worker has expanded.
    fn enter(&mut self, of: Waiting<'_>, batch: &batch::Batch<G::Note>, steps: Range<usize>) -> ControlFlow<()> {
        if steps.is_empty() {
            self.load(of.state, of.monitor);
            return self.deadlock(of.node);
        }
        self.found.graph.begin_edges(of.node);
        for index in steps {
            let over = self.enter_step(of, &batch.step(index));
            if over.is_break() {
                self.found.graph.cancel_edges(of.node);
                return over;
            }
        }
        self.found.graph.set_kind(of.node, NodeKind::Expanded);
        ControlFlow::Continue(())
    }

    fn enter_step(&mut self, of: Waiting<'_>, step: &batch::Step<'_, G::Note>) -> ControlFlow<()> {
        let batch::Successor { choice, leads, fingerprint, known, .. } = step.successor;
        let known = known.or_else(|| self.found.graph.find(fingerprint));
        let is_new_end = leads == Leads::ToEnd && known.is_none();
        if leads == Leads::Unknown || is_new_end {
            self.load(of.state, of.monitor);
            return self.step(of.node, choice);
        }
        self.may_step()?;
        self.found.statistics.steps += 1;
        self.visitor.begin();
        for &(thread, at, event) in step.events {
            self.visitor.event(thread, at, event);
        }
        if leads == Leads::Discarded {
            self.found.graph.add_edge(DISCARDED);
            self.visitor.discarded(of.node, choice);
            return ControlFlow::Continue(());
        }
        let to = known.unwrap_or_else(|| self.found.graph.visit(fingerprint, of.node, choice, NodeKind::Waiting).0);
        self.found.graph.add_edge(to);
        self.visitor.notes(step.notes);
        self.visitor.transition(&Transition { from: of.node, choice: Some(choice), to });
        self.found.statistics.executions += u64::from(leads == Leads::ToEnd);
        if self.visitor.is_enough() {
            return self.ended(ControlFlow::Break(()));
        }
        if known.is_none() { self.wait(to, step.state, step.monitor) } else { ControlFlow::Continue(()) }
    }
}
