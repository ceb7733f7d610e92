//! `cssame explain CODE`: what a diagnostic means.

use super::arguments::Job;
use super::json;
use super::options::{Format, FormatOption, OutputOptions};
use super::output::Output;
use super::status::Status;
use crate::diagnostics::Code;
use crate::diagnostics::Diagnostics;
use anstyle::Style;
use clap::Args;
use serde::Serialize;
use std::path::Path;

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

/// The answer in JSON: the pages asked for.
#[derive(Debug, Serialize)]
struct ExplainReport {
    codes: Vec<CodePage>,
}

#[derive(Debug, Serialize)]
struct CodePage {
    code: &'static str,
    title: &'static str,
    page: &'static str,
}

impl Job for Arguments {
    fn name(&self) -> &'static str {
        "explain"
    }

    fn file(&self) -> Option<&Path> {
        None
    }

    fn format(&self) -> Format {
        self.format.format.into()
    }

    fn output_options(&self) -> &OutputOptions {
        &self.output
    }

    fn execute(&self, output: &mut Output) -> Result<Status, Diagnostics> {
        let codes: Vec<Code> = self.code.map_or_else(|| Code::all().collect(), |code| vec![code]);
        let text = match (self.format(), self.code) {
            (Format::Json, _) => {
                let page = |code: &Code| CodePage { code: code.number(), title: code.title(), page: code.page() };
                json::document(self.name(), None, &ExplainReport { codes: codes.iter().map(page).collect() })
            }
            (_, Some(code)) => page(code, output.colour()),
            (_, None) => codes.iter().map(|code| format!("{}  {}\n", code.number(), code.title())).collect(),
        };
        output.print(&text);
        Ok(Status::Clean)
    }
}

/// The page of a code, its headings bold where there is colour.
fn page(code: Code, colour: bool) -> String {
    if !colour {
        return code.page().to_owned();
    }
    let bold = Style::new().bold();
    let line = |line: &str| match line.trim_start_matches('#') {
        heading if heading.len() < line.len() => format!("{bold}{}{bold:#}\n", heading.trim_start()),
        _ => format!("{line}\n"),
    };
    code.page().lines().map(line).collect()
}

fn parse_code(text: &str) -> Result<Code, String> {
    let digits = text.strip_prefix("CS").or_else(|| text.strip_prefix("cs")).unwrap_or(text);
    Code::parse(&format!("CS{digits:0>4}"))
        .ok_or_else(|| "there is no such code; `cssame explain` lists them all".to_owned())
}
