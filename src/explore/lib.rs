//! Exhaustive exploration: determines all possible behaviours.
//!
//! **Input**: a program with its machine ([`Subject`]), and a [`Budget`](cssame_budget::Budget). **Output**: plain data.
//! [`Subject::futures`] determines which writes each read can see, and the possible outcomes, failures and deadlocks, each with a
//! schedule that shows it. [`Subject::count`] counts the futures: the executions that differ in the write that some read sees.
//! [`Subject::select`] decides whether some execution has a given selection of pi terms; [`endless()`] whether one runs for ever;
//! [`races()`] which accesses race. [`report`] adds names to the answers.
//!
//! **Algorithm**: two engines, preceded by slices of the program.
//!
//! | folder | contents | known from |
//! |---|---|---|
//! | `states` | breadth-first search through states with 128-bit fingerprints; schedules are shortest ones | Spin |
//! | `hunt` | search for bugs: failures, deadlocks and races in the order of preemptions | iterative context bounding |
//! | `reads_from` | one execution for each future, or for each order of operations on objects | Nidhugg, GenMC |
//! | [`mod@slice`] | finds the writes that each read sees, in a program reduced to the relevant parts | program slicing |
//! | `liveness` | cycles of states under fairness | |
//! | `reduction` | expands one thread alone if its steps commute with those of the others | stubborn sets |
//! | `question` | the questions to the engines: futures, counts, selections, races, steps | |
//! | `portfolio` | runs the three in turn, with growing shares of the budget; the first to finish answers | |
//! | [`frame`] | the interface of the states for questions of other layers, and how to write one | |
//!
//! States serve every program. Executions serve most programs that do not fail, and are better for many threads. If a bound ends
//! all three, `question::samples` adds the findings of single executions, by seeds and depth-first. Questions of a single layer
//! are in that layer, on the frame: tears in `tear`; orders, branch outcomes and classes in `paths`; ends of calls in `coverage`.
//!
//! **Soundness and limits**: all three are exact and deterministic, and they list the same terms. If a bound is hit, the answer
//! says so and claims nothing beyond the observed behaviours.
//!
//! The other functions, which run one strategy alone (`by_states`, `by_executions` and the like), are for tests that
//! compare the strategies, and for benches.

mod answer;
mod deadlock;
pub mod frame;
mod hunt;
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
pub use hunt::{HUNT_SAMPLES, HuntAnswer, HuntRace, HuntRequest};
pub use liveness::{
    Endless, EndlessAnswer, EndlessKind, EndlessRequest, Fairness, SeenCycle, cycle_in, endless, may_run_for_ever,
    returns,
};
pub use question::by_executions::by_executions;
pub use question::count::{CountAnswer, count, count_by_executions, count_by_states};
pub use question::executions::{ExecutionsAnswer, executions};
pub use question::futures::{by_states, futures};
pub use question::overlaps::{Asked, NumberPair, OpenCalls, OverlapsAnswer, overlaps};
pub use question::races::{AlwaysBefore, FailingOrder, Race, RacesAnswer, Racing, races, races_by_executions};
pub use question::select::{SelectAnswer, Verdict, select, select_by_executions, select_by_states};
pub use question::steps::{StepEdge, StepGraph, steps};
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
