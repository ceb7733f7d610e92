//! The questions that can be asked of all executions of a program.
//!
//! | file | question |
//! |---|---|
//! | `futures` | what can happen: terms, outcomes, failures, deadlocks |
//! | `count` | how many futures there are |
//! | `infinite` | whether they are infinitely many, or none |
//! | `executions` | one execution of each future |
//! | `classes` | how many executions there are up to the versions that their threads read and write |
//! | `select` | whether some execution has given terms |
//! | `linear` | how two threads that call methods can end, with calls interleaved or not |
//! | `serial` | whether two methods can run one after the other |
//! | `steps` | the steps between all states, with their events |
//! | `races` | which accesses race, which of the races are harmful, which have no consequence |
//! | `executed` | which branch outcomes, waits and unprotected pairs there are |
//! | `order` | whether operations can happen in a given order before a branch |
//! | `tear` | whether an execution tears two accesses of a method apart |
//!
//! `each_future` visits one execution of each future for `races` and `executed`.
//! `cycles` finds steps that lie on a cycle of states. `samples` adds to what can happen what single executions show, where no exact
//! search comes to its end.

mod ahead;
pub(super) mod by_executions;
mod chains;
pub mod classes;
pub(super) mod count;
mod cycles;
mod each_future;
pub(super) mod executed;
pub(super) mod executions;
pub(super) mod failures;
pub(super) mod futures;
mod history;
mod infinite;
pub(super) mod linear;
pub(super) mod order;
pub(super) mod outcomes;
pub mod pairs;
pub mod races;
mod samples;
pub(super) mod select;
pub(super) mod serial;
pub(super) mod steps;
pub(super) mod tear;
