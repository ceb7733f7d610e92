//! The answer of `pi`: the pi functions.

pub use cssame_form::PiReport;
use cssame_form::report;
use cssame_model::{Unit, form_in_contexts};

/// The pi functions of a program, of each read in each of its calling contexts; none where it has no `main`, since nothing
/// runs in it.
#[must_use]
pub fn pi(unit: &Unit) -> PiReport {
    let analysed = form_in_contexts(&unit.program);
    analysed.map(|(program, form)| report(&unit.sources, &program, &form)).unwrap_or_default()
}
