//! The races of an execution, according to the locks that its threads hold.
//!
//! **Input**: a trace. **Output**: [`UnprotectedPair`]s: two operations on one cell, by threads that may run in parallel. At
//! least one of them writes, they hold no common lock, and they are not both atomic.
//!
//! **Algorithm**: the check of consistent locking that the paper takes from Eraser (section IV.A), by pairs. Operations of one
//! thread at one place, with the same locks and the same past of forks and joins, are equivalent. The order of forks and joins
//! alone decides whether two operations may run in parallel. Whether anything else orders them in this execution is recorded
//! separately.
//!
//! **Soundness and limits**: among equivalent operations, only [`MAX_KEPT`] are examined to find two unordered ones: the first
//! and the last ones.

use super::ids::ActionId;
use super::trace::{Occurrence, Trace};
use cssame_ir::{Access, Program};
use cssame_schedule::LocksetId;
use cssame_vm::{Cell, PathId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Occurrences that are kept of operations that stand for one another.
const MAX_KEPT: usize = 32;

/// Two operations that no lock keeps apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnprotectedPair {
    /// The operations.
    pub actions: [ActionId; 2],
    /// The accesses, as they stand in the text.
    pub accesses: [Access; 2],
    /// The locks that are held.
    pub locks: [LocksetId; 2],
    /// Whether synchronisation orders all that were looked at in this execution.
    pub ordered: bool,
}

/// Operations that stand for one another.
struct Alike<'t> {
    thread: PathId,
    access: Access,
    locks: LocksetId,
    atomic: bool,
    occurrences: Vec<&'t Occurrence>,
}

/// What counts as one cell of an array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arrays {
    /// Each element.
    #[default]
    Elements,
    /// The array as a whole, as in the paper.
    Whole,
}

/// The unprotected pairs of a trace: of each two accesses at least one, and one that nothing orders if there is one.
#[must_use]
pub fn unprotected_pairs(program: &Program, trace: &Trace, arrays: Arrays) -> Vec<UnprotectedPair> {
    let mut cells: FxHashMap<Cell, Vec<Alike<'_>>> = FxHashMap::default();
    let mut order: Vec<Cell> = Vec::new();
    for occurrence in &trace.occurrences {
        let action = &trace.actions[occurrence.action];
        let (Some(cell), Some(access)) = (action.kind.operand(), action.kind.access()) else { continue };
        let cell = if arrays == Arrays::Whole { whole(program, cell) } else { cell };
        let list = cells.entry(cell).or_insert_with(|| {
            order.push(cell);
            Vec::new()
        });
        let (thread, locks, atomic) = (action.thread, occurrence.locks, occurrence.atomic);
        let known = list
            .iter_mut()
            .find(|alike| (alike.thread, alike.access, alike.locks, alike.atomic) == (thread, access, locks, atomic));
        match known {
            Some(alike) if alike.occurrences.len() < MAX_KEPT => alike.occurrences.push(occurrence),
            Some(alike) => alike.occurrences[MAX_KEPT - 1] = occurrence,
            None => list.push(Alike { thread, access, locks, atomic, occurrences: vec![occurrence] }),
        }
    }
    let mut pairs = Vec::new();
    // Of two accesses one pair that nothing orders is enough.
    let mut known: FxHashSet<[Access; 2]> = FxHashSet::default();
    for cell in order {
        let list = &cells[&cell];
        for (place, first) in list.iter().enumerate() {
            for second in &list[place + 1..] {
                let accesses = [first.access, second.access];
                if known.contains(&accesses) {
                    continue;
                }
                let found = pair(trace, first, second);
                if found.as_ref().is_some_and(|pair| !pair.ordered) {
                    known.extend([accesses, [second.access, first.access]]);
                }
                pairs.extend(found);
            }
        }
    }
    pairs
}

/// The first element of the array that a cell belongs to.
fn whole(program: &Program, cell: Cell) -> Cell {
    let leaf = cell.leaf(program).map(|leaf| &program.leaves[leaf]).filter(|leaf| leaf.is_array());
    let part = leaf.map_or(cell.part, |leaf| leaf.offset);
    Cell { part, ..cell }
}

fn pair(trace: &Trace, first: &Alike<'_>, second: &Alike<'_>) -> Option<UnprotectedPair> {
    let is_conflict = first.access.is_write() || second.access.is_write();
    let [of_first, of_second] = [first.locks, second.locks].map(|set| &trace.locksets[set.index()]);
    let common =
        of_first.iter().any(|(lock, mode)| of_second.iter().any(|(with, of)| with == lock && mode.excludes(*of)));
    if first.thread == second.thread || !is_conflict || common || first.atomic && second.atomic {
        return None;
    }
    let mut found: Option<UnprotectedPair> = None;
    for a in &first.occurrences {
        for b in &second.occurrences {
            let in_order = |one: &(_, _), other: &(_, _)| knows(one, other) || knows(other, one);
            if in_order(&a.forks, &b.forks) {
                continue;
            }
            let ordered = in_order(&a.order, &b.order);
            if found.as_ref().is_none_or(|known| known.ordered && !ordered) {
                let (actions, accesses) = ([a.action, b.action], [first.access, second.access]);
                found = Some(UnprotectedPair { actions, accesses, locks: [first.locks, second.locks], ordered });
            }
            if !ordered {
                return found;
            }
        }
    }
    found
}

/// Whether what one stamp names has happened by the other clock.
fn knows(
    (stamp, _): &(cssame_schedule::Stamp, cssame_schedule::Clock),
    (_, clock): &(cssame_schedule::Stamp, cssame_schedule::Clock),
) -> bool {
    clock.knows(*stamp)
}
