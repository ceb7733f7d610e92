//! CS0306: writes of shared variables that no read can observe (dead stores).
//!
//! **Input**: the terms of all reads. **Output**: the definitions that are a term of no read, although their variable is read
//! somewhere, and that another write always replaces. A value that remains at the end of the program, or of a thread that no join
//! waits for, may be its result and is not reported.

use super::Subject;
use super::held::Held;
use crate::exposure::Exposure;
use cssame_concurrency::LocationId;
use cssame_concurrency::lockset::{ATOMIC, Hold, holds_lock};
use cssame_diagnostics::{Code, Diagnostic, Severity};
use cssame_ir::{DefinitionId, DefinitionKind};
use cssame_source::Span;
use cssame_ssa::AccessKind;
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashSet;

/// A walk visits at most that many blocks; one that would be longer says nothing.
const MAX_BLOCKS: usize = 1024;
/// At most that many replacing writes are shown.
const MAX_PLACES: usize = 3;

/// Reports writes that no one can observe.
pub(super) fn check(subject: Subject<'_>, held: &mut Held<'_>, found: &mut Vec<Diagnostic>) {
    let Subject { program, form, .. } = subject;
    let mut seen = FixedBitSet::with_capacity(program.definitions.len());
    form.sets.iter().flatten().for_each(|definition| seen.insert(definition.index()));
    let mut read = FixedBitSet::with_capacity(form.table.variables.len());
    for of in &form.reads {
        read.insert(form.table.variable_of(of.access) as usize);
    }
    let mut candidates = FixedBitSet::with_capacity(program.definitions.len());
    for (access, of) in form.table.accesses.iter().enumerate() {
        if let Some(definition) = of.definition {
            let written = matches!(program.definitions[definition].kind, DefinitionKind::Write(_));
            let unseen = written && !seen.contains(definition.index());
            if unseen && read.contains(form.table.variable_of(access as u32) as usize) {
                candidates.insert(definition.index());
            }
        }
    }
    if candidates.is_clear() {
        return;
    }
    let mut locks: Vec<(u32, Vec<Hold>)> = Vec::new();
    held.visit(|_, at| {
        if !at.must.is_empty() && form.table.of_event[at.index as usize].0 < form.table.of_event[at.index as usize].1 {
            locks.push((at.index, at.must.to_vec()));
        }
    });
    locks.sort_unstable();
    let checker = Checker { subject, locks };
    found.extend(candidates.ones().filter_map(|definition| checker.report(DefinitionId::new(definition))));
}

struct Checker<'a> {
    subject: Subject<'a>,
    /// For each access under locks, by event, the locks.
    locks: Vec<(u32, Vec<Hold>)>,
}

impl Checker<'_> {
    fn report(&self, definition: DefinitionId) -> Option<Diagnostic> {
        let Subject { program, form, .. } = self.subject;
        let accesses = form.table.events_of_definition(definition);
        let live: Vec<u32> = accesses
            .iter()
            .copied()
            .filter(|&access| form.locksets.at_entry(form.table.block_of(access)).is_some())
            .collect();
        let mut replaced = Vec::new();
        for &access in &live {
            replaced.extend(self.replacing(access)?);
        }
        replaced.sort_unstable();
        replaced.dedup();
        let of = &program.definitions[definition];
        replaced.retain(|&span| span != of.span);
        if live.is_empty() || replaced.is_empty() {
            return None;
        }
        let name = program.texts.get(of.name);
        let message = format!("no read can see this value of `{name}`");
        let before = self.hiding(&live).map_or_else(String::new, |lock| {
            if lock == ATOMIC {
                ", in the same atomic block".to_owned()
            } else {
                format!(", before {} is released", self.subject.object(lock))
            }
        });
        let mut diagnostic = Diagnostic::warning(Code::UnobservableWrite, of.span, message, "written here");
        // No execution shows whether the write was meant: the program may be right.
        diagnostic.severity = Severity::Note;
        for span in replaced.into_iter().take(MAX_PLACES) {
            diagnostic = diagnostic.with_label(span, format!("replaced here{before}"));
        }
        Some(diagnostic.with_help(
            "remove the write; or, if other threads should see the value, release the lock between the two writes",
        ))
    }

    /// The lock in whose body all of the accesses are replaced.
    fn hiding(&self, accesses: &[u32]) -> Option<LocationId> {
        let form = self.subject.form;
        let exposure = Exposure { concurrency: &form.concurrency, locksets: &form.locksets, table: &form.table };
        let locks = |access: u32| {
            let event = form.table.accesses[access as usize].event;
            let position = self.locks.binary_search_by_key(&event, |(event, _)| *event);
            position.map_or(&[][..], |position| self.locks[position].1.as_slice())
        };
        let hides = |lock: LocationId| {
            accesses.iter().all(|&access| holds_lock(locks(access), lock) && !exposure.reaches_release(access, lock))
        };
        accesses.first().and_then(|&first| locks(first).iter().map(|hold| hold.lock).find(|&lock| hides(lock)))
    }

    /// The writes that replace what an access wrote; `None` where it may be left in the end.
    fn replacing(&self, access: u32) -> Option<Vec<Span>> {
        let form = self.subject.form;
        let (concurrency, table) = (&form.concurrency, &form.table);
        let of = table.accesses[access as usize];
        let variable = table.variable_of(access);
        let mut replacing = Vec::new();
        let mut scan = |start: usize, end: usize| {
            let killer = (start..end).find(|&event| {
                let (first, last) = table.of_event[event];
                let mut accesses = table.ssa.all()[first as usize..last as usize].iter();
                accesses.any(|access| access.variable == variable && access.kind == AccessKind::Definition)
            });
            replacing.extend(killer.map(|event| concurrency.events[event].span));
            killer.is_some()
        };
        let end_of = |block: u32| concurrency.first_event(block) + concurrency.events_of(block).len();
        if scan(of.event as usize + 1, end_of(of.block)) {
            return Some(replacing);
        }
        let mut seen = FxHashSet::default();
        let mut waiting = vec![of.block];
        while let Some(block) = waiting.pop() {
            if concurrency.flow.successors(block).is_empty() || seen.len() > MAX_BLOCKS {
                return None;
            }
            for &next in concurrency.flow.successors(block) {
                if seen.insert(next) && !scan(concurrency.first_event(next), end_of(next)) {
                    waiting.push(next);
                }
            }
        }
        Some(replacing)
    }
}
