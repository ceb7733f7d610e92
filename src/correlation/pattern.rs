//! The five patterns, and the probabilities of the correlations that they indicate.
//!
//! **Input**: the assignments, and the relation that says which follow each other. **Output**: the [`Correlation`]s with at least
//! one shared variable, sorted by their variables.
//!
//! **Algorithm** (Jannesari and Wolf, section 4.2)
//! 1. *Vertical*: the target and a source of an assignment. *Control*: the target and a variable that a surrounding condition
//!    reads.
//! 2. *Parental*: two fields of one object written one after the other, or elements of two arrays with one index. *Horizontal*: the
//!    targets of two consecutive assignments with a common source.
//! 3. *Chain*: targets along a chain of assignments, each of which reads the target of the previous one. Two directly linked
//!    targets are vertical.
//! 4. The probability is the fraction of the writes to the dependent side that occur in a pattern. The targets of vertical,
//!    control and chain patterns are dependent. If there are only other patterns, both sides are dependent. A write in the text
//!    counts once for each variable that it writes and each origin of its value.
//! 5. If all patterns tie elements of equal index, the two variables belong together *by row*: `key[i]` and `value[i]`, not
//!    `value[j]`. Writes to fields of one object with other indices do not contradict this.
//!
//! **Soundness and limits**: a heuristic. The number of patterns of an assignment is bounded, and so is the number of assignments
//! that follow it.

use super::assignment::{AssignmentId, Assignments, Condition};
use super::row::{Row, RowObject, Rows};
use super::sequence::{Consecutive, Indices};
use super::source_variable::{SourceVariableId, SourceVariables};
use cssame_source::Span;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// A chain keeps that many earlier targets.
const MAX_CHAIN: usize = 8;
/// Common sources that a correlation keeps.
const MAX_COMMON: usize = 8;
/// Places that a correlation keeps to show.
const MAX_PLACES: usize = 8;

/// A kind of pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pattern {
    /// One is computed from the other.
    Vertical,
    /// One is written where a condition on the other holds.
    Control,
    /// Fields of one object, or elements with one index, written one after the other.
    Parental,
    /// Computed from a third, one after the other.
    Horizontal,
    /// Computed from each other through others, in consecutive assignments.
    Chain,
    /// Both belong to one set of correlated variables; no pattern of the text.
    Set,
}

impl Pattern {
    /// The word of the contract.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Pattern::Vertical => "vertical",
            Pattern::Control => "control",
            Pattern::Parental => "parental",
            Pattern::Horizontal => "horizontal",
            Pattern::Chain => "chain",
            Pattern::Set => "set",
        }
    }

    /// Whether one side depends on the other; else both depend on something else.
    fn has_dependent_side(self) -> bool {
        matches!(self, Pattern::Vertical | Pattern::Control | Pattern::Chain)
    }
}

/// Where a pattern stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Evidence {
    /// Which pattern.
    pub pattern: Pattern,
    /// The write to the dependent side, or the later of two writes.
    pub write: Span,
    /// The earlier write, or the condition.
    pub other: Option<Span>,
}

/// Two variables that belong together by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowTie {
    /// Where the variables are written with an index, in their order; nothing of one that is only read there.
    pub written: [Option<Span>; 2],
}

/// Two variables that belong together.
#[derive(Clone, Debug)]
pub struct Correlation {
    /// The variables; the smaller number first.
    pub data: (SourceVariableId, SourceVariableId),
    /// The patterns that indicate it, sorted.
    pub patterns: Vec<Pattern>,
    /// Some places of them, at most eight, sorted.
    pub evidence: Vec<Evidence>,
    /// What both are computed from in horizontal patterns, sorted.
    pub common: Vec<SourceVariableId>,
    /// Writes to the dependent side that stand in a pattern.
    pub writes_in_pattern: usize,
    /// All writes to the dependent side.
    pub writes: usize,
    /// The sides that are written in dependence on the other one.
    dependent: SmallVec<[SourceVariableId; 2]>,
    /// Whether each side is written in dependence on the other by a vertical pattern.
    pub mutual: bool,
    /// Whether only elements of equal index, or fields of one element, belong together.
    pub row: Option<RowTie>,
}

impl Correlation {
    /// How probable it is that the two belong together, from 0 to 1.
    #[must_use]
    pub fn probability(&self) -> f64 {
        if self.writes == 0 { 0.0 } else { self.writes_in_pattern as f64 / self.writes as f64 }
    }

    /// Two variables of one set.
    pub(super) fn of_set(data: (SourceVariableId, SourceVariableId), row: Option<RowTie>) -> Correlation {
        Correlation {
            data,
            patterns: vec![Pattern::Set],
            evidence: Vec::new(),
            common: Vec::new(),
            writes_in_pattern: 0,
            writes: 0,
            dependent: SmallVec::new(),
            mutual: false,
            row,
        }
    }

    /// Whether only a set ties the two.
    #[must_use]
    pub fn is_of_set(&self) -> bool {
        self.patterns == [Pattern::Set]
    }

    /// Whether one of its variables is written in dependence on the other one.
    #[must_use]
    pub fn depends(&self, variable: SourceVariableId) -> bool {
        self.dependent.contains(&variable)
    }
}

/// How the places of a pattern lie to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tie {
    /// In one row: their indices are equal, if they have some.
    Row {
        /// Whether they have.
        indexed: bool,
    },
    /// In one object, whatever their indices are.
    Object,
    /// With other indices, or nobody knows.
    Other,
}

#[derive(Default)]
struct Indication {
    patterns: Vec<Pattern>,
    evidence: Vec<Evidence>,
    common: SmallVec<[SourceVariableId; 2]>,
    /// Dependent sides.
    dependent: SmallVec<[SourceVariableId; 2]>,
    /// Dependent sides of vertical patterns.
    computed: SmallVec<[SourceVariableId; 2]>,
    /// Writes in some pattern.
    writes: Vec<AssignmentId>,
    /// Whether some pattern lies in one row, and whether some does not.
    ties: (bool, bool),
    /// The first places with an index, by that of the write.
    indexed: Option<(Span, [Option<Span>; 2])>,
}

struct Finder<'a> {
    data: &'a SourceVariables,
    assignments: &'a Assignments,
    rows: &'a Rows,
    found: BTreeMap<(SourceVariableId, SourceVariableId), Indication>,
}

/// Finds all correlations, of whatever probability.
pub(super) fn find_correlations(
    data: &SourceVariables,
    assignments: &Assignments,
    consecutive: &Consecutive,
    rows: &Rows,
) -> Vec<Correlation> {
    let mut finder = Finder { data, assignments, rows, found: BTreeMap::new() };
    for (id, assignment) in assignments.all.entries() {
        for (source, row) in assignment.sources.with_rows() {
            let tie = finder.tie(assignment.row, row);
            finder.note((assignment.target, source), (Pattern::Vertical, tie), id, None, None);
        }
        for Condition { variable, row, span } in assignment.conditions.iter().copied() {
            let tie = finder.tie(assignment.row, row);
            finder.note((assignment.target, variable), (Pattern::Control, tie), id, None, Some(span));
        }
    }
    let indices = |pair| consecutive.binary_search_by_key(&pair, |each| each.0).ok().map(|place| consecutive[place].1);
    for &((first, second), forward) in consecutive {
        // In a loop the end of one round stands before the begin of the next one.
        finder.neighbours((first, second), forward, indices((second, first)).unwrap_or_default());
    }
    finder.chains(consecutive);
    finder.finish()
}

impl Finder<'_> {
    /// Notes a pattern; of those with a dependent side, that is the first of the two.
    fn note(
        &mut self,
        (a, b): (SourceVariableId, SourceVariableId),
        (pattern, tie): (Pattern, Tie),
        write: AssignmentId,
        earlier: Option<AssignmentId>,
        other: Option<Span>,
    ) {
        if a == b || !(self.data.is_shared(a) || self.data.is_shared(b)) {
            return;
        }
        let all = &self.assignments.all;
        let evidence =
            Evidence { pattern, write: all[write].span, other: other.or(earlier.map(|earlier| all[earlier].span)) };
        let indication = self.found.entry((a.min(b), a.max(b))).or_default();
        indication.ties.0 |= matches!(tie, Tie::Row { .. });
        indication.ties.1 |= tie == Tie::Other;
        if tie == (Tie::Row { indexed: true }) && indication.indexed.is_none_or(|known| evidence.write < known.0) {
            // The target of the later write stands first but for neighbours.
            let (last, before) = (Some(all[write].span), earlier.map(|earlier| all[earlier].span));
            let written = if all[write].target == a.min(b) { [last, before] } else { [before, last] };
            indication.indexed = Some((evidence.write, written));
        }
        if !indication.patterns.contains(&pattern) {
            indication.patterns.push(pattern);
        }
        if indication.evidence.len() < MAX_PLACES && !indication.evidence.contains(&evidence) {
            indication.evidence.push(evidence);
        }
        indication.writes.push(write);
        if pattern.has_dependent_side() {
            if !indication.dependent.contains(&a) {
                indication.dependent.push(a);
            }
            if pattern == Pattern::Vertical && !indication.computed.contains(&a) {
                indication.computed.push(a);
            }
        } else {
            indication.writes.extend(earlier);
        }
    }

    /// How two places of one function lie to each other.
    fn tie(&self, a: Option<Row>, b: Option<Row>) -> Tie {
        let rows = a.zip(b).filter(|&(one, other)| self.rows.is_same(one, other));
        rows.map_or(Tie::Other, |(one, other)| Tie::Row { indexed: self.is_indexed(one, other) })
    }

    fn is_indexed(&self, a: Row, b: Row) -> bool {
        self.rows.len(a.id).min(self.rows.len(b.id)) > 0
    }

    /// Two consecutive assignments, and what is known of their indices in this order and in the other one.
    fn neighbours(&mut self, (first, second): (AssignmentId, AssignmentId), forward: Indices, backward: Indices) {
        let (a, b) = (&self.assignments.all[first], &self.assignments.all[second]);
        let pair = (a.target, b.target);
        if pair.0 == pair.1 {
            return;
        }
        let one_object = a.parent.is_some() && a.parent == b.parent;
        let indexed = a.row.zip(b.row).is_some_and(|(a, b)| self.is_indexed(a, b));
        let variables = [a.row, b.row].iter().flatten().all(|row| row.object == RowObject::Variable);
        let may_be_row = one_object || indexed && variables;
        let (agree, disagree) = (may_be_row && forward.agree, forward.disagree && (forward.agree || !backward.agree));
        let row = Tie::Row { indexed };
        if one_object || agree {
            let tie = if agree || backward.agree { row } else { Tie::Object };
            self.note(pair, (Pattern::Parental, tie), second, Some(first), None);
        }
        let common = a.sources.common(&b.sources);
        let common: SmallVec<[SourceVariableId; 4]> =
            common.filter(|&source| source != pair.0 && source != pair.1).collect();
        if common.is_empty() {
            return;
        }
        let tie = if may_be_row && !disagree { row } else { Tie::Other };
        self.note(pair, (Pattern::Horizontal, tie), second, Some(first), None);
        if let Some(indication) = self.found.get_mut(&(pair.0.min(pair.1), pair.0.max(pair.1))) {
            for source in common {
                if indication.common.len() < MAX_COMMON && !indication.common.contains(&source) {
                    indication.common.push(source);
                }
            }
        }
    }

    fn chains(&mut self, consecutive: &Consecutive) {
        let all = &self.assignments.all;
        let mut links: FxHashMap<AssignmentId, Vec<AssignmentId>> = FxHashMap::default();
        let mut waiting = Vec::new();
        for &((first, second), _) in consecutive {
            let (a, b) = (&all[first], &all[second]);
            if a.target != b.target && b.sources.contains(a.target) {
                links.entry(first).or_default().push(second);
                waiting.push(first);
            }
        }
        // What stands in the chain before an assignment.
        let mut before: Vec<SmallVec<[(SourceVariableId, AssignmentId); 2]>> = vec![SmallVec::new(); all.len()];
        waiting.reverse();
        while let Some(first) = waiting.pop() {
            let mut chain = before[first.index()].clone();
            chain.push((all[first].target, first));
            for &second in links.get(&first).map_or(&[][..], Vec::as_slice) {
                let known = &mut before[second.index()];
                let mut changed = false;
                for each in &chain {
                    if known.len() < MAX_CHAIN && !known.iter().any(|other| other.0 == each.0) {
                        known.push(*each);
                        changed = true;
                    }
                }
                if changed {
                    waiting.push(second);
                }
            }
        }
        let mut ends: Vec<(&AssignmentId, &Vec<AssignmentId>)> = links.iter().collect();
        ends.sort_unstable();
        for (first, seconds) in ends {
            for &second in seconds {
                for &(target, earlier) in &before[first.index()] {
                    if target != all[*first].target {
                        let of_function = all[second].place.0 == all[earlier].place.0;
                        let tie = if of_function { self.tie(all[second].row, all[earlier].row) } else { Tie::Other };
                        self.note((all[second].target, target), (Pattern::Chain, tie), second, Some(earlier), None);
                    }
                }
            }
        }
    }

    fn finish(self) -> Vec<Correlation> {
        let mut total: FxHashMap<SourceVariableId, usize> = FxHashMap::default();
        let mut counted: FxHashSet<(SourceVariableId, u32)> = FxHashSet::default();
        for assignment in self.assignments.all.iter() {
            if counted.insert((assignment.target, assignment.write)) {
                *total.entry(assignment.target).or_default() += 1;
            }
        }
        let all = &self.assignments.all;
        let correlation = |(data, mut indication): ((SourceVariableId, SourceVariableId), Indication)| {
            let dependent = indication.dependent.clone();
            if indication.dependent.is_empty() {
                indication.dependent.extend([data.0, data.1]);
            }
            let mut writes: Vec<(SourceVariableId, u32)> =
                indication.writes.iter().map(|&write| (all[write].target, all[write].write)).collect();
            writes.sort_unstable();
            writes.dedup();
            writes.retain(|(target, _)| indication.dependent.contains(target));
            let count = |variable: &SourceVariableId| total.get(variable).copied().unwrap_or(0);
            indication.patterns.sort_unstable();
            indication.evidence.sort_unstable();
            indication.common.sort_unstable();
            Correlation {
                data,
                patterns: indication.patterns,
                evidence: indication.evidence,
                common: indication.common.to_vec(),
                writes_in_pattern: writes.len(),
                writes: indication.dependent.iter().map(count).sum(),
                dependent,
                mutual: indication.computed.len() == 2,
                row: (indication.ties == (true, false))
                    .then(|| RowTie { written: indication.indexed.map_or([None; 2], |indexed| indexed.1) }),
            }
        };
        self.found.into_iter().map(correlation).collect()
    }
}
