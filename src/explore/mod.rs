//! Exhaustive exploration: what can happen at all.
//!
//! In: a [`Machine`](crate::vm::Machine). Out: plain data. [`futures()`] says which writes each read can see, which
//! outcomes, failures and deadlocks there are, each with a schedule that shows it. [`count()`] counts the futures: the
//! executions that differ in what some read sees. [`select()`] decides whether some execution has a given selection of pi
//! terms, and [`contradiction`] why none has; [`tear()`] whether some execution tears two touches of a method apart.
//! [`report`] gives names to the answers.
//!
//! There are three means. One goes breadth-first through states, which are told apart by 128-bit fingerprints, so a schedule is
//! a shortest one in steps; it serves every program. Another, [`reads_from`], runs one execution for each future; it serves
//! programs whose threads synchronise by memory alone, and is the better one where threads are many. The third, [`mod@slice`],
//! asks what each read sees in a program that holds only what matters to it ([`Subject`]). All are exact, and
//! deterministic. A [`Budget`](crate::budget::Budget) bounds them; when a bound is hit, the answer says so and claims nothing beyond what
//! was seen.

mod answer;
mod deadlock;
mod portfolio;
mod question;
mod reads_from;
pub mod report;
mod slice;
mod states;

pub use answer::{Answer, FailureWitness, MAX_TERM_STEPS, Outcome, OutcomeStatus, Query, Term};
pub use deadlock::{BlockedThread, Deadlock};
pub use question::by_executions::by_executions;
pub use question::count::{CountAnswer, count, count_by_executions, count_by_states};
pub use question::futures::{by_states, futures};
pub use question::pairs;
pub use question::select::{SelectAnswer, Verdict, select, select_by_executions, select_by_states};
pub use question::serial::{Serial, serial};
pub use question::tear::{Side, Tear, TearAnswer, Watch, tear, tear_at_random};
pub use reads_from::Refusal;
pub use report::unfinished::{Repetition, RunningReport, UnfinishedReport, unfinished_report};
pub use report::witness::with_fewer_switches;
pub use slice::{Declined, Subject};

#[cfg(test)]
mod tests;
