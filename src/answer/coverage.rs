//! The answer of `coverage`: how much the executions cover, and how much can be covered.

use super::compiled::Compiled;
use super::endless::{self, EndlessFindings};
use cssame_budget::Budget;
use cssame_coverage as coverage;
use cssame_coverage::report::{CoverageReport, MetReport, library_report, report};
use cssame_coverage::{Findings, RecordedProgram, Request};
use cssame_model::{Model, Options};
use cssame_schedule::{Departure, Schedule};
use serde::Serialize;
use std::sync::Arc;

/// What is asked for.
#[derive(Clone, Debug)]
pub struct CoverageRequest {
    /// How many executions are made at random.
    pub runs: u64,
    /// The seed of the first of them.
    pub seed: u64,
    /// Executions that were recorded; of a program alone.
    pub schedules: Vec<Schedule>,
    /// Programs that use a file without `main`, with recorded executions.
    pub programs: Arc<[RecordedProgram]>,
    /// Steps of one execution at most.
    pub max_steps: u64,
    /// States that are visited to decide what can be covered; none where that is not asked.
    pub explore: Option<u64>,
    /// Whether executions are to be found that cover what is missing.
    pub witnesses: bool,
}

impl Default for CoverageRequest {
    fn default() -> CoverageRequest {
        CoverageRequest {
            runs: 100,
            seed: 0,
            schedules: Vec::new(),
            programs: Arc::default(),
            max_steps: 100_000,
            explore: Some(500_000),
            witnesses: false,
        }
    }
}

impl CoverageRequest {
    /// The program of a recorded execution of a file without `main`, by its number among all of them.
    #[must_use]
    pub fn program_of(&self, number: usize) -> Option<&Model> {
        let mut left = number;
        for program in self.programs.iter() {
            match left.checked_sub(program.schedules.len()) {
                None => return Some(&program.model),
                Some(rest) => left = rest,
            }
        }
        None
    }
}

/// What executions cover; it serialises as [`CoverageReport`] with [`MetReport`].
#[derive(Debug, Serialize)]
pub struct CoverageAnswer {
    /// With names.
    #[serde(flatten)]
    pub report: CoverageReport,
    /// Failures and deadlocks of the program.
    #[serde(flatten)]
    pub met: MetReport,
    /// Executions without end of the program, where all executions were to be explored.
    #[serde(flatten)]
    pub endless: EndlessFindings,
    /// As the layer `coverage` has found it.
    #[serde(skip)]
    pub findings: Findings,
}

/// Makes executions of a program, or of the drivers of a file without `main`, and finds what they cover.
///
/// # Errors
///
/// The number of a recorded execution that the program departs from, and where; those of several programs in their order.
pub fn coverage(
    subject: &Compiled,
    options: &Options,
    request: &CoverageRequest,
    budget: &Budget<'_>,
) -> Result<CoverageAnswer, (usize, Departure)> {
    let seeds = request.seed..request.seed.saturating_add(request.runs);
    let CoverageRequest { max_steps, explore, witnesses, .. } = *request;
    let asked = Request { seeds, schedules: request.schedules.clone(), max_steps, explore, witnesses };
    let ((report, met), findings) = match subject {
        Compiled::Program(model) => {
            let findings = coverage::find(model, &asked, budget)?;
            (report(model, &findings), findings)
        }
        Compiled::Library(unit) => {
            let findings = coverage::find_in_recorded(unit, options, &request.programs, &asked, budget)?;
            ((library_report(unit, &findings), MetReport::default()), findings)
        }
    };
    let endless = match (subject, &findings.searched) {
        (Compiled::Program(model), Some(answer)) => endless::behind(model, answer.statistics.states, budget),
        _ => EndlessFindings::default(),
    };
    Ok(CoverageAnswer { report, met, endless, findings })
}
