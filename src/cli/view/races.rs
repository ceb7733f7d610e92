//! Races, for people.

use super::endless;
use super::replay::{DIRECTORY, options_text, quoted, record_line, replay_line};
use super::snippet::{self, Table};
use super::steps::StepsView;
use super::symmetric::groups;
use crate::load::name_of;
use crate::output::Output;
use crate::record;
use cssame_answer::words::plural;
use cssame_answer::{Compiled, Judged, RacesAnswer, finding};
use cssame_diagnostics::Diagnostic;
use cssame_explore::report::BlockedReport;
use cssame_model::{Model, Unit};
use cssame_race::Timing;
use cssame_race::report::{AimReport, MetDeadlock, MetFailure, PairReport, RacesReport, SchedulerReport};
use cssame_vm::Choice;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Pairs up to which those that are not real are listed without `--all`.
const LISTED: usize = 20;

/// Pairs that are listed at all without `--all`.
const PAIRS: usize = 100;

/// Races that are shown with their executions without `--all`.
const SHOWN: usize = 12;

/// Steps of an execution that is shown as a whole.
const WHOLE: usize = 40;

/// Which rows of a trace are shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rows {
    /// What leads to its end.
    Cause,
    /// All of them.
    All,
}

/// An answer, what it was made from, and how it is shown.
pub struct RacesView<'a> {
    /// The races.
    pub answer: &'a RacesAnswer,
    /// The program, or the file without `main`.
    pub subject: &'a Compiled,
    /// The source file.
    pub file: &'a Path,
    /// What the answer depends on beside the program, as it was typed, with a space before each option.
    pub options: &'a str,
    /// Where the schedules were written to.
    pub record_dir: Option<&'a Path>,
    /// Whether nothing is left out.
    pub all: bool,
    /// Which findings are suppressed.
    pub judged: &'a Judged,
    /// Whether there is colour.
    pub colour: bool,
}

/// How much was found, in a line.
#[must_use]
pub fn summary(report: &RacesReport) -> String {
    if let Some(aims) = &report.aims {
        let real = aims.iter().filter(|aim| aim.status == "real").count();
        let executions = plural(report.directed.executions as usize, "directed execution");
        return format!(
            "{}: {real} real, {} unconfirmed; {executions}\n",
            plural(aims.len(), "aim"),
            aims.len() - real
        );
    }
    let count = |status: &str| report.potential.iter().filter(|pair| pair.status == status).count();
    let harmful = report.potential.iter().filter(|pair| pair.harmful).count();
    let visible = report.potential.iter().filter(|pair| is_visible(pair)).count();
    let benign = report.potential.iter().filter(|pair| pair.benign).count();
    let open = match count("unconfirmed") {
        0 => String::new(),
        open => format!(", {open} unconfirmed"),
    };
    // In a file without `main` these are the pairs that no driver has.
    let is_untried = |pair: &&PairReport| pair.trials == 0 && pair.status == "unconfirmed" && report.drivers.is_none();
    let untried = match report.potential.iter().filter(is_untried).count() {
        0 => String::new(),
        untried => format!(", {untried} of them not tried (--max-pairs)"),
    };
    let states = report.exploration.map_or_else(String::new, |of| format!(", {}", plural(of.states as usize, "state")));
    let drivers = match (&report.drivers, report.has_more_drivers) {
        (None, _) => String::new(),
        (Some(drivers), Some(true)) => format!("{} (more were left out), ", plural(drivers.len(), "driver")),
        (Some(drivers), _) => format!("{}, ", plural(drivers.len(), "driver")),
    };
    format!(
        "{}: {} real ({harmful} harmful, {visible} visible, {benign} benign), {} impossible{open}{untried}; {drivers}{}, {}{states}\n",
        plural(report.potential.len(), "potential race"),
        count("real"),
        count("impossible"),
        plural(report.prediction.executions as usize, "execution"),
        plural(report.directed.executions as usize, "directed one"),
    )
}

/// A table like that of Sen's paper: what was found, and how long an execution of each kind takes.
#[must_use]
pub fn timing(report: &RacesReport, timing: &Timing, unit: &Unit) -> String {
    let count = |wanted: &dyn Fn(&PairReport) -> bool| report.potential.iter().filter(|pair| wanted(pair)).count();
    let real = count(&|pair| pair.status == "real");
    let tried = report.potential.iter().filter(|pair| pair.status == "real" && pair.trials > 0);
    let proportions: Vec<f64> = tried.map(|pair| pair.hits as f64 / pair.trials as f64).collect();
    let mean = match proportions.len() {
        0 => "none".to_owned(),
        pairs => format!("{:.2}", proportions.iter().sum::<f64>() / pairs as f64),
    };
    let mut found = Table::new("  ");
    let mut row = |name: &str, value: String| found.row(vec![name.to_owned(), value]);
    row("lines that are executed", executed_lines(unit).to_string());
    row("potential races", report.potential.len().to_string());
    row("real, harmful", format!("{real}, {}", count(&|pair| pair.harmful)));
    row("deadlocks", report.deadlocks.len().to_string());
    let (undirected, directed) = (report.prediction, report.directed);
    row("executions that fail, undirected", format!("{} of {}", undirected.failed, undirected.executions));
    row("executions that fail, directed", format!("{} of {}", directed.failed, directed.executions));
    row("mean probability of a hit", mean);
    let each = |name: &str, took: std::time::Duration, executions: u64| {
        let one = took.as_secs_f64() * 1e6 / executions.max(1) as f64;
        vec![name.to_owned(), format!("{:.3} s", took.as_secs_f64()), format!("{one:.1} us each")]
    };
    let mut times = Table::new("  ");
    if let Some(plain) = timing.plain {
        times.row(each("plain executions", plain, undirected.executions));
    }
    times.row(each("phase 1, watched", timing.prediction, undirected.executions));
    times.row(each("phase 2, directed", timing.trials, directed.executions));
    times.row(vec!["exploration".to_owned(), format!("{:.3} s", timing.exploration.as_secs_f64())]);
    found.lines().concat() + &times.lines().concat()
}

/// Lines of the text that something is executed at.
fn executed_lines(unit: &Unit) -> usize {
    let blocks = unit.program.functions.iter().flat_map(|function| function.blocks.iter());
    let spans = blocks.flat_map(|block| block.spans.iter());
    let lines: BTreeSet<u32> = spans.map(|&span| unit.sources.line(span)).collect();
    lines.len()
}

impl RacesView<'_> {
    /// Prints the whole answer but for the summary: how the program ends badly, the races, the tables.
    pub fn print(&self, output: &mut Output) {
        let report = &self.answer.report;
        let mut blocks = [self.failures(report), self.deadlocks(report)].concat();
        blocks.push(endless::told_beside(&self.answer.endless, &self.subject.unit().sources, self.judged));
        let is_shown = |pair: &PairReport| pair.status == "real" && self.judged.shown(finding::race(pair)).is_some();
        let races = report.potential.iter().enumerate().filter(|(_, pair)| is_shown(pair));
        let shown = if self.all { usize::MAX } else { SHOWN };
        blocks.extend(races.clone().take(shown).filter_map(|(index, pair)| self.race(index, pair)));
        let hidden = races.count().saturating_sub(shown);
        if hidden > 0 {
            blocks.push(format!("and {} (--all shows them)\n", plural(hidden, "further race")));
        }
        match &report.aims {
            Some(aims) => blocks.extend(self.aims(aims)),
            None => blocks.extend([self.variables(report), self.pairs(report)]),
        }
        blocks.extend(report.schedulers.as_ref().map(|schedulers| self.schedulers(schedulers)));
        blocks.retain(|block| !block.is_empty());
        output.print(&blocks.join("\n"));
    }

    /// The schedulers side by side: one table for each.
    fn schedulers(&self, schedulers: &[SchedulerReport]) -> String {
        let mut text = String::new();
        for of in schedulers {
            let parameters = match (of.depth, of.steps) {
                (Some(depth), Some(steps)) => format!(", depth {depth}, {}", plural(steps as usize, "step")),
                _ => String::new(),
            };
            let failed = format!("{}, {} failed", plural(of.executions as usize, "execution"), of.failed);
            let head = format!("{} (switches at every {}{parameters}): {failed}", of.scheduler, of.granularity);
            text += &snippet::title(&head, self.colour);
            let mut table = Table::new("  ");
            for row in &of.pairs {
                let interval = match (row.low, row.high) {
                    (Some(low), Some(high)) if row.trials > 0 => format!("{low:.3} to {high:.3}"),
                    _ => String::new(),
                };
                let first = match row.first {
                    Some(first) => format!("first after {first}"),
                    None => format!("none in {}", row.trials),
                };
                let hits = format!("{}/{}", row.hits, row.trials);
                table.row(vec![row.a.clone(), row.b.clone(), hits, interval, first]);
            }
            text += &table.lines().concat();
        }
        text
    }

    /// One row for each aim, and the execution that reaches it.
    fn aims(&self, aims: &[AimReport]) -> Vec<String> {
        if aims.is_empty() {
            return vec!["there is nothing to direct executions at\n".to_owned()];
        }
        let mut table = Table::new("  ");
        for aim in aims {
            let hits = format!("{}/{}", aim.hits, aim.trials);
            table.row(vec![aim.places.join(", "), aim.status.to_owned(), hits, aim.what.clone()]);
        }
        let mut blocks = vec![snippet::title("aims", self.colour) + &table.lines().concat()];
        for (index, aim) in aims.iter().enumerate() {
            let (Some(steps), Compiled::Program(model)) = (&aim.steps, self.subject) else { continue };
            let title = snippet::title(&format!("{}: {}", aim.places.join(", "), aim.what), self.colour);
            blocks.push(
                title
                    + &self.steps(model).cause(steps)
                    + &self.replay(None, |directory| record::aim_file(directory, index)),
            );
        }
        blocks
    }

    /// One row for each variable: how many of its pairs are what, and the lock that most of its accesses hold.
    fn variables(&self, report: &RacesReport) -> String {
        let mut by_variable: BTreeMap<&str, Vec<&PairReport>> = BTreeMap::new();
        for pair in &report.potential {
            by_variable.entry(&pair.variable).or_default().push(pair);
        }
        if by_variable.is_empty() {
            return "no two accesses may race\n".to_owned();
        }
        let mut table = Table::new("  ");
        for (variable, pairs) in by_variable {
            let count = |wanted: &dyn Fn(&PairReport) -> bool| pairs.iter().filter(|pair| wanted(pair)).count();
            let harmful = count(&|pair| pair.harmful);
            let worst = match (harmful, count(&|pair| pair.status == "real")) {
                (0, 0) if count(&|pair| pair.status == "unconfirmed") > 0 => "unconfirmed".to_owned(),
                (0, 0) => "no race".to_owned(),
                (0, real) if count(&|pair| pair.benign) == real => "benign".to_owned(),
                (0, real) => format!("{real} real"),
                (harmful, real) => format!("{real} real, {harmful} harmful"),
            };
            let of = plural(pairs.len(), "pair");
            table.row(vec![variable.to_owned(), worst, of, hint(&pairs)]);
        }
        snippet::title("variables", self.colour) + &table.lines().concat()
    }

    /// One row for each pair.
    fn pairs(&self, report: &RacesReport) -> String {
        if report.potential.is_empty() {
            return String::new();
        }
        let mut table = Table::new("  ");
        table.row(["one", "other", "verdict", "met", "why"].map(str::to_owned).to_vec());
        let mut hidden = 0;
        let mut listed = 0;
        for pair in &report.potential {
            listed += 1;
            if listed > LISTED && !self.all && pair.status != "real" || listed > PAIRS && !self.all {
                hidden += 1;
                continue;
            }
            table.row(vec![pair.a.clone(), pair.b.clone(), verdict(pair), hits(pair), why(pair)]);
        }
        let more = match hidden {
            0 => String::new(),
            more => format!("  and {more} more (--all shows them)\n"),
        };
        snippet::title("pairs", self.colour) + &table.lines().concat() + &more
    }

    /// A real race: both sides, and how to see it again.
    fn race(&self, index: usize, pair: &PairReport) -> Option<String> {
        let steps = pair.witness.as_ref().filter(|_| pair.status == "real")?;
        let diagnostic = in_driver(self.judged.shown(finding::race(pair))?, pair.driver.as_ref());
        // An execution that does not fail ends with the two accesses; neither is the cause of the other.
        let rows = if pair.harmful || steps.len() > WHOLE { Rows::Cause } else { Rows::All };
        let mut text = self.block(&diagnostic, (steps, rows), pair.driver.as_ref())?;
        if let (Some(seed), Compiled::Program(model)) = (pair.seed, self.subject) {
            let options = options_text(model.options());
            let file = quoted(&name_of(self.file));
            text += &format!("again: cssame races {file}{options} --pair {},{} --seed {seed}\n", pair.a, pair.b);
        }
        Some(text + &self.replay(pair.driver.as_ref(), |directory| record::race_file(directory, index)))
    }

    fn failures(&self, report: &RacesReport) -> Vec<String> {
        let block = |(index, met): (usize, &MetFailure)| {
            let model = self.model(met.driver.as_ref())?;
            let diagnostic = finding::failure(&model.naming(), &met.data, &met.failure.thread, &met.failure.facts);
            let diagnostic = self.judged.shown(diagnostic)?;
            let diagnostic = self.with_origin(diagnostic, met.seed, met.pair.as_ref());
            let diagnostic = in_driver(diagnostic, met.driver.as_ref());
            let text = self.block(&diagnostic, (&met.steps, Rows::Cause), met.driver.as_ref())?;
            Some(text + &self.replay(met.driver.as_ref(), |directory| record::failure_file(directory, index)))
        };
        report.failures.iter().enumerate().filter_map(block).collect()
    }

    fn deadlocks(&self, report: &RacesReport) -> Vec<String> {
        let shown = report.deadlocks.iter().enumerate().filter_map(|(index, met)| {
            let model = self.model(met.driver.as_ref())?;
            let diagnostic = finding::deadlock(model.sources(), &met.deadlock.threads);
            Some((index, met, self.judged.shown(diagnostic)?))
        });
        let shown: Vec<(usize, &MetDeadlock, Diagnostic)> = shown.collect();
        let block = |(at, others): (usize, Vec<usize>)| {
            let (index, met, diagnostic) = &shown[at];
            let others: Vec<&[BlockedReport]> =
                others.into_iter().map(|other| &shown[other].1.deadlock.threads[..]).collect();
            let diagnostic = finding::with_symmetric(diagnostic.clone(), &others);
            let diagnostic = self.with_origin(diagnostic, met.seed, met.pair.as_ref());
            let diagnostic = in_driver(diagnostic, met.driver.as_ref());
            let text = self.block(&diagnostic, (&met.steps, Rows::Cause), met.driver.as_ref())?;
            Some(text + &self.replay(met.driver.as_ref(), |directory| record::deadlock_file(directory, *index)))
        };
        let deadlocks = shown.iter().map(|of| &of.1.deadlock.threads[..]);
        groups(deadlocks, self.all).into_iter().filter_map(block).collect()
    }

    fn model(&self, driver: Option<&String>) -> Option<&Model> {
        self.answer.model_of(self.subject, driver)
    }

    /// A diagnostic, and the steps that lead to it.
    fn block(
        &self,
        diagnostic: &Diagnostic,
        (steps, rows): (&[Choice], Rows),
        driver: Option<&String>,
    ) -> Option<String> {
        let model = self.model(driver)?;
        let view = self.steps(model);
        Some(match rows {
            Rows::Cause => view.finding(diagnostic, steps),
            Rows::All => view.diagnostic(diagnostic) + "\n" + &view.race_up_to(usize::MAX, steps),
        })
    }

    fn steps<'m>(&self, model: &'m Model) -> StepsView<'m> {
        StepsView { model, all: self.all, source: false, colour: self.colour }
    }

    fn replay(&self, driver: Option<&String>, file: impl Fn(&Path) -> PathBuf) -> String {
        let directory = self.record_dir.unwrap_or(Path::new(DIRECTORY));
        let source = record::race_source(directory, self.file, self.answer, driver);
        let replay = replay_line(&source, &file(directory));
        if self.record_dir.is_some() {
            return replay;
        }
        let options = self.model(driver).map_or_else(String::new, |model| options_text(model.options()));
        let options = options + self.options;
        record_line("races", self.file, &options) + &replay
    }

    fn with_origin(&self, diagnostic: Diagnostic, seed: Option<u64>, pair: Option<&[String; 2]>) -> Diagnostic {
        let (Some(seed), Compiled::Program(model)) = (seed, self.subject) else { return diagnostic };
        let (file, options) = (quoted(&name_of(self.file)), options_text(model.options()));
        match pair {
            Some([a, b]) => {
                diagnostic.with_note(format!("met by `cssame races {file}{options} --pair {a},{b} --seed {seed}`"))
            }
            None if self.answer.report.aims.is_some() => diagnostic,
            None => diagnostic.with_note(format!("met by `cssame run {file}{options} --seed {seed}`")),
        }
    }
}

fn in_driver(diagnostic: Diagnostic, driver: Option<&String>) -> Diagnostic {
    match driver {
        Some(name) => diagnostic.with_note(format!("in the driver `{name}`")),
        None => diagnostic,
    }
}

fn verdict(pair: &PairReport) -> String {
    match pair.status {
        "real" if pair.harmful => "real, harmful".to_owned(),
        "real" if pair.benign => "real, benign".to_owned(),
        "real" if is_visible(pair) => "real, visible".to_owned(),
        other => other.to_owned(),
    }
}

/// Whether it does no harm, but its order changes what the program prints or leaves behind.
fn is_visible(pair: &PairReport) -> bool {
    pair.status == "real" && !pair.harmful && pair.outcomes_differ == Some(true)
}

fn hits(pair: &PairReport) -> String {
    if pair.trials == 0 { "not tried".to_owned() } else { format!("{}/{}", pair.hits, pair.trials) }
}

fn why(pair: &PairReport) -> String {
    match (&pair.proof, pair.outcomes_differ) {
        (Some(proof), _) => proof.clone(),
        (None, _) if pair.harmful => {
            let names = pair.fails_when_first.iter().map(|side| if *side == "a" { &pair.a } else { &pair.b });
            let names: Vec<&str> = names.map(String::as_str).collect();
            format!("fails when {} goes first", names.join(" or "))
        }
        (None, Some(true)) => "the order changes the outcome".to_owned(),
        (None, Some(false)) => "no order changes the outcome".to_owned(),
        (None, None) => String::new(),
    }
}

/// The lock that most sides of the pairs of a variable hold.
fn hint(pairs: &[&PairReport]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let sides: Vec<&Vec<String>> = pairs.iter().flat_map(|pair| [&pair.locks_a, &pair.locks_b]).collect();
    for lock in sides.iter().flat_map(|locks| locks.iter()) {
        *counts.entry(lock).or_default() += 1;
    }
    // Of several, the first by name.
    let most = counts.into_iter().max_by(|a, b| a.1.cmp(&b.1).then(b.0.cmp(a.0)));
    most.map_or_else(String::new, |(lock, count)| format!("{count} of {} sides hold `{lock}`", sides.len()))
}
