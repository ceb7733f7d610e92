//! Whether an order of operations is that of some execution.
//!
//! **Input**: a decision of a trace, and an order of its operations. **Output**: the question for the search through
//! all states ([`order`](crate::order::order())).

use super::analysis::{Decision, DecisionKind};
use super::ids::{ActionId, EvaluationId};
use super::trace::Trace;
use crate::order::{OrderRequest, OrderStep, Others, Target};

/// The question whether an order exists; none for a wait, whose notifications are no operations.
#[must_use]
pub fn order_request(trace: &Trace, decision: &Decision, order: &[ActionId]) -> Option<OrderRequest> {
    if decision.place.kind == DecisionKind::Wait {
        return None;
    }
    let step = |&id: &ActionId| {
        let action = &trace.actions[id];
        let access = action.kind.access()?;
        Some(OrderStep { thread: action.thread, access, instance: action.instance })
    };
    let members = &decision.related.members;
    let place = |id: &ActionId| members.iter().position(|member| member == id);
    let at = trace.evaluations[EvaluationId::new(decision.index)].at;
    Some(OrderRequest {
        members: members.iter().filter_map(step).collect(),
        order: order.iter().filter_map(place).collect(),
        target: Target::Branch { thread: decision.place.thread, at, instance: decision.instance },
        others: Others::AfterOrder,
    })
}
