//! `cssame report FILE`: a page about a program.

use super::ci;
use crate::files;
use crate::job::{Answer, Common, Job};
use crate::lints::LintOptions;
use crate::load::{self, STANDARD_INPUT};
use crate::options::{
    BoundOptions, ExecutionOptions, FindingsFormatOption, OutputOptions, ProcessBounds, ProgramOptions, QuestionBounds,
    WatchOption,
};
use crate::output::Output;
use crate::progress::with_budget;
use crate::status::Status;
use crate::view;
use clap::Args;
use cssame_answer::{CiReport, Findings, Judged, ReportAnswer, ReportRequest, report};
use cssame_budget::Budget;
use cssame_diagnostics::{Diagnostic, Diagnostics};
use cssame_source::SourceMap;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::slice::from_ref;

/// The long description of the command.
pub const ABOUT: &str = "\
Writes a page about a program that a browser shows without a network: the source with the writes that each read may see, the findings of \
check, races and futures with executions to step through, the graph in CSSAME form, and tables of races, pairs, outcomes and coverage.";

/// The examples of the command.
pub const EXAMPLES: &str = "\
Examples:
  cssame report samples/bank_transfer_deadlock.csm -o report.html
  cssame report samples/peterson.csm --timeout 10 -o peterson.html

Exit status: 0 nothing found, 1 findings, 2 the program does not compile or the
page cannot be written, 3 a bound was hit before all was decided and nothing was
found so far.";

/// Arguments of `report`.
#[derive(Args, Clone, Debug)]
pub struct Arguments {
    /// Source file
    pub file: PathBuf,
    /// Write the page to this file; `-` is standard output [default: the name of the source file, with `.html`]
    #[arg(short, long, value_name = "PAGE")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) execution: ExecutionOptions,
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
    #[command(flatten)]
    pub(crate) bounds: BoundOptions,
}

/// What the page shows, and where it goes.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct Reported {
    answer: ReportAnswer,
    #[serde(skip)]
    file: String,
    #[serde(skip)]
    page: PathBuf,
}

impl Job for Arguments {
    type Answer = Reported;

    fn common(&self) -> Common<'_> {
        Common::new("report", Some(&self.file), self.format.format, &self.output).with_lints(&self.lints)
    }

    fn validate(&self) -> Result<(), String> {
        let is_input = self.file.as_os_str() == STANDARD_INPUT;
        if is_input && self.out.is_none() {
            return Err("a program of standard input has no name: say where the page goes by `--out`".to_owned());
        }
        Ok(())
    }

    fn watched(&self) -> Option<&[PathBuf]> {
        self.watch.of(from_ref(&self.file))
    }

    fn set_default_bounds(&mut self, bounds: &BoundOptions) {
        self.bounds.set_defaults(bounds);
    }

    /// Each question has a time of its own.
    fn process_bounds(&self) -> ProcessBounds {
        ProcessBounds { timeout: None, ..self.bounds.of_process() }
    }

    fn answer(&self, output: &Output) -> Result<Reported, Diagnostics> {
        let mut sources = SourceMap::default();
        let file = load::read(&mut sources, &self.file);
        let request =
            ReportRequest { options: self.program.with(&self.execution), race_states: self.bounds.max_states };
        let of_question = QuestionBounds::of(&self.bounds);
        let whole = BoundOptions { max_memory: self.bounds.max_memory, ..BoundOptions::default() };
        let name = load::name_of(&self.file);
        let answer = with_budget(&whole, &self.output, output, |budget: &Budget<'_>| {
            report(&name, (sources, file), &request, &|| of_question.budget(budget))
        });
        let page = self.out.clone().unwrap_or_else(|| self.file.with_extension("html"));
        Ok(Reported { answer, file: name, page })
    }
}

impl Reported {
    fn ci(&self) -> &CiReport {
        &self.answer.ci
    }

    fn compiles(&self) -> bool {
        self.ci().files.iter().all(|file| file.compiles)
    }

    fn is_printed(&self) -> bool {
        self.page == Path::new(STANDARD_INPUT)
    }
}

impl Answer for Reported {
    fn findings(&self) -> Findings<'_> {
        self.answer.findings()
    }

    fn judged(self, judged: &Judged) -> Reported {
        Reported { answer: self.answer.judged(judged), ..self }
    }

    fn bounds(&self) -> Vec<Diagnostic> {
        self.ci().bounds()
    }

    fn print(&self, judged: &Judged, output: &mut Output) {
        if !self.compiles() {
            view::ci::print(self.ci(), judged, false, output);
        } else if self.is_printed() {
            output.print(&view::report::page(&self.file, &self.answer));
        }
        output.complain(&SourceMap::default(), &self.bounds());
    }

    /// The page is written when all is known that stands in it.
    fn finish(&mut self, output: &mut Output) -> Result<(), Diagnostics> {
        if !self.compiles() || self.is_printed() {
            return Ok(());
        }
        files::write(&self.page, &view::report::page(&self.file, &self.answer))?;
        output.summary(&format!("wrote {}\n", self.page.display()));
        Ok(())
    }

    fn status(&self, judged: &Judged) -> Status {
        ci::status(self.ci(), judged)
    }
}
