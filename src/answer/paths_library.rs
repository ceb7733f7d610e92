//! The tests of a file without `main`: those of the drivers that close it.
//!
//! **Input**: a file of classes and functions, a request, and a budget for all drivers together. **Output**: the tests of each
//! driver.
//!
//! **Algorithm**: each driver of [`Methods::drivers`] runs two calls in parallel, and is a program like any other. The drivers
//! share the states of the search evenly. A race, a failure or a deadlock stands in the first driver that shows it. If the calls of
//! a driver fail or block also one after the other, it has broken a rule of use: its failures and deadlocks are left out.
//!
//! **Soundness and limits**: a test of a driver is an execution of a program that uses the classes. Other clients can do more.

use super::collector::Collector;
use super::compiled::Compiled;
use super::paths::{PathsAnswer, PathsRequest, paths};
use super::suppress::Findings;
use cssame_budget::{Bound, Budget};
use cssame_diagnostics::Diagnostics;
use cssame_harness::Methods;
use cssame_model::{Model, NoMain, Options, Unit};
use cssame_paths::report::PathsReport;
use cssame_race::fails_alone;
use cssame_source::Span;
use serde::Serialize;
use std::collections::BTreeSet;

/// A driver with its tests.
#[derive(Debug, Serialize)]
pub struct DriverTests {
    /// Which calls run in parallel: `Stack.push || Stack.pop`.
    pub driver: String,
    /// Whether its calls fail or block also if one comes after the other.
    pub fails_alone: bool,
    /// Its tests; findings that an earlier driver shows are left out.
    #[serde(flatten)]
    pub answer: PathsAnswer,
    /// The program that it is.
    #[serde(skip)]
    pub model: Model,
}

/// The tests of a file without `main`.
#[derive(Debug, Serialize)]
pub struct LibraryPaths {
    /// Whether the tests of each driver are complete.
    pub complete: bool,
    /// In the order in which they are made, the plainest first.
    pub drivers: Vec<DriverTests>,
    /// Whether there are more than were made.
    pub has_more_drivers: bool,
    /// The file.
    #[serde(skip)]
    pub unit: Unit,
    /// The bound that has cut something.
    #[serde(skip)]
    pub bound: Option<Bound>,
}

/// The tests of a program, or of the drivers of a file without `main`.
#[derive(Debug)]
pub enum PathsOf {
    /// Of a program, with that.
    Program(Box<PathsAnswer>, Box<Model>),
    /// Of a file without `main`.
    Library(Box<LibraryPaths>),
}

/// Makes the tests of a program, or of the drivers of a file without `main`.
///
/// # Errors
///
/// As [`paths`]; or nothing in the file can be called.
pub fn paths_of(
    subject: Compiled,
    options: &Options,
    request: &PathsRequest,
    budget: &Budget<'_>,
) -> Result<PathsOf, Diagnostics> {
    match subject {
        Compiled::Program(model) => Ok(PathsOf::Program(Box::new(paths(&model, request, budget)?), model)),
        Compiled::Library(unit) => Ok(PathsOf::Library(Box::new(of_drivers(*unit, options, request, budget)?))),
    }
}

fn of_drivers(
    unit: Unit,
    options: &Options,
    request: &PathsRequest,
    budget: &Budget<'_>,
) -> Result<LibraryPaths, Diagnostics> {
    let methods = Methods::new(&unit.sources, unit.file);
    let (drivers, has_more_drivers) = (methods.drivers(), methods.has_more_drivers());
    if drivers.is_empty() {
        return Err(NoMain(unit).into());
    }
    let share = request.explore.map(|states| (states / drivers.len() as u64).max(1));
    let request = PathsRequest { explore: share, ..request.clone() };
    let mut known = Known { end: unit.text().len() as u32, ..Known::default() };
    let (mut made, mut bound) = (Vec::new(), None);
    for driver in drivers {
        if let Some(hit) = budget.check() {
            bound = Some(hit);
            break;
        }
        // What the text of the driver lacks, such as a constant that has no value, it lacks in any of them.
        let Ok(model) = Model::from_text(unit.name(), &driver.text, options) else { continue };
        let mut answer = paths(&model, &request, budget)?;
        let fails_alone = fails_alone(&model, request.max_steps);
        known.keep_new(&mut answer.report, fails_alone);
        bound = bound.or(answer.bound);
        made.push(DriverTests { driver: driver.name, fails_alone, answer, model });
    }
    let complete = bound.is_none() && made.iter().all(|one| one.answer.report.complete);
    Ok(LibraryPaths { complete, drivers: made, has_more_drivers, unit, bound })
}

/// What drivers have shown.
#[derive(Debug, Default)]
struct Known {
    /// Where the text of the file ends.
    end: u32,
    races: BTreeSet<[(u32, u32); 2]>,
    failures: BTreeSet<(&'static str, String, String)>,
    deadlocks: BTreeSet<Vec<String>>,
}

impl Known {
    /// Leaves out what earlier drivers have shown, and what is not of the file.
    fn keep_new(&mut self, report: &mut PathsReport, fails_alone: bool) {
        let places = |spans: [Span; 2]| spans.map(|span| (span.start, span.end));
        let in_file = |spans: [Span; 2]| spans.iter().all(|span| span.end <= self.end);
        report.races.retain(|race| in_file(race.spans) && self.races.insert(places(race.spans)));
        report.failures.retain(|met| {
            let of = &met.failure;
            !fails_alone && self.failures.insert((of.status, of.at.clone(), of.message.clone()))
        });
        report.deadlocks.retain(|met| {
            let blocked = met.deadlock.threads.iter().map(|blocked| blocked.at.clone());
            !fails_alone && self.deadlocks.insert(blocked.collect())
        });
    }
}

impl LibraryPaths {
    /// Races that nothing rules out, failures and deadlocks of the drivers.
    #[must_use]
    pub fn findings(&self) -> Findings<'_> {
        let mut collector = Collector::of_unit(&self.unit);
        for one in &self.drivers {
            collector.add_paths(&one.answer.report, &one.model);
        }
        collector.findings
    }
}
