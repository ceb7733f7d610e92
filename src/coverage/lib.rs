//! Memory-access-pattern coverage: measures which interleavings of threads the executions have tried.
//!
//! **Input**: a program, or a file of classes without `main`, and executions. **Output**: the number of instances of the 17
//! memory-access patterns, the instances that the executions cover, and those that can be covered at all; also method pairs and
//! pi terms.
//!
//! [`linear`] finds all ends of calls of two threads, both serial and interleaved. Tests of classes are judged by these ends.
//!
//! **Source**: Wang, Zhao, Liu, Sun, Chen and Lin, "MAP-Coverage: A Novel Coverage Criterion for Testing Thread-Safe
//! Classes" (ASE 2019); for method pairs Choudhary, Lu and Pradel, "Efficient Detection of Thread Safety Violations via
//! Coverage-Guided Generation of Concurrent Tests" (ICSE 2017).

mod feasible;
mod find;
pub mod generate;
mod instance;
pub mod linear;
mod matching;
mod measure;
mod method_pairs;
mod pattern;
mod reach;
mod reason;
pub mod report;
mod universe;

pub use feasible::{Feasible, Space, Witness};
pub use find::{Findings, RecordedProgram, Request, Terms, find, find_in_drivers, find_in_recorded, of_library};
pub use instance::{Instance, Totals, instances, totals};
pub use matching::{Candidates, MAX_PARTIALS, Matcher};
pub use measure::{BadEnd, Ended, Measured, OneMeasured, Origin, Shown, Watch, Watched};
pub use method_pairs::{Method, MethodId, MethodPair, Overlaps, PublicMethods};
pub use pattern::{Kind, Letter, MAX_LETTERS, PATTERNS, Pattern, PatternId, Role, Slot};
pub use reach::Reach;
pub use reason::{Reason, Reasons};
pub use universe::{AccessId, Binding, PlaceAccess, Universe, Variable, VariableNumber};

#[cfg(test)]
mod tests;
