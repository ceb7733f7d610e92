//! Test cases of `paths`, for readers: the findings first, then the test cases, how they were made, and the unknown facts.

mod explained;
mod groups;
mod library;
mod table;

pub use library::{LibraryView, library_summary};
pub use table::table;

use super::replay::{DIRECTORY, options_text, record_line, replay_line};
use super::snippet::{self, Table, wrap};
use super::symmetric::groups;
use crate::record;
use crate::screen;
use crate::view::steps::StepsView;
use cssame_answer::words::plural;
use cssame_answer::{EmittedReport, Judged, PathsAnswer, finding};
use cssame_diagnostics::{Diagnostic, terminal};
use cssame_explore::report::BlockedReport;
use cssame_model::Model;
use cssame_paths::report::{MissedReport, PathsReport, RaceReport, TestReport};
use cssame_source::SourceMap;
use cssame_vm::Choice;
use std::path::{Path, PathBuf};

/// Races that are shown with both sides without `--all`.
const SHOWN_RACES: usize = 6;

/// Failures, and deadlocks, that are shown without `--all`.
const SHOWN_FINDINGS: usize = 4;

/// Columns of a condition in the reason of a test.
const REASON: usize = 24;

/// Tests that are listed without `--all`.
const SHOWN_TESTS: usize = 20;

/// Names that a sentence lists without `--all`.
const LISTED_NAMES: usize = 8;

/// An answer, what it was made from, and how it is shown.
pub struct PathsView<'a> {
    /// The test cases.
    pub answer: &'a PathsAnswer,
    /// The program.
    pub model: &'a Model,
    /// The source file.
    pub file: &'a Path,
    /// In a file without `main`: the driver, by number, and its name.
    pub driver: Option<(usize, &'a str)>,
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
pub fn summary(report: &PathsReport) -> String {
    let cases = match (report.test_cases, &report.counted) {
        (Some(orders), None) => plural(orders as usize, "order"),
        (Some(1), _) => "1 test case".to_owned(),
        (Some(cases), Some(counted)) if counted.upper_bound => format!("at most {cases} test cases"),
        (Some(cases), _) => format!("{cases} test cases"),
        (None, None) => "orders not all found".to_owned(),
        (None, Some(counted)) if counted.infinite => "test cases without end".to_owned(),
        (None, _) => "test cases not all found".to_owned(),
    };
    let races = report.races.iter().filter(|race| race.is_finding()).count();
    let open = if report.complete { "" } else { "; not all is known" };
    let made = plural(report.executions as usize, if report.counted.is_some() { "execution" } else { "test" });
    format!(
        "{made}, {cases}: {}, {}, {}{open}\n",
        plural(races, "race"),
        plural(report.failures.len(), "failure"),
        plural(report.deadlocks.len(), "deadlock"),
    )
}

/// Where test drivers were written.
#[must_use]
pub fn emitted(report: &EmittedReport) -> String {
    let tests = plural(report.tests.len(), "test");
    format!("wrote {tests} to {}\n{}", report.out, super::replay::test_line(report.target, &report.out))
}

impl PathsView<'_> {
    /// The whole answer but for the summary.
    #[must_use]
    pub fn text(&self) -> String {
        let report = &self.answer.report;
        let mut blocks = self.found();
        blocks.push(self.tests(report));
        match &self.answer.explained {
            Some(explained) => blocks.extend(self.explained(explained)),
            None => blocks.extend(self.groups(report)),
        }
        blocks.push(self.method(report));
        blocks.retain(|block| !block.is_empty());
        blocks.join("\n")
    }

    /// Races, failures and deadlocks.
    fn found(&self) -> Vec<String> {
        let report = &self.answer.report;
        let mut blocks = self.races(report);
        blocks.extend(self.failures(report));
        blocks.extend(self.deadlocks(report));
        blocks
    }

    /// A diagnostic with the test that shows it.
    fn shown_by(&self, diagnostic: Diagnostic, test: usize) -> Diagnostic {
        diagnostic.with_note(match self.driver {
            None => format!("shown by test {test}"),
            Some((_, name)) => format!("shown by test {test} of the driver `{name}`"),
        })
    }

    /// The races: those that nothing rules out with both sides, the others in a line each.
    fn races(&self, report: &PathsReport) -> Vec<String> {
        let (mut findings, others): (Vec<&RaceReport>, Vec<&RaceReport>) =
            report.races.iter().partition(|race| race.is_finding());
        findings.retain(|race| self.judged.shown(finding::unprotected(race)).is_some());
        let limit = if self.all { usize::MAX } else { SHOWN_RACES };
        let shown = findings.len().min(limit);
        let mut blocks: Vec<String> = findings
            .iter()
            .take(shown)
            .enumerate()
            .filter_map(|(index, race)| self.race(race, index + 1 == shown))
            .collect();
        let further = findings.len() - shown;
        let head = format!("and {} (--all shows both sides of each)", plural(further, "further race"));
        blocks.extend(self.race_table(&head, &findings[shown..]));
        let (ordered, apart): (Vec<&RaceReport>, Vec<&RaceReport>) = others.into_iter().partition(|race| race.ordered);
        blocks
            .extend(self.race_table("no lock in common, but ordered by other synchronisation in each test", &ordered));
        blocks.extend(self.race_table("no lock in common, but in no execution at once", &apart));
        blocks
    }

    /// Races in a line each; nothing where there are none.
    fn race_table(&self, head: &str, races: &[&RaceReport]) -> Option<String> {
        let mut table = Table::new("  ");
        for race in races {
            table.row(vec![race.variable.clone(), race.a.clone(), race.b.clone(), format!("test {}", race.test)]);
        }
        (!races.is_empty()).then(|| snippet::title(head, self.colour) + &table.lines().concat())
    }

    /// A race; behind the last one that is shown stands what helps, and how to see them again.
    fn race(&self, race: &RaceReport, is_last: bool) -> Option<String> {
        let diagnostic = self.shown_by(self.judged.shown(finding::unprotected(race))?, race.test);
        let diagnostic = if is_last { diagnostic.with_help(finding::PROTECT) } else { diagnostic };
        let text = terminal::render_all(self.model.sources(), &[diagnostic], screen::of_stdout(self.colour));
        Some(if is_last { text + &self.replay(|directory| record::test_file(directory, race.test)) } else { text })
    }

    fn failures(&self, report: &PathsReport) -> Vec<String> {
        let limit = if self.all { usize::MAX } else { SHOWN_FINDINGS };
        let all = report.failures.iter().enumerate().filter_map(|(index, met)| {
            let diagnostic = finding::failure(&self.model.naming(), &met.data, &met.failure.thread, &met.failure.facts);
            Some((index, met, self.judged.shown(diagnostic)?))
        });
        let all: Vec<_> = all.collect();
        let count = all.len();
        let shown = all.into_iter().take(limit).map(|(index, met, diagnostic)| {
            let diagnostic = self.shown_by(diagnostic, met.test);
            self.finding(&diagnostic, &met.steps) + &self.replay(|of| record::failure_file(of, index))
        });
        let mut blocks: Vec<String> = shown.collect();
        blocks.extend(hidden(count, limit, "failure"));
        blocks
    }

    fn deadlocks(&self, report: &PathsReport) -> Vec<String> {
        let limit = if self.all { usize::MAX } else { SHOWN_FINDINGS };
        let all = report.deadlocks.iter().enumerate().filter_map(|(index, met)| {
            let diagnostic = finding::deadlock(self.model.sources(), &met.deadlock.threads);
            Some((index, met, self.judged.shown(diagnostic)?))
        });
        let all: Vec<_> = all.collect();
        let groups = groups(all.iter().map(|of| &of.1.deadlock.threads[..]), self.all);
        let count = groups.len();
        let shown = groups.into_iter().take(limit).map(|(at, others)| {
            let (index, met, diagnostic) = &all[at];
            let others: Vec<&[BlockedReport]> =
                others.into_iter().map(|other| &all[other].1.deadlock.threads[..]).collect();
            let diagnostic = finding::with_symmetric(diagnostic.clone(), &others);
            let diagnostic = self.shown_by(diagnostic, met.test);
            self.finding(&diagnostic, &met.steps) + &self.replay(|of| record::deadlock_file(of, *index))
        });
        let mut blocks: Vec<String> = shown.collect();
        blocks.extend(hidden(count, limit, "deadlock"));
        blocks
    }

    /// A diagnostic, and the steps that lead to it.
    fn finding(&self, diagnostic: &Diagnostic, steps: &[Choice]) -> String {
        StepsView { model: self.model, all: self.all, source: false, colour: self.colour }.finding(diagnostic, steps)
    }

    fn replay(&self, file: impl Fn(&Path) -> PathBuf) -> String {
        let directory = self.record_dir.unwrap_or(Path::new(DIRECTORY));
        let replay = match self.driver {
            None => replay_line(self.file, &file(directory)),
            Some((index, _)) => {
                let of_tests = record::driver_directory(directory, index);
                replay_line(&record::driver_file(directory, index), &file(&of_tests))
            }
        };
        if self.record_dir.is_some() {
            return replay;
        }
        record_line("paths", self.file, &(options_text(self.model.options()) + self.options)) + &replay
    }

    /// One row for each test: why it was made, and how it ends. An attempt that came to an order which another test has shows
    /// nothing of its own.
    fn tests(&self, report: &PathsReport) -> String {
        let mut table = Table::new("  ");
        let limit = if self.all { usize::MAX } else { SHOWN_TESTS };
        let listed: Vec<&TestReport> = report.tests.iter().filter(|test| self.all || shows(report, test)).collect();
        for test in listed.iter().take(limit) {
            let class = format!("path {}", test.class);
            table.row(vec![
                test.test.to_string(),
                test.status.to_owned(),
                class,
                reason(self.model.sources(), report, test),
            ]);
        }
        let rest = listed.len().saturating_sub(limit);
        let mut more = if rest > 0 { format!("  and {rest} more (--all shows them)\n") } else { String::new() };
        let attempts = report.tests.len() - listed.len() + report.attempts as usize;
        if attempts > 0 {
            more += &format!("  {} showed nothing new\n", plural(attempts, "further attempt"));
        }
        let classes = report.race_equivalent.classes;
        let paths =
            if classes == 1 { "1 race-equivalent path".to_owned() } else { format!("{classes} race-equivalent paths") };
        let head = format!("tests: {} along {paths}", plural(report.tests.len(), "execution"));
        snippet::title(&head, self.colour) + &table.lines().concat() + &more
    }

    /// How the tests were made, and what is known beyond them.
    fn method(&self, report: &PathsReport) -> String {
        let mut lines = Vec::new();
        if report.counted.is_none() {
            lines.extend(graph_line(report));
            lines.push(stopped(report).to_owned());
        } else {
            lines.push(counted(report));
        }
        if let Some(exact) = &report.exact {
            lines.push(if exact.complete {
                "All executions were looked at: no other branch outcome, race, failure or deadlock is possible."
                    .to_owned()
            } else {
                "Not all executions were looked at: there may be other branch outcomes, races, failures and deadlocks."
                    .to_owned()
            });
            let missed: Vec<String> = exact.missed.iter().map(missed).collect();
            if !missed.is_empty() {
                let what = if report.stopped_by == "bound" {
                    "Exploration has added"
                } else {
                    "The method alone would have missed"
                };
                lines.push(format!("{what} {}.", self.listed(&missed, "; ")));
            }
        } else if report.counted.is_none() {
            lines.push("Other executions were not looked at: there may be other branch outcomes, races, failures and deadlocks.".to_owned());
        }
        let open = report.groups.iter().chain(&report.wait_groups).filter(|group| group.feasible.is_none()).count();
        if open > 0 {
            let whether = if open == 1 { "whether an execution has it" } else { "whether executions have them" };
            lines.push(format!("Of {} it is not known {whether}.", plural(open, "order")));
        }
        let impossible: Vec<String> = report
            .branches
            .iter()
            .filter(|branch| branch.affected && !branch.impossible.is_empty())
            .map(|branch| format!("`{}` {}", branch.branch, branch.impossible.join(", ")))
            .collect();
        if !impossible.is_empty() {
            lines.push(format!("Proven impossible: {}.", self.listed(&impossible, "; ")));
        }
        let wrapped = lines.iter().map(|line| wrap("  ", line)).collect::<String>();
        snippet::title("how they were made", self.colour) + &wrapped
    }

    /// Some of them, and how many there are besides.
    fn listed(&self, names: &[String], between: &str) -> String {
        let limit = if self.all { usize::MAX } else { LISTED_NAMES };
        let mut text = names.iter().take(limit).cloned().collect::<Vec<_>>().join(between);
        if names.len() > limit {
            text += &format!("{between}and {} more (--all)", names.len() - limit);
        }
        text
    }
}

fn hidden(count: usize, limit: usize, word: &str) -> Option<String> {
    (count > limit).then(|| format!("and {} (--all shows them)\n", plural(count - limit, &format!("further {word}"))))
}

/// Whether a test shows what no test before it has shown: an order, a path, a finding, or what the method has missed. Where some
/// were left out before, each of the others does.
fn shows(report: &PathsReport, test: &TestReport) -> bool {
    let number = test.test;
    let groups = report.groups.iter().chain(&report.wait_groups);
    let ends = report.failures.iter().map(|met| met.test).chain(report.deadlocks.iter().map(|met| met.test));
    let missed = report.exact.iter().flat_map(|exact| exact.missed.iter().map(|one| one.test));
    let races = report.races.iter().map(|race| race.test);
    let first_of_path = report.tests.iter().find(|other| other.class == test.class);
    report.attempts > 0
        || matches!(test.reason, "first" | "class")
        || groups.filter_map(|group| group.tested_by).any(|by| by == number)
        || ends.chain(missed).chain(races).any(|by| by == number)
        || first_of_path.is_some_and(|first| first.test == number)
}

/// Why a test was made: what it shows another outcome of, by its condition.
fn reason(sources: &SourceMap, report: &PathsReport, test: &TestReport) -> String {
    let first = match report.first_run.seed {
        Some(seed) => format!("the first run, by seed {seed}"),
        None if report.first_run.kind == "schedule" => "the first run, by a schedule".to_owned(),
        None => "the first run: threads in the order of the text".to_owned(),
    };
    match (&test.group, test.reason) {
        (_, "first") if report.first_run.replaced => format!("{first}; an assumption discards the one asked for"),
        (_, "first") => first,
        (Some((branch, 0)), _) => format!("for an order at {branch} that it does not have"),
        (Some((branch, number)), _) => {
            let groups = report.groups.iter().chain(&report.wait_groups);
            let group = groups.into_iter().find(|group| group.branch == *branch && group.group == *number);
            let Some(group) = group.filter(|group| group.outcome.is_some()) else {
                return format!("for order {number} of {branch}");
            };
            let condition = snippet::one_line(sources.text(group.span));
            let condition = snippet::shorten(condition.trim_end_matches(';'), REASON);
            let colon = if group.iterations.is_some() { ":" } else { "" };
            format!("for order {number} of {branch}: `{condition}`{colon} {}", groups::outcome(group))
        }
        (None, "class") => "for a class of versions".to_owned(),
        (None, "stuck") => "for a stuck node of the variant graph".to_owned(),
        (None, _) if report.stopped_by == "bound" => "by exploration".to_owned(),
        (None, _) => "by exploration: the method has missed it".to_owned(),
    }
}

fn graph_line(report: &PathsReport) -> Option<String> {
    let graph = report.graph.as_ref()?;
    let forbidden = graph.infeasible;
    let mut moves = Vec::new();
    for (count, why) in
        [(forbidden.lock, "by locks"), (forbidden.wait, "by waits"), (forbidden.other, "by other synchronisation")]
    {
        if count > 0 {
            moves.push(format!("{count} {why}"));
        }
    }
    let moves =
        if moves.is_empty() { String::new() } else { format!("; moves that are forbidden: {}", moves.join(", ")) };
    let stuck = if graph.stuck > 0 { format!("; {} stuck", graph.stuck) } else { String::new() };
    let cut = if graph.cut { "at least " } else { "" };
    let nodes = plural(graph.nodes, "node");
    Some(format!("Variant graph of the first run: {cut}{nodes}, {}{moves}{stuck}.", plural(graph.variants, "variant")))
}

fn stopped(report: &PathsReport) -> &'static str {
    match report.stopped_by {
        "rows" => {
            "The method ended because the affected branches have come out in all combinations of outcomes (condition 1)."
        }
        "groups" if report.groups.is_empty() && report.wait_groups.is_empty() => {
            "The method ended after the first run: no other thread can change a branch."
        }
        "groups" => "The method ended because each group was tested, or no execution has it (condition 2).",
        _ => "The method was ended by a bound.",
    }
}

fn counted(report: &PathsReport) -> String {
    let what = if report.criterion == "tpair" {
        "TPAIR: a test case for each class of versions read and written, of each two threads alone"
    } else {
        "Reachability testing: a test case for each class of versions read and written"
    };
    let infinite = report.counted.as_ref().is_some_and(|counted| counted.infinite);
    let upper = report.counted.as_ref().is_some_and(|counted| counted.upper_bound);
    match report.test_cases {
        None if infinite => format!("{what}. There are infinitely many: a loop can make new versions for ever."),
        None => format!("{what}. Not all of them were found."),
        Some(cases) if upper => {
            format!("{what}. There are at most {cases}: orders in which locks are taken count apart.")
        }
        Some(cases) => format!("{what}. There are {cases}."),
    }
}

fn missed(one: &MissedReport) -> String {
    match one.kind {
        "race" => format!("the race of {} (test {})", one.what.replace(' ', " and "), one.test),
        _ => format!("`{}` (test {})", one.what, one.test),
    }
}
