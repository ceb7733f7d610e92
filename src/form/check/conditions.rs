//! CS0311, CS0312 and CS0313: waits on conditions, and notifications of them, that lose a wake-up or block the notifier.
//!
//! **Input**: the locks that are certainly and possibly held at each operation on a condition ([`super::held`]). **Output**: a
//! wait without a test after it; a wait during which its thread keeps a lock that every notifier holds; a notification that may
//! come between a test and its wait, since the tested variables are written without the lock of the wait.
//!
//! **Algorithm**
//! 1. Collect the waits and the notifications of each condition, with the held locks.
//! 2. CS0311: [`super::retest`] decides whether all paths from a wait reach a test.
//! 3. CS0312: a lock that is held at the wait and not released by it, and that is held at every notification that may run in
//!    parallel.
//! 4. CS0313: from a notification without the lock of a parallel wait, walk back to the release of that lock. A write on this
//!    path to a variable that is tested before the wait is, like the notification, outside every body of that lock.
//!
//! **Soundness and limits**: uncertain conditions and locks, and programs whose calling contexts were merged, are skipped. Waits
//! that other diagnostics report are skipped too: without their lock (CS0309), or without a notifier (CS0310).

use super::Subject;
use super::held::{At, Held};
use super::retest::{Place, Retest};
use super::words::list;
use cssame_concurrency::lockset::{ATOMIC, Hold, holds_lock};
use cssame_concurrency::{EventKind, LocationId};
use cssame_diagnostics::{Code, Diagnostic};
use cssame_ir::sync::Kind;
use cssame_source::Span;
use std::collections::BTreeMap;

/// At most that many other places are shown.
const MAX_PLACES: usize = 3;

/// A wait on a condition or a notification of one, in a context.
struct Operation {
    block: u32,
    index: u32,
    span: Span,
    condition: LocationId,
    /// What is certainly held.
    locks: Vec<Hold>,
    /// What may be held.
    perhaps: Vec<LocationId>,
    /// What a wait releases.
    lock: Option<LocationId>,
}

/// Reports misuse of conditions.
pub(super) fn check<'a>(subject: Subject<'a>, held: &mut Held<'a>, retest: &Retest<'a>, found: &mut Vec<Diagnostic>) {
    if held.vague {
        return;
    }
    let mut conditions = Conditions { subject, waits: Vec::new(), notifications: Vec::new(), doubtful: Vec::new() };
    held.visit(|held, at| conditions.visit(held, at));
    let doubtful = std::mem::take(&mut conditions.doubtful);
    conditions.waits.retain(|wait| !doubtful.contains(&wait.condition));
    conditions.notifications.retain(|notification| !doubtful.contains(&notification.condition));
    if conditions.waits.is_empty() || conditions.notifications.is_empty() {
        return;
    }
    let mut reports = BTreeMap::new();
    for wait in &conditions.waits {
        let notifiers = conditions.notifiers(wait);
        let Some(lock) = wait.lock.filter(|_| !notifiers.is_empty()) else { continue };
        let place = Place { block: wait.block, index: wait.index, lock };
        if !retest.is_tested_again(place) {
            let key = (Code::WaitNotInLoop, wait.span);
            reports.entry(key).or_insert_with(|| conditions.not_in_loop(wait, &notifiers));
        }
        if let Some(kept) = conditions.kept(wait, lock, &notifiers) {
            let key = (Code::WaitKeepsLock, wait.span);
            reports.entry(key).or_insert_with(|| conditions.keeps_lock(wait, (lock, kept), &notifiers));
        }
        for notification in notifiers.iter().filter(|notification| !notification.perhaps.contains(&lock)) {
            let writes = conditions.writes(retest, place, notification);
            if !writes.is_empty() {
                let key = (Code::NotifyWithoutLock, notification.span);
                reports.entry(key).or_insert_with(|| conditions.without_lock((wait, lock), notification, &writes));
            }
        }
    }
    found.extend(reports.into_values());
}

struct Conditions<'a> {
    subject: Subject<'a>,
    /// Waits with their lock held.
    waits: Vec<Operation>,
    notifications: Vec<Operation>,
    /// Conditions of which some operation is not certain.
    doubtful: Vec<LocationId>,
}

impl Conditions<'_> {
    fn visit(&mut self, held: &Held<'_>, at: &At<'_>) {
        let concurrency = &self.subject.form.concurrency;
        let kind = at.event.kind.synchronisation();
        let Some(Kind::WaitCondition | Kind::Notify | Kind::NotifyAll) = kind else { return };
        let Some(condition) = concurrency.certain_location(self.subject.program, at.event) else {
            self.doubtful.extend(concurrency.locations_of(at.event));
            return;
        };
        let taken = at.may.iter().flat_map(|&take| concurrency.locations_of(held.event(take)));
        let operation = Operation {
            block: at.block,
            index: at.index,
            span: at.event.span,
            condition,
            locks: at.must.to_vec(),
            perhaps: taken.copied().chain(at.must.iter().map(|hold| hold.lock)).collect(),
            lock: concurrency.certain(self.subject.program, concurrency.released_by(at.event)),
        };
        if kind != Some(Kind::WaitCondition) {
            self.notifications.push(operation);
        } else if operation
            .lock
            .is_some_and(|lock| holds_lock(&operation.locks, lock) && !held.doubtful.contains(&lock))
        {
            self.waits.push(operation);
        }
    }

    /// The notifications that may end a wait.
    fn notifiers(&self, wait: &Operation) -> Vec<&Operation> {
        let concurrency = &self.subject.form.concurrency;
        let of = self.notifications.iter().filter(|notification| notification.condition == wait.condition);
        of.filter(|notification| concurrency.structurally_parallel(notification.block, wait.block)).collect()
    }

    /// The lock that a waiting thread keeps and all notifiers need.
    fn kept(&self, wait: &Operation, lock: LocationId, notifiers: &[&Operation]) -> Option<LocationId> {
        let mut kept = wait.locks.iter().filter(|kept| kept.lock != lock && kept.lock != ATOMIC);
        let excludes = |kept: &&Hold, of: &Operation| of.locks.iter().any(|other| kept.excludes(*other));
        let kept = kept.find(|kept| notifiers.iter().all(|notification| excludes(kept, notification)));
        kept.map(|kept| kept.lock)
    }

    /// Writes of what is tested before a wait, from which a thread comes to a notification without having had the lock.
    fn writes(&self, retest: &Retest<'_>, wait: Place, notification: &Operation) -> Vec<(LocationId, Span)> {
        let concurrency = &self.subject.form.concurrency;
        let tested = retest.tested_before(wait);
        let tested = tested.iter().flat_map(|&read| concurrency.locations_of(&concurrency.events[read as usize]));
        let tested: Vec<LocationId> = tested.copied().collect();
        let mut writes = Vec::new();
        let from = Place { block: notification.block, index: notification.index, lock: wait.lock };
        retest.walk_back(from, |block, _, event| {
            if let Some(event) = event
                && let EventKind::Write(_) | EventKind::Update { .. } = event.kind
                && let [location] = *concurrency.locations_of(event)
                && tested.contains(&location)
                && concurrency.structurally_parallel(block, wait.block)
            {
                writes.push((location, event.span));
            }
        });
        writes.sort_unstable();
        writes.dedup();
        writes
    }

    fn threads(&self, operation: &Operation) -> String {
        self.subject.threads(&[self.subject.form.concurrency.thread_of(operation.block)])
    }

    /// Shows notifications.
    fn with_notifiers(&self, mut diagnostic: Diagnostic, notifiers: &[&Operation], words: &str) -> Diagnostic {
        let mut places: BTreeMap<Span, String> = BTreeMap::new();
        for notification in notifiers {
            places.entry(notification.span).or_insert_with(|| self.threads(notification));
        }
        for (span, threads) in places.into_iter().take(MAX_PLACES) {
            diagnostic = diagnostic.with_label(span, format!("notified by {threads}{words}"));
        }
        diagnostic
    }

    fn not_in_loop(&self, wait: &Operation, notifiers: &[&Operation]) -> Diagnostic {
        let name = self.subject.object(wait.condition);
        let message = format!("{} does not test its condition again after the wait on {name}", self.threads(wait));
        let label = "continues here without a new test";
        let diagnostic = Diagnostic::warning(Code::WaitNotInLoop, wait.span, message, label);
        self.with_notifiers(diagnostic, notifiers, "")
            .with_note(
                "a notification before the wait is lost, and another thread may run between the notification and the \
                 end of the wait",
            )
            .with_help("test the condition in a loop: `while (!ready) wait(c, L);`")
    }

    fn keeps_lock(
        &self,
        wait: &Operation,
        (lock, kept): (LocationId, LocationId),
        notifiers: &[&Operation],
    ) -> Diagnostic {
        let (name, lock, kept) =
            (self.subject.object(wait.condition), self.subject.object(lock), self.subject.object(kept));
        let message = format!(
            "{} keeps {kept} while it waits on {name}, but a thread needs {kept} to notify {name}",
            self.threads(wait)
        );
        let label = format!("releases {lock}, not {kept}");
        let diagnostic = Diagnostic::warning(Code::WaitKeepsLock, wait.span, message, label);
        self.with_notifiers(diagnostic, notifiers, &format!(", holding {kept}"))
            .with_help(format!("release {kept} before the wait, or wait with {kept} as its lock"))
    }

    fn without_lock(
        &self,
        (wait, lock): (&Operation, LocationId),
        notification: &Operation,
        writes: &[(LocationId, Span)],
    ) -> Diagnostic {
        let (name, lock) = (self.subject.object(wait.condition), self.subject.object(lock));
        let mut tested: Vec<String> = writes.iter().map(|&(location, _)| self.subject.object(location)).collect();
        tested.dedup();
        let tested = list(&tested);
        let message = format!("this notification of {name} may come between the test of {tested} and the wait");
        let label =
            format!("notified by {}, {}", self.threads(notification), self.subject.holding(&notification.locks));
        let mut diagnostic = Diagnostic::warning(Code::NotifyWithoutLock, notification.span, message, label);
        for &(location, span) in writes.iter().take(MAX_PLACES) {
            let written = self.subject.object(location);
            diagnostic = diagnostic.with_label(span, format!("{written} is written here, without {lock}"));
        }
        diagnostic
            .with_label(wait.span, format!("{} tests {tested} under {lock}, then waits here", self.threads(wait)))
            .with_help(format!("hold {lock} where {tested} is written; then no notification is lost"))
    }
}
