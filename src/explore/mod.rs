//! Exhaustive exploration: what can happen at all.
//!
//! In: a [`Machine`](crate::vm::Machine). Out: plain data. [`futures()`] visits every state that the program can reach
//! and says which writes each read can see, which outcomes, failures and deadlocks there are, each with a schedule that
//! shows it. [`count()`] counts the futures: the executions that differ in what some read sees. [`select()`] decides
//! whether some execution has a given selection of pi terms. [`report`] gives names to the answers.
//!
//! All of them go breadth-first through states that are told apart by 128-bit fingerprints, so a schedule is a
//! shortest one in steps. All of them are deterministic. A [`Limits`] value bounds them; when a bound is hit, the answer
//! says so and claims nothing beyond what was seen.

mod assumption;
mod completion;
mod count;
mod deadlock;
mod engine;
mod futures;
mod graph;
mod limits;
mod pairs;
pub mod report;
mod select;

pub use count::{CountAnswer, count};
pub use deadlock::{BlockedThread, Deadlock};
pub use futures::{Answer, FailureWitness, Outcome, OutcomeStatus, Query, Term, futures};
pub use limits::{Bound, Limits, Progress};
pub use select::{SelectAnswer, Selection, Verdict, select};

#[cfg(test)]
mod tests;
