//! Decides whether some execution has a given order of operations.
//!
//! **Input**: a decision of a trace, and an order of its operations. **Output**: the question for the search through
//! all states ([`order`](crate::order::order())).
//!
//! **Soundness and limits**: for a branch the question is the order itself. For a wait, the question leaves out the
//! notifications, which are not operations. If the accesses cannot happen in that order before the wait begins, the full order is
//! impossible too; if they can, the full order stays undecided.

use super::analysis::{Decision, DecisionKind};
use super::ids::{ActionId, EvaluationId};
use super::trace::Trace;
use crate::order::{OrderRequest, OrderStep, Others, Target};

/// The question whether an order exists; for a wait, whether that of its accesses does.
#[must_use]
pub fn order_request(trace: &Trace, decision: &Decision, order: &[ActionId]) -> OrderRequest {
    let step = |&id: &ActionId| {
        let action = &trace.actions[id];
        let access = action.kind.access()?;
        Some(OrderStep { thread: action.thread, access, instance: action.instance })
    };
    let is_access = |id: &&ActionId| trace.actions[**id].kind.access().is_some();
    let members: Vec<ActionId> = decision.related.members.iter().filter(is_access).copied().collect();
    let place = |id: &ActionId| members.iter().position(|member| member == id);
    let (thread, instance) = (decision.place.thread, decision.instance);
    let target = match decision.place.kind {
        DecisionKind::Branch => {
            Target::Branch { thread, at: trace.evaluations[EvaluationId::new(decision.index)].at, instance }
        }
        DecisionKind::Wait => {
            let wait = &trace.actions[trace.waits[decision.index].action];
            Target::WaitBegins { thread, at: wait.at, instance: wait.instance }
        }
    };
    OrderRequest {
        members: members.iter().filter_map(step).collect(),
        order: order.iter().filter_map(place).collect(),
        target,
        others: Others::AfterOrder,
    }
}
