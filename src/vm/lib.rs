//! The machine: executes a program step by step, under sequential consistency.
//!
//! **Input**: a [`Program`](cssame_ir::Program), and the [`Visibility`] of its accesses to memory.
//!
//! **Output**: a [`Machine`]. Its [`State`]s know which threads can move ([`Machine::moves`]) and change by one step
//! ([`Machine::step`]). The layers above decide which thread moves; an [`Observer`] receives the events.
//!
//! **Algorithm**: an interpreter of a flat array of instructions. A step of a thread is at most one visible operation
//! (an access to shared memory, an atomic expression or block, an operation on a synchronisation object, fork, join,
//! choose) and the local work around it. Local work *with* an effect (print, a failure) waits for the next step of the
//! thread; local work without effect is done at once.
//!
//! **Soundness and limits**: the interleavings of visible operations are all interleavings of the program, provided that no other
//! thread can observe the invisible accesses; the machine does not check this. Weak memory is not modelled. Local work is cut off
//! after [`Options::local_instructions`].

mod bytes;
mod changes;
mod code;
mod code_facts;
mod compile;
mod compiled;
mod decode;
mod encode;
mod fingerprint;
mod footprint;
mod hash;
mod inspect;
mod interchangeable;
mod liveness;
mod local;
mod locks;
mod lower;
mod machine;
mod memory;
mod moves;
mod observe;
mod observers;
mod obstacle;
mod outcome;
mod parts;
mod pending;
mod places;
mod readiness;
mod standing;
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
pub use encode::Encoding;
pub use fingerprint::Hashes;
pub use footprint::Footprint;
pub use hash::{hash, with_more};
pub use interchangeable::bodies as interchangeable_bodies;
pub use machine::{Fingerprints, Machine, Options, Semantics};
pub use observe::{Cell, Event, Object, Observer, ThreadName};
pub use observers::Work;
pub use obstacle::Obstacle;
pub use outcome::{Choice, Failure, FailureKind, Move, Progress};
pub use parts::Parts;
pub use pending::Pending;
pub use readiness::lets_through;
pub use standing::Standing;
pub use state::{NO_WRITER, State, ThreadIndex, ThreadStatus};
pub use tables::{Marks, OutputId, Path, PathId, Tables};
pub use value::format_value;
pub use visibility::Visibility;
pub use watched::Watched;

#[cfg(test)]
mod event_tests;
/// Not only here: a feature for tests would have each crate that uses the machine compiled twice.
#[doc(hidden)]
pub mod testing;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod writer_tests;
