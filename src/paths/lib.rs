//! Race-equivalent paths: tests for all orders that can change a branch.
//!
//! **Input**: a program ([`Model`](cssame_model::Model)), a [`Request`], and a budget. **Output**: [`Findings`]: tests with their
//! executions, their branch-affect groups, races, failures and deadlocks. [`report`] adds names to them.
//!
//! **Algorithm** (Setiadi, Ohsuga and Maekawa, "Efficient Execution Path Exploration for Detecting Races in Concurrent Programs",
//! 2013; docs/paths.md lists the changes and their reasons).
//!
//! 1. `run` makes an execution, by a policy that follows an order (`guided`), and records its trace (`record`, `flow`).
//! 2. `use_define` and `analysis` find which operations affect each branch.
//! 3. `groups` and `orders` find the possible orders of these operations (`projection`, `interleaving`).
//! 4. `algorithm` makes tests until all groups, or all rows of branch conditions, were tested (`selection`,
//!    `complete`).
//! 5. `exact` compares the tests with all executions, and adds tests that the method has missed. It searches all states:
//!    [`executed`] finds the existing branch outcomes, waits and unprotected pairs; [`order`] decides whether operations can
//!    happen in an order before a branch (`ahead` tells both the possible future actions of a thread); [`classes`] counts
//!    executions up to the values that their threads read.
//! 6. `races` and `manners` analyse the tests; `variant_graph` is the graph of the paper, for readers.
//!
//! **Soundness and limits**: everything that a test shows is real. A behaviour that no test shows is impossible only if
//! [`Exactness`] says so.

mod ahead;
mod algorithm;
mod analysis;
pub mod classes;
mod complete;
mod equivalent;
mod exact;
pub mod executed;
mod feasible;
mod find;
mod flow;
mod groups;
mod guided;
mod ids;
mod interleaving;
mod manners;
pub mod order;
mod orders;
mod projection;
mod prune;
mod races;
mod record;
pub mod report;
mod run;
mod selection;
mod taint;
mod trace;
mod use_define;
mod variant_graph;

pub use algorithm::{StoppedBy, Test};
pub use analysis::{Decision, DecisionKind};
pub use exact::Exactness;
pub use find::{Criterion, Findings, First, Request, find};
pub use races::Arrays;
pub use run::Session;
pub use trace::{Action, ActionKind, Trace};
pub use use_define::UseDefine;

#[cfg(test)]
mod tests;
