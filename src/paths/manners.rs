//! Access-manners: determine which executions are race-equivalent.
//!
//! **Input**: a trace. **Output**: [`Manners`]: for each thread the set of its access-manners.
//!
//! **Algorithm** (section IV.A of the paper). An access-manner consists of the actions of a thread from the moment when it takes
//! a lock while it holds none to the moment when it holds none again. Each operation without a lock is an access-manner too. Two
//! executions are *race-equivalent* if all their threads have the same sets. So endless loops have finitely many.
//!
//! **Soundness and limits**: operations and locks are identified by their places and names, so that executions of one program can
//! be compared. A body that was not left at the end counts up to its last action.

use super::analysis::{PlacedOperation, Placing};
use super::trace::{ActionKind, Trace};
use cssame_vm::{Cell, PathId};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// A part of an access-manner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// An operation.
    Operation(PlacedOperation),
    /// A lock is taken.
    Lock(Cell),
    /// A lock is freed.
    Unlock(Cell),
    /// A readers-writer lock is taken for reading.
    ReadLock(Cell),
}

/// What is done at a time: under locks, or one operation without.
pub type Manner = Vec<Part>;

/// The access-manners of all threads: equal for executions that are race-equivalent.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Manners(pub BTreeMap<PathId, BTreeSet<Manner>>);

/// A thread of the trace.
#[derive(Default)]
struct Thread {
    held: usize,
    current: Manner,
}

impl Manners {
    /// The access-manners of a trace.
    #[must_use]
    pub fn new(placing: Placing<'_>, trace: &Trace) -> Manners {
        let mut threads: FxHashMap<PathId, Thread> = FxHashMap::default();
        let mut manners = Manners::default();
        for action in trace.actions.iter() {
            let part = match action.kind {
                ActionKind::Read { .. } | ActionKind::Write { .. } => Part::Operation(placing.of(action)),
                ActionKind::Lock(cell) | ActionKind::Relock { lock: cell, .. } => Part::Lock(cell),
                ActionKind::ReadLock(cell) => Part::ReadLock(cell),
                ActionKind::Unlock(cell)
                | ActionKind::ReadUnlock(cell)
                | ActionKind::Wait { condition: Some((_, cell)) } => Part::Unlock(cell),
                _ => continue,
            };
            let thread = threads.entry(action.thread).or_default();
            thread.current.push(part);
            match part {
                Part::Lock(_) | Part::ReadLock(_) => thread.held += 1,
                Part::Unlock(_) => thread.held = thread.held.saturating_sub(1),
                Part::Operation(_) => {}
            }
            if thread.held == 0 {
                let manner = std::mem::take(&mut thread.current);
                manners.0.entry(action.thread).or_default().insert(manner);
            }
        }
        for (path, thread) in threads.into_iter().filter(|(_, thread)| !thread.current.is_empty()) {
            manners.0.entry(path).or_default().insert(thread.current);
        }
        manners
    }
}
