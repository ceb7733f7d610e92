//! The questions that can be asked of all executions of a program.

pub(super) mod by_executions;
pub(super) mod count;
pub(super) mod futures;
pub(super) mod outcomes;
pub mod pairs;
pub(super) mod select;
pub(super) mod serial;
pub(super) mod tear;
