//! The questions that can be asked of all executions of a program.
//!
//! | file | question |
//! |---|---|
//! | `futures` | the possible terms, outcomes, failures, deadlocks |
//! | `count` | the number of futures |
//! | `infinite` | whether there are infinitely many futures, or none |
//! | `executions` | one execution of each future |
//! | `select` | whether some execution has given terms |
//! | `steps` | the steps between all states, with their events |
//! | `races` | which accesses race, and which races are harmful or have no consequence |
//!
//! `each_future` visits one execution of each future for `races` and `executed`. `cycles` finds steps that lie on a cycle of
//! states. `samples` adds the findings of single executions to the possible behaviours, if no exact search completes.

pub(super) mod bad_ends;
pub(super) mod by_executions;
pub mod chains;
pub(super) mod count;
pub mod cycles;
pub mod each_future;
pub(super) mod executions;
pub(super) mod futures;
mod history;
mod infinite;
pub(super) mod outcomes;
pub mod overlaps;
pub mod races;
pub(crate) mod samples;
pub(super) mod select;
pub(super) mod steps;
