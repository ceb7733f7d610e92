//! CS0301, CS0302, CS0303 and CS0309: locks that are released, acquired or waited with at a wrong time.
//!
//! **Input**: the locks that are certainly and possibly held before each operation, and at the end of each thread and function
//! ([`super::held`]). **Output**: one diagnostic for each operation in the text and each lock to which it may refer.
//!
//! **Algorithm**
//! 1. An `unlock` or a `wait` on a condition requires that its lock is held; a `lock` requires that it is free. Both are judged
//!    in every context: certainly wrong, possibly wrong, or right.
//! 2. The contexts of one operation are united: if only some contexts show the problem, the message names the threads.
//! 3. Errors that only follow from another error of the same thread (a release after a self-deadlock) are dropped.
//!
//! **Soundness and limits**: operations that may refer to several locks are skipped.

use super::Subject;
use super::held::{At, Held};
use super::retest::Retest;
use cssame_concurrency::lockset::{hold_of, holds_lock};
use cssame_concurrency::{Event, LocationId, ThreadId};
use cssame_diagnostics::{Code, Diagnostic};
use cssame_ir::LeafKind;
use cssame_ir::sync::ObjectKind;
use cssame_source::Span;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, VecDeque};

/// At most that many other places are shown.
const MAX_PLACES: usize = 3;
/// A walk back visits at most that many blocks.
const MAX_BLOCKS: usize = 256;

/// What is said of a place that has released the lock before.
pub const RELEASED_BEFORE: &str = "it was already released here";

/// What is wrong with an operation of a lock, over all contexts.
#[derive(Default)]
struct Finding {
    /// Threads in which it certainly is wrong.
    certain: Vec<ThreadId>,
    /// Threads in which some way makes it wrong.
    possible: Vec<ThreadId>,
    /// Number of contexts in which it is right.
    right: usize,
    /// Where the lock was taken, or freed before.
    places: Vec<Span>,
    /// Where the lock was taken in an earlier round of a loop: at this very operation, in these blocks.
    rounds: Vec<u32>,
}

impl Finding {
    fn add(&mut self, thread: ThreadId, certain: Option<bool>) {
        match certain {
            Some(true) => self.certain.push(thread),
            Some(false) => self.possible.push(thread),
            None => self.right += 1,
        }
    }

    /// Whether it is certainly wrong in some context; `None` where it is right.
    fn verdict(&self) -> Option<bool> {
        match (self.certain.is_empty(), self.possible.is_empty()) {
            (true, true) => None,
            (certain, _) => Some(!certain),
        }
    }

    fn with_places(&self, mut diagnostic: Diagnostic, words: &str) -> Diagnostic {
        let mut places = self.places.clone();
        places.sort_unstable();
        places.dedup();
        places.retain(|&place| diagnostic.span() != Some(place));
        for place in places.into_iter().take(MAX_PLACES) {
            diagnostic = diagnostic.with_label(place, words);
        }
        diagnostic
    }
}

type Findings = BTreeMap<(Span, LocationId), Finding>;

/// Reports misuse of single locks.
pub(super) fn check<'a>(subject: Subject<'a>, held: &mut Held<'a>, retest: &Retest<'a>, found: &mut Vec<Diagnostic>) {
    let mut checker = Checker {
        subject,
        retest,
        releases: Vec::new(),
        frees: Findings::new(),
        takes: Findings::new(),
        waits: Findings::new(),
    };
    held.visit(|held, at| checker.visit(held, at));
    let takers = first_takers(held);
    checker.drop_consequences();
    for (&(span, lock), finding) in &checker.frees {
        found.extend(checker.free_report(span, lock, finding, &takers));
    }
    for (&(span, lock), finding) in &checker.takes {
        found.extend(checker.take_report(span, lock, finding));
    }
    for (&(span, lock), finding) in &checker.waits {
        found.extend(checker.wait_report(span, lock, finding));
    }
    let unreleased = Unreleased { subject, reported: FxHashSet::default() };
    unreleased.report(held, found);
}

struct Checker<'a> {
    subject: Subject<'a>,
    retest: &'a Retest<'a>,
    /// Each lock that is released, with the block.
    releases: Vec<(LocationId, u32, Span)>,
    frees: Findings,
    takes: Findings,
    waits: Findings,
}

/// Where each lock is first taken by each thread.
type Takers = FxHashMap<LocationId, Vec<(ThreadId, Span)>>;

fn first_takers(held: &mut Held<'_>) -> Takers {
    let mut takers = Takers::default();
    held.visit(|held, at| {
        if acquires_lock(at.event)
            && let Some(lock) = held.lock_of(at.event)
        {
            let of = takers.entry(lock).or_default();
            let thread = held.thread_of(at.block);
            if of.len() < 2 && of.iter().all(|&(known, _)| known != thread) {
                of.push((thread, at.event.span));
            }
        }
    });
    takers
}

impl Checker<'_> {
    fn visit(&mut self, held: &Held<'_>, at: &At<'_>) {
        let thread = held.thread_of(at.block);
        match at.event.kind.synchronisation() {
            Some(kind) if kind.only_releases() && kind.is_on_lock() => {
                let Some(lock) = held.single_lock_of(at.event) else { return };
                let lacking = lacking(held, at, lock);
                self.releases.push((lock, at.block, at.event.span));
                let finding = self.frees.entry((at.event.span, lock)).or_default();
                finding.add(thread, lacking);
                if lacking.is_some() {
                    finding.places.extend(freed_before(held, at, lock));
                }
            }
            Some(kind) if kind.only_acquires() && kind.is_on_lock() => {
                let Some(lock) = held.lock_of(at.event).filter(|&lock| !held.is_reentrant(lock)) else { return };
                let mut taking = held.taking(at.may, lock);
                // Who reads may read again.
                taking.retain(|&take| held.mode_of(take).excludes(kind.mode()));
                let is_held = hold_of(at.must, lock).is_some_and(|hold| hold.mode.excludes(kind.mode()));
                let again = match (is_held, taking.is_empty() || held.vague) {
                    (true, _) => Some(true),
                    (false, false) => Some(false),
                    (false, true) => None,
                };
                let finding = self.takes.entry((at.event.span, lock)).or_default();
                finding.add(thread, again);
                if again.is_some() {
                    finding.places.extend(taking.iter().map(|&take| held.event(take).span));
                    finding.rounds.extend(taking.contains(&at.index).then_some(at.block));
                }
            }
            Some(kind) if kind.is_on(ObjectKind::Condition) && kind.needs_held_lock() => {
                let [lock] = *self.subject.form.concurrency.released_by(at.event) else { return };
                if held.is_single(lock) {
                    let finding = self.waits.entry((at.event.span, lock)).or_default();
                    finding.add(thread, lacking(held, at, lock));
                }
            }
            _ => {}
        }
    }

    /// A thread that waits for itself does not come to what is wrong behind.
    fn drop_consequences(&mut self) {
        let mut stuck: FxHashSet<(LocationId, ThreadId)> = FxHashSet::default();
        for (&(_, lock), finding) in &self.takes {
            stuck.extend(finding.certain.iter().map(|&thread| (lock, thread)));
        }
        for (&(_, lock), finding) in &mut self.frees {
            finding.certain.retain(|&thread| !stuck.contains(&(lock, thread)));
            finding.possible.retain(|&thread| !stuck.contains(&(lock, thread)));
        }
    }

    fn free_report(&self, span: Span, lock: LocationId, finding: &Finding, takers: &Takers) -> Option<Diagnostic> {
        let subject = self.subject;
        let name = subject.object(lock);
        let diagnostic = if finding.verdict()? {
            let threads = subject.threads(&finding.certain);
            let message = if finding.right + finding.possible.len() == 0 {
                format!("{name} is unlocked, but it is never held here")
            } else {
                format!("{name} is unlocked by {threads}, but {threads} cannot hold it here")
            };
            Diagnostic::error(Code::UnlockWithoutLock, span, message, format!("unlocked by {threads}, not held"))
        } else {
            let threads = subject.threads(&finding.possible);
            let message = format!("{name} may not be held where it is unlocked");
            let label = format!("on some path to this place, {threads} does not hold it");
            Diagnostic::warning(Code::UnlockWithoutLock, span, message, label)
        };
        let mut diagnostic = finding.with_places(diagnostic, RELEASED_BEFORE);
        let wrong = finding.certain.iter().chain(&finding.possible).copied().collect::<Vec<_>>();
        let other = takers.get(&lock).and_then(|of| of.iter().find(|(thread, _)| !wrong.contains(thread)));
        if let Some(&(thread, span)) = other
            && diagnostic.secondary.is_empty()
        {
            diagnostic = diagnostic.with_label(span, format!("taken by {}", subject.threads(&[thread])));
        }
        Some(diagnostic.with_help(
            "only the thread that took a lock may release it: take it before, or use `synchronized`, which does both",
        ))
    }

    fn take_report(&self, span: Span, lock: LocationId, finding: &Finding) -> Option<Diagnostic> {
        let name = self.subject.object(lock);
        let diagnostic = if finding.verdict()? {
            let threads = self.subject.threads(&finding.certain);
            let message = format!("{name} is taken again by {threads}, which already holds it");
            Diagnostic::error(Code::LockTakenTwice, span, message, "the thread waits for itself, for ever")
        } else {
            let threads = self.subject.threads(&finding.possible);
            let message = format!("{name} may be taken by {threads} while {threads} already holds it");
            Diagnostic::warning(Code::LockTakenTwice, span, message, "the thread may wait for itself, for ever")
        };
        let mut diagnostic = finding.with_places(diagnostic, "taken here first");
        if diagnostic.secondary.is_empty() {
            diagnostic = diagnostic.with_note("it was taken at this same place, in an earlier iteration or call");
            let of_lock = self.releases.iter().filter(|release| release.0 == lock);
            let of_lock: Vec<(u32, Span)> = of_lock.map(|&(_, block, span)| (block, span)).collect();
            for place in self.retest.behind_loop(&of_lock, &finding.rounds).into_iter().take(MAX_PLACES) {
                diagnostic = diagnostic.with_label(place, format!("{name} is released here, after the loop"));
            }
        }
        let leaf = self.subject.form.concurrency.locations[lock].leaf;
        let help = if self.subject.program.leaves[leaf].kind == LeafKind::RwLock {
            format!(
                "a readers-writer lock is not upgraded: release {name} before it is taken for writing, or for reading again"
            )
        } else {
            format!(
                "locks are not re-entrant: release {name} before it is taken again, take it only once, or declare it \
                 `reentrant lock`"
            )
        };
        Some(diagnostic.with_help(help))
    }

    fn wait_report(&self, span: Span, lock: LocationId, finding: &Finding) -> Option<Diagnostic> {
        let name = self.subject.object(lock);
        let diagnostic = if finding.verdict()? {
            let threads = self.subject.threads(&finding.certain);
            let message = if finding.right + finding.possible.len() == 0 {
                format!("`wait` releases {name}, but it is never held here")
            } else {
                format!("`wait` releases {name}, but {threads} cannot hold it here")
            };
            Diagnostic::error(Code::WaitWithoutLock, span, message, format!("{threads} does not hold {name}"))
        } else {
            let threads = self.subject.threads(&finding.possible);
            let message = format!("`wait` releases {name}, but it may not be held here");
            let label = format!("on some path to this place, {threads} does not hold {name}");
            Diagnostic::warning(Code::WaitWithoutLock, span, message, label)
        };
        Some(
            diagnostic.with_help(format!(
                "take {name} first, and test the condition in a loop: `while (!ready) wait(c, l);`"
            )),
        )
    }
}

/// Whether an event is an operation on a lock alone that acquires it.
fn acquires_lock(event: &Event) -> bool {
    event.kind.acquisition().is_some_and(|kind| !kind.takes_again() && kind.is_on_lock())
}

/// Whether an event is an operation on a lock alone that releases it.
fn releases_lock(event: &Event) -> bool {
    event.kind.synchronisation().is_some_and(|kind| kind.only_releases() && kind.is_on_lock())
}

/// Whether a lock is certainly (true) or on some way (false) not held; `None` where it is held, or nothing can be said.
fn lacking(held: &Held<'_>, at: &At<'_>, lock: LocationId) -> Option<bool> {
    if holds_lock(at.must, lock) {
        None
    } else if held.taking(at.may, lock).is_empty() {
        Some(true)
    } else {
        (!held.vague).then_some(false)
    }
}

/// Where the thread released the lock on its way to an operation.
fn freed_before(held: &Held<'_>, at: &At<'_>, lock: LocationId) -> Option<Span> {
    let concurrency = held.concurrency();
    let last = |block: u32, end: usize| {
        let events = &concurrency.events[concurrency.first_event(block)..end];
        events.iter().rev().find(|event| {
            (acquires_lock(event) || releases_lock(event)) && concurrency.locations_of(event).contains(&lock)
        })
    };
    let mut seen = FxHashSet::default();
    let mut waiting = VecDeque::from([(at.block, at.index as usize)]);
    while let Some((block, end)) = waiting.pop_front() {
        match last(block, end) {
            Some(event) if releases_lock(event) => return Some(event.span),
            Some(_) => continue,
            None => {}
        }
        if seen.len() >= MAX_BLOCKS {
            return None;
        }
        for &from in concurrency.local.predecessors(block) {
            if seen.insert(from) {
                waiting.push_back((from, concurrency.first_event(from) + concurrency.events_of(from).len()));
            }
        }
    }
    None
}

/// CS0303.
struct Unreleased<'a> {
    subject: Subject<'a>,
    /// Operations and locks that were reported.
    reported: FxHashSet<(Span, LocationId)>,
}

/// Where a lock is still held.
struct End {
    /// The last block of a thread or a function.
    block: u32,
    /// Whether it certainly is.
    certain: bool,
    /// `T1 ends`, `f returns`.
    words: String,
}

impl Unreleased<'_> {
    fn report(mut self, held: &mut Held<'_>, found: &mut Vec<Diagnostic>) {
        let concurrency = &self.subject.form.concurrency;
        let mut roots = FxHashMap::default();
        for (id, thread) in concurrency.threads.entries().filter(|(_, thread)| !thread.unordered) {
            roots.insert(thread.root, id);
        }
        // Functions before threads: they are nearer to the fault.
        let (threads, functions): (Vec<_>, Vec<_>) =
            concurrency.contexts.entries().partition(|(id, _)| roots.contains_key(id));
        for (id, context) in functions.into_iter().chain(threads) {
            let Some((must, may)) = held.at_entry(context.exit) else { continue };
            let (must, may) = (must.to_vec(), may.to_vec());
            for take in may {
                let event = held.event(take);
                let own = concurrency.blocks[held.block_of[take as usize] as usize].context == id;
                let Some(lock) = held.lock_of(event) else { continue };
                let certain = holds_lock(&must, lock);
                if !certain && !held.is_single(lock) {
                    continue;
                }
                let reportable = match roots.get(&id) {
                    Some(_) => certain || !held.vague,
                    None => own && !certain && !held.vague,
                };
                if !acquires_lock(event) || !reportable || !self.reported.insert((event.span, lock)) {
                    continue;
                }
                let words = match roots.get(&id) {
                    Some(&thread) => format!("{} ends", self.subject.threads(&[thread])),
                    None => {
                        let name = self.subject.program.functions[context.function].name;
                        format!("`{}` returns", self.subject.program.texts.get(name))
                    }
                };
                let end = End { block: context.exit, certain, words };
                found.push(self.diagnostic(held, (take, lock), &end));
            }
        }
    }

    fn diagnostic(&self, held: &mut Held<'_>, (take, lock): (u32, LocationId), end: &End) -> Diagnostic {
        let name = self.subject.object(lock);
        let words = if end.certain { "is" } else { "may" };
        let still = if end.certain { "still held" } else { "still be held" };
        let message = format!("{name} {words} {still} when {}", end.words);
        let span = held.event(take).span;
        let mut diagnostic = Diagnostic::warning(Code::LockNotReleased, span, message, "taken here");
        let mut ways = self.ways_out(held, take, end.block);
        ways.sort_unstable();
        ways.dedup();
        for way in ways.into_iter().take(MAX_PLACES) {
            diagnostic = diagnostic.with_label(way, format!("{} here, and nothing has released {name}", end.words));
        }
        diagnostic.with_help(format!(
            "release {name} on every path out, or use `synchronized`, which releases it automatically"
        ))
    }

    /// The returns that the lock is still held at.
    fn ways_out(&self, held: &mut Held<'_>, take: u32, exit: u32) -> Vec<Span> {
        let concurrency = &self.subject.form.concurrency;
        let mut ways = Vec::new();
        for &from in concurrency.local.predecessors(exit) {
            let block = concurrency.blocks[from as usize];
            let function = &self.subject.program.functions[concurrency.contexts[block.context].function];
            if let Some(source) = block.source
                && held.at_end(from).contains(&take)
            {
                ways.push(function.blocks[source].terminator_span);
            }
        }
        ways
    }
}
