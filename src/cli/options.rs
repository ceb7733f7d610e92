//! Options that several subcommands share.

use super::available_memory::half_of_memory;
use super::deadline::Deadline;
use super::memory::{PROCESS, for_all, for_searches};
use super::processor::processor_time;
pub use super::program_options::{ExecutionOptions, ProgramOptions};
use clap::{Args, ValueEnum};
use cssame_budget::{Budget, Limits};
use cssame_diagnostics::listing::ListingFormat;
use cssame_explore::{EndlessRequest, Fairness};
use std::env;
use std::num::NonZero;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

/// What is asked of executions without end.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct EndlessOptions {
    /// Look for threads that can starve: that stay at one operation or in one loop for ever while others move
    #[arg(long)]
    pub starvation: bool,
    /// Which executions without end count: all of them (none), or only those that are fair to threads (weak, strong) or
    /// to choices (choices)
    #[arg(long, value_enum, value_name = "KIND", default_value_t)]
    pub fairness: FairnessOption,
    /// The same as `--fairness choices`
    #[arg(long, conflicts_with = "fairness")]
    pub assume_fair: bool,
}

/// Which executions without end count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum FairnessOption {
    /// All executions without end
    None,
    /// Those in which every thread that can always move does move
    Weak,
    /// Those in which every thread that can move, or be woken, again and again does move
    #[default]
    Strong,
    /// Those in which every choice that is open again and again is taken
    Choices,
}

impl FairnessOption {
    fn fairness(self) -> Fairness {
        match self {
            FairnessOption::None => Fairness::None,
            FairnessOption::Weak => Fairness::Weak,
            FairnessOption::Strong => Fairness::Strong,
            FairnessOption::Choices => Fairness::Choices,
        }
    }
}

impl EndlessOptions {
    /// As searches take it.
    #[must_use]
    pub fn request(self) -> EndlessRequest {
        EndlessRequest { starvation: self.starvation, fairness: self.grants().fairness() }
    }

    fn grants(self) -> FairnessOption {
        if self.assume_fair { FairnessOption::Choices } else { self.fairness }
    }

    /// As they are typed, with a space before each.
    #[must_use]
    pub fn text(self) -> String {
        let fairness = match self.grants() {
            FairnessOption::None => " --fairness none",
            FairnessOption::Weak => " --fairness weak",
            FairnessOption::Strong => "",
            FairnessOption::Choices => " --fairness choices",
        };
        let starvation = if self.starvation { " --starvation" } else { "" };
        starvation.to_owned() + fairness
    }
}

/// Bounds of a search through all executions.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Bounds")]
pub struct BoundOptions {
    /// Follow no execution further than N steps
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_steps: Option<u32>,
    /// Visit at most N states [default: 20000000; for races and coverage 500000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_states: Option<u64>,
    /// Follow at most N executions to their end
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_executions: Option<u64>,
    /// Stop before the process takes more memory than this, such as 500M or 2G [default: half of the memory of the
    /// machine or control group]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub max_memory: Option<u64>,
    /// Stop after this time [default: 60, unless another bound than --max-memory is given]
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    pub timeout: Option<Duration>,
    /// Stop after this processor time
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    pub max_cpu: Option<Duration>,
}

/// The bounds on a process as a whole.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProcessBounds {
    /// On its memory, in bytes; half of what the machine has where there is none.
    pub memory: Option<u64>,
    /// On its time until it ends, or until a search begins.
    pub timeout: Option<Duration>,
}

/// States that fit into the memory of a common machine: a few hundred bytes each; `max_memory` holds where they are larger.
const DEFAULT_STATES: u64 = 20_000_000;

/// The time of a search where nobody names a bound.
const DEFAULT_TIME: Duration = Duration::from_secs(60);

impl BoundOptions {
    /// The same where the work has bounds of its own, such as a number of seeds: it takes the time that it takes.
    #[must_use]
    pub fn without_default_time(self) -> BoundOptions {
        BoundOptions { timeout: self.timeout.or(Some(Duration::MAX)), ..self }
    }

    /// How long a search may take.
    fn time(&self) -> Option<Duration> {
        let is_counted = self.max_states.is_some() || self.max_executions.is_some() || self.max_steps.is_some();
        let is_bounded = is_counted || self.max_cpu.is_some();
        self.timeout.or((!is_bounded).then_some(DEFAULT_TIME))
    }

    /// Those on the process as a whole.
    #[must_use]
    pub fn of_process(&self) -> ProcessBounds {
        ProcessBounds { memory: self.max_memory, timeout: self.timeout }
    }

    /// Takes these bounds where it has none. Gives those on the process.
    pub fn set_defaults(&mut self, bounds: &BoundOptions) -> ProcessBounds {
        let BoundOptions { max_steps, max_states, max_executions, max_memory, timeout, max_cpu } = *bounds;
        self.max_steps = self.max_steps.or(max_steps);
        self.max_states = self.max_states.or(max_states);
        self.max_executions = self.max_executions.or(max_executions);
        self.max_memory = self.max_memory.or(max_memory);
        self.timeout = self.timeout.or(timeout);
        self.max_cpu = self.max_cpu.or(max_cpu);
        self.of_process()
    }

    /// As they are typed on the command line, with a space before each.
    #[must_use]
    pub fn text(&self) -> String {
        let BoundOptions { max_steps, max_states, max_executions, max_memory, timeout, max_cpu } = *self;
        let numbers = [
            ("max-steps", max_steps.map(u64::from)),
            ("max-states", max_states),
            ("max-executions", max_executions),
            ("max-memory", max_memory),
        ];
        let numbers = numbers.into_iter().filter_map(|(name, value)| Some(format!(" --{name} {}", value?)));
        let times = [("timeout", timeout), ("max-cpu", max_cpu)];
        let times = times.into_iter().filter_map(|(name, time)| Some(format!(" --{name} {}", time?.as_secs_f64())));
        numbers.chain(times).collect()
    }

    /// The budget of searches that begin now, and that also stop when `interrupt` is set. Before them the program has taken so much
    /// memory, and some of the time.
    #[must_use]
    pub(super) fn budget<'a>(&self, interrupt: &'a AtomicBool, given: u64, deadline: &Deadline) -> Budget<'a> {
        let memory = self.max_memory.or_else(half_of_memory);
        let budget = Budget::from(Limits {
            max_states: Some(self.max_states.unwrap_or(DEFAULT_STATES)),
            max_steps: self.max_steps,
            max_executions: self.max_executions,
            max_work: None,
            max_memory: memory.map(|bound| for_searches(bound, given)),
        });
        let budget = memory.map_or(budget, |bytes| budget.with_memory(PROCESS.counters(), for_all(bytes)));
        let budget = budget.with_interrupt(interrupt);
        let budget = self.max_cpu.map_or(budget, |time| budget.with_processor(processor_time, time));
        deadline.search_begins();
        self.time().map_or(budget, |time| budget.with_timeout(deadline.left(time)))
    }
}

/// A number from 0 to 1.
pub(super) fn parse_part(text: &str) -> Result<f64, String> {
    let part = text.parse::<f64>().ok().filter(|part| (0.0..=1.0).contains(part));
    part.ok_or_else(|| "write it as a number from 0 to 1, such as `0.5`".to_owned())
}

/// A number of bytes: `500M`, `2G`, `1000000`.
pub(super) fn parse_size(text: &str) -> Result<u64, String> {
    let (digits, unit) = match text.as_bytes().last() {
        Some(b'k' | b'K') => (&text[..text.len() - 1], 1 << 10),
        Some(b'm' | b'M') => (&text[..text.len() - 1], 1 << 20),
        Some(b'g' | b'G') => (&text[..text.len() - 1], 1 << 30),
        _ => (text, 1),
    };
    let size = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(unit)).filter(|&size| size > 0);
    size.ok_or_else(|| "write it as a number of bytes, such as `500M` or `2G`".to_owned())
}

pub(super) fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().filter(|&seconds| seconds > 0.0);
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| "write it as a number of seconds, such as `10` or `0.5`".to_owned())
}

/// Options of every command: how to show the answer.
#[derive(Args, Clone, Debug, Default)]
pub struct OutputOptions {
    /// Colour the text: auto (on a terminal), always or never
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = ColorChoice::Auto, hide_possible_values = true)]
    pub color: ColorChoice,
    /// Leave out summaries and the progress bar
    #[arg(short, long)]
    pub quiet: bool,
    /// Show how far a search has come: auto (a bar on a terminal) or lines (one each second, on standard error)
    #[arg(long, value_enum, value_name = "HOW", default_value_t = Progress::Auto, hide_possible_values = true)]
    pub progress: Progress,
}

/// How to show progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Progress {
    /// A bar on a terminal.
    #[default]
    Auto,
    /// Lines on standard error, for logs and other programs.
    Lines,
}

/// For commands that do several things at a time. A search goes through states and executions on one core.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct JobsOption {
    /// Use at most N cores instead of all; the answer is the same for any number
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
}

impl JobsOption {
    /// The number of cores that may be used, of those that there are.
    #[must_use]
    pub fn cores(self) -> usize {
        let there = thread::available_parallelism().map_or(1, NonZero::get);
        self.jobs.map_or(there, |jobs| there.min(jobs.into()))
    }

    /// The same budget, for that many cores.
    #[must_use]
    pub fn of<'a>(self, budget: &Budget<'a>) -> Budget<'a> {
        budget.with_jobs(self.cores())
    }
}

/// For commands that ask several questions, each of which has bounds of its own.
#[derive(Clone, Debug)]
pub struct QuestionBounds {
    limits: Limits,
    timeout: Option<Duration>,
}

impl QuestionBounds {
    /// All bounds but that of memory, which is one of the process.
    #[must_use]
    pub fn of(bounds: &BoundOptions) -> QuestionBounds {
        let &BoundOptions { max_steps, max_states, max_executions, .. } = bounds;
        let limits = Limits { max_states, max_steps, max_executions, ..Limits::default() };
        QuestionBounds { limits, timeout: bounds.time() }
    }

    /// The budget of the next question.
    #[must_use]
    pub fn budget<'a>(&self, whole: &Budget<'a>) -> Budget<'a> {
        let budget = whole.share(self.limits);
        self.timeout.map_or(budget, |timeout| budget.with_timeout(timeout))
    }
}

/// For commands that read source files.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct WatchOption {
    /// Run the command again whenever a source file or the configuration changes, until Ctrl-C
    #[arg(long)]
    pub watch: bool,
}

/// The form of the answer, for commands that know these two.
#[derive(Args, Clone, Copy, Debug)]
pub struct FormatOption {
    /// Text for people (human), or one JSON object (json)
    #[arg(long, value_enum, default_value_t = AnswerFormat::Human, hide_possible_values = true)]
    pub format: AnswerFormat,
}

/// Values of `--format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AnswerFormat {
    /// Text for people.
    Human,
    /// One JSON object (docs/json.md).
    Json,
}

impl From<FormatOption> for Format {
    fn from(option: FormatOption) -> Format {
        match option.format {
            AnswerFormat::Human => Format::Human,
            AnswerFormat::Json => Format::Json,
        }
    }
}

/// The form of the answer, for commands that have findings.
#[derive(Args, Clone, Copy, Debug)]
pub struct FindingsFormatOption {
    /// Text for people (human), one JSON object (json), or the findings for other tools: sarif, github (annotations),
    /// junit, markdown
    #[arg(long, value_enum, default_value_t = FindingsFormat::Human, hide_possible_values = true)]
    pub format: FindingsFormat,
}

/// Values of `--format` of a command that has findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FindingsFormat {
    /// Text for people.
    Human,
    /// One JSON object (docs/json.md).
    Json,
    /// SARIF 2.1.0.
    Sarif,
    /// Annotations of GitHub Actions.
    Github,
    /// JUnit XML.
    Junit,
    /// Markdown.
    Markdown,
}

impl From<FindingsFormatOption> for Format {
    fn from(option: FindingsFormatOption) -> Format {
        option.format.into()
    }
}

impl From<FindingsFormat> for Format {
    fn from(format: FindingsFormat) -> Format {
        match format {
            FindingsFormat::Human => Format::Human,
            FindingsFormat::Json => Format::Json,
            FindingsFormat::Sarif => Format::Listing(ListingFormat::Sarif),
            FindingsFormat::Github => Format::Listing(ListingFormat::Github),
            FindingsFormat::Junit => Format::Listing(ListingFormat::Junit),
            FindingsFormat::Markdown => Format::Listing(ListingFormat::Markdown),
        }
    }
}

/// A file that the findings are written to, besides what is printed.
#[derive(Clone, Debug)]
pub struct ListingFile {
    /// The format.
    pub format: ListingFormat,
    /// The file.
    pub path: PathBuf,
}

impl FromStr for ListingFile {
    type Err = String;

    fn from_str(text: &str) -> Result<ListingFile, String> {
        let (format, path) = text.split_once('=').unwrap_or((text, ""));
        match FindingsFormat::from_str(format, false).map(Format::from) {
            Ok(Format::Listing(format)) if !path.is_empty() => Ok(ListingFile { format, path: path.into() }),
            _ => Err("write it as FORMAT=FILE, with sarif, github, junit or markdown as format".to_owned()),
        }
    }
}

/// The form of an answer, of any command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Text for people, or a graph in a text form.
    Human,
    /// One JSON object.
    Json,
    /// The findings, for other tools.
    Listing(ListingFormat),
}

/// Values of `--color`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless the environment says otherwise.
    #[default]
    Auto,
    /// Also in a pipe.
    Always,
    /// Not at all.
    Never,
}

impl ColorChoice {
    /// Whether to colour a stream. The environment decides where the command line does not: `NO_COLOR`,
    /// `CLICOLOR_FORCE`, `CLICOLOR=0` and `TERM=dumb`, the first that is set.
    #[must_use]
    pub fn wanted(self, terminal: bool) -> bool {
        let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
        match self {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto if set("NO_COLOR").is_some() => false,
            ColorChoice::Auto if set("CLICOLOR_FORCE").is_some_and(|value| value != "0") => true,
            ColorChoice::Auto if set("CLICOLOR").is_some_and(|value| value == "0") => false,
            ColorChoice::Auto => terminal && set("TERM").is_none_or(|value| value != "dumb"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_has_a_minute_where_nobody_names_a_bound() {
        let none = BoundOptions::default();
        assert_eq!(none.time(), Some(DEFAULT_TIME));
        assert_eq!(BoundOptions { max_memory: Some(1), ..none.clone() }.time(), Some(DEFAULT_TIME));
        assert_eq!(BoundOptions { max_states: Some(1), ..none.clone() }.time(), None);
        let second = Some(Duration::from_secs(1));
        assert_eq!(BoundOptions { max_states: Some(1), timeout: second, ..none.clone() }.time(), second);
        assert!(none.without_default_time().time() > Some(DEFAULT_TIME));
    }
}
