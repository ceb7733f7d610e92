//! CS0402 for locks that the text does not distinguish, such as elements of an array with an unknown index.
//!
//! **Input**: for each acquisition, the acquisitions whose lock may be held at that point. **Output**: one note for each array of
//! locks, or pair of arrays, whose elements threads may acquire in a cycle.
//!
//! **Algorithm**: as for [known](super::lock_order) locks, with arrays in place of locks. In an edge, a thread acquires an
//! element of one array while it may hold an element of another array, or of the same one; at least one of the two elements is
//! unknown. Two opposite edges count, and one edge from an array to itself, if they may be in progress at the same time and no
//! common gate is certainly held.
//!
//! **Soundness and limits**: this is only a note, because it is unknown whether the elements are the same, and in which order
//! they are acquired. The module does not see cycles of three arrays or more, locks that are reacquired after a wait, edges
//! beyond [`MAX_EDGES`], and a single lock that a thread acquires twice.

use super::held::{At, Held};
use super::lock_order::LockCycle;
use super::{Potential, Subject};
use cssame_concurrency::lockset::{Hold, excluding};
use cssame_concurrency::{ClassId, Event};
use cssame_diagnostics::{Code, Diagnostic, Severity};
use cssame_ir::LeafId;
use cssame_ir::sync::Mode;
use cssame_source::Span;
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// Edges beyond which no more are looked at.
const MAX_EDGES: usize = 1_000;

/// An element of an array is taken while one of an array may be held.
#[derive(Clone, Debug)]
struct Edge {
    held: LeafId,
    taken: LeafId,
    block: u32,
    modes: (Mode, Mode),
    /// Locks that are certainly held.
    gates: Vec<Hold>,
    first: Span,
    second: Span,
}

type Key = (LeafId, LeafId, (Mode, Mode), ClassId, Vec<Hold>);

/// Two edges, perhaps one twice, that lead to and fro.
type Circle<'e> = [&'e Edge; 2];

/// Reports them.
pub(super) fn check(subject: Subject<'_>, held: &mut Held<'_>, found: &mut Vec<(Potential, Diagnostic)>) {
    let edges = collect(subject, held);
    for circle in circles(subject, &edges) {
        let mut locks = vec![(circle[0].held, None), (circle[1].held, None)];
        locks.sort_unstable();
        locks.dedup();
        found.push((Potential::LockCycle(locks), report(subject, circle)));
    }
}

/// The same as data.
pub(super) fn lock_cycles(subject: Subject<'_>, held: &mut Held<'_>) -> Vec<LockCycle> {
    let edges = collect(subject, held);
    let found = circles(subject, &edges).into_iter();
    let cycle = |circle: Circle<'_>| {
        let locks = circle.iter().map(|edge| name(subject, edge.held)).collect();
        LockCycle { locks, taken: circle.iter().map(|edge| edge.second).collect() }
    };
    found.map(cycle).collect()
}

fn name(subject: Subject<'_>, leaf: LeafId) -> String {
    subject.program.leaves[leaf].row_name(&subject.program.texts)
}

/// All edges, those of equal arrays, class and gates once.
fn collect(subject: Subject<'_>, held: &mut Held<'_>) -> Vec<Edge> {
    let concurrency = &subject.form.concurrency;
    let mut known: FxHashSet<Key> = FxHashSet::default();
    let mut edges: Vec<Edge> = Vec::new();
    held.visit(|held, at| {
        let Some((taken, mode)) = taken_leaves(held, at) else { return };
        for &take in at.may {
            let event = held.event(take);
            if held.lock_of(at.event).is_some() && held.lock_of(event).is_some() {
                continue;
            }
            let is_same = concurrency
                .certain_location(subject.program, event)
                .is_some_and(|lock| concurrency.certain_location(subject.program, at.event) == Some(lock));
            let modes = (held.mode_of(take), mode);
            for (&first, &second) in
                leaves(held, event).iter().flat_map(|first| taken.iter().map(move |taken| (first, taken)))
            {
                // A lock that is taken twice by one thread makes no circle with others.
                let is_single = first == second && subject.program.leaves[first].element_count() < 2;
                if is_same || is_single || edges.len() >= MAX_EDGES {
                    continue;
                }
                let gates = at.must.to_vec();
                if known.insert((first, second, modes, concurrency.classes[at.block as usize], gates.clone())) {
                    let (start, end) = (event.span, at.event.span);
                    edges.push(Edge {
                        held: first,
                        taken: second,
                        block: at.block,
                        modes,
                        gates,
                        first: start,
                        second: end,
                    });
                }
            }
        }
    });
    edges.sort_by_key(|edge| (edge.held, edge.taken, edge.second, edge.first, edge.block));
    edges
}

/// The arrays, or single locks, that an operation may mean.
fn leaves(held: &Held<'_>, event: &Event) -> BTreeSet<LeafId> {
    let concurrency = held.concurrency();
    concurrency.locations_of(event).iter().map(|&location| concurrency.locations[location].leaf).collect()
}

/// The arrays of the lock that an event waits for and takes, and the mode.
fn taken_leaves(held: &Held<'_>, at: &At<'_>) -> Option<(BTreeSet<LeafId>, Mode)> {
    let kind = at.event.kind.synchronisation().filter(|kind| kind.only_acquires() && !kind.tries())?;
    let mut locations = held.concurrency().locations_of(at.event).iter();
    let are_locks = locations.all(|&lock| held.locksets.is_lock(kind, lock));
    (are_locks && !at.may.is_empty()).then(|| (leaves(held, at.event), kind.mode()))
}

/// The first two edges of each two arrays.
fn circles<'e>(subject: Subject<'_>, edges: &'e [Edge]) -> Vec<Circle<'e>> {
    let mut known: BTreeSet<[LeafId; 2]> = BTreeSet::new();
    let mut found = Vec::new();
    for (place, edge) in edges.iter().enumerate() {
        let mut arrays = [edge.held, edge.taken];
        arrays.sort_unstable();
        if known.contains(&arrays) {
            continue;
        }
        let back = edges[place..].iter().find(|back| {
            let leads_back = back.held == edge.taken && back.taken == edge.held;
            let waits = |one: &Edge, other: &Edge| one.modes.1.excludes(other.modes.0);
            leads_back && waits(edge, back) && waits(back, edge) && at_once(subject, edge, back)
        });
        if let Some(back) = back {
            known.insert(arrays);
            found.push([edge, back]);
        }
    }
    found
}

fn at_once(subject: Subject<'_>, a: &Edge, b: &Edge) -> bool {
    subject.form.concurrency.parallel(a.block, b.block) && excluding(&a.gates, &b.gates).next().is_none()
}

fn report(subject: Subject<'_>, circle: Circle<'_>) -> Diagnostic {
    let there = circle[0];
    let (held, taken) = (name(subject, there.held), name(subject, there.taken));
    let message = if held == taken {
        format!("threads take one `{taken}` while they hold another one: they may wait for each other in a cycle")
    } else {
        format!(
            "threads take `{taken}` while they hold `{held}`, and the other way round: they may wait for each other"
        )
    };
    let mut labels: Vec<(Span, String)> = Vec::new();
    for edge in circle {
        let (held, taken) = (name(subject, edge.held), name(subject, edge.taken));
        let other = if held == taken { "another one".to_owned() } else { format!("`{held}`") };
        let takes = format!("takes `{taken}` while it holds {other}");
        for (span, words) in [(edge.second, takes), (edge.first, format!("has taken `{held}` here"))] {
            if labels.iter().all(|(known, _)| *known != span) {
                labels.push((span, words));
            }
        }
    }
    let mut labels = labels.into_iter();
    let (span, label) = labels.next().unwrap_or_default();
    let mut diagnostic = Diagnostic::warning(Code::LockOrderCycle, span, message, label);
    for (span, label) in labels {
        diagnostic = diagnostic.with_label(span, label);
    }
    diagnostic.severity = Severity::Note;
    diagnostic
        .with_note(
            "it is not known here which of the locks are the same; `cssame futures` decides if a deadlock is possible",
        )
        .with_help("take the locks in one order everywhere")
}
