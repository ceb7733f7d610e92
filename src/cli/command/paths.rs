//! `cssame paths FILE`: tests for all orders that can change a branch, and how many other criteria would take.

use super::drive::{check_directory, no_package, write_package};
use super::run::departed;
use crate::files;
use crate::job::{Answer, Common, Job};
use crate::lints::LintOptions;
use crate::load::{self, name_of};
use crate::options::{
    BoundOptions, ExecutionOptions, FindingsFormatOption, OutputOptions, ProcessBounds, ProgramOptions, WatchOption,
    parse_seconds, parse_size,
};
use crate::output::Output;
use crate::progress::with_budget;
use crate::record;
use crate::recorded::read_schedule;
use crate::status::Status;
use crate::target::TargetName;
use crate::view::paths::{self as view, PathsView};
use crate::view::replay::quoted;
use clap::{Args, ValueEnum};
use cssame_answer::{
    ComparisonReport, Course, EmittedReport, Findings, Judged, PathsAnswer, PathsRequest, RunRequest, compare_paths,
    drive_paths, finding, paths, paths_dot, paths_svg, run,
};
use cssame_budget::Budget;
use cssame_diagnostics::{Code, Diagnostic, Diagnostics, Severity};
use cssame_driver as driver;
use cssame_driver::Expect;
use cssame_model::{Inputs, Model, Options};
use cssame_paths::{Arrays, Criterion, First};
use cssame_schedule::source_hash;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The long description of the command.
pub const ABOUT: &str = "\
Makes tests for a parallel program, few of them: one for each order of operations that can change how a branch comes out \
(a branch-affect group), instead of one for each interleaving. Executions that take the same branches access memory in the \
same manner, so that a race which one of them shows, they all show.

It runs the program once, finds the operations of other threads that each branch depends on, and makes executions that \
have them in another order, until each branch has come out in all ways, or each order was tested. Each test is looked at \
for races, failures and deadlocks. Then all states are searched, if they are not too many: what the method alone would \
have missed is added, and what no execution does is said to be impossible.

`--criterion` takes the test cases of another criterion instead: one for each execution with other versions read and \
written (reachability), or the same for each two threads alone (tpair). `--compare` shows all of them in a table.";

/// The examples of the command.
pub const EXAMPLES: &str = "\
Examples:
  cssame paths samples/setiadi_fig3.csm
  cssame paths --explain T1:15:9 samples/setiadi_fig3.csm
  cssame paths --graph fig3.svg samples/setiadi_fig3.csm
  cssame paths --emit tests samples/setiadi_commons_pool.csm
  cssame paths --compare samples/setiadi_fig3.csm samples/setiadi_jnetmap.csm
  cssame paths --compare --input rounds=1..5 samples/setiadi_jnetmap.csm

Exit status: 0 no test fails and none has a race, 1 a race that no synchronisation orders, a failure or a deadlock was \
found, 2 bad usage or a program that does not compile, 3 nothing was found, but a bound was hit, or the test cases have \
no end.";

/// Arguments of `paths`.
#[derive(Args, Clone, Debug)]
pub struct Arguments {
    /// Source file; several with --compare
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// What tells test cases apart: race-equivalent, reachability or tpair
    #[arg(
        long, value_enum, value_name = "WHICH", default_value_t = CriterionName::RaceEquivalent, hide_possible_values = true
    )]
    pub criterion: CriterionName,
    /// The first execution: a recorded schedule, or seed:N [default: threads in the order of the text, in turn]
    #[arg(long, value_name = "FILE|seed:N", value_parser = parse_first, conflicts_with = "compare")]
    pub first: Option<FirstName>,
    /// Whether two accesses race in one element of an array (elements), or anywhere in it (whole)
    #[arg(long, value_enum, value_name = "HOW", default_value_t = ArraysName::Elements, hide_possible_values = true)]
    pub arrays: ArraysName,
    /// Show a table of all criteria, a row for each FILE and each value of `--input NAME=A..B`
    #[arg(long, conflicts_with_all = ["criterion", "emit", "graph", "explain", "record_dir", "all"])]
    pub compare: bool,
    /// Write the test cases as a package to this directory: a new or empty one, or one that was written so
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
    /// Show all races, groups and tests
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub(crate) execution: ExecutionOptions,
    #[command(flatten)]
    pub(crate) program: ProgramOptions,
    #[command(flatten)]
    pub(crate) format: FindingsFormatOption,
    #[command(flatten)]
    pub(crate) watch: WatchOption,
    #[command(flatten)]
    pub(crate) output: OutputOptions,
    #[command(flatten)]
    pub(crate) lints: LintOptions,
    #[command(flatten)]
    pub(crate) bounds: PathsBounds,
}

/// Bounds, as the other commands have them, for tests instead of executions.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Bounds")]
pub struct PathsBounds {
    /// Follow no execution further than N steps [default: 100000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_steps: Option<u32>,
    /// Visit at most N states to hold the tests to all executions; 0 for none [default: 500000]
    #[arg(long, value_name = "N")]
    pub max_states: Option<u64>,
    /// Make at most N tests, beside those of what the method has missed [default: 10000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_executions: Option<u64>,
    /// Stop when states take this much memory, such as 500M or 2G
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub max_memory: Option<u64>,
    /// Stop after this time
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    pub timeout: Option<Duration>,
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
    /// A table.
    Table(ComparisonReport),
}

/// Test cases, and what they were made from.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct FoundTests {
    answer: PathsAnswer,
    #[serde(skip)]
    arguments: Arguments,
    #[serde(skip)]
    model: Model,
}

impl Job for Arguments {
    type Answer = Found;

    fn common(&self) -> Common<'_> {
        Common::new("paths", self.files.first(), self.format.format, &self.output).with_lints(&self.lints)
    }

    fn watched(&self) -> Option<&[PathBuf]> {
        self.watch.of(&self.files)
    }

    fn set_default_bounds(&mut self, bounds: &BoundOptions) {
        self.bounds.set_defaults(bounds);
    }

    fn process_bounds(&self) -> ProcessBounds {
        self.bounds.given().of_process()
    }

    fn validate(&self) -> Result<(), String> {
        if self.files.len() > 1 && !self.compare {
            return Err("several files can be compared only: add `--compare`".to_owned());
        }
        let rows = series(&self.program.inputs).and_then(|all| all.checked_mul(self.files.len()));
        match rows {
            Some(rows) if rows <= MAX_ROWS || !self.compare => Ok(()),
            _ => Err(format!("the table would have more than {MAX_ROWS} rows")),
        }
    }

    fn answer(&self, output: &Output) -> Result<Found, Diagnostics> {
        if self.compare { self.table(output).map(Found::Table) } else { self.tests(output) }
    }
}

impl Arguments {
    fn tests(&self, output: &Output) -> Result<Found, Diagnostics> {
        let file = &self.files[0];
        if let Some(out) = &self.emit {
            check_directory(out, self.target.unwrap_or_default().into())?;
        }
        let (model, first) = self.subject(file)?;
        let request = PathsRequest { first, ..self.request() };
        let search = |budget: &Budget<'_>| paths(&model, &request, budget);
        let mut answer = with_budget(&self.bounds.shared(), &self.output, output, search)?;
        if let Some(path) = &self.graph {
            self.write_graph(path, &answer)?;
        }
        if let Some(directory) = &self.record_dir {
            record::write_paths(directory, &model, &answer)?;
        }
        if let Some(out) = &self.emit {
            let package =
                drive_paths(&model, &answer, &self.driver_options(&model)).map_err(|error| no_package(&error))?;
            write_package(out, &package)?;
            answer.emitted = Some(EmittedReport {
                out: name_of(out),
                files: package.files.iter().map(|(path, _)| path.to_string_lossy().into_owned()).collect(),
                tests: package.manifest.tests,
                groups: package.manifest.groups.unwrap_or_default(),
                target: package.manifest.target,
            });
        }
        Ok(Found::Tests(Box::new(FoundTests { answer, arguments: self.clone(), model })))
    }

    /// The program, and its first execution. A schedule brings the options along that it was recorded with.
    fn subject(&self, file: &Path) -> Result<(Model, First), Diagnostics> {
        let options = self.program.with(&self.execution);
        let path = match &self.first {
            Some(FirstName::File(path)) => path,
            Some(FirstName::Seed(seed)) => return Ok((load::model(file, options)?, First::Seed(*seed))),
            None => return Ok((load::model(file, options)?, First::InTurn)),
        };
        let schedule = read_schedule(path, file)?;
        let model = load::model(file, options.over(&schedule)?)?;
        let request = RunRequest { course: Course::Recorded(&schedule), max_steps: self.max_steps() };
        let followed = run(&model, &request);
        match &followed.departure {
            Some(departure) => Err(departed(&model, path, &schedule, departure)),
            None => Ok((model, First::Steps(followed.execution.steps))),
        }
    }

    fn table(&self, output: &Output) -> Result<ComparisonReport, Diagnostics> {
        let request = self.request();
        let mut models = Vec::new();
        for file in &self.files {
            for inputs in each_input(&self.program.inputs) {
                let options = Options { inputs, ..self.program.with(&self.execution) };
                models.push(load::model(file, options)?);
            }
        }
        let rows = with_budget(&self.bounds.shared(), &self.output, output, |budget| {
            models.iter().map(|model| compare_paths(model, &request, budget)).collect::<Vec<_>>()
        });
        Ok(ComparisonReport::new(rows))
    }

    fn max_steps(&self) -> u64 {
        self.bounds.max_steps.map_or(PathsRequest::default().max_steps, u64::from)
    }

    fn request(&self) -> PathsRequest {
        let defaults = PathsRequest::default();
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
            max_tests: self.bounds.max_executions.unwrap_or(defaults.max_tests),
            explore: self.bounds.max_states.or(defaults.explore).filter(|&states| states > 0),
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

    fn driver_options(&self, model: &Model) -> driver::Options {
        driver::Options {
            target: self.target.unwrap_or_default().into(),
            expect: Expect::Program,
            file: name_of(&self.files[0]),
            hash: source_hash(model.unit().text()),
            inputs: model.options().inputs.clone(),
            semantics: model.options().semantics,
            max_steps: self.max_steps(),
            free: false,
        }
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
        text + &self.bounds.given().text()
    }
}

impl PathsBounds {
    /// Takes these bounds where it has none.
    fn set_defaults(&mut self, bounds: &BoundOptions) {
        let mut all = self.given();
        all.set_defaults(bounds);
        let BoundOptions { max_steps, max_states, max_executions, max_memory, timeout } = all;
        *self = PathsBounds { max_steps, max_states, max_executions, max_memory, timeout };
    }

    /// As they were given. The numbers have other meanings here than elsewhere.
    fn given(&self) -> BoundOptions {
        let PathsBounds { max_steps, max_states, max_executions, max_memory, timeout } = *self;
        BoundOptions { max_steps, max_states, max_executions, max_memory, timeout }
    }

    /// What holds for all searches together.
    fn shared(&self) -> BoundOptions {
        let states = self.max_states.filter(|&states| states > 0);
        BoundOptions { max_states: states, max_executions: None, ..self.given() }
    }
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

impl Answer for Found {
    fn findings(&self) -> Findings<'_> {
        match self {
            Found::Tests(found) => found.answer.findings(&found.model),
            Found::Table(report) => report.findings(),
        }
    }

    fn bounds(&self) -> Vec<Diagnostic> {
        match self {
            Found::Tests(found) => found.bounds(),
            Found::Table(_) => Vec::new(),
        }
    }

    fn print(&self, judged: &Judged, output: &mut Output) {
        match self {
            Found::Tests(found) => found.print(judged, output),
            Found::Table(report) => output.print(&view::table(report, output.colour())),
        }
    }

    fn status(&self, judged: &Judged) -> Status {
        match self {
            Found::Tests(found) => Status::of_search(judged.has_findings(), found.answer.report.complete),
            Found::Table(report) => Status::of_search(judged.has_findings(), report.complete),
        }
    }
}

impl FoundTests {
    fn bounds(&self) -> Vec<Diagnostic> {
        self.answer.bound.map(|bound| finding::bound(bound, None)).into_iter().collect()
    }

    fn print(&self, judged: &Judged, output: &mut Output) {
        let FoundTests { answer, arguments, model } = self;
        let view = PathsView {
            answer,
            model,
            file: &arguments.files[0],
            options: &arguments.typed(),
            record_dir: arguments.record_dir.as_deref(),
            all: arguments.all,
            judged,
            colour: output.colour(),
        };
        output.print(&view.text());
        output.complain(model.sources(), &self.bounds());
        output.summary(&view::summary(&answer.report));
        if let Some(emitted) = &answer.emitted {
            output.summary(&view::emitted(emitted));
        }
    }
}

fn too_large(size: usize) -> Diagnostics {
    let message = format!("the variant graph has {size} nodes and edges, too many for a picture");
    let diagnostic = Diagnostic::general(Code::FileTooLarge, Severity::Error, message);
    Diagnostics::general(diagnostic.with_help("let Graphviz draw it: name a file that ends in `.dot`"))
}
