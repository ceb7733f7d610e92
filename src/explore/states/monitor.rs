//! The data that a search remembers of an execution beyond the state of the machine.
//!
//! **Input**: the events of an execution. **Output**: words that, with those of the state, identify executions; moves that are
//! left out; the notes of a step.
//!
//! **Soundness and limits**: the search merges two states with equal words: all later results of a monitor must follow from the
//! words that it encodes.

use cssame_vm::{Machine, Move, Observer, State};

/// What a search has to know of an execution beyond the state of the machine. It watches the execution.
pub trait Monitor: Observer + Clone {
    /// What a step has shown, for the visitor.
    type Note: Copy;

    /// Whether it remembers anything from step to step. One that does not has no words, leaves out no moves, and what it
    /// notes and forgets follows from the step alone.
    const REMEMBERS: bool = true;

    /// Appends what tells two executions apart.
    fn encode(&self, words: &mut Vec<u64>);

    /// Takes back what `encode` has written.
    fn decode(&mut self, words: &[u64]);

    /// Leaves out the moves that are not to be followed from a state. Where none is left, the execution ends as a deadlock
    /// does.
    #[inline(always)]
    fn restrict(&self, _: &State, _: &mut Vec<Move>) {}

    /// A step has led to that state. What has no consequence from there on may be forgotten, here and in the state, so
    /// that more states are equal. Not told of a step that is discarded; asked before the functions below.
    fn settle(&mut self, _: &Machine, _: &mut State) {}

    /// What the last step has shown.
    fn notes(&self) -> &[Self::Note] {
        &[]
    }

    /// Whether nobody asks how the execution goes on. The step that has led there counts as discarded.
    fn is_dead(&self) -> bool {
        false
    }
}

impl Monitor for () {
    type Note = ();

    const REMEMBERS: bool = false;

    fn encode(&self, _: &mut Vec<u64>) {}

    fn decode(&mut self, _: &[u64]) {}
}
