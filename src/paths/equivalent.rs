//! Orders that need no execution: they only exchange independent steps of an execution.
//!
//! **Input**: a trace, and a way to another order. **Output**: the order of all actions, if an execution certainly has it.
//!
//! **Algorithm**: the whole trace is rearranged into the order of an execution that would follow the way. If each read then has
//! the same version as in the trace, and each write creates the same version, no value and no branch changes. Threads do the
//! same, and the synchronisation (locks, waits and the rest) allows it ([`Interleaving`]).
//!
//! **Soundness and limits**: a positive answer is exact. The answer is negative if the result of a try or a time-out may depend
//! on the order, if a lock prefers writers, and for executions that fail, get stuck or do not end.

use super::complete::completed;
use super::guided::Requirement;
use super::ids::ActionId;
use super::interleaving::Interleaving;
use super::projection::Projection;
use super::trace::{ActionKind, Trace};
use cssame_model::Model;
use cssame_schedule::ExecutionStatus;
use cssame_vm::Cell;
use rustc_hash::FxHashMap;

/// The actions of a trace in the order that follows the requirements, if that is an execution with the same values.
pub(super) fn equivalent(model: &Model, trace: &Trace, required: &[Requirement]) -> Option<Vec<ActionId>> {
    let times_out = |kind: ActionKind| matches!(kind, ActionKind::Relock { timed_out: true, .. });
    if model.machine().tries_locks()
        || model.machine().prefers_writers()
        || trace.endless
        || trace.status != ExecutionStatus::Ok
        || trace.actions.iter().any(|action| times_out(action.kind))
    {
        return None;
    }
    let whole = Projection::whole(model.program(), trace);
    let spurious = model.options().semantics.spurious_wakeups;
    let order = completed(trace, &Interleaving::new(model.program(), trace, &whole, spurious), required);
    // Making threads and waiting for their end are no moves.
    let is_move = |id: &&ActionId| !trace.actions[**id].kind.is_of_threads();
    let moves = whole.threads.iter().flat_map(|thread| &thread.moves).flatten().filter(is_move).count();
    let is_whole = order.iter().filter(is_move).count() == moves;
    (is_whole && has_same_versions(trace, &order)).then_some(order)
}

/// Whether reads and writes have the versions of the trace.
fn has_same_versions(trace: &Trace, order: &[ActionId]) -> bool {
    let mut versions: FxHashMap<Cell, u32> = FxHashMap::default();
    order.iter().all(|&id| {
        let action = &trace.actions[id];
        let Some(cell) = action.kind.operand() else { return true };
        let version = versions.entry(cell).or_default();
        *version += u32::from(action.kind.is_write());
        *version == action.version
    })
}
