//! `cssame drive FILE --out DIR`: deterministic tests for the feasible pi terms, failures and deadlocks, or for a selection.

use super::races::parse_pair;
use crate::job::{Common, Help, Job};
use crate::load::{self, name_of};
use crate::options::{BoundOptions, JobsOption, ProcessBounds, parse_part};
use crate::output::Output;
use crate::package::{self, check_directory, no_package, run_tests, write_package};
use crate::progress::with_budget;
use crate::recorded::{departed, read_schedule};
use crate::shared::SearchOptions;
use crate::status::Status;
use crate::target::TargetName;
use crate::view;
use clap::{Args, ValueEnum};
use cssame_answer::{
    CorrelateRequest, DriveAnswer, DriveRaceRequest, DriveReport, DriveRequest, Execute, Findings, Judged, NotDriven,
    correlate, drive, drive_latches, drive_pairs, drive_race, drive_schedule, finding, race_pair,
};
use cssame_budget::{Bound, Budget};
use cssame_diagnostics::{Code, Diagnostic, Diagnostics, Severity};
use cssame_driver as driver;
use cssame_driver::{Contents, Expect, LatchesError, Target, Unsaid};
use cssame_form::Selection;
use cssame_model::{Model, Options};
use cssame_race::States;
use cssame_source::SourceMap;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::slice::from_ref;

/// What makes no sense where nothing is searched for.
const NOT_WITH_LATCHES: [&str; 16] = [
    "failures",
    "outcomes",
    "terms_only",
    "distinct",
    "pairs",
    "schedule",
    "race",
    "expect",
    "spurious_wakeups",
    "prefer_writers",
    "max_steps",
    "max_states",
    "max_executions",
    "max_memory",
    "timeout",
    "max_cpu",
];

/// Steps beyond which a recorded execution is not followed.
const MAX_STEPS: u64 = 1_000_000;

/// Arguments of `drive`.
#[derive(Args, Clone, Debug)]
pub struct Arguments {
    /// Source file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Directory of the package: a new or empty one, or one that this command has written
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Make one test, for an execution with this term (repeatable: with all of them)
    #[arg(long, value_name = "READ=DEF")]
    pub select: Vec<String>,
    /// Make tests only for failures and deadlocks, not for terms
    #[arg(long, conflicts_with_all = ["select", "pairs", "race", "outcomes", "terms_only", "distinct"])]
    pub failures: bool,
    /// Also make a test for each outcome that no other test shows
    #[arg(long, conflicts_with_all = ["select", "pairs", "race", "terms_only"])]
    pub outcomes: bool,
    /// Make tests only for terms
    #[arg(long, conflicts_with_all = ["select", "pairs", "race"])]
    pub terms_only: bool,
    /// Leave out a test if another test has the same future: terms share a test
    #[arg(long, conflicts_with_all = ["select", "pairs", "race"])]
    pub distinct: bool,
    /// Make tests for pairs of methods that endanger correlated variables
    #[arg(long, conflicts_with = "select")]
    pub pairs: bool,
    /// Make one test, for the execution of a schedule that `run`, `futures` or another command has recorded
    #[arg(long, value_name = "FILE", conflicts_with_all = ["failures", "outcomes", "terms_only", "distinct", "select", "pairs", "race"])]
    pub schedule: Option<PathBuf>,
    /// Make two tests, one for each order of the accesses at these places, VAR@LINE:COL each
    #[arg(long, value_name = "A,B", value_parser = parse_pair, conflicts_with_all = ["select", "pairs"])]
    pub race: Option<[String; 2]>,
    /// With --pairs: least probability of a correlation, from 0 to 1 (0.5)
    #[arg(long, value_name = "P", requires = "pairs", value_parser = parse_part)]
    pub threshold: Option<f64>,
    /// With --pairs: take pairs of a higher rank than R, from 0 to 1 (0)
    #[arg(long, value_name = "R", requires = "pairs", value_parser = parse_part)]
    pub rank: Option<f64>,
    /// With --pairs: make tests for a race detector, with plain threads and memory and without latches
    #[arg(long, requires = "pairs", conflicts_with = "expect")]
    pub free: bool,
    /// When a test passes: if the program does not fail (program), or if exactly what was recorded happens, failures
    /// included (recorded)
    #[arg(long, value_enum, default_value_t = Expectation::Program, hide_possible_values = true)]
    pub expect: Expectation,
    /// Language of the package: rust (a Cargo package), java (a Maven project), aspectj (a Maven project in which an
    /// aspect holds the unchanged program to the recorded order)
    #[arg(long, value_enum, default_value_t = TargetName::Rust, hide_possible_values = true)]
    pub target: TargetName,
    /// With --target aspectj: use the form of the paper, for comparison: a latch for each version, and a test for each
    /// term or for the selection, even if no execution has it
    #[arg(long, conflicts_with_all = NOT_WITH_LATCHES)]
    pub latches: bool,
    /// Run the tests: with `cargo test`, or with the script of the package
    #[arg(long)]
    pub run: bool,
    #[command(flatten)]
    pub(crate) search: SearchOptions<()>,
    #[command(flatten)]
    pub(crate) jobs: JobsOption,
}

/// Values of `--expect`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Expectation {
    /// A test passes if the program does not fail.
    Program,
    /// A test passes if just that happens which was recorded.
    Recorded,
}

/// A package that was written, or why there is none.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct Driven {
    report: DriveReport,
    #[serde(skip)]
    bound: Option<Bound>,
    #[serde(skip)]
    sources: SourceMap,
}

impl Job for Arguments {
    type Answer = Driven;

    const HELP: Help = Help {
        name: "drive",
        short: "Write a deterministic test for each feasible term",
        long: "\
Writes a package with one test for each feasible term of each pi function. A test runs real threads and holds them to \
one recorded order, so that the read sees exactly that write, every time. The package is a Cargo package, or with \
`--target` a Java project, plain or with AspectJ. Its manifest lists the terms that no execution can realise. Each \
failure and each deadlock that none of these tests shows has its own test. With `--outcomes` each outcome has a test, \
too; with `--failures` only failures and deadlocks have tests. The test of a failure fails as the program does; with \
`--expect recorded` it passes if exactly the recorded failure happens.

If many executions have a term, the test follows one in which every evaluation of the read sees the write, and as few \
other reads as possible see writes of parallel threads.

With `--pairs` the tests are for the pairs of methods that `cssame correlate` selects: one test for each execution \
that tears variables that belong together, and one for each order in which the two methods run one after the other. \
For a file of classes without a `main`, cssame makes programs in which two methods run in parallel.

With `--race` there are two tests, one for each order of two accesses that race. If they never race, nothing is \
written, and the proof is shown.

With `--select` there is only one test, for an execution that has all the selected terms. If there is no such \
execution, nothing is written, and a smallest contradiction is named. With `--schedule` the one test follows a \
recorded execution.

With `--target aspectj --latches` the package has the form of the paper, in Java: a field and a latch for each version \
of a variable, and an aspect that replaces pi functions. Its tests select terms without checking that an execution has \
them. So a test may show something that never happens, or block. This form is only for comparison.",
        examples: "\
Examples:
  cssame drive samples/cssame_fig2.csm --out fig2
  cssame drive samples/cssame_fig2.csm --out fig2 --run
  cssame drive samples/cssame_fig2.csm --out fig2 --select a@24:11=a@20:5
  cssame drive samples/bank_transfer_deadlock.csm --out blocked --failures --run
  cssame drive samples/counter_unlocked.csm --out lost --expect recorded
  cssame drive samples/cssame_fig6.csm --out sums --outcomes --distinct
  cssame drive samples/sen_fig1.csm --out race --race z@18:9,z@21:5
  cssame drive samples/bank_account_broken.csm --pairs --out torn --run
  cssame drive samples/cssame_fig7.csm --out fig7 --target java --run
  cssame drive samples/cssame_fig7.csm --target aspectj --latches --out latches --run

Exit status: 0 the package was written (and its tests pass), 1 a failure or a deadlock was found (and is not \
expected), the selection is inconsistent, the race is impossible or a test fails, 2 bad usage or a program that does \
not compile, 3 a bound was hit before everything was decided.",
    };

    fn common(&self) -> Common<'_> {
        self.search.common(from_ref(&self.file))
    }

    fn set_default_bounds(&mut self, bounds: &BoundOptions) -> ProcessBounds {
        self.search.bounds.set_defaults(bounds)
    }

    fn validate(&self) -> Result<(), String> {
        if self.latches && self.target != TargetName::AspectJ {
            return Err("`--latches` needs `--target aspectj`".to_owned());
        }
        if self.free && Target::from(self.target) != Target::Rust {
            return Err(
                "`--free` is for `--target rust`: the detectors that watch such tests know the threads of Rust"
                    .to_owned(),
            );
        }
        if self.jobs.jobs.is_some() && self.race.is_none() {
            return Err("`--jobs` is for `--race`: all else is searched on one core".to_owned());
        }
        Ok(())
    }

    fn answer(&self, output: &Output) -> Result<Driven, Diagnostics> {
        let (answer, sources) = match (&self.race, &self.schedule) {
            _ if self.latches => self.of_latches()?,
            (Some(race), _) => self.of_race(race, output)?,
            (None, Some(path)) => self.of_schedule(path)?,
            (None, None) if self.pairs => self.of_pairs(output)?,
            (None, None) => self.of_terms(output)?,
        };
        if let Some(package) = &answer.package {
            write_package(&self.out, package)?;
        }
        Ok(Driven { report: answer.report(&name_of(&self.out)), bound: answer.bound, sources })
    }

    fn findings<'a>(&self, driven: &'a Driven) -> Findings<'a> {
        driven.report.findings(&driven.sources, self.expect == Expectation::Recorded)
    }

    fn bounds(&self, Driven { report, bound, .. }: &Driven) -> Vec<Diagnostic> {
        bound.map(|bound| finding::bound(bound, report.unfinished.as_ref())).into_iter().collect()
    }

    fn print(&self, driven: &Driven, judged: &Judged, output: &mut Output) {
        view::drive::print(&driven.report, (&driven.sources, judged), &self.bounds(driven), output);
    }

    /// Runs the tests; what they say goes to standard error, because it is not the answer.
    fn finish(&self, Driven { report, .. }: &mut Driven, output: &mut Output) -> Result<(), Diagnostics> {
        if self.run && !report.tests.is_empty() {
            report.passed = Some(run_tests(report.target, &self.out, output)?);
        }
        Ok(())
    }

    fn status(&self, Driven { report, .. }: &Driven, judged: &Judged) -> Status {
        let is_impossible = report.race.as_ref().is_some_and(|race| race.status == "impossible");
        let fails = report.passed == Some(false);
        Status::of_search(judged.has_findings() || is_impossible || fails, report.complete)
    }
}

impl Arguments {
    /// A directory with something else in it is left alone.
    fn check_directory(&self) -> Result<(), Diagnostics> {
        if self.pairs {
            load::not_of_c(
                &self.file,
                ("tests of pairs of methods", "leave `--pairs` out: terms and failures have tests"),
            )?;
        }
        load::can_be_written(&self.file, self.target.into())?;
        check_directory(&self.out, self.target.into())
    }

    /// The selected terms.
    fn selections(&self, model: &Model) -> Result<Vec<Selection>, Diagnostics> {
        let selections = model.selections(&self.select)?;
        match selections.iter().position(Selection::is_write) {
            None => Ok(selections),
            Some(place) => {
                let problem = format!("`{}` is only a write, and tests are made for terms", self.select[place]);
                let help = "record an execution that comes to it with `cssame futures --select WRITE --record-dir \
                            DIR`, and make a test of it with `--schedule`";
                let problem = Diagnostic::general(Code::UnknownName, Severity::Error, problem).with_help(help);
                Err(Diagnostics::new(model.sources().clone(), vec![problem]))
            }
        }
    }

    fn of_terms(&self, output: &Output) -> Result<(DriveAnswer, SourceMap), Diagnostics> {
        let plain = load::model(&self.file, self.search.options())?;
        let in_contexts = plain.in_contexts();
        let model = in_contexts.as_ref().unwrap_or(&plain);
        let selections = self.selections(model)?;
        self.check_directory()?;
        let options = self.driver_options(model.unit().text(), model.options());
        let request = DriveRequest {
            selections: &selections,
            contents: self.contents(),
            distinct: self.distinct,
            ..DriveRequest::new(&options)
        };
        let search = |budget: &Budget<'_>| drive((model, &plain), &request, budget);
        let answer = with_budget(&self.search.bounds, output, search);
        Ok((answer.map_err(|error| no_package(&error))?, model.sources().clone()))
    }

    fn of_latches(&self) -> Result<(DriveAnswer, SourceMap), Diagnostics> {
        let model = load::model(&self.file, self.search.options())?;
        let selections = self.selections(&model)?;
        self.check_directory()?;
        let options = self.driver_options(model.unit().text(), model.options());
        let answer = drive_latches(&model, &selections, &options);
        Ok((answer.map_err(|error| not_in_form(&error, model.sources()))?, model.sources().clone()))
    }

    fn of_schedule(&self, path: &Path) -> Result<(DriveAnswer, SourceMap), Diagnostics> {
        let schedule = read_schedule(path, &self.file)?;
        let model = load::model(&self.file, self.search.options().over(&schedule)?)?;
        self.check_directory()?;
        let options = self.driver_options(model.unit().text(), model.options());
        let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let answer = drive_schedule(&model, (&name, &schedule), &options).map_err(|why| match why {
            NotDriven::Departs(departure) => departed(&model, path, &schedule, &departure),
            NotDriven::Package(error) => no_package(&error),
        })?;
        Ok((answer, model.sources().clone()))
    }

    fn of_race(&self, race: &[String; 2], output: &Output) -> Result<(DriveAnswer, SourceMap), Diagnostics> {
        let model = load::model(&self.file, self.search.options())?;
        let pair = race_pair(&model, race)?;
        self.check_directory()?;
        let options = self.driver_options(model.unit().text(), model.options());
        let max_states = self.search.bounds.max_states.map(States::Exactly);
        let request = DriveRaceRequest { max_states, ..DriveRaceRequest::new(pair, &options) };
        let search = |budget: &Budget<'_>| drive_race(&model, &request, &self.jobs.of(budget));
        let answer = with_budget(&self.search.bounds, output, search);
        Ok((answer.map_err(|error| no_package(&error))?, model.sources().clone()))
    }

    fn of_pairs(&self, output: &Output) -> Result<(DriveAnswer, SourceMap), Diagnostics> {
        self.check_directory()?;
        let of_program = self.search.options();
        let unit = load::unit(&self.file, &of_program.inputs)?;
        let (sources, options) = (unit.sources.clone(), self.driver_options(unit.text(), &of_program));
        let request = CorrelateRequest {
            threshold: self.threshold.unwrap_or(0.5),
            rank: self.rank.unwrap_or(0.0),
            sets: false,
            execute: Execute::Selected,
            options: &of_program,
        };
        let answer = with_budget(&self.search.bounds, output, |budget| {
            drive_pairs(&correlate(unit, &request, budget), &options, budget)
        });
        Ok((answer.map_err(|error| no_package(&error))?, sources))
    }

    fn contents(&self) -> Contents {
        match self {
            Arguments { terms_only: true, .. } => Contents::Terms,
            Arguments { outcomes: true, .. } => Contents::Outcomes,
            Arguments { failures: true, .. } => Contents::FailuresAlone,
            Arguments { .. } => Contents::Failures,
        }
    }

    /// How to make a package for a file of that text.
    fn driver_options(&self, text: &str, options: &Options) -> driver::Options {
        let max_steps = self.search.bounds.max_steps.map_or(MAX_STEPS, u64::from);
        let expect = match self.expect {
            Expectation::Program => Expect::Program,
            Expectation::Recorded => Expect::Recorded,
        };
        let options = package::driver_options(self.target, (&self.file, text), options, max_steps);
        driver::Options { expect, free: self.free, ..options }
    }
}

/// What the form of the paper cannot say, each place by itself.
fn not_in_form(error: &LatchesError, sources: &SourceMap) -> Diagnostics {
    match error {
        LatchesError::Package(error) => no_package(error),
        LatchesError::Selection(message) => {
            Diagnostics::general(Diagnostic::general(Code::UnknownName, Severity::Error, message.clone()))
        }
        LatchesError::Unsaid(all) => {
            let one = |unsaid: &Unsaid| {
                let message = format!("the form of the paper cannot express {}", unsaid.construct);
                Diagnostic::error(Code::TargetLacks, unsaid.span, message, unsaid.reason)
            };
            Diagnostics::new(sources.clone(), all.iter().map(one).collect())
        }
    }
}
