//! Blocked threads with names: what each waits for, which thread holds it, and what could have released it.
//!
//! **Input**: the steps of an execution that ends in a deadlock. **Output**: a [`BlockedReport`] for each thread that
//! has not ended, and the cycle in which they wait for each other, if there is one.
//!
//! **Algorithm**: the steps are repeated under an observer. So it is known for an event, a condition or a semaphore whether, and
//! where, it was set, notified or raised, which thread has taken that, and which thread has skipped it
//! ([`cssame_schedule::Wakeups`], [`cssame_schedule::Branches`]). The cycle is a shortest one, by breadth-first search from each
//! thread.

use cssame_ir::FunctionId;
use cssame_schedule::{Branches, Naming, Passed, Wakeups, Walk};
use cssame_source::Span;
use cssame_vm::{CodeIndex, Event, Observer, Obstacle, PathId, State, Tables, ThreadIndex, ThreadName};
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::collections::VecDeque;

/// What a thread in a deadlock waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Awaited {
    /// A lock that is held.
    Lock,
    /// A readers-writer lock that is not to be read because others wait to write.
    Writers,
    /// An event that is not set.
    Event,
    /// Other threads at a barrier.
    Barrier,
    /// A notification of a condition.
    Condition,
    /// A bare notification.
    Notification,
    /// A semaphore that is zero.
    Semaphore,
    /// The end of threads.
    Threads,
}

/// A thread in a deadlock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BlockedReport {
    /// Its path.
    pub thread: String,
    /// `LINE:COL`
    pub at: String,
    /// Its line.
    pub line: u32,
    /// The same place.
    #[serde(skip)]
    pub span: Span,
    /// What it waits for.
    pub waits_for: Awaited,
    /// The object that it waits for.
    pub object: Option<String>,
    /// The thread that holds the lock.
    pub holder: Option<String>,
    /// Where the holder took it.
    pub taken_at: Option<String>,
    /// The same place.
    #[serde(skip)]
    pub taken_span: Option<Span>,
    /// How many have arrived at the barrier.
    pub arrived: Option<u32>,
    /// How many it takes.
    pub count: Option<u32>,
    /// Where the event was set last, the condition notified, or the semaphore raised; nothing where it never was.
    pub signalled_at: Option<String>,
    /// Where the event was cleared last.
    pub cleared_at: Option<String>,
    /// The threads that it waits for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<String>,
    /// The threads that have taken what it waits for: woken by a notification since it began to wait, holding units of the
    /// semaphore, or the one that has cleared the event behind a `set`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub taken_by: Vec<String>,
    /// Of a notification: whether the last one came before it began to wait.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub too_early: bool,
    /// Where threads that have ended passed by what would have let it go on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub passed: Vec<PassedReport>,
}

/// A branch at which a thread has left aside what would have let another one go on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PassedReport {
    /// The thread.
    pub thread: String,
    /// The condition of the branch.
    pub at: String,
    /// The operation that it did not come to.
    pub operation: String,
}

impl BlockedReport {
    /// What it waits for and who holds that, as the rest of a sentence about the thread.
    #[must_use]
    pub fn waits(&self) -> String {
        let object = self.object.as_deref().unwrap_or("?");
        let signalled = self.signalled_at.as_deref();
        match self.waits_for {
            Awaited::Lock | Awaited::Writers => format!("waits for the lock `{object}`, which {}", self.in_its_way()),
            Awaited::Event => match (signalled, self.cleared_at.as_deref()) {
                (Some(_), Some(cleared)) => {
                    format!("waits for the event `{object}`, cleared at {cleared}{}", self.taken())
                }
                _ => format!("waits for the event `{object}`, never set{}", self.passed_by()),
            },
            Awaited::Barrier => {
                let (arrived, count) = (self.arrived.unwrap_or(0), self.count.unwrap_or(0));
                format!("waits at the barrier `{object}`: {arrived} of {count} have arrived{}", self.passed_by())
            }
            Awaited::Condition | Awaited::Notification => {
                let of = self.object.as_ref().map_or_else(String::new, |object| format!(" of `{object}`"));
                let last = match signalled {
                    Some(at) if self.too_early => format!("last done at {at}, before it waited"),
                    Some(at) => format!("last done at {at}"),
                    None => "never done".to_owned(),
                };
                format!("waits to be notified{of}, {last}{}{}", self.taken(), self.passed_by())
            }
            Awaited::Semaphore => {
                let last = signalled.map_or_else(|| "never raised".to_owned(), |at| format!("last raised at {at}"));
                format!("waits for the semaphore `{object}`, {last}{}{}", self.taken(), self.passed_by())
            }
            Awaited::Threads => format!("waits for the end of {}", self.threads.join(", ")),
        }
    }

    /// Who has taken what it waits for, as the end of a sentence.
    fn taken(&self) -> String {
        let by = self.taken_by.join(", ");
        match self.waits_for {
            _ if by.is_empty() => String::new(),
            Awaited::Condition | Awaited::Notification => format!(", which woke {by}"),
            Awaited::Semaphore => format!(", taken by {by}"),
            _ => format!(" by {by}"),
        }
    }

    /// Who has passed by what it waits for, as the end of a sentence.
    fn passed_by(&self) -> String {
        let passed = self.passed.iter();
        passed.map(|one| format!("; {} passed by {} at {}", one.thread, one.operation, one.at)).collect()
    }

    /// Who is in the way of a thread that waits for a lock: `T2 holds`, `it reads itself`, `T2 waits to write`.
    #[must_use]
    pub fn in_its_way(&self) -> String {
        let threads = self.threads.join(", ");
        match (self.waits_for, self.holder.as_deref(), self.threads.as_slice()) {
            (Awaited::Writers, ..) => format!("{threads} {} to write", verb(&self.threads, "wait")),
            (_, Some(holder), _) if holder == self.thread => "it holds itself".to_owned(),
            (_, Some(holder), _) => format!("{holder} holds"),
            (_, None, []) => "an ended thread holds".to_owned(),
            (_, None, [only]) if *only == self.thread => "it reads itself".to_owned(),
            (_, None, several) => format!("{threads} {}", verb(several, "read")),
        }
    }

    /// The same with the place where the lock was taken.
    #[must_use]
    pub fn waits_since(&self) -> String {
        let since = self.taken_at.as_ref().map_or_else(String::new, |at| format!(" since {at}"));
        self.waits() + &since
    }
}

/// A verb as it stands behind the names of threads.
fn verb(threads: &[String], verb: &str) -> String {
    if threads.len() == 1 { format!("{verb}s") } else { verb.to_owned() }
}

/// What may let threads go on, and who has taken it or passed by.
struct Signals<'a> {
    wakeups: Wakeups<CodeIndex>,
    branches: Branches<'a>,
}

impl Observer for Signals<'_> {
    fn event(&mut self, thread: ThreadName, at: CodeIndex, event: Event) {
        self.branches.event(thread, at, event);
        match event {
            Event::Woken { by: Some(_) } => drop(self.wakeups.woken(thread.path)),
            Event::Allocate { address, size, .. } => self.wakeups.forget(&(address..address.saturating_add(size))),
            // What a thread is told of behind its wait is no doing of its own.
            Event::Woken { .. } | Event::Leave { .. } => {}
            _ => self.wakeups.remember(thread.path, event, at),
        }
    }

    fn branch(&mut self, thread: ThreadName, at: CodeIndex, holds: bool) {
        self.branches.branch(thread, at, holds);
    }

    fn call(&mut self, thread: ThreadName, at: CodeIndex, function: FunctionId, arguments: &[i64]) {
        self.branches.call(thread, at, function, arguments);
    }

    fn leave(&mut self, thread: ThreadName) {
        self.branches.leave(thread);
    }
}

/// The threads that are blocked behind these steps, in the order of threads.
#[must_use]
pub fn blocked_reports(naming: &Naming<'_>, steps: &[cssame_vm::Choice]) -> Vec<BlockedReport> {
    let mut tables = Tables::new();
    let mut signals = Signals { wakeups: Wakeups::default(), branches: Branches::new(*naming) };
    let mut walk = Walk::new(naming.machine, &mut tables, &mut signals);
    let done = walk.follow(steps, &mut signals);
    debug_assert!(done.is_ok(), "an execution that was found can be done again");
    let (state, tables) = (walk.state(), walk.tables());
    let mut threads: Vec<ThreadIndex> = state.threads().collect();
    threads.sort_by(|left, right| tables.compare_paths(state.path(*left), state.path(*right)));
    let scene = Scene { naming, state, tables, signals: &signals };
    threads
        .into_iter()
        .filter_map(|thread| Some(scene.blocked(thread, naming.machine.obstacle(state, thread)?)))
        .collect()
}

struct Scene<'a> {
    naming: &'a Naming<'a>,
    state: &'a State,
    tables: &'a Tables,
    signals: &'a Signals<'a>,
}

impl Scene<'_> {
    fn name(&self, thread: ThreadIndex) -> String {
        self.path_name(self.state.path(thread))
    }

    fn path_name(&self, path: PathId) -> String {
        self.naming.machine.path_name(self.tables, path)
    }

    fn at(&self, at: CodeIndex) -> String {
        self.naming.sources.position(self.naming.machine.span(at)).to_string()
    }

    fn blocked(&self, thread: ThreadIndex, obstacle: Obstacle) -> BlockedReport {
        let span = self.naming.machine.span(self.state.position(thread));
        let mut report = BlockedReport {
            thread: self.name(thread),
            at: self.naming.sources.place(span),
            line: self.naming.sources.line(span),
            span,
            waits_for: Awaited::Threads,
            object: None,
            holder: None,
            taken_at: None,
            taken_span: None,
            arrived: None,
            count: None,
            signalled_at: None,
            cleared_at: None,
            threads: Vec::new(),
            taken_by: Vec::new(),
            too_early: false,
            passed: self.passed(&obstacle),
        };
        self.signals(&mut report, self.state.path(thread), &obstacle);
        let mut object = |awaited, address: u32| {
            report.waits_for = awaited;
            report.object = Some(self.naming.object(self.state, self.tables, address));
        };
        match obstacle {
            Obstacle::Lock { address, holder, taken_at } => {
                object(Awaited::Lock, address);
                report.holder = holder.map(|holder| self.name(holder));
                report.taken_at = Some(self.at(taken_at));
                report.taken_span = Some(self.naming.machine.span(taken_at));
            }
            Obstacle::Readers { address, threads } => {
                object(Awaited::Lock, address);
                report.threads = threads.into_iter().map(|thread| self.name(thread)).collect();
            }
            Obstacle::Writers { address, threads } => {
                object(Awaited::Writers, address);
                report.threads = threads.into_iter().map(|thread| self.name(thread)).collect();
            }
            Obstacle::Event { address } => object(Awaited::Event, address),
            Obstacle::Barrier { address, arrived, count } => {
                object(Awaited::Barrier, address);
                (report.arrived, report.count) = (Some(arrived), Some(count));
            }
            Obstacle::Condition { address } => object(Awaited::Condition, address),
            Obstacle::Notification => report.waits_for = Awaited::Notification,
            Obstacle::Semaphore { address } => object(Awaited::Semaphore, address),
            Obstacle::Children { threads } => {
                report.threads = threads.into_iter().map(|thread| self.name(thread)).collect();
            }
            Obstacle::Thread { thread } | Obstacle::AtomicBlock { thread } => report.threads = vec![self.name(thread)],
        }
        report
    }

    /// Where threads passed by what would have let a blocked one go on. Of a lock its holder says enough.
    fn passed(&self, obstacle: &Obstacle) -> Vec<PassedReport> {
        if matches!(obstacle, Obstacle::Lock { .. } | Obstacle::Readers { .. }) {
            return Vec::new();
        }
        let passed = self.signals.branches.passed(obstacle).into_iter();
        let report = |one: Passed| PassedReport {
            thread: self.path_name(one.thread),
            at: self.at(one.at),
            operation: self.naming.sources.position(one.operation).to_string(),
        };
        passed.map(report).collect()
    }

    /// What was signalled of that for which a thread waits, and who has taken it.
    fn signals(&self, report: &mut BlockedReport, thread: PathId, obstacle: &Obstacle) {
        let wakeups = &self.signals.wakeups;
        let (object, is_notification) = match *obstacle {
            Obstacle::Condition { address } => (Some(address), true),
            Obstacle::Notification => (None, true),
            Obstacle::Event { address } | Obstacle::Semaphore { address } => (Some(address), false),
            _ => return,
        };
        let last = wakeups.all(object).last();
        let cleared = object.and_then(|address| wakeups.cleared(address));
        report.signalled_at = last.map(|signal| self.at(signal.at));
        report.cleared_at = cleared.map(|(_, at)| self.at(at));
        let taken: Vec<PathId> = match *obstacle {
            Obstacle::Semaphore { address } => wakeups.units(thread, address).map(|unit| unit.thread).collect(),
            Obstacle::Event { .. } => cleared.filter(|_| last.is_some()).map(|(by, _)| by).into_iter().collect(),
            _ => wakeups
                .since(thread, object)
                .last()
                .map_or_else(Vec::new, |signal| signal.taken.iter().map(|taken| taken.thread).collect()),
        };
        for path in taken {
            let name = self.path_name(path);
            if !report.taken_by.contains(&name) {
                report.taken_by.push(name);
            }
        }
        report.too_early = is_notification && last.is_some() && wakeups.since(thread, object).is_empty();
    }
}

/// Threads among which a cycle is looked for.
const MAX_THREADS: usize = 500;

/// A shortest cycle of threads each of which waits for the next: for a lock that it holds, or for its end. None where all wait,
/// in the end, for something that nobody holds.
#[must_use]
pub fn wait_cycle(threads: &[BlockedReport]) -> Vec<String> {
    let places: FxHashMap<&str, usize> =
        threads.iter().take(MAX_THREADS).enumerate().map(|(place, of)| (of.thread.as_str(), place)).collect();
    let next = |thread: usize| {
        let names = threads[thread].holder.iter().chain(&threads[thread].threads);
        names.filter_map(|name| places.get(name.as_str()).copied())
    };
    let mut best: Vec<usize> = Vec::new();
    for start in 0..threads.len().min(MAX_THREADS) {
        let mut by: Vec<Option<usize>> = vec![None; threads.len()];
        let mut waiting = VecDeque::from([start]);
        while let Some(at) = waiting.pop_front() {
            for thread in next(at) {
                if by[thread].is_none() {
                    by[thread] = Some(at);
                    waiting.push_back(thread);
                }
            }
        }
        let Some(mut at) = by[start] else { continue };
        let mut cycle = vec![at];
        while let (true, Some(before)) = (at != start, by[at]) {
            at = before;
            cycle.push(at);
        }
        cycle.reverse();
        if best.is_empty() || cycle.len() < best.len() {
            best = cycle;
        }
    }
    best.into_iter().map(|thread| threads[thread].thread.clone()).collect()
}
