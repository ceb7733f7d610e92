//! Enters the steps of a block whose states all have been looked at, and writes the states that are new.
//!
//! **Input**: a block with its steps ([`Ahead`]). **Output**: the nodes and edges of the graph, and the calls of the visitor; which
//! states are new; these, written for the next level.
//!
//! **Soundness and limits**: as `expansion`, for states whose steps were all done before. The fingerprints of new states are kept in
//! a small table ([`Recent`]) until they are entered into that of all states.

use super::ahead::{Ahead, Ready, Scene};
use super::graph::{DISCARDED, Lists, NodeKind};
use super::numbered::NumberWriter;
use super::origin::Origin;
use super::visited::Recent;
use super::{Monitor, Transition, Visitor};
use cssame_budget::Statistics;
use cssame_vm::{Choice, Work};
use std::ops::ControlFlow;

/// A state that is new: its node, and which step of which state of a block has led to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct New {
    node: u32,
    step: u32,
    state: u32,
    choice: Choice,
}

/// A block whose steps were entered, and the new states that they have led to.
#[derive(Default)]
pub(super) struct Entered {
    pub ahead: Ahead,
    pub new: Vec<New>,
}

#[cfg(test)]
impl Entered {
    /// A new state of a block that has no states.
    pub(super) fn of_no_state() -> Entered {
        let choice = Choice { thread: cssame_vm::ThreadIndex(0), alternative: 0 };
        Entered { ahead: Ahead::default(), new: vec![New { node: 0, step: 0, state: 0, choice }] }
    }
}

/// What is changed while steps are entered.
pub(super) struct Entering<'e, N, V> {
    pub scene: &'e Scene<N>,
    pub lists: &'e mut Lists,
    pub statistics: &'e mut Statistics,
    pub visitor: &'e mut V,
    pub executed: &'e mut Work,
    /// The states that were entered into the table of all states last, if the block was looked at before.
    pub earlier: Option<&'e Recent>,
    /// The states that were entered since then: to find them, and in order.
    pub recent: &'e mut Recent,
    pub fresh: &'e mut Vec<(u128, u32)>,
    /// The new ones of this block.
    pub new: &'e mut Vec<New>,
}

impl<N: Copy, V> Entering<'_, N, V> {
    /// Enters all steps of a block; `Break` if the visitor has seen enough.
    pub(super) fn enter<G: Monitor<Note = N>>(&mut self, ahead: &Ahead) -> ControlFlow<()>
    where
        V: Visitor<G>,
    {
        for state in 0..ahead.len().0 {
            let ready = ahead.state(state);
            self.lists.begin_edges(ready.node);
            if self.enter_state(&ready, state as u32).is_break() {
                self.lists.cancel_edges(ready.node);
                return ControlFlow::Break(());
            }
            self.lists.set_kind(ready.node, NodeKind::Expanded);
        }
        ControlFlow::Continue(())
    }

    fn enter_state<G: Monitor<Note = N>>(&mut self, of: &Ready<'_>, state: u32) -> ControlFlow<()>
    where
        V: Visitor<G>,
    {
        let Scene { parts, memo, .. } = self.scene;
        let (from, cells) = (of.node, parts.cells(of.numbers));
        for found in of.steps.unwrap_or_default() {
            let Some(step) = found.step() else { continue };
            let (choice, fingerprint) = (found.choice(), found.fingerprint);
            self.statistics.steps += 1;
            self.executed.0 += u64::from(memo.step(step).instructions);
            self.visitor.begin();
            if V::ACTIVE {
                let origin = Origin::new(of.numbers, cells, choice);
                for (thread, at, event) in memo.events(step, &origin, parts) {
                    self.visitor.event(thread, at, event);
                }
            }
            if memo.step(step).is_discarded {
                self.lists.add_edge(DISCARDED);
                self.visitor.discarded(from, choice);
                continue;
            }
            let known = found.known().or_else(|| self.earlier?.find(fingerprint));
            let to = known.unwrap_or_else(|| {
                let node = self.lists.len() as u32;
                let to = self.recent.find_or_insert(fingerprint, node);
                if to == node {
                    self.lists.add_node(from, choice, NodeKind::Waiting);
                    self.fresh.push((fingerprint, node));
                    self.new.push(New { node, step, state, choice });
                }
                to
            });
            self.visitor.notes(memo.notes(step));
            self.lists.add_edge(to);
            self.visitor.transition(&Transition { from, choice: Some(choice), to });
            if self.visitor.is_enough() {
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }
}

/// Tells of the new states that blocks have led to: their nodes and their numbers.
pub(super) fn each_new<N: Copy>(entered: &[Entered], scene: &Scene<N>, mut tell: impl FnMut(u32, &[u32])) {
    let Scene { parts, memo, .. } = scene;
    let mut behind = Vec::new();
    for Entered { ahead, new } in entered {
        for &New { node, step, state, choice } in new {
            let numbers = ahead.state(state as usize).numbers;
            memo.write_behind(step, &Origin::new(numbers, parts.cells(numbers), choice), &mut behind);
            tell(node, &behind);
        }
    }
}

/// Writes new states, in blocks of about so many.
pub(super) fn write<N: Copy>(entered: &[Entered], size: usize, scene: &Scene<N>) -> Vec<NumberWriter> {
    let all: usize = entered.iter().map(|entered| entered.new.len()).sum();
    // No block is much smaller than the others.
    let size = all.div_ceil((2 * all).div_ceil(3 * size).max(1));
    let mut written = Vec::new();
    let mut writer = NumberWriter::default();
    each_new(entered, scene, |node, numbers| {
        if writer.block.len() >= size || !writer.block.has_room(1, numbers.len() as u64) {
            written.push(std::mem::take(&mut writer));
        }
        writer.push(node, numbers);
    });
    written.push(writer);
    written.iter_mut().for_each(|writer| writer.block.bytes.shrink_to_fit());
    written
}
