//! `cssame check FILE…`: every static diagnostic. The default job.

use crate::answer::words::plural;
use crate::answer::{CheckInput, CheckReport, check};
use crate::cli::job::{Answer, Common, Job};
use crate::cli::load::{self, name_of};
use crate::cli::options::{FormatOption, OutputOptions, ProgramOptions};
use crate::cli::output::Output;
use crate::cli::status::Status;
use crate::diagnostics::{Diagnostics, terminal};
use clap::Args;
use std::path::PathBuf;

/// The long description of the command.
pub const ABOUT: &str = "\
Compiles each file and shows everything that can be said of it without running it: syntax, names and types, misuse of \
locks, events, barriers and conditions, reads that concurrent writes can reach without protection, and variables that \
belong together but are touched in two critical sections.

`cssame FILE` is short for `cssame check FILE`.";

/// The examples of the command.
pub const EXAMPLES: &str = "\
Examples:
  cssame check samples/cssame_fig2.csm
  cssame samples/peterson.csm samples/dekker.csm
  cssame check --input tries=3 --format json samples/peterson.csm

Exit status: 0 nothing found, 1 warnings or errors, 2 a file does not compile or
cannot be read.";

/// Arguments of `check`.
#[derive(Args, Clone, Debug)]
pub struct Arguments {
    /// Source files
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) program: ProgramOptions,
    #[command(flatten)]
    pub(crate) format: FormatOption,
    #[command(flatten)]
    pub(crate) output: OutputOptions,
}

impl Job for Arguments {
    type Answer = CheckReport;

    fn common(&self) -> Common<'_> {
        Common::new("check", self.files.first(), self.format.format, &self.output)
    }

    /// What is wrong with a file is the answer, not a failure to have one.
    fn answer(&self, _: &Output) -> Result<CheckReport, Diagnostics> {
        let mut input = CheckInput::default();
        for path in &self.files {
            let file = load::read(&mut input.sources, path);
            input.files.push((name_of(path), file));
        }
        Ok(check(input, &self.program.inputs, self.output.jobs()))
    }
}

impl Answer for CheckReport {
    fn print(&self, output: &mut Output) {
        output.print(&terminal::render_all(&self.sources, &self.found, output.colour()));
        output.summary(&summary(self.errors, self.warnings));
    }

    fn status(&self) -> Status {
        match (self.compiles, self.errors + self.warnings) {
            (false, _) => Status::Invalid,
            (true, 0) => Status::Clean,
            (true, _) => Status::Findings,
        }
    }
}

/// `2 errors, 1 warning`
fn summary(errors: usize, warnings: usize) -> String {
    let words = |count: usize, word: &str| (count > 0).then(|| plural(count, word));
    let parts: Vec<String> = words(errors, "error").into_iter().chain(words(warnings, "warning")).collect();
    if parts.is_empty() { "nothing found\n".to_owned() } else { parts.join(", ") + "\n" }
}
