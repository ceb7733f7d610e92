//! Possible behaviours, for readers.

use super::endless;
use super::outcomes;
use super::pi::MERGED;
use super::reason;
use super::replay::{DIRECTORY, options_text, quoted, record_line, replay_line};
use super::snippet::{self, Table};
use super::steps::StepsView;
use super::symmetric::groups;
use crate::options::EndlessOptions;
use crate::output::Output;
use crate::record;
use crate::screen;
use anstyle::AnsiColor;
use cssame_answer::words::plural;
use cssame_answer::{FuturesAnswer, Judged, SelectionReport, finding};
use cssame_diagnostics::{Diagnostic, terminal};
use cssame_explore::Verdict;
use cssame_explore::report::{
    BlockedReport, EndlessReport, FuturesReport, Listed, OutcomeReport, TermCounts, TermReport,
};
use cssame_form::Selection;
use cssame_model::Model;
use cssame_schedule as schedule;
use cssame_source::cut::columns;
use cssame_vm::Choice;
use std::path::{Path, PathBuf};

/// Terms of a read that are shown without `--all`.
const TERMS: usize = 40;

/// Terms up to which they are listed unasked.
const FEW: usize = 20;

/// An answer, what it was made from, and how it is shown.
pub struct FuturesView<'a> {
    /// What can happen.
    pub answer: &'a FuturesAnswer,
    /// The program.
    pub model: &'a Model,
    /// What was selected.
    pub selections: &'a [Selection],
    /// The source file.
    pub file: &'a Path,
    /// The selections as they were typed.
    pub select: &'a [String],
    /// What was asked of executions without end.
    pub endless: EndlessOptions,
    /// The outcomes to show an execution of, as they were typed.
    pub show: &'a [String],
    /// The bounds of the search, as they are typed.
    pub bounds: &'a str,
    /// Where the schedules were written to.
    pub record_dir: Option<&'a Path>,
    /// Whether terms are listed however many there are.
    pub terms: bool,
    /// Whether the text of the source stands beside each step.
    pub source: bool,
    /// Whether nothing is left out.
    pub all: bool,
    /// Which findings are suppressed.
    pub judged: &'a Judged,
    /// Whether there is colour.
    pub colour: bool,
}

/// How much was found, in a line: of the terms those that are listed.
#[must_use]
pub fn summary(answer: &FuturesAnswer, listed: Listed) -> String {
    let report = &answer.futures;
    let terms = report.terms.count(listed);
    let TermCounts { feasible, impossible, undecided } = terms;
    let futures = match report.futures {
        _ if report.infinite_futures => "infinitely many futures, ".to_owned(),
        Some(count) => format!("{}, ", plural(count as usize, "future")),
        None => String::new(),
    };
    let open = match undecided {
        0 => String::new(),
        open => format!(", {open} undecided"),
    };
    let merged = if answer.merged { format!("{MERGED}\n") } else { String::new() };
    let endless = endless::summary(&answer.endless);
    let terms =
        format!("{futures}{}: {feasible} feasible, {impossible} impossible{open}", plural(terms.total(), "term"));
    let work = [plural(report.executions as usize, "execution"), plural(report.states as usize, "state")].join(", ");
    let separator = if columns(&terms) + columns(&work) + 2 > screen::width() { "\n" } else { "; " };
    format!("{terms}{separator}{work}\n{merged}{endless}")
}

impl FuturesView<'_> {
    /// Prints the whole answer but for the summary; the terms, of which there may be very many, bit by bit.
    pub fn print(&self, output: &mut Output) {
        let report = &self.answer.futures;
        let mut blocks: Vec<String> = self.answer.selection.iter().map(|selection| self.selection(selection)).collect();
        blocks.extend(self.bad_ends());
        blocks.push(self.outcomes(&report.outcomes));
        blocks.extend(self.shown_outcomes(report));
        blocks.retain(|block| !block.is_empty());
        output.print(&blocks.join("\n"));
        self.terms(report, !blocks.is_empty(), output);
    }

    /// A block for each failure, deadlock and way to run for ever, with its steps.
    #[must_use]
    pub fn bad_ends(&self) -> Vec<String> {
        let report = &self.answer.futures;
        [self.failures(report), self.deadlocks(report), self.endless()].concat()
    }

    /// The reads whose terms are listed, and counted.
    #[must_use]
    pub fn listed(&self) -> Listed {
        if self.all { Listed::All } else { Listed::Several }
    }

    /// Prints each read with its terms, where these are few or asked for; behind what was printed before, if anything was.
    fn terms(&self, report: &FuturesReport, is_behind: bool, output: &mut Output) {
        let count = report.terms.count(self.listed()).total();
        if count == 0 {
            return;
        }
        if is_behind {
            output.print("\n");
        }
        if count > FEW && !self.terms && !self.all {
            output.print(&format!("{} (--terms lists them)\n", plural(count, "term")));
            return;
        }
        output.print(&self.title("terms"));
        for terms in report.terms.merged(self.listed()) {
            output.print(&self.read(&terms.name(), terms.terms()));
        }
    }

    /// A read with its statement, and its terms, each with that of the write.
    fn read<'t>(&self, name: &str, mut terms: impl ExactSizeIterator<Item = TermReport<'t>>) -> String {
        let mut table = Table::new("    ");
        let mut statement = String::new();
        let limit = if self.all { usize::MAX } else { TERMS };
        for term in terms.by_ref().take(limit) {
            let verdict = match term.feasible {
                Some(true) => "feasible",
                Some(false) => "impossible",
                None => "undecided",
            };
            let steps = term.step.map_or_else(String::new, |step| format!("after {}", plural(step, "step")));
            let text = snippet::statement(self.model.sources(), term.spans.1);
            if statement.is_empty() {
                statement = snippet::statement(self.model.sources(), term.spans.0);
            }
            table.row(vec![term.def_context.unwrap_or(term.def).to_owned(), text, verdict.to_owned(), steps]);
        }
        let rest = terms.len();
        let more = match terms.filter(|term| term.feasible == Some(true)).count() {
            _ if rest == 0 => String::new(),
            0 => format!("    and {rest} more (--all shows them)\n"),
            feasible => format!("    and {rest} more, {feasible} of them feasible (--all shows them)\n"),
        };
        format!("  {name}  {statement}\n{}{more}", table.lines().concat())
    }

    fn outcomes(&self, outcomes: &[OutcomeReport]) -> String {
        if outcomes.is_empty() { String::new() } else { self.title("outcomes") + &outcomes::table(outcomes, self.all) }
    }

    /// An execution for each of the outcomes that were asked for.
    fn shown_outcomes(&self, report: &FuturesReport) -> Vec<String> {
        let mut blocks = Vec::new();
        for asked in self.show {
            let meant = outcomes::meant(&report.outcomes, asked);
            if meant.is_empty() {
                blocks.push(format!("no outcome is `{}`{}\n", snippet::one_line(asked), self.reservation()));
            }
            blocks.extend(meant.into_iter().map(|place| self.shown_outcome(report, place)));
        }
        blocks
    }

    /// An execution that has the outcome at a place of the table.
    fn shown_outcome(&self, report: &FuturesReport, place: usize) -> String {
        let outcome = &report.outcomes[place];
        let title = self.title(&format!("outcome {}: {}", place + 1, outcome.status));
        let head = format!("{title}  {}\n\n", outcomes::printed(&outcome.by_thread));
        // Those without end stand behind the others.
        let Some(found) = self.answer.answer.outcomes.get(place) else {
            let mut all = self.answer.endless.endless.iter().enumerate();
            let meant = all.find(|(_, one)| !one.is_starvation() && one.printed == outcome.by_thread);
            let Some((index, one)) = meant else { return head };
            let lasso = endless::lasso(&self.steps(), &one.steps, one.start());
            return head + &lasso + &self.replay(|directory| record::endless_file(directory, index));
        };
        let Some(steps) = &found.schedule else {
            return head + "its schedule was not kept: other schedules use up all the steps that can be kept\n";
        };
        head + &self.steps().up_to(usize::MAX, steps) + &self.replay(|directory| record::outcome_file(directory, place))
    }

    /// What is to be said where something was not found.
    fn reservation(&self) -> &'static str {
        if self.answer.futures.complete { "" } else { " so far: not all executions were looked at" }
    }

    fn failures(&self, report: &FuturesReport) -> Vec<String> {
        let witnesses = self.answer.answer.failures.iter().zip(&report.failures).enumerate();
        let block = |(index, (witness, data)): (usize, (&cssame_explore::FailureWitness, &_))| {
            let data: &cssame_explore::report::FailureReport = data;
            let diagnostic = finding::failure(&self.model.naming(), &witness.failure, &data.thread, &data.facts);
            let diagnostic = self.judged.shown(diagnostic)?;
            Some(self.finding(&diagnostic, &witness.schedule, |directory| record::failure_file(directory, index)))
        };
        witnesses.filter_map(block).collect()
    }

    fn deadlocks(&self, report: &FuturesReport) -> Vec<String> {
        let witnesses = self.answer.answer.deadlocks.iter().zip(&report.deadlocks).enumerate();
        let shown = witnesses.filter_map(|(index, (witness, data))| {
            let diagnostic = self.judged.shown(finding::deadlock(self.model.sources(), &data.threads))?;
            Some((index, witness, &data.threads[..], diagnostic))
        });
        let shown: Vec<_> = shown.collect();
        let block = |(at, others): (usize, Vec<usize>)| {
            let (index, witness, _, diagnostic) = &shown[at];
            let others: Vec<&[BlockedReport]> = others.into_iter().map(|other| shown[other].2).collect();
            let diagnostic = finding::with_symmetric(diagnostic.clone(), &others);
            self.finding(&diagnostic, &witness.schedule, |directory| record::deadlock_file(directory, *index))
        };
        groups(shown.iter().map(|of| of.2), self.all).into_iter().map(block).collect()
    }

    fn endless(&self) -> Vec<String> {
        let reports = self.answer.endless.endless.iter().enumerate();
        let block = |(index, report): (usize, &EndlessReport)| {
            let diagnostic = self.judged.shown(finding::endless(self.model.sources(), report))?;
            let text = endless::block(&self.steps(), &diagnostic, report);
            Some(text + &self.replay(|directory| record::endless_file(directory, index)))
        };
        reports.filter_map(block).collect()
    }

    /// A diagnostic, the steps that lead to it, and how to see them again.
    fn finding(&self, diagnostic: &Diagnostic, steps: &[Choice], file: impl Fn(&Path) -> PathBuf) -> String {
        self.steps().finding(diagnostic, steps) + &self.replay(file)
    }

    fn steps(&self) -> StepsView<'_> {
        StepsView { model: self.model, all: self.all, source: self.source, colour: self.colour }
    }

    /// The command line that replays a schedule; where none was written, the one that writes it comes first.
    fn replay(&self, file: impl Fn(&Path) -> PathBuf) -> String {
        if let Some(directory) = self.record_dir {
            return replay_line(self.file, &file(directory));
        }
        let select: String = self.select.iter().map(|each| format!(" --select {}", quoted(each))).collect();
        let options = options_text(self.model.options()) + &select + &self.endless.text() + self.bounds;
        record_line("futures", self.file, &options) + &replay_line(self.file, &file(Path::new(DIRECTORY)))
    }

    fn selection(&self, selection: &SelectionReport) -> String {
        let mut text = self.title("selection");
        for selected in &selection.selected {
            let verdict = match (selection.consistent, selected.satisfied) {
                (Some(true), true) => "  holds",
                (Some(true), false) => "  is not evaluated",
                _ => "",
            };
            text += &format!("  {}{verdict}\n", selected.text());
        }
        match &self.answer.verdict {
            Some(Verdict::Consistent { schedule, satisfied }) => {
                let shown = self.selections.iter().zip(satisfied).filter(|(_, satisfied)| **satisfied);
                let pairs = shown.flat_map(|(one, _)| {
                    let reads = one.reads.iter().map(|&read| Some(read)).chain(one.is_write().then_some(None));
                    reads.flat_map(|read| one.definitions.iter().map(move |&definition| (read, definition)))
                });
                let shown: Vec<_> = pairs.collect();
                let trace = schedule::trace(self.model.naming(), schedule).past_of(&shown);
                text + "  consistent: this execution has it\n\n"
                    + &self.steps().trace(&trace)
                    + &self.replay(record::selection_file)
            }
            Some(Verdict::Inconsistent { .. }) => {
                let diagnostic = self.judged.shown(finding::inconsistent(&selection.contradiction));
                text +=
                    &terminal::render_all(self.model.sources(), diagnostic.as_slice(), screen::of_stdout(self.colour));
                text + &selection.reason.as_ref().map_or_else(String::new, |why| reason::text(why, self.colour))
            }
            _ => text + "  undecided: a bound was hit before\n",
        }
    }

    fn title(&self, text: &str) -> String {
        snippet::styled(text, AnsiColor::Green.on_default().bold(), self.colour) + "\n"
    }
}
