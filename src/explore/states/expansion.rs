//! The expansion of one state: which of its steps are executed.
//!
//! **Input**: the state of `parent`, decoded, and its node. **Output**: its steps, which the engine executes one after the other
//! and enters into the graph; or a deadlock, reported to the visitor.
//!
//! **Algorithm**: all steps, in the order of the machine. With [`Reduction`], only the steps of one thread if that suffices. If
//! its step leads to no state that is still to be expanded, the other steps follow (the proviso for cycles).

use super::{DISCARDED, End, EndContext, Engine, NodeKind, Transition};
use crate::reduction::Reduction;
use cssame_vm::{Choice, Move};
use std::ops::ControlFlow;

impl Engine<'_> {
    /// The moves of the state of `parent` that are to be followed.
    pub(super) fn parent_moves(&mut self) -> Vec<Move> {
        let mut moves = std::mem::take(&mut self.moves);
        self.machine.moves(&self.parent, &mut moves);
        self.watch.restrict(&self.parent, &mut moves);
        moves
    }

    /// Does the steps of the state of `parent`.
    pub(super) fn expand(&mut self, node: u32) -> ControlFlow<()> {
        let moves = self.parent_moves();
        if moves.is_empty() {
            self.moves = moves;
            return self.deadlock(node);
        }
        self.found.graph.begin_edges(node);
        let over = self.follow(node, &moves);
        self.moves = moves;
        self.expanded(node, over)
    }

    /// All steps of a state were done, or the search is over.
    pub(super) fn expanded(&mut self, node: u32, over: ControlFlow<()>) -> ControlFlow<()> {
        if over.is_continue() {
            self.found.graph.set_kind(node, NodeKind::Expanded);
        } else {
            self.found.graph.cancel_edges(node);
        }
        over
    }

    /// A step has led to an execution that is discarded.
    pub(super) fn discard(&mut self, from: u32, choice: Choice) {
        self.found.graph.add_edge(DISCARDED);
        self.arrived = 0;
        self.watch.transition(&Transition { from, choice: Some(choice), to: DISCARDED });
    }

    /// The reduction, where states are reduced now.
    pub(super) fn reduction(&self) -> Option<Reduction<'_>> {
        self.reduction.filter(|_| self.reduces)
    }

    /// Does the steps of a state: those of one thread alone, if that is enough.
    fn follow(&mut self, node: u32, moves: &[Move]) -> ControlFlow<()> {
        let first = self.reduction().and_then(|reduction| reduction.first(self.machine, &self.parent, moves));
        if let Some(place) = first {
            self.step(node, Choice { thread: moves[place].thread, alternative: 0 })?;
            if self.leads_on_from(node) {
                return ControlFlow::Continue(());
            }
        }
        self.follow_all_but(node, moves, first)
    }

    /// Whether the last step, that of a state, has led to one from which executions go on and which was not expanded, for else
    /// there may be a cycle: states are expanded by rising number.
    pub(super) fn leads_on_from(&self, node: u32) -> bool {
        match self.found.graph.kind(self.arrived) {
            NodeKind::Waiting => self.arrived > node,
            NodeKind::Expanded => self.reduction.is_some_and(|reduction| reduction.commuting.acyclic),
            _ => false,
        }
    }

    /// Does the steps of all threads but one.
    pub(super) fn follow_all_but(&mut self, node: u32, moves: &[Move], left_out: Option<usize>) -> ControlFlow<()> {
        for (_, one) in moves.iter().enumerate().filter(|&(place, _)| Some(place) != left_out) {
            for alternative in 0..one.alternatives {
                self.step(node, Choice { thread: one.thread, alternative })?;
            }
        }
        ControlFlow::Continue(())
    }

    /// The state of `parent` allows no step.
    pub(super) fn deadlock(&mut self, node: u32) -> ControlFlow<()> {
        self.found.graph.set_kind(node, NodeKind::Deadlock);
        self.found.statistics.executions += 1;
        let context = EndContext {
            machine: self.machine,
            tables: &self.found.tables,
            state: &self.parent,
            monitor: &(),
            node,
            end: End::Deadlock,
        };
        let wanted = self.watch.end(&context);
        self.ended(wanted)
    }
}
