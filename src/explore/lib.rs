//! Exhaustive exploration: what can happen at all.
//!
//! **Input**: a program with its machine ([`Subject`]), and a [`Budget`](cssame_budget::Budget). **Output**: plain
//! data. [`Subject::futures`] says which writes each read can see, which outcomes, failures and deadlocks there are,
//! each with a schedule that shows it. [`Subject::count`] counts the futures: the executions that differ in what some read
//! sees. [`Subject::select`] decides whether some execution has a given selection of pi terms; [`tear()`] whether some
//! execution tears two accesses of a method apart; [`serial()`] whether two methods can run one after the other.
//! [`report`] gives names to the answers.
//!
//! **Algorithm**: a portfolio of three exact strategies (`portfolio`):
//! 1. `states`: breadth-first through states, which are told apart by fingerprints of 128 bits. It serves every
//!    program, and its schedules are shortest ones.
//! 2. `reads_from`: one execution for each future, or for each order of operations on objects. It serves most programs that do
//!    not fail, and is the better one where threads are many.
//! 3. [`mod@slice`]: asks what each read sees in a program that holds only what matters to it.
//!
//! Where a bound ends all three, `question::samples` adds what single executions have shown meanwhile, by seeds and depth-first.
//!
//! **Soundness and limits**: all three are exact, and deterministic. Where a bound is hit, the answer says so and
//! claims nothing beyond what was seen. What belongs to which question is in `question`.
//!
//! The other functions, which run one strategy alone (`by_states`, `by_executions` and the like), are for tests that
//! compare the strategies, and for benches.

mod answer;
mod deadlock;
mod liveness;
mod portfolio;
mod question;
mod reads_from;
mod reduction;
pub mod report;
mod slice;
mod states;
mod subject;

pub use answer::{Answer, Ends, FailureWitness, MAX_TERM_STEPS, Outcome, OutcomeStatus, Query, Term, TermSchedules};
pub use deadlock::{BlockedThread, Deadlock, WaitsFor, blocked_threads};
pub use liveness::{
    Endless, EndlessAnswer, EndlessKind, EndlessRequest, SeenCycle, cycle_in, endless, may_run_for_ever, returns,
};
pub use question::by_executions::by_executions;
pub use question::classes;
pub use question::count::{CountAnswer, count, count_by_executions, count_by_states};
pub use question::executed::{
    BranchOutcome, ExecutedAnswer, ExecutedRequest, UnprotectedPair, WaitOutcome, executed, executed_by_executions,
};
pub use question::executions::{ExecutionsAnswer, executions};
pub use question::futures::{by_states, futures};
pub use question::linear::{Arm, CallEnd, CallOrders, CallTracker, CallsAnswer, calls};
pub use question::order::{OrderAnswer, OrderRequest, OrderStep, OrderVerdict, Others, Target, order};
pub use question::pairs;
pub use question::races::{AlwaysBefore, FailingOrder, Race, RacesAnswer, Racing, races, races_by_executions};
pub use question::select::{SelectAnswer, Verdict, select, select_by_executions, select_by_states};
pub use question::serial::{Serial, serial};
pub use question::steps::{StepEdge, StepGraph, steps};
pub use question::tear::{Other, Side, Tear, TearAnswer, TearPattern, Torn, parties, tear, tear_at_random, tears};
pub use reads_from::Refusal;
pub use reduction::{Commuting, Reduction};
pub use report::fewer_switches::with_fewer_switches;
pub use report::unfinished::{Repetition, RunningReport, UnfinishedReport, unfinished_report};
pub use slice::Declined;
pub use subject::Subject;

#[cfg(test)]
mod long_steps;
#[cfg(test)]
mod tests;
