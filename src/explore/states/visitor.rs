//! What looks on during a search.
//!
//! **Input**: the steps of a search, and the states in which executions end. **Output**: what a question keeps of them.

use super::Monitor;
use cssame_vm::{Choice, Failure, Machine, Observer, State, Tables};
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

/// Looks on during a search.
pub(crate) trait Visitor<G: Monitor>: Observer {
    /// Whether edges of the graph are asked for when the search is over.
    fn asks_for_edges(&self) -> bool {
        true
    }

    /// A step begins; the events that follow belong to it.
    fn begin(&mut self);

    /// What the monitor has noted of the step that is over now; nothing of one that was discarded.
    fn notes(&mut self, _: &[G::Note]) {}

    /// A step is over, and was not discarded.
    fn transition(&mut self, transition: &Transition);

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
