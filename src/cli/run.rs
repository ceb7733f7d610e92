//! `cssame run FILE`: one execution, by a seed or by a recorded schedule.

use super::arguments::Job;
use super::finding;
use super::json;
use super::load::name_of;
use super::options::{ExecutionOptions, Format, FormatOption, OutputOptions, ProgramOptions};
use super::output::Output;
use super::snippet::{self, plural};
use super::status::Status;
use super::{files, load};
use crate::diagnostics::Diagnostics;
use crate::diagnostics::{Code, Diagnostic, Severity, terminal};
use crate::explore::report::{BlockedReport, ThreadOutput, blocked_reports};
use crate::model::{Model, Unit};
use crate::schedule::{
    self, Departure, Execution, ExecutionStatus, Random, RenderOptions, Replay, Schedule, Step, Then, Trace,
};
use crate::source::SourceMap;
use crate::vm;
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
}

/// The answer in JSON.
#[derive(Debug, Serialize)]
struct RunReport {
    status: &'static str,
    /// The seed that determined the execution, or its part behind the schedule.
    seed: Option<u64>,
    message: Option<String>,
    line: Option<u32>,
    output: Vec<String>,
    by_thread: Vec<ThreadOutput>,
    /// The threads of a deadlock.
    blocked: Vec<BlockedReport>,
    #[serde(flatten)]
    trace: Trace,
    schedule: Vec<Step>,
}

impl Job for Arguments {
    fn name(&self) -> &'static str {
        "run"
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
        let schedule = self.schedule.as_deref().map(|path| read_schedule(path, &self.file)).transpose()?;
        let options = self.program.with(&self.execution);
        let options = schedule.as_ref().map_or(Ok(options.clone()), |schedule| options.over(schedule))?;
        let prepared = load::model(&self.file, options)?;
        let (execution, departure) = self.run(&prepared, schedule.as_ref());
        let run = Run { arguments: self, prepared: &prepared, schedule: schedule.as_ref(), execution: &execution };
        let report = run.report();
        if let Some(departure) = &departure {
            if self.format() == Format::Human {
                output.print(&run.trace_text(&report.trace, output.colour()));
            }
            return Err(run.departed(departure));
        }
        if let Some(path) = &self.record {
            files::write(path, &run.recorded(&report).to_text())?;
        }
        match self.format() {
            Format::Json => json::print(output, self.name(), self.file(), &report),
            _ => {
                let text = run.human(&report, output.colour());
                output.print(&text);
                output.summary(&run.summary(&report));
            }
        }
        Ok(match execution.status {
            ExecutionStatus::Failed(_) | ExecutionStatus::Deadlock => Status::Findings,
            ExecutionStatus::StepLimit | ExecutionStatus::Stopped => Status::Undecided,
            _ => Status::Clean,
        })
    }
}

impl Arguments {
    /// The execution, and where it departs from the schedule.
    fn run(&self, prepared: &Model, schedule: Option<&Schedule>) -> (Execution, Option<Departure>) {
        let machine = prepared.machine();
        match (schedule, self.then) {
            (None, _) => (schedule::run(machine, &mut Random::new(self.seed), self.max_steps, &mut ()), None),
            (Some(schedule), None) => {
                let mut replay = Replay::new(prepared.naming(), &schedule.steps);
                let execution = schedule::run(machine, &mut replay, self.max_steps, &mut ());
                let departure = departure(&execution, &replay, schedule);
                (execution, departure)
            }
            (Some(schedule), Some(seed)) => {
                let mut replay = Replay::new(prepared.naming(), &schedule.steps);
                let mut policy = Then::new(&mut replay, Random::new(seed));
                let execution = schedule::run(machine, &mut policy, self.max_steps, &mut ());
                let departure = departure(&execution, &replay, schedule);
                (execution, departure)
            }
        }
    }

    /// The seed that the execution depends on.
    fn used_seed(&self) -> Option<u64> {
        if self.schedule.is_some() { self.then } else { Some(self.seed) }
    }
}

/// An execution, and what it came from.
struct Run<'a> {
    arguments: &'a Arguments,
    prepared: &'a Model,
    schedule: Option<&'a Schedule>,
    execution: &'a Execution,
}

impl Run<'_> {
    fn report(&self) -> RunReport {
        let naming = self.prepared.naming();
        let machine = naming.machine;
        let outputs = self.execution.outputs(machine);
        let lines = |output| self.execution.tables.lines(output).into_iter().map(str::to_owned).collect();
        let failure = match &self.execution.status {
            ExecutionStatus::Failed(failure) => Some(*failure),
            _ => None,
        };
        let message = |failure: vm::Failure| match failure.message {
            Some(text) => naming.program.texts.get(text).to_owned(),
            None => failure.kind.sentence().to_owned(),
        };
        RunReport {
            status: self.execution.status.word(),
            seed: self.arguments.used_seed(),
            message: failure.map(message),
            line: failure.map(|failure| naming.sources.line(machine.span(failure.at))),
            output: self.execution.lines(machine),
            by_thread: outputs
                .into_iter()
                .map(|(path, output)| ThreadOutput {
                    thread: machine.path_name(&self.execution.tables, path),
                    output: lines(output),
                })
                .collect(),
            blocked: match self.execution.status {
                ExecutionStatus::Deadlock => blocked_reports(&naming, &self.execution.steps),
                _ => Vec::new(),
            },
            trace: schedule::trace(naming, &self.execution.steps),
            schedule: naming.steps(&self.execution.steps),
        }
    }

    fn recorded(&self, report: &RunReport) -> Schedule {
        let mut schedule = self.prepared.schedule(report.schedule.clone(), report.status);
        schedule.seed = self.arguments.used_seed();
        schedule
    }

    fn trace_text(&self, trace: &Trace, colour: bool) -> String {
        let options = RenderOptions { width: snippet::WIDTH, color: colour };
        if self.arguments.full {
            return schedule::render(trace, &options);
        }
        schedule::render(&trace.cause(), &options)
    }

    fn human(&self, report: &RunReport, colour: bool) -> String {
        let mut text = self.trace_text(&report.trace, colour);
        if !report.by_thread.is_empty() {
            text.push('\n');
            text += &snippet::title("output", colour);
            text += &snippet::outputs(&report.by_thread);
        }
        if let Some(finding) = self.finding(report) {
            text.push('\n');
            text += &terminal::render_all(self.prepared.sources(), &[finding], colour);
        }
        text
    }

    fn finding(&self, report: &RunReport) -> Option<Diagnostic> {
        let Unit { sources, file, .. } = self.prepared.unit();
        match &self.execution.status {
            ExecutionStatus::Failed(failure) => {
                let Execution { state, tables, .. } = self.execution;
                let thread = self.prepared.machine().path_name(tables, state.path(failure.thread));
                Some(finding::failure(&self.prepared.naming(), failure, &thread))
            }
            ExecutionStatus::Deadlock => Some(finding::deadlock(sources, *file, &report.blocked)),
            _ => None,
        }
    }

    fn summary(&self, report: &RunReport) -> String {
        let steps = plural(report.schedule.len(), "step");
        let seed = report.seed.map_or_else(String::new, |seed| format!(", seed {seed}"));
        let mut text = match self.execution.status {
            ExecutionStatus::StepLimit => format!("not over after {steps}{seed} (see --max-steps)\n"),
            ExecutionStatus::Stopped => format!("the schedule ends here, after {steps} (see --then)\n"),
            ExecutionStatus::Discarded => format!("discarded by an assumption after {steps}{seed}\n"),
            _ => format!("{}: {steps}{seed}\n", report.status),
        };
        if self.schedule.is_some_and(|schedule| !self.prepared.has_recorded(schedule)) {
            text += "the program has changed since the schedule was recorded, which still fits\n";
        }
        let left = self.schedule.map_or(0, |schedule| schedule.steps.len().saturating_sub(report.schedule.len()));
        if left > 0 && matches!(self.execution.status, ExecutionStatus::Failed(_)) {
            text += &format!("the failure comes {} before the end of the schedule\n", plural(left, "step"));
        }
        let recorded = self.schedule.and_then(|schedule| schedule.status.as_deref());
        let recorded = recorded.filter(|status| ENDS.contains(status) && self.arguments.then.is_none());
        if let Some(recorded) = recorded.filter(|&recorded| recorded != report.status) {
            text += &format!("it was recorded with the end `{recorded}`, and now ends with `{}`\n", report.status);
        }
        text
    }

    /// The diagnostic of a schedule that does not fit.
    fn departed(&self, departure: &Departure) -> Diagnostics {
        let path = self.arguments.schedule.as_deref().unwrap_or(Path::new(""));
        let message = format!("`{}` does not fit the program at {departure}", name_of(path));
        let mut diagnostic = Diagnostic::general(Code::ScheduleMismatch, Severity::Error, message);
        if self.schedule.is_some_and(|schedule| !self.prepared.has_recorded(schedule)) {
            diagnostic = diagnostic.with_note("the program has changed since the schedule was recorded");
        }
        Diagnostics::general(diagnostic.with_help("record a new schedule"))
    }
}

/// Where an execution has departed from its schedule. One that is over before its schedule is has departed from it, too; not
/// so one that fails first, which shows its failure, and one that lacks only the recorded failure: an assertion that holds
/// is no step.
fn departure(execution: &Execution, replay: &Replay<'_>, schedule: &Schedule) -> Option<Departure> {
    if let Some(departure) = replay.departure() {
        return Some(departure.clone());
    }
    let over = matches!(execution.status, ExecutionStatus::Ok | ExecutionStatus::Deadlock | ExecutionStatus::Discarded);
    let failed = schedule.status.as_deref().is_some_and(|status| !matches!(status, "ok" | "deadlock" | "discarded"));
    let departure = replay.rest().filter(|_| over)?;
    let fails = matches!(departure.expected.op.as_str(), "assert" | "error" | "divide" | "index" | "diverge");
    let lacks_only_the_failure = failed && fails && departure.step == schedule.steps.len();
    (!lacks_only_the_failure).then_some(departure)
}

/// How an execution can end, as a schedule records it; others say what it was written for.
const ENDS: [&str; 8] =
    ["ok", "deadlock", "discarded", "assert", "error", "division-by-zero", "index-out-of-range", "unlock-not-held"];

/// Reads a schedule file; also a bare list of steps, as the JSON answers have them.
fn read_schedule(path: &Path, source: &Path) -> Result<Schedule, Diagnostics> {
    let mut sources = SourceMap::default();
    let file = load::read(&mut sources, path).map_err(Diagnostics::general)?;
    let text = sources.file(file).text();
    let parsed = if text.trim_start().starts_with('[') {
        serde_json::from_str(text)
            .map(|steps| Schedule { hash: String::new(), ..Schedule::new(&name_of(source), "", steps) })
            .map_err(|error| error.to_string())
    } else {
        Schedule::parse(text).map_err(|error| error.to_string())
    };
    parsed.map_err(|error| Diagnostics::error(Code::ScheduleMismatch, format!("`{}`: {error}", name_of(path))))
}

fn parse_then(text: &str) -> Result<u64, String> {
    text.strip_prefix("random:")
        .and_then(|seed| seed.parse().ok())
        .ok_or_else(|| "write it as `random:SEED`, such as `random:7`".to_owned())
}
