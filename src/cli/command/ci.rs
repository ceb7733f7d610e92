//! `cssame ci [PATH…]`: the findings of several commands in all programs of a tree, with one exit status.

use crate::config::Config;
use crate::job::{Common, Help, Job};
use crate::load;
use crate::options::{BoundOptions, JobsOption, ListingFile, ProcessBounds, QuestionBounds};
use crate::output::Output;
use crate::progress::with_budget;
use crate::shared::SearchOptions;
use crate::status::Status;
use crate::tree;
use crate::view;
use clap::Args;
use cssame_answer::{CiCommand, CiFile, CiReport, CiRequest, Findings, Judged, ci_file};
use cssame_budget::Budget;
use cssame_diagnostics::{Diagnostic, Diagnostics, Severity};
use cssame_source::SourceMap;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Arguments of `ci`.
#[derive(Args, Clone, Debug)]
pub struct Arguments {
    /// Directories and files
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Run this command: check, races or futures (repeatable) [default: all, or those of the configuration]
    #[arg(long = "command", value_name = "COMMAND", value_parser = parse_command)]
    pub commands: Vec<CiCommand>,
    /// Leave out files that this pattern of `.gitignore` matches (repeatable)
    #[arg(long, value_name = "PATTERN")]
    pub exclude: Vec<String>,
    /// Write the findings to a file as well, such as sarif=results.sarif (repeatable)
    #[arg(long, value_name = "FORMAT=FILE")]
    pub write: Vec<ListingFile>,
    /// Also list the files in which nothing was found
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub(crate) search: SearchOptions<()>,
    #[command(flatten)]
    pub(crate) jobs: JobsOption,
}

fn parse_command(text: &str) -> Result<CiCommand, String> {
    let found = CiCommand::WORDS.iter().find(|(word, _)| *word == text);
    found.map(|&(_, command)| command).ok_or_else(|| "there are `check`, `races` and `futures`".to_owned())
}

impl Job for Arguments {
    type Answer = CiReport;

    const HELP: Help = Help {
        name: "ci",
        short: "Run check, races and futures on every program of a directory tree",
        long: "\
Runs `check`, `races` and `futures` on every `.csm` file below the given paths (or below the current directory if no \
path is given), and ends with one exit status for all of them. Files that `.gitignore` names are left out. If two \
commands find the same thing, it counts as one finding. Races and cycles of locks that no execution has are not \
findings.

The nearest `cssame.toml` of each file applies to that file. Its bounds apply to each command in each file. The table \
`[ci]` in the `cssame.toml` of the first path says which commands are run and which files are left out.",
        examples: "\
Examples:
  cssame ci --command check samples
  cssame ci --timeout 20 samples/peterson.csm samples/dekker.csm
  cssame ci --write sarif=results.sarif --write markdown=sum.md samples/dekker.csm
  cssame ci --command check --exclude '*_broken.csm' --format github samples

Exit status: 0 nothing found, 1 findings, 2 a file does not compile or cannot be
read, 3 a bound was hit before all was decided and nothing was found so far.",
    };

    fn common(&self) -> Common<'_> {
        Common { written: &self.write, ..self.search.common(&self.paths) }
    }

    /// Each file has a configuration, and each question a time of its own.
    fn set_default_bounds(&mut self, _: &BoundOptions) -> ProcessBounds {
        ProcessBounds { timeout: None, ..self.search.bounds.of_process() }
    }

    fn answer(&self, output: &Output) -> Result<CiReport, Diagnostics> {
        let here = [PathBuf::from(".")];
        let paths = if self.paths.is_empty() { &here } else { self.paths.as_slice() };
        let config = self.config_of_tree(&paths[0])?;
        let exclude: Vec<String> = config.ci.exclude.iter().chain(&self.exclude).cloned().collect();
        let files = tree::programs(paths, &exclude)?;
        let named = if self.commands.is_empty() { &config.ci.commands } else { &self.commands };
        let all = CiCommand::WORDS.map(|(_, command)| command);
        let commands = if named.is_empty() { all.into() } else { named.iter().copied().collect() };
        // Each command in each file has a time of its own.
        let max_memory = self.search.bounds.max_memory.or(config.bounds.max_memory);
        let whole = BoundOptions { max_memory, ..BoundOptions::default() }.without_default_time();
        let found = with_budget(&whole, output, |budget: &Budget<'_>| {
            let budget = &self.jobs.of(budget);
            files.iter().map(|file| self.ask(file, &commands, budget)).collect::<Result<Vec<CiFile>, Diagnostics>>()
        });
        Ok(CiReport { files: found?, diagnostics: Vec::new() })
    }

    fn findings<'a>(&self, report: &'a CiReport) -> Findings<'a> {
        report.findings()
    }

    fn judged(&self, report: CiReport, judged: &Judged) -> CiReport {
        report.judged(judged)
    }

    fn bounds(&self, report: &CiReport) -> Vec<Diagnostic> {
        report.bounds()
    }

    fn print(&self, report: &CiReport, judged: &Judged, output: &mut Output) {
        view::ci::print(report, judged, self.all, output);
        output.complain(&SourceMap::default(), &self.bounds(report));
        output.summary(&view::ci::summary(report));
    }

    fn status(&self, report: &CiReport, judged: &Judged) -> Status {
        status(report, judged)
    }
}

impl Arguments {
    /// The configuration that holds for files in the first path.
    fn config_of_tree(&self, path: &Path) -> Result<Config, Diagnostics> {
        let inside = if path.is_dir() { path.join("file") } else { path.to_path_buf() };
        self.search.analysis.lints.config(&inside)
    }

    fn ask(&self, path: &Path, commands: &BTreeSet<CiCommand>, budget: &Budget<'_>) -> Result<CiFile, Diagnostics> {
        let mut bounds = self.search.bounds.clone();
        bounds.set_defaults(&self.search.analysis.lints.config(path)?.bounds);
        let of_question = QuestionBounds::of(&bounds);
        let of_command = || of_question.budget(budget);
        let mut sources = SourceMap::default();
        let (commands, options) = (commands.clone(), self.search.options());
        let file = load::program(&mut sources, path, &options.inputs);
        let request = CiRequest { commands, options, race_states: bounds.max_states };
        Ok(ci_file(&load::name_of(path), (sources, file), &request, &of_command))
    }
}

/// How a command ends that has asked several ones.
pub(super) fn status(report: &CiReport, judged: &Judged) -> Status {
    let commands = || report.files.iter().flat_map(|file| &file.commands);
    if report.files.iter().any(|file| !file.compiles) {
        return Status::Invalid;
    }
    let problems = judged.problems.iter().flat_map(|of| &of.list);
    let has_problems = problems.into_iter().any(|of| of.severity == Severity::Error);
    Status::of_search(has_problems || commands().any(|of| of.findings > 0), commands().all(|of| of.complete))
}
