//! A trace, reduced to the part that matters for an order.
//!
//! **Input**: a trace, and the operations that affect a branch or a wait. **Output**: a [`Projection`]: the actions of each
//! thread, as indivisible moves. They are those operations, and the synchronisation that decides in which orders they can happen.
//!
//! **Algorithm**: irrelevant operations are dropped. Empty bodies of locks and empty threads are dropped too. The thread in
//! question ends at the evaluation of the branch.
//!
//! **Soundness and limits**: a body without operations, which takes and releases its locks in turn, can run as a whole wherever
//! its locks are free, so it forbids no order of the rest.

use super::ids::ActionId;
use super::trace::{ActionKind, Trace};
use super::use_define::Point;
use cssame_ir::{LeafKind, Program, Value};
use cssame_vm::{Cell, PathId};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

/// A thread of a projection.
#[derive(Clone, Debug)]
pub struct ProjectedThread {
    /// Its name.
    pub path: PathId,
    /// What it does, move by move: the actions of one move are one step.
    pub moves: Vec<Vec<ActionId>>,
}

/// What is left of a trace.
#[derive(Clone, Debug)]
pub struct Projection {
    /// The threads of which something is left.
    pub threads: Vec<ProjectedThread>,
    /// Operations that matter.
    pub members: FixedBitSet,
    /// The synchronisation objects, by number, with what they begin with.
    pub objects: Vec<(Cell, u32)>,
    numbers: FxHashMap<Cell, u32>,
}

impl Projection {
    /// The whole trace: all operations matter.
    #[must_use]
    pub fn whole(program: &Program, trace: &Trace) -> Projection {
        let mut members = FixedBitSet::with_capacity(trace.actions.len());
        members.extend(
            trace.actions.entries().filter(|(_, action)| action.kind.access().is_some()).map(|(id, _)| id.index()),
        );
        Projection::new(program, trace, members, &|_, _| true, false)
    }

    /// What is left for the orders of some operations before a branch or a wait.
    #[must_use]
    pub fn of(program: &Program, trace: &Trace, members: &[ActionId], point: Point<'_>) -> Projection {
        let (thread, before) = (point.thread(trace), point.before());
        let mut matters = FixedBitSet::with_capacity(trace.actions.len());
        matters.extend(members.iter().map(|member| member.index()));
        let in_time = |path: PathId, id: ActionId| path != thread || id.index() < before;
        Projection::new(program, trace, matters, &in_time, true)
    }

    fn new(
        program: &Program,
        trace: &Trace,
        members: FixedBitSet,
        in_time: &dyn Fn(PathId, ActionId) -> bool,
        drops_bodies: bool,
    ) -> Projection {
        let mut projection =
            Projection { threads: Vec::new(), members, objects: Vec::new(), numbers: FxHashMap::default() };
        let mut order: FxHashMap<PathId, usize> = FxHashMap::default();
        let mut threads: Vec<(PathId, Vec<ActionId>)> = Vec::new();
        for (id, action) in trace.actions.entries() {
            let is_kept = action.kind.access().is_none() || projection.members.contains(id.index());
            if !is_kept || !in_time(action.thread, id) {
                continue;
            }
            let place = *order.entry(action.thread).or_insert_with(|| {
                threads.push((action.thread, Vec::new()));
                threads.len() - 1
            });
            threads[place].1.push(id);
        }
        for (path, mut actions) in threads {
            if drops_bodies {
                drop_empty_bodies(trace, &mut actions);
            }
            if !actions.is_empty() {
                projection.threads.push(ProjectedThread { path, moves: in_moves(trace, actions) });
            }
        }
        projection.number_objects(program, trace);
        projection
    }

    fn number_objects(&mut self, program: &Program, trace: &Trace) {
        let actions: Vec<ActionId> =
            self.threads.iter().flat_map(|thread| thread.moves.iter().flatten().copied()).collect();
        for id in actions {
            for cell in objects_of(trace.actions[id].kind).into_iter().flatten() {
                if !self.numbers.contains_key(&cell) {
                    self.numbers.insert(cell, self.objects.len() as u32);
                    self.objects.push((cell, initial_value(program, cell)));
                }
            }
        }
    }

    /// The number of an object.
    #[must_use]
    pub fn number(&self, cell: Cell) -> usize {
        self.numbers.get(&cell).copied().unwrap_or_default() as usize
    }

    /// The number of a thread.
    #[must_use]
    pub fn thread(&self, path: PathId) -> Option<usize> {
        self.threads.iter().position(|thread| thread.path == path)
    }
}

/// The objects that an action works on.
fn objects_of(kind: ActionKind) -> [Option<Cell>; 2] {
    match kind {
        ActionKind::Lock(cell)
        | ActionKind::Unlock(cell)
        | ActionKind::ReadLock(cell)
        | ActionKind::ReadUnlock(cell)
        | ActionKind::Relock { lock: cell, .. }
        | ActionKind::Set(cell)
        | ActionKind::Clear(cell)
        | ActionKind::WaitEvent(cell)
        | ActionKind::Acquire(cell)
        | ActionKind::Release(cell)
        | ActionKind::Arrive(cell) => [Some(cell), None],
        ActionKind::Notify { condition, .. } => [condition, None],
        ActionKind::Wait { condition } => [condition.map(|pair| pair.0), condition.map(|pair| pair.1)],
        ActionKind::Read { .. }
        | ActionKind::Write { .. }
        | ActionKind::Fork(_)
        | ActionKind::Spawn(_)
        | ActionKind::Join
        | ActionKind::JoinThread(_) => [None, None],
    }
}

/// What an object begins with: the count of a semaphore, whether an event is set; a lock is free.
fn initial_value(program: &Program, cell: Cell) -> u32 {
    let Some((leaf, element)) = cell.element(program) else { return 0 };
    let leaf = &program.leaves[leaf];
    let initial = leaf.initial.get(element as usize);
    match (leaf.kind, initial) {
        (LeafKind::Semaphore | LeafKind::Event, Some(&Value::Int(value))) => value.clamp(0, 2_000_000_000) as u32,
        (LeafKind::Semaphore | LeafKind::Event, Some(&Value::Long(value))) => value.clamp(0, 2_000_000_000) as u32,
        (LeafKind::Event, Some(&Value::Bool(set))) => u32::from(set),
        _ => 0,
    }
}

/// How many threads a barrier is for.
#[must_use]
pub fn barrier_count(program: &Program, cell: Cell) -> u32 {
    match cell.leaf(program).map(|leaf| program.leaves[leaf].kind) {
        Some(LeafKind::Barrier(count)) => count,
        _ => 1,
    }
}

/// Drops pairs of taking and freeing a lock with nothing in between, from the inside.
fn drop_empty_bodies(trace: &Trace, actions: &mut Vec<ActionId>) {
    let mut kept: Vec<ActionId> = Vec::with_capacity(actions.len());
    for &id in actions.iter() {
        let taken = match trace.actions[id].kind {
            ActionKind::Unlock(freed) => Some(ActionKind::Lock(freed)),
            ActionKind::ReadUnlock(freed) => Some(ActionKind::ReadLock(freed)),
            _ => None,
        };
        if taken.is_some() && taken == kept.last().map(|&last| trace.actions[last].kind) {
            kept.pop();
        } else {
            kept.push(id);
        }
    }
    *actions = kept;
}

fn in_moves(trace: &Trace, actions: Vec<ActionId>) -> Vec<Vec<ActionId>> {
    let mut moves: Vec<Vec<ActionId>> = Vec::new();
    for id in actions {
        let step = trace.actions[id].step;
        match moves.last_mut() {
            Some(last) if last.last().is_some_and(|&before| trace.actions[before].step == step) => last.push(id),
            _ => moves.push(vec![id]),
        }
    }
    moves
}
