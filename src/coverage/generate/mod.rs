//! Tests for thread-safe classes: made, executed, judged, and made small.
//!
//! **Source**: MAPTest (Wang et al., ASE 2019, section IV), with the changes told in docs/coverage.md.

mod program;
mod subject;
mod test;
mod values;
mod verdict;

pub use program::{CallResults, TestProgram};
pub use subject::{MethodId, Object, ObjectId, Subject};
pub use test::{Argument, Call, CallPlace, PostStep, TestCase, TestSource};
pub use values::Values;
pub use verdict::{Judge, SerialEnds, Unusable, Verdict, ViolationKind};

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
