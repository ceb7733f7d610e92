//! The observer of the steps and ends of a search.
//!
//! **Input**: the steps of a search, and the states in which executions end. **Output**: the data that a question keeps of them.

use super::Monitor;
use cssame_vm::{Choice, CodeIndex, Event, Failure, Machine, Progress, State, Tables, ThreadName};
use std::ops::ControlFlow;

/// How an execution ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All threads have ended.
    Finished,
    /// The program has failed.
    Failed(Failure),
    /// No thread can move, and some has not ended.
    Deadlock,
}

impl End {
    /// How an execution has ended whose last step has led to that; nothing where it goes on, or was discarded.
    #[must_use]
    pub fn of(machine: &Machine, state: &State, progress: Progress) -> Option<End> {
        match progress {
            Progress::Finished => Some(End::Finished),
            Progress::Failed(failure) => Some(End::Failed(failure)),
            Progress::Running if machine.is_deadlock(state) => Some(End::Deadlock),
            Progress::Running | Progress::Discarded => None,
        }
    }

    /// The failure.
    #[must_use]
    pub fn failure(self) -> Option<Failure> {
        if let End::Failed(failure) = self { Some(failure) } else { None }
    }
}

/// A step of the search; without a choice it is the beginning.
#[derive(Clone, Copy, Debug)]
pub struct Transition {
    /// The node that it leaves; the first one for the beginning.
    pub from: u32,
    /// Who moves.
    pub choice: Option<Choice>,
    /// The node that it leads to.
    pub to: u32,
}

/// Looks on during a search. What it is not interested in need not be there.
pub trait Visitor<G: Monitor> {
    /// Whether it is told of events, as [`Observer::ACTIVE`](cssame_vm::Observer::ACTIVE).
    const ACTIVE: bool = false;
    /// Whether it is told of which cells, as [`Observer::DETAILS`](cssame_vm::Observer::DETAILS).
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
pub struct EndContext<'a, G> {
    /// The machine that executes.
    pub machine: &'a Machine,
    /// The names of threads, and what was printed.
    pub tables: &'a Tables,
    /// The last state.
    pub state: &'a State,
    /// What the monitor knows of the execution.
    pub monitor: &'a G,
    /// The node of the state.
    pub node: u32,
    /// How it ends.
    pub end: End,
}

/// Looks at ends alone.
pub struct AtEnds<F> {
    look: F,
    bytes: u64,
}

impl<F> AtEnds<F> {
    /// What is to be done at an end; it may also say how much memory it takes from then on.
    pub fn new<G>(look: F) -> AtEnds<F>
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
