//! CS0314: assertions that read shared variables without the lock under which they are written.
//!
//! **Input**: the locks that are certainly held at each access ([`super::held`]). **Output**: for each assertion and lock, the
//! variables that its condition reads without it, while other threads write them under it.
//!
//! **Algorithm**
//! 1. The reads of an assertion are those from which its condition is computed through registers ([`super::retest`]).
//! 2. The lock of a variable is one that is held at all writes that may run in parallel with the read.
//! 3. A read of a variable is wrong if it holds none of the locks of the variable.
//!
//! **Soundness and limits**: reads of a condition in a called function are ignored. A single variable that is declared `atomic`
//! may be read without a lock; the values of several such variables may not belong together.

use super::Subject;
use super::held::{At, Held};
use super::retest::Retest;
use super::words::list;
use cssame_concurrency::lockset::{ATOMIC, Hold, excluding};
use cssame_concurrency::{ClassId, EventKind, LocationId, ThreadId};
use cssame_diagnostics::{Code, Diagnostic};
use cssame_ir::{Instruction, Operand, ReadId};
use cssame_source::Span;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// At most that many writes are shown.
const MAX_PLACES: usize = 3;

/// An access of a location.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Site {
    class: ClassId,
    /// What is certainly held.
    locks: Vec<Hold>,
}

/// Where accesses of the same kind are.
#[derive(Clone, Copy)]
struct Example {
    block: u32,
    span: Span,
}

/// What is wrong with an assertion, for one lock.
#[derive(Default)]
struct Finding {
    variables: BTreeSet<LocationId>,
    threads: Vec<ThreadId>,
    writes: BTreeMap<Span, Vec<ThreadId>>,
}

/// Reports assertions whose reads lack a lock.
pub(super) fn check<'a>(subject: Subject<'a>, held: &mut Held<'a>, retest: &Retest<'a>, found: &mut Vec<Diagnostic>) {
    let mut asserted =
        Asserted { subject, of_read: reads(subject, retest), reads: BTreeMap::new(), writes: FxHashMap::default() };
    if asserted.of_read.is_empty() {
        return;
    }
    held.visit(|_, at| asserted.visit(at));
    for ((span, lock), finding) in asserted.findings() {
        found.extend(asserted.report(span, lock, &finding));
    }
}

/// For each read that an assertion looks at, the assertions.
fn reads(subject: Subject<'_>, retest: &Retest<'_>) -> FxHashMap<ReadId, Vec<Span>> {
    let mut of_read: FxHashMap<ReadId, Vec<Span>> = FxHashMap::default();
    for function in subject.program.functions.iter() {
        for (id, block) in function.blocks.entries() {
            for (instruction, &span) in block.instructions.iter().zip(&block.spans) {
                if let Instruction::Assert { condition: Operand::Register(register), .. } = *instruction {
                    for read in retest.shared_reads(function, id, register) {
                        of_read.entry(read).or_default().push(span);
                    }
                }
            }
        }
    }
    of_read
}

struct Asserted<'a> {
    subject: Subject<'a>,
    of_read: FxHashMap<ReadId, Vec<Span>>,
    /// The reads of each assertion.
    reads: BTreeMap<(Span, LocationId, Site), u32>,
    writes: FxHashMap<LocationId, BTreeMap<Site, Example>>,
}

impl Asserted<'_> {
    fn visit(&mut self, at: &At<'_>) {
        let concurrency = &self.subject.form.concurrency;
        let site = || Site { class: concurrency.classes[at.block as usize], locks: at.must.to_vec() };
        match at.event.kind {
            EventKind::Read(read) => {
                let (Some(spans), [location]) = (self.of_read.get(&read), concurrency.locations_of(at.event)) else {
                    return;
                };
                for &span in spans {
                    self.reads.entry((span, *location, site())).or_insert(at.block);
                }
            }
            EventKind::Write(definition) | EventKind::Update { definition, .. }
                if concurrency.sharing.definition(definition)
                    && !self.subject.program.definitions[definition].is_free() =>
            {
                for &location in concurrency.locations_of(at.event) {
                    let example = Example { block: at.block, span: at.event.span };
                    self.writes.entry(location).or_default().entry(site()).or_insert(example);
                }
            }
            _ => {}
        }
    }

    fn findings(&self) -> BTreeMap<(Span, LocationId), Finding> {
        let concurrency = &self.subject.form.concurrency;
        let mut findings: BTreeMap<(Span, LocationId), Finding> = BTreeMap::new();
        for (&(span, location, ref read), &block) in &self.reads {
            let writes = self.writes.get(&location).into_iter().flatten();
            let writes: Vec<_> = writes.filter(|(_, write)| concurrency.parallel(block, write.block)).collect();
            let Some((first, rest)) = writes.split_first() else { continue };
            let common = |hold: &Hold| rest.iter().all(|(site, _)| site.locks.contains(hold));
            let guards: Vec<Hold> = first.0.locks.iter().copied().filter(common).collect();
            if excluding(&guards, &read.locks).next().is_some() {
                continue;
            }
            let Some(lock) = guards.iter().map(|hold| hold.lock).find(|&lock| lock != ATOMIC) else { continue };
            let finding = findings.entry((span, lock)).or_default();
            finding.variables.insert(location);
            finding.threads.push(concurrency.thread_of(block));
            for (_, write) in writes {
                finding.writes.entry(write.span).or_default().push(concurrency.thread_of(write.block));
            }
        }
        findings
    }

    fn is_atomic(&self, location: LocationId) -> bool {
        let leaf = &self.subject.program.leaves[self.subject.form.concurrency.locations[location].leaf];
        self.subject.program.symbols[leaf.symbol].atomic
    }

    fn report(&self, span: Span, lock: LocationId, finding: &Finding) -> Option<Diagnostic> {
        let names: BTreeSet<String> = finding.variables.iter().map(|&location| self.subject.object(location)).collect();
        if names.len() == 1 && finding.variables.iter().all(|&location| self.is_atomic(location)) {
            return None;
        }
        let lock = self.subject.object(lock);
        let (names, are) =
            (list(&names.iter().cloned().collect::<Vec<_>>()), if names.len() == 1 { "it is" } else { "they are" });
        let message = format!("this assertion reads {names} without {lock}, under which {are} written");
        let label = format!("checked by {}, which does not hold {lock}", self.subject.threads(&finding.threads));
        let mut diagnostic = Diagnostic::warning(Code::AssertionWithoutLock, span, message, label);
        for (&place, threads) in finding.writes.iter().take(MAX_PLACES) {
            diagnostic =
                diagnostic.with_label(place, format!("written by {}, holding {lock}", self.subject.threads(threads)));
        }
        Some(diagnostic.with_help(format!(
            "hold {lock} at the assertion, or copy the values to local variables under {lock}: another thread may be \
             in the middle of a change"
        )))
    }
}
