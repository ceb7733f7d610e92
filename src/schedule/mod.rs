//! Executions: how they are made, done again, described and compared.
//!
//! **Input**: a [`Machine`](crate::vm::Machine), which knows the steps that a state allows, but not which one to do.
//!
//! **Output**, by module:
//!
//! - To make executions: a [`Policy`] chooses among the steps that are possible ([`Random`], [`RoundRobin`], [`Scripted`],
//!   [`Replay`], one [`Then`] another); [`run`] follows it to the end of one [`Execution`], [`Trials`] make many, by seeds,
//!   on several cores.
//!   A policy asks a [`Lookahead`] what a thread would access.
//! - To do them again: a [`Walk`] does given steps, watched, and refuses those that are not possible.
//! - To describe them: a [`Schedule`] is a file that names every step by thread, place and operation, so that it can be
//!   replayed strictly (`docs/schedule.md`); [`Naming`] gives those names. A [`Trace`] is for people, with one column for each
//!   thread.
//! - To compare their events: [`Clocks`] tell which events happen before which, [`Footprint`]s which steps are dependent, and
//!   [`Activations`] which call a step belongs to. [`fewer_switches`] finds an order of an execution's steps that is easier to
//!   follow.
//!
//! **Soundness and limits**. Everything here is deterministic. Outside of this layer and the machine itself only the searches of
//! `explore` do steps of the machine by themselves.

mod activations;
mod causality;
mod clocks;
mod dependence;
mod execution;
mod file;
mod lookahead;
mod namer;
mod naming;
mod policy;
mod render;
mod reorder;
mod replay;
mod trace;
mod trials;
mod walk;

pub use activations::{Activation, Activations, Nesting};
pub use clocks::{Clock, Clocks, Edges, Stamp, ThreadNumber};
pub use dependence::{Footprint, Footprints, Resource, Use, predecessors};
pub use execution::{Execution, ExecutionStatus, run};
pub use file::{SCHEMA, Schedule, ScheduleError, Step, source_hash};
pub use lookahead::{Lookahead, PendingAccess, PendingAccesses};
pub use namer::{Namer, SharedStep};
pub use naming::{Naming, operation_name};
pub use policy::{Decision, Policy, Random, RoundRobin, Scripted, Then, View};
pub use render::{RenderOptions, render};
pub use reorder::{Reordered, fewer_switches};
pub use replay::{Departure, Found, Replay};
pub use trace::{Row, RowKind, Trace, trace};
pub use trials::{Experiment, Trial, Trials, TrialsEnd};
pub use walk::{Impossible, Walk, Walks, walk};

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
