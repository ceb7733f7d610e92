//! `cssame check FILE…`: every static diagnostic. The default job.

use super::STACK_BYTES;
use super::arguments::Job;
use super::json;
use super::load::{self, name_of};
use super::options::{Format, FormatOption, OutputOptions, ProgramOptions};
use super::output::Output;
use super::status::Status;
use crate::correlation;
use crate::diagnostics::Diagnostics;
use crate::diagnostics::json::{DiagnosticData, diagnostic_data};
use crate::diagnostics::{self, Diagnostic, Severity, terminal};
use crate::form::analyse;
use crate::form::check::check as static_diagnostics;
use crate::front::{Compiled, compile};
use crate::ir::Program;
use crate::source::{FileId, SourceMap};
use clap::Args;
use serde::Serialize;
use std::io;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread::{self, ScopedJoinHandle};

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
    fn execute(&self, output: &mut Output) -> Result<Status, Diagnostics> {
        let findings = Findings::of(&self.files, &self.program.inputs, self.output.jobs());
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

/// What was found in a file, sorted, and whether it can be read and compiles.
type FileFindings = (Vec<Diagnostic>, bool);

impl Findings {
    /// Reads all files, and then checks as many at a time as there are jobs.
    fn of(paths: &[PathBuf], inputs: &[(String, String)], jobs: usize) -> Findings {
        let mut sources = SourceMap::default();
        let files: Vec<Result<FileId, Diagnostic>> = paths.iter().map(|path| load::read(&mut sources, path)).collect();
        let check = |file: &Result<FileId, Diagnostic>| match file {
            Ok(file) => check_file(&sources, *file, inputs),
            Err(diagnostic) => (vec![diagnostic.clone()], false),
        };
        let found = if jobs > 1 && files.len() > 1 { apart(&files, jobs, &check) } else { None };
        let found = found.unwrap_or_else(|| files.iter().map(check).collect());
        let invalid = found.iter().any(|(_, valid)| !valid);
        let diagnostics = found.into_iter().flat_map(|(diagnostics, _)| diagnostics).collect();
        Findings { sources, diagnostics, invalid }
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

fn check_file(sources: &SourceMap, file: FileId, inputs: &[(String, String)]) -> FileFindings {
    let Compiled { program, mut diagnostics } = compile(sources, file, inputs);
    if let Some(program) = &program {
        diagnostics.extend(static_findings(sources, program));
    }
    diagnostics::sort(&mut diagnostics);
    (diagnostics, program.is_some())
}

/// Applies a function to all items, in as many threads as there are jobs; thread k takes each item whose place is k modulo
/// their number. Nothing where no such threads can be made.
fn apart<T: Sync, A: Send>(items: &[T], jobs: usize, function: &(impl Fn(&T) -> A + Sync)) -> Option<Vec<A>> {
    let jobs = jobs.min(items.len());
    let mut pieces = thread::scope(|scope| {
        let threads: io::Result<Vec<_>> = (0..jobs)
            .map(|first| {
                let work = move || items.iter().skip(first).step_by(jobs).map(function).collect::<Vec<A>>().into_iter();
                thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work)
            })
            .collect();
        let join = |thread: ScopedJoinHandle<'_, _>| thread.join().unwrap_or_else(|panic| resume_unwind(panic));
        threads.ok().map(|threads| threads.into_iter().map(join).collect::<Vec<_>>())
    })?;
    (0..items.len()).map(|index| pieces[index % jobs].next()).collect()
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
