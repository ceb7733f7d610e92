//! The frame: the parts of a question about all executions of a program.
//!
//! **Input**: a machine and a budget; a [`Monitor`] and a [`Visitor`] of the question. **Output**: [`Searched`]: the graph of all
//! states, from which paths are read, and the data that the visitor has kept.
//!
//! A question is the product of the program with a monitor automaton, as in Spin, and takes one file:
//!
//! 1. The *monitor* holds the data that a state must remember beyond the machine. It is an [`Observer`](cssame_vm::Observer) of
//!    the events, and can encode itself as words and decode itself. It may leave out moves, forget data without consequences, and
//!    record the results of a step. If the question depends on the machine alone, the monitor is `()`.
//! 2. The *visitor* is the recorder: it receives each step, with the notes, and each state in which executions end. It stops the
//!    search when it has seen enough. [`AtEnds`] is the visitor for ends alone, [`MarkedSteps`] the one for cycles.
//! 3. [`search`] does everything else: the order, the bounds, discarded executions, memory. Its engine is compiled once, for all
//!    questions.
//! 4. The *answer* is built from the graph: [`witness`] is a whole execution to a state, [`Completion`] the path from a state to
//!    an end, [`lasting_states`] the states that assumptions do not discard. If no bound was hit, a behaviour that was not seen
//!    cannot happen.
//!
//! A question that depends only on the values that each thread reads may use one execution of each future instead, by
//! [`each_future`]. [`Chains`] are hashes of the facts that threads have learned.
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
