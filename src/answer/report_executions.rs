//! The executions that a report shows: one of each finding that has one.
//!
//! **Input**: the findings of `check`, `races` and `futures` in a file. **Output**: [`Executions`].
//!
//! **Algorithm**. The steps of each finding are repeated. The steps of an execution without end are the path into its cycle and
//! one iteration. Findings with the same steps share an execution.
//!
//! **Limits**: at most [`EXECUTIONS`] executions and [`ROWS`] rows, for the first findings; a longer execution is left out.

use super::ci::CiFile;
use super::compiled::Compiled;
use super::finding;
use super::run::{Course, RunReport, RunRequest, run};
use super::suppress::Finding;
use cssame_diagnostics::Code;
use cssame_explore::report::CycleReport;
use cssame_model::Model;
use cssame_schedule::{Schedule, Step};
use std::borrow::Cow;

/// Executions that are shown with their steps.
const EXECUTIONS: usize = 50;

/// Rows of all of them: a few megabytes.
const ROWS: usize = 20_000;

/// Executions of findings.
#[derive(Debug, Default)]
pub(super) struct Executions {
    /// Each once.
    pub(super) list: Vec<RunReport>,
    /// For each finding of the file the index of its own.
    pub(super) of_findings: Vec<Option<usize>>,
    /// The number of findings that have one, here or not.
    pub(super) asked: usize,
}

/// The steps of a finding, and for an execution without end where its cycle begins.
#[derive(PartialEq)]
struct Shown<'a> {
    steps: Cow<'a, [Step]>,
    cycle: Option<usize>,
}

/// A way to run for ever: what is said of it, and its steps.
type Endless<'a> = (Code, String, &'a CycleReport);

/// The executions of the findings of a file.
pub(super) fn executions(file: &CiFile) -> Executions {
    let findings = file.findings().list;
    let Some(Compiled::Program(model)) = file.subject() else {
        return Executions { of_findings: vec![None; findings.len()], ..Executions::default() };
    };
    let endless = endless(file, model);
    let mut known: Vec<Shown<'_>> = Vec::new();
    let mut rows = 0;
    let mut executions = Executions::default();
    for (_, finding) in &findings {
        let shown = shown(finding, &endless);
        if shown.steps.is_empty() {
            executions.of_findings.push(None);
            continue;
        }
        executions.asked += 1;
        let mut index = known.iter().position(|one| *one == shown);
        // An execution has at least about as many rows as steps: long ones need not be done to be left out.
        if index.is_none() && known.len() < EXECUTIONS && rows + shown.steps.len() <= ROWS {
            let report = replayed(model, &shown);
            if rows + report.trace.rows.len() <= ROWS {
                rows += report.trace.rows.len();
                executions.list.push(report);
                known.push(shown);
                index = Some(known.len() - 1);
            }
        }
        executions.of_findings.push(index);
    }
    executions
}

fn endless<'a>(file: &'a CiFile, model: &Model) -> Vec<Endless<'a>> {
    let reports = file.futures().map(|answer| answer.endless.endless.as_slice()).unwrap_or_default();
    let named = reports.iter().map(|report| {
        let diagnostic = finding::endless(model.sources(), report);
        (diagnostic.code, diagnostic.message, &report.cycle)
    });
    named.collect()
}

fn shown<'a>(finding: &Finding<'a>, endless: &[Endless<'a>]) -> Shown<'a> {
    let is_same = |one: &&Endless<'_>| one.0 == finding.diagnostic.code && one.1 == finding.diagnostic.message;
    match endless.iter().find(is_same) {
        Some((_, _, cycle)) => {
            let steps: Vec<Step> = cycle.schedule.iter().chain(&cycle.cycle).cloned().collect();
            Shown { steps: Cow::Owned(steps), cycle: Some(cycle.schedule.len()) }
        }
        None => Shown { steps: Cow::Borrowed(finding.steps), cycle: None },
    }
}

fn replayed(model: &Model, shown: &Shown<'_>) -> RunReport {
    let schedule = model.schedule(shown.steps.to_vec(), "");
    let schedule = Schedule { status: None, cycle: shown.cycle, ..schedule };
    run(model, &RunRequest { course: Course::Recorded(&schedule), max_steps: shown.steps.len() as u64 + 1 }).report
}
