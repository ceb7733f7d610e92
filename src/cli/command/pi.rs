//! `cssame pi FILE`: the pi functions, their terms, the pruned definitions and the reasons.

use crate::job::{Common, Help, Job};
use crate::load;
use crate::options::{FormatOption, OutputOptions, ProgramOptions, WatchOption};
use crate::output::Output;
use crate::view;
use clap::Args;
use cssame_answer::{Judged, PiReport, pi};
use cssame_diagnostics::Diagnostics;
use cssame_source::SourceMap;
use serde::Serialize;
use std::path::PathBuf;
use std::slice::from_ref;

/// Arguments of `pi`.
#[derive(Args, Clone, Debug)]
pub struct Arguments {
    /// Source file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Also show reads that can see only one write and from which nothing was pruned, and all writes of each read
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

/// The pi functions, and the text that they are of.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct PiFunctions {
    report: PiReport,
    #[serde(skip)]
    sources: SourceMap,
}

/// Pi functions are facts, not faults: nothing is found.
impl Job for Arguments {
    type Answer = PiFunctions;

    const HELP: Help = Help {
        name: "pi",
        short: "Show which writes each read may see, and what was pruned",
        long: "\
Shows, for every read of a shared variable that more than one write can reach, which writes it may see: the pi \
function of CSSAME form. Below them it lists the writes that were pruned, each with its reason: a lock or the order of \
the threads hides the write from the read.

No execution reads from a write that is not listed. `cssame futures` decides for each listed write whether a read can \
really see it.",
        examples: "\
Examples:
  cssame pi samples/cssame_fig2.csm
  cssame pi --all samples/cssame_fig5.csm
  cssame pi --format json samples/cssame_fig7.csm",
    };

    fn common(&self) -> Common<'_> {
        Common { is_watched: self.watch.watch, ..Common::new(from_ref(&self.file), self.format, &self.output) }
    }

    fn answer(&self, _: &Output) -> Result<PiFunctions, Diagnostics> {
        let unit = load::unit(&self.file, &self.program.inputs())?.with_main()?;
        Ok(PiFunctions { report: pi(&unit), sources: unit.sources })
    }

    fn print(&self, found: &PiFunctions, _: &Judged, output: &mut Output) {
        view::pi::print(&found.sources, &found.report, self.all, output);
        output.summary(&view::pi::summary(&found.report));
    }
}
