//! CS0401: reads that a concurrent definition can reach without protection.
//!
//! **Input**: the accesses to shared memory, their classes and the locks held at them. **Output**: one warning for each read in the
//! text that may run in parallel with a definition of its variable where the two hold no lock in common and are not both
//! atomic.
//!
//! **Algorithm**: reads and definitions of a variable are grouped by class, locks and atomicity; each pair of groups is compared
//! once, and the reads of one group share the answer.
//!
//! **Soundness and limits**: such a definition always is a term of the read, since nothing hides it. Not seen: races on local
//! variables of functions that run themselves in threads; the order that variables, conditions and counting semaphores impose.

use super::Subject;
use super::held::Held;
use super::words::count;
use crate::concurrency::lockset::{ATOMIC, LocksetId};
use crate::concurrency::{ClassId, EventKind, ThreadId};
use crate::diagnostics::{Code, Diagnostic};
use crate::ir::{DefinitionId, ReadId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

/// At most that many definitions of a read are shown.
const MAX_PLACES: usize = 3;

/// What decides whether accesses are protected from each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Key {
    class: ClassId,
    lockset: LocksetId,
    atomic: bool,
    element: Option<u32>,
}

/// Definitions of a variable with equal keys.
struct Group {
    key: Key,
    definitions: Vec<(DefinitionId, ThreadId)>,
}

/// Who makes an access, with which locks held.
type Sides = BTreeMap<LocksetId, BTreeSet<ThreadId>>;

/// A read, and the answers (by number) that say what it is not protected from.
#[derive(Default)]
struct Finding {
    sides: Sides,
    answers: BTreeSet<usize>,
}

/// The groups of definitions of a variable that reads of some key are not protected from.
struct Answer {
    variable: u32,
    groups: Vec<usize>,
}

/// Reports unprotected reads.
pub(super) fn check(subject: Subject<'_>, held: &mut Held<'_>, found: &mut Vec<Diagnostic>) {
    let mut races = Races { subject, keys: Vec::new(), groups: Vec::new(), disjoint: Vec::new() };
    races.collect(held);
    let mut findings: BTreeMap<ReadId, Finding> = BTreeMap::new();
    let mut answers: Vec<Answer> = Vec::new();
    let mut known: FxHashMap<(u32, Key), usize> = FxHashMap::default();
    for of in &subject.form.reads {
        let Some(key) = races.keys[of.access as usize] else { continue };
        let variable = subject.form.table.variable_of(of.access);
        let answer = *known.entry((variable, key)).or_insert_with(|| {
            answers.push(Answer { variable, groups: races.unprotected(held, variable, key) });
            answers.len() - 1
        });
        if !answers[answer].groups.is_empty() {
            let finding = findings.entry(of.read).or_default();
            let thread = subject.form.concurrency.thread_of(subject.form.table.block_of(of.access));
            finding.sides.entry(key.lockset).or_default().insert(thread);
            finding.answers.insert(answer);
        }
    }
    let mut summaries: FxHashMap<Vec<usize>, Summary> = FxHashMap::default();
    for (read, finding) in findings {
        let numbers: Vec<usize> = finding.answers.iter().copied().collect();
        let summary = summaries
            .entry(numbers)
            .or_insert_with_key(|numbers| races.summary(numbers.iter().map(|&number| &answers[number])));
        found.push(races.report(held, read, &finding.sides, summary));
    }
}

struct Races<'a> {
    subject: Subject<'a>,
    /// For each access; `None` where control does not come.
    keys: Vec<Option<Key>>,
    /// For each variable.
    groups: Vec<Vec<Group>>,
    /// For each variable, whether no definition is in two of its groups, or twice in one.
    disjoint: Vec<bool>,
}

/// The definitions that are shown, and how many there are.
struct Summary {
    shown: Vec<(DefinitionId, Sides)>,
    total: usize,
}

impl Races<'_> {
    fn collect(&mut self, held: &mut Held<'_>) {
        let form = self.subject.form;
        let table = &form.table;
        self.keys = vec![None; table.accesses.len()];
        self.groups.resize_with(table.variables.len(), Vec::new);
        let mut index: FxHashMap<(u32, Key), usize> = FxHashMap::default();
        held.visit(|_, at| {
            let class = form.concurrency.classes[at.block as usize];
            let update = matches!(at.event.kind, EventKind::Update { .. });
            let atomic = update || at.must.contains(&ATOMIC);
            let (start, end) = table.of_event[at.index as usize];
            for access in start..end {
                let of = table.accesses[access as usize];
                let key = Key { class, lockset: at.lockset, atomic, element: of.element };
                self.keys[access as usize] = Some(key);
                let Some(definition) = of.definition else { continue };
                let variable = table.variable_of(access);
                let groups = &mut self.groups[variable as usize];
                let group = *index.entry((variable, key)).or_insert_with(|| {
                    groups.push(Group { key, definitions: Vec::new() });
                    groups.len() - 1
                });
                groups[group].definitions.push((definition, form.concurrency.thread_of(at.block)));
            }
        });
        self.sort_groups();
    }

    /// Sorts the definitions of each group by place.
    fn sort_groups(&mut self) {
        let definitions = &self.subject.program.definitions;
        for groups in &mut self.groups {
            let mut seen: FxHashSet<DefinitionId> = FxHashSet::default();
            let mut disjoint = true;
            for group in groups {
                group
                    .definitions
                    .sort_by_key(|&(definition, thread)| (definitions[definition].span, definition, thread));
                group.definitions.dedup();
                disjoint &= group.definitions.iter().all(|&(definition, _)| seen.insert(definition));
            }
            self.disjoint.push(disjoint);
        }
    }

    /// The groups of definitions that a read of that key is not protected from.
    fn unprotected(&self, held: &Held<'_>, variable: u32, read: Key) -> Vec<usize> {
        let locks = held.locksets.locks(read.lockset);
        let groups = self.groups[variable as usize].iter().enumerate();
        let unprotected = groups.filter(|(_, group)| {
            let key = group.key;
            let elsewhere = read.element.is_some() && key.element.is_some() && read.element != key.element;
            let common = || held.locksets.locks(key.lockset).iter().any(|lock| locks.contains(lock));
            !elsewhere && !(read.atomic && key.atomic) && self.parallel(variable, read.class, key.class) && !common()
        });
        unprotected.map(|(index, _)| index).collect()
    }

    /// Whether two accesses to one variable may run in parallel. Of the local variables of a function whose threads are
    /// not told apart, nobody knows which accesses mean the same one: nothing is said of them.
    fn parallel(&self, variable: u32, a: ClassId, b: ClassId) -> bool {
        let concurrency = &self.subject.form.concurrency;
        if !concurrency.parallel_classes(a, b) {
            return false;
        }
        let instance = &concurrency.instances[self.subject.form.table.variables[variable as usize].instance];
        let Some(context) = instance.context.filter(|_| !instance.unique) else { return true };
        let owner = concurrency.contexts[context].thread;
        let (a, b) = (concurrency.order.representative(a), concurrency.order.representative(b));
        !concurrency.threads[owner].unordered && concurrency.parallel_in_frame(a, b, Some(owner))
    }

    fn summary<'b>(&self, answers: impl Iterator<Item = &'b Answer>) -> Summary {
        let program = self.subject.program;
        let groups: BTreeSet<(u32, usize)> =
            answers.flat_map(|answer| answer.groups.iter().map(|&group| (answer.variable, group))).collect();
        // Where no definition is in two groups, the first ones of each group are enough.
        let disjoint = groups.iter().all(|&(variable, _)| self.disjoint[variable as usize])
            && groups.first().map(|first| first.0) == groups.last().map(|last| last.0);
        let mut all: BTreeMap<DefinitionId, Sides> = BTreeMap::new();
        let mut total = 0;
        for &(variable, group) in &groups {
            let group = &self.groups[variable as usize][group];
            let wanted = if disjoint { MAX_PLACES } else { usize::MAX };
            for &(definition, thread) in group.definitions.iter().take(wanted) {
                all.entry(definition).or_default().entry(group.key.lockset).or_default().insert(thread);
            }
            total += group.definitions.len();
        }
        let mut shown: Vec<_> = all.into_iter().collect();
        let total = if disjoint { total } else { shown.len() };
        shown.sort_by_key(|(definition, _)| (program.definitions[*definition].span, *definition));
        shown.truncate(MAX_PLACES);
        Summary { shown, total }
    }

    fn report(&self, held: &Held<'_>, read: ReadId, sides: &Sides, summary: &Summary) -> Diagnostic {
        let program = self.subject.program;
        let of = &program.reads[read];
        let name = program.texts.get(of.name);
        let message = format!("`{name}` may be read while another thread writes it");
        let label = format!("read by {}", self.sides(held, sides));
        let mut diagnostic = Diagnostic::warning(Code::UnprotectedRead, of.span, message, label);
        for (definition, sides) in &summary.shown {
            let span = program.definitions[*definition].span;
            diagnostic = diagnostic.with_label(span, format!("written by {}", self.sides(held, sides)));
        }
        if summary.total > summary.shown.len() {
            let more = summary.total - summary.shown.len();
            diagnostic = diagnostic.with_note(format!("{} can reach it as well", count(more, "further write")));
        }
        diagnostic.with_help("hold the same lock at both places, or order them by an event, a barrier or a join")
    }

    /// ``T1, holding `L` ``; several sets of locks one after the other.
    fn sides(&self, held: &Held<'_>, sides: &Sides) -> String {
        let mut parts: Vec<String> = Vec::new();
        for (&lockset, threads) in sides.iter().take(MAX_PLACES) {
            let threads: Vec<ThreadId> = threads.iter().copied().collect();
            let locks = self.subject.holding(held.locksets.locks(lockset));
            parts.push(format!("{}, {locks}", self.subject.threads(&threads)));
        }
        parts.join("; by ")
    }
}
