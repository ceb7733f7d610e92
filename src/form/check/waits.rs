//! CS0304, CS0305 and CS0310: waits that no other thread can end.
//!
//! **Input**: the synchronisation events. **Output**: a wait for an event that is never set; a wait on a condition, or a bare
//! wait, that no thread can notify while it waits; `P` of a semaphore that begins at 0 and is never raised; a barrier that too
//! few threads can reach.
//!
//! **Algorithm**
//! 1. Collect the objects that are set, raised and notified; for notifications, also the class of the block.
//! 2. A wait is served if one of its possible objects is set or raised anywhere, or is notified by a block that may run in
//!    parallel.
//! 3. For a barrier that single threads use, count for each arrival the threads that may run in parallel with it.
//!
//! **Soundness and limits**: if a reference may refer to several objects, one served object suffices. The module ignores how
//! often and when an object is raised, and threads that never reach the operation.

use super::Subject;
use super::words::count;
use cssame_concurrency::{ClassId, Concurrency, LocationId, ThreadId};
use cssame_diagnostics::{Code, Diagnostic};
use cssame_ir::sync::Kind;
use cssame_ir::{LeafKind, Value};
use cssame_source::Span;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// At most that many other places are shown.
const MAX_PLACES: usize = 3;
/// A barrier with more arrivals is not looked at.
const MAX_ARRIVALS: usize = 256;

/// Who serves waiting threads.
#[derive(Default)]
struct Servers {
    /// Events that are set and semaphores that are raised somewhere.
    raised: FxHashMap<LocationId, ()>,
    /// For each condition, some block of each class that notifies it.
    notified: FxHashMap<LocationId, BTreeMap<ClassId, u32>>,
    /// The same for bare notifications.
    bare: BTreeMap<ClassId, u32>,
    /// Whether some operation may serve any object.
    unknown: bool,
}

/// A wait in the text: whether some context of it is served, and what it waits for.
struct Wait {
    served: bool,
    kind: Kind,
    object: Option<LocationId>,
    threads: Vec<ThreadId>,
}

/// Reports waits that nobody ends.
pub(super) fn check(subject: Subject<'_>, found: &mut Vec<Diagnostic>) {
    let concurrency = &subject.form.concurrency;
    let servers = Servers::of(subject);
    let mut waits: BTreeMap<Span, Wait> = BTreeMap::new();
    let mut arrivals: BTreeMap<LocationId, Vec<(u32, Span)>> = BTreeMap::new();
    let mut doubtful = Vec::new();
    for block in live_blocks(subject) {
        for event in concurrency.events_of(block) {
            let locations = concurrency.locations_of(event);
            let Some(kind) = event.kind.synchronisation() else { continue };
            let served = match kind {
                Kind::WaitEvent => servers.raises(locations),
                Kind::Acquire => servers.raises(locations) || !begins_at_zero(subject, locations),
                Kind::WaitCondition => servers.notifies(concurrency, locations, block),
                Kind::WaitBare => parallel_with(concurrency, &servers.bare, block),
                Kind::Barrier => {
                    match concurrency.certain_location(subject.program, event) {
                        Some(barrier) => arrivals.entry(barrier).or_default().push((block, event.span)),
                        None => doubtful.extend(locations.iter().copied()),
                    }
                    continue;
                }
                _ => continue,
            };
            let object = locations.first().copied();
            let wait = Wait { served: false, kind, object, threads: Vec::new() };
            let wait = waits.entry(event.span).or_insert(wait);
            wait.served |= served;
            wait.threads.push(concurrency.thread_of(block));
        }
    }
    for (&span, wait) in waits.iter().filter(|(_, wait)| !wait.served) {
        found.push(report(subject, span, wait));
    }
    for (&barrier, of) in arrivals.iter().filter(|(barrier, _)| !doubtful.contains(barrier)) {
        found.extend(check_barrier(subject, barrier, of));
    }
}

/// Blocks that control can come to.
fn live_blocks(subject: Subject<'_>) -> impl Iterator<Item = u32> {
    let count = subject.form.concurrency.blocks.len() as u32;
    (0..count).filter(move |&block| subject.form.locksets.at_entry(block).is_some())
}

impl Servers {
    fn of(subject: Subject<'_>) -> Servers {
        let concurrency = &subject.form.concurrency;
        let mut servers = Servers::default();
        for block in live_blocks(subject) {
            let class = concurrency.classes[block as usize];
            for event in concurrency.events_of(block) {
                let locations = concurrency.locations_of(event);
                match event.kind.synchronisation() {
                    Some(Kind::Set | Kind::Release) => {
                        servers.unknown |= locations.is_empty();
                        servers.raised.extend(locations.iter().map(|&location| (location, ())));
                    }
                    Some(Kind::Notify | Kind::NotifyAll) => {
                        servers.unknown |= locations.is_empty();
                        for &location in locations {
                            servers.notified.entry(location).or_default().entry(class).or_insert(block);
                        }
                    }
                    Some(Kind::NotifyBare | Kind::NotifyAllBare) => {
                        servers.bare.entry(class).or_insert(block);
                    }
                    _ => {}
                }
            }
        }
        servers
    }

    fn raises(&self, locations: &[LocationId]) -> bool {
        self.unknown || locations.is_empty() || locations.iter().any(|location| self.raised.contains_key(location))
    }

    fn notifies(&self, concurrency: &Concurrency, locations: &[LocationId], block: u32) -> bool {
        let mut lists = locations.iter().filter_map(|location| self.notified.get(location));
        self.unknown || locations.is_empty() || lists.any(|list| parallel_with(concurrency, list, block))
    }
}

fn parallel_with(concurrency: &Concurrency, blocks: &BTreeMap<ClassId, u32>, block: u32) -> bool {
    blocks.values().any(|&other| concurrency.structurally_parallel(other, block))
}

/// Whether all of them are semaphores that begin at 0.
fn begins_at_zero(subject: Subject<'_>, locations: &[LocationId]) -> bool {
    locations.iter().all(|&location| {
        let leaf = &subject.program.leaves[subject.form.concurrency.locations[location].leaf];
        leaf.kind == LeafKind::Semaphore && leaf.initial.first() == Some(&Value::Int(0))
    })
}

fn report(subject: Subject<'_>, span: Span, wait: &Wait) -> Diagnostic {
    let threads = subject.threads(&wait.threads);
    let label = format!("{threads} waits here for ever");
    let name = wait.object.map_or_else(String::new, |object| subject.object(object));
    let (code, message, help) = match wait.kind {
        Kind::WaitEvent => (
            Code::EventNeverSet,
            format!("no thread sets the event {name}"),
            format!("call `set` on {name} when the waiting thread may continue"),
        ),
        Kind::Acquire => (
            Code::WaitNeverNotified,
            format!("no thread raises the semaphore {name}, which begins at 0"),
            format!("call `V` on {name} when the waiting thread may continue, or let it begin above 0"),
        ),
        Kind::WaitBare => (
            Code::WaitNeverNotified,
            "no other thread calls the bare `notify()` or `notifyAll()` while this one waits".to_owned(),
            "notify wherever the condition of the wait may have become true".to_owned(),
        ),
        _ => (
            Code::WaitNeverNotified,
            format!("no other thread notifies the condition {name} while this one waits"),
            format!("call `notify` on {name} wherever the condition of the wait may have become true"),
        ),
    };
    let mut diagnostic = Diagnostic::error(code, span, message, label).with_help(help);
    if let Some(object) = wait.object {
        let leaf = subject.form.concurrency.locations[object].leaf;
        let symbol = &subject.program.symbols[subject.program.leaves[leaf].symbol];
        diagnostic = diagnostic.with_label(symbol.span, "declared here");
    }
    diagnostic
}

/// Reports a barrier of which some arrival can never meet enough others.
fn check_barrier(subject: Subject<'_>, barrier: LocationId, arrivals: &[(u32, Span)]) -> Option<Diagnostic> {
    let concurrency = &subject.form.concurrency;
    let leaf = &subject.program.leaves[concurrency.locations[barrier].leaf];
    let LeafKind::Barrier(needed) = leaf.kind else { return None };
    let all_single = arrivals.iter().all(|&(block, _)| !concurrency.may_be_many(concurrency.thread_of(block)));
    if !all_single || arrivals.len() > MAX_ARRIVALS {
        return None;
    }
    let meeting = |block: u32| {
        let own = concurrency.thread_of(block);
        let others = arrivals.iter().filter(|&&(other, _)| concurrency.structurally_parallel(block, other));
        let mut threads: Vec<ThreadId> = others.map(|&(other, _)| concurrency.thread_of(other)).collect();
        threads.push(own);
        threads.sort_unstable();
        threads.dedup();
        threads
    };
    let unmet = arrivals.iter().map(|&(block, span)| (span, meeting(block)));
    let mut unmet: Vec<_> = unmet.filter(|(_, threads)| threads.len() < needed as usize).collect();
    unmet.sort();
    let (span, threads) = unmet.first()?.clone();
    let symbol = &subject.program.symbols[leaf.symbol];
    let name = subject.program.texts.get(leaf.name);
    let message = format!(
        "this barrier waits for {}, but at most {} can meet here",
        count(needed as usize, "thread"),
        threads.len()
    );
    let label = format!("only {} can arrive", subject.threads(&threads));
    let mut diagnostic = Diagnostic::error(Code::BarrierCountUnmet, span, message, label);
    diagnostic = with_arrivals(subject, diagnostic, arrivals, span);
    if subject.sources.text(symbol.span) == name {
        diagnostic = diagnostic.with_label(symbol.span, "declared here");
    }
    let missing = needed as usize - threads.len();
    Some(diagnostic.with_help(format!("let it count {}, or add {}", threads.len(), count(missing, "thread"))))
}

/// Shows the other places of a barrier.
fn with_arrivals(subject: Subject<'_>, diagnostic: Diagnostic, arrivals: &[(u32, Span)], shown: Span) -> Diagnostic {
    let mut places: Vec<Span> = arrivals.iter().map(|&(_, place)| place).filter(|&place| place != shown).collect();
    places.sort_unstable();
    places.dedup();
    places.into_iter().take(MAX_PLACES).fold(diagnostic, |diagnostic, place| {
        let here = arrivals.iter().filter(|arrival| arrival.1 == place);
        let threads: Vec<ThreadId> = here.map(|&(block, _)| subject.form.concurrency.thread_of(block)).collect();
        diagnostic.with_label(place, format!("reached by {}", subject.threads(&threads)))
    })
}
