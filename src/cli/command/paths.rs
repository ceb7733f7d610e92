//! `cssame paths FILE`: tests for all orders that can change a branch, and the number of tests of other criteria.

use crate::files;
use crate::job::{Common, Help, Job};
use crate::load::{self, name_of};
use crate::options::{BoundOptions, ProcessBounds};
use crate::output::Output;
use crate::package::{check_directory, driver_options, no_package, write_package};
use crate::progress::with_budget;
use crate::record;
use crate::recorded::{departed, read_schedule};
use crate::shared::SearchOptions;
use crate::target::TargetName;
use crate::view::limits::limits;
use crate::view::paths::{self as view, LibraryView, PathsView};
use crate::view::replay::quoted;
use clap::{Arg, Args, ValueEnum, value_parser};
use cssame_answer::{
    ComparisonReport, Compiled, Course, EmittedReport, Findings, Judged, LibraryPaths, PathsAnswer, PathsOf,
    PathsRequest, RunRequest, compare_paths, drive_paths, finding, paths_dot, paths_of, paths_svg, run,
};
use cssame_budget::{Bound, Budget};
use cssame_diagnostics::{Code, Diagnostic, Diagnostics, Severity};
use cssame_driver::Manifest;
use cssame_model::{Inputs, Model, Options, Unit};
use cssame_paths::{Arrays, Criterion, First};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Arguments of `paths`.
#[derive(Args, Clone, Debug)]
#[command(mut_args(of_tests))]
pub struct Arguments {
    /// Source file; several with --compare
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Criterion that tells test cases apart: race-equivalent, reachability or tpair
    #[arg(
        long, value_enum, value_name = "WHICH", default_value_t = CriterionName::RaceEquivalent, hide_possible_values = true
    )]
    pub criterion: CriterionName,
    /// The first execution: a recorded schedule, or seed:N [default: threads in the order of the text, in turn]
    #[arg(long, value_name = "FILE|seed:N", value_parser = parse_first, conflicts_with = "compare")]
    pub first: Option<FirstName>,
    /// Two accesses to an array may race if they access the same element (elements), or in any case (whole)
    #[arg(long, value_enum, value_name = "HOW", default_value_t = ArraysName::Elements, hide_possible_values = true)]
    pub arrays: ArraysName,
    /// Show a table of all criteria, a row for each FILE and each value of `--input NAME=A..B`
    #[arg(long, conflicts_with_all = ["criterion", "emit", "graph", "explain", "record_dir", "all"])]
    pub compare: bool,
    /// Write the test cases as a package to this directory: a new or empty one, or one that this option has written
    #[arg(long, value_name = "DIR")]
    pub emit: Option<PathBuf>,
    /// Language of the package: rust, java or aspectj, as for `drive` [default: rust]
    #[arg(long, value_enum, requires = "emit", hide_possible_values = true)]
    pub target: Option<TargetName>,
    /// Write the variant graph of the first execution to FILE.dot or FILE.svg
    #[arg(long, value_name = "FILE", value_parser = parse_graph)]
    pub graph: Option<PathBuf>,
    /// Show what decides a branch, named THREAD:LINE:COL, or THREAD:LINE:COL#K for its K-th evaluation
    #[arg(long, value_name = "BRANCH")]
    pub explain: Option<String>,
    /// Write the schedules of tests, failures and deadlocks to this directory
    #[arg(long, value_name = "DIR")]
    pub record_dir: Option<PathBuf>,
    /// Show all races, groups and tests; with --emit, also write tests for the orders that need none
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub(crate) search: SearchOptions,
}

/// Values of `--criterion`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CriterionName {
    /// One for each branch-affect group.
    RaceEquivalent,
    /// One for each class of versions.
    Reachability,
    /// The same for each two threads.
    Tpair,
}

/// Values of `--arrays`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ArraysName {
    /// Each element for itself.
    Elements,
    /// An array is one variable.
    Whole,
}

/// Values of `--first`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FirstName {
    /// `seed:7`
    Seed(u64),
    /// A schedule file.
    File(PathBuf),
}

/// Rows of one table at most.
const MAX_ROWS: usize = 1_000;

/// Bounds are here those of tests instead of executions.
fn of_tests(option: Arg) -> Arg {
    match option.get_id().as_str() {
        "max_steps" => option.help("Follow no execution further than N steps [default: 100000]"),
        "max_states" => option
            .help("Visit at most N states to compare the tests with all executions; 0 for no search [default: 200000]")
            .value_parser(value_parser!(u64)),
        "max_executions" => {
            option.help("Make at most N tests, besides those that the search of all states adds [default: 10000]")
        }
        "max_memory" => option.help("Stop when the states take this much memory, such as 500M or 2G"),
        _ => option,
    }
}

fn parse_first(text: &str) -> Result<FirstName, String> {
    match text.strip_prefix("seed:") {
        None => Ok(FirstName::File(PathBuf::from(text))),
        Some(seed) => {
            seed.parse().map(FirstName::Seed).map_err(|_| "write it as `seed:N`, such as `seed:7`".to_owned())
        }
    }
}

fn parse_graph(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("dot" | "svg") => Ok(path),
        _ => Err("the name of the file has to end in `.dot` or `.svg`".to_owned()),
    }
}

/// An answer, and what it was asked of.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Found {
    /// Test cases.
    Tests(Box<FoundTests>),
    /// Those of the drivers of a file without `main`.
    Library(Box<LibraryPaths>),
    /// A table.
    Table(ComparisonReport),
}

/// Test cases, and what they were made from.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct FoundTests {
    answer: PathsAnswer,
    #[serde(skip)]
    model: Model,
}

impl Job for Arguments {
    type Answer = Found;

    const HELP: Help = Help {
        name: "paths",
        short: "Make tests for all orders of accesses that can change a branch",
        long: "\
Makes a small set of tests for a parallel program: one test for each order of operations that can change the outcome \
of a branch (a branch-affect group), instead of one for each interleaving. Executions that take the same branches \
access memory in the same manner. So if one of them shows a race, all of them show it.

It runs the program once and finds the operations of other threads on which each branch depends. Then it makes \
executions that have these operations in another order, until the branches have had all combinations of outcomes, or \
each order was tested. Each test is checked for races, failures and deadlocks. Then all states are searched, if there \
are not too many: tests that the method alone would have missed are added, and orders that no execution has are \
reported as impossible.

A file without `main` is closed by drivers, each of which runs two of its calls in parallel; each driver gets its own \
tests.

`--criterion` makes the test cases of another criterion instead: one for each class of versions that an execution \
reads and writes (reachability), or the same for each two threads alone (tpair). `--compare` shows all criteria in a \
table.",
        examples: "\
Examples:
  cssame paths samples/setiadi_fig3.csm
  cssame paths --explain T1:15:9 samples/setiadi_fig3.csm
  cssame paths --graph fig3.svg samples/setiadi_fig3.csm
  cssame paths --emit tests samples/setiadi_commons_pool.csm
  cssame paths --compare samples/setiadi_fig3.csm samples/setiadi_jnetmap.csm
  cssame paths --compare --input rounds=1..5 samples/setiadi_jnetmap.csm

Exit status: 0 no test fails and none has a race, 1 a race that no synchronisation orders, a failure or a deadlock was \
found, 2 bad usage or a program that does not compile, 3 nothing was found, but a bound was hit, or there are \
infinitely many test cases.",
    };

    fn common(&self) -> Common<'_> {
        self.search.common(&self.files)
    }

    fn set_default_bounds(&mut self, bounds: &BoundOptions) -> ProcessBounds {
        self.search.bounds.set_defaults(bounds)
    }

    fn validate(&self) -> Result<(), String> {
        if self.files.len() > 1 && !self.compare {
            return Err("several files can only be compared: add `--compare`".to_owned());
        }
        let rows = series(&self.search.analysis.program.inputs()).and_then(|all| all.checked_mul(self.files.len()));
        match rows {
            Some(rows) if rows <= MAX_ROWS || !self.compare => Ok(()),
            _ => Err(format!("the table would have more than {MAX_ROWS} rows")),
        }
    }

    fn answer(&self, output: &Output) -> Result<Found, Diagnostics> {
        if self.compare { self.table(output).map(Found::Table) } else { self.tests(output) }
    }

    fn findings<'a>(&self, found: &'a Found) -> Findings<'a> {
        match found {
            Found::Tests(found) => found.answer.findings(&found.model),
            Found::Library(found) => found.findings(),
            Found::Table(report) => report.findings(),
        }
    }

    fn bounds(&self, found: &Found) -> Vec<Diagnostic> {
        bound_of(match found {
            Found::Tests(found) => found.answer.bound,
            Found::Library(found) => found.bound,
            Found::Table(_) => None,
        })
    }

    fn within<'a>(&self, found: &'a Found) -> &'a [String] {
        match found {
            Found::Tests(found) => &found.model.program().limits,
            Found::Library(found) => &found.unit.program.limits,
            Found::Table(_) => &[],
        }
    }

    fn print(&self, found: &Found, judged: &Judged, output: &mut Output) {
        let FoundTests { answer, model } = match found {
            Found::Tests(found) => &**found,
            Found::Library(found) => return self.print_library(found, judged, output),
            Found::Table(report) => return output.print(&view::table(report, output.colour())),
        };
        let view = PathsView {
            answer,
            model,
            file: &self.files[0],
            driver: None,
            options: &self.typed(),
            record_dir: self.record_dir.as_deref(),
            all: self.all,
            judged,
            colour: output.colour(),
        };
        output.print(&view.text());
        output.complain(model.sources(), &self.bounds(found));
        output.summary(&view::summary(&answer.report));
        output.summary(&limits(self.within(found)));
        if let Some(emitted) = &answer.emitted {
            output.summary(&view::emitted(emitted));
        }
    }

    fn is_decided(&self, found: &Found) -> bool {
        match found {
            Found::Tests(found) => found.answer.report.complete,
            Found::Library(found) => found.complete,
            Found::Table(report) => report.complete,
        }
    }
}

impl Arguments {
    fn tests(&self, output: &Output) -> Result<Found, Diagnostics> {
        let (file, target) = (&self.files[0], self.target.unwrap_or_default());
        if let Some(out) = &self.emit {
            load::can_be_written(file, target.into())?;
            check_directory(out, target.into())?;
        }
        let (subject, options, first) = self.subject(file)?;
        let request = PathsRequest { first, ..self.request() };
        let search = |budget: &Budget<'_>| paths_of(subject, &options, &request, budget);
        let (mut answer, model) = match with_budget(&self.bounds_of_all(), output, search)? {
            PathsOf::Program(answer, model) => (*answer, *model),
            PathsOf::Library(answer) => {
                if let Some(directory) = &self.record_dir {
                    record::write_library_paths(directory, &answer)?;
                }
                return Ok(Found::Library(answer));
            }
        };
        if let Some(path) = &self.graph {
            self.write_graph(path, &answer)?;
        }
        if let Some(directory) = &self.record_dir {
            record::write_paths(directory, (file, &model), &answer.report)?;
        }
        if let Some(out) = &self.emit {
            let options = driver_options(target, (file, model.unit().text()), model.options(), self.max_steps());
            let package = drive_paths(&model, &answer, self.all, &options).map_err(|error| no_package(&error))?;
            let (files, out) = (write_package(out, &package)?, name_of(out));
            let Manifest { tests, groups, target, .. } = package.manifest;
            answer.emitted = Some(EmittedReport { out, files, tests, groups: groups.unwrap_or_default(), target });
        }
        Ok(Found::Tests(Box::new(FoundTests { answer, model })))
    }

    fn print_library(&self, found: &LibraryPaths, judged: &Judged, output: &mut Output) {
        let view = LibraryView {
            answer: found,
            file: &self.files[0],
            options: &self.typed(),
            record_dir: self.record_dir.as_deref(),
            all: self.all,
            judged,
            colour: output.colour(),
        };
        output.print(&view.text());
        output.complain(&found.unit.sources, &bound_of(found.bound));
        output.summary(&view::library_summary(found));
        output.summary(&limits(&found.unit.program.limits));
    }

    /// The file, how it is executed, and its first execution. A schedule brings the options along that it was recorded with.
    fn subject(&self, file: &Path) -> Result<(Compiled, Options, First), Diagnostics> {
        let options = self.search.options();
        let needs_main = [self.emit.is_some(), self.graph.is_some(), self.explain.is_some()].contains(&true);
        let compiled = |first: First| {
            let subject = Compiled::new(load::unit(file, &options.inputs)?, options.clone());
            match subject {
                Compiled::Library(unit) if needs_main => Err(no_main(&unit)),
                subject => Ok((subject, options.clone(), first)),
            }
        };
        let path = match &self.first {
            Some(FirstName::File(path)) => path,
            Some(FirstName::Seed(seed)) => return compiled(First::Seed(*seed)),
            None => return compiled(First::InTurn),
        };
        let schedule = read_schedule(path, file)?;
        let model = load::model(file, options.over(&schedule)?)?;
        let request = RunRequest { course: Course::Recorded(&schedule), max_steps: self.max_steps() };
        let followed = run(&model, &request);
        match &followed.departure {
            Some(departure) => Err(departed(&model, path, &schedule, departure)),
            None => {
                let options = model.options().clone();
                Ok((Compiled::Program(Box::new(model)), options, First::Steps(followed.execution.steps)))
            }
        }
    }

    fn table(&self, output: &Output) -> Result<ComparisonReport, Diagnostics> {
        let request = self.request();
        let mut models = Vec::new();
        for file in &self.files {
            let options = self.search.options();
            for inputs in each_input(&options.inputs) {
                let options = Options { inputs, ..options };
                models.push(load::model(file, options)?);
            }
        }
        let rows = with_budget(&self.bounds_of_all(), output, |budget| {
            models.iter().map(|model| compare_paths(model, &request, budget)).collect::<Vec<_>>()
        });
        Ok(ComparisonReport::new(rows))
    }

    /// What holds for all searches together.
    fn bounds_of_all(&self) -> BoundOptions {
        let bounds = self.search.bounds.clone();
        BoundOptions { max_states: bounds.max_states.filter(|&states| states > 0), max_executions: None, ..bounds }
    }

    fn max_steps(&self) -> u64 {
        self.search.bounds.max_steps.map_or(PathsRequest::default().max_steps, u64::from)
    }

    fn request(&self) -> PathsRequest {
        let (defaults, bounds) = (PathsRequest::default(), &self.search.bounds);
        PathsRequest {
            first: First::InTurn,
            criterion: match self.criterion {
                CriterionName::RaceEquivalent => Criterion::RaceEquivalent,
                CriterionName::Reachability => Criterion::Reachability,
                CriterionName::Tpair => Criterion::ThreadPairs,
            },
            arrays: match self.arrays {
                ArraysName::Elements => Arrays::Elements,
                ArraysName::Whole => Arrays::Whole,
            },
            max_steps: self.max_steps(),
            max_tests: bounds.max_executions.unwrap_or(defaults.max_tests),
            explore: bounds.max_states.or(defaults.explore).filter(|&states| states > 0),
            draw: self.graph.is_some(),
            explain: self.explain.clone(),
        }
    }

    fn write_graph(&self, path: &Path, answer: &PathsAnswer) -> Result<(), Diagnostics> {
        let drawing = answer.report.graph.as_ref().and_then(|graph| graph.drawing.as_ref());
        let Some(drawing) = drawing else { return Ok(()) };
        let is_picture = path.extension().is_some_and(|ending| ending == "svg");
        let text = if is_picture { paths_svg(drawing).map_err(too_large)? } else { paths_dot(drawing) };
        files::write(path, &text)
    }

    /// The options that decide what is found, as they are typed, with a space before each.
    fn typed(&self) -> String {
        let mut text = String::new();
        match self.criterion {
            CriterionName::RaceEquivalent => {}
            CriterionName::Reachability => text += " --criterion reachability",
            CriterionName::Tpair => text += " --criterion tpair",
        }
        match &self.first {
            None => {}
            Some(FirstName::Seed(seed)) => text += &format!(" --first seed:{seed}"),
            Some(FirstName::File(path)) => text += &format!(" --first {}", quoted(&name_of(path))),
        }
        if self.arrays == ArraysName::Whole {
            text += " --arrays whole";
        }
        text + &self.search.bounds.text()
    }
}

fn bound_of(bound: Option<Bound>) -> Vec<Diagnostic> {
    bound.map(|bound| finding::bound(bound, None)).into_iter().collect()
}

fn no_main(unit: &Unit) -> Diagnostics {
    let message = "`--emit`, `--graph` and `--explain` need a program with a `main`";
    let problem = Diagnostic::general(Code::NoMain, Severity::Error, message)
        .with_help("leave them out, or add a `main`; `--record-dir` writes drivers that have one");
    Diagnostics::new(unit.sources.clone(), vec![problem])
}

/// The values of `A..B`.
fn range(value: &str) -> Option<(i64, i64)> {
    let (first, last) = value.split_once("..")?;
    let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
    (first <= last).then_some((first, last))
}

/// How many programs some inputs mean; none where they are very many.
fn series(inputs: &Inputs) -> Option<usize> {
    let count = |value: &str| match range(value) {
        None => Some(1),
        Some((first, last)) => usize::try_from(last.checked_sub(first)?).ok()?.checked_add(1),
    };
    inputs.iter().try_fold(1usize, |all, (_, value)| all.checked_mul(count(value)?))
}

/// All combinations of the values of inputs, the last one changing first.
fn each_input(inputs: &Inputs) -> Vec<Inputs> {
    let mut all: Vec<Inputs> = vec![Vec::new()];
    for (name, value) in inputs {
        let values: Vec<String> = match range(value) {
            Some((first, last)) => (first..=last).map(|value| value.to_string()).collect(),
            None => vec![value.clone()],
        };
        let with = |before: Inputs, value: &String| before.into_iter().chain([(name.clone(), value.clone())]).collect();
        all = all.iter().flat_map(|before| values.iter().map(|value| with(before.clone(), value))).collect();
    }
    all
}

fn too_large(size: usize) -> Diagnostics {
    let message = format!("the variant graph has {size} nodes and edges, too many for a picture");
    let diagnostic = Diagnostic::general(Code::FileTooLarge, Severity::Error, message);
    Diagnostics::general(diagnostic.with_help("let Graphviz draw it: name a file that ends in `.dot`"))
}
