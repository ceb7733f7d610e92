//! Correlation accesses by row: whether a method synchronises between two elements of one row.
//!
//! **Input**: the sites of a function, and the results for its callees. **Output**: [`RowSummary`]: the rows that the function
//! touches, and the correlation accesses that it endangers in one of them.
//!
//! **Algorithm**: as for variables ([`super::access`]), but for each row separately: `key[i]` and `value[i]` are together if
//! touches of these two lie in one region, whatever the method does with `key[j]` and `value[j]`. They are endangered if no
//! touches of them are together, and one can run after the other while `i` keeps its value in between. Rows of callees are taken
//! over, with arguments in place of the parameters.
//!
//! If all touches of the two variables lie in rows that are certainly different, the two are *apart*, and nothing is endangered.
//!
//! **Soundness and limits**: touches of an unknown row count for the variables only. At most [`MAX_TOUCHES`] touches of a
//! function with its callees are kept, within the bound of [`super::reachability`].

use super::binding::AccessSite;
use super::kind::{AccessKind, pair_bit};
use super::pattern::Correlation;
use super::reachability::{Place, Reachability};
use super::row::{Row, Rows};
use super::sites::Sites;
use super::source_variable::SourceVariableId;
use cssame_ir::{Function, FunctionId, Terminator};
use cssame_ssa::function::graph_of;
use cssame_ssa::graph::Graph;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// Touches of rows that a function with its callees may have; further ones are left out.
const MAX_TOUCHES: usize = 256;

/// A touch of a row, as callers see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct RowTouch {
    variable: SourceVariableId,
    row: Row,
    kind: AccessKind,
}

/// Two rows of a correlation, and how they are touched.
type RowPair = (u32, (Row, AccessKind), (Row, AccessKind));

/// What a function touches by row, calls inlined.
#[derive(Clone, Debug, Default)]
pub(super) struct RowSummary {
    /// Whether each lies in the first or in the last region.
    touches: BTreeMap<RowTouch, (bool, bool)>,
    /// Pairs of one row that are touched together somewhere, sorted.
    together: Vec<RowPair>,
    /// The kinds of access that are endangered in some row, by correlation.
    pub endangered: FxHashMap<u32, u8>,
    /// The kinds of access that never lie in one row, by correlation.
    pub apart: FxHashMap<u32, u8>,
    /// What is also touched in rows that are not known.
    unknown: FxHashSet<(SourceVariableId, AccessKind)>,
}

/// A touch in a function.
struct Seen {
    of: RowTouch,
    place: Place,
    /// The united regions that it lies in.
    regions: SmallVec<[u32; 2]>,
}

/// Looks through functions, callees first.
pub(super) struct RowFinder<'a> {
    pub rows: &'a mut Rows,
    /// By the first variable: its correlations by row, with the other variable.
    partners: FxHashMap<SourceVariableId, Vec<(SourceVariableId, u32)>>,
    tied: FxHashSet<SourceVariableId>,
    reachability: Reachability,
}

impl<'a> RowFinder<'a> {
    pub fn new(rows: &'a mut Rows, correlations: &[Correlation]) -> RowFinder<'a> {
        let mut partners: FxHashMap<SourceVariableId, Vec<(SourceVariableId, u32)>> = FxHashMap::default();
        let mut tied = FxHashSet::default();
        for (index, correlation) in correlations.iter().enumerate().filter(|(_, of)| of.row.is_some()) {
            let (first, second) = correlation.data;
            partners.entry(first).or_default().push((second, index as u32));
            tied.extend([first, second]);
        }
        RowFinder { rows, partners, tied, reachability: Reachability::default() }
    }

    /// The rows of a function. `summary` gives those of its callees.
    pub fn find<'s>(
        &mut self,
        (id, function): (FunctionId, &Function),
        sites: &mut Sites,
        summary: impl Fn(FunctionId) -> Option<&'s RowSummary>,
    ) -> RowSummary {
        let mut found = RowSummary::default();
        if self.tied.is_empty() {
            return found;
        }
        let seen = self.seen(id, sites, &summary, &mut found.unknown);
        for call in &sites.calls {
            let at = (id, call.block, call.position);
            if let Some(callee) = summary(call.callee) {
                found.together.extend(callee.together.iter().filter_map(|pair| self.of_caller(pair, call.callee, at)));
                callee.endangered.iter().for_each(|(&of, &mask)| *found.endangered.entry(of).or_default() |= mask);
            }
        }
        self.find_endangered(function, &seen, &mut found);
        self.find_apart(&seen, &mut found);
        found.together.sort_unstable();
        found.together.dedup();
        found.together.truncate(MAX_TOUCHES);
        let entry = sites.regions.root(sites.first[0]);
        let ends = function.blocks.entries().filter(|(_, block)| matches!(block.terminator, Terminator::Return(_)));
        let ends: Vec<u32> = ends.map(|(block, _)| sites.regions.root(sites.last[block.index()])).collect();
        for touch in &seen {
            if found.touches.len() < MAX_TOUCHES || found.touches.contains_key(&touch.of) {
                let known = found.touches.entry(touch.of).or_default();
                known.0 |= touch.regions.contains(&entry);
                known.1 |= touch.regions.iter().any(|region| ends.contains(region));
            }
        }
        found
    }

    /// All touches of rows, those of callees at the call.
    fn seen<'s>(
        &mut self,
        id: FunctionId,
        sites: &mut Sites,
        summary: &impl Fn(FunctionId) -> Option<&'s RowSummary>,
        unknown: &mut FxHashSet<(SourceVariableId, AccessKind)>,
    ) -> Vec<Seen> {
        let mut seen = Vec::new();
        for touch in sites.touches.iter().filter(|touch| self.tied.contains(&touch.variable)) {
            let regions = SmallVec::from_slice(&[sites.regions.root(touch.region)]);
            for kind in AccessKind::ALL.into_iter().filter(|kind| touch.kinds & kind.bit() != 0) {
                let Some(row) = touch.row else {
                    unknown.insert((touch.variable, kind));
                    continue;
                };
                let of = RowTouch { variable: touch.variable, row, kind };
                seen.push(Seen { of, place: (touch.block, touch.position), regions: regions.clone() });
            }
        }
        for call in &sites.calls {
            let Some(callee) = summary(call.callee) else { continue };
            unknown.extend(&callee.unknown);
            let (before, after) = (sites.regions.root(call.before), sites.regions.root(call.after));
            for (touch, &(first, last)) in &callee.touches {
                let at = (id, call.block, call.position);
                let Some(row) = self.rows.in_caller(touch.row, call.callee, at) else {
                    unknown.insert((touch.variable, touch.kind));
                    continue;
                };
                let mut regions = SmallVec::new();
                regions.extend(first.then_some(before));
                regions.extend(last.then_some(after));
                seen.push(Seen { of: RowTouch { row, ..*touch }, place: (call.block, call.position), regions });
            }
        }
        let beyond = seen.iter().skip(MAX_TOUCHES).map(|touch: &Seen| (touch.of.variable, touch.of.kind));
        unknown.extend(beyond);
        seen.truncate(MAX_TOUCHES);
        seen
    }

    /// Fills in what never lies in one row.
    fn find_apart(&self, seen: &[Seen], found: &mut RowSummary) {
        let mut of_touch: BTreeMap<(SourceVariableId, AccessKind), Vec<Row>> = BTreeMap::new();
        for touch in seen.iter().filter(|touch| !found.unknown.contains(&(touch.of.variable, touch.of.kind))) {
            of_touch.entry((touch.of.variable, touch.of.kind)).or_default().push(touch.of.row);
        }
        for (&(variable, first), rows) in &of_touch {
            for &(partner, correlation) in self.partners.get(&variable).map_or(&[][..], Vec::as_slice) {
                for second in AccessKind::ALL {
                    let Some(others) = of_touch.get(&(partner, second)) else { continue };
                    if rows.iter().all(|&row| others.iter().all(|&other| self.rows.differ(row, other))) {
                        *found.apart.entry(correlation).or_default() |= pair_bit(first, second);
                    }
                }
            }
        }
    }

    /// A pair of rows of a callee in terms of its caller.
    fn of_caller(&mut self, &(of, one, other): &RowPair, callee: FunctionId, call: AccessSite) -> Option<RowPair> {
        let first = self.rows.in_caller(one.0, callee, call)?;
        let second = self.rows.in_caller(other.0, callee, call)?;
        Some((of, (first, one.1), (second, other.1)))
    }

    /// Fills in which rows are touched together, and what is endangered in one.
    fn find_endangered(&mut self, function: &Function, seen: &[Seen], found: &mut RowSummary) {
        let mut pairs: BTreeMap<RowPair, Vec<(usize, usize)>> = BTreeMap::new();
        let mut of_variable: FxHashMap<SourceVariableId, Vec<usize>> = FxHashMap::default();
        for (place, touch) in seen.iter().enumerate() {
            of_variable.entry(touch.of.variable).or_default().push(place);
        }
        for (a, one) in seen.iter().enumerate() {
            for &(partner, correlation) in self.partners.get(&one.of.variable).map_or(&[][..], Vec::as_slice) {
                for &b in of_variable.get(&partner).map_or(&[][..], Vec::as_slice) {
                    let other = &seen[b];
                    if self.rows.is_same(one.of.row, other.of.row) {
                        let pair = (correlation, (one.of.row, one.of.kind), (other.of.row, other.of.kind));
                        pairs.entry(pair).or_default().push((a, b));
                    }
                }
            }
        }
        let mut graph: Option<Graph> = None;
        for (pair, touches) in pairs {
            let share = |&(a, b): &(usize, usize)| seen[a].regions.iter().any(|one| seen[b].regions.contains(one));
            if touches.iter().any(share) || found.together.contains(&pair) {
                found.together.push(pair);
                continue;
            }
            let (correlation, one, other) = pair;
            let mut makers = self.rows.makers(one.0.id);
            makers.extend(self.rows.makers(other.0.id));
            let graph = graph.get_or_insert_with(|| graph_of(function));
            let follows = touches.iter().any(|&(a, b)| {
                let (a, b) = (seen[a].place, seen[b].place);
                let search = &mut self.reachability;
                search.reaches_past(graph, a, b, &makers) || search.reaches_past(graph, b, a, &makers)
            });
            if follows {
                *found.endangered.entry(correlation).or_default() |= pair_bit(one.1, other.1);
            }
        }
    }
}
