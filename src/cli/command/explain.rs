//! `cssame explain CODE`: the meaning of a diagnostic.

use crate::job::{Common, Help, Job};
use crate::options::{FormatOption, OutputOptions};
use crate::output::Output;
use crate::view::markdown;
use clap::Args;
use cssame_answer::{ExplainReport, Judged, explain};
use cssame_diagnostics::{Code, Diagnostics};

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

impl Job for Arguments {
    type Answer = ExplainReport;

    const HELP: Help = Help {
        name: "explain",
        short: "Explain a diagnostic code",
        long: "\
Prints the manual page of a diagnostic code: what it means, an example, and how to fix it. Without a code it lists all \
codes.",
        examples: "\
Examples:
  cssame explain CS0401
  cssame explain 401
  cssame explain",
    };

    fn common(&self) -> Common<'_> {
        Common::new(&[], self.format, &self.output)
    }

    fn answer(&self, _: &Output) -> Result<ExplainReport, Diagnostics> {
        Ok(explain(self.code))
    }

    /// Pages that were asked for by no code are listed only.
    fn print(&self, report: &ExplainReport, _: &Judged, output: &mut Output) {
        for of in &report.codes {
            let text = match (self.code.is_none(), output.colour()) {
                (true, _) => format!("{}  {}\n", of.code, of.title),
                (false, true) => markdown::render(of.page),
                (false, false) => of.page.to_owned(),
            };
            output.print(&text);
        }
    }
}

fn parse_code(text: &str) -> Result<Code, String> {
    let digits = text.strip_prefix("CS").or_else(|| text.strip_prefix("cs")).unwrap_or(text);
    Code::parse(&format!("CS{digits:0>4}"))
        .ok_or_else(|| "there is no such code; `cssame explain` lists them all".to_owned())
}
