//! `cssame coverage FILE`: which interleavings of threads the executions cover.

use crate::files;
use crate::generation::GenerationOptions;
use crate::job::{Common, Help, Job};
use crate::load;
use crate::options::{BoundOptions, ExecutionOptions, FindingsFormat, JobsOption, ProcessBounds};
use crate::output::Output;
use crate::package::{check_directory, driver_options, no_package, write_package};
use crate::progress::with_budget;
use crate::record;
use crate::recorded::{self, Recorded, departed, read_package, read_schedule};
use crate::shared::AnalysisOptions;
use crate::view::coverage::{self as view, CoverageView, Covered};
use crate::view::limits::limits;
use crate::view::replay::{options_text, quoted};
use clap::{Args, ValueEnum};
use cssame_answer::words::plural;
use cssame_answer::{
    Compiled, CoverageAnswer, CoverageRequest, EmittedTests, Findings, GenerateAnswer, Judged, NoTests, coverage,
    drive_generated, finding, generate_tests,
};
use cssame_budget::{Bound, Budget};
use cssame_coverage::report::CoverageReport;
use cssame_diagnostics::{Code, Diagnostic, Diagnostics, Severity};
use cssame_driver::Manifest;
use cssame_model::{Options, Unit};
use serde::Serialize;
use std::path::PathBuf;
use std::slice::from_ref;

/// Executions at random, unless `--runs` or `--schedule` says otherwise.
const RUNS: u64 = 100;

/// Arguments of `coverage`.
#[derive(Args, Clone, Debug)]
pub struct Arguments {
    /// Source file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Make N random executions [default: 100; 0 with --schedule or --package]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=100_000_000))]
    pub runs: Option<u64>,
    /// Seed of the first random execution; the others have the seeds that follow
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub seed: u64,
    /// Replay a recorded schedule (repeatable)
    #[arg(long, value_name = "FILE")]
    pub schedule: Vec<PathBuf>,
    /// Replay the recorded executions of a package of tests that `drive`, `paths --emit` or --out has written
    #[arg(long, value_name = "DIR|MANIFEST")]
    pub package: Option<PathBuf>,
    /// Do not search all states for what can be covered
    #[arg(long)]
    pub no_exploration: bool,
    /// Write the schedules of failures, deadlocks and of what is missing to this directory
    #[arg(long, value_name = "DIR")]
    pub record_dir: Option<PathBuf>,
    /// Write an annotated listing of the source, or the format of LCOV or of Cobertura: listing, lcov, cobertura
    #[arg(long, value_enum, value_name = "KIND", hide_possible_values = true)]
    pub report: Option<ReportKind>,
    /// Write the report to this file [default: standard output, instead of the answer]
    #[arg(long, value_name = "FILE", requires = "report")]
    pub output: Option<PathBuf>,
    /// Show everything that is missing, not only a part of it
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub(crate) execution: ExecutionOptions,
    #[command(flatten)]
    pub(crate) analysis: AnalysisOptions,
    #[command(flatten)]
    pub(crate) jobs: JobsOption,
    #[command(flatten)]
    pub(crate) generation: GenerationOptions,
    #[command(flatten)]
    pub(crate) bounds: BoundOptions,
}

/// Values of `--report`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReportKind {
    /// The source, each line with what is covered of it.
    Listing,
    /// A tracefile of LCOV.
    Lcov,
    /// XML of Cobertura.
    Cobertura,
}

/// What is covered, and what it was asked of.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct Found {
    answer: What,
    #[serde(skip)]
    subject: Compiled,
    /// Executions of the package that are of other programs.
    #[serde(skip)]
    left_out: usize,
}

/// What was found.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum What {
    /// What executions cover.
    Covered(Box<CoverageAnswer>),
    /// What tests show.
    Generated(Box<GenerateAnswer>),
}

impl What {
    fn report(&self) -> &CoverageReport {
        match self {
            What::Covered(answer) => &answer.report,
            What::Generated(answer) => &answer.report,
        }
    }

    fn bound(&self) -> Option<Bound> {
        match self {
            What::Covered(answer) => answer.findings.bound,
            What::Generated(answer) => answer.bound,
        }
    }
}

impl Job for Arguments {
    type Answer = Found;

    const HELP: Help = Help {
        name: "coverage",
        short: "Measure how many of the possible interactions between threads are tried",
        long: "\
Measures how many of the possible interactions between threads the given executions have tried. It counts instances of \
17 memory-access patterns: two threads that may run in parallel access one variable, or two, in an order that matters, \
such as a read, a write by the other thread, and a second read. It also counts pairs of methods that ran at the same \
time, and the terms of pi functions: which reads have seen which writes.

The executions are random (by seeds) or recorded (--schedule, --package). For a program, all states are searched for \
what an execution can cover, so a number below 100 % means that something is left to try. A file of classes without a \
`main` is run in drivers that call two of its methods in parallel.

With --generate, tests are made for such a file. In each test, two threads call public methods of one object, directed \
at what is not covered yet. A test fails if the class fails, if threads wait for ever, or if no serial order of the \
calls gives the same results.",
        examples: "\
Examples:
  cssame coverage samples/bank_account_broken.csm
  cssame coverage --runs 1000 --seed 7 samples/counter_unlocked.csm
  cssame coverage --no-exploration --format json samples/map_log4j.csm
  cssame coverage --record-dir found samples/bank_transfer_deadlock.csm
  cssame coverage --report lcov --output cov.info samples/map_log4j.csm
  cssame coverage --generate samples/classes/vector_broken.csm
  cssame coverage --generate --out tests --seed 1 samples/map_log4j.csm

Exit status: 0 no execution fails, 1 a failure or a deadlock of the program was met, or a generated test fails, 2 bad usage, a program that does not \
compile or a schedule that does not fit, 3 no execution fails, and a bound was hit before it was known what can be covered.",
    };

    fn common(&self) -> Common<'_> {
        self.analysis.common(from_ref(&self.file))
    }

    fn set_default_bounds(&mut self, bounds: &BoundOptions) -> ProcessBounds {
        self.bounds.set_defaults(bounds)
    }

    fn validate(&self) -> Result<(), String> {
        if self.report.is_some() && self.output.is_none() && self.analysis.format.format == FindingsFormat::Json {
            return Err("the answer and the report cannot both go to standard output: pass `--output FILE`".to_owned());
        }
        Ok(())
    }

    fn answer(&self, output: &Output) -> Result<Found, Diagnostics> {
        let mut recorded = self.recorded()?;
        let options = self.options(&recorded)?;
        let unit = load::unit(&self.file, &options.inputs)?;
        if self.generation.generate {
            return self.generated(unit, &options, output);
        }
        let subject = Compiled::new(unit, options.clone());
        let all = recorded.len();
        if matches!(subject, Compiled::Program(_)) {
            // Tests of pairs may begin in a recorded state: those are other programs.
            recorded.retain(|one| one.program.is_none());
        }
        let left_out = all - recorded.len();
        let request = self.request(&recorded, &subject, &options)?;
        let search = |budget: &Budget<'_>| coverage(&subject, &options, &request, &self.jobs.of(budget));
        let answer = with_budget(&self.bounds, output, search).map_err(|(number, departure)| {
            let one = recorded.get(number);
            let model = match &subject {
                Compiled::Program(model) => Some(&**model),
                Compiled::Library(_) => request.program_of(number),
            };
            match (one, model) {
                (Some(one), Some(model)) => departed(model, &one.path, &one.schedule, &departure),
                _ => Diagnostics::error(Code::ScheduleMismatch, departure.to_string()),
            }
        })?;
        if let (Some(directory), Compiled::Program(model)) = (&self.record_dir, &subject) {
            record::write_coverage(directory, model, &answer)?;
        }
        self.found(What::Covered(Box::new(answer)), subject, left_out)
    }

    fn findings<'a>(&self, found: &'a Found) -> Findings<'a> {
        match &found.answer {
            What::Covered(answer) => answer.findings(&found.subject),
            What::Generated(answer) => answer.findings(found.subject.unit()),
        }
    }

    fn bounds(&self, found: &Found) -> Vec<Diagnostic> {
        found.answer.bound().map(|bound| finding::bound(bound, None)).into_iter().collect()
    }

    fn within<'a>(&self, found: &'a Found) -> &'a [String] {
        &found.subject.unit().program.limits
    }

    fn print(&self, found: &Found, judged: &Judged, output: &mut Output) {
        let Found { answer, subject, left_out } = found;
        self.print_answer(found, judged, output);
        output.complain(&subject.unit().sources, &self.bounds(found));
        output.summary(&match answer {
            What::Covered(answer) => view::summary(answer),
            What::Generated(answer) => view::generated_summary(answer),
        });
        if *left_out > 0 {
            let left_out = plural(*left_out, "execution");
            output.summary(&format!(
                "{left_out} of the package left out: not of this program, but of one that begins in a recorded state\n"
            ));
        }
    }

    fn is_decided(&self, found: &Found) -> bool {
        match &found.answer {
            What::Covered(answer) => answer.findings.is_whole(),
            What::Generated(answer) => answer.bound.is_none(),
        }
    }
}

impl Arguments {
    fn generated(&self, unit: Unit, options: &Options, output: &Output) -> Result<Found, Diagnostics> {
        let explore = if self.no_exploration { Some(None) } else { self.bounds.max_states.map(Some) };
        let request = self.generation.request(self.seed, self.bounds.max_steps.map(u64::from), explore);
        let bounds = BoundOptions { timeout: self.generation.time.or(self.bounds.timeout), ..self.bounds.clone() }
            .without_default_time();
        let search = |budget: &Budget<'_>| generate_tests(&unit, options, &request, &self.jobs.of(budget));
        let target = self.generation.target.unwrap_or_default();
        if let Some(out) = &self.generation.out {
            load::not_of_c(&self.file, ("tests of classes", "`cssame drive` writes tests of it"))?;
            check_directory(out, target.into())?;
        }
        let mut answer = with_budget(&bounds, output, search)?;
        if let Some(out) = &self.generation.out {
            let max_steps = self.max_steps();
            let of_driver = driver_options(target, (&self.file, unit.text()), options, max_steps);
            let package = drive_generated(&answer, (options, &of_driver)).map_err(|error| match error {
                NoTests::Program(problems) => problems,
                NoTests::Package(error) => no_package(&error),
            })?;
            let (files, out) = (write_package(out, &package)?, load::name_of(out));
            let Manifest { tests, target, .. } = package.manifest;
            answer.emitted = Some(EmittedTests { out, files, tests, target });
        }
        self.found(What::Generated(Box::new(answer)), Compiled::Library(Box::new(unit)), 0)
    }

    /// Writes the report to its file.
    fn found(&self, answer: What, subject: Compiled, left_out: usize) -> Result<Found, Diagnostics> {
        let found = Found { answer, subject, left_out };
        if let (Some(kind), Some(path)) = (self.report, &self.output) {
            files::write(path, &self.report_of(&found, kind, false)?)?;
        }
        Ok(found)
    }

    fn max_steps(&self) -> u64 {
        self.bounds.max_steps.map_or(CoverageRequest::default().max_steps, u64::from)
    }

    /// The recorded executions, those of the package last.
    fn recorded(&self) -> Result<Vec<Recorded>, Diagnostics> {
        let read = |path: &PathBuf| {
            let schedule = read_schedule(path, &self.file)?;
            Ok(Recorded { path: path.clone(), schedule, program: None })
        };
        let mut recorded = self.schedule.iter().map(read).collect::<Result<Vec<Recorded>, Diagnostics>>()?;
        if let Some(package) = &self.package {
            recorded.extend(read_package(package, &self.file)?);
        }
        Ok(recorded)
    }

    /// What executions depend on. Schedules bring along what they were recorded with, on which they have to agree.
    fn options(&self, recorded: &[Recorded]) -> Result<Options, Diagnostics> {
        let given = self.analysis.program.with(&self.execution);
        let Some((first, others)) = recorded.split_first() else { return Ok(given) };
        let options = given.over(&first.schedule)?;
        for other in others {
            if given.over(&other.schedule)? != options {
                let [other, first] = [other, first].map(|one| load::name_of(&one.path));
                let message = format!("`{other}` was recorded with other inputs or options than `{first}`");
                let diagnostic = Diagnostic::general(Code::ScheduleMismatch, Severity::Error, message);
                let help = "measure them separately: they belong to two programs";
                return Err(Diagnostics::general(diagnostic.with_help(help)));
            }
        }
        Ok(options)
    }

    fn request(
        &self,
        recorded: &[Recorded],
        subject: &Compiled,
        options: &Options,
    ) -> Result<CoverageRequest, Diagnostics> {
        let defaults = CoverageRequest::default();
        let (schedules, programs) = match subject {
            Compiled::Program(_) => (recorded.iter().map(|one| one.schedule.clone()).collect(), Vec::new()),
            Compiled::Library(unit) => (Vec::new(), recorded::programs(recorded, unit, options)?),
        };
        let is_recorded = !self.schedule.is_empty() || self.package.is_some();
        Ok(CoverageRequest {
            runs: self.runs.unwrap_or(if is_recorded { 0 } else { RUNS }),
            seed: self.seed,
            schedules,
            programs: programs.into(),
            max_steps: self.max_steps(),
            explore: self.bounds.max_states.or(defaults.explore).filter(|_| !self.no_exploration),
            witnesses: self.record_dir.is_some(),
        })
    }

    /// The options that decide what is found, as they are typed, with a space before each.
    fn typed(&self) -> String {
        let mut text = String::new();
        for path in &self.schedule {
            text += &format!(" --schedule {}", quoted(&load::name_of(path)));
        }
        if let Some(package) = &self.package {
            text += &format!(" --package {}", quoted(&load::name_of(package)));
        }
        if let Some(runs) = self.runs {
            text += &format!(" --runs {runs}");
        }
        if self.generation.generate {
            text += &self.generation.typed();
        }
        if self.seed != 0 {
            text += &format!(" --seed {}", self.seed);
        }
        text + &self.bounds.text()
    }

    fn report_of(&self, found: &Found, kind: ReportKind, colour: bool) -> Result<String, Diagnostics> {
        let (lines, file) = (&found.answer.report().lines, load::name_of(&self.file));
        match kind {
            ReportKind::Listing => Ok(view::listing(found.subject.unit().text(), lines, colour)),
            ReportKind::Lcov => Ok(view::lcov(&file, lines)),
            ReportKind::Cobertura => view::cobertura(&file, lines).map_err(|error| {
                Diagnostics::error(Code::CannotWrite, format!("the report cannot be written: {error}"))
            }),
        }
    }

    /// The report in place of the text, or the text.
    fn print_answer(&self, found: &Found, judged: &Judged, output: &mut Output) {
        if let (Some(kind), None) = (self.report, &self.output) {
            match self.report_of(found, kind, output.colour()) {
                Ok(text) => output.print(&text),
                Err(failure) => output.complain(&failure.sources, &failure.list),
            }
            return;
        }
        let Found { answer, subject, .. } = found;
        let coverage = match answer {
            What::Covered(answer) => Covered::from(&**answer),
            What::Generated(answer) => Covered::from(&**answer),
        };
        let view = CoverageView {
            coverage,
            subject,
            file: &self.file,
            options: &self.typed(),
            inputs: &options_text(&self.analysis.program.with(&self.execution)),
            record_dir: self.record_dir.as_deref(),
            all: self.all,
            judged,
            colour: output.colour(),
        };
        match answer {
            What::Covered(_) => output.print(&view.text()),
            What::Generated(answer) => output.print(&view.generated(answer)),
        }
        output.summary(&limits(self.within(found)));
    }
}
