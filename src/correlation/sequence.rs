//! Which assignment may be the next one after which.
//!
//! **Input**: the assignments of a program. **Output**: the pairs of assignments of which the second may directly follow the first
//! in flow order, calls inlined, synchronisation and reads ignored (Jannesari and Wolf, "subsequent", section 4.2).
//!
//! **Algorithm** (forward may-analysis for each function, callees first)
//! 1. The state is the set of assignments that may be the last one.
//! 2. An assignment follows each of them, and becomes the only one. A call stands for the first and the last assignments
//!    of its callee.
//! 3. A thread begins with the empty set, and so does its parent behind the join.
//!
//! **Soundness and limits**: a set keeps [`MAX_LAST`] assignments, a function is passed over [`MAX_PASSES`] times at most, and calls
//! within a recursion are not seen.

use super::assignment::{AssignmentId, Assignments};
use crate::ir::{BlockId, Function, FunctionId, Instruction, Program};
use crate::ssa::dominators::reverse_postorder;
use crate::ssa::function::graph_of;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// A set of assignments keeps the first so many.
const MAX_LAST: usize = 16;
/// A function is passed over that often, at most.
const MAX_PASSES: usize = 8;

type Ids = SmallVec<[AssignmentId; 2]>;

/// The assignments that may be the last one at a place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Last {
    /// Sorted.
    assignments: Ids,
    /// Whether there may be none since the function began.
    none: bool,
}

/// What a call of a function does.
#[derive(Clone, Debug)]
struct Summary {
    first: Ids,
    last: Last,
}

/// The pairs of consecutive assignments, sorted.
pub(super) fn consecutive(
    program: &Program,
    components: &[Vec<FunctionId>],
    assignments: &Assignments,
) -> Vec<(AssignmentId, AssignmentId)> {
    let mut sequence =
        Sequence { assignments, summaries: vec![None; program.functions.len()], pairs: FxHashSet::default() };
    for &id in components.iter().flatten() {
        let summary = sequence.function(&program.functions[id], id);
        sequence.summaries[id.index()] = Some(summary);
    }
    let mut pairs: Vec<_> = sequence.pairs.into_iter().collect();
    pairs.sort_unstable();
    pairs
}

struct Sequence<'a> {
    assignments: &'a Assignments,
    summaries: Vec<Option<Summary>>,
    pairs: FxHashSet<(AssignmentId, AssignmentId)>,
}

fn insert(ids: &mut Ids, id: AssignmentId) {
    if let Err(position) = ids.binary_search(&id) {
        ids.insert(position, id);
        ids.truncate(MAX_LAST);
    }
}

impl Last {
    fn join(&mut self, other: &Last) -> bool {
        let before = self.clone();
        other.assignments.iter().for_each(|&id| insert(&mut self.assignments, id));
        self.none |= other.none;
        *self != before
    }
}

impl Sequence<'_> {
    fn function(&mut self, function: &Function, id: FunctionId) -> Summary {
        let graph = graph_of(function);
        let order = reverse_postorder(&graph);
        let mut entry: Vec<Option<Last>> = vec![None; function.blocks.len()];
        entry[0] = Some(Last { assignments: Ids::new(), none: true });
        let mut summary = Summary { first: Ids::new(), last: Last::default() };
        for _ in 0..MAX_PASSES {
            let mut changed = false;
            for &block in &order {
                let Some(last) = entry[block as usize].clone() else { continue };
                let last = self.block(function, (id, BlockId(block)), last, &mut summary.first);
                let successors = graph.successors(block);
                if successors.is_empty() {
                    summary.last.join(&last);
                }
                for &target in successors {
                    changed |= match &mut entry[target as usize] {
                        Some(known) => known.join(&last),
                        missing => {
                            *missing = Some(last.clone());
                            true
                        }
                    };
                }
            }
            if !changed {
                break;
            }
        }
        summary
    }

    fn block(&mut self, function: &Function, at: (FunctionId, BlockId), mut last: Last, first: &mut Ids) -> Last {
        for (position, instruction) in function.blocks[at.1].instructions.iter().enumerate() {
            if let Instruction::Call { function: callee, .. } = instruction {
                self.call(*callee, &mut last, first);
            }
            if let Some(next) = self.assignments.at(at.0, at.1, position) {
                self.follow(&last, next, first);
                last = Last { assignments: Ids::from_slice(&[next]), none: false };
            }
            if matches!(instruction, Instruction::Join) {
                last = Last::default();
            }
        }
        last
    }

    fn call(&mut self, callee: FunctionId, last: &mut Last, first: &mut Ids) {
        let Some(summary) = self.summaries[callee.index()].clone() else { return };
        for &next in &summary.first {
            self.follow(last, next, first);
        }
        let before = std::mem::replace(last, summary.last);
        if last.none {
            last.none = false;
            last.join(&before);
        }
    }

    fn follow(&mut self, last: &Last, next: AssignmentId, first: &mut Ids) {
        self.pairs.extend(last.assignments.iter().filter(|&&before| before != next).map(|&before| (before, next)));
        if last.none {
            insert(first, next);
        }
    }
}
