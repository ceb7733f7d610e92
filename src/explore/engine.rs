//! The breadth-first search that all explorations share.
//!
//! In: a machine, bounds, a [`Ghost`] (what the search has to know of an execution beyond the state of the machine) and
//! a [`Visitor`]. Out: the [`Graph`] of all states, and calls of the visitor for each step and each end.
//! States wait as words in two flat buffers, one for the level that is expanded and one for the next; nothing is
//! allocated for a step.

use super::graph::{DISCARDED, Graph, NodeKind};
use super::limits::{Bound, Limits, Progress, Watch};
use crate::vm::{self, Choice, Encoding, Failure, Machine, Move, Observer, State, Tables, ThreadIndex};
use std::ops::ControlFlow;

/// What a search has to know of an execution beyond the state of the machine. It watches the execution.
pub(super) trait Ghost: Observer + Clone {
    /// Appends what tells two executions apart.
    fn encode(&self, words: &mut Vec<u64>);
    /// Takes back what `encode` has written.
    fn decode(&mut self, words: &[u64]);
}

impl Ghost for () {
    fn encode(&self, _: &mut Vec<u64>) {}

    fn decode(&mut self, _: &[u64]) {}
}

/// How an execution ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Finished,
    Failed(Failure),
    Deadlock,
}

/// A step of the search; without a choice it is the beginning.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transition {
    pub from: u32,
    pub choice: Option<Choice>,
    pub to: u32,
}

/// Looks on during a search.
pub(super) trait Visitor<G>: Observer {
    /// A step begins; the events that follow belong to it.
    fn begin(&mut self);

    /// A step is over, and was not discarded.
    fn transition(&mut self, transition: &Transition);

    /// Whether the search may stop behind the step that was noted last.
    fn is_enough(&self) -> bool {
        false
    }

    /// A new state in which executions end. `Break` stops the search.
    fn end(&mut self, context: &EndContext<'_, G>) -> ControlFlow<()>;
}

/// What a visitor sees of an end.
pub(super) struct EndContext<'a, G> {
    pub machine: &'a Machine,
    pub tables: &'a Tables,
    pub state: &'a State,
    pub ghost: &'a G,
    pub node: u32,
    pub end: End,
}

/// States that wait to be expanded, in the order of their nodes.
#[derive(Default)]
struct Frontier {
    words: Vec<u64>,
    /// Node, end of the words of the state, end of the words of the ghost.
    entries: Vec<(u32, usize, usize)>,
}

impl Frontier {
    fn clear(&mut self) {
        self.words.clear();
        self.entries.clear();
    }

    /// Memory that it takes.
    fn bytes(&self) -> u64 {
        (self.words.capacity() * size_of::<u64>() + self.entries.capacity() * size_of::<(u32, usize, usize)>()) as u64
    }

    fn push(&mut self, node: u32, state: &[u64], ghost: &[u64]) {
        self.words.extend_from_slice(state);
        let end = self.words.len();
        self.words.extend_from_slice(ghost);
        self.entries.push((node, end, self.words.len()));
    }
}

/// What a search has found.
pub(super) struct Searched {
    pub graph: Graph,
    pub tables: Tables,
    pub progress: Progress,
    /// The bound that was hit.
    pub bound: Option<Bound>,
    /// Whether the visitor has stopped the search.
    pub stopped: bool,
}

struct Engine<'a, G, V> {
    machine: &'a Machine,
    limits: &'a Limits,
    visitor: &'a mut V,
    found: Searched,
    next: Frontier,
    parent: (State, G),
    child: (State, G),
    encoding: Encoding,
    more: Vec<u64>,
    moves: Vec<Move>,
}

/// Searches all states; `ghost` is what is known before the first step.
pub(super) fn search<G: Ghost, V: Visitor<G>>(
    machine: &Machine,
    limits: &Limits,
    ghost: G,
    visitor: &mut V,
    progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> Searched {
    let mut engine: Engine<'_, G, V> = Engine {
        machine,
        limits,
        visitor,
        found: Searched {
            graph: Graph::default(),
            tables: Tables::new(),
            progress: Progress::default(),
            bound: None,
            stopped: false,
        },
        next: Frontier::default(),
        parent: (State::default(), ghost.clone()),
        child: (State::default(), ghost),
        encoding: Encoding::default(),
        more: Vec::new(),
        moves: Vec::new(),
    };
    // `Break` means that the search is over; `found` says why.
    let _ = engine.run(progress);
    engine.found.progress.states = engine.found.graph.len() as u64;
    engine.found
}

impl<G: Ghost, V: Visitor<G>> Engine<'_, G, V> {
    fn run(&mut self, progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>) -> ControlFlow<()> {
        self.start()?;
        let watch = Watch::new(self.limits);
        let mut level = Frontier::default();
        let mut expanded: u64 = 0;
        while !self.next.entries.is_empty() {
            std::mem::swap(&mut level, &mut self.next);
            self.next.clear();
            if self.limits.max_steps.is_some_and(|limit| self.found.progress.depth >= limit) {
                self.close_level(&level);
                return ControlFlow::Break(());
            }
            let mut start = 0;
            for (index, &(node, state_end, ghost_end)) in level.entries.iter().enumerate() {
                if expanded.is_multiple_of(1024) {
                    let waiting = level.entries.len() - index + self.next.entries.len();
                    self.check(&watch, waiting, level.bytes(), progress)?;
                }
                expanded += 1;
                self.machine.decode(&level.words[start..state_end], &mut self.parent.0);
                self.parent.1.decode(&level.words[state_end..ghost_end]);
                start = ghost_end;
                self.expand(node)?;
            }
            self.found.progress.depth += 1;
        }
        ControlFlow::Continue(())
    }

    fn stop(&mut self, bound: Bound) -> ControlFlow<()> {
        self.found.bound = Some(bound);
        ControlFlow::Break(())
    }

    fn check(
        &mut self,
        watch: &Watch,
        waiting: usize,
        level_bytes: u64,
        progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.found.progress.states = self.found.graph.len() as u64;
        self.found.progress.waiting = waiting as u64;
        if let Some(bound) = watch.check() {
            return self.stop(bound);
        }
        let bytes = || self.found.graph.bytes() + level_bytes + self.next.bytes();
        if self.limits.max_memory.is_some_and(|limit| bytes() > limit) {
            return self.stop(Bound::Memory);
        }
        if progress(&self.found.progress).is_break() {
            return self.stop(Bound::Interrupt);
        }
        ControlFlow::Continue(())
    }

    /// Enters the first state.
    fn start(&mut self) -> ControlFlow<()> {
        let (state, ghost) = &mut self.child;
        self.visitor.begin();
        *state = self.machine.start(&mut self.found.tables, &mut (&mut *self.visitor, &mut *ghost));
        let choice = Choice { thread: ThreadIndex(0), alternative: 0 };
        let finished = self.machine.is_finished(state);
        let progress = if finished { vm::Progress::Finished } else { vm::Progress::Running };
        self.arrive(0, choice, progress)
    }

    /// The states of a level are not expanded because their executions are as long as may be.
    fn close_level(&mut self, level: &Frontier) {
        let mut start = 0;
        for &(node, state_end, ghost_end) in &level.entries {
            self.machine.decode(&level.words[start..state_end], &mut self.parent.0);
            start = ghost_end;
            if !self.machine.is_deadlock(&self.parent.0) {
                self.found.bound = Some(Bound::Steps);
                continue;
            }
            self.parent.1.decode(&level.words[state_end..ghost_end]);
            if self.deadlock(node).is_break() {
                return;
            }
        }
    }

    fn expand(&mut self, node: u32) -> ControlFlow<()> {
        let mut moves = std::mem::take(&mut self.moves);
        self.machine.moves(&self.parent.0, &mut moves);
        if moves.is_empty() {
            self.moves = moves;
            return self.deadlock(node);
        }
        self.found.graph.begin_edges(node);
        let mut over = ControlFlow::Continue(());
        'moves: for &Move { thread, alternatives } in &moves {
            for alternative in 0..alternatives {
                over = self.step(node, Choice { thread, alternative });
                if over.is_break() {
                    break 'moves;
                }
            }
        }
        self.moves = moves;
        if over.is_continue() {
            self.found.graph.set_kind(node, NodeKind::Expanded);
        } else {
            self.found.graph.cancel_edges(node);
        }
        over
    }

    fn deadlock(&mut self, node: u32) -> ControlFlow<()> {
        self.found.graph.set_kind(node, NodeKind::Deadlock);
        self.found.progress.executions += 1;
        let context = EndContext {
            machine: self.machine,
            tables: &self.found.tables,
            state: &self.parent.0,
            ghost: &self.parent.1,
            node,
            end: End::Deadlock,
        };
        let wanted = self.visitor.end(&context);
        self.ended(wanted)
    }

    fn ended(&mut self, wanted: ControlFlow<()>) -> ControlFlow<()> {
        if wanted.is_break() {
            self.found.stopped = true;
        }
        wanted
    }

    fn step(&mut self, node: u32, choice: Choice) -> ControlFlow<()> {
        let limits = self.limits;
        if limits.max_executions.is_some_and(|limit| self.found.progress.executions >= limit) {
            return self.stop(Bound::Executions);
        }
        self.child.0.clone_from(&self.parent.0);
        self.child.1.clone_from(&self.parent.1);
        self.visitor.begin();
        let (state, ghost) = &mut self.child;
        let observer = &mut (&mut *self.visitor, &mut *ghost);
        let progress = self.machine.step(state, &mut self.found.tables, choice, observer);
        self.found.progress.steps += 1;
        self.arrive(node, choice, progress)
    }

    /// Enters the state of `child` into the graph.
    fn arrive(&mut self, from: u32, choice: Choice, progress: vm::Progress) -> ControlFlow<()> {
        let (kind, end) = match progress {
            vm::Progress::Discarded => {
                self.found.graph.add_edge(DISCARDED);
                return ControlFlow::Continue(());
            }
            vm::Progress::Running => (NodeKind::Waiting, None),
            vm::Progress::Finished => (NodeKind::Finished, Some(End::Finished)),
            vm::Progress::Failed(failure) => (NodeKind::Failed, Some(End::Failed(failure))),
        };
        self.machine.encode(&self.child.0, &mut self.encoding);
        self.more.clear();
        self.child.1.encode(&mut self.more);
        let ghost_words = self.more.len();
        if let vm::Progress::Failed(failure) = progress {
            let message = failure.message.map_or(0, |message| u64::from(message.0) + 1);
            self.more.extend([failure.kind as u64 + 1, u64::from(failure.at.0), message]);
        }
        let fingerprint =
            if self.more.is_empty() { self.encoding.fingerprint() } else { self.encoding.fingerprint_with(&self.more) };
        let is_first = self.found.graph.len() == 0;
        let (to, is_new) = self.found.graph.visit(fingerprint, from, choice, kind);
        if !is_first {
            self.found.graph.add_edge(to);
        }
        self.visitor.transition(&Transition { from, choice: (!is_first).then_some(choice), to });
        self.found.progress.executions += u64::from(end.is_some());
        if self.visitor.is_enough() {
            return self.ended(ControlFlow::Break(()));
        }
        if !is_new {
            return ControlFlow::Continue(());
        }
        match end {
            None => {
                self.next.push(to, self.encoding.words(), &self.more[..ghost_words]);
                // One number is the mark of discarded executions.
                let limit = self.limits.max_states.unwrap_or(u64::MAX).min(u64::from(u32::MAX) - 1);
                if self.found.graph.len() as u64 > limit { self.stop(Bound::States) } else { ControlFlow::Continue(()) }
            }
            Some(end) => {
                let (state, ghost) = &self.child;
                let tables = &self.found.tables;
                let context = EndContext { machine: self.machine, tables, state, ghost, node: to, end };
                let wanted = self.visitor.end(&context);
                self.ended(wanted)
            }
        }
    }
}
