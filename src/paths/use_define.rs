//! Finds the operations that affect a branch: use-defines, `BranchRelUD` and `BranchRelOP`.
//!
//! **Input**: a trace, and one evaluation of a branch, or one wait. **Output**: [`Related`]: the operations that may affect its
//! outcome, and the use-defines between them.
//!
//! **Algorithm** (Algorithm 2 of the paper, on dynamic instances).
//!
//! 1. Begin with the operations from which the condition is computed, and those of the branches that decided that this one is
//!    evaluated.
//! 2. A read depends on the last write of its cell by its own thread (the conventional use-define), and on every write of the
//!    cell by another thread, anywhere in the trace (the extended use-define).
//! 3. A write depends on the reads from which its value and its index are computed.
//! 4. Operations of the branch's thread after the evaluation are left out, and so are reads of other threads that can see no
//!    write.
//!
//! A wait for a notification depends on itself, on the notifications of other threads, and, by step 1, on the branches around the
//! wait: all these decide whether it is woken.
//!
//! **Soundness and limits**: the result covers only the actions of this execution; further actions are found when another
//! execution is made. A use-define of the paper that no execution has is harmless: no order realises it.

use super::ids::{ActionId, EvaluationId};
use super::trace::{Action, ActionKind, Evaluation, Trace, Waiting};
use cssame_vm::{Cell, PathId};
use rustc_hash::{FxHashMap, FxHashSet};

/// A use of a value and its definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UseDefine {
    /// The operation that reads.
    pub read: ActionId,
    /// The operation that writes.
    pub write: ActionId,
}

/// What affects a branch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Related {
    /// `BranchRelOP`: the operations, in the order of the trace; of a wait also what notifies.
    pub members: Vec<ActionId>,
    /// `BranchRelUD`, sorted.
    pub use_defines: Vec<UseDefine>,
}

/// What is asked about.
#[derive(Clone, Copy, Debug)]
pub enum Point<'t> {
    /// An evaluation of a branch.
    Branch(&'t Evaluation),
    /// A wait.
    Wait(&'t Waiting),
}

impl Point<'_> {
    /// Whose it is.
    #[must_use]
    pub fn thread(self, trace: &Trace) -> PathId {
        match self {
            Point::Branch(evaluation) => evaluation.thread,
            Point::Wait(waiting) => trace.actions[waiting.action].thread,
        }
    }

    /// The number of actions of the trace up to it; a wait stands before it itself.
    #[must_use]
    pub fn before(self) -> usize {
        match self {
            Point::Branch(evaluation) => evaluation.before as usize,
            Point::Wait(waiting) => waiting.action.index() + 1,
        }
    }
}

/// The writes of a trace by cell: made once for all branches.
#[derive(Debug, Default)]
pub struct Writes {
    by_cell: FxHashMap<Cell, Vec<ActionId>>,
}

impl Writes {
    /// The writes of a trace.
    #[must_use]
    pub fn new(trace: &Trace) -> Writes {
        let mut by_cell: FxHashMap<Cell, Vec<ActionId>> = FxHashMap::default();
        for (id, action) in trace.actions.entries() {
            if let ActionKind::Write { cell, .. } = action.kind {
                by_cell.entry(cell).or_default().push(id);
            }
        }
        Writes { by_cell }
    }

    /// The extended use-defines of a read: the writes of its cell by other threads.
    fn by_others<'w>(&'w self, trace: &'w Trace, read: &Action) -> impl Iterator<Item = ActionId> + 'w {
        let thread = read.thread;
        let writes = read.kind.operand().and_then(|cell| self.by_cell.get(&cell)).map_or(&[][..], Vec::as_slice);
        writes.iter().copied().filter(move |&write| trace.actions[write].thread != thread)
    }
}

/// What affects a branch or a wait.
#[must_use]
pub fn related(trace: &Trace, writes: &Writes, point: Point<'_>) -> Related {
    let (thread, before) = (point.thread(trace), point.before());
    let is_left_out = |action: ActionId| trace.actions[action].thread == thread && action.index() >= before;
    let mut known_sets: FxHashSet<u32> = FxHashSet::default();
    let mut waiting = roots(trace, point, &mut known_sets);
    let mut seen: FxHashSet<ActionId> = FxHashSet::default();
    let mut found = Related::default();
    while let Some(id) = waiting.pop() {
        if is_left_out(id) || !seen.insert(id) {
            continue;
        }
        found.members.push(id);
        let action = &trace.actions[id];
        if let ActionKind::Read { .. } = action.kind {
            let own = action.own_write.into_iter();
            for write in own.chain(writes.by_others(trace, action)).filter(|&write| !is_left_out(write)) {
                found.use_defines.push(UseDefine { read: id, write });
                waiting.push(write);
            }
        }
        trace.taints.collect(action.sources, &mut known_sets, &mut waiting);
    }
    found.members.sort_unstable();
    found.use_defines.sort_unstable();
    // A read of another thread that sees no write in any order is part of no use-define (FACTS A5: that of `765`).
    let is_used: FxHashSet<ActionId> = found.use_defines.iter().map(|one| one.read).collect();
    found.members.retain(|id| {
        let action = &trace.actions[*id];
        action.thread == thread || !matches!(action.kind, ActionKind::Read { .. }) || is_used.contains(id)
    });
    found
}

impl Related {
    /// `BranchRelOP` as the paper has it: the members that are part of a use-define. Beside them a read of the branch's
    /// own thread that sees no write is a member, since another execution may have one.
    pub fn in_use_defines<'r>(&'r self, trace: &'r Trace) -> impl Iterator<Item = ActionId> + 'r {
        let is_used: FxHashSet<ActionId> = self.use_defines.iter().map(|one| one.read).collect();
        let is_read = |id: &ActionId| matches!(trace.actions[*id].kind, ActionKind::Read { .. });
        self.members.iter().copied().filter(move |id| !is_read(id) || is_used.contains(id))
    }
}

/// Where the search begins.
fn roots(trace: &Trace, point: Point<'_>, known_sets: &mut FxHashSet<u32>) -> Vec<ActionId> {
    let (mut sets, controls, mut roots) = match point {
        Point::Branch(evaluation) => (vec![evaluation.sources], &evaluation.controls, Vec::new()),
        Point::Wait(waiting) => (Vec::new(), &waiting.controls, partners(trace, waiting.action)),
    };
    let mut decided: Vec<EvaluationId> = controls.to_vec();
    let mut seen: FxHashSet<EvaluationId> = FxHashSet::default();
    while let Some(id) = decided.pop() {
        if seen.insert(id) {
            let evaluation = &trace.evaluations[id];
            sets.push(evaluation.sources);
            decided.extend(&evaluation.controls);
        }
    }
    sets.into_iter().for_each(|set| trace.taints.collect(set, known_sets, &mut roots));
    roots
}

/// A wait, and what other threads do to what it waits for.
fn partners(trace: &Trace, wait: ActionId) -> Vec<ActionId> {
    let of = &trace.actions[wait];
    let concerns = |action: &Action| match (of.kind, action.kind) {
        (ActionKind::Wait { condition }, ActionKind::Notify { condition: notified, .. }) => {
            condition.map(|(condition, _)| condition) == notified
        }
        _ => false,
    };
    let others = trace.actions.entries().filter(|(_, action)| action.thread != of.thread && concerns(action));
    std::iter::once(wait).chain(others.map(|(id, _)| id)).collect()
}
