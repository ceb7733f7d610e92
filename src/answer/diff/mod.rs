//! The answer of `diff`: the effects of a change of a program, and the point where two executions diverge.
//!
//! **Input**: two programs, or two recorded executions. **Output**: [`ProgramsAnswer`], [`ExecutionsReport`].
//!
//! **Algorithm**: places are matched by structure ([`align`]), not by line: the text between them does not matter. Then
//! [`programs`] compares the possible behaviours, [`carry`] follows a schedule of the old program in the new one, and
//! [`executions`] repeats two schedules.

mod align;
mod carry;
mod executions;
mod programs;

pub use align::Alignment;
pub use carry::CarriedReport;
pub use executions::{EndReport, ExecutionsReport, ReadChange, SeenReport};
pub use programs::{Change, DeadlockChange, FailureChange, OutcomeChange, TermChange, count, step_text};

use super::endless::{self, EndlessFindings};
use super::futures::candidates;
use super::run::{Course, RunRequest, run};
use cssame_budget::{Bound, Budget};
use cssame_explore::report::{FuturesReport, Schedules, report};
use cssame_explore::{EndlessRequest, Query, Subject, with_fewer_switches};
use cssame_ir::{Instruction, Program, ReadId, RegisterType, ScalarType};
use cssame_model::Model;
use cssame_schedule::{Departure, Schedule};
use cssame_source::{FileId, SourceMap};
use programs::Both;
use serde::Serialize;

/// What has changed from one program to another one.
#[derive(Debug, Serialize)]
pub struct ProgramsAnswer {
    /// Whether everything was visited in both.
    pub complete: bool,
    /// The bound that was hit.
    pub bound: Option<&'static str>,
    /// All terms, by place of the old program, then those that are new.
    pub terms: Vec<TermChange>,
    /// All failures, in the same order.
    pub failures: Vec<FailureChange>,
    /// All deadlocks.
    pub deadlocks: Vec<DeadlockChange>,
    /// All outcomes.
    pub outcomes: Vec<OutcomeChange>,
    /// What has become of the recorded execution, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub carried: Option<CarriedReport>,
    /// The bound that was hit.
    #[serde(skip)]
    pub hit: Option<Bound>,
    /// The texts of the old program and of the new one.
    #[serde(skip)]
    pub texts: [ComparedText; 2],
}

/// The text of a program that was compared.
#[derive(Clone, Debug)]
pub struct ComparedText {
    /// Holds the one file.
    pub sources: SourceMap,
    /// The file.
    pub file: FileId,
}

impl ComparedText {
    fn of(model: &Model) -> ComparedText {
        ComparedText { sources: model.sources().clone(), file: model.unit().file }
    }
}

impl ProgramsAnswer {
    /// Whether something is gone or new that is no failure and no deadlock, and does not end so.
    #[must_use]
    pub fn differs(&self) -> bool {
        let terms = self.terms.iter().map(|of| of.change);
        let outcomes = self.outcomes.iter().filter(|of| of.status == "ok").map(|of| of.change);
        terms.chain(outcomes).any(|change| matches!(change, Change::Gone | Change::New))
    }
}

/// Compares two programs. The recorded execution is one of the old program.
///
/// # Errors
///
/// The schedule does not fit the old program.
pub fn diff_programs(
    old: &Model,
    new: &Model,
    schedule: Option<&Schedule>,
    budget: &Budget<'_>,
) -> Result<ProgramsAnswer, Departure> {
    let alignment = Alignment::of(old.unit().text(), new.unit().text());
    let carried = match schedule {
        None => None,
        Some(schedule) => {
            let request = RunRequest { course: Course::Recorded(schedule), max_steps: carry::MAX_STEPS };
            let before = run(old, &request);
            match before.departure {
                Some(departure) => return Err(departure),
                None => Some(carry::carry(schedule, before.report.status, new, &alignment)),
            }
        }
    };
    let (mut one, first, endless) = happens(old, budget);
    let (mut other, second, also) = happens(new, budget);
    // Of executions without end nothing is said unless they were looked for in both.
    if endless.endless_complete && also.endless_complete {
        one.outcomes.extend(endless.outcomes(old, Schedules::OfFindings));
        other.outcomes.extend(also.outcomes(new, Schedules::OfFindings));
    }
    let both = Both { old: &one, new: &other, alignment: &alignment };
    Ok(ProgramsAnswer {
        complete: one.complete && other.complete,
        bound: one.bound.or(other.bound),
        terms: both.terms(),
        failures: both.failures(),
        deadlocks: both.deadlocks(),
        outcomes: both.outcomes(),
        carried,
        hit: first.or(second),
        texts: [ComparedText::of(old), ComparedText::of(new)],
    })
}

/// Compares two executions, each of its program.
///
/// # Errors
///
/// Which of the schedules does not fit its program, 0 or 1, and where.
pub fn diff_executions(models: [&Model; 2], schedules: [&Schedule; 2]) -> Result<ExecutionsReport, (usize, Departure)> {
    let alignment = Alignment::of(models[0].unit().text(), models[1].unit().text());
    executions::compare(models, schedules, &alignment)
}

/// What can happen in a program, the bound that was hit, and the executions without end.
fn happens(model: &Model, budget: &Budget<'_>) -> (FuturesReport, Option<Bound>, EndlessFindings) {
    let search = || Subject::from(model).futures(&Query::default(), budget);
    let (mut answer, endless) = endless::around(model, EndlessRequest::default(), budget, search, |answer| answer);
    with_fewer_switches(model.machine(), &mut answer);
    let report = report(&model.naming(), &answer, &candidates(model), None, Schedules::OfFindings);
    (report, answer.bound, endless)
}

/// The type of what a read gives.
fn read_type(program: &Program, read: ReadId) -> ScalarType {
    let function = &program.functions[program.reads[read].function];
    let dest = function.blocks.iter().flat_map(|block| &block.instructions).find_map(|one| match one {
        Instruction::Load { dest, read: of, .. } | Instruction::Atomic { dest, read: of, .. } if *of == read => {
            Some(*dest)
        }
        _ => None,
    });
    match dest.map(|dest| function.registers[dest].ty) {
        Some(RegisterType::Scalar(ty)) => ty,
        _ => ScalarType::Long,
    }
}
