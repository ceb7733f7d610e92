//! The findings of each answer, in the form for [`super::suppress`].
//!
//! **Input**: an answer, and its program. **Output**: [`Findings`]: each as the diagnostic that the views show. A result without
//! a diagnostic, such as a torn pair of `correlate`, gets one with its code.
//!
//! **Soundness and limits**: an answer claims to have searched for a code only if no further finding of that kind is possible in
//! the file: if no bound was hit, and all executions were examined.

use super::collector::{Collector, place, plain};
use super::compiled::Compiled;
use super::diff::ComparedText;
use super::suppress::{Examined, Finding, Findings};
use super::{
    Change, CheckReport, ComparisonReport, CorrelateAnswer, CoverageAnswer, DriveReport, FailureChange, FuturesAnswer,
    GenerateAnswer, GeneratedFailure, HuntAnswer, PathsAnswer, ProgramsAnswer, RacesAnswer, RunAnswer, SeedsAnswer,
    WithPreemptions, finding,
};
use cssame_correlation::Status;
use cssame_diagnostics::{Code, Diagnostic};
use cssame_explore as explore;
use cssame_explore::report::FailureReport;
use cssame_model::{Model, Unit};
use cssame_schedule as schedule;
use cssame_schedule::ExecutionStatus;
use cssame_source::{FileId, SourceMap};

impl CheckReport {
    /// The diagnostics, in their order.
    #[must_use]
    pub fn findings(&self) -> Findings<'_> {
        let examined = |(file, codes): &(FileId, Vec<Code>)| Examined {
            sources: &self.sources,
            file: *file,
            looked_for: codes.clone(),
        };
        let found = self.found.iter().enumerate().map(|(index, diagnostic)| Finding {
            diagnostic: diagnostic.clone(),
            sources: &self.sources,
            is_fatal: self.fatal.contains(&index),
            steps: &[],
        });
        Findings { files: self.examined.iter().map(examined).collect(), list: found.collect() }
    }
}

impl RunAnswer {
    /// How the execution ends, where it ends badly.
    #[must_use]
    pub fn findings<'a>(&'a self, model: &'a Model) -> Findings<'a> {
        let mut collector = Collector::of_model(model);
        self.finding(model).into_iter().for_each(|diagnostic| collector.add_shown(diagnostic, &self.report.schedule));
        collector.findings
    }

    /// The diagnostic of a failure, a deadlock, or a cycle in which it may go on for ever.
    #[must_use]
    pub fn finding(&self, model: &Model) -> Option<Diagnostic> {
        if let Some(cycle) = &self.report.cycle {
            return Some(finding::cycle(model.sources(), &cycle.report));
        }
        match &self.execution.status {
            ExecutionStatus::Failed(failure) => {
                let path = self.execution.state.path(failure.thread);
                let thread = model.machine().path_name(&self.execution.tables, path);
                Some(finding::failure(&model.naming(), failure, &thread, &self.report.facts))
            }
            ExecutionStatus::Deadlock => Some(finding::deadlock(model.sources(), &self.report.blocked)),
            ExecutionStatus::Ok
            | ExecutionStatus::Discarded
            | ExecutionStatus::StepLimit
            | ExecutionStatus::Stopped => None,
        }
    }
}

impl SeedsAnswer {
    /// Each way in which some execution fails, and the first deadlock.
    #[must_use]
    pub fn findings<'a>(&'a self, model: &'a Model) -> Findings<'a> {
        let mut collector = Collector::of_model(model);
        let all = self.first_failure.iter().chain(&self.further_failures);
        for one in all {
            one.finding(model).into_iter().for_each(|diagnostic| collector.add_shown(diagnostic, &one.report.schedule));
        }
        collector.findings
    }
}

impl FuturesAnswer {
    /// Failures, deadlocks, ways to run for ever, and a selection that no execution has.
    #[must_use]
    pub fn findings<'a>(&'a self, model: &'a Model) -> Findings<'a> {
        let mut collector = Collector::of_model(model);
        for (witness, data) in self.answer.failures.iter().zip(&self.futures.failures) {
            let found = finding::failure(&model.naming(), &witness.failure, &data.thread, &data.facts);
            collector.add_shown(found, &data.schedule);
        }
        let deadlocks: Vec<_> = self.futures.deadlocks.iter().map(|deadlock| (model.sources(), deadlock)).collect();
        collector.add_deadlocks(&deadlocks);
        collector.add_endless(&self.endless, model.sources());
        if let Some(selection) = self.selection.as_ref().filter(|of| of.consistent == Some(false)) {
            collector.add(finding::inconsistent(&selection.contradiction));
        }
        if self.answer.is_complete() {
            collector.has_looked_for(&finding::bad_ends());
        }
        collector.findings
    }
}

impl HuntAnswer {
    /// Failures, deadlocks, ways to run for ever, and races.
    #[must_use]
    pub fn findings<'a>(&'a self, model: &'a Model) -> Findings<'a> {
        let mut collector = Collector::of_model(model);
        for of in self.bad_ends(model).into_iter().filter(|of| of.kind == BadEndKind::Failure) {
            collector.add_shown(of.diagnostic, of.steps);
        }
        let deadlocks: Vec<_> = self.report.deadlocks.iter().map(|of| (model.sources(), &of.found)).collect();
        collector.add_deadlocks(&deadlocks);
        collector.add_endless(&self.report.endless, model.sources());
        for race in self.report.races.iter().flatten() {
            collector.add_shown(finding::met_race(&race.found), &race.found.schedule);
        }
        if self.report.decided {
            collector.has_looked_for(&finding::bad_ends());
        }
        collector.findings
    }

    /// The failures and deadlocks, those with the fewest preemptions first.
    #[must_use]
    pub fn bad_ends<'a>(&'a self, model: &Model) -> Vec<BadEnd<'a>> {
        let failures = self.answer.failures.iter().zip(&self.report.failures).enumerate();
        let failure = |(index, ((witness, _), data)): (
            usize,
            (&(explore::FailureWitness, u32), &'a WithPreemptions<FailureReport>),
        )| {
            let WithPreemptions { preemptions, found } = data;
            let diagnostic = finding::failure(&model.naming(), &witness.failure, &found.thread, &found.facts);
            BadEnd { preemptions: *preemptions, diagnostic, steps: &found.schedule, kind: BadEndKind::Failure, index }
        };
        let mut all: Vec<BadEnd<'_>> = failures.map(failure).collect();
        all.extend(self.report.deadlocks.iter().enumerate().map(|(index, data)| BadEnd {
            preemptions: data.preemptions,
            diagnostic: finding::deadlock(model.sources(), &data.found.threads),
            steps: &data.found.schedule,
            kind: BadEndKind::Deadlock,
            index,
        }));
        all.sort_by_key(|end| end.preemptions);
        all
    }
}

/// How an execution ends badly, with its place in the list of its kind.
#[derive(Clone, Debug)]
pub struct BadEnd<'a> {
    /// How often the schedule leaves a thread that could go on.
    pub preemptions: u32,
    /// What is said of it.
    pub diagnostic: Diagnostic,
    /// The steps that lead to it.
    pub steps: &'a [schedule::Step],
    /// Which list it is in.
    pub kind: BadEndKind,
    /// Its place there.
    pub index: usize,
}

/// How an execution ends badly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadEndKind {
    /// The program fails.
    Failure,
    /// No thread can move.
    Deadlock,
}

impl RacesAnswer {
    /// Real races, failures, deadlocks, and what executions were directed at and have reached. `is_whole` says whether all
    /// pairs were asked for.
    #[must_use]
    pub fn findings<'a>(&'a self, subject: &'a Compiled, is_whole: bool) -> Findings<'a> {
        let (report, unit) = (&self.report, subject.unit());
        let mut collector = Collector::of_unit(unit);
        let sources = |driver: Option<&String>| self.model_of(subject, driver).map_or(&unit.sources, Model::sources);
        for pair in report.potential.iter().filter(|pair| pair.status == "real") {
            let steps = pair.schedule.as_deref().unwrap_or_default();
            collector.add_of(sources(pair.driver.as_ref()), finding::race(pair), steps);
        }
        for met in &report.failures {
            let Some(model) = self.model_of(subject, met.driver.as_ref()) else { continue };
            let diagnostic = finding::failure(&model.naming(), &met.data, &met.failure.thread, &met.failure.facts);
            collector.add_of(model.sources(), diagnostic, &met.failure.schedule);
        }
        let deadlocks: Vec<_> =
            report.deadlocks.iter().map(|met| (sources(met.driver.as_ref()), &met.deadlock)).collect();
        collector.add_deadlocks(&deadlocks);
        collector.add_endless(&self.endless, &unit.sources);
        let code = match report.target {
            "correlations" => Code::EndangeredCorrelation,
            "notifications" => Code::WaitNeverNotified,
            _ => Code::Deadlock,
        };
        let aims = report.aims.iter().flatten().filter(|aim| aim.status == "real" && report.target != "term");
        for aim in aims {
            collector.add(plain(code, aim.spans.first().copied(), aim.what.clone()));
        }
        let has_main = matches!(subject, Compiled::Program(_));
        if has_main && report.exploration.is_some_and(|exploration| exploration.complete) {
            collector.has_looked_for(&finding::bad_ends());
            if is_whole && report.complete && report.aims.is_none() {
                collector.has_looked_for(&[Code::RealRace, Code::HarmfulRace, Code::BenignRace]);
            }
        }
        collector.findings
    }
}

impl CorrelateAnswer {
    /// Endangered accesses of selected pairs that executions tear, and how these fail or block. Where nothing was executed, all
    /// of the endangered accesses.
    #[must_use]
    pub fn findings(&self, only_static: bool) -> Findings<'_> {
        let unit = self.executed.unit();
        let mut collector = Collector::of_unit(unit);
        for pair in self.correlation.pairs.iter().filter(|pair| pair.selected) {
            for access in &pair.endangered_accesses {
                let is_torn = matches!(access.decision.status, Status::Confirmed | Status::Elsewhere);
                if is_torn || only_static {
                    let [one, two] = &access.variables;
                    let span = unit.program.functions[access.of.method].span;
                    let message = format!("`{}` may be torn apart between `{one}` and `{two}`", access.method);
                    collector.add(plain(Code::EndangeredCorrelation, Some(span), message));
                }
            }
            for end in &pair.ends {
                let at = end.line.and_then(|line| place(&unit.sources, unit.file, &format!("{line}:1")));
                collector.add(plain(finding::code_of_status(end.status), at, end.message.clone()));
            }
        }
        if !only_static && self.is_decided() && self.correlation.rank_threshold == 0.0 {
            collector.has_looked_for(&[Code::EndangeredCorrelation]);
        }
        collector.findings
    }
}

impl PathsAnswer {
    /// Races that nothing rules out, failures and deadlocks.
    #[must_use]
    pub fn findings<'a>(&'a self, model: &'a Model) -> Findings<'a> {
        let mut collector = Collector::of_model(model);
        collector.add_paths(&self.report, model);
        if self.report.exact.as_ref().is_some_and(|exact| exact.complete) {
            collector.has_looked_for(&finding::bad_ends());
        }
        collector.findings
    }
}

impl ComparisonReport {
    /// The findings of each row.
    #[must_use]
    pub fn findings(&self) -> Findings<'_> {
        let mut findings = Findings::default();
        for row in &self.comparison {
            findings.files.push(Examined { sources: &row.sources, file: row.source, looked_for: Vec::new() });
            let found = row.found.iter().cloned();
            let found =
                found.map(|diagnostic| Finding { diagnostic, sources: &row.sources, is_fatal: false, steps: &[] });
            findings.list.extend(found);
        }
        findings
    }
}

impl CoverageAnswer {
    /// Failures and deadlocks of the program.
    #[must_use]
    pub fn findings<'a>(&'a self, subject: &'a Compiled) -> Findings<'a> {
        let mut collector = Collector::of_unit(subject.unit());
        let Compiled::Program(model) = subject else { return collector.findings };
        let failures = self.findings.measured.ends.iter().filter_map(|(_, _, end)| match &end.status {
            ExecutionStatus::Failed(failure) => Some(failure),
            _ => None,
        });
        for (met, failure) in self.met.failures.iter().zip(failures) {
            let found = finding::failure(&model.naming(), failure, &met.failure.thread, &met.failure.facts);
            collector.add_shown(found, &met.failure.schedule);
        }
        let deadlocks: Vec<_> = self.met.deadlocks.iter().map(|met| (model.sources(), &met.deadlock)).collect();
        collector.add_deadlocks(&deadlocks);
        collector.add_endless(&self.endless, model.sources());
        collector.findings
    }
}

impl GenerateAnswer {
    /// The violations that count.
    #[must_use]
    pub fn findings<'a>(&'a self, unit: &'a Unit) -> Findings<'a> {
        let mut collector = Collector::of_unit(unit);
        for failure in self.failures.iter().filter(|failure| !failure.sequential) {
            collector.add_of(failure.shown.model.sources(), failure.finding(), &failure.schedule);
        }
        collector.findings
    }
}

impl GeneratedFailure {
    /// The failure or the deadlock as a diagnostic; results that no serial order gives have no place.
    #[must_use]
    pub fn finding(&self) -> Diagnostic {
        let model = &self.shown.model;
        let thread = self.thread.as_deref().unwrap_or("main");
        match &self.shown.execution.status {
            ExecutionStatus::Failed(failed) => {
                let facts = schedule::facts(&model.naming(), failed, &self.shown.execution.steps);
                finding::failure(&model.naming(), failed, thread, &facts)
            }
            ExecutionStatus::Deadlock => finding::deadlock(model.sources(), &self.blocked),
            _ => {
                let unit = model.unit();
                let named = unit.program.classes.iter().find(|class| unit.program.texts.get(class.name) == self.class);
                let message = format!("`{}`: {}", self.class, self.message);
                plain(finding::code_of_status(self.status), named.map(|class| class.span), message)
            }
        }
    }
}

impl DriveReport {
    /// A selection that no execution has; and failures and deadlocks of the program, unless tests expect them. `sources` holds
    /// the one file.
    #[must_use]
    pub fn findings<'a>(&'a self, sources: &'a SourceMap, expects_failures: bool) -> Findings<'a> {
        let file = FileId(0);
        let mut collector = Collector::of_file(sources, file);
        if let Some(selection) = self.selection.as_ref().filter(|of| of.consistent == Some(false)) {
            collector.add(finding::inconsistent(&selection.contradiction));
        }
        if expects_failures {
            return collector.findings;
        }
        for failure in self.failures.iter().flatten() {
            let at = place(sources, file, &failure.at);
            collector.add(plain(finding::code_of_status(failure.status), at, failure.message.clone()));
        }
        for deadlock in self.deadlocks.iter().flatten() {
            collector.add(finding::deadlock(sources, &deadlock.threads));
        }
        for report in self.endless.iter().flat_map(|findings| &findings.endless) {
            collector.add(finding::endless(sources, report));
        }
        let ends = self.failures.iter().flatten().count() + self.deadlocks.iter().flatten().count();
        // Tests of pairs of methods may call them in ways that nobody means.
        if ends == 0 && self.pairs.is_none() {
            for test in self.tests.iter().filter(|test| test.end == "failure" || test.end == "deadlock") {
                let code = finding::code_of_status(test.status);
                let message = test.message.clone().unwrap_or_else(|| code.title().to_owned());
                collector.add(plain(code, None, message));
            }
        }
        collector.findings
    }
}

impl ProgramsAnswer {
    /// The program that shows a change: the new one, or the old one of what is gone.
    fn side(&self, change: Change) -> &ComparedText {
        &self.texts[usize::from(change != Change::Gone)]
    }

    fn failure_finding(&self, of: &FailureChange) -> Diagnostic {
        let text = self.side(of.change);
        let at = place(&text.sources, text.file, &of.failure.at);
        plain(finding::code_of_status(of.failure.status), at, of.failure.message.clone())
    }

    /// Failures and deadlocks that are gone or new, and outcomes that end so.
    #[must_use]
    pub fn findings(&self) -> Findings<'_> {
        let changed = |change: Change| matches!(change, Change::Gone | Change::New);
        let side = |change: Change| self.side(change);
        let mut findings = Findings::default();
        for of in self.texts.iter().rev() {
            findings.files.push(Examined { sources: &of.sources, file: of.file, looked_for: Vec::new() });
        }
        let mut add = |change, diagnostic| {
            let found = Finding { diagnostic, sources: &side(change).sources, is_fatal: false, steps: &[] };
            findings.list.push(found);
        };
        for of in self.failures.iter().filter(|of| changed(of.change)) {
            add(of.change, self.failure_finding(of));
        }
        for of in self.deadlocks.iter().filter(|of| changed(of.change)) {
            add(of.change, finding::deadlock(&side(of.change).sources, &of.deadlock.threads));
        }
        for of in self.outcomes.iter().filter(|of| changed(of.change) && of.status != "ok") {
            // It ends in a failure or a deadlock that is listed.
            let failure = self.failures.iter().find(|one| one.failure.status == of.status);
            let diagnostic = match (failure, self.deadlocks.first()) {
                (Some(failure), _) => self.failure_finding(failure),
                (None, Some(one)) if of.status == "deadlock" => {
                    finding::deadlock(&side(one.change).sources, &one.deadlock.threads)
                }
                _ => plain(finding::code_of_status(of.status), None, of.status.to_owned()),
            };
            add(of.change, diagnostic);
        }
        findings
    }
}
