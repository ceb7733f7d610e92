//! Collects findings one by one.
//!
//! **Input**: diagnostics of a program. **Output**: [`Findings`], each with the declarations that it is about, if a comment of
//! the program may refer to them.

use super::declared::Declared;
use super::endless::EndlessFindings;
use super::finding;
use super::suppress::{Examined, Finding, Findings};
use super::symmetric::group_symmetric;
use cssame_diagnostics::{Code, Diagnostic, Label, Severity};
use cssame_explore::report::DeadlockReport;
use cssame_front::may_allow;
use cssame_model::{Model, Unit};
use cssame_paths::report::PathsReport;
use cssame_schedule::Step;
use cssame_source::{FileId, Position, SourceFile, SourceMap, Span};

/// Findings of one program, that are made one by one.
pub(super) struct Collector<'a> {
    sources: &'a SourceMap,
    /// Only where a comment may ask for declarations.
    declared: Option<Declared<'a>>,
    pub(super) findings: Findings<'a>,
}

impl<'a> Collector<'a> {
    pub(super) fn of_unit(unit: &'a Unit) -> Collector<'a> {
        let declared = may_allow(unit.text()).then(|| Declared::new(&unit.program));
        let examined = Examined { sources: &unit.sources, file: unit.file, looked_for: Vec::new() };
        let findings = Findings { files: vec![examined], list: Vec::new() };
        Collector { sources: &unit.sources, declared, findings }
    }

    pub(super) fn of_model(model: &'a Model) -> Collector<'a> {
        Collector::of_unit(model.unit())
    }

    pub(super) fn of_file(sources: &'a SourceMap, file: FileId) -> Collector<'a> {
        let examined = Examined { sources, file, looked_for: Vec::new() };
        Collector { sources, declared: None, findings: Findings { files: vec![examined], list: Vec::new() } }
    }

    pub(super) fn add(&mut self, diagnostic: Diagnostic) {
        self.add_of(self.sources, diagnostic, &[]);
    }

    /// Adds a finding that an execution shows.
    pub(super) fn add_shown(&mut self, diagnostic: Diagnostic, steps: &'a [Step]) {
        self.add_of(self.sources, diagnostic, steps);
    }

    /// Adds a finding of a program that closes the file.
    pub(super) fn add_of(&mut self, sources: &'a SourceMap, diagnostic: Diagnostic, steps: &'a [Step]) {
        let diagnostic = match &self.declared {
            Some(declared) => declared.with_declarations(diagnostic),
            None => diagnostic,
        };
        self.findings.list.push(Finding { diagnostic, sources, is_fatal: false, steps });
    }

    /// Adds deadlocks; those that differ in the names of threads alone are one finding.
    pub(super) fn add_deadlocks(&mut self, all: &[(&'a SourceMap, &'a DeadlockReport)]) {
        for members in group_symmetric(all.iter().map(|(_, of)| &of.threads[..])) {
            let [first, others @ ..] = members.as_slice() else { continue };
            let others: Vec<_> = others.iter().map(|&other| &all[other].1.threads[..]).collect();
            let (sources, of) = all[*first];
            let found = finding::with_symmetric(finding::deadlock(sources, &of.threads), &others);
            self.add_of(sources, found, &of.schedule);
        }
    }

    /// Adds what tests of `paths` show: of the program itself, or of one that closes it.
    pub(super) fn add_paths(&mut self, report: &'a PathsReport, model: &'a Model) {
        let sources = model.sources();
        for race in report.races.iter().filter(|race| race.is_finding()) {
            self.add_of(sources, finding::unprotected(race), &[]);
        }
        for met in &report.failures {
            let found = finding::failure(&model.naming(), &met.data, &met.failure.thread, &met.failure.facts);
            self.add_of(sources, found, &met.failure.schedule);
        }
        let deadlocks: Vec<_> = report.deadlocks.iter().map(|met| (sources, &met.deadlock)).collect();
        self.add_deadlocks(&deadlocks);
    }

    /// Adds executions without end, and notes that there are no others where all were looked for.
    pub(super) fn add_endless(&mut self, found: &'a EndlessFindings, sources: &'a SourceMap) {
        for report in &found.endless {
            self.add_of(sources, finding::endless(sources, report), &report.cycle.schedule);
        }
        self.has_looked_for(&found.looked_for());
    }

    pub(super) fn has_looked_for(&mut self, codes: &[Code]) {
        self.findings.files.iter_mut().for_each(|file| file.looked_for.extend(codes));
    }
}

/// A finding that no view has a diagnostic for.
pub(super) fn plain(code: Code, place: Option<Span>, message: String) -> Diagnostic {
    let primary = place.map(|span| Label { span, message: String::new() });
    Diagnostic { primary, ..Diagnostic::general(code, Severity::Error, message) }
}

/// The place of `LINE:COL`, or of `FILE:LINE:COL` in one that stands beside the file.
pub(super) fn place(sources: &SourceMap, file: FileId, at: &str) -> Option<Span> {
    let (beside, position) = Position::parse(at)?;
    let named = |(id, other): (FileId, &SourceFile)| (other.beside() == beside).then_some(id);
    let file = if beside.is_some() { sources.files().find_map(named)? } else { file };
    let offset = sources.file(file).offset(position)? as usize;
    Some(Span::new(file, offset, offset))
}

/// The findings of `paths` in a program, for a table.
#[must_use]
pub(super) fn of_paths(report: &PathsReport, model: &Model) -> Vec<Diagnostic> {
    let mut collector = Collector::of_model(model);
    collector.add_paths(report, model);
    collector.findings.list.into_iter().map(|finding| finding.diagnostic).collect()
}
