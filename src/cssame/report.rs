//! The pi functions as plain data, with names and positions.
//!
//! In: the [`Form`] and the sources. Out: [`PiReport`], the data behind `cssame pi`.

use super::{Form, Pruned};
use crate::ir::{DefinitionId, DefinitionKind, Program, ReadId};
use crate::source::{SourceMap, Span};
use serde::Serialize;

/// All pi functions of a program.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PiReport {
    /// Reads with more than one reaching definition, by place.
    pub pis: Vec<ReadReport>,
    /// Reads of shared memory with a single reaching definition, by place.
    pub single: Vec<ReadReport>,
    /// Whether calling contexts were merged because unfolding them would have grown too large.
    pub merged: bool,
}

/// What a read may see.
#[derive(Clone, Debug, Serialize)]
pub struct ReadReport {
    /// `a@6:24`
    pub read: String,
    /// The variable as written.
    pub variable: String,
    /// The threads that run the read, separated by commas.
    pub thread: String,
    /// Line, from 1.
    pub line: u32,
    /// The definitions that it may see: the initial one first, then by place.
    pub terms: Vec<TermData>,
    /// Definitions that it cannot see, and why.
    pub pruned: Vec<PrunedData>,
    /// Its place.
    #[serde(skip)]
    pub span: Span,
}

/// A definition.
#[derive(Clone, Debug, Serialize)]
pub struct TermData {
    /// `a@4:31` or `a@initial`
    pub def: String,
    /// `a_2`
    pub version: String,
    /// The threads that run it, separated by commas.
    pub thread: String,
    /// Line, from 1.
    pub line: u32,
    /// Its place.
    #[serde(skip)]
    pub span: Span,
}

/// A definition that is no term.
#[derive(Clone, Debug, Serialize)]
pub struct PrunedData {
    /// The definition.
    #[serde(flatten)]
    pub term: TermData,
    /// Why.
    pub reason: &'static str,
    /// The lock that hides it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lock: Option<String>,
}

/// The name of a read: `a@6:24`.
#[must_use]
pub fn read_name(sources: &SourceMap, program: &Program, read: ReadId) -> String {
    let read = &program.reads[read];
    format!("{}@{}", program.texts.get(read.name), sources.position(read.span))
}

/// The name of a definition: `a@4:31`, or `a@initial`.
#[must_use]
pub fn definition_name(sources: &SourceMap, program: &Program, definition: DefinitionId) -> String {
    let of = &program.definitions[definition];
    let name = program.texts.get(of.name);
    match of.kind {
        DefinitionKind::Initial(_) => format!("{name}@initial"),
        DefinitionKind::Write(_) => format!("{name}@{}", sources.position(of.span)),
    }
}

/// The variable of a read, as written.
#[must_use]
pub fn variable_name(program: &Program, read: ReadId) -> &str {
    program.texts.get(program.reads[read].name)
}

/// Reports all reads of shared memory.
#[must_use]
pub fn report(sources: &SourceMap, program: &Program, form: &Form) -> PiReport {
    let mut reads = form.shared_reads();
    reads.sort_by_key(|&read| (program.reads[read].span, read));
    let pruned = form.pruned_all(program, &reads);
    let mut result = PiReport { merged: form.concurrency.merged, ..PiReport::default() };
    for (&read, pruned) in reads.iter().zip(pruned) {
        let report = read_report(sources, program, form, read, &pruned);
        if report.terms.len() > 1 {
            result.pis.push(report);
        } else {
            result.single.push(report);
        }
    }
    result
}

fn read_report(sources: &SourceMap, program: &Program, form: &Form, read: ReadId, pruned: &[Pruned]) -> ReadReport {
    let span = program.reads[read].span;
    let terms = form.terms(read).into_iter().map(|definition| term_data(sources, program, form, definition));
    let mut terms: Vec<(bool, TermData)> = terms.map(|term| (!term.def.ends_with("@initial"), term)).collect();
    terms.sort_by(|a, b| (a.0, a.1.span, &a.1.def).cmp(&(b.0, b.1.span, &b.1.def)));
    let mut pruned: Vec<PrunedData> = pruned
        .iter()
        .map(|pruned| PrunedData {
            term: term_data(sources, program, form, pruned.definition),
            reason: pruned.reason.word(),
            lock: pruned.lock.map(|leaf| program.texts.get(program.leaves[leaf].name).to_owned()),
        })
        .collect();
    pruned.sort_by(|a, b| (a.term.span, &a.term.def).cmp(&(b.term.span, &b.term.def)));
    ReadReport {
        read: read_name(sources, program, read),
        variable: variable_name(program, read).to_owned(),
        thread: thread_names(form, &form.threads_of_read(read)),
        line: sources.line(span),
        terms: terms.into_iter().map(|(_, term)| term).collect(),
        pruned,
        span,
    }
}

fn term_data(sources: &SourceMap, program: &Program, form: &Form, definition: DefinitionId) -> TermData {
    let of = &program.definitions[definition];
    let thread = thread_names(form, &form.threads_of_definition(definition));
    TermData {
        def: definition_name(sources, program, definition),
        version: format!("{}_{}", program.texts.get(of.name), of.version),
        thread: if thread.is_empty() { "main".to_owned() } else { thread },
        line: sources.line(of.span),
        span: of.span,
    }
}

fn thread_names(form: &Form, threads: &[crate::concurrency::ThreadId]) -> String {
    let names: Vec<&str> = threads.iter().map(|&thread| form.concurrency.threads[thread].path.as_str()).collect();
    names.join(", ")
}
