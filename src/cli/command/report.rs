//! `cssame report FILE`: a page about a program.

use super::ci;
use crate::files;
use crate::job::{Common, Help, Job};
use crate::load::{self, STANDARD_INPUT};
use crate::options::{BoundOptions, JobsOption, ProcessBounds, QuestionBounds};
use crate::output::Output;
use crate::progress::with_budget;
use crate::shared::SearchOptions;
use crate::status::Status;
use crate::view;
use clap::Args;
use cssame_answer::{Findings, Judged, ReportAnswer, ReportRequest, report};
use cssame_budget::Budget;
use cssame_diagnostics::{Diagnostic, Diagnostics};
use cssame_source::SourceMap;
use std::path::{Path, PathBuf};
use std::slice::from_ref;

/// Arguments of `report`.
#[derive(Args, Clone, Debug)]
pub struct Arguments {
    /// Source file
    pub file: PathBuf,
    /// Write the page to this file; `-` is standard output [default: the name of the source file, with `.html`]
    #[arg(short, long, value_name = "PAGE")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) search: SearchOptions,
    #[command(flatten)]
    pub(crate) jobs: JobsOption,
}

impl Job for Arguments {
    type Answer = ReportAnswer;

    const HELP: Help = Help {
        name: "report",
        short: "Write an HTML report about a program",
        long: "\
Writes an HTML page about a program. A browser shows it without a network. The page has the source with the writes \
that each read may see, the findings of check, races and futures with executions to step through, the graph in CSSAME \
form, and tables of races, pairs, outcomes and coverage.",
        examples: "\
Examples:
  cssame report samples/bank_transfer_deadlock.csm -o report.html
  cssame report samples/peterson.csm --timeout 10 -o peterson.html

Exit status: 0 nothing found, 1 findings, 2 the program does not compile or the
page cannot be written, 3 a bound was hit before all was decided and nothing was
found so far.",
    };

    fn common(&self) -> Common<'_> {
        self.search.common(from_ref(&self.file))
    }

    fn validate(&self) -> Result<(), String> {
        let is_input = self.file.as_os_str() == STANDARD_INPUT;
        if is_input && self.out.is_none() {
            return Err("a program from standard input has no name: pass `--out PAGE`".to_owned());
        }
        Ok(())
    }

    /// Each question has a time of its own.
    fn set_default_bounds(&mut self, bounds: &BoundOptions) -> ProcessBounds {
        ProcessBounds { timeout: None, ..self.search.bounds.set_defaults(bounds) }
    }

    fn answer(&self, output: &Output) -> Result<ReportAnswer, Diagnostics> {
        let bounds = &self.search.bounds;
        let mut sources = SourceMap::default();
        let options = self.search.options();
        let file = load::program(&mut sources, &self.file, &options.inputs);
        let request = ReportRequest { options, race_states: bounds.max_states };
        let of_question = QuestionBounds::of(bounds);
        let whole = BoundOptions { max_memory: bounds.max_memory, ..BoundOptions::default() }.without_default_time();
        let search = |budget: &Budget<'_>| {
            let budget = &self.jobs.of(budget);
            report(&load::name_of(&self.file), (sources, file), &request, &|| of_question.budget(budget))
        };
        Ok(with_budget(&whole, output, search))
    }

    fn findings<'a>(&self, answer: &'a ReportAnswer) -> Findings<'a> {
        answer.findings()
    }

    fn judged(&self, answer: ReportAnswer, judged: &Judged) -> ReportAnswer {
        answer.judged(judged)
    }

    fn bounds(&self, answer: &ReportAnswer) -> Vec<Diagnostic> {
        answer.ci.bounds()
    }

    fn print(&self, answer: &ReportAnswer, judged: &Judged, output: &mut Output) {
        if !compiles(answer) {
            view::ci::print(&answer.ci, judged, false, output);
        } else if self.page().is_none() {
            output.print(&view::report::page(&load::name_of(&self.file), answer));
        }
        output.complain(&SourceMap::default(), &self.bounds(answer));
    }

    /// The page is written when all is known that stands in it.
    fn finish(&self, answer: &mut ReportAnswer, output: &mut Output) -> Result<(), Diagnostics> {
        let Some(page) = self.page().filter(|_| compiles(answer)) else { return Ok(()) };
        files::write(&page, &view::report::page(&load::name_of(&self.file), answer))?;
        output.summary(&format!("wrote {}\n", page.display()));
        Ok(())
    }

    fn status(&self, answer: &ReportAnswer, judged: &Judged) -> Status {
        ci::status(&answer.ci, judged)
    }
}

impl Arguments {
    /// The file of the page; none where it is printed.
    fn page(&self) -> Option<PathBuf> {
        let page = self.out.clone().unwrap_or_else(|| self.file.with_extension("html"));
        (page != Path::new(STANDARD_INPUT)).then_some(page)
    }
}

fn compiles(answer: &ReportAnswer) -> bool {
    answer.ci.files.iter().all(|file| file.compiles)
}
