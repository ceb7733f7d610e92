//! Blocked threads with names: who waits for what, who holds it, and what could have let it go on.
//!
//! **Input**: the steps of an execution that ends in a deadlock. **Output**: a [`BlockedReport`] for each thread that
//! has not ended, and the cycle in which they wait for each other, if there is one.
//!
//! **Algorithm**: the steps are done again and watched, so that of an event, a condition or a semaphore it is known
//! whether, and where, it was set, notified or raised. The cycle is a shortest one, by breadth-first search from each
//! thread.

use cssame_schedule::{Naming, Walk};
use cssame_source::Span;
use cssame_vm::{CodeIndex, Event, Observer, Obstacle, State, Tables, ThreadIndex, ThreadName};
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
                (Some(_), Some(cleared)) => format!("waits for the event `{object}`, cleared at {cleared}"),
                _ => format!("waits for the event `{object}`, never set"),
            },
            Awaited::Barrier => {
                let (arrived, count) = (self.arrived.unwrap_or(0), self.count.unwrap_or(0));
                format!("waits at the barrier `{object}`: {arrived} of {count} have arrived")
            }
            Awaited::Condition | Awaited::Notification => {
                let of = self.object.as_ref().map_or_else(String::new, |object| format!(" of `{object}`"));
                match signalled {
                    Some(at) => format!("waits to be notified{of}, last done at {at}"),
                    None => format!("waits to be notified{of}, never done"),
                }
            }
            Awaited::Semaphore => match signalled {
                Some(at) => format!("waits for the semaphore `{object}`, last raised at {at}"),
                None => format!("waits for the semaphore `{object}`, never raised"),
            },
            Awaited::Threads => format!("waits for the end of {}", self.threads.join(", ")),
        }
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

/// Where objects were set, notified, raised and cleared last; bare notifications stand under [`BARE`].
#[derive(Default)]
struct Signals {
    signalled: FxHashMap<u32, CodeIndex>,
    cleared: FxHashMap<u32, CodeIndex>,
}

/// Stands for the bare notifications; no object has this address.
const BARE: u32 = u32::MAX;

impl Observer for Signals {
    fn event(&mut self, _: ThreadName, at: CodeIndex, event: Event) {
        match event {
            Event::Set { address, .. } | Event::Release { address, .. } => {
                self.signalled.insert(address, at);
            }
            Event::Notify { condition, .. } => {
                self.signalled.insert(condition.unwrap_or(BARE), at);
            }
            Event::Clear { address, .. } => {
                self.cleared.insert(address, at);
            }
            _ => {}
        }
    }
}

/// The threads that are blocked behind these steps, in the order of threads.
#[must_use]
pub fn blocked_reports(naming: &Naming<'_>, steps: &[cssame_vm::Choice]) -> Vec<BlockedReport> {
    let (mut tables, mut signals) = (Tables::new(), Signals::default());
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
    signals: &'a Signals,
}

impl Scene<'_> {
    fn name(&self, thread: ThreadIndex) -> String {
        self.naming.machine.path_name(self.tables, self.state.path(thread))
    }

    fn at(&self, at: CodeIndex) -> String {
        self.naming.sources.position(self.naming.machine.span(at)).to_string()
    }

    fn blocked(&self, thread: ThreadIndex, obstacle: Obstacle) -> BlockedReport {
        let span = self.naming.machine.span(self.state.position(thread));
        let position = self.naming.sources.position(span);
        let mut report = BlockedReport {
            thread: self.name(thread),
            at: position.to_string(),
            line: position.line,
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
        };
        let mut object = |awaited, address: u32| {
            report.waits_for = awaited;
            report.object = (address != BARE).then(|| self.naming.object(self.state, address));
            if !matches!(awaited, Awaited::Lock | Awaited::Writers | Awaited::Barrier) {
                report.signalled_at = self.signals.signalled.get(&address).map(|&at| self.at(at));
                report.cleared_at = self.signals.cleared.get(&address).map(|&at| self.at(at));
            }
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
            Obstacle::Notification => object(Awaited::Notification, BARE),
            Obstacle::Semaphore { address } => object(Awaited::Semaphore, address),
            Obstacle::Children { threads } => {
                report.threads = threads.into_iter().map(|thread| self.name(thread)).collect();
            }
            Obstacle::Thread { thread } | Obstacle::AtomicBlock { thread } => report.threads = vec![self.name(thread)],
        }
        report
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
