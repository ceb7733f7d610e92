//! The pi functions as plain data, with names and positions.
//!
//! **Input**: the [`Form`] and the sources. **Output**: [`PiReport`], the data behind `cssame pi`. A definition is described
//! once, and reads with equal terms share a list: the size of the report is one word for each term of each distinct list.

use super::{Form, Pruned, Reason, Selection, TermSetId};
use cssame_ir::{AccessContext, DefinitionId, DefinitionKind, Program, ReadId, TextId};
use cssame_source::{SourceMap, Span};
use indexmap::{IndexMap, IndexSet};
use rustc_hash::{FxBuildHasher, FxHashMap};
use serde::{Serialize, Serializer};
use std::ops::Deref;
use std::sync::Arc;

/// Data that several places of a report share; it is written out at each of them.
#[derive(Debug)]
pub struct Shared<T: ?Sized>(Arc<T>);

impl<T: ?Sized> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Shared(Arc::clone(&self.0))
    }
}

impl<T> Shared<T> {
    fn new(data: T) -> Shared<T> {
        Shared(Arc::new(data))
    }
}

impl<T> FromIterator<T> for Shared<[T]> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Shared(items.into_iter().collect())
    }
}

impl<T: ?Sized> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Serialize + ?Sized> Serialize for Shared<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.as_ref().serialize(serializer)
    }
}

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
    /// The contexts of the read that see the same: `T1:a@6:24`; none where the place has a single one, or all see the same.
    pub context: Option<String>,
    /// The variable as written.
    pub variable: String,
    /// The threads that run the read, separated by commas.
    pub thread: String,
    /// Line, from 1.
    pub line: u32,
    /// An earlier read of the thread that sees the same version in every execution, in its context.
    pub same_as: Option<String>,
    /// The definitions that it may see: the initial one first, then by place.
    pub terms: Shared<[Shared<TermData>]>,
    /// Definitions that it cannot see, and why.
    pub pruned: Shared<[PrunedData]>,
    /// Its place.
    #[serde(skip)]
    pub span: Span,
}

/// A definition.
#[derive(Clone, Debug, Serialize)]
pub struct TermData {
    /// `a@4:31` or `a@initial`
    pub def: String,
    /// Its context, where the place has several: `T1:a@4:31`.
    pub context: Option<String>,
    /// `a_2`
    pub version: String,
    /// The threads that run it, separated by commas.
    pub thread: String,
    /// Line, from 1.
    pub line: u32,
    /// Whether it is the value before the first write.
    #[serde(skip)]
    pub is_initial: bool,
    /// Its place.
    #[serde(skip)]
    pub span: Span,
}

/// A definition that is no term.
#[derive(Clone, Debug, Serialize)]
pub struct PrunedData {
    /// The definition.
    #[serde(flatten)]
    pub term: Shared<TermData>,
    /// Why.
    pub reason: Reason,
    /// The lock that hides it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lock: Option<Shared<str>>,
}

/// The name of a read: `a@6:24`.
#[must_use]
pub fn read_name(sources: &SourceMap, program: &Program, read: ReadId) -> String {
    let read = &program.reads[read];
    format!("{}@{}", program.texts.get(read.name), sources.place(read.span))
}

/// The name of a definition: `a@4:31`, or `a@initial`.
#[must_use]
pub fn definition_name(sources: &SourceMap, program: &Program, definition: DefinitionId) -> String {
    let of = &program.definitions[definition];
    let name = program.texts.get(of.name);
    match of.kind {
        DefinitionKind::Initial(_) => format!("{name}@initial"),
        DefinitionKind::Write(_) | DefinitionKind::Free(_) => format!("{name}@{}", sources.place(of.span)),
    }
}

/// The name of a read in its context: `T1:a@6:24`, `a@6:24~9:3`; the name of the place where it has no other context.
#[must_use]
pub fn read_in_context(sources: &SourceMap, program: &Program, read: ReadId) -> String {
    context_of_read(sources, program, read).unwrap_or_else(|| read_name(sources, program, read))
}

/// The name of a definition in its context.
#[must_use]
pub fn definition_in_context(sources: &SourceMap, program: &Program, definition: DefinitionId) -> String {
    context_of_definition(sources, program, definition).unwrap_or_else(|| definition_name(sources, program, definition))
}

/// The name of a read in its context, if the place has several.
#[must_use]
pub fn context_of_read(sources: &SourceMap, program: &Program, read: ReadId) -> Option<String> {
    let place = sources.place(program.reads[read].span);
    program.contexts.reads.get(&read).map(|context| context_name(sources, program, context, &place))
}

/// The name of a definition in its context, if the place has several.
#[must_use]
pub fn context_of_definition(sources: &SourceMap, program: &Program, definition: DefinitionId) -> Option<String> {
    let of = &program.definitions[definition];
    let place = match of.kind {
        DefinitionKind::Initial(_) => "initial".to_owned(),
        DefinitionKind::Write(_) | DefinitionKind::Free(_) => sources.place(of.span),
    };
    program.contexts.definitions.get(&definition).map(|context| context_name(sources, program, context, &place))
}

/// The read of a selection in the contexts that are meant: the name of the place where all are.
#[must_use]
pub fn selected_read(sources: &SourceMap, program: &Program, selection: &Selection) -> String {
    if selection.is_write() {
        return String::new();
    }
    selected_contexts(sources, program, selection).0.unwrap_or_else(|| read_name(sources, program, selection.read()))
}

/// The definition of a selection in the contexts that are meant.
#[must_use]
pub fn selected_definition(sources: &SourceMap, program: &Program, selection: &Selection) -> String {
    let context = selected_contexts(sources, program, selection).1;
    context.unwrap_or_else(|| definition_name(sources, program, selection.definition()))
}

/// The contexts of the read and of the definition that a selection means; none where it means all.
#[must_use]
pub fn selected_contexts(
    sources: &SourceMap,
    program: &Program,
    selection: &Selection,
) -> (Option<String>, Option<String>) {
    let place = |read: ReadId| (program.reads[read].span, program.reads[read].symbol);
    let same = |read: &&ReadId| selection.reads.first().is_some_and(|&first| place(**read) == place(first));
    let reads = program.contexts.reads.keys().filter(same).count();
    let named = selection.reads.iter().filter_map(|&read| context_of_read(sources, program, read));
    let read = (selection.reads.len() < reads).then(|| listed(named));
    let place = |one: DefinitionId| (program.definitions[one].span, program.definitions[one].symbol);
    let all = program.contexts.definitions.keys();
    let definitions = all.filter(|&&one| place(one) == place(selection.definition())).count();
    let named = selection.definitions.iter().filter_map(|&one| context_of_definition(sources, program, one));
    (read, (selection.definitions.len() < definitions).then(|| listed(named)))
}

/// Names, sorted, each once, with commas between.
#[must_use]
pub fn listed(names: impl Iterator<Item = String>) -> String {
    let mut names: Vec<String> = names.collect();
    names.sort();
    names.dedup();
    names.join(", ")
}

/// `T1:a.bal@3:5~9:1`: the thread and the calls where they are needed.
fn context_name(sources: &SourceMap, program: &Program, context: &AccessContext, place: &str) -> String {
    let thread = program.texts.get(context.thread);
    let is_told = context.shows_thread && !thread.is_empty();
    let thread = if is_told { format!("{thread}:") } else { String::new() };
    let calls = context.calls.iter().filter(|_| context.shows_calls);
    let calls: String = calls.map(|&call| format!("~{}", sources.place(call))).collect();
    format!("{thread}{}@{place}{calls}", program.texts.get(context.variable))
}

/// The variable of a read, as written.
#[must_use]
pub fn variable_name(program: &Program, read: ReadId) -> &str {
    program.texts.get(program.reads[read].name)
}

/// The variables of what a read may see, in the order of the terms. Of a field each keeps its object: where a method names it
/// bare, the object is that of the other terms if these have one, else that of the read.
#[must_use]
pub fn term_names<'a>(program: &'a Program, read: ReadId, terms: &[DefinitionId]) -> Vec<&'a str> {
    let name = |id: &DefinitionId| program.texts.get(program.definitions[*id].name);
    let has_object = |name: &&str| name.contains('.') && !name.starts_with("this.");
    let objects: IndexSet<&str, FxBuildHasher> = terms.iter().map(name).filter(has_object).collect();
    let object = match objects.len() {
        0 => Some(variable_name(program, read)).filter(has_object),
        1 => objects.first().copied(),
        _ => None,
    };
    terms.iter().map(|id| Some(name(id)).filter(has_object).or(object).unwrap_or(name(id))).collect()
}

/// Reports all reads of shared memory.
#[must_use]
pub fn report(sources: &SourceMap, program: &Program, form: &Form) -> PiReport {
    let mut reads = form.shared_reads();
    reads.sort_by_key(|&read| (program.reads[read].span, read));
    let mut writer = Writer { sources, program, form, definitions: FxHashMap::default(), terms: FxHashMap::default() };
    let pruned = form.pruned_all(program, &reads);
    let lists: Vec<Shared<[PrunedData]>> = pruned.lists.iter().map(|list| writer.pruned(list)).collect();
    let mut result = PiReport { merged: form.concurrency.merged, ..PiReport::default() };
    let lists_of: Vec<(ReadId, usize)> = reads.into_iter().zip(pruned.of_read).collect();
    let place = |&(read, _): &(ReadId, usize)| (program.reads[read].span, program.reads[read].symbol);
    for contexts in lists_of.chunk_by(|a, b| place(a) == place(b)) {
        let groups = writer.groups(contexts);
        let is_only = groups.len() == 1;
        for (reads, list) in groups {
            let report = writer.read(&reads, is_only, lists[list].clone());
            if report.terms.len() > 1 {
                result.pis.push(report);
            } else {
                result.single.push(report);
            }
        }
    }
    result
}

/// Gives names to what a form says.
struct Writer<'a> {
    sources: &'a SourceMap,
    program: &'a Program,
    form: &'a Form,
    definitions: FxHashMap<DefinitionId, Shared<TermData>>,
    /// The lists of terms, by the sets of the contexts of a read and its name.
    terms: FxHashMap<(Vec<(TermSetId, TermSetId)>, TextId), Shared<[Shared<TermData>]>>,
}

impl Writer<'_> {
    /// The contexts of a place in groups that see the same and of which the same was pruned, with the index of what was.
    fn groups(&self, contexts: &[(ReadId, usize)]) -> Vec<(Vec<ReadId>, usize)> {
        let sets = |read| self.form.instances_of(read).map(|of| (of.control, of.concurrent)).collect::<Vec<_>>();
        let mut groups: IndexMap<_, Vec<ReadId>, FxBuildHasher> = IndexMap::default();
        for &(read, list) in contexts {
            groups.entry((sets(read), list)).or_default().push(read);
        }
        groups.into_iter().map(|((_, list), reads)| (reads, list)).collect()
    }

    /// Contexts of a read that see the same; `is_only` says that the place has no others.
    fn read(&mut self, reads: &[ReadId], is_only: bool, pruned: Shared<[PrunedData]>) -> ReadReport {
        let read = reads[0];
        let span = self.program.reads[read].span;
        let names = reads.iter().filter_map(|&read| context_of_read(self.sources, self.program, read));
        let context = if is_only { None } else { Some(listed(names)) };
        let mut threads: Vec<_> = reads.iter().flat_map(|&read| self.form.threads_of_read(read)).collect();
        threads.sort_unstable();
        threads.dedup();
        let same_as = reads.iter().map(|&read| self.form.same_as(read)).collect::<Option<Vec<ReadId>>>();
        let same_as =
            same_as.map(|same| listed(same.into_iter().map(|of| read_in_context(self.sources, self.program, of))));
        ReadReport {
            read: read_name(self.sources, self.program, read),
            context,
            variable: variable_name(self.program, read).to_owned(),
            thread: thread_names(self.form, &threads),
            line: self.sources.line(span),
            same_as,
            terms: self.terms(read),
            pruned,
            span,
        }
    }

    fn terms(&mut self, read: ReadId) -> Shared<[Shared<TermData>]> {
        let sets: Vec<_> = self.form.instances_of(read).map(|of| (of.control, of.concurrent)).collect();
        let key = (sets, self.program.reads[read].name);
        if let Some(known) = self.terms.get(&key) {
            return known.clone();
        }
        let definitions = self.form.terms(read);
        let names = term_names(self.program, read, &definitions);
        let mut terms: Vec<Shared<TermData>> =
            definitions.iter().zip(names).map(|(&definition, name)| self.term_named(definition, name)).collect();
        // Of one place in several contexts, they are in the order of ids: of threads and calls.
        terms.sort_by(|a, b| (!a.is_initial, a.span, &a.def).cmp(&(!b.is_initial, b.span, &b.def)));
        let terms: Shared<[Shared<TermData>]> = terms.into_iter().collect();
        self.terms.insert(key, terms.clone());
        terms
    }

    fn pruned(&mut self, list: &[Pruned]) -> Shared<[PrunedData]> {
        let (program, concurrency) = (self.program, &self.form.concurrency);
        let mut locks = FxHashMap::default();
        let mut lock = |lock| {
            let name = || Shared::<str>(Arc::from(concurrency.location_name(program, lock)));
            locks.entry(lock).or_insert_with(name).clone()
        };
        let mut pruned: Vec<PrunedData> = list
            .iter()
            .map(|pruned| PrunedData {
                term: self.term(pruned.definition),
                reason: pruned.reason,
                lock: pruned.lock.map(&mut lock),
            })
            .collect();
        pruned.sort_by(|a, b| (a.term.span, &a.term.def).cmp(&(b.term.span, &b.term.def)));
        pruned.into_iter().collect()
    }

    /// A definition whose version is that of a variable with this name.
    fn term_named(&mut self, definition: DefinitionId, name: &str) -> Shared<TermData> {
        let term = self.term(definition);
        let of = &self.program.definitions[definition];
        if name == self.program.texts.get(of.name) {
            return term;
        }
        Shared::new(TermData { version: format!("{name}_{}", of.version), ..TermData::clone(&term) })
    }

    /// A definition, described once.
    fn term(&mut self, definition: DefinitionId) -> Shared<TermData> {
        let Writer { sources, program, form, .. } = *self;
        let describe = || Shared::new(term_data(sources, program, form, definition));
        self.definitions.entry(definition).or_insert_with(describe).clone()
    }
}

fn term_data(sources: &SourceMap, program: &Program, form: &Form, definition: DefinitionId) -> TermData {
    let of = &program.definitions[definition];
    let thread = thread_names(form, &form.threads_of_definition(definition));
    TermData {
        def: definition_name(sources, program, definition),
        context: context_of_definition(sources, program, definition),
        version: format!("{}_{}", program.texts.get(of.name), of.version),
        thread: if thread.is_empty() { "main".to_owned() } else { thread },
        line: sources.line(of.span),
        is_initial: matches!(of.kind, DefinitionKind::Initial(_)),
        span: of.span,
    }
}

/// The threads, by their paths; each name once.
fn thread_names(form: &Form, threads: &[cssame_concurrency::ThreadId]) -> String {
    let names: IndexSet<&str, FxBuildHasher> =
        threads.iter().map(|&thread| form.concurrency.threads[thread].path.as_str()).collect();
    names.into_iter().collect::<Vec<&str>>().join(", ")
}
