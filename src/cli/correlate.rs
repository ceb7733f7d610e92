//! `cssame correlate FILE`: correlated variables, endangered correlations, and method pairs by rank.

use super::arguments::Job;
use super::correlate_text::{self, View};
use super::finding;
use super::json;
use super::load;
use super::options::{BoundOptions, ExecutionOptions, Format, FormatOption, OutputOptions, ProgramOptions};
use super::output::Output;
use super::progress::Monitor;
use super::record;
use super::status::Status;
use super::tears::{self, Question, Tears};
use crate::budget::{Bound, Statistics};
use crate::concurrency;
use crate::correlation::report::CorrelationReport;
use crate::correlation::{self, Options};
use crate::diagnostics::Diagnostics;
use crate::schedule::Step;
use clap::Args;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The long description of the command.
pub const ABOUT: &str = "\
Finds variables that belong together: one is computed from the other, is written where a condition on the other \
holds, or both are computed from a third. Then ranks the pairs of methods that may run in parallel: a pair ranks high \
where a method touches two such variables with synchronisation in between, so that another method can come between and \
see, or leave, halves that do not fit.

What belongs together is a guess from the text, with a probability, and so is the rank: it says where to test first. The \
pairs above the threshold are then executed, in all ways: an endangered access is confirmed where some execution tears \
it apart, and shown; it is refuted where none does; else it stays potential.

In a program with a `main`, methods are its functions and the arms that touch shared variables themselves. In a file of \
classes without a `main`, any two public methods may run in parallel, one with itself too; they are executed in \
programs that are made for them.";

/// The examples of the command.
pub const EXAMPLES: &str = "\
Examples:
  cssame correlate samples/jannesari_fig9.csm
  cssame correlate --rank 0.3 samples/order_pool_broken.csm
  cssame correlate --threshold 0.8 --format json samples/bank_account.csm

Exit status: 0 nothing endangered, or all of it refuted, 1 some pair has an endangered correlation that is not refuted \
and a rank above the threshold, 2 the program does not compile, 3 there are too many pairs to rank them all, and none of \
the ranked ones is endangered.";

/// Arguments of `correlate`.
#[derive(Args, Clone, Debug)]
pub struct Arguments {
    /// Source file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Least probability of a correlation, from 0 to 1
    #[arg(long, value_name = "P", default_value_t = 0.5, value_parser = parse_part)]
    pub threshold: f64,
    /// Select pairs of a higher rank than R, from 0 to 1 (Jannesari and Wolf take 0.3)
    #[arg(long, value_name = "R", default_value_t = 0.0, value_parser = parse_part)]
    pub rank: f64,
    /// Rank only, execute nothing
    #[arg(long = "static")]
    pub only_static: bool,
    /// Write the schedules of confirmed tears to this directory
    #[arg(long, value_name = "DIR")]
    pub record_dir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) execution: ExecutionOptions,
    #[command(flatten)]
    pub(crate) program: ProgramOptions,
    #[command(flatten)]
    pub(crate) format: FormatOption,
    #[command(flatten)]
    pub(crate) output: OutputOptions,
    #[command(flatten)]
    pub(crate) bounds: BoundOptions,
}

/// The answer in JSON.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    #[serde(flatten)]
    pub correlation: CorrelationReport<Vec<Step>>,
    /// The bound that has stopped the executions.
    pub bound: Option<&'static str>,
    /// States of all executions.
    pub states: u64,
}

/// A number from 0 to 1.
pub(super) fn parse_part(text: &str) -> Result<f64, String> {
    let part = text.parse::<f64>().ok().filter(|part| (0.0..=1.0).contains(part));
    part.ok_or_else(|| "write it as a number from 0 to 1, such as `0.5`".to_owned())
}

impl Job for Arguments {
    fn name(&self) -> &'static str {
        "correlate"
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
        let loaded = load::unit(&self.file, &self.program.inputs)?;
        let concurrency = concurrency::analyse(&loaded.program);
        let analysis =
            correlation::analyse(&loaded.program, concurrency.as_ref(), &Options { threshold: self.threshold });
        let (tears, loaded) = if self.only_static {
            (Tears::default(), Some(loaded))
        } else {
            let monitor = Monitor::start(output);
            let show = |now: &Statistics| monitor.update(now);
            let question = Question {
                path: &self.file,
                options: &self.program.with(&self.execution),
                analysis: &analysis,
                rank: self.rank,
                budget: &self.bounds.budget(monitor.interrupt(), self.output.jobs()).with_reporter(&show),
            };
            tears::find(&question, loaded)
        };
        let (sources, program) = tears::program(&tears, loaded.as_ref());
        let mut report = Report {
            correlation: correlation::report(sources, program, &analysis, (self.threshold, self.rank), |pair, each| {
                if self.only_static { tears::not_executed() } else { tears.decision(pair, each) }
            }),
            bound: tears.bound.map(Bound::name),
            states: tears.states,
        };
        for (index, pair) in report.correlation.pairs.iter_mut().enumerate() {
            pair.context = tears.setting_of(index).and_then(|setting| setting.added.clone());
        }
        if let Some(directory) = &self.record_dir {
            record::write_tears(directory, &self.file, &tears, &report.correlation)?;
        }
        match self.format() {
            Format::Json => json::print(output, self.name(), self.file(), &report),
            _ => {
                let view = View { arguments: self, sources, tears: &tears, report: &report, colour: output.colour() };
                output.print(&view.text());
                if let Some(bound) = tears.bound {
                    output.complain(sources, &[finding::bound(bound, None)]);
                }
                output.summary(&correlate_text::summary(&report));
            }
        }
        let refuted = report.correlation.counts.pairs_refuted;
        Ok(Status::of_search(report.correlation.counts.pairs_selected > refuted, report.correlation.complete))
    }
}
