//! Signals: events that a wait is certainly ordered after.
//!
//! **Input**: the synchronisation events of the graph. **Output**: [`Signal`]s, and edges along which values flow from each signal
//! to its waits.
//!
//! **Algorithm**
//! 1. Find the waits for an object that one event in the whole program raises: `set` of an event, `V` of a semaphore that begins
//!    with 0, a bare notification.
//! 2. Keep the signals that are raised at most once: a thread that has passed a wait then comes after that very event.
//! 3. Wire the flow of values from the signal to each wait. Where the two threads are siblings, or one is the parent of
//!    the other, both branches have run at the wait, and they parted at the fork.
//!
//! **Soundness and limits**: `clear` needs no attention: a wait that is passed was set before, and there is only one `set`.
//! Objects that some event may mean without certainty, and everything raised more than once, order nothing.

use super::builder::GraphBuilder;
use super::live_region::reach;
use super::repetition::Repetition;
use super::sync_object::{MAX_OBJECTS, Objects};
use super::{AndJoin, LocationId, ThreadId};
use cssame_ir::sync::Edge;
use cssame_ir::{LeafKind, Program, Value};
use cssame_ssa::graph::Graph;
use rustc_hash::FxHashSet;

/// An event that waits are certainly ordered after.
#[derive(Clone, Debug)]
pub struct Signal {
    /// The block that ends with the signal.
    pub at: u32,
    pub thread: ThreadId,
    /// Blocks that begin with a wait for it.
    pub waits: Vec<u32>,
    /// Blocks of its thread that can come after it.
    pub after: FxHashSet<u32>,
}

/// Finds the signals, and wires the flow of values along them.
pub(super) fn find_signals(builder: &mut GraphBuilder<'_>, local: &Graph, objects: &Objects) -> Vec<Signal> {
    let mut signals = Vec::new();
    let program = builder.program;
    let mut found: Vec<(u32, Vec<u32>)> = Vec::new();
    // Step 1: waits for an object that one event in the whole program raises.
    for (&(wait, object), waits) in &objects.certain {
        if wait.properties().edge != Edge::Target || !objects.is_certain(object) {
            continue;
        }
        let counts_up = object.is_some_and(|object| may_begin_raised(program, builder, object));
        let raising = wait.properties().waits_for.iter().flat_map(|&kind| objects.blocks(kind, object));
        if let ([signal], false) = (raising.copied().collect::<Vec<u32>>().as_slice(), counts_up) {
            found.push((*signal, waits.clone()));
        }
    }
    found.sort_unstable();
    found.truncate(MAX_OBJECTS);
    // Step 2: signals that are raised at most once. Where the fork of the signal's thread lies on a cycle, the marker of the
    // merge at the wait would too, so that such signals are left out.
    let mut repetitions = builder.repetitions(local);
    found.retain(|&(at, _)| repetitions.of(at) == Repetition::Once);
    // Step 3.
    for (at, waits) in found {
        let thread = builder.thread_of(at);
        for &wait in &waits {
            wire_signal(builder, local, at, wait);
        }
        let after = reach(local, at, &FxHashSet::default()).into_iter().collect();
        signals.push(Signal { at, thread, waits, after });
    }
    signals
}

/// Whether an object is a semaphore that a thread can pass before anybody raises it.
fn may_begin_raised(program: &Program, builder: &GraphBuilder<'_>, location: LocationId) -> bool {
    let leaf = &program.leaves[builder.locations[location].leaf];
    leaf.kind == LeafKind::Semaphore && leaf.initial.first() != Some(&Value::Int(0))
}

fn wire_signal(builder: &mut GraphBuilder<'_>, local: &Graph, signal: u32, wait: u32) {
    builder.flow_edges.push((signal, wait));
    let (from, to) = (builder.thread_of(signal), builder.thread_of(wait));
    let threads = &builder.unfolding.threads;
    // Where the branches that meet here parted: at the fork of both threads, or at that of the one by the other.
    let siblings = from != to && threads[from].parent.is_some() && threads[from].fork == threads[to].fork;
    let marker = if siblings || threads[from].parent == Some(to) {
        threads[from].fork
    } else if threads[to].parent == Some(from) {
        threads[to].fork
    } else {
        return;
    };
    let branches = vec![vec![signal], local.predecessors(wait).to_vec()];
    builder.and_joins.push(AndJoin { block: wait, marker, branches, threads: vec![from, to] });
}
