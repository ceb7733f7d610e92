//! Who moves next: policies, recorded schedules, traces.
//!
//! In: a [`Machine`](crate::vm::Machine). A [`Policy`] picks a step wherever there is a choice ([`Random`],
//! [`RoundRobin`], [`Scripted`], [`Replay`], one [`Then`] another); [`run`] follows it to the end of an execution.
//! Out: an [`Execution`], a [`Schedule`] (a file that names every step by thread, place and operation, so that it can be
//! replayed strictly, see `docs/schedule.md`), and a [`Trace`] for people, with one column for each thread;
//! [`fewer_switches`] finds an order of an execution's steps that is easier to follow.

mod dependence;
mod execution;
mod file;
mod namer;
mod naming;
mod past;
mod policy;
mod render;
mod replay;
mod switches;
mod trace;
mod trials;
mod walk;

pub use dependence::{Footprint, Footprints, Resource, Use, predecessors};
pub use execution::{Execution, ExecutionStatus, run};
pub use file::{SCHEMA, Schedule, ScheduleError, Step, source_hash};
pub use namer::{Namer, SharedStep};
pub use naming::{Naming, operation_name};
pub use policy::{Decision, Policy, Random, RoundRobin, Scripted, Then, View};
pub use render::{RenderOptions, render};
pub use replay::{Departure, Found, Replay};
pub use switches::{Reordered, fewer_switches};
pub use trace::{Row, RowKind, Trace, trace};
pub use trials::{Experiment, Trial, Trials, TrialsEnd};
pub use walk::{Impossible, Walk, Walks, walk};

#[cfg(test)]
mod tests;
