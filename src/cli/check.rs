//! `cssame check FILE…`: every static diagnostic. The default job.

use super::arguments::Job;
use super::json;
use super::load::{self, name_of};
use super::options::{Format, FormatOption, OutputOptions, ProgramOptions};
use super::output::Output;
use super::status::{Failure, Status};
use crate::correlation;
use crate::cssame::analyse;
use crate::cssame::check::check as static_diagnostics;
use crate::diagnostics::json::{DiagnosticData, diagnostic_data};
use crate::diagnostics::{self, Diagnostic, Severity, terminal};
use crate::ir::Program;
use crate::ir::compile::{Compiled, compile};
use crate::source::SourceMap;
use clap::Args;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The long description of the command.
pub const ABOUT: &str = "\
Compiles each file and shows everything that can be said of it without running it: syntax, names and types, misuse of \
locks, events, barriers and conditions, reads that concurrent writes can reach without protection, and variables that \
belong together but are touched in two critical sections.

`cssame FILE` is short for `cssame check FILE`.";

/// The examples of the command.
pub const EXAMPLES: &str = "\
Examples:
  cssame check samples/cssame_fig2.csm
  cssame samples/peterson.csm samples/dekker.csm
  cssame check --input tries=3 --format json samples/peterson.csm

Exit status: 0 nothing found, 1 warnings or errors, 2 a file does not compile or
cannot be read.";

/// Arguments of `check`.
#[derive(Args, Clone, Debug)]
pub struct Arguments {
    /// Source files
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) program: ProgramOptions,
    #[command(flatten)]
    pub(crate) format: FormatOption,
    #[command(flatten)]
    pub(crate) output: OutputOptions,
}

/// The answer in JSON.
#[derive(Debug, Serialize)]
struct CheckReport {
    files: Vec<String>,
    errors: usize,
    warnings: usize,
    notes: usize,
    diagnostics: Vec<DiagnosticData>,
}

/// What was found in all files.
#[derive(Default)]
struct Findings {
    sources: SourceMap,
    /// File by file, each file sorted.
    diagnostics: Vec<Diagnostic>,
    /// Whether some file cannot be read or does not compile.
    invalid: bool,
}

impl Job for Arguments {
    fn name(&self) -> &'static str {
        "check"
    }

    fn file(&self) -> Option<&Path> {
        self.files.first().map(PathBuf::as_path)
    }

    fn format(&self) -> Format {
        self.format.format.into()
    }

    fn output_options(&self) -> &OutputOptions {
        &self.output
    }

    /// What is wrong with a file is the answer, not a failure to have one.
    fn execute(&self, output: &mut Output) -> Result<Status, Failure> {
        let mut findings = Findings::default();
        for path in &self.files {
            findings.check(path, &self.program.inputs);
        }
        let report = findings.report(&self.files);
        match self.format() {
            Format::Json => json::print(output, self.name(), self.file(), &report),
            _ => {
                output.print(&terminal::render_all(&findings.sources, &findings.diagnostics, output.colour()));
                output.summary(&summary(report.errors, report.warnings));
            }
        }
        Ok(match (findings.invalid, report.errors + report.warnings) {
            (true, _) => Status::Invalid,
            (false, 0) => Status::Clean,
            (false, _) => Status::Findings,
        })
    }
}

impl Findings {
    fn check(&mut self, path: &Path, inputs: &[(String, String)]) {
        let file = match load::read(&mut self.sources, path) {
            Ok(file) => file,
            Err(diagnostic) => {
                self.invalid = true;
                self.diagnostics.push(diagnostic);
                return;
            }
        };
        let Compiled { program, mut diagnostics } = compile(&self.sources, file, inputs);
        match program {
            Some(program) => diagnostics.extend(static_findings(&self.sources, &program)),
            None => self.invalid = true,
        }
        diagnostics::sort(&mut diagnostics);
        self.diagnostics.append(&mut diagnostics);
    }

    fn report(&self, files: &[PathBuf]) -> CheckReport {
        let count = |severity| self.diagnostics.iter().filter(|each| each.severity == severity).count();
        CheckReport {
            files: files.iter().map(|path| name_of(path)).collect(),
            errors: count(Severity::Error),
            warnings: count(Severity::Warning),
            notes: count(Severity::Note),
            diagnostics: self.diagnostics.iter().map(|each| diagnostic_data(&self.sources, each)).collect(),
        }
    }
}

/// What the static analyses say of a program that compiles.
fn static_findings(sources: &SourceMap, program: &Program) -> Vec<Diagnostic> {
    let form = analyse(program);
    let mut found = static_diagnostics(sources, program, form.as_ref());
    found.extend(correlation::check::check(sources, program, form.as_ref()));
    found
}

/// `2 errors, 1 warning`
fn summary(errors: usize, warnings: usize) -> String {
    let words = |count: usize, word: &str| match count {
        0 => None,
        1 => Some(format!("1 {word}")),
        _ => Some(format!("{count} {word}s")),
    };
    let parts: Vec<String> = words(errors, "error").into_iter().chain(words(warnings, "warning")).collect();
    if parts.is_empty() { "nothing found\n".to_owned() } else { parts.join(", ") + "\n" }
}
