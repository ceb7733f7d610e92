//! Static single assignment form.
//!
//! **Input**: a flow graph and the accesses of its blocks ([`construct`]), or a function of the PFG ([`function`]). **Output**:
//! the version that each access reads or creates, and the phi functions.
//!
//! [`graph`], [`dominators`] and [`construct`] do not depend on the PFG; the concurrency layer runs them on its own graphs.

pub mod access;
mod arguments;
pub mod construct;
pub mod control;
pub mod dominators;
pub mod effects;
pub mod function;
pub mod graph;
mod memory;
pub mod numbers;
mod placement;
pub mod print;
pub mod verify;

pub use access::{Access, AccessKind, Accesses, NO_VERSION};
pub use construct::{Origin, Phi, Ssa, build_ssa};
pub use control::Control;
pub use dominators::{Dominators, Frontiers};
pub use effects::Effects;
pub use function::{FunctionSsa, build_function};
pub use graph::Graph;
pub use memory::SsaVariable;
pub use numbers::{Numbers, ProgramSsa, build_program};
pub use verify::verify_ssa;
