//! The answer of `check`: the findings from the text of files alone; on request, also the results of executions for them.

use super::closing::{self, ClosedReport, check_closed};
use super::confirm::{ConfirmRequest, Confirmation, Confirmed, confirm_findings};
use super::confirm_tears::confirm_tears;
use super::declared::Declared;
use super::suppress::Judged;
use cssame_correlation as correlation;
use cssame_diagnostics as diagnostics;
use cssame_diagnostics::json::{DiagnosticData, diagnostic_data};
use cssame_diagnostics::{Code, Diagnostic, Severity};
use cssame_form as form;
use cssame_front::{Compiled, compile, may_allow};
use cssame_ir::Program;
use cssame_source::{FileId, SourceMap};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
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
    /// The files without `main` whose methods and functions were taken to run in parallel.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub closed: Vec<ClosedReport>,
    /// What executions say of those that may go wrong, if that was asked for; in the order of the diagnostics.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirmed: Option<Vec<Confirmation>>,
    /// Whether all executions of all files were looked at for failures, deadlocks and executions without end.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub all_executions: bool,
    /// The diagnostics, for other renderers.
    #[serde(skip)]
    pub found: Vec<Diagnostic>,
    /// What they point into.
    #[serde(skip)]
    pub sources: SourceMap,
    /// Whether all files could be read and compile.
    #[serde(skip)]
    pub compiles: bool,
    /// The diagnostics that keep a file from being compiled, by index.
    #[serde(skip)]
    pub fatal: BTreeSet<usize>,
    /// The files that could be read, with the codes that all of the file was looked through for.
    #[serde(skip)]
    pub examined: Vec<(FileId, Vec<Code>)>,
}

/// What is looked for in a program.
const LOOKED_FOR: [Code; 18] = [
    Code::UnlockWithoutLock,
    Code::LockTakenTwice,
    Code::LockNotReleased,
    Code::EventNeverSet,
    Code::BarrierCountUnmet,
    Code::UnobservableWrite,
    Code::UnreachableCode,
    Code::WaitWithoutLock,
    Code::WaitNeverNotified,
    Code::WaitNotInLoop,
    Code::WaitKeepsLock,
    Code::NotifyWithoutLock,
    Code::AssertionWithoutLock,
    Code::UpdateInTwoSteps,
    Code::NeverJoined,
    Code::UnprotectedAccess,
    Code::LockOrderCycle,
    Code::EndangeredCorrelation,
];

/// What was found in a file.
#[derive(Default)]
struct FileFindings {
    /// Sorted.
    diagnostics: Vec<Diagnostic>,
    /// What was taken to run, where it has no `main`.
    closed: Option<ClosedReport>,
    /// What executions say of some of them.
    confirmed: Vec<Confirmation>,
    /// Whether it can be read and compiles.
    compiles: bool,
    /// What all of it was looked through for.
    looked_for: Vec<Code>,
    /// Whether all its executions were looked at for failures, deadlocks and executions without end.
    all_executions: bool,
}

/// Checks all files, as many at a time as there are jobs. `inputs` are the values of `input` constants, by name. With a
/// request, what may go wrong is held to executions.
#[must_use]
pub fn check(
    input: CheckInput,
    inputs: &[(String, String)],
    jobs: usize,
    confirm: Option<&ConfirmRequest<'_>>,
) -> CheckReport {
    let CheckInput { sources, files } = input;
    let together = jobs > 1 && files.len() > 1;
    // Either several files are looked at at a time, or several cores look at one.
    let confirm = confirm.map(|request| ConfirmRequest {
        budget: if together { request.budget.with_jobs(1) } else { request.budget },
        ..*request
    });
    let check = |(name, file): &(String, Result<FileId, Diagnostic>)| match file {
        Ok(file) => check_file(&sources, (name, *file), inputs, confirm.as_ref()),
        Err(diagnostic) => FileFindings { diagnostics: vec![diagnostic.clone()], ..FileFindings::default() },
    };
    let found = if together { on_cores(&files, jobs, &check) } else { None };
    let found = found.unwrap_or_else(|| files.iter().map(check).collect());
    let compiles = found.iter().all(|file| file.compiles);
    let all_executions = found.iter().all(|file| file.all_executions);
    let confirmed = confirm.is_some().then(|| {
        let mut before = 0;
        let mut all = Vec::new();
        for file in &found {
            let moved = |of: &Confirmation| Confirmation { diagnostic: before + of.diagnostic, ..of.clone() };
            all.extend(file.confirmed.iter().map(moved));
            before += file.diagnostics.len();
        }
        all
    });
    let closed = found.iter().filter_map(|file| file.closed.clone()).collect();
    let examined =
        files.iter().zip(&found).filter_map(|((_, file), of)| Some((*file.as_ref().ok()?, of.looked_for.clone())));
    let examined = examined.collect();
    let is_fatal = |file: &FileFindings, one: &Diagnostic| !file.compiles && one.severity == Severity::Error;
    let fatal = found.iter().flat_map(|file| file.diagnostics.iter().map(move |one| is_fatal(file, one)));
    let fatal = fatal.enumerate().filter_map(|(index, is_fatal)| is_fatal.then_some(index)).collect();
    let found: Vec<Diagnostic> = found.into_iter().flat_map(|file| file.diagnostics).collect();
    let files = files.into_iter().map(|(name, _)| name).collect();
    let (errors, warnings, notes, diagnostics) = (0, 0, 0, Vec::new());
    let report = CheckReport {
        files,
        errors,
        warnings,
        notes,
        diagnostics,
        closed,
        confirmed,
        all_executions,
        found,
        sources,
        compiles,
        fatal,
        examined,
    };
    report.counted()
}

impl CheckReport {
    /// The same for these diagnostics.
    fn counted(mut self) -> CheckReport {
        let count = |severity| self.found.iter().filter(|each| each.severity == severity).count();
        (self.errors, self.warnings, self.notes) =
            (count(Severity::Error), count(Severity::Warning), count(Severity::Note));
        self.diagnostics = self.found.iter().map(|each| diagnostic_data(&self.sources, each)).collect();
        self
    }

    /// The report without what is suppressed, and with what is wrong with comments that suppress.
    #[must_use]
    pub fn judged(mut self, judged: &Judged) -> CheckReport {
        let mut kept: Vec<(Option<usize>, Diagnostic)> = Vec::new();
        for (index, (diagnostic, severity)) in self.found.into_iter().zip(&judged.severities).enumerate() {
            kept.extend(severity.map(|severity| (Some(index), Diagnostic { severity, ..diagnostic })));
        }
        let problems = judged.problems.iter().flat_map(|of| of.list.iter().cloned());
        self.found = Vec::new();
        self.with(with_problems(kept, problems.collect()))
    }

    /// The report without what executions have refuted, and how much that is.
    #[must_use]
    pub fn without_refuted(mut self) -> (CheckReport, usize) {
        let refuted: BTreeSet<usize> = self.with_status("impossible").collect();
        let found = std::mem::take(&mut self.found).into_iter().enumerate();
        let kept = found.filter(|(index, _)| !refuted.contains(index));
        let kept = kept.map(|(index, diagnostic)| (Some(index), diagnostic)).collect();
        (self.with(kept), refuted.len())
    }

    /// The diagnostics of which executions say so: `real`, `impossible` or `open`.
    pub fn with_status<'a>(&'a self, status: &'a str) -> impl Iterator<Item = usize> + 'a {
        let all = self.confirmed.iter().flatten();
        all.filter(move |of| of.status == status).map(|of| of.diagnostic)
    }

    /// The report with these diagnostics: old ones with their index, and new ones.
    fn with(mut self, kept: Vec<(Option<usize>, Diagnostic)>) -> CheckReport {
        let index_of: BTreeMap<usize, usize> =
            kept.iter().enumerate().filter_map(|(index, (old, _))| Some((old.as_ref().copied()?, index))).collect();
        let new_index = |old: usize| index_of.get(&old).copied();
        if let Some(confirmed) = &mut self.confirmed {
            confirmed.retain_mut(|of| match new_index(of.diagnostic) {
                Some(index) => {
                    of.diagnostic = index;
                    true
                }
                None => false,
            });
        }
        self.fatal = self.fatal.iter().filter_map(|&index| new_index(index)).collect();
        self.found = kept.into_iter().map(|(_, diagnostic)| diagnostic).collect();
        self.counted()
    }
}

/// Diagnostics file by file, each sorted by place with those without one last, and problems among them in their places.
fn with_problems(
    found: Vec<(Option<usize>, Diagnostic)>,
    mut problems: Vec<Diagnostic>,
) -> Vec<(Option<usize>, Diagnostic)> {
    problems.sort_by_key(Diagnostic::span);
    let mut problems = problems.into_iter().peekable();
    let mut all = Vec::new();
    let mut file = None;
    for one in found {
        let place = one.1.span();
        file = place.map(|span| span.file).or(file);
        let comes_before = |problem: &Diagnostic| match (place, problem.span()) {
            (Some(place), Some(other)) => other < place,
            (None, Some(other)) => Some(other.file) <= file,
            (_, None) => false,
        };
        while let Some(problem) = problems.next_if(comes_before) {
            all.push((None, problem));
        }
        all.push(one);
    }
    all.extend(problems.map(|problem| (None, problem)));
    all
}

fn check_file(
    sources: &SourceMap,
    (name, file): (&str, FileId),
    inputs: &[(String, String)],
    confirm: Option<&ConfirmRequest<'_>>,
) -> FileFindings {
    let Compiled { program, mut diagnostics } = compile(sources, file, inputs);
    let Some(program) = program else {
        diagnostics::sort(&mut diagnostics);
        return FileFindings { diagnostics, ..FileFindings::default() };
    };
    let looked_for = if program.main.is_some() { LOOKED_FOR.to_vec() } else { closing::CODES.to_vec() };
    let declared = may_allow(sources.file(file).text()).then(|| Declared::new(&program));
    let declare = |one: Diagnostic| match &declared {
        Some(declared) => declared.with_declarations(one),
        None => one,
    };
    let Some(request) = confirm else {
        let (found, closed) = find_statically(sources, file, &program, inputs);
        diagnostics.extend(found.into_iter().map(declare));
        diagnostics::sort(&mut diagnostics);
        return FileFindings { diagnostics, closed, compiles: true, looked_for, ..FileFindings::default() };
    };
    if program.main.is_none() {
        return check_file(sources, (name, file), inputs, None);
    }
    let form = form::analyse(&program);
    let found = form::check::find(sources, &program, form.as_ref());
    let (refuted, plain): (Vec<_>, Vec<_>) =
        found.plain.into_iter().partition(|one| request.hunted.is_some_and(|hunted| hunted.refutes(one)));
    diagnostics.extend(plain.into_iter().map(&declare));
    let endangered = correlation::check::find(sources, &program, form.as_ref());
    let is_run = !found.potential.is_empty() || request.tells_ends;
    let of_file = (sources, file, inputs);
    let confirmed = if is_run { confirm_findings(of_file, found.potential, request) } else { Confirmed::default() };
    let Confirmed { mut judged, ends, is_complete } = confirmed;
    diagnostics.extend(ends.into_iter().map(&declare));
    judged.extend(confirm_tears((sources, file, inputs), endangered, request));
    judged.extend(refuted.into_iter().map(Confirmation::of_refuted));
    let mut judged: Vec<(Diagnostic, Confirmation)> =
        judged.into_iter().map(|(diagnostic, of)| (declare(diagnostic), of)).collect();
    diagnostics.extend(judged.iter().map(|(diagnostic, _)| diagnostic.clone()));
    diagnostics::sort(&mut diagnostics);
    for (diagnostic, confirmation) in &mut judged {
        confirmation.diagnostic = diagnostics.iter().position(|each| each == diagnostic).unwrap_or_default();
    }
    let mut confirmed: Vec<Confirmation> = judged.into_iter().map(|(_, confirmation)| confirmation).collect();
    confirmed.sort_by_key(|confirmation| confirmation.diagnostic);
    FileFindings { diagnostics, closed: None, confirmed, compiles: true, looked_for, all_executions: is_complete }
}

/// What the static analyses say of a file that compiles. Without a `main` they look at its closing as well.
#[must_use]
pub fn static_findings(
    sources: &SourceMap,
    file: FileId,
    program: &Program,
    inputs: &[(String, String)],
) -> Vec<Diagnostic> {
    find_statically(sources, file, program, inputs).0
}

fn find_statically(
    sources: &SourceMap,
    file: FileId,
    program: &Program,
    inputs: &[(String, String)],
) -> (Vec<Diagnostic>, Option<ClosedReport>) {
    let form = form::analyse(program);
    let mut found = form::check::check(sources, program, form.as_ref());
    found.extend(correlation::check::check(sources, program, form.as_ref()));
    let closed = if program.main.is_none() { check_closed(sources, file, inputs) } else { None };
    let (of_closing, report) = closed.unzip();
    found.extend(of_closing.into_iter().flatten());
    (found, report)
}

/// Applies a function to all items, in as many threads as there are jobs; thread k takes each item whose place is k modulo
/// their number. Nothing where no such threads can be made.
pub(super) fn on_cores<T: Sync, A: Send>(
    items: &[T],
    jobs: usize,
    function: &(impl Fn(&T) -> A + Sync),
) -> Option<Vec<A>> {
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
