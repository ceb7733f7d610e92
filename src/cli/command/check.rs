//! `cssame check FILE…`: every static diagnostic. The default job.

use crate::job::{Answer, Common, Job};
use crate::lints::LintOptions;
use crate::load::{self, name_of};
use crate::options::{
    BoundOptions, ExecutionOptions, FindingsFormatOption, OutputOptions, ProcessBounds, ProgramOptions, WatchOption,
    parse_seconds, parse_size,
};
use crate::output::Output;
use crate::progress::with_budget;
use crate::status::Status;
use crate::view::replay::{options_text, quoted};
use clap::Args;
use cssame_answer::words::plural;
use cssame_answer::{CheckInput, CheckReport, ClosedReport, ConfirmRequest, Findings, Judged, check};
use cssame_budget::Budget;
use cssame_diagnostics::{Diagnostic, Diagnostics, terminal};
use cssame_model as model;
use serde::Serialize;
use std::path::PathBuf;
use std::time::Duration;

/// The long description of the command.
pub const ABOUT: &str = "\
Compiles each file and shows everything that can be said of it without running it: syntax, names and types, misuse of \
locks, events, barriers and conditions, accesses that may race, and variables that belong together but are touched in \
two critical sections.

With `--confirm`, the program is run as well: each race, each cycle of locks and each torn pair of variables that the text makes possible is then real, \
with a command that shows it; impossible, which is no warning; or open. Failures and other deadlocks that are met meanwhile are told \
as well. A program with nothing to confirm is not run.

A file without `main` is checked as if each of its public methods, and each function that nothing else in it calls, ran in \
two threads on shared objects. It is not run.

`cssame FILE` is short for `cssame check FILE`.";

/// The examples of the command.
pub const EXAMPLES: &str = "\
Examples:
  cssame check samples/cssame_fig2.csm
  cssame samples/peterson.csm samples/dekker.csm
  cssame check --input tries=3 --format json samples/peterson.csm
  cssame check --confirm samples/counter_unlocked.csm
  cssame check --allow CS0401 --deny warnings samples/counter_unlocked.csm
  cssame check --write-baseline known.json samples/counter_unlocked.csm
  cssame check samples/classes/bank_account_broken.csm

Exit status: 0 nothing found, 1 warnings or errors, 2 a file does not compile or
cannot be read.";

/// Arguments of `check`.
#[derive(Args, Clone, Debug)]
pub struct Arguments {
    /// Source files
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Say of each race, each cycle of locks and each torn pair of variables whether an execution has it
    #[arg(long)]
    pub confirm: bool,
    /// With --confirm: visit at most N states of each file [default: 500000]
    #[arg(long, value_name = "N", requires = "confirm", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_states: Option<u64>,
    /// With --confirm: stop running programs after this time
    #[arg(long, value_name = "SECONDS", requires = "confirm", value_parser = parse_seconds)]
    pub timeout: Option<Duration>,
    /// With --confirm: stop before the process takes more memory than this, such as 500M or 2G [default: half of what the
    /// machine, or the control group, has]
    #[arg(long, value_name = "SIZE", requires = "confirm", value_parser = parse_size)]
    pub max_memory: Option<u64>,
    /// Bounds of a configuration file.
    #[arg(skip)]
    pub(crate) configured: BoundOptions,
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
}

impl Job for Arguments {
    type Answer = Checked;

    fn common(&self) -> Common<'_> {
        Common::new("check", self.files.first(), self.format.format, &self.output).with_lints(&self.lints)
    }

    fn watched(&self) -> Option<&[PathBuf]> {
        self.watch.of(&self.files)
    }

    fn set_default_bounds(&mut self, bounds: &BoundOptions) {
        self.configured = bounds.clone();
    }

    fn process_bounds(&self) -> ProcessBounds {
        let bounds = if self.confirm { self.configured.of_process() } else { ProcessBounds::default() };
        ProcessBounds { memory: self.max_memory.or(bounds.memory), timeout: self.timeout.or(bounds.timeout) }
    }

    /// What is wrong with a file is the answer, not a failure to have one.
    fn answer(&self, output: &Output) -> Result<Checked, Diagnostics> {
        let mut input = CheckInput::default();
        for path in &self.files {
            let file = load::read(&mut input.sources, path);
            input.files.push((name_of(path), file));
        }
        let (inputs, jobs) = (&self.program.inputs, self.output.jobs());
        let report = if self.confirm {
            let max_states = self.max_states.or(self.configured.max_states);
            let timeout = self.timeout.or(self.configured.timeout);
            let max_memory = self.max_memory.or(self.configured.max_memory);
            let bounds = BoundOptions { max_states, max_memory, timeout, ..self.configured.clone() };
            with_budget(&bounds, &self.output, output, |budget: &Budget<'_>| {
                check(input, inputs, jobs, Some(&ConfirmRequest { max_states, budget: *budget, tells_ends: true }))
            })
        } else {
            check(input, inputs, jobs, None)
        };
        Ok(Checked { report, options: self.program.with(&ExecutionOptions::default()) })
    }
}

/// What was found, and with which options.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct Checked {
    report: CheckReport,
    #[serde(skip)]
    options: model::Options,
}

impl Checked {
    /// The diagnostics; those that an execution has confirmed with the command that shows it.
    fn diagnostics(&self) -> Vec<Diagnostic> {
        let mut found = self.report.found.clone();
        for of in self.report.confirmed.iter().flatten().filter(|of| of.status == "real") {
            let Some(diagnostic) = found.get_mut(of.diagnostic) else { continue };
            let Some(span) = diagnostic.span() else { continue };
            let file = quoted(self.report.sources.file(span.file).name());
            let options = options_text(&self.options);
            let pair = of.pair.as_ref().map_or_else(String::new, |[a, b]| format!(" --pair {a},{b}"));
            let seed = of.seed.map_or_else(String::new, |seed| format!(" --seed {seed}"));
            let command = if of.code == "CS0501" { "correlate" } else { "races" };
            diagnostic.notes.push(format!("again: cssame {command} {file}{options}{pair}{seed}"));
        }
        found
    }
}

impl Answer for Checked {
    fn findings(&self) -> Findings<'_> {
        self.report.findings()
    }

    fn judged(self, judged: &Judged) -> Checked {
        Checked { report: self.report.judged(judged), ..self }
    }

    fn shows_problems(&self) -> bool {
        true
    }

    fn print(&self, _: &Judged, output: &mut Output) {
        output.print(&terminal::render_all(&self.report.sources, &self.diagnostics(), output.colour()));
        output.summary(&(summary(&self.report) + &closed_words(&self.report.closed)));
    }

    fn status(&self, _: &Judged) -> Status {
        match (self.report.compiles, self.report.errors + self.report.warnings) {
            (false, _) => Status::Invalid,
            (true, 0) => Status::Clean,
            (true, _) => Status::Findings,
        }
    }
}

/// Which files have no `main`, and what was taken to run.
fn closed_words(closed: &[ClosedReport]) -> String {
    let line = |of: &ClosedReport| {
        let (methods, functions): (Vec<&String>, Vec<&String>) = of.methods.iter().partition(|name| name.contains('.'));
        let kinds = [(methods.len(), "public method"), (functions.len(), "function")];
        let kinds: Vec<String> =
            kinds.iter().filter(|(count, _)| *count > 0).map(|&(count, word)| plural(count, word)).collect();
        let more = if of.has_more { "; there are more calls than were looked at" } else { "" };
        format!("{} has no main: {} taken to run in parallel{more}\n", of.file, kinds.join(" and "))
    };
    closed.iter().map(line).collect()
}

/// `2 errors, 1 warning, 3 notes`
fn summary(report: &CheckReport) -> String {
    let counts = [(report.errors, "error"), (report.warnings, "warning"), (report.notes, "note")];
    let counted = counts.into_iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = counted.map(|(count, word)| plural(count, word)).collect();
    if parts.is_empty() { "nothing found\n".to_owned() } else { parts.join(", ") + "\n" }
}
