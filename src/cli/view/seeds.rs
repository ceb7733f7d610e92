//! Many executions by seeds, for people: a table of outcomes, and the first execution that ends badly.

use super::outcomes;
use super::replay::{options_text, quoted};
use super::run::RunView;
use super::snippet::{self, Table};
use crate::load::name_of;
use cssame_answer::words::plural;
use cssame_answer::{CountedOutcome, Judged, RunAnswer, SeedsAnswer};
use cssame_model::Model;
use std::path::Path;

/// Outcomes that are shown without `--full`.
const OUTCOMES: usize = 20;

/// The answer, and how it is shown.
pub struct SeedsView<'a> {
    /// What was counted.
    pub answer: &'a SeedsAnswer,
    /// The program.
    pub model: &'a Model,
    /// The source file.
    pub file: &'a Path,
    /// The options that choose how steps are chosen, each with a space before it.
    pub policy: &'a str,
    /// Whether the text of the source stands beside each step.
    pub source: bool,
    /// Whether all outcomes and all steps are shown.
    pub full: bool,
    /// Which findings are suppressed.
    pub judged: &'a Judged,
    /// Whether there is colour.
    pub colour: bool,
}

impl SeedsView<'_> {
    /// The table, and the execution of the first seed that ends badly with the command line that repeats it.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = self.table();
        if let Some(first) = self.first_shown() {
            let view = RunView {
                answer: first,
                model: self.model,
                schedule: None,
                goes_on: false,
                source: self.source,
                full: self.full,
                judged: self.judged,
                colour: self.colour,
            };
            let seed = first.report.seed.unwrap_or_default();
            text += &format!("\n{}", snippet::title(&format!("seed {seed}"), self.colour));
            text += &view.text();
            let options = options_text(self.model.options());
            text +=
                &format!("replay: cssame run {}{options}{} --seed {seed}\n", quoted(&name_of(self.file)), self.policy);
        }
        text
    }

    /// The execution of the lowest seed whose finding is not suppressed.
    fn first_shown(&self) -> Option<&RunAnswer> {
        let mut all = self.answer.first_failure.iter().chain(&self.answer.further_failures);
        all.find(|one| one.finding(self.model).and_then(|finding| self.judged.shown(finding)).is_some())
    }

    fn table(&self) -> String {
        let SeedsAnswer { outcomes: all, executions, others, .. } = self.answer;
        if all.is_empty() {
            return String::new();
        }
        let shown = if self.full { all.len() } else { all.len().min(OUTCOMES) };
        let widths = [
            all.iter().map(|outcome| outcome.executions).max(),
            all[..shown].iter().map(|outcome| outcome.first_seed).max(),
        ];
        let [count_width, seed_width] = widths.map(|most| most.unwrap_or(0).to_string().len());
        let (count_width, seed_width) = (count_width.max("executions".len()), seed_width.max("first seed".len()));
        let mut table = Table::new("");
        let head = ["executions", "share", "first seed", "end", "output"].map(str::to_owned);
        table.row(vec![
            format!("{:>count_width$}", head[0]),
            format!("{:>7}", head[1]),
            format!("{:>seed_width$}", head[2]),
            head[3].clone(),
            head[4].clone(),
        ]);
        for outcome in &all[..shown] {
            table.row(vec![
                format!("{:>count_width$}", outcome.executions),
                format!("{:>5.1} %", 100.0 * outcome.executions as f64 / (*executions).max(1) as f64),
                format!("{:>seed_width$}", outcome.first_seed),
                end(outcome),
                outcomes::printed(&outcome.by_thread),
            ]);
        }
        let lines = table.lines();
        let mut text = snippet::title(lines[0].trim_end(), self.colour) + &lines[1..].concat();
        if shown < all.len() {
            text += &format!("and {} more outcomes (--full shows them)\n", all.len() - shown);
        }
        if *others > 0 {
            text += &format!(
                "and {} with other outcomes, which are not told apart\n",
                plural(*others as usize, "execution")
            );
        }
        text
    }

    /// How many executions there were, and why not more.
    #[must_use]
    pub fn summary(&self) -> String {
        let SeedsAnswer { executions, seeds: [start, end], stopped_by, complete, .. } = self.answer;
        let mut text = format!("{}, seeds {start}..{end}", plural(*executions as usize, "execution"));
        let is_short = *executions < end.saturating_sub(*start);
        match stopped_by {
            Some(bound) => text += &format!("; stopped by {}", bound.name()),
            None if is_short && self.answer.first_failure.is_some() => {
                text += "; stopped at the first that ends badly (--keep-going tries all)";
            }
            None if !complete => text += "; some were not over at --max-steps",
            None => {}
        }
        text + "\n"
    }
}

fn end(outcome: &CountedOutcome) -> String {
    match outcome.line {
        Some(line) => format!("{} (line {line})", outcome.status),
        None => outcome.status.to_owned(),
    }
}
