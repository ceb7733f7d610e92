//! The answer of `pi`: the pi functions.

pub use crate::form::PiReport;
use crate::form::{analyse, report};
use crate::model::Unit;

/// The pi functions of a program; none where it has no `main`, since nothing runs in it.
#[must_use]
pub fn pi(unit: &Unit) -> PiReport {
    analyse(&unit.program).map(|form| report(&unit.sources, &unit.program, &form)).unwrap_or_default()
}
