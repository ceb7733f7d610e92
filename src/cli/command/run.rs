//! `cssame run FILE`: one execution, by a seed or by a recorded schedule.

use crate::answer::{Course, Findings, Judged, RunAnswer, RunRequest, run};
use crate::cli::files;
use crate::cli::job::{Answer, Common, Job};
use crate::cli::lints::LintOptions;
use crate::cli::load::{self, name_of};
use crate::cli::options::{ExecutionOptions, FormatOption, OutputOptions, ProgramOptions};
use crate::cli::output::Output;
use crate::cli::recorded::read_schedule;
use crate::cli::status::Status;
use crate::cli::view::run::RunView;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Severity};
use crate::model::Model;
use crate::schedule::{Departure, ExecutionStatus, Schedule};
use clap::Args;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The long description of the command.
pub const ABOUT: &str = "\
Runs the program once and shows the steps that other threads can see, with one column for each thread.

The order of the threads is random, but determined by the seed. A schedule that was recorded, here or by `futures`, is \
followed step by step; where the program has changed and departs from it, the command says how. With `--then \
random:SEED` the execution goes on from the end of the schedule.";

/// The examples of the command.
pub const EXAMPLES: &str = "\
Examples:
  cssame run samples/counter_unlocked.csm
  cssame run --seed 7 --record lost.json samples/counter_unlocked.csm
  cssame run --schedule lost.json samples/counter_unlocked.csm
  cssame run --schedule lost.json --then random:1 samples/counter_unlocked.csm

Exit status: 0 the execution ended well, 1 it failed or is in a deadlock, 2 bad usage, a program that does not compile \
or a schedule that does not fit, 3 it was not over after --max-steps or at the end of the schedule.";

/// Arguments of `run`.
#[derive(Args, Clone, Debug)]
pub struct Arguments {
    /// Source file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Choose the order of the threads by this seed
    #[arg(long, value_name = "N", default_value_t = 0, conflicts_with = "schedule")]
    pub seed: u64,
    /// Follow a recorded schedule
    #[arg(long, value_name = "FILE")]
    pub schedule: Option<PathBuf>,
    /// Go on from the end of the schedule, as in `random:7`
    #[arg(long, value_name = "random:SEED", requires = "schedule", value_parser = parse_then)]
    pub then: Option<u64>,
    /// Write the schedule of the execution to a file
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Show all steps, not only those that the last one depends on
    #[arg(long)]
    pub full: bool,
    /// Stop after N steps
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub max_steps: u64,
    #[command(flatten)]
    pub(crate) execution: ExecutionOptions,
    #[command(flatten)]
    pub(crate) program: ProgramOptions,
    #[command(flatten)]
    pub(crate) format: FormatOption,
    #[command(flatten)]
    pub(crate) output: OutputOptions,
    #[command(flatten)]
    pub(crate) lints: LintOptions,
}

/// An execution, and what it came from.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct Executed {
    answer: RunAnswer,
    #[serde(skip)]
    model: Model,
    #[serde(skip)]
    schedule: Option<(PathBuf, Schedule)>,
    /// Whether the execution goes on at random behind the schedule.
    #[serde(skip)]
    goes_on: bool,
    /// Whether all steps are shown.
    #[serde(skip)]
    full: bool,
}

impl Job for Arguments {
    type Answer = Executed;

    fn common(&self) -> Common<'_> {
        Common::new("run", Some(&self.file), self.format.format, &self.output).with_lints(&self.lints)
    }

    fn answer(&self, _: &Output) -> Result<Executed, Diagnostics> {
        let read = |path: &PathBuf| read_schedule(path, &self.file).map(|schedule| (path.clone(), schedule));
        let schedule = self.schedule.as_ref().map(read).transpose()?;
        let options = self.program.with(&self.execution);
        let options = schedule.as_ref().map_or(Ok(options.clone()), |(_, schedule)| options.over(schedule))?;
        let model = load::model(&self.file, options)?;
        let course = match (&schedule, self.then) {
            (None, _) => Course::Random { seed: self.seed },
            (Some((_, schedule)), None) => Course::Recorded(schedule),
            (Some((_, schedule)), Some(seed)) => Course::RecordedThenRandom(schedule, seed),
        };
        let answer = run(&model, &RunRequest { course, max_steps: self.max_steps });
        if let (Some(path), None) = (&self.record, &answer.departure) {
            files::write(path, &answer.schedule(&model).to_text())?;
        }
        Ok(Executed { answer, model, schedule, goes_on: self.then.is_some(), full: self.full })
    }
}

impl Executed {
    fn view<'a>(&'a self, judged: &'a Judged, colour: bool) -> RunView<'a> {
        let schedule = self.schedule.as_ref().map(|(_, schedule)| schedule);
        RunView {
            answer: &self.answer,
            model: &self.model,
            schedule,
            goes_on: self.goes_on,
            full: self.full,
            judged,
            colour,
        }
    }
}

impl Answer for Executed {
    fn findings(&self) -> Findings<'_> {
        self.answer.findings(&self.model)
    }

    fn print(&self, judged: &Judged, output: &mut Output) {
        let view = self.view(judged, output.colour());
        if self.answer.departure.is_some() {
            output.print(&view.trace());
            return;
        }
        output.print(&view.text());
        output.summary(&view.summary());
    }

    /// How far a schedule was followed that does not fit is shown, but is no answer.
    fn finish(&mut self, _: &mut Output) -> Result<(), Diagnostics> {
        match (&self.answer.departure, &self.schedule) {
            (Some(departure), Some((path, schedule))) => Err(departed(&self.model, path, schedule, departure)),
            _ => Ok(()),
        }
    }

    fn status(&self, judged: &Judged) -> Status {
        match self.answer.execution.status {
            ExecutionStatus::Failed(_) | ExecutionStatus::Deadlock if judged.has_findings() => Status::Findings,
            ExecutionStatus::Failed(_) | ExecutionStatus::Deadlock => Status::Clean,
            ExecutionStatus::StepLimit | ExecutionStatus::Stopped => Status::Undecided,
            ExecutionStatus::Ok | ExecutionStatus::Discarded => Status::Clean,
        }
    }
}

/// The diagnostic of a schedule that does not fit.
pub(super) fn departed(model: &Model, path: &Path, schedule: &Schedule, departure: &Departure) -> Diagnostics {
    let message = format!("`{}` does not fit the program at {departure}", name_of(path));
    let mut diagnostic = Diagnostic::general(Code::ScheduleMismatch, Severity::Error, message);
    if !model.has_recorded(schedule) {
        diagnostic = diagnostic.with_note("the program has changed since the schedule was recorded");
    }
    Diagnostics::general(diagnostic.with_help("record a new schedule"))
}

fn parse_then(text: &str) -> Result<u64, String> {
    text.strip_prefix("random:")
        .and_then(|seed| seed.parse().ok())
        .ok_or_else(|| "write it as `random:SEED`, such as `random:7`".to_owned())
}
