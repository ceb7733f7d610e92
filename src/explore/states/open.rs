//! Executions that a search has not followed to their end.
//!
//! **Input**: the graph of a search that a bound has cut. **Output**: schedules that lead to some of its open states, evenly spread over
//! them.

use crate::states::graph::{Graph, NodeKind};
use cssame_budget::Statistics;
use cssame_vm::Choice;

/// Open executions that are looked at.
const EXECUTIONS: usize = 16;

/// Steps of all of them.
const STEPS: usize = 2_000_000;

/// Executions that the search has not followed to their end, evenly spread over those that are open.
pub(crate) fn open_executions(graph: &Graph, statistics: &Statistics) -> Vec<Vec<Choice>> {
    let open: Vec<u32> = (0..graph.len() as u32).filter(|&node| graph.kind(node) == NodeKind::Waiting).collect();
    let Some(&last) = open.last() else { return Vec::new() };
    let depth = statistics.depth as usize + 1;
    if depth > STEPS {
        // An earlier state of such a long execution; states are numbered by rising depth.
        let node = (graph.len() as u64 * STEPS as u64 / depth as u64) as u32;
        return vec![graph.path_to(node.min(last))];
    }
    let count = (STEPS / depth).clamp(1, EXECUTIONS).min(open.len());
    (1..=count).map(|part| graph.path_to(open[open.len() * part / count - 1])).collect()
}
