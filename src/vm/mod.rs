//! The machine: it executes a program step by step and knows no policy.
//!
//! In: a [`Program`](crate::ir::Program), and the [`Visibility`] of its accesses to memory. Out: a [`Machine`], whose
//! [`State`]s say which threads can move ([`Machine::moves`]) and change by one step ([`Machine::step`]). Who moves is
//! for the layers above to decide; what happens is told to an [`Observer`].
//!
//! Meaning: sequentially consistent interleaving. A step of a thread is at most one visible operation (an access to
//! shared memory, an atomic expression or block, an operation on a synchronisation object, fork, join, choose) and the
//! local work around it. Local work *with* an effect (print, a failure) waits for the thread's next step, local work
//! without effect is done at once.
//!
//! It does not see weak memory, and it does not check that accesses which were called invisible are so.

mod code;
mod compile;
mod compiled;
mod encode;
mod fingerprint;
mod interchangeable;
mod liveness;
mod local;
mod lower;
mod machine;
mod memory;
mod observe;
mod outcome;
mod pending;
mod start;
mod state;
mod step;
mod symmetry;
mod synchronise;
mod tables;
mod threads;
mod value;
mod visibility;
mod watched;

pub use code::{CodeIndex, Origin};
pub use fingerprint::{Encoding, hash};
pub use machine::{Fingerprints, Machine, Obstacle, Options};
pub use observe::{Cell, Event, Object, Observer, ThreadName, Work};
pub use outcome::{Choice, Failure, FailureKind, Move, Progress};
pub use pending::Pending;
pub use state::{NO_WRITER, State, ThreadIndex, ThreadStatus};
pub use tables::{Marks, OutputId, Path, PathId, Tables};
pub use value::format_value;
pub use visibility::Visibility;
pub use watched::Watched;

#[cfg(test)]
mod event_tests;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
