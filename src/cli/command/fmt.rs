//! `cssame fmt FILE…`: formats programs in one style.

use crate::files;
use crate::job::{Common, Help, Job};
use crate::load::{self, STANDARD_INPUT, name_of};
use crate::options::{FormatOption, OutputOptions};
use crate::output::Output;
use crate::status::Status;
use crate::view;
use clap::Args;
use cssame_answer::{FormatReport, FormattedFile, Judged, format_file};
use cssame_diagnostics::Diagnostics;
use cssame_source::SourceMap;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Arguments of `fmt`.
#[derive(Args, Clone, Debug)]
pub struct Arguments {
    /// Source files; with `-`, standard input is formatted to standard output
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Write nothing; list the files that would change, each with the first lines that would change
    #[arg(long)]
    pub check: bool,
    #[command(flatten)]
    pub(crate) format: FormatOption,
    #[command(flatten)]
    pub(crate) output: OutputOptions,
}

/// The files.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct Formatted {
    report: FormatReport,
    #[serde(skip)]
    sources: SourceMap,
}

impl Job for Arguments {
    type Answer = Formatted;

    const HELP: Help = Help {
        name: "fmt",
        short: "Format programs in one style",
        long: "\
Formats programs in one style: two spaces of indentation for each level, and one space around operators. The line \
breaks of the author stay, except at braces and in lines that are too long. Only white space changes. Comments stay \
where they are, and a comment that allows findings still allows the same findings.

A file is written as a whole or not at all. A file that already has this style is not touched. A file with syntax \
errors is left as it is.",
        examples: "\
Examples:
  cssame fmt samples/peterson.csm samples/dekker.csm
  cssame fmt --check samples/peterson.csm
  cssame fmt -

Exit status: 0 done, or nothing to do, 1 with --check if a file would change, 2 a file has syntax errors, or cannot be \
read or written.",
    };

    fn common(&self) -> Common<'_> {
        Common::new(&self.files, self.format, &self.output)
    }

    fn validate(&self) -> Result<(), String> {
        let has_input = self.files.iter().any(|file| file.as_os_str() == STANDARD_INPUT);
        if has_input && self.files.len() > 1 {
            return Err("`-` must be the only file: standard output is its formatted text".to_owned());
        }
        Ok(())
    }

    /// What is wrong with a file is a part of the answer: the others are written all the same.
    fn answer(&self, _: &Output) -> Result<Formatted, Diagnostics> {
        let mut sources = SourceMap::default();
        let files: Vec<FormattedFile> = self.files.iter().map(|path| self.one(&mut sources, path)).collect();
        let changed = files.iter().filter(|file| file.status == "changed").count();
        Ok(Formatted { report: FormatReport { check: self.check, changed, files }, sources })
    }

    fn print(&self, formatted: &Formatted, _: &Judged, output: &mut Output) {
        let Formatted { report, sources } = formatted;
        view::format::print(report, output);
        for file in &report.files {
            output.complain(sources, &file.found);
        }
        output.summary(&view::format::summary(report));
    }

    fn status(&self, formatted: &Formatted, _: &Judged) -> Status {
        let report = &formatted.report;
        match report.files.iter().any(|file| file.status == "failed") {
            true => Status::Invalid,
            false if report.check && report.changed > 0 => Status::Findings,
            false => Status::Clean,
        }
    }
}

impl Arguments {
    fn one(&self, sources: &mut SourceMap, path: &Path) -> FormattedFile {
        let file = load::program(sources, path, &[]);
        let (mut formatted, text) = format_file(sources, name_of(path), file);
        let Some(text) = text.filter(|_| !self.check) else { return formatted };
        if path.as_os_str() == STANDARD_INPUT {
            formatted.text = Some(text);
        } else if formatted.status == "changed"
            && let Err(failure) = files::rewrite(path, &text)
        {
            return FormattedFile::failed(sources, name_of(path), failure.list);
        }
        formatted
    }
}
