//! The answer of `check`: all that can be said of files without running them.

use crate::correlation;
use crate::diagnostics::json::{DiagnosticData, diagnostic_data};
use crate::diagnostics::{self, Diagnostic, Severity};
use crate::form;
use crate::front::{Compiled, compile};
use crate::ir::Program;
use crate::source::{FileId, SourceMap};
use serde::Serialize;
use std::io;
use std::panic::resume_unwind;
use std::thread::{self, ScopedJoinHandle};

/// Trees and graphs of the input are walked by recursion in a few places, for which the usual stack may be too small.
pub const STACK_BYTES: usize = 256 << 20;

/// Files to check.
#[derive(Debug, Default)]
pub struct CheckInput {
    /// The text of those that could be read.
    pub sources: SourceMap,
    /// Their names, and their texts, or why there is none.
    pub files: Vec<(String, Result<FileId, Diagnostic>)>,
}

/// What was found in all files.
#[derive(Debug, Serialize)]
pub struct CheckReport {
    /// The files, as they were named.
    pub files: Vec<String>,
    /// How many diagnostics are errors.
    pub errors: usize,
    /// How many are warnings.
    pub warnings: usize,
    /// How many are notes.
    pub notes: usize,
    /// File by file, each file sorted.
    pub diagnostics: Vec<DiagnosticData>,
    /// The same, for other renderers.
    #[serde(skip)]
    pub found: Vec<Diagnostic>,
    /// What they point into.
    #[serde(skip)]
    pub sources: SourceMap,
    /// Whether all files could be read and compile.
    #[serde(skip)]
    pub compiles: bool,
}

/// What was found in a file, sorted, and whether it can be read and compiles.
type FileFindings = (Vec<Diagnostic>, bool);

/// Checks all files, as many at a time as there are jobs. `inputs` are the values of `input` constants, by name.
#[must_use]
pub fn check(input: CheckInput, inputs: &[(String, String)], jobs: usize) -> CheckReport {
    let CheckInput { sources, files } = input;
    let check = |(_, file): &(String, Result<FileId, Diagnostic>)| match file {
        Ok(file) => check_file(&sources, *file, inputs),
        Err(diagnostic) => (vec![diagnostic.clone()], false),
    };
    let found = if jobs > 1 && files.len() > 1 { on_cores(&files, jobs, &check) } else { None };
    let found = found.unwrap_or_else(|| files.iter().map(check).collect());
    let compiles = found.iter().all(|(_, compiles)| *compiles);
    let found: Vec<Diagnostic> = found.into_iter().flat_map(|(diagnostics, _)| diagnostics).collect();
    let count = |severity| found.iter().filter(|each| each.severity == severity).count();
    CheckReport {
        files: files.into_iter().map(|(name, _)| name).collect(),
        errors: count(Severity::Error),
        warnings: count(Severity::Warning),
        notes: count(Severity::Note),
        diagnostics: found.iter().map(|each| diagnostic_data(&sources, each)).collect(),
        found,
        sources,
        compiles,
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

/// What the static analyses say of a program that compiles.
#[must_use]
pub fn static_findings(sources: &SourceMap, program: &Program) -> Vec<Diagnostic> {
    let form = form::analyse(program);
    let mut found = form::check::check(sources, program, form.as_ref());
    found.extend(correlation::check::check(sources, program, form.as_ref()));
    found
}

/// Applies a function to all items, in as many threads as there are jobs; thread k takes each item whose place is k modulo
/// their number. Nothing where no such threads can be made.
fn on_cores<T: Sync, A: Send>(items: &[T], jobs: usize, function: &(impl Fn(&T) -> A + Sync)) -> Option<Vec<A>> {
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
