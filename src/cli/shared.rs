//! The options that most subcommands share, combined once, in the order of the help.
//!
//! In: the command line. Out: the data that a command passes to its library call, and the [`Common`] part of its answer.

use super::job::Common;
use super::lints::LintOptions;
use super::options::{
    BoundOptions, ExecutionOptions, FindingsFormatOption, Format, OutputOptions, ProgramOptions, WatchOption,
};
use clap::Args;
use cssame_model as model;
use std::path::PathBuf;

/// Options of every command that has findings.
#[derive(Args, Clone, Debug)]
pub struct AnalysisOptions<W: Watch = WatchOption, F: Args + Copy + Into<Format> = FindingsFormatOption> {
    #[command(flatten)]
    pub(crate) program: ProgramOptions,
    #[command(flatten)]
    pub(crate) format: F,
    #[command(flatten)]
    pub(crate) watch: W,
    #[command(flatten)]
    pub(crate) output: OutputOptions,
    #[command(flatten)]
    pub(crate) lints: LintOptions,
}

/// Options of every command that looks for findings in the executions of a program.
#[derive(Args, Clone, Debug)]
pub struct SearchOptions<W: Watch = WatchOption> {
    #[command(flatten)]
    pub(crate) execution: ExecutionOptions,
    #[command(flatten)]
    pub(crate) analysis: AnalysisOptions<W>,
    #[command(flatten)]
    pub(crate) bounds: BoundOptions,
}

/// The option to be asked again when files change; `()` for a command that has none.
pub trait Watch: Args {
    /// Whether that is wanted.
    fn is_wanted(&self) -> bool;
}

impl Watch for WatchOption {
    fn is_wanted(&self) -> bool {
        self.watch
    }
}

impl Watch for () {
    fn is_wanted(&self) -> bool {
        false
    }
}

impl<W: Watch, F: Args + Copy + Into<Format>> AnalysisOptions<W, F> {
    /// What a command with these options tells of itself that is asked about those files.
    pub fn common<'a>(&'a self, files: &'a [PathBuf]) -> Common<'a> {
        let common = Common::new(files, self.format, &self.output);
        Common { lints: Some(&self.lints), is_watched: self.watch.is_wanted(), ..common }
    }
}

impl<W: Watch> SearchOptions<W> {
    /// As [`AnalysisOptions::common`].
    pub fn common<'a>(&'a self, files: &'a [PathBuf]) -> Common<'a> {
        self.analysis.common(files)
    }

    /// What executions depend on.
    pub fn options(&self) -> model::Options {
        self.analysis.program.with(&self.execution)
    }
}
