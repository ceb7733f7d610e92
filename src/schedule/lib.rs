//! Executions: makes, repeats, describes and compares them.
//!
//! **Input**: a [`Machine`](cssame_vm::Machine), which provides the possible steps of a state, but does not choose one.
//!
//! **Output**, by module:
//!
//! - To make executions: a [`Policy`] chooses among the possible steps ([`Random`], [`Pct`], [`Pos`], [`RoundRobin`],
//!   [`Scripted`], [`Replay`], one [`Then`] another, one that may [`SwitchAt`] few places only, one that is [`Steered`] by wanted
//!   reads). [`run`] follows it to the end of one [`Execution`], [`Trials`] make many, by seeds, on several cores, [`Tally`]
//!   counts their outcomes, and [`Greybox`] learns from them what to try next. [`Rate`] and [`FirstHit`] evaluate trials. A
//!   [`Lookahead`] tells a policy which accesses a thread would make.
//! - To repeat them: a [`Walk`] executes given steps under an observer, and refuses impossible ones.
//! - To describe them: a [`Schedule`] is a file that names every step by thread, place and operation, so that it can be replayed
//!   strictly (`docs/schedule.md`). [`Naming`] provides these names. A [`Trace`] is for readers, with one column for each thread.
//! - To compare their events: [`Clocks`] decide which events happen before which, [`Footprint`]s which steps are dependent,
//!   [`PendingFootprint`]s which next steps are dependent, [`HeldLocks`] which locks a thread holds, and [`Nesting`] whether it
//!   is in a call of a function. [`fewer_switches`] finds an order of an execution's steps that is easier to follow.
//!
//! **Soundness and limits**. Everything here is deterministic. Outside this layer and the machine itself, only the searches of
//! `explore` execute steps of the machine directly.

mod calls;
mod causality;
mod clocks;
mod dependence;
mod describe;
mod estimate;
mod execution;
mod facts;
mod file;
mod fold;
mod greybox;
mod held;
mod interruptions;
mod lookahead;
mod namer;
mod naming;
mod nesting;
mod passed;
mod pct;
mod pending;
mod per_thread;
mod policy;
mod pos;
mod render;
mod reorder;
mod replay;
mod row;
mod scheduler;
mod switch_at;
mod tally;
mod trace;
mod trials;
mod values;
mod wakeups;
mod walk;

pub use clocks::{Clock, Clocks, Edges, Stamp, ThreadNumber};
pub use dependence::{Footprint, Footprints, Resource, Use, predecessors, used_by};
pub use estimate::{FirstHit, Interval, Rate, Z_95};
pub use execution::{Execution, ExecutionStatus, run, run_named};
pub use facts::facts;
pub use file::{SCHEMA, Schedule, ScheduleError, Step, options_of, source_hash};
pub use greybox::{AbstractSchedule, Constraint, GENERATION, Greybox, GreyboxEnd, Steered, Term};
pub use held::{Held, HeldLocks, LocksetId, lock_name};
pub use interruptions::preemptions;
pub use lookahead::{Lookahead, PendingAccess, PendingAccesses};
pub use namer::{Namer, SharedStep};
pub use naming::{Naming, operation_name};
pub use nesting::Nesting;
pub use passed::{Branches, Passed};
pub use pct::Pct;
pub use pending::PendingFootprint;
pub use policy::{Decision, Policy, Random, RoundRobin, Scripted, Then, View};
pub use pos::Pos;
pub use render::{RenderOptions, render};
pub use reorder::{Reordered, fewer_switches};
pub use replay::{Departure, Found, Replay};
pub use row::{Row, RowKind};
pub use scheduler::{Scheduled, Scheduler};
pub use switch_at::SwitchAt;
pub use tally::{MAX_OUTCOMES, Tallied, TalliedOutcome, Tally};
pub use trace::{Trace, trace};
pub use trials::{Experiment, Trial, Trials, TrialsEnd};
pub use values::shown_value;
pub use wakeups::{Signal, Taken, Unit, Wakeups};
pub use walk::{Impossible, Walk, Walks, walk};

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
