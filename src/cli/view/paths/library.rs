//! Tests of the drivers of a file without `main`, for readers: what they show, then a line for each driver, or all of its tests.

use super::{PathsView, hidden};
use crate::view::snippet::{self, Table};
use cssame_answer::words::plural;
use cssame_answer::{DriverTests, Judged, LibraryPaths};
use std::path::Path;

/// Drivers that are listed without `--all`.
const SHOWN_DRIVERS: usize = 20;

/// Columns of the name of a driver.
const NAME: usize = 54;

/// An answer, and how it is shown.
pub struct LibraryView<'a> {
    /// The drivers with their tests.
    pub answer: &'a LibraryPaths,
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
pub fn library_summary(answer: &LibraryPaths) -> String {
    let sum = |of: &dyn Fn(&DriverTests) -> usize| answer.drivers.iter().map(of).sum::<usize>();
    let tests = sum(&|one| one.answer.report.executions as usize);
    let races = sum(&|one| one.answer.report.races.iter().filter(|race| race.is_finding()).count());
    let failures = sum(&|one| one.answer.report.failures.len());
    let deadlocks = sum(&|one| one.answer.report.deadlocks.len());
    let more = if answer.has_more_drivers { " (more were left out)" } else { "" };
    let open = if answer.complete { "" } else { "; not all is known" };
    format!(
        "{}{more}, {}: {}, {}, {}{open}\n",
        plural(answer.drivers.len(), "driver"),
        plural(tests, "test"),
        plural(races, "race"),
        plural(failures, "failure"),
        plural(deadlocks, "deadlock"),
    )
}

impl LibraryView<'_> {
    /// The whole answer but for the summary.
    #[must_use]
    pub fn text(&self) -> String {
        let views: Vec<PathsView<'_>> =
            self.answer.drivers.iter().enumerate().map(|(index, one)| self.of_driver(index, one)).collect();
        let mut blocks: Vec<String> = views.iter().flat_map(PathsView::found).collect();
        blocks.push(self.drivers());
        if self.all {
            for (view, one) in views.iter().zip(&self.answer.drivers) {
                blocks.push(snippet::title(&format!("driver `{}`", one.driver), self.colour));
                blocks.push(view.tests(&one.answer.report));
                blocks.extend(view.groups(&one.answer.report));
            }
        }
        blocks.retain(|block| !block.is_empty());
        blocks.join("\n")
    }

    fn of_driver<'a>(&'a self, index: usize, one: &'a DriverTests) -> PathsView<'a> {
        let LibraryView { file, options, record_dir, all, judged, colour, .. } = *self;
        let driver = Some((index, one.driver.as_str()));
        PathsView { answer: &one.answer, model: &one.model, file, driver, options, record_dir, all, judged, colour }
    }

    /// A line for each driver that has several paths: only there does the order of threads decide a branch.
    fn drivers(&self) -> String {
        let paths = |one: &DriverTests| one.answer.report.race_equivalent.classes;
        let numbered = self.answer.drivers.iter().enumerate();
        let (several, alike): (Vec<_>, Vec<_>) = numbered.partition(|(_, one)| paths(one) > 1);
        let limit = if self.all { usize::MAX } else { SHOWN_DRIVERS };
        let mut table = Table::new("  ");
        for (index, one) in several.iter().take(limit) {
            let report = &one.answer.report;
            let alone = if one.fails_alone { "its calls fail one after the other too" } else { "" };
            table.row(vec![
                (index + 1).to_string(),
                plural(report.executions as usize, "test"),
                plural(paths(one), "path"),
                snippet::shorten(&one.driver, NAME),
                alone.to_owned(),
            ]);
        }
        let rest = hidden(several.len(), limit, "pair").unwrap_or_default();
        let one_path = match alike.len() {
            0 => String::new(),
            count => format!("  {} of one path each\n", plural(count, "other pair")),
        };
        let all = plural(self.answer.drivers.len(), "pair");
        let head = format!("tests of {all} of calls; the order of threads decides a branch in {}", several.len());
        let written =
            if self.record_dir.is_some() { "" } else { "  --record-dir DIR writes the drivers with their tests\n" };
        snippet::title(&head, self.colour) + &table.lines().concat() + &rest + &one_path + written
    }
}
