//! What looks on during a search.
//!
//! **Input**: the steps of a search, and the states in which executions end. **Output**: what a question keeps of them.

use super::Monitor;
use cssame_vm::{Choice, CodeIndex, Event, Failure, Machine, State, Tables, ThreadName};
use std::ops::ControlFlow;

/// How an execution ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Finished,
    Failed(Failure),
    Deadlock,
}

/// A step of the search; without a choice it is the beginning.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transition {
    pub from: u32,
    pub choice: Option<Choice>,
    pub to: u32,
}

/// Looks on during a search. What it is not interested in need not be there.
pub(crate) trait Visitor<G: Monitor> {
    /// Whether it is told of events, and of which cells: as [`Observer::ACTIVE`](cssame_vm::Observer::ACTIVE) and
    /// [`Observer::DETAILS`](cssame_vm::Observer::DETAILS).
    const ACTIVE: bool = false;
    const DETAILS: bool = false;

    /// Whether edges of the graph are asked for when the search is over.
    fn asks_for_edges(&self) -> bool {
        true
    }

    /// A step begins; the events that follow belong to it.
    fn begin(&mut self) {}

    /// `thread` does something in the step at the instruction `at`.
    fn event(&mut self, _thread: ThreadName, _at: CodeIndex, _: Event) {}

    /// A step is over, and was not discarded; the monitor has noted this of it.
    fn transition(&mut self, _: &Transition, _notes: &[G::Note]) {}

    /// A step is over, and was discarded.
    fn discarded(&mut self, _from: u32, _choice: Choice) {}

    /// Number of pairs of a read and a definition that were seen, for a visitor that looks at them.
    fn terms(&self) -> usize {
        0
    }

    /// Memory that it takes.
    fn bytes(&self) -> u64 {
        0
    }

    /// Whether the search may stop behind the step that was noted last.
    fn is_enough(&self) -> bool {
        false
    }

    /// A new state in which executions end. `Break` stops the search.
    fn end(&mut self, context: &EndContext<'_, G>) -> ControlFlow<()>;
}

/// What a visitor sees of an end.
pub(crate) struct EndContext<'a, G> {
    pub machine: &'a Machine,
    pub tables: &'a Tables,
    pub state: &'a State,
    pub monitor: &'a G,
    pub node: u32,
    pub end: End,
}

/// Looks at ends alone.
pub(crate) struct AtEnds<F> {
    look: F,
    bytes: u64,
}

impl<F> AtEnds<F> {
    /// What is to be done at an end; it may also say how much memory it takes from then on.
    pub(crate) fn new<G>(look: F) -> AtEnds<F>
    where
        F: FnMut(&EndContext<'_, G>, &mut u64) -> ControlFlow<()>,
    {
        AtEnds { look, bytes: 0 }
    }
}

impl<G: Monitor, F: FnMut(&EndContext<'_, G>, &mut u64) -> ControlFlow<()>> Visitor<G> for AtEnds<F> {
    fn asks_for_edges(&self) -> bool {
        false
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn end(&mut self, context: &EndContext<'_, G>) -> ControlFlow<()> {
        (self.look)(context, &mut self.bytes)
    }
}
