//! CS0316: threads that are never joined, although the spawning thread reads variables that they write.
//!
//! **Input**: the spawned threads, the joins, and the terms of all reads. **Output**: a note for each spawn of a thread that no
//! join waits for, with the read of its parent that may happen before the thread has written.
//!
//! **Algorithm**
//! 1. A spawned thread is a candidate if no join waits for it, and every join of the program waits for a known thread: a handle
//!    that was passed on may belong to any thread.
//! 2. It is no candidate if it, or a thread that it creates, signals its progress by an event, a semaphore, a notification, a
//!    barrier or a variable that is declared `atomic`: its parent may wait for this signal.
//! 3. A read of its parent that may see one of its writes, in parallel with it, is reported. A read in a loop is not, since it
//!    may repeat until the thread has written.
//!
//! **Soundness and limits**: this is a note, because the program is right if the parent does not care which value it reads. A
//! thread that no thread joins and whose writes its parent does not read may run on: the program ends when all threads have
//! ended.

use super::Subject;
use cssame_concurrency::{EventKind, MAIN_THREAD, Repetition, Thread, ThreadId};
use cssame_diagnostics::{Code, Diagnostic, Severity};
use cssame_ir::sync::{Edge, Kind};
use cssame_ir::{DefinitionKind, ReadId};
use cssame_source::Span;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

/// Reports threads that are never joined.
pub(super) fn check(subject: Subject<'_>, found: &mut Vec<Diagnostic>) {
    let Subject { program, form, .. } = subject;
    let concurrency = &form.concurrency;
    let candidates = candidates(subject);
    if candidates.is_empty() {
        return;
    }
    let mut repetitions = concurrency.repetitions();
    let mut seen: BTreeMap<Span, Diagnostic> = BTreeMap::new();
    for of in &form.reads {
        let block = form.table.block_of(of.access);
        let reader = concurrency.thread_of(block);
        let writer = |access: u32| {
            let writes = form.table.block_of(access);
            let thread = concurrency.thread_of(writes);
            let spawned = ancestors(subject, thread).find(|above| candidates.contains(above))?;
            let is_parent = concurrency.threads[spawned].parent == Some(reader);
            (is_parent && concurrency.parallel(block, writes)).then_some(spawned)
        };
        let concurrent = form.sets[of.concurrent.index()].iter();
        let written = concurrent
            .filter(|&&definition| matches!(program.definitions[definition].kind, DefinitionKind::Write(_)))
            .find_map(|&definition| form.table.events_of_definition(definition).iter().find_map(|&one| writer(one)));
        if let Some(thread) = written.filter(|_| repetitions.of(block) != Repetition::Several) {
            seen.entry(spawn_of(subject, thread)).or_insert_with(|| report(subject, thread, of.read));
        }
    }
    found.extend(seen.into_values());
}

/// Spawned threads that no join waits for, and that tell nobody how far they are.
fn candidates(subject: Subject<'_>) -> FxHashSet<ThreadId> {
    let Subject { program, form, .. } = subject;
    let concurrency = &form.concurrency;
    let joins: FxHashSet<u32> = concurrency.and_joins.iter().map(|join| join.block).collect();
    let mut telling: FxHashSet<ThreadId> = FxHashSet::default();
    for block in 0..concurrency.blocks.len() as u32 {
        for event in concurrency.events_of(block) {
            let tells = match event.kind {
                EventKind::JoinThread if !joins.contains(&block) => return FxHashSet::default(),
                EventKind::Synchronise(Kind::Notify | Kind::NotifyAll) => true,
                EventKind::Synchronise(kind) => matches!(kind.properties().edge, Edge::Source | Edge::Meeting),
                EventKind::Write(_) | EventKind::Update { .. } => {
                    concurrency.locations_of(event).iter().any(|&location| {
                        program.symbols[program.leaves[concurrency.locations[location].leaf].symbol].atomic
                    })
                }
                _ => false,
            };
            if tells {
                telling.extend(ancestors(subject, concurrency.thread_of(block)));
            }
        }
    }
    let joined: FxHashSet<ThreadId> =
        concurrency.and_joins.iter().flat_map(|join| join.threads.iter().copied()).collect();
    let is_alone = |id: &ThreadId| concurrency.threads[*id].spawned && !joined.contains(id) && !telling.contains(id);
    concurrency.threads.ids().filter(is_alone).collect()
}

/// A thread, the one that makes it, and so on.
fn ancestors(subject: Subject<'_>, thread: ThreadId) -> impl Iterator<Item = ThreadId> {
    std::iter::successors(Some(thread), move |&of| subject.form.concurrency.threads[of].parent)
}

/// Where a thread is spawned.
fn spawn_of(subject: Subject<'_>, thread: ThreadId) -> Span {
    let concurrency = &subject.form.concurrency;
    let Thread { fork, root, .. } = concurrency.threads[thread];
    let fork = concurrency.events_of(fork).iter().rfind(|event| event.kind == EventKind::Fork);
    fork.map_or(subject.program.functions[concurrency.contexts[root].function].span, |event| event.span)
}

/// The handle that the spawn keeps: such a thread is named after it, others after their function.
fn handle(subject: Subject<'_>, thread: ThreadId) -> Option<&str> {
    let Subject { program, form, .. } = subject;
    let Thread { root, ref path, .. } = form.concurrency.threads[thread];
    let function = &program.functions[form.concurrency.contexts[root].function];
    let name = path.rsplit('/').next().filter(|name| *name != program.texts.get(function.name))?;
    // The threads of an array are waited for one by one.
    (!name.contains(['[', '@'])).then_some(name)
}

fn report(subject: Subject<'_>, thread: ThreadId, read: ReadId) -> Diagnostic {
    let Subject { program, form, .. } = subject;
    let of = &form.concurrency.threads[thread];
    let parent = of.parent.unwrap_or(MAIN_THREAD);
    let (name, parent) = (&of.path, &form.concurrency.threads[parent].path);
    let read = &program.reads[read];
    let variable = program.texts.get(read.name);
    let message = format!("`{name}` is never joined, and {parent} may read `{variable}` before it is written");
    let label = "this thread may still be running at the time of the read";
    let diagnostic = Diagnostic::warning(Code::NeverJoined, spawn_of(subject, thread), message, label);
    Diagnostic { severity: Severity::Note, ..diagnostic }
        .with_label(read.span, format!("{parent} reads it without waiting"))
        .with_help(match handle(subject, thread) {
            Some(handle) => format!("wait for the thread before the read: `join({handle});`"),
            None => "keep the handle, `thread t = spawn f(…);`, and wait for the thread before the read: `join(t);`"
                .to_owned(),
        })
}
