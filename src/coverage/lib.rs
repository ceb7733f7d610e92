//! Memory-access-pattern coverage: what executions have tried of how threads can come between each other.
//!
//! **Input**: a program, or a file of classes without `main`, and executions. **Output**: which instances of the 17
//! memory-access patterns the executions cover, of how many, and which can be covered at all; with method pairs and pi
//! terms beside them.
//!
//! [`linear`] finds all ends of calls of two threads, one after the other and interleaved, by which tests of classes are judged.
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
