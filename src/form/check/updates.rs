//! CS0315: variables declared `atomic` that are read and written in two steps where one is intended.
//!
//! **Input**: the locks that are certainly held at each access ([`super::held`]). **Output**: a note for each write of such a
//! variable whose value is computed from a read of the same variable (`x++`, `x += e`, `x = x + y`), if another write may come
//! between.
//!
//! **Algorithm**
//! 1. The reads of a write are those from which its value is computed through registers ([`super::retest`]).
//! 2. Another write may come between if it may run in parallel with the write, and none of its locks is held both at the read and
//!    at the write. No write comes into an atomic block.
//!
//! **Soundness and limits**: a value that flows through a variable in memory (`int a = x; x = a + 1;`) or a call is not followed;
//! a lock that is released and acquired again in between counts as kept. This is a note, because a write in between may be
//! harmless, and something other than a lock may exclude it (a ticket that only one thread has).

use super::Subject;
use super::held::{At, Held};
use super::retest::Retest;
use cssame_concurrency::lockset::{ATOMIC, Hold, excluding, holds_lock};
use cssame_concurrency::{EventKind, LocationId};
use cssame_diagnostics::{Code, Diagnostic, Severity};
use cssame_ir::{DefinitionId, Instruction, Operand, ReadId};
use cssame_source::Span;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// A write of an atomic variable.
struct Site {
    block: u32,
    span: Span,
    locks: Vec<Hold>,
    /// The reads that it follows from, of the same variable.
    reads: Vec<ReadId>,
}

/// What is looked at.
struct Updates<'a> {
    subject: Subject<'a>,
    /// For each write, the reads that its value follows from.
    of_definition: FxHashMap<DefinitionId, Vec<ReadId>>,
    writes: BTreeMap<LocationId, Vec<Site>>,
    /// What is held at all evaluations of a read.
    held_at: FxHashMap<(ReadId, LocationId), Vec<Hold>>,
}

/// Reports updates of atomic variables in two steps.
pub(super) fn check<'a>(subject: Subject<'a>, held: &mut Held<'a>, retest: &Retest<'a>, found: &mut Vec<Diagnostic>) {
    let of_definition = updates(subject, retest);
    if of_definition.is_empty() {
        return;
    }
    let mut updates = Updates { subject, of_definition, writes: BTreeMap::new(), held_at: FxHashMap::default() };
    held.visit(|_, at| updates.visit(at));
    found.extend(updates.findings().into_values());
}

/// For each write, the reads that its value follows from; nothing where no variable is atomic.
fn updates(subject: Subject<'_>, retest: &Retest<'_>) -> FxHashMap<DefinitionId, Vec<ReadId>> {
    let program = subject.program;
    let mut of_definition = FxHashMap::default();
    if !program.symbols.iter().any(|symbol| symbol.atomic) {
        return of_definition;
    }
    for function in program.functions.iter() {
        for (id, block) in function.blocks.entries() {
            for instruction in &block.instructions {
                if let Instruction::Store { value: Operand::Register(register), definition, .. } = instruction {
                    let reads = retest.shared_reads(function, id, *register);
                    if !reads.is_empty() {
                        of_definition.insert(*definition, reads);
                    }
                }
            }
        }
    }
    of_definition
}

impl Updates<'_> {
    fn visit(&mut self, at: &At<'_>) {
        let concurrency = &self.subject.form.concurrency;
        match at.event.kind {
            EventKind::Read(read) => {
                for &location in concurrency.locations_of(at.event) {
                    let held = self.held_at.entry((read, location)).or_insert_with(|| at.must.to_vec());
                    held.retain(|hold| at.must.contains(hold));
                }
            }
            EventKind::Write(definition) | EventKind::Update { definition, .. }
                if concurrency.sharing.definition(definition) =>
            {
                let reads = self.of_definition.get(&definition).cloned().unwrap_or_default();
                for &location in concurrency.locations_of(at.event) {
                    let (locks, reads) = (at.must.to_vec(), reads.clone());
                    let site = Site { block: at.block, span: at.event.span, locks, reads };
                    self.writes.entry(location).or_default().push(site);
                }
            }
            _ => {}
        }
    }

    /// By place, so that each is reported once.
    fn findings(&self) -> BTreeMap<Span, Diagnostic> {
        let concurrency = &self.subject.form.concurrency;
        let mut findings = BTreeMap::new();
        let Subject { program, .. } = self.subject;
        let is_atomic = |location: &LocationId| {
            program.symbols[program.leaves[concurrency.locations[*location].leaf].symbol].atomic
        };
        for (&location, writes) in self.writes.iter().filter(|(location, _)| is_atomic(location)) {
            for update in writes.iter().filter(|site| !site.reads.is_empty()) {
                let held = update.reads.iter().find_map(|&read| self.held_at.get(&(read, location)));
                let Some(at_read) = held else { continue };
                let kept: Vec<Hold> = update.locks.iter().copied().filter(|hold| at_read.contains(hold)).collect();
                if holds_lock(&kept, ATOMIC) {
                    continue;
                }
                let comes_between = |other: &&Site| {
                    concurrency.parallel(update.block, other.block) && excluding(&kept, &other.locks).next().is_none()
                };
                if let Some(other) = writes.iter().find(comes_between) {
                    findings.entry(update.span).or_insert_with(|| self.report(location, update, other));
                }
            }
        }
        findings
    }

    fn report(&self, location: LocationId, update: &Site, other: &Site) -> Diagnostic {
        let concurrency = &self.subject.form.concurrency;
        let name = self.subject.object(location);
        let thread = |site: &Site| self.subject.threads(&[concurrency.thread_of(site.block)]);
        let message = format!("{name} is read and written in two steps, and another write may come in between");
        let label = format!("{} writes a value that it computes from an old one", thread(update));
        let diagnostic = Diagnostic {
            severity: Severity::Note,
            ..Diagnostic::warning(Code::UpdateInTwoSteps, update.span, message, label)
        };
        let diagnostic = match other.span == update.span {
            true => diagnostic.with_note(format!("{} does so at the same time", thread(other))),
            false => diagnostic.with_label(other.span, format!("{} may write in between", thread(other))),
        };
        diagnostic.with_help(
            "`atomic` makes each access one step, not the whole statement: use one operation such as `fetch_add`, or \
             hold a lock at all such statements",
        )
    }
}
