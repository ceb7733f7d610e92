//! Signals: events that certainly precede a wait.
//!
//! **Input**: the synchronisation events of the graph. **Output**: [`Signal`]s, and value-flow edges from each signal to its
//! waits.
//!
//! **Algorithm**
//! 1. Find the waits for an object, and the events of the whole program that raise it: `set` of an event, `V` of a semaphore that
//!    begins with 0, a bare notification.
//! 2. Keep the signals whose events happen at most once each: a thread that has passed a wait then comes after one of them.
//! 3. Connect the value flow from the events to each wait. If their threads are siblings, parents or children of the waiting
//!    thread, both branches have run at the wait, and they parted at the fork. Several events are alternatives of one branch: one
//!    of them has been taken.
//!
//! **Soundness and limits**: `clear` can be ignored: before a thread passed a wait, one of the events set the object. Objects to
//! which some event may refer without certainty, more than [`MAX_RAISING`] events, and an event that happens more than once order
//! nothing.

use super::builder::GraphBuilder;
use super::live_region::reach;
use super::repetition::Repetition;
use super::sync_object::{MAX_OBJECTS, Objects};
use super::{AndJoin, LocationId, ThreadId};
use cssame_ir::sync::Edge;
use cssame_ir::{LeafKind, Program, Value};
use cssame_ssa::graph::Graph;
use rustc_hash::FxHashSet;

/// Events that raise an object are followed up to that many.
const MAX_RAISING: usize = 8;

/// Events of which waits certainly come after one.
#[derive(Clone, Debug)]
pub struct Signal {
    /// The blocks that end with them; not empty.
    pub at: Vec<u32>,
    /// The thread of all of them, if that is one.
    pub thread: Option<ThreadId>,
    /// Blocks that begin with a wait for it.
    pub waits: Vec<u32>,
    /// Blocks of its thread that can come after some of them.
    pub after: FxHashSet<u32>,
}

/// Finds the signals, and wires the flow of values along them.
pub(super) fn find_signals(builder: &mut GraphBuilder<'_>, local: &Graph, objects: &Objects) -> Vec<Signal> {
    let mut signals = Vec::new();
    let program = builder.program;
    let mut found: Vec<(Vec<u32>, Vec<u32>)> = Vec::new();
    // Step 1: waits for an object, and what raises it.
    for (&(wait, object), waits) in &objects.certain {
        if wait.properties().edge != Edge::Target || !objects.is_certain(object) {
            continue;
        }
        let counts_up = object.is_some_and(|object| may_begin_raised(program, builder, object));
        let raising = wait.properties().waits_for.iter().flat_map(|&kind| objects.blocks(kind, object));
        let raising: Vec<u32> = raising.copied().collect();
        if !counts_up && (1..=MAX_RAISING).contains(&raising.len()) {
            found.push((raising, waits.clone()));
        }
    }
    found.sort_unstable();
    found.truncate(MAX_OBJECTS);
    // Step 2: signals that are raised at most once. Where the fork of the signal's thread lies on a cycle, the marker of the
    // merge at the wait would too, so that such signals are left out.
    let mut repetitions = builder.repetitions(local);
    found.retain(|(at, _)| at.iter().all(|&at| repetitions.of(at) == Repetition::Once));
    // Step 3.
    for (at, waits) in found {
        let first = builder.thread_of(at[0]);
        let thread = at.iter().all(|&at| builder.thread_of(at) == first).then_some(first);
        for &wait in &waits {
            wire_signal(builder, local, &at, wait);
        }
        let after = at.iter().flat_map(|&at| reach(local, at, &FxHashSet::default())).collect();
        signals.push(Signal { at, thread, waits, after });
    }
    signals
}

/// Whether an object is a semaphore that a thread can pass before anybody raises it.
fn may_begin_raised(program: &Program, builder: &GraphBuilder<'_>, location: LocationId) -> bool {
    let leaf = &program.leaves[builder.locations[location].leaf];
    leaf.kind == LeafKind::Semaphore && leaf.initial.first() != Some(&Value::Int(0))
}

fn wire_signal(builder: &mut GraphBuilder<'_>, local: &Graph, signals: &[u32], wait: u32) {
    builder.flow_edges.extend(signals.iter().map(|&signal| (signal, wait)));
    let to = builder.thread_of(wait);
    let mut threads: Vec<ThreadId> = signals.iter().map(|&signal| builder.thread_of(signal)).collect();
    let marker = parting(builder, threads[0], to);
    let Some(marker) = marker.filter(|_| threads.iter().all(|&from| parting(builder, from, to) == marker)) else {
        return;
    };
    threads.sort_unstable();
    threads.dedup();
    threads.push(to);
    let branches = vec![signals.to_vec(), local.predecessors(wait).to_vec()];
    builder.and_joins.push(AndJoin { block: wait, marker, branches, threads });
}

/// Where the branches of two threads parted: at the fork of both, or at that of the one by the other.
fn parting(builder: &GraphBuilder<'_>, from: ThreadId, to: ThreadId) -> Option<u32> {
    let threads = &builder.unfolding.threads;
    let siblings = from != to && threads[from].parent.is_some() && threads[from].fork == threads[to].fork;
    if siblings || threads[from].parent == Some(to) {
        Some(threads[from].fork)
    } else if threads[to].parent == Some(from) {
        Some(threads[to].fork)
    } else {
        None
    }
}
