//! An execution for people.

use super::endless::lasso;
use super::snippet;
use super::steps::StepsView;
use crate::screen;
use cssame_answer::words::plural;
use cssame_answer::{Judged, RunAnswer, RunCycle};
use cssame_diagnostics::{Diagnostic, terminal};
use cssame_model::Model;
use cssame_schedule::{ExecutionStatus, Schedule};
use cssame_vm::FailureKind;

/// An execution, and how it is shown.
pub struct RunView<'a> {
    /// The execution.
    pub answer: &'a RunAnswer,
    /// The program.
    pub model: &'a Model,
    /// The schedule that was followed.
    pub schedule: Option<&'a Schedule>,
    /// Whether it goes on at random behind the schedule.
    pub goes_on: bool,
    /// Whether the text of the source stands beside each step.
    pub source: bool,
    /// Whether all steps are shown.
    pub full: bool,
    /// Which findings are suppressed.
    pub judged: &'a Judged,
    /// Whether there is colour.
    pub colour: bool,
}

impl RunView<'_> {
    /// The steps, with one column for each thread.
    #[must_use]
    pub fn trace(&self) -> String {
        let trace = &self.answer.report.trace;
        if self.full {
            return self.steps().trace(trace);
        }
        self.steps().cause(&self.answer.execution.steps)
    }

    /// The steps, what was printed, and how it ends.
    #[must_use]
    pub fn text(&self) -> String {
        let report = &self.answer.report;
        let lasso = |cycle: &RunCycle| lasso(&self.steps(), &self.answer.execution.steps, cycle.start);
        let mut text = report.cycle.as_ref().map_or_else(|| self.trace(), lasso);
        if !report.by_thread.is_empty() {
            text.push('\n');
            text += &snippet::title("output", self.colour);
            text += &snippet::outputs(&report.by_thread);
        }
        if let Some(finding) = self.finding() {
            text.push('\n');
            text += &terminal::render_all(self.model.sources(), &[finding], screen::of_stdout(self.colour));
        }
        text
    }

    fn steps(&self) -> StepsView<'_> {
        StepsView { model: self.model, all: self.full, source: self.source, colour: self.colour }
    }

    /// How it ends badly, unless that is suppressed.
    #[must_use]
    pub fn finding(&self) -> Option<Diagnostic> {
        self.judged.shown(self.answer.finding(self.model)?)
    }

    /// How it ended, and how that differs from what was recorded.
    #[must_use]
    pub fn summary(&self) -> String {
        let (report, status) = (&self.answer.report, &self.answer.execution.status);
        let steps = plural(report.schedule.len(), "step");
        let seed = report.seed.map_or_else(String::new, |seed| format!(", seed {seed}"));
        let cycle = report.cycle.as_ref().map(|cycle| cycle.report.cycle.len());
        let mut text = match status {
            _ if cycle.is_some() => {
                format!(
                    "endless: after {steps}{seed} it is in the same state as {} before\n",
                    plural(cycle.unwrap_or(0), "step")
                )
            }
            ExecutionStatus::StepLimit => format!("not over after {steps}{seed} (see --max-steps)\n"),
            ExecutionStatus::Stopped => format!("the schedule ends here, after {steps} (see --then)\n"),
            ExecutionStatus::Discarded => format!("discarded by an assumption after {steps}{seed}\n"),
            ExecutionStatus::Ok | ExecutionStatus::Failed(_) | ExecutionStatus::Deadlock => {
                format!("{}: {steps}{seed}\n", report.status)
            }
        };
        if self.schedule.is_some_and(|schedule| !self.model.has_recorded(schedule)) {
            text += "the program has changed since the schedule was recorded, but the schedule still fits\n";
        }
        let left = self.schedule.map_or(0, |schedule| schedule.steps.len().saturating_sub(report.schedule.len()));
        if left > 0 && matches!(status, ExecutionStatus::Failed(_)) {
            text += &format!("the failure comes {} before the end of the schedule\n", plural(left, "step"));
        }
        let recorded = self.schedule.and_then(|schedule| schedule.status.as_deref());
        let recorded = recorded.filter(|status| is_end(status) && !self.goes_on);
        if let Some(recorded) = recorded.filter(|&recorded| recorded != report.status) {
            text += &format!("it was recorded with the end `{recorded}`, and now ends with `{}`\n", report.status);
        }
        text
    }
}

/// Whether an execution can end so, as a schedule records it; other words say what it was written for.
fn is_end(status: &str) -> bool {
    ["ok", "deadlock", "discarded", ExecutionStatus::ENDLESS].contains(&status)
        || FailureKind::ALL.into_iter().any(|kind| kind.status() == status)
}
