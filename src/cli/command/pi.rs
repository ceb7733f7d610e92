//! `cssame pi FILE`: the pi functions, their terms, what was pruned and why.

use crate::job::{Answer, Common, Job};
use crate::load;
use crate::options::{FormatOption, OutputOptions, ProgramOptions, WatchOption};
use crate::output::Output;
use crate::status::Status;
use crate::view;
use clap::Args;
use cssame_answer::{Findings, Judged, PiReport, pi};
use cssame_diagnostics::Diagnostics;
use cssame_source::SourceMap;
use serde::Serialize;
use std::path::PathBuf;
use std::slice::from_ref;

/// The long description of the command.
pub const ABOUT: &str = "\
Shows, for every read of a shared variable that more than one write can reach, which writes it may see: the pi \
function of CSSAME form. Below them stand the writes that were pruned, each with its reason: a lock hides them, or the \
order of the threads does.

No execution reads from a write that is not listed. Whether each of them can really happen, `cssame futures` decides.";

/// The examples of the command.
pub const EXAMPLES: &str = "\
Examples:
  cssame pi samples/cssame_fig2.csm
  cssame pi --all samples/cssame_fig5.csm
  cssame pi --format json samples/cssame_fig7.csm";

/// Arguments of `pi`.
#[derive(Args, Clone, Debug)]
pub struct Arguments {
    /// Source file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Show also reads that can see a single write, from which nothing was pruned, and all writes of each read
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub(crate) program: ProgramOptions,
    #[command(flatten)]
    pub(crate) format: FormatOption,
    #[command(flatten)]
    pub(crate) watch: WatchOption,
    #[command(flatten)]
    pub(crate) output: OutputOptions,
}

/// The pi functions, and how much of them people want to see.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct PiFunctions {
    report: PiReport,
    #[serde(skip)]
    sources: SourceMap,
    #[serde(skip)]
    all: bool,
}

impl Job for Arguments {
    type Answer = PiFunctions;

    fn common(&self) -> Common<'_> {
        Common::new("pi", Some(&self.file), self.format.format, &self.output)
    }

    fn watched(&self) -> Option<&[PathBuf]> {
        self.watch.of(from_ref(&self.file))
    }

    fn answer(&self, _: &Output) -> Result<PiFunctions, Diagnostics> {
        let unit = load::unit(&self.file, &self.program.inputs)?.with_main()?;
        Ok(PiFunctions { report: pi(&unit), sources: unit.sources, all: self.all })
    }
}

/// Pi functions are facts, not faults: the status is 0.
impl Answer for PiFunctions {
    fn findings(&self) -> Findings<'_> {
        Findings::default()
    }

    fn print(&self, _: &Judged, output: &mut Output) {
        view::pi::print(&self.sources, &self.report, self.all, output);
        output.summary(&view::pi::summary(&self.report));
    }

    fn status(&self, _: &Judged) -> Status {
        Status::Clean
    }
}
