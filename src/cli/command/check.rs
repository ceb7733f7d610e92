//! `cssame check FILE…`: every static diagnostic.

use crate::c_files::Disk;
use crate::job::{Common, Help, Job};
use crate::load::{self, name_of};
use crate::options::{BoundOptions, ExecutionOptions, Format, JobsOption, ProcessBounds, parse_seconds, parse_size};
use crate::output::Output;
use crate::progress::with_budget;
use crate::shared::AnalysisOptions;
use crate::status::Status;
use crate::tree;
use crate::view;
use crate::view::replay::{options_text, quoted};
use clap::Args;
use cssame_answer::words::plural;
use cssame_answer::{
    CheckAnswer, CheckInput, CheckReport, ClosedReport, ConfirmRequest, Findings, Judged, SupportedInput, check,
    supported,
};
use cssame_budget::Budget;
use cssame_diagnostics::{Code, Diagnostic, Diagnostics, Severity, terminal};
use cssame_front::c::options_of;
use std::path::PathBuf;
use std::time::Duration;

/// Arguments of `check`.
#[derive(Args, Clone, Debug)]
pub struct Arguments {
    /// Source files
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Decide for each race, each cycle of locks and each torn pair of variables whether an execution has it
    #[arg(long)]
    pub confirm: bool,
    /// List which C files, also those below directories, can be read, and why the others cannot be read
    #[arg(long, conflicts_with = "confirm")]
    pub supported: bool,
    /// With --supported: print a line for each file
    #[arg(long, requires = "supported")]
    pub all: bool,
    /// With --confirm: visit at most N states of each file [default: 500000]
    #[arg(long, value_name = "N", requires = "confirm", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_states: Option<u64>,
    /// With --confirm: stop running programs after this time
    #[arg(long, value_name = "SECONDS", requires = "confirm", value_parser = parse_seconds)]
    pub timeout: Option<Duration>,
    /// With --confirm: stop running programs after this processor time
    #[arg(long, value_name = "SECONDS", requires = "confirm", value_parser = parse_seconds)]
    pub max_cpu: Option<Duration>,
    /// With --confirm: stop before the process takes more memory than this, such as 500M or 2G [default: half of the
    /// memory of the machine or control group]
    #[arg(long, value_name = "SIZE", requires = "confirm", value_parser = parse_size)]
    pub max_memory: Option<u64>,
    /// These bounds and those of a configuration file; none without --confirm.
    #[arg(skip)]
    pub(crate) bounds: BoundOptions,
    #[command(flatten)]
    pub(crate) analysis: AnalysisOptions,
    #[command(flatten)]
    pub(crate) jobs: JobsOption,
}

impl Job for Arguments {
    type Answer = CheckAnswer;

    const HELP: Help = Help {
        name: "check",
        short: "Show every static diagnostic",
        long: "\
Compiles each file and reports everything that can be found without running the program: errors of syntax, names and \
types; misuse of locks, events, barriers and conditions; accesses that may race; and variables that belong together \
but are accessed in two separate critical sections.

With `--confirm`, the program is run as well. Each race, each cycle of locks and each torn pair of variables that is \
possible according to the text is then real, and a command that shows it is printed; or impossible, and no longer a \
warning; or open. Failures and other deadlocks that the executions meet are reported as well. A program with nothing \
to confirm is not run.

A file without `main` is checked as if each of its public methods, and each function that has no caller in the file, \
ran in two threads on shared objects. It is not run.

With `--supported`, C files are not checked. The answer says how many of them can be read, and lists the reasons why \
the others cannot be read: the most frequent reason first, each reason with its first place.

`cssame FILE` shows the same findings, but first it shows how the program fails, blocks or runs for ever, with the \
steps that lead there.",
        examples: "\
Examples:
  cssame check samples/cssame_fig2.csm
  cssame samples/peterson.csm samples/dekker.csm
  cssame check --input tries=3 --format json samples/peterson.csm
  cssame check --confirm samples/counter_unlocked.csm
  cssame check --allow CS0401 --deny warnings samples/counter_unlocked.csm
  cssame check --write-baseline known.json samples/counter_unlocked.csm
  cssame check samples/classes/bank_account_broken.csm
  cssame check --supported src -- -I include -D NDEBUG

Exit status: 0 nothing found, 1 warnings or errors, 2 a file does not compile or
cannot be read. With --supported: 0 all files are read, 1 some are not.",
    };

    fn common(&self) -> Common<'_> {
        self.analysis.common(&self.files)
    }

    fn set_default_bounds(&mut self, bounds: &BoundOptions) -> ProcessBounds {
        if !self.confirm {
            return ProcessBounds::default();
        }
        let &mut Arguments { max_states, timeout, max_cpu, max_memory, .. } = self;
        self.bounds = BoundOptions { max_states, timeout, max_cpu, max_memory, ..BoundOptions::default() };
        self.bounds.set_defaults(bounds)
    }

    fn validate(&self) -> Result<(), String> {
        if !self.supported {
            return Ok(());
        }
        let is_about_findings = self.analysis.lints.is_given() || self.analysis.program.is_given();
        if matches!(self.common().format, Format::Listing(_)) || is_about_findings || self.common().is_watched {
            let options = "`--all`, `--jobs`, `--format human` or `json`, and how C is read";
            return Err(format!("`--supported` lists files, not findings: its options are {options}"));
        }
        Ok(())
    }

    /// What is wrong with a file is the answer, not a failure to have one.
    fn answer(&self, output: &Output) -> Result<CheckAnswer, Diagnostics> {
        if self.supported {
            return self.supported();
        }
        let (mut input, inputs) = (CheckInput::default(), self.analysis.program.inputs());
        for path in &self.files {
            let file = load::program(&mut input.sources, path, &inputs);
            input.files.push((name_of(path), file));
        }
        let (inputs, jobs) = (&inputs, self.jobs.cores());
        if !self.confirm {
            return Ok(CheckAnswer::Checked(Box::new(check(input, inputs, jobs, None))));
        }
        let max_states = self.bounds.max_states;
        // Each file has a number of states, so that a minute for all of them would be a bound too many.
        let bounds = self.bounds.clone().without_default_time();
        let report = with_budget(&bounds, output, |budget: &Budget<'_>| {
            let budget = self.jobs.of(budget);
            check(input, inputs, jobs, Some(&ConfirmRequest { max_states, budget, tells_ends: true, hunted: None }))
        });
        Ok(CheckAnswer::Checked(Box::new(report)))
    }

    fn findings<'a>(&self, answer: &'a CheckAnswer) -> Findings<'a> {
        match answer {
            CheckAnswer::Checked(report) => report.findings(),
            CheckAnswer::Supported(_) => Findings::default(),
        }
    }

    fn judged(&self, answer: CheckAnswer, judged: &Judged) -> CheckAnswer {
        match answer {
            CheckAnswer::Checked(report) => CheckAnswer::Checked(Box::new(report.judged(judged))),
            listed @ CheckAnswer::Supported(_) => listed,
        }
    }

    fn shows_problems(&self) -> bool {
        true
    }

    fn print(&self, answer: &CheckAnswer, _: &Judged, output: &mut Output) {
        match answer {
            CheckAnswer::Checked(report) => {
                output.print(&terminal::render_all(&report.sources, &self.diagnostics(report), output.screen()));
                output.summary(&(summary(report) + &closed_words(&report.closed)));
            }
            CheckAnswer::Supported(report) => {
                output.print(&view::supported::text(report, self.all));
                output.summary(&view::supported::summary(report));
            }
        }
    }

    fn status(&self, answer: &CheckAnswer, _: &Judged) -> Status {
        match answer {
            CheckAnswer::Checked(report) => match (report.compiles, report.errors + report.warnings) {
                (false, _) => Status::Invalid,
                (true, 0) => Status::Clean,
                (true, _) => Status::Findings,
            },
            CheckAnswer::Supported(report) if report.refused.is_empty() => Status::Clean,
            CheckAnswer::Supported(_) => Status::Findings,
        }
    }
}

impl Arguments {
    /// Which files in C are read.
    fn supported(&self) -> Result<CheckAnswer, Diagnostics> {
        let files: Vec<String> = tree::c_programs(&self.files)?.iter().map(|path| name_of(path)).collect();
        let problem = |problem| Diagnostics::general(Diagnostic::general(Code::NotC, Severity::Error, problem));
        let options = options_of(&self.analysis.program.inputs(), &Disk).map_err(problem)?;
        let input = SupportedInput { files: &files, reader: &Disk, options: &options };
        Ok(CheckAnswer::Supported(supported(&input, self.jobs.cores())))
    }

    /// The diagnostics; those that an execution has confirmed with the command that shows it.
    fn diagnostics(&self, report: &CheckReport) -> Vec<Diagnostic> {
        let options = options_text(&self.analysis.program.with(&ExecutionOptions::default()));
        let mut found = report.found.clone();
        for of in report.confirmed.iter().flatten().filter(|of| of.status == "real") {
            let Some(diagnostic) = found.get_mut(of.diagnostic) else { continue };
            let Some(span) = diagnostic.span() else { continue };
            let file = quoted(report.sources.file(span.file).name());
            let pair = of.pair.as_ref().map_or_else(String::new, |[a, b]| format!(" --pair {a},{b}"));
            let seed = of.seed.map_or_else(String::new, |seed| format!(" --seed {seed}"));
            let command = if of.code == "CS0501" { "correlate" } else { "races" };
            diagnostic.notes.push(format!("again: cssame {command} {file}{options}{pair}{seed}"));
        }
        found
    }
}

/// Which files have no `main`, and what was taken to run.
pub(super) fn closed_words(closed: &[ClosedReport]) -> String {
    let line = |of: &ClosedReport| {
        let (methods, functions): (Vec<&String>, Vec<&String>) = of.methods.iter().partition(|name| name.contains('.'));
        let kinds = [(methods.len(), "public method"), (functions.len(), "function")];
        let kinds: Vec<String> =
            kinds.iter().filter(|(count, _)| *count > 0).map(|&(count, word)| plural(count, word)).collect();
        let more = if of.has_more { "; there are more calls than were analysed" } else { "" };
        format!("{} has no main: {} assumed to run in parallel{more}\n", of.file, kinds.join(" and "))
    };
    closed.iter().map(line).collect()
}

/// `2 errors, 1 warning, 3 notes`, or that nothing was found; and what was looked at.
fn summary(report: &CheckReport) -> String {
    let counted = counted_words(report);
    let found = if counted.is_empty() { "nothing found".to_owned() } else { counted };
    let has_main = report.closed.len() < report.files.len();
    let looked_at = match (&report.confirmed, report.all_executions) {
        _ if !report.compiles => "",
        _ if !has_main => " in the text",
        (None, _) => " in the text; `cssame FILE` also runs it",
        (Some(_), true) => " in the text and in all executions",
        (Some(_), false) => " in the text and in some executions; `cssame futures` looks at more",
    };
    format!("{found}{looked_at}\n")
}

/// `2 errors, 1 warning, 3 notes`
pub(super) fn counted_words(report: &CheckReport) -> String {
    let counts = [(report.errors, "error"), (report.warnings, "warning"), (report.notes, "note")];
    let counted = counts.into_iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = counted.map(|(count, word)| plural(count, word)).collect();
    parts.join(", ")
}
