//! CS0402: cycles of the lock-order graph.
//!
//! **Input**: for each acquisition, the locks that may be held at that point. **Output**: one diagnostic for each cycle of locks
//! whose edges (held, then acquired) may all be in progress at the same time.
//!
//! **Algorithm** (lock graphs: Havelund 2000; gate locks: Bensalem and Havelund 2005)
//! 1. Collect the edges with their thread, class and the other held locks (gates).
//! 2. Search cycles within the strongly connected components of the lock graph, shortest first, until each pair of locks is part
//!    of a reported one.
//! 3. A cycle counts if its edges are pairwise in parallel, and no two of them certainly hold a common gate.
//! 4. A thread waits for the holder of a lock only if the modes exclude each other. A cycle in which a reader waits for a reader
//!    is only a note: it requires an implementation that admits no reader while a writer waits.
//! 5. If each edge is in a function that acquires its two locks in the opposite order too, a condition chooses the order, for
//!    example when locks are sorted: this is only a note.
//!
//! A try is no edge for its own lock, since it does not wait. The lock that it has taken is held at later acquisitions.
//!
//! **Soundness and limits**: the search has a budget. Levels of re-entrant locks and nested readings are not counted. The module
//! does not see references that may refer to several locks, locks built from variables, and counting semaphores.

use super::held::{At, Held};
use super::words::list;
use super::{Potential, Subject};
use cssame_concurrency::lockset::{Hold, excluding, holds_lock};
use cssame_concurrency::{ClassId, ContextId, LocationId, ThreadId};
use cssame_diagnostics::{Code, Diagnostic, Severity};
use cssame_ir::LeafId;
use cssame_ir::sync::Mode;
use cssame_source::Span;
use indexmap::{IndexMap, IndexSet};
use petgraph::algo::kosaraju_scc;
use petgraph::graphmap::DiGraphMap;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// Steps of the search in one component.
const BUDGET: usize = 50_000;
/// Cycles that are reported of one component.
const MAX_CYCLES: usize = 16;

/// A lock is taken while another one is held.
#[derive(Clone, Debug)]
struct Edge {
    held: LocationId,
    taken: LocationId,
    block: u32,
    thread: ThreadId,
    /// In which mode the first is held, and the second one taken.
    modes: (Mode, Mode),
    /// Other locks that are certainly held.
    gates: Vec<Hold>,
    first: Span,
    second: Span,
    /// Whether the function takes the two in the other order as well.
    chosen: bool,
}

type Key = (LocationId, LocationId, (Mode, Mode), ClassId, Vec<Hold>);

/// Locks that threads may take in a cycle, each while it holds the one before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockCycle {
    /// Their names, in the order of the cycle.
    pub locks: Vec<String>,
    /// For each: where a thread that holds it takes the next one.
    pub taken: Vec<Span>,
}

impl LockCycle {
    fn of(subject: Subject<'_>, cycle: &[Edge]) -> LockCycle {
        let name = |edge: &Edge| subject.object(edge.held).trim_matches('`').to_owned();
        LockCycle { locks: cycle.iter().map(name).collect(), taken: cycle.iter().map(|edge| edge.second).collect() }
    }
}

/// The cycles, as data.
pub(super) fn lock_cycles(subject: Subject<'_>, held: &mut Held<'_>) -> Vec<LockCycle> {
    cycles(subject, held).iter().map(|cycle| LockCycle::of(subject, cycle)).collect()
}

/// Reports cycles.
pub(super) fn check(subject: Subject<'_>, held: &mut Held<'_>, found: &mut Vec<(Potential, Diagnostic)>) {
    for cycle in cycles(subject, held) {
        let lock = |edge: &Edge| {
            let location = &subject.form.concurrency.locations[edge.held];
            (location.leaf, location.element)
        };
        let mut locks: Vec<(LeafId, Option<u32>)> = cycle.iter().map(lock).collect();
        locks.sort_unstable();
        found.push((Potential::LockCycle(locks), report(subject, &cycle)));
    }
}

fn cycles(subject: Subject<'_>, held: &mut Held<'_>) -> Vec<Vec<Edge>> {
    let mut found = Vec::new();
    let edges = collect(subject, held);
    let mut graph: DiGraphMap<LocationId, ()> = DiGraphMap::new();
    let mut from: BTreeMap<LocationId, Vec<usize>> = BTreeMap::new();
    for (index, edge) in edges.iter().enumerate() {
        graph.add_edge(edge.held, edge.taken, ());
        from.entry(edge.held).or_default().push(index);
    }
    let mut components: Vec<Vec<LocationId>> = kosaraju_scc(&graph);
    components.retain(|component| component.len() > 1);
    components.iter_mut().for_each(|component| component.sort_unstable());
    components.sort();
    let has_readers = edges.iter().any(|edge| edge.modes.0 == Mode::Shared);
    for (component, readers_wait) in components.iter().flat_map(|one| [(one, false), (one, true)]) {
        if readers_wait && !has_readers {
            continue;
        }
        let members: FxHashSet<LocationId> = component.iter().copied().collect();
        let mut search = Search { subject, edges: &edges, from: &from, members, readers_wait, budget: BUDGET };
        for cycle in search.cycles(component) {
            let mut cycle: Vec<Edge> = cycle.into_iter().map(|edge| edges[edge].clone()).collect();
            // The first thread comes first.
            let first = (0..cycle.len()).min_by_key(|&edge| (cycle[edge].thread, cycle[edge].second));
            cycle.rotate_left(first.unwrap_or(0));
            found.push(cycle);
        }
    }
    found
}

/// All edges, those of equal locks, class and gates once.
fn collect(subject: Subject<'_>, held: &mut Held<'_>) -> Vec<Edge> {
    let concurrency = &subject.form.concurrency;
    let mut known: FxHashSet<Key> = FxHashSet::default();
    let mut edges: Vec<Edge> = Vec::new();
    let mut by_context: FxHashMap<(ContextId, LocationId, LocationId), ()> = FxHashMap::default();
    held.visit(|held, at| {
        let Some((taken, mode)) = taken_lock(held, at) else { return };
        for &take in at.may {
            let Some(first) = held.lock_of(held.event(take)) else { continue };
            if first == taken || (held.vague && !holds_lock(at.must, first)) {
                continue;
            }
            by_context.insert((concurrency.blocks[at.block as usize].context, first, taken), ());
            let others = at.must.iter().copied().filter(|hold| hold.lock != first && hold.lock != taken);
            let gates: Vec<Hold> = others.collect();
            let modes = (held.mode_of(take), mode);
            if known.insert((first, taken, modes, concurrency.classes[at.block as usize], gates.clone())) {
                let thread = held.thread_of(at.block);
                let (start, second) = (held.event(take).span, at.event.span);
                edges.push(Edge {
                    held: first,
                    taken,
                    block: at.block,
                    thread,
                    modes,
                    gates,
                    first: start,
                    second,
                    chosen: false,
                });
            }
        }
    });
    for edge in &mut edges {
        let context = concurrency.blocks[edge.block as usize].context;
        edge.chosen = by_context.contains_key(&(context, edge.taken, edge.held));
    }
    // Step 5: what no condition chooses comes first.
    edges.sort_by_key(|edge| (edge.chosen, edge.held, edge.taken, edge.second, edge.first, edge.thread));
    edges
}

/// The lock that an event waits for and takes, or takes again after a wait, and the mode. A try does not wait.
fn taken_lock(held: &Held<'_>, at: &At<'_>) -> Option<(LocationId, Mode)> {
    let kind = at.event.kind.synchronisation().filter(|kind| !kind.tries())?;
    if kind.only_acquires() {
        let lock = held.lock_of(at.event).filter(|&lock| held.locksets.is_lock(kind, lock))?;
        return Some((lock, kind.mode()));
    }
    match held.concurrency().acquired_by(at.event) {
        [lock] if !held.doubtful.contains(lock) => Some((*lock, Mode::Exclusive)),
        _ => None,
    }
}

struct Search<'a> {
    subject: Subject<'a>,
    edges: &'a [Edge],
    /// Edges by the lock that is held.
    from: &'a BTreeMap<LocationId, Vec<usize>>,
    members: FxHashSet<LocationId>,
    /// Whether cycles are looked for in which some reader waits for another one, which it does only behind a writer.
    readers_wait: bool,
    budget: usize,
}

impl Search<'_> {
    fn cycles(&mut self, component: &[LocationId]) -> Vec<Vec<usize>> {
        let mut covered: FxHashSet<(LocationId, LocationId)> = FxHashSet::default();
        let mut cycles = Vec::new();
        for length in 2..=component.len() {
            for &lock in component {
                for &start in &self.from[&lock] {
                    let edge = &self.edges[start];
                    let pair = (edge.held, edge.taken);
                    if !self.members.contains(&edge.taken) || covered.contains(&pair) {
                        continue;
                    }
                    if cycles.len() >= MAX_CYCLES || self.budget == 0 {
                        return cycles;
                    }
                    let mut path = vec![start];
                    if self.close(&mut path, length) {
                        covered.extend(path.iter().map(|&edge| (self.edges[edge].held, self.edges[edge].taken)));
                        cycles.push(path);
                    }
                }
            }
        }
        cycles
    }

    /// Extends a path to a cycle of that length.
    fn close(&mut self, path: &mut Vec<usize>, length: usize) -> bool {
        let edges = self.edges;
        let (Some(&first), Some(&last)) = (path.first(), path.last()) else { return false };
        let (start, end) = (edges[first].held, edges[last].taken);
        if path.len() == length {
            let has_waiting_reader =
                (0..length).any(|place| !blocks(&edges[path[place]], &edges[path[(place + 1) % length]]));
            return end == start && has_waiting_reader == self.readers_wait;
        }
        let Some(next) = self.from.get(&end) else { return false };
        for &candidate in next {
            if self.budget == 0 {
                return false;
            }
            self.budget -= 1;
            let edge = &edges[candidate];
            let closes = edge.taken == start;
            let repeated = path.iter().any(|&other| edges[other].taken == edge.taken);
            let fits =
                closes == (path.len() + 1 == length) && (closes || !repeated) && self.members.contains(&edge.taken);
            let blocks = self.readers_wait || blocks(&edges[last], edge);
            if fits && blocks && path.iter().all(|&other| self.at_once(&edges[other], edge)) {
                path.push(candidate);
                if self.close(path, length) {
                    return true;
                }
                path.pop();
            }
        }
        false
    }

    fn at_once(&self, a: &Edge, b: &Edge) -> bool {
        self.subject.form.concurrency.parallel(a.block, b.block) && excluding(&a.gates, &b.gates).next().is_none()
    }
}

/// Whether a thread on one edge waits for the thread on the next one: not where both read.
fn blocks(edge: &Edge, next: &Edge) -> bool {
    edge.modes.1.excludes(next.modes.0)
}

/// Threads that the label of one place tells of.
const MAX_WORDS: usize = 2;

fn report(subject: Subject<'_>, cycle: &[Edge]) -> Diagnostic {
    let names: Vec<String> = cycle.iter().map(|edge| subject.object(edge.held)).collect();
    let message = if cycle.len() == 2 {
        format!("{} may be taken in opposite orders by threads that then wait for each other", list(&names))
    } else {
        format!("{} may be taken in a cycle by threads that then wait for each other", list(&names))
    };
    let mut labels: IndexMap<Span, IndexSet<String, FxBuildHasher>, FxBuildHasher> = IndexMap::default();
    let takes = |edge: &Edge| {
        let (held, taken) = (subject.object(edge.held), subject.object(edge.taken));
        format!("{} takes {taken} while it holds {held}", subject.threads(&[edge.thread]))
    };
    for edge in cycle {
        labels.entry(edge.second).or_default().insert(takes(edge));
    }
    for edge in cycle {
        let words = format!("{} has taken {} here", subject.threads(&[edge.thread]), subject.object(edge.held));
        labels.entry(edge.first).or_default().insert(words);
    }
    let is_cut = labels.values().any(|words| words.len() > MAX_WORDS);
    let mut labels = labels.into_iter().map(|(span, words)| {
        let more = words.len().saturating_sub(MAX_WORDS);
        let mut shown: Vec<String> = words.into_iter().take(MAX_WORDS).collect();
        shown.extend((more > 0).then(|| format!("and {more} more")));
        (span, shown.join("; "))
    });
    let (span, label) = labels.next().unwrap_or_default();
    let mut diagnostic = Diagnostic::warning(Code::LockOrderCycle, span, message, label);
    for (span, label) in labels {
        diagnostic = diagnostic.with_label(span, label);
    }
    if is_cut {
        diagnostic = diagnostic.with_note(cycle.iter().map(takes).collect::<Vec<_>>().join("; "));
    }
    if cycle.iter().all(|edge| edge.chosen) {
        diagnostic.severity = Severity::Note;
        diagnostic =
            diagnostic.with_note("a condition chooses the order; if it is the same for all threads, nothing is wrong");
    }
    let next = |place: usize| &cycle[(place + 1) % cycle.len()];
    let readers = cycle.iter().enumerate().filter(|&(place, edge)| !blocks(edge, next(place)));
    let readers: Vec<String> = readers.map(|(_, edge)| subject.object(edge.taken)).collect();
    if !readers.is_empty() {
        diagnostic.severity = Severity::Note;
        diagnostic = diagnostic.with_note(format!(
            "readers of {} do not wait for each other: this deadlocks only where a writer that waits keeps new readers out",
            list(&readers)
        ));
    }
    diagnostic.with_help("take the locks in one order everywhere")
}
