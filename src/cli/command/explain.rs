//! `cssame explain CODE`: what a diagnostic means.

use crate::job::{Answer, Common, Job};
use crate::options::{FormatOption, OutputOptions};
use crate::output::Output;
use crate::status::Status;
use crate::view::markdown;
use clap::Args;
use cssame_answer::{ExplainReport, Findings, Judged, explain};
use cssame_diagnostics::{Code, Diagnostics};
use serde::Serialize;

/// The long description of the command.
pub const ABOUT: &str = "\
Prints the page of the manual for a diagnostic code: what it means, an example, and how to mend it. Without a code it \
lists all of them.";

/// The examples of the command.
pub const EXAMPLES: &str = "\
Examples:
  cssame explain CS0401
  cssame explain 401
  cssame explain";

/// Arguments of `explain`.
#[derive(Args, Clone, Debug)]
pub struct Arguments {
    /// A code, such as CS0401
    #[arg(value_name = "CODE", value_parser = parse_code)]
    pub code: Option<Code>,
    #[command(flatten)]
    pub(crate) format: FormatOption,
    #[command(flatten)]
    pub(crate) output: OutputOptions,
}

/// Pages of the manual; those that were asked for by no code are listed only.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct Pages {
    report: ExplainReport,
    #[serde(skip)]
    listed: bool,
}

impl Job for Arguments {
    type Answer = Pages;

    fn common(&self) -> Common<'_> {
        Common::new("explain", None, self.format.format, &self.output)
    }

    fn answer(&self, _: &Output) -> Result<Pages, Diagnostics> {
        Ok(Pages { report: explain(self.code), listed: self.code.is_none() })
    }
}

impl Answer for Pages {
    fn findings(&self) -> Findings<'_> {
        Findings::default()
    }

    fn print(&self, _: &Judged, output: &mut Output) {
        for of in &self.report.codes {
            let text = match (self.listed, output.colour()) {
                (true, _) => format!("{}  {}\n", of.code, of.title),
                (false, true) => markdown::render(of.page),
                (false, false) => of.page.to_owned(),
            };
            output.print(&text);
        }
    }

    fn status(&self, _: &Judged) -> Status {
        Status::Clean
    }
}

fn parse_code(text: &str) -> Result<Code, String> {
    let digits = text.strip_prefix("CS").or_else(|| text.strip_prefix("cs")).unwrap_or(text);
    Code::parse(&format!("CS{digits:0>4}"))
        .ok_or_else(|| "there is no such code; `cssame explain` lists them all".to_owned())
}
