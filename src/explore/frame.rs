//! The frame: what a question about all executions of a program is made of.
//!
//! **Input**: a machine and a budget; a [`Monitor`] and a [`Visitor`] of the question. **Output**: [`Searched`]: the graph of all
//! states, from which paths are read, and what the visitor has kept.
//!
//! A question is the product of the program with a monitor automaton, as in Spin, and takes one file:
//!
//! 1. The *monitor* holds what a state must remember beyond the machine: an [`Observer`](cssame_vm::Observer) of the events that
//!    can write itself as words and read itself back. It may leave out moves, forget what has no consequence, and note what a step
//!    has shown. Where the question follows from the machine alone, the monitor is `()`.
//! 2. The *visitor* is the recorder: it is told of each step, with the notes, and of each state in which executions end. It stops the
//!    search where it has seen enough. [`AtEnds`] is the one that asks for ends alone, [`MarkedSteps`] the one that asks for cycles.
//! 3. [`search`] does all the rest: the order, the bounds, discarded executions, memory. Its engine is compiled once, for all
//!    questions.
//! 4. The *answer* is made of the graph: [`witness`] is a whole execution to a state, [`Completion`] the way from a state to an
//!    end, [`lasting_states`] what assumptions do not discard. Without a bound, what was not seen cannot happen.
//!
//! What follows from what each thread reads may be asked of one execution of each future instead, by [`each_future`]; [`Chains`] are
//! hashes of what threads have learned.
//!
//! `question/steps.rs` is the shortest example, `tear/serial.rs` one with a monitor, `paths/order` one that leaves out moves.

pub use crate::question::chains::{Chains, hash_of_end};
pub use crate::question::cycles::MarkedSteps;
pub use crate::question::each_future;
pub use crate::states::assumption::{Unexpanded, lasting_states};
pub use crate::states::completion::{Completion, witness};
pub use crate::states::graph::{DISCARDED, Graph, NodeKind};
pub use crate::states::{
    AtEnds, End, EndContext, Monitor, Searched, Transition, Visitor, fingerprint_of, search, search_with_names,
};
