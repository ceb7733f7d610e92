//! Static single assignment form.
//!
//! In: a flow graph and the accesses of its blocks ([`build`]), or a function of the PFG. Out: the version that each
//! access reads or makes, and the phi functions.

mod arguments;
pub mod build;
pub mod dominators;
pub mod graph;
mod placement;
pub mod verify;

pub use build::{Access, AccessKind, Accesses, NO_VERSION, Origin, Phi, Ssa, build_ssa};
pub use dominators::{Dominators, Frontiers};
pub use graph::Graph;
pub use verify::verify_ssa;
