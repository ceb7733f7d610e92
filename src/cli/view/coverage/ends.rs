//! Failures of executions of a program, with the command that repeats each.

use super::CoverageView;
use crate::load::name_of;
use crate::record;
use crate::view::replay::{DIRECTORY, options_text, quoted, record_line, replay_line};
use crate::view::steps::StepsView;
use crate::view::symmetric::groups;
use cssame_answer::words::plural;
use cssame_answer::{Compiled, finding};
use cssame_coverage::Origin;
use cssame_coverage::report::{MetReport, TriggerReport, TriggersReport};
use cssame_diagnostics::Diagnostic;
use cssame_explore::report::BlockedReport;
use cssame_model::Model;
use cssame_schedule::ExecutionStatus;
use cssame_vm::Choice;
use std::path::{Path, PathBuf};

/// Failures, and deadlocks, that are shown without `--all`.
const SHOWN: usize = 4;

impl CoverageView<'_> {
    pub(super) fn failures(&self, report: &MetReport) -> Vec<String> {
        let Compiled::Program(model) = self.subject else { return Vec::new() };
        let ends = self.coverage.findings.measured.ends.iter().filter_map(|(_, origin, end)| match &end.status {
            ExecutionStatus::Failed(failure) => Some((failure, &end.steps[..], *origin)),
            _ => None,
        });
        let block = |(index, (met, (failure, steps, origin)))| {
            let met: &cssame_coverage::report::SeededFailure = met;
            let diagnostic = finding::failure(&model.naming(), failure, &met.failure.thread, &met.failure.facts);
            let diagnostic = with_triggers(with_origin(self.judged.shown(diagnostic)?, origin), &met.triggers);
            Some((diagnostic, steps, met.seed, index))
        };
        let all: Vec<_> = report.failures.iter().zip(ends).enumerate().filter_map(block).collect();
        let limit = self.limit(SHOWN);
        let shown = all.iter().take(limit).map(|(diagnostic, steps, seed, index)| {
            self.finding(model, diagnostic, steps) + &self.replay(model, *seed, |of| record::failure_file(of, *index))
        });
        let mut blocks: Vec<String> = shown.collect();
        blocks.extend(hidden(all.len(), limit, "failure"));
        blocks
    }

    pub(super) fn deadlocks(&self, report: &MetReport) -> Vec<String> {
        let Compiled::Program(model) = self.subject else { return Vec::new() };
        let ends = self.coverage.findings.measured.ends.iter().filter_map(|(_, origin, end)| match &end.status {
            ExecutionStatus::Deadlock => Some((&end.steps[..], *origin)),
            _ => None,
        });
        let block = |(index, (met, (steps, origin)))| {
            let met: &cssame_coverage::report::SeededDeadlock = met;
            let diagnostic = finding::deadlock(model.sources(), &met.deadlock.threads);
            let diagnostic = with_triggers(with_origin(self.judged.shown(diagnostic)?, origin), &met.triggers);
            Some((diagnostic, steps, met, index))
        };
        let all: Vec<_> = report.deadlocks.iter().zip(ends).enumerate().filter_map(block).collect();
        let limit = self.limit(SHOWN);
        let groups = groups(all.iter().map(|of| &of.2.deadlock.threads[..]), self.all);
        let count = groups.len();
        let shown = groups.into_iter().take(limit).map(|(at, others)| {
            let (diagnostic, steps, met, index) = &all[at];
            let others: Vec<&[BlockedReport]> =
                others.into_iter().map(|other| &all[other].2.deadlock.threads[..]).collect();
            let diagnostic = &finding::with_symmetric(diagnostic.clone(), &others);
            let seed = &met.seed;
            self.finding(model, diagnostic, steps) + &self.replay(model, *seed, |of| record::deadlock_file(of, *index))
        });
        let mut blocks: Vec<String> = shown.collect();
        blocks.extend(hidden(count, limit, "deadlock"));
        blocks
    }

    /// A diagnostic, and the steps that lead to it.
    fn finding(&self, model: &Model, diagnostic: &Diagnostic, steps: &[Choice]) -> String {
        StepsView { model, all: self.all, source: false, colour: self.colour }.finding(diagnostic, steps)
    }

    /// The command line that does the execution again: by its schedule where that was written, else by its seed.
    fn replay(&self, model: &Model, seed: Option<u64>, file: impl Fn(&Path) -> PathBuf) -> String {
        let options = options_text(model.options());
        match (self.record_dir, seed) {
            (Some(directory), _) => replay_line(self.file, &file(directory)),
            (None, Some(seed)) => {
                format!("replay: cssame run {}{options} --seed {seed}\n", quoted(&name_of(self.file)))
            }
            (None, None) => {
                record_line("coverage", self.file, &(options + self.options))
                    + &replay_line(self.file, &file(Path::new(DIRECTORY)))
            }
        }
    }
}

fn with_origin(diagnostic: Diagnostic, origin: Origin) -> Diagnostic {
    match origin {
        Origin::Seed(seed) => diagnostic.with_note(format!("the execution of seed {seed} is the first that shows it")),
        Origin::Recorded => diagnostic.with_note("shown by a recorded execution"),
        Origin::Searched => diagnostic
            .with_note("not shown by these executions: found by the search of all states for what can be covered"),
    }
}

/// Names what this execution covers and none that ends well.
fn with_triggers(diagnostic: Diagnostic, report: &TriggersReport) -> Diagnostic {
    let note = |diagnostic: Diagnostic, trigger: &TriggerReport| {
        let steps = trigger.steps.iter().map(|step| format!("{} {}s {}", step.thread, step.kind, step.access));
        let steps: Vec<String> = steps.collect();
        diagnostic.with_note(format!(
            "no passing execution covers this instance of pattern {} on {}: {}",
            trigger.pattern,
            trigger.variables.join(" and "),
            steps.join(", ")
        ))
    };
    let diagnostic = report.triggers.iter().fold(diagnostic, note);
    match report.triggers_omitted {
        0 => diagnostic,
        more => diagnostic.with_note(format!("nor {} more that this one covers", plural(more as usize, "instance"))),
    }
}

fn hidden(count: usize, limit: usize, word: &str) -> Option<String> {
    (count > limit).then(|| format!("and {} (--all shows them)\n", plural(count - limit, &format!("further {word}"))))
}
