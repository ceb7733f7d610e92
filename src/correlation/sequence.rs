//! Determines which assignments may directly follow each assignment.
//!
//! **Input**: the assignments of a program. **Output**: the pairs of assignments such that the second may directly follow the
//! first in flow order, with calls inlined, and with synchronisation and reads ignored (Jannesari and Wolf, "subsequent", section
//! 4.2). For each pair, whether the two write elements with equal indices.
//!
//! **Algorithm** (forward may-analysis for each function, callees first)
//! 1. The state is the set of assignments that may be the last one.
//! 2. An assignment follows each member of the state, and becomes its only member. A call stands for the first and the last
//!    assignments of its callee.
//! 3. A thread begins with the empty set, and so does its parent after the join.
//! 4. Each assignment carries the row that it writes, in terms of the analysed function. The row is forgotten when a value in it
//!    is recomputed: in the next iteration of a loop, `i` is different.
//!
//! **Soundness and limits**: a set keeps [`MAX_LAST`] assignments, a function is analysed at most [`MAX_PASSES`] times, and calls
//! within a recursion are not seen.

use super::assignment::{AssignmentId, Assignments};
use super::binding::AccessSite;
use super::row::{Row, Rows};
use cssame_ir::{BlockId, Function, FunctionId, Instruction, Program};
use cssame_ssa::dominators::reverse_postorder;
use cssame_ssa::function::graph_of;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// A set of assignments keeps the first so many.
const MAX_LAST: usize = 16;
/// A function is passed over that often, at most.
const MAX_PASSES: usize = 8;

/// An assignment, and the row that it writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Written {
    assignment: AssignmentId,
    row: Option<Row>,
}

/// Sorted by assignment.
type Ids = SmallVec<[Written; 2]>;

/// Two assignments of which the second may directly follow the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Indices {
    /// They do so with equal indices.
    pub agree: bool,
    /// They do so with others, or nobody knows.
    pub disagree: bool,
}

/// Consecutive assignments, sorted.
pub(super) type Consecutive = Vec<((AssignmentId, AssignmentId), Indices)>;

/// The assignments that may be the last one at a place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Last {
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
    rows: &mut Rows,
) -> Consecutive {
    let mut sequence =
        Sequence { assignments, rows, summaries: vec![None; program.functions.len()], pairs: FxHashMap::default() };
    for &id in components.iter().flatten() {
        let summary = sequence.function(&program.functions[id], id);
        sequence.summaries[id.index()] = Some(summary);
    }
    let mut pairs: Vec<_> = sequence.pairs.into_iter().collect();
    pairs.sort_unstable_by_key(|pair| pair.0);
    pairs
}

struct Sequence<'a> {
    assignments: &'a Assignments,
    rows: &'a mut Rows,
    summaries: Vec<Option<Summary>>,
    pairs: FxHashMap<(AssignmentId, AssignmentId), Indices>,
}

fn insert(ids: &mut Ids, written: Written) {
    match ids.binary_search_by_key(&written.assignment, |known| known.assignment) {
        Err(position) => {
            ids.insert(position, written);
            ids.truncate(MAX_LAST);
        }
        Ok(position) if ids[position].row != written.row => ids[position].row = None,
        Ok(_) => {}
    }
}

impl Last {
    fn join(&mut self, other: &Last) -> bool {
        let before = self.clone();
        other.assignments.iter().for_each(|&written| insert(&mut self.assignments, written));
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
                let Some(mut last) = entry[block as usize].clone() else { continue };
                self.forget(&mut last, id, BlockId(block), None);
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

    /// Forgets the rows that are made of what is made anew by an instruction, or without a position at the entry of a block.
    fn forget(&self, last: &mut Last, function: FunctionId, block: BlockId, position: Option<u32>) {
        for written in &mut last.assignments {
            written.row = written.row.filter(|row| !self.rows.is_made_anew(row.id, function, block, position));
        }
    }

    fn block(&mut self, function: &Function, at: (FunctionId, BlockId), mut last: Last, first: &mut Ids) -> Last {
        for (position, instruction) in function.blocks[at.1].instructions.iter().enumerate() {
            let place = position as u32;
            if let Instruction::Call { function: callee, .. } = instruction {
                self.call(*callee, (at.0, at.1, place), &mut last, first);
            }
            if instruction.dest().is_some() {
                self.forget(&mut last, at.0, at.1, Some(place));
            }
            if let Some(next) = self.assignments.at(at.0, at.1, position) {
                let next = Written { assignment: next, row: self.assignments.all[next].row };
                self.follow(&last, next, first);
                last = Last { assignments: Ids::from_slice(&[next]), none: false };
            }
            if matches!(instruction, Instruction::Join) {
                last = Last::default();
            }
        }
        last
    }

    fn call(&mut self, callee: FunctionId, at: AccessSite, last: &mut Last, first: &mut Ids) {
        let Some(mut summary) = self.summaries[callee.index()].clone() else { return };
        for written in summary.first.iter_mut().chain(&mut summary.last.assignments) {
            written.row = written.row.and_then(|row| self.rows.in_caller(row, callee, at));
        }
        for &next in &summary.first {
            self.follow(last, next, first);
        }
        let before = std::mem::replace(last, summary.last);
        if last.none {
            last.none = false;
            last.join(&before);
        }
    }

    fn follow(&mut self, last: &Last, next: Written, first: &mut Ids) {
        for before in last.assignments.iter().filter(|before| before.assignment != next.assignment) {
            let agree = before.row.zip(next.row).is_some_and(|(one, other)| self.rows.agree(one.id, other.id));
            let known = self.pairs.entry((before.assignment, next.assignment)).or_default();
            known.agree |= agree;
            known.disagree |= !agree;
        }
        if last.none {
            insert(first, next);
        }
    }
}
