//! The findings of an answer as a [`Listing`], for the formats of other tools.
//!
//! **Input**: [`Findings`] and the decisions about them ([`Judged`]). **Output**: plain data, in the order in which findings are
//! shown.
//!
//! **Algorithm**: the fingerprint of a finding is a hash of its entry in a baseline (data that moved lines do not change) and of
//! its number among the findings with that entry.

use super::baseline::Entry;
use super::suppress::{By, Finding, Findings, Judged, entry};
use cssame_diagnostics::json::diagnostic_data;
use cssame_diagnostics::listing::{Listed, ListedStep, Listing, Suppression};
use cssame_diagnostics::{Diagnostic, Diagnostics, terminal};
use cssame_front::{Scope, scopes};
use cssame_schedule::{Step, source_hash};
use cssame_source::{FileId, Position, SourceMap};
use indexmap::IndexSet;
use std::collections::BTreeMap;

/// The findings of an answer. `bounds` say why not all was looked at. The exit status is that of no findings.
#[must_use]
pub fn listing(command: &'static str, findings: &Findings<'_>, judged: &Judged, bounds: &[Diagnostic]) -> Listing {
    let mut lister = Lister::default();
    let mut suppressed = judged.suppressed.iter().map(|of| of.by);
    for (finding, severity) in findings.list.iter().zip(&judged.severities) {
        let by = if severity.is_none() { suppressed.next() } else { None };
        let severity = severity.unwrap_or(finding.diagnostic.severity);
        lister.add(finding, Diagnostic { severity, ..finding.diagnostic.clone() }, by);
    }
    for problems in &judged.problems {
        lister.add_all(problems);
    }
    let files: IndexSet<&str> = findings.files.iter().map(|of| of.sources.file(of.file).name()).collect();
    let files = files.into_iter().map(str::to_owned).collect();
    let nowhere = SourceMap::default();
    let bounds = bounds.iter().map(|bound| diagnostic_data(&nowhere, bound)).collect();
    Listing { command, files, findings: lister.listed, bounds, status: 0 }
}

/// Why a command has no answer.
#[must_use]
pub fn listing_of_failure(command: &'static str, file: Option<String>, failure: &Diagnostics) -> Listing {
    let mut lister = Lister::default();
    lister.add_all(failure);
    let named = lister.listed.iter().filter_map(|finding| finding.data.file.clone());
    let files: IndexSet<String> = file.into_iter().chain(named).collect();
    let files = files.into_iter().collect();
    Listing { command, files, findings: lister.listed, bounds: Vec::new(), status: 2 }
}

#[derive(Default)]
struct Lister {
    listed: Vec<Listed>,
    /// By name of the file.
    scopes: BTreeMap<String, Vec<Scope>>,
    /// How many findings have an entry.
    counts: BTreeMap<Entry, usize>,
}

impl Lister {
    fn add_all(&mut self, all: &Diagnostics) {
        for diagnostic in &all.list {
            let finding =
                Finding { diagnostic: diagnostic.clone(), sources: &all.sources, is_fatal: false, steps: &[] };
            self.add(&finding, diagnostic.clone(), None);
        }
    }

    fn add(&mut self, finding: &Finding<'_>, diagnostic: Diagnostic, by: Option<By>) {
        let sources = finding.sources;
        let fingerprint = self.fingerprint(sources, &diagnostic);
        self.listed.push(Listed {
            code: diagnostic.code,
            data: diagnostic_data(sources, &diagnostic),
            text: terminal::render(sources, &diagnostic, terminal::Screen::default()),
            suppressed: by.map(|by| Suppression { in_source: by == By::Comment, by: by.word() }),
            fingerprint,
            steps: finding.steps.iter().filter_map(step).collect(),
        });
    }

    fn fingerprint(&mut self, sources: &SourceMap, diagnostic: &Diagnostic) -> String {
        let file = diagnostic.span().map(|span| span.file);
        let scopes = file.map(|file: FileId| {
            let name = sources.file(file).name().to_owned();
            &*self.scopes.entry(name).or_insert_with(|| scopes(sources, file))
        });
        let name = file.map(|file| sources.file(file).name().to_owned());
        let entry = entry(diagnostic, scopes.map_or(&[], Vec::as_slice), name);
        let Entry { code, file, function, names, message } = &entry;
        let text = format!("{code}\n{file:?}\n{function:?}\n{names:?}\n{message}");
        let number = self.counts.entry(entry).or_default();
        *number += 1;
        format!("{}:{number}", source_hash(&text))
    }
}

fn step(of: &Step) -> Option<ListedStep> {
    let (_, Position { line, column }) = Position::parse(&of.at)?;
    Some(ListedStep { thread: of.thread.clone(), line, column, operation: of.op.clone() })
}
