//! Race-equivalent paths: tests for all orders that can change a branch.
//!
//! **Input**: a program ([`Model`](cssame_model::Model)), what is asked for ([`Request`]), and a budget. **Output**:
//! [`Findings`]: tests with their executions, the branch-affect groups that they were made for, races, failures and
//! deadlocks. [`report`] gives names to them.
//!
//! **Algorithm** (Setiadi, Ohsuga and Maekawa, "Efficient Execution Path Exploration for Detecting Races in Concurrent
//! Programs", 2013; docs/paths.md has what was changed, and why).
//!
//! 1. `run` makes an execution, by a policy that follows an order (`guided`), and records its trace (`record`, `flow`).
//! 2. `use_define` and `analysis` find which operations affect each branch.
//! 3. `groups` and `orders` find the orders in which these can happen (`projection`, `interleaving`).
//! 4. `algorithm` makes tests until all groups, or all rows of branch conditions, were tested (`selection`,
//!    `complete`).
//! 5. `exact` holds the tests to all executions, and adds those that the method has missed. It asks all states: [`executed`] which
//!    branch outcomes, waits and unprotected pairs there are, [`order`] whether operations can happen in an order before a branch
//!    (`ahead` tells both what a thread may still do), [`classes`] how many executions there are up to what their threads read.
//! 6. `races` and `manners` look at the tests; `variant_graph` is the graph of the paper, for people.
//!
//! **Soundness and limits**: what a test shows is real. What no test shows is impossible only where [`Exactness`] says
//! so.

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
