//! One execution of each future, if they are not too many.
//!
//! **Input**: a machine, a budget and the maximum number of futures. **Output**: schedules of whole executions, and whether these
//! are all futures.
//!
//! **Algorithm**: as for [`count`](super::count). One execution for each future ([`reads_from`]) if that is possible. Otherwise a
//! search through states with the monitor of the count. For each new history at an end, the shortest execution is kept.
//!
//! **Soundness and limits**: each schedule belongs to a real execution that no assumption discards, and no two belong to one
//! future. If a bound is hit, a search through states misses the longer executions.

use crate::question::chains::hash_of_end;
use crate::question::history::History;
use crate::reads_from::{self, Refusal};
use crate::states::{self, AtEnds, EndContext};
use cssame_budget::{Bound, Budget};
use cssame_vm::{Choice, Machine};
use rustc_hash::FxHashSet;
use std::ops::ControlFlow;

/// Executions, one of each future that was found.
#[derive(Clone, Debug)]
pub struct ExecutionsAnswer {
    /// Whole executions.
    pub schedules: Vec<Vec<Choice>>,
    /// Whether there are more futures than were wanted.
    pub has_more: bool,
    /// The bound that was hit.
    pub bound: Option<Bound>,
}

impl ExecutionsAnswer {
    /// Whether each future has an execution here.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        !self.has_more && self.bound.is_none()
    }
}

/// Finds one execution of each future, at most so many.
#[must_use]
pub fn executions(machine: &Machine, wanted: usize, budget: &Budget<'_>) -> ExecutionsAnswer {
    match by_executions(machine, wanted, budget) {
        Ok(answer) => answer,
        Err(_) => by_states(machine, wanted, budget),
    }
}

fn by_executions(machine: &Machine, wanted: usize, budget: &Budget<'_>) -> Result<ExecutionsAnswer, Refusal> {
    let (mut schedules, mut has_more) = (Vec::new(), false);
    let found = reads_from::enumerate(machine, budget, &mut |execution| {
        if !execution.is_new {
            return ControlFlow::Continue(());
        }
        has_more = schedules.len() == wanted;
        if has_more {
            return ControlFlow::Break(());
        }
        schedules.push(execution.choices());
        ControlFlow::Continue(())
    })?;
    Ok(ExecutionsAnswer { schedules, has_more, bound: found.bound })
}

fn by_states(machine: &Machine, wanted: usize, budget: &Budget<'_>) -> ExecutionsAnswer {
    let (mut known, mut nodes, mut has_more) = (FxHashSet::default(), Vec::new(), false);
    let mut ends = AtEnds::new(|context: &EndContext<'_, History>, bytes: &mut u64| {
        let EndContext { machine, monitor, end, state, .. } = context;
        if known.insert(hash_of_end(machine, &monitor.chains, *end, state.standing())) {
            has_more = nodes.len() == wanted;
            if has_more {
                return ControlFlow::Break(());
            }
            nodes.push(context.node);
            *bytes = (known.capacity() * size_of::<u128>() + nodes.capacity() * size_of::<u32>()) as u64;
        }
        ControlFlow::Continue(())
    });
    let searched = states::search(machine, budget, History::default(), &mut ends);
    let schedules = nodes.iter().map(|&node| searched.graph.path_to(node)).collect();
    ExecutionsAnswer { schedules, has_more, bound: searched.bound }
}
