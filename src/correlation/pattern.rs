//! The five patterns, and how probable the correlations are that they indicate.
//!
//! **Input**: the assignments, and which follows which. **Output**: the [`Correlation`]s of which at least one variable is shared,
//! sorted by their variables.
//!
//! **Algorithm** (Jannesari and Wolf, section 4.2)
//! 1. *Vertical*: the target and a source of an assignment. *Control*: the target and what a condition around it reads.
//! 2. *Parental*: two fields of one object written one after the other. *Horizontal*: the targets of two consecutive assignments
//!    with a common source.
//! 3. *Chain*: targets along a chain of assignments, each of which reads the target of the one before; two that are directly
//!    linked are vertical.
//! 4. The probability is the part of the writes to the dependent side that stand in a pattern. Dependent are the targets of
//!    vertical, control and chain patterns, and both sides where there are only the others.
//!
//! **Soundness and limits**: a heuristic. The patterns of an assignment are bounded, and so are the assignments that follow it.

use super::assignment::{AssignmentId, Assignments};
use super::binding::AccessSite;
use super::source_variable::{SourceVariableId, SourceVariables};
use crate::source::Span;
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
    /// Fields of one object, written one after the other.
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
}

impl Correlation {
    /// How probable it is that the two belong together, from 0 to 1.
    #[must_use]
    pub fn probability(&self) -> f64 {
        if self.writes == 0 { 0.0 } else { self.writes_in_pattern as f64 / self.writes as f64 }
    }

    /// Two variables of one set.
    pub(super) fn of_set(data: (SourceVariableId, SourceVariableId)) -> Correlation {
        Correlation {
            data,
            patterns: vec![Pattern::Set],
            evidence: Vec::new(),
            common: Vec::new(),
            writes_in_pattern: 0,
            writes: 0,
            dependent: SmallVec::new(),
            mutual: false,
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
}

struct Finder<'a> {
    data: &'a SourceVariables,
    assignments: &'a Assignments,
    found: BTreeMap<(SourceVariableId, SourceVariableId), Indication>,
}

/// Finds all correlations, of whatever probability.
pub(super) fn find_correlations(
    data: &SourceVariables,
    assignments: &Assignments,
    consecutive: &[(AssignmentId, AssignmentId)],
) -> Vec<Correlation> {
    let mut finder = Finder { data, assignments, found: BTreeMap::new() };
    for (id, assignment) in assignments.all.entries() {
        for source in assignment.sources.iter() {
            finder.note((assignment.target, source), Pattern::Vertical, id, None, None);
        }
        for condition in &assignment.conditions {
            finder.note((assignment.target, condition.variable), Pattern::Control, id, None, Some(condition.span));
        }
    }
    for &(first, second) in consecutive {
        finder.neighbours(first, second);
    }
    finder.chains(consecutive);
    finder.finish()
}

impl Finder<'_> {
    /// Notes a pattern; of those with a dependent side, that is the first of the two.
    fn note(
        &mut self,
        (a, b): (SourceVariableId, SourceVariableId),
        pattern: Pattern,
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

    fn neighbours(&mut self, first: AssignmentId, second: AssignmentId) {
        let (a, b) = (&self.assignments.all[first], &self.assignments.all[second]);
        let pair = (a.target, b.target);
        if pair.0 == pair.1 {
            return;
        }
        if a.parent.is_some() && a.parent == b.parent {
            self.note(pair, Pattern::Parental, second, Some(first), None);
        }
        let common = a.sources.iter().filter(|&source| b.sources.contains(source));
        let common: SmallVec<[SourceVariableId; 4]> =
            common.filter(|&source| source != pair.0 && source != pair.1).collect();
        if common.is_empty() {
            return;
        }
        self.note(pair, Pattern::Horizontal, second, Some(first), None);
        if let Some(indication) = self.found.get_mut(&(pair.0.min(pair.1), pair.0.max(pair.1))) {
            for source in common {
                if indication.common.len() < MAX_COMMON && !indication.common.contains(&source) {
                    indication.common.push(source);
                }
            }
        }
    }

    fn chains(&mut self, consecutive: &[(AssignmentId, AssignmentId)]) {
        let all = &self.assignments.all;
        let mut links: FxHashMap<AssignmentId, Vec<AssignmentId>> = FxHashMap::default();
        let mut waiting = Vec::new();
        for &(first, second) in consecutive {
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
                        self.note((all[second].target, target), Pattern::Chain, second, Some(earlier), None);
                    }
                }
            }
        }
    }

    fn finish(self) -> Vec<Correlation> {
        let mut total: FxHashMap<SourceVariableId, usize> = FxHashMap::default();
        let mut counted: FxHashSet<(SourceVariableId, AccessSite)> = FxHashSet::default();
        for assignment in self.assignments.all.iter() {
            if counted.insert((assignment.target, assignment.place)) {
                *total.entry(assignment.target).or_default() += 1;
            }
        }
        let all = &self.assignments.all;
        let correlation = |(data, mut indication): ((SourceVariableId, SourceVariableId), Indication)| {
            let dependent = indication.dependent.clone();
            if indication.dependent.is_empty() {
                indication.dependent.extend([data.0, data.1]);
            }
            let mut writes: Vec<(SourceVariableId, AccessSite)> =
                indication.writes.iter().map(|&write| (all[write].target, all[write].place)).collect();
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
            }
        };
        self.found.into_iter().map(correlation).collect()
    }
}
