//! `cssame drive FILE --out DIR`: a deterministic test for each feasible pi term, or for a selection.

use super::arguments::Job;
use super::correlate::parse_part;
use super::directory;
use super::drive_pairs;
use super::finding;
use super::futures::{SelectionReport, selection_report};
use super::json;
use super::load::{self, name_of};
use super::options::{BoundOptions, ExecutionOptions, Format, FormatOption, OutputOptions, ProgramOptions};
use super::output::Output;
use super::progress::Monitor;
use super::reason;
use super::record::quoted;
use super::snippet::{Table, plural};
use super::status::Status;
use crate::budget::{Bound, Statistics};
use crate::diagnostics::Diagnostics;
use crate::diagnostics::{Code, Diagnostic, Severity};
use crate::driver::{
    self, DriveError, Expect, Input, Package, PairCounts, PairEntry, TermEntry, TermStatus, TestEntry,
};
use crate::explore::{self, Query, Subject, UnfinishedReport, Verdict};
use crate::form::Selection;
use crate::model::Model;
use crate::schedule::source_hash;
use crate::source::SourceMap;
use crate::vm::Choice;
use clap::{Args, ValueEnum};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The long description of the command.
pub const ABOUT: &str = "\
Writes a Cargo package with one test for each feasible term of each pi function: real threads, held to one recorded \
order by latches, so that the read sees just that write, every time. Terms that no execution can realise are listed in \
its manifest.

With `--pairs` the tests are about pairs of methods instead, those that `cssame correlate` selects: one for each execution \
that tears variables which belong together, and one for each order in which the two methods run one after the other. For a \
file of classes without a `main`, programs are made in which two methods run in parallel.

With `--select` there is one test instead, for an execution that has all the selected terms. If there is none, nothing \
is written, and a smallest contradiction is named.";

/// The examples of the command.
pub const EXAMPLES: &str = "\
Examples:
  cssame drive samples/cssame_fig2.csm --out fig2
  cssame drive samples/cssame_fig2.csm --out fig2 --run
  cssame drive samples/cssame_fig2.csm --out fig2 --select a@24:11=a@20:5
  cssame drive samples/counter_unlocked.csm --out lost --expect recorded
  cssame drive samples/bank_account_broken.csm --pairs --out torn --run

Exit status: 0 the package was written (and its tests pass), 1 the selection is inconsistent or a test fails, 2 bad \
usage or a program that does not compile, 3 a bound was hit before all terms were decided.";

/// Steps beyond which a recorded execution is not followed.
const MAX_STEPS: u64 = 1_000_000;

/// What cargo puts into the directory of a package; it stays where a package is replaced.
const BUILT: [&str; 2] = ["Cargo.lock", "target"];

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
    /// Make tests for pairs of methods that endanger correlated variables
    #[arg(long, conflicts_with = "select")]
    pub pairs: bool,
    /// With --pairs: least probability of a correlation, from 0 to 1 (0.5)
    #[arg(long, value_name = "P", requires = "pairs", value_parser = parse_part)]
    pub threshold: Option<f64>,
    /// With --pairs: take pairs of a higher rank than R, from 0 to 1 (0)
    #[arg(long, value_name = "R", requires = "pairs", value_parser = parse_part)]
    pub rank: Option<f64>,
    /// With --pairs: make tests without latches, with plain threads and memory, for a race detector to watch
    #[arg(long, requires = "pairs", conflicts_with = "expect")]
    pub free: bool,
    /// When a test passes: if the program does not fail (program), or if just that happens which was recorded, failures
    /// included (recorded)
    #[arg(long, value_enum, default_value_t = Expectation::Program, hide_possible_values = true)]
    pub expect: Expectation,
    /// Language of the package: rust
    #[arg(long, value_enum, default_value_t = Target::Rust, hide_possible_values = true)]
    pub target: Target,
    /// Run the tests with `cargo test`
    #[arg(long)]
    pub run: bool,
    #[command(flatten)]
    pub(crate) execution: ExecutionOptions,
    #[command(flatten)]
    pub(crate) program: ProgramOptions,
    #[command(flatten)]
    pub(crate) format: FormatOption,
    #[command(flatten)]
    pub(crate) output: OutputOptions,
    #[command(flatten)]
    pub(crate) bounds: BoundOptions,
}

/// Values of `--expect`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Expectation {
    /// A test passes if the program does not fail.
    Program,
    /// A test passes if just that happens which was recorded.
    Recorded,
}

/// Values of `--target`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Target {
    /// A Cargo package.
    Rust,
}

/// The answer in JSON.
#[derive(Debug, Serialize)]
struct DriveReport {
    out: String,
    /// The files of the package, as paths in it; none where nothing was written.
    files: Vec<String>,
    complete: bool,
    bound: Option<&'static str>,
    /// What the search has proved all the same, where a bound has stopped it.
    unfinished: Option<UnfinishedReport>,
    tests: Vec<TestEntry>,
    terms: Vec<TermEntry>,
    /// Why there are no tests.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    selection: Option<SelectionReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pairs: Option<Vec<PairEntry>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    counts: Option<PairCounts>,
    /// Whether the tests pass, where they were run.
    #[serde(skip_serializing_if = "Option::is_none")]
    passed: Option<bool>,
}

/// A package, or why there is none.
struct Made {
    package: Option<Package>,
    bound: Option<Bound>,
    unfinished: Option<UnfinishedReport>,
    selection: Option<SelectionReport>,
}

impl Job for Arguments {
    fn name(&self) -> &'static str {
        "drive"
    }

    fn file(&self) -> Option<&Path> {
        Some(&self.file)
    }

    fn format(&self) -> Format {
        self.format.format.into()
    }

    fn output_options(&self) -> &OutputOptions {
        &self.output
    }

    fn execute(&self, output: &mut Output) -> Result<Status, Diagnostics> {
        let (made, sources) = if self.pairs {
            self.check_directory()?;
            let drive_pairs::Made { package, bound, sources } = drive_pairs::make(self, output)?;
            (Made { package: Some(package), bound, unfinished: None, selection: None }, sources)
        } else {
            let prepared = load::model(&self.file, self.program.with(&self.execution))?;
            let selections = prepared.lookup().selections(&self.select)?;
            self.check_directory()?;
            (self.make(&prepared, &selections, output)?, prepared.sources().clone())
        };
        let mut report = self.report(made.package.as_ref(), made.bound, made.selection);
        report.unfinished = made.unfinished;
        if let Some(package) = &made.package {
            // The search may have taken long.
            self.check_directory()?;
            directory::replace(&self.out, &package.files, &BUILT)?;
        }
        if self.format() == Format::Human {
            self.show(&report, &sources, made.bound, output);
        }
        if self.run && !report.tests.is_empty() {
            report.passed = Some(self.run_tests(output)?);
        }
        if self.format() == Format::Json {
            json::print(output, self.name(), self.file(), &report);
        }
        let contradicts = report.selection.as_ref().is_some_and(|selection| selection.consistent == Some(false));
        Ok(Status::of_search(contradicts || report.passed == Some(false), report.complete))
    }
}

impl Arguments {
    /// A directory with something else in it is left alone.
    fn check_directory(&self) -> Result<(), Diagnostics> {
        let files = directory::files_in(&self.out, &BUILT)?;
        let manifest = Path::new(driver::MANIFEST);
        let other = match files.iter().find(|path| !driver::FILES.iter().any(|ours| Path::new(ours) == *path)) {
            Some(other) => other,
            None if files.is_empty() || files.iter().any(|path| path == manifest) => return Ok(()),
            // Files of these names that another tool has made.
            None => &files[0],
        };
        let (out, other) = (name_of(&self.out), name_of(other));
        let message = format!("`{out}` holds other files, such as `{other}`, and is left as it is");
        let diagnostic = Diagnostic::general(Code::CannotWrite, Severity::Error, message);
        Err(Diagnostics::general(diagnostic.with_help("name a new or an empty directory")))
    }

    fn make(&self, prepared: &Model, selections: &[Selection], output: &Output) -> Result<Made, Diagnostics> {
        let (form, input) = (prepared.form(), input(prepared));
        let options = self.driver_options(prepared.unit().text(), &prepared.options().inputs);
        let monitor = Monitor::start(output);
        let show = |now: &Statistics| monitor.update(now);
        let budget = self.bounds.budget(monitor.interrupt(), self.output.jobs()).with_reporter(&show);
        let naming = prepared.naming();
        let unfinished = |bound: Option<Bound>, statistics: &Statistics, open: &[Vec<Choice>]| {
            bound.map(|bound| explore::unfinished_report(&naming, bound, statistics, open))
        };
        if selections.is_empty() {
            driver::check_size(form).map_err(|error| no_package(&error))?;
            let answer = Subject::from(prepared).futures(&Query::default(), &budget);
            let package = driver::drive(&input, &answer, &options).map_err(|error| no_package(&error))?;
            let unfinished = unfinished(answer.bound, &answer.statistics, &answer.open);
            return Ok(Made { package: Some(package), bound: answer.bound, unfinished, selection: None });
        }
        let answer = Subject::from(prepared).select(selections, &budget);
        let package = match &answer.verdict {
            Verdict::Consistent { schedule, .. } => Some(
                driver::drive_selection(&input, selections, schedule, &options).map_err(|error| no_package(&error))?,
            ),
            Verdict::Inconsistent { .. } | Verdict::Undecided => None,
        };
        let selection = Some(selection_report(prepared, selections, &answer.verdict, None));
        // A selection that holds is decided, whatever bound was hit on the way.
        let bound = answer.bound.filter(|_| package.is_none());
        // It has looked for the selection alone: nothing is proved of failures.
        let unfinished = unfinished(bound, &answer.statistics, &answer.open);
        let unfinished = unfinished.map(|of| UnfinishedReport { steps: 0, ..of });
        Ok(Made { package, bound, unfinished, selection })
    }

    /// How to make a package for a file of that text.
    pub(super) fn driver_options(&self, text: &str, inputs: &[(String, String)]) -> driver::Options {
        driver::Options {
            expect: match self.expect {
                Expectation::Program => Expect::Program,
                Expectation::Recorded => Expect::Recorded,
            },
            file: name_of(&self.file),
            hash: source_hash(text),
            inputs: inputs.to_vec(),
            max_steps: self.bounds.max_steps.map_or(MAX_STEPS, u64::from),
            free: self.free,
        }
    }

    fn report(
        &self,
        package: Option<&Package>,
        bound: Option<Bound>,
        selection: Option<SelectionReport>,
    ) -> DriveReport {
        let files = package.map(|package| package.files.iter().map(|(path, _)| name_of(path)).collect());
        DriveReport {
            out: name_of(&self.out),
            files: files.unwrap_or_default(),
            complete: bound.is_none() && package.is_none_or(|package| package.manifest.complete),
            bound: bound.map(Bound::name),
            unfinished: None,
            tests: package.map(|package| package.manifest.tests.clone()).unwrap_or_default(),
            terms: package.map(|package| package.manifest.terms.clone()).unwrap_or_default(),
            note: package.and_then(|package| package.manifest.note),
            selection,
            pairs: package.and_then(|package| package.manifest.pairs.clone()),
            counts: package.and_then(|package| package.manifest.counts.clone()),
            passed: None,
        }
    }

    fn show(&self, report: &DriveReport, sources: &SourceMap, bound: Option<Bound>, output: &mut Output) {
        let note = report.note;
        let mut table = Table::new("");
        for term in &report.terms {
            let status = match term.status {
                TermStatus::Feasible => "feasible",
                TermStatus::Impossible => "impossible",
                TermStatus::Undecided => "undecided",
            };
            let last = term.test.clone().or_else(|| term.reason.clone()).unwrap_or_default();
            table.row(vec![term.read.clone(), term.def.clone(), status.to_owned(), last]);
        }
        output.print(&table.lines().concat());
        report.pairs.iter().flatten().for_each(|pair| output.print(&pair_text(pair)));
        if let Some(selection) = &report.selection
            && selection.consistent == Some(false)
        {
            output.complain(sources, &[finding::inconsistent(&selection.contradiction)]);
            let colour = output.colour();
            output.print(&selection.reason.as_ref().map_or_else(String::new, |why| reason::text(why, colour)));
        }
        if let Some(bound) = bound {
            output.complain(sources, &[finding::bound(bound, report.unfinished.as_ref())]);
        }
        if let Some(counts) = &report.counts {
            output.summary(&reduction(counts));
        }
        output.summary(&if report.files.is_empty() {
            "nothing was written\n".to_owned()
        } else {
            let manifest = quoted(&name_of(&self.out.join("Cargo.toml")));
            let tests = plural(report.tests.len(), "test");
            let note = note.map_or_else(String::new, |note| format!("note:   {note}\n"));
            format!("wrote {tests} to {}\n{note}test:   cargo test --manifest-path {manifest}\n", name_of(&self.out))
        });
    }

    /// Runs the tests; what they say goes to standard error, because it is not the answer. All that is built stays in
    /// the directory of the package, whatever the environment says, and nothing is fetched.
    fn run_tests(&self, output: &mut Output) -> Result<bool, Diagnostics> {
        let result = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            .args(["test", "--quiet", "--offline", "--manifest-path"])
            .arg(self.out.join("Cargo.toml"))
            .arg("--target-dir")
            .arg(self.out.join("target"))
            .output();
        let result =
            result.map_err(|error| Diagnostics::error(Code::CannotRead, format!("cargo cannot be run: {error}")))?;
        output.summary(&String::from_utf8_lossy(&result.stdout));
        output.summary(&String::from_utf8_lossy(&result.stderr));
        Ok(result.status.success())
    }
}

/// A pair and its tests.
fn pair_text(pair: &PairEntry) -> String {
    let mut text = format!("{} || {}  {}\n", pair.methods[0], pair.methods[1], pair.status.word());
    let mut table = Table::new("  ");
    for test in &pair.tests {
        let what = match (&test.variables, &test.accesses) {
            (Some(variables), Some(accesses)) => {
                format!("{}s {}, {}s {}", accesses[0], variables[0], accesses[1], variables[1])
            }
            _ => "comes first".to_owned(),
        };
        let last = test.test.clone().or_else(|| test.reason.clone()).unwrap_or_default();
        table.row(vec![test.method.clone(), what, last]);
    }
    text += &table.lines().concat();
    text
}

/// How few of all pairs are tested.
fn reduction(counts: &PairCounts) -> String {
    let PairCounts { pairs, tests } = counts;
    let parallel = pairs.pairs_parallel.map_or_else(String::new, |count| format!("{count} parallel, "));
    format!(
        "{}: {parallel}{} dependent, {} selected, {} confirmed; {}\n",
        plural(pairs.pairs_considered as usize, "method pair"),
        pairs.pairs_dependent,
        pairs.pairs_selected,
        pairs.pairs_confirmed,
        plural(*tests, "test")
    )
}

pub(super) fn input(model: &Model) -> Input<'_> {
    Input { sources: model.sources(), program: model.program(), form: model.form(), machine: model.machine() }
}

pub(super) fn no_package(error: &DriveError) -> Diagnostics {
    let code = match error {
        DriveError::NoMain => Code::NoMain,
        DriveError::NoEnd { .. } => Code::StepLimit,
        DriveError::TooManyTerms(_) => Code::ExplorationLimit,
    };
    let diagnostic = Diagnostic::general(code, Severity::Error, error.to_string());
    Diagnostics::general(match error {
        DriveError::TooManyTerms(_) => diagnostic.with_help("name the terms that matter with `--select READ=DEF`"),
        DriveError::NoMain | DriveError::NoEnd { .. } => diagnostic,
    })
}
