//! `cssame run FILE`: one execution, by a seed or by a recorded schedule, or one for each of many seeds.

use crate::files;
use crate::job::{Common, Help, Job};
use crate::load::{self, name_of};
use crate::options::{
    BoundOptions, ExecutionOptions, FindingsFormat, Format, JobsOption, ProcessBounds, WatchOption, parse_seconds,
    parse_size,
};
use crate::output::Output;
use crate::progress::with_budget;
use crate::recorded::{departed, read_schedule};
use crate::shared::AnalysisOptions;
use crate::status::Status;
use crate::view::run::RunView;
use crate::view::seeds::SeedsView;
use clap::{Args, ValueEnum};
use cssame_answer::{
    Course, Findings, Judged, RunAnswer, RunRequest, SeedsAnswer, SeedsRequest, judge, run, run_chart, run_seeds,
};
use cssame_diagnostics::Diagnostics;
use cssame_model::Model;
use cssame_schedule::{ExecutionStatus, Schedule, Scheduler};
use serde::Serialize;
use std::ops::Range;
use std::path::PathBuf;
use std::slice::from_ref;
use std::time::Duration;

/// Steps of the execution at most, unless `--max-steps` says otherwise.
const MAX_STEPS: u64 = 1_000_000;

/// How the steps of a seed are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum PolicyName {
    /// Any thread that can move
    #[default]
    Random,
    /// Priorities of threads
    Pct,
    /// Priorities of operations
    Pos,
}

/// Arguments of `run`.
#[derive(Args, Clone, Debug)]
pub struct Arguments {
    /// Source file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Choose the order of the threads by this seed
    #[arg(long, value_name = "N", default_value_t = 0, conflicts_with = "schedule")]
    pub seed: u64,
    /// Run once for each seed from A up to, but not including, B, and count the outcomes
    #[arg(long, value_name = "A..B", conflicts_with_all = ["seed", "schedule"], value_parser = parse_seeds)]
    pub seeds: Option<SeedRange>,
    /// How a seed chooses the next step: any thread that can move (random); by priorities of threads that change now
    /// and then (pct); or by priorities of operations, which are drawn again where two operations conflict (pos)
    #[arg(long, value_enum, value_name = "POLICY", default_value_t, conflicts_with = "schedule")]
    pub policy: PolicyName,
    /// Depth of bugs that pct looks for [default: 3]
    #[arg(long, value_name = "D", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub pct_depth: Option<u32>,
    /// Continue after the first seed whose execution fails or ends in a deadlock
    #[arg(long, requires = "seeds")]
    pub keep_going: bool,
    /// Start no execution after this time
    #[arg(long, value_name = "SECONDS", requires = "seeds", value_parser = parse_seconds)]
    pub timeout: Option<Duration>,
    /// Start no execution after this processor time
    #[arg(long, value_name = "SECONDS", requires = "seeds", value_parser = parse_seconds)]
    pub max_cpu: Option<Duration>,
    /// Follow a recorded schedule
    #[arg(long, value_name = "FILE")]
    pub schedule: Option<PathBuf>,
    /// Continue after the end of the schedule with random steps of this seed, as in `random:7`
    #[arg(long, value_name = "random:SEED", requires = "schedule", value_parser = parse_then)]
    pub then: Option<u64>,
    /// Write the schedule of the execution to a file; with --seeds, of the first execution that ends badly
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Show the text of the source beside each step
    #[arg(long)]
    pub source: bool,
    /// Show all steps, not only those on which the last step depends; with --seeds, show all outcomes
    #[arg(long)]
    pub full: bool,
    /// Stop after N steps [default: 1000000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_steps: Option<u64>,
    /// Stop before the process takes more memory than this, such as 500M or 2G [default with --seeds: half of the
    /// memory of the machine or control group]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub max_memory: Option<u64>,
    #[command(flatten)]
    pub(crate) execution: ExecutionOptions,
    #[command(flatten)]
    pub(crate) analysis: AnalysisOptions<WatchOption, RunFormatOption>,
    #[command(flatten)]
    pub(crate) jobs: JobsOption,
}

/// The form of the answer.
#[derive(Args, Clone, Copy, Debug)]
pub struct RunFormatOption {
    /// Text for people (human), one JSON object (json), a sequence chart (svg), or the findings for other tools: sarif,
    /// github (annotations), junit, markdown
    #[arg(long, value_parser = parse_format, default_value = "human")]
    pub format: RunFormat,
}

/// Values of `--format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunFormat {
    /// A picture of the execution.
    Svg,
    /// As for other commands that have findings.
    Other(FindingsFormat),
}

impl From<RunFormatOption> for Format {
    fn from(option: RunFormatOption) -> Format {
        match option.format {
            RunFormat::Svg => Format::Human,
            RunFormat::Other(format) => format.into(),
        }
    }
}

fn parse_format(text: &str) -> Result<RunFormat, String> {
    if text == "svg" {
        return Ok(RunFormat::Svg);
    }
    let names = || FindingsFormat::value_variants().iter().filter_map(ValueEnum::to_possible_value);
    let names = || names().map(|value| value.get_name().to_owned()).chain(["svg".to_owned()]).collect::<Vec<_>>();
    FindingsFormat::from_str(text, false).map(RunFormat::Other).map_err(|_| format!("there are {}", names().join(", ")))
}

/// Seeds: the first one, and the one behind the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeedRange {
    start: u64,
    end: u64,
}

/// One execution or many.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Executed {
    /// One.
    One(Box<OneExecution>),
    /// One for each seed.
    Many(Box<ManyExecutions>),
}

/// An execution, and what it came from.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct OneExecution {
    answer: RunAnswer,
    #[serde(skip)]
    model: Model,
    #[serde(skip)]
    schedule: Option<(PathBuf, Schedule)>,
}

/// Executions by seeds, and what they came from.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct ManyExecutions {
    answer: SeedsAnswer,
    #[serde(skip)]
    model: Model,
}

impl Job for Arguments {
    type Answer = Executed;

    const HELP: Help = Help {
        name: "run",
        short: "Run one execution, by a seed or by a recorded schedule",
        long: "\
Runs the program once and shows the steps that other threads can see, with one column for each thread.

The order of the threads is random, but determined by the seed. With `--schedule`, the execution follows a recorded \
schedule step by step; `run`, `futures` and other commands record schedules. If the program has changed and departs \
from the schedule, the command says how. With `--then random:SEED` the execution continues after the end of the \
schedule.

An execution that is not over after --max-steps is searched for a cycle: steps that lead back to an earlier state, and \
that leave out no thread that can move. If there is one, the steps that lead into the cycle are shown, and the steps \
of the cycle.

With `--seeds A..B` there is one execution for each seed from A up to, but not including, B. Their outcomes are \
counted, and the first execution that fails or ends in a deadlock is shown. The command stops at that execution, \
unless `--keep-going` is given.",
        examples: "\
Examples:
  cssame run samples/counter_unlocked.csm
  cssame run --seed 7 --record lost.json samples/counter_unlocked.csm
  cssame run --schedule lost.json samples/counter_unlocked.csm
  cssame run --schedule lost.json --then random:1 samples/counter_unlocked.csm
  cssame run --seeds 0..10000 --keep-going samples/counter_unlocked.csm

Exit status: 0 the execution ended well, 1 it failed, is in a deadlock or may stay in a cycle for ever, 2 bad usage, a \
program that does not compile or a schedule that does not fit, 3 it was not over after --max-steps or at the end of \
the schedule. With --seeds: 1 if an execution failed or is in a deadlock, 3 if none did and not all came to their end.",
    };

    fn common(&self) -> Common<'_> {
        self.analysis.common(from_ref(&self.file))
    }

    fn validate(&self) -> Result<(), String> {
        match (self.analysis.format.format, self.seeds) {
            (RunFormat::Svg, Some(_)) => Err("`--format svg` draws one execution: give `--seed`".to_owned()),
            (_, None) if self.jobs.jobs.is_some() => {
                Err("`--jobs` is for many executions: give `--seeds A..B`".to_owned())
            }
            _ if self.pct_depth.is_some() && self.policy != PolicyName::Pct => {
                Err("`--pct-depth` is for `--policy pct`".to_owned())
            }
            _ => Ok(()),
        }
    }

    fn set_default_bounds(&mut self, bounds: &BoundOptions) -> ProcessBounds {
        self.max_steps = self.max_steps.or(bounds.max_steps.map(u64::from));
        self.max_memory = self.max_memory.or(bounds.max_memory);
        if self.seeds.is_some() {
            self.timeout = self.timeout.or(bounds.timeout);
            self.max_cpu = self.max_cpu.or(bounds.max_cpu);
        }
        ProcessBounds { memory: self.max_memory, timeout: self.timeout }
    }

    fn answer(&self, output: &Output) -> Result<Executed, Diagnostics> {
        match self.seeds {
            Some(seeds) => self.many(seeds, output).map(|many| Executed::Many(Box::new(many))),
            None => self.one().map(|one| Executed::One(Box::new(one))),
        }
    }

    fn findings<'a>(&self, executed: &'a Executed) -> Findings<'a> {
        match executed {
            Executed::One(one) => one.answer.findings(&one.model),
            Executed::Many(many) => many.answer.findings(&many.model),
        }
    }

    fn print(&self, executed: &Executed, judged: &Judged, output: &mut Output) {
        match executed {
            Executed::One(one) => self.print_one(one, judged, output),
            Executed::Many(many) => self.print_many(many, judged, output),
        }
    }

    /// How far a schedule was followed that does not fit is shown, but is no answer.
    fn finish(&self, executed: &mut Executed, _: &mut Output) -> Result<(), Diagnostics> {
        match executed {
            Executed::One(one) => match (&one.answer.departure, &one.schedule) {
                (Some(departure), Some((path, schedule))) => Err(departed(&one.model, path, schedule, departure)),
                _ => Ok(()),
            },
            Executed::Many(_) => Ok(()),
        }
    }

    fn status(&self, executed: &Executed, judged: &Judged) -> Status {
        match executed {
            Executed::One(one) if one.answer.report.cycle.is_some() => Status::of_search(judged.has_findings(), true),
            Executed::One(one) => match one.answer.execution.status {
                ExecutionStatus::Failed(_) | ExecutionStatus::Deadlock if judged.has_findings() => Status::Findings,
                ExecutionStatus::Failed(_) | ExecutionStatus::Deadlock => Status::Clean,
                ExecutionStatus::StepLimit | ExecutionStatus::Stopped => Status::Undecided,
                ExecutionStatus::Ok | ExecutionStatus::Discarded => Status::Clean,
            },
            Executed::Many(many) => Status::of_search(judged.has_findings(), many.answer.complete),
        }
    }
}

impl Arguments {
    fn one(&self) -> Result<OneExecution, Diagnostics> {
        let read = |path: &PathBuf| read_schedule(path, &self.file).map(|schedule| (path.clone(), schedule));
        let schedule = self.schedule.as_ref().map(read).transpose()?;
        let options = self.analysis.program.with(&self.execution);
        let options = schedule.as_ref().map_or(Ok(options.clone()), |(_, schedule)| options.over(schedule))?;
        let model = load::model(&self.file, options)?;
        let course = match (&schedule, self.then) {
            (None, _) => Course::Seeded { scheduler: self.scheduler(&model), seed: self.seed },
            (Some((_, schedule)), None) => Course::Recorded(schedule),
            (Some((_, schedule)), Some(seed)) => Course::RecordedThenRandom(schedule, seed),
        };
        // One execution, bounded by its steps, looks at no budget.
        let answer = run(&model, &RunRequest { course, max_steps: self.max_steps.unwrap_or(MAX_STEPS) });
        if let (Some(path), None) = (&self.record, &answer.departure) {
            files::write(path, &answer.schedule(&model).to_text())?;
        }
        Ok(OneExecution { answer, model, schedule })
    }

    fn depth(&self) -> u32 {
        self.pct_depth.unwrap_or(3)
    }

    /// The policy, with the length of an execution where it asks for that.
    fn scheduler(&self, model: &Model) -> Scheduler {
        match self.policy {
            PolicyName::Random => Scheduler::Random,
            PolicyName::Pos => Scheduler::Pos,
            PolicyName::Pct => {
                let first = Course::Seeded { scheduler: Scheduler::Random, seed: 0 };
                let max_steps = self.max_steps.unwrap_or(MAX_STEPS);
                let steps = run(model, &RunRequest { course: first, max_steps }).execution.steps.len();
                Scheduler::Pct { depth: self.depth(), steps: u32::try_from(steps).unwrap_or(u32::MAX).max(1) }
            }
        }
    }

    /// The options that choose the policy, as they are typed, with a space before each.
    fn policy_text(&self) -> String {
        match self.policy {
            PolicyName::Random => String::new(),
            PolicyName::Pos => " --policy pos".to_owned(),
            PolicyName::Pct => format!(" --policy pct --pct-depth {}", self.depth()),
        }
    }

    fn many(&self, seeds: SeedRange, output: &Output) -> Result<ManyExecutions, Diagnostics> {
        let model = load::model(&self.file, self.analysis.program.with(&self.execution))?;
        let request = SeedsRequest {
            seeds: Range { start: seeds.start, end: seeds.end },
            scheduler: self.scheduler(&model),
            keep_going: self.keep_going,
            max_steps: self.max_steps.unwrap_or(MAX_STEPS),
        };
        let &Arguments { timeout, max_cpu, max_memory, .. } = self;
        let bounds = BoundOptions { timeout, max_cpu, max_memory, ..BoundOptions::default() }.without_default_time();
        let answer = with_budget(&bounds, output, |budget| {
            let budget = &self.jobs.of(budget);
            let answer = run_seeds(&model, &request, budget);
            if self.keep_going || answer.first_failure.is_none() {
                return Ok(answer);
            }
            // An execution whose findings are all suppressed is no reason to stop.
            let findings = answer.findings(&model);
            let is_shown = judge(&findings, &self.analysis.lints.lints(&findings)?).has_findings();
            drop(findings);
            let all = SeedsRequest { keep_going: true, ..request.clone() };
            Ok::<_, Diagnostics>(if is_shown { answer } else { run_seeds(&model, &all, budget) })
        })?;
        if let (Some(path), Some(first)) = (&self.record, &answer.first_failure) {
            files::write(path, &first.schedule(&model).to_text())?;
        }
        Ok(ManyExecutions { answer, model })
    }

    fn print_one(&self, one: &OneExecution, judged: &Judged, output: &mut Output) {
        let OneExecution { answer, model, schedule } = one;
        let view = RunView {
            answer,
            model,
            schedule: schedule.as_ref().map(|(_, schedule)| schedule),
            goes_on: self.then.is_some(),
            source: self.source,
            full: self.full,
            judged,
            colour: output.colour(),
        };
        if answer.departure.is_some() {
            output.print(&view.trace());
            return;
        }
        if self.analysis.format.format == RunFormat::Svg {
            output.print(&run_chart(&answer.report.trace, self.full));
            output.complain(model.sources(), view.finding().as_slice());
        } else {
            output.print(&view.text());
        }
        output.summary(&view.summary());
    }

    fn print_many(&self, many: &ManyExecutions, judged: &Judged, output: &mut Output) {
        let ManyExecutions { answer, model } = many;
        let policy = self.policy_text();
        let view = SeedsView {
            answer,
            model,
            file: &self.file,
            policy: &policy,
            source: self.source,
            full: self.full,
            judged,
            colour: output.colour(),
        };
        output.print(&view.text());
        output.summary(&view.summary());
        if let (Some(path), None) = (&self.record, &answer.first_failure) {
            output.note(&format!("no execution ended badly: `{}` was not written\n", name_of(path)));
        }
    }
}

fn parse_then(text: &str) -> Result<u64, String> {
    text.strip_prefix("random:")
        .and_then(|seed| seed.parse().ok())
        .ok_or_else(|| "write it as `random:SEED`, such as `random:7`".to_owned())
}

fn parse_seeds(text: &str) -> Result<SeedRange, String> {
    let parse = || {
        let (start, end) = text.split_once("..")?;
        let (end, more) = end.strip_prefix('=').map_or((end, 0), |end| (end, 1));
        let (start, end) = (start.parse::<u64>().ok()?, end.parse::<u64>().ok()?.checked_add(more)?);
        (start < end).then_some(SeedRange { start, end })
    };
    parse().ok_or_else(|| "write it as `A..B` with A less than B, such as `0..1000`".to_owned())
}
