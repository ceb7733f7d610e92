//! Bugs with few preemptions, for readers: the finding with the fewest first, with its steps; a row for each other one; and the
//! facts that are certain.

use super::endless;
use super::replay::{DIRECTORY, options_text, record_line, replay_line};
use super::snippet;
use super::steps::StepsView;
use super::symmetric::groups;
use crate::load::name_of;
use crate::record;
use cssame_answer::words::{plural, with_preemptions};
use cssame_answer::{BadEndKind, HuntAnswer, Judged, finding};
use cssame_diagnostics::Diagnostic;
use cssame_model::Model;
use cssame_source::SourceMap;
use cssame_vm::{Choice, FailureKind};
use std::path::{Path, PathBuf};

/// Further findings that have a row without `--all`.
const ROWS: usize = 10;

/// Rows of an execution that shows a race up to which it is shown as a whole.
const WHOLE: usize = 40;

/// An answer, what it was made from, and how it is shown.
pub struct HuntView<'a> {
    /// What goes wrong.
    pub answer: &'a HuntAnswer,
    /// The program.
    pub model: &'a Model,
    /// The source file.
    pub file: &'a Path,
    /// What the answer depends on beside the program, as it was typed, with a space before each option.
    pub options: &'a str,
    /// Where the schedules were written to.
    pub record_dir: Option<&'a Path>,
    /// Whether the text of the source stands beside each step.
    pub source: bool,
    /// Whether each finding is shown with its steps, and these with all that is done in calls.
    pub all: bool,
    /// Whether races are shown: not where the findings of the text tell them.
    pub shows_races: bool,
    /// Which findings are suppressed.
    pub judged: &'a Judged,
    /// Whether there is colour.
    pub colour: bool,
}

/// A finding that is shown.
struct Shown<'a> {
    diagnostic: Diagnostic,
    preemptions: Option<u32>,
    what: What<'a>,
}

/// What shows it.
enum What<'a> {
    Schedule(&'a [Choice], BadEndKind, usize),
    Endless(usize),
    Race(usize),
}

/// A row for each finding, the first ones, with something behind it.
#[must_use]
pub fn rows<'a>(sources: &SourceMap, findings: impl ExactSizeIterator<Item = (&'a Diagnostic, String)>) -> String {
    let hidden = findings.len().saturating_sub(ROWS);
    let row = |(finding, behind): (&Diagnostic, String)| {
        let line = finding.span().map_or_else(String::new, |span| match sources.file(span.file).beside() {
            Some(file) => format!("{file}:{}", sources.line(span)),
            None => format!("line {}", sources.line(span)),
        });
        let message = snippet::one_line(&finding.message);
        let behind = if behind.is_empty() { behind } else { format!(" ({behind})") };
        snippet::wrap_behind(&format!("  {line:<8} "), "           ", &(message + &behind))
    };
    let rows: String = findings.take(ROWS).map(row).collect();
    let more = if hidden > 0 { format!("  and {hidden} more\n") } else { String::new() };
    rows + &more
}

impl HuntView<'_> {
    /// The findings: the first one with its steps, and a row for each other one.
    #[must_use]
    pub fn findings(&self) -> String {
        let shown = self.shown();
        let whole = if self.all { shown.len() } else { shown.len().min(1) };
        let blocks: Vec<String> = shown[..whole].iter().map(|one| self.block(one)).collect();
        let text = blocks.join("\n");
        let others = &shown[whole..];
        if others.is_empty() {
            return text;
        }
        let preemptions = |one: &Shown<'_>| one.preemptions.map_or_else(String::new, preemptions);
        let lines = rows(self.model.sources(), others.iter().map(|one| (&one.diagnostic, preemptions(one))));
        let again = match self.shows_races {
            true => "--all".to_owned(),
            false => format!("`cssame hunt --all {}`", name_of(self.file)),
        };
        format!("{text}\nalso ({again} shows the steps):\n{lines}")
    }

    /// Failures and deadlocks with the fewest preemptions first, then what may run for ever, then races.
    fn shown(&self) -> Vec<Shown<'_>> {
        let HuntAnswer { answer, report, .. } = self.answer;
        let deadlocks: Vec<_> = report.deadlocks.iter().map(|of| &of.found.threads[..]).collect();
        let groups = groups(deadlocks.iter().copied(), self.all);
        let mut shown = Vec::new();
        for end in self.answer.bad_ends(self.model) {
            let (steps, diagnostic) = match end.kind {
                BadEndKind::Failure => (&answer.failures[end.index].0.schedule, end.diagnostic),
                BadEndKind::Deadlock => {
                    let Some((_, others)) = groups.iter().find(|(first, _)| *first == end.index) else { continue };
                    let others: Vec<_> = others.iter().map(|&other| deadlocks[other]).collect();
                    let steps = &answer.deadlocks[end.index].0.schedule;
                    (steps, finding::with_symmetric(end.diagnostic, &others))
                }
            };
            let what = What::Schedule(steps, end.kind, end.index);
            shown.push(Shown { diagnostic, preemptions: Some(end.preemptions), what });
        }
        for (index, report) in report.endless.endless.iter().enumerate() {
            let diagnostic = finding::endless(self.model.sources(), report);
            shown.push(Shown { diagnostic, preemptions: None, what: What::Endless(index) });
        }
        for (index, race) in report.races.iter().flatten().enumerate().filter(|_| self.shows_races) {
            let diagnostic = finding::met_race(&race.found);
            shown.push(Shown { diagnostic, preemptions: Some(race.preemptions), what: What::Race(index) });
        }
        shown.retain_mut(|one| match self.judged.shown(one.diagnostic.clone()) {
            Some(diagnostic) => {
                one.diagnostic = diagnostic;
                true
            }
            None => false,
        });
        shown
    }

    /// A finding with its steps, and how to see them again.
    fn block(&self, one: &Shown<'_>) -> String {
        let view = self.steps();
        match one.what {
            What::Schedule(steps, kind, index) => {
                let file = match kind {
                    BadEndKind::Failure => record::failure_file,
                    BadEndKind::Deadlock => record::deadlock_file,
                };
                view.finding(&one.diagnostic, steps) + &self.replay(|directory| file(directory, index))
            }
            What::Endless(index) => {
                let report = &self.answer.report.endless.endless[index];
                let replay = self.replay(|directory| record::endless_file(directory, index));
                endless::block(&view, &one.diagnostic, report) + &replay
            }
            What::Race(index) => {
                let Some(race) = self.answer.answer.races.as_ref().and_then(|races| races.get(index)) else {
                    return view.diagnostic(&one.diagnostic);
                };
                let steps = [&race.schedule[..], &race.steps].concat();
                // Both accesses count, and what leads to each.
                let trace = view.race_up_to(WHOLE, &steps);
                let replay = self.replay(|directory| record::race_file(directory, index));
                format!("{}\n{trace}{replay}", view.diagnostic(&one.diagnostic))
            }
        }
    }

    fn steps(&self) -> StepsView<'_> {
        StepsView { model: self.model, all: self.all, source: self.source, colour: self.colour }
    }

    /// The command line that replays a schedule; where none was written, the one that writes it comes first.
    fn replay(&self, file: impl Fn(&Path) -> PathBuf) -> String {
        if let Some(directory) = self.record_dir {
            return replay_line(self.file, &file(directory));
        }
        let options = options_text(self.model.options()) + self.options;
        record_line("hunt", self.file, &options) + &replay_line(self.file, &file(Path::new(DIRECTORY)))
    }
}

fn preemptions(count: u32) -> String {
    match count {
        0 => "no preemption".to_owned(),
        count => plural(count as usize, "preemption"),
    }
}

/// What is sure: for all executions, or for those with few preemptions.
#[must_use]
pub fn guarantee(answer: &HuntAnswer) -> String {
    let HuntAnswer { report, answer: found, request } = answer;
    let mut kinds = vec!["failure", "deadlock"];
    kinds.extend(report.races.is_some().then_some("race"));
    let has_all_endless = report.complete && report.endless.endless_complete;
    kinds.extend(has_all_endless.then_some("endless execution"));
    let last = kinds.pop().unwrap_or_default();
    let other = if answer.is_clean() { "no" } else { "no other" };
    let what = format!("{other} {} or {last}", kinds.join(", "));
    let states = plural(report.states as usize, "state");
    let within = |most: u32| format!("{what}\nin any execution {}", with_preemptions(most));
    let sure = match (report.complete, found.finished) {
        (false, finished) if report.decided => {
            let races = match finished.filter(|_| report.races.is_some()) {
                Some(most) => format!("{other} race {}", with_preemptions(most)),
                None => "the search for races was not finished".to_owned(),
            };
            format!("{other} failure or deadlock in any execution; {races}\n")
        }
        (true, _) => format!("{what}: all {states} seen\n"),
        (false, None) => {
            format!("not even all executions without a preemption were looked at: {states} so far\n")
        }
        (false, Some(most)) if request.preemptions == Some(most) => format!("{}: {states}\n", within(most)),
        (false, Some(most)) => format!("{}; with {}: not finished, {states} so far\n", within(most), most + 1),
    };
    let races = match report.races {
        Some(_) => "",
        None => "races were not looked for (cssame races does): assumptions discard executions\n",
    };
    let endless = match report.endless.endless_complete {
        true => endless::summary(&report.endless),
        false => "the search for executions without end was not finished\n".to_owned(),
    };
    let mut kinds = found.failures.iter().map(|(witness, _)| witness.failure.kind);
    let unread = match kinds.any(|kind| kind == FailureKind::OtherContent) {
        true => "what comes behind memory that is not read was not looked at\n",
        false => "",
    };
    sure + races + unread + &endless
}
