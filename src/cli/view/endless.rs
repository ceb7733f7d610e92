//! Executions without end, for readers: the finding, the path into the cycle, the cycle, and how to see them again.

use super::snippet;
use super::steps::StepsView;
use cssame_answer::{EndlessFindings, Judged, finding};
use cssame_diagnostics::Diagnostic;
use cssame_explore::report::EndlessReport;
use cssame_schedule as schedule;
use cssame_schedule::ExecutionStatus;
use cssame_source::SourceMap;
use cssame_vm::Choice;
use std::collections::BTreeSet;

/// What is said of an outcome behind what was printed: one without end has no last line.
pub(super) fn behind(status: &str) -> &'static str {
    if status == ExecutionStatus::ENDLESS { ", and may run for ever" } else { "" }
}

/// Why executions without end are not shown: a bound has stopped the search for them, or only unfair ones were found. Nothing
/// where neither is so.
pub(super) fn summary(findings: &EndlessFindings) -> String {
    let mut text = match findings.bound {
        None => String::new(),
        Some(bound) => format!("the search for executions without end was not finished: stopped by {}\n", bound.name()),
    };
    let unfair: BTreeSet<String> = findings.unfair.iter().map(who).collect();
    if !unfair.is_empty() {
        let unfair: Vec<String> = unfair.into_iter().collect();
        text += &format!(
            "note: {} if a lock, a permit or a notification\n\
             passes over a waiting thread again and again; `--fairness weak` shows it\n",
            unfair.join("; ")
        );
    }
    text
}

/// `T1 may run for ever`, `T2 may starve`
fn who(report: &EndlessReport) -> String {
    let threads: Vec<&str> = report.cycle.threads.iter().map(|thread| thread.thread.as_str()).collect();
    match &report.starving {
        Some(of) => format!("{} may starve", of.thread),
        None => format!("{} may run for ever", threads.join(", ")),
    }
}

/// A line for each way to run for ever, with what is to be done about it.
pub(super) fn told<'a>(reports: impl Iterator<Item = &'a EndlessReport>, advice: &str) -> String {
    let line = |report: &EndlessReport| {
        let threads: Vec<&str> = report.cycle.threads.iter().map(|thread| thread.thread.as_str()).collect();
        let can = if report.no_end_after == Some(0) { "run" } else { "may run" };
        let what = snippet::one_line(&format!("{} {can} for ever", threads.join(", ")));
        format!("endless  {what} ({}): {advice}\n", report.kind)
    };
    reports.map(line).collect()
}

/// The same of those that nobody has suppressed, where a command has asked something else.
pub(super) fn told_beside(findings: &EndlessFindings, sources: &SourceMap, judged: &Judged) -> String {
    let is_shown = |report: &&EndlessReport| judged.shown(finding::endless(sources, report)).is_some();
    told(findings.endless.iter().filter(is_shown), "`cssame futures` shows it")
}

/// The finding, the way into the cycle, and the cycle.
pub(super) fn block(view: &StepsView<'_>, diagnostic: &Diagnostic, report: &EndlessReport) -> String {
    view.diagnostic(diagnostic) + "\n" + &lasso(view, &report.steps, report.start())
}

/// The steps into a cycle, and those of the cycle from the `start`-th one on.
pub(super) fn lasso(view: &StepsView<'_>, steps: &[Choice], start: usize) -> String {
    let (way, cycle) = schedule::trace(view.model.naming(), steps).parted(start);
    view.trace(&way) + "the cycle:\n" + &view.trace(&cycle)
}
