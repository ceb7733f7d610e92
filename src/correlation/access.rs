//! Correlation accesses: the methods that access both variables of a correlation, and whether they synchronise in between.
//!
//! **Input**: the program, its assignments, and the correlations. **Output**: for each function, calls inlined, [`Accesses`]: the
//! variables that it reads and writes, and its correlation accesses, one for each correlation and each kind of access (read
//! or write) to either variable (Jannesari and Wolf, section 4.3).
//!
//! **Algorithm**
//! 1. Cut each function at its operations of synchronisation into synchronisation-free regions ([`super::sites`]), and unite the
//!    regions that control can pass between freely (union-find). A call contributes the first and the last region of its callee.
//! 2. Two accesses are *together* if they lie in one united region, here or in a callee.
//! 3. A correlation access is *endangered* (section 4.4) if no two of its accesses are together, and one of them can run after
//!    the other, or if this holds for the elements of one row ([`super::row_access`]).
//!
//! **Soundness and limits**: regions on the two sides of a branch count as together if the region before the branch joins them;
//! this errs towards not endangered. At most [`MAX_DATA`] variables of a function with its callees are followed (its own come
//! first), within the bound of [`super::reachability`]. This module ignores which lock is held; `check` considers it.

use super::assignment::Assignments;
use super::binding::BoundProgram;
use super::kind::{AccessKind, kinds_in, pair_bit};
use super::partners::Partners;
use super::pattern::Correlation;
use super::reachability::{Place, Reachability};
use super::row::Rows;
use super::row_access::{RowFinder, RowSummary};
use super::sites::{Collector, Sites};
use super::source_variable::{SourceVariableId, SourceVariables};
use cssame_ir::{Function, FunctionId, Program, Terminator};
use cssame_ssa::function::graph_of;
use cssame_ssa::graph::Graph;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Source variables that a function with its callees may touch; further ones are left out.
const MAX_DATA: usize = 256;

/// The accesses of a method to the two variables of a correlation, of a kind each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CorrelationAccess {
    /// Index of the correlation.
    pub correlation: u32,
    /// How its variables are accessed.
    pub kinds: (AccessKind, AccessKind),
    /// Whether there is synchronisation between.
    pub endangered: bool,
}

/// What a function touches, calls inlined.
#[derive(Clone, Debug, Default)]
pub struct Accesses {
    /// Shared and correlated data with the kinds (bit 1 read, bit 2 write), sorted.
    pub kinds: Vec<(SourceVariableId, u8)>,
    /// Its correlation accesses, sorted.
    pub correlated: Vec<CorrelationAccess>,
    /// Whether it touches memory itself.
    pub own: bool,
}

impl Accesses {
    /// The kinds of access to a variable.
    #[must_use]
    pub fn kinds_of(&self, variable: SourceVariableId) -> u8 {
        kinds_in(&self.kinds, variable)
    }
}

/// The kinds of access that are together, by correlation.
type Masks = FxHashMap<u32, u8>;

#[derive(Clone, Debug, Default)]
struct Summary {
    head: Vec<(SourceVariableId, u8)>,
    tail: Vec<(SourceVariableId, u8)>,
    /// Whether control may pass through without synchronisation.
    through: bool,
    together: Masks,
    endangered: Masks,
    rows: RowSummary,
    accesses: Accesses,
}

/// What all functions touch.
struct Finder<'a> {
    program: &'a Program,
    data: &'a SourceVariables,
    assignments: &'a Assignments,
    correlations: &'a [Correlation],
    partners: Partners,
    rows: RowFinder<'a>,
    summaries: Vec<Option<Summary>>,
    reachability: Reachability,
}

/// Finds the accesses of all functions. `components` are those of the call graph, callees first.
pub(super) fn find_accesses(
    (program, data, assignments): (&Program, &SourceVariables, &Assignments),
    correlations: &[Correlation],
    rows: &mut Rows,
    components: &[Vec<FunctionId>],
) -> Vec<Accesses> {
    let mut finder = Finder {
        program,
        data,
        assignments,
        correlations,
        partners: Partners::new(correlations),
        rows: RowFinder::new(rows, correlations),
        summaries: vec![None; program.functions.len()],
        reachability: Reachability::default(),
    };
    for &id in components.iter().flatten() {
        let summary = finder.function(id);
        finder.summaries[id.index()] = Some(summary);
    }
    finder.summaries.into_iter().map(|summary| summary.unwrap_or_default().accesses).collect()
}

impl Finder<'_> {
    fn function(&mut self, id: FunctionId) -> Summary {
        let function = &self.program.functions[id];
        let through =
            |callee: FunctionId| self.summaries[callee.index()].as_ref().is_none_or(|summary| summary.through);
        let collector = Collector {
            program: self.program,
            data: self.data,
            rows: self.rows.rows,
            assignments: self.assignments,
            partners: &self.partners,
        };
        let mut sites = collector.sites(id, through);
        for (block, content) in function.blocks.entries() {
            for target in content.terminator.successors() {
                sites.regions.unite(sites.last[block.index()], sites.first[target.index()]);
            }
        }
        let mut summary = Summary::default();
        summary.accesses.own = sites.own;
        summary.accesses.kinds = self.all_kinds(&sites);
        self.find_together(function, &mut sites, &mut summary);
        let summaries = &self.summaries;
        let rows_of = |callee: FunctionId| summaries[callee.index()].as_ref().map(|summary| &summary.rows);
        summary.rows = self.rows.find((id, function), &mut sites, rows_of);
        self.find_endangered(function, &sites, &mut summary);
        summary
    }

    /// The data that a function and its callees touch.
    fn all_kinds(&self, sites: &Sites) -> Vec<(SourceVariableId, u8)> {
        let mut all: BTreeMap<SourceVariableId, u8> = BTreeMap::new();
        for touch in &sites.touches {
            *all.entry(touch.variable).or_default() |= touch.kinds;
        }
        for call in &sites.calls {
            let Some(callee) = &self.summaries[call.callee.index()] else { continue };
            for &(variable, kinds) in &callee.accesses.kinds {
                if all.len() < MAX_DATA || all.contains_key(&variable) {
                    *all.entry(variable).or_default() |= kinds;
                }
            }
        }
        all.into_iter().collect()
    }

    /// Fills in what is together, and the first and the last segment.
    fn find_together(&self, function: &Function, sites: &mut Sites, summary: &mut Summary) {
        let mut united: BTreeMap<u32, BTreeMap<SourceVariableId, u8>> = BTreeMap::new();
        for touch in &sites.touches {
            let root = sites.regions.root(touch.region);
            *united.entry(root).or_default().entry(touch.variable).or_default() |= touch.kinds;
        }
        for call in &sites.calls {
            let Some(callee) = &self.summaries[call.callee.index()] else { continue };
            for (region, kinds) in [(call.before, &callee.head), (call.after, &callee.tail)] {
                let of = united.entry(sites.regions.root(region)).or_default();
                kinds.iter().for_each(|&(variable, kinds)| *of.entry(variable).or_default() |= kinds);
            }
        }
        let united: BTreeMap<u32, Vec<(SourceVariableId, u8)>> =
            united.into_iter().map(|(root, kinds)| (root, kinds.into_iter().collect())).collect();
        for kinds in united.values() {
            self.partners.within(kinds, |correlation, mask| *summary.together.entry(correlation).or_default() |= mask);
        }
        for call in &sites.calls {
            let Some(callee) = &self.summaries[call.callee.index()] else { continue };
            for (&correlation, &mask) in &callee.together {
                *summary.together.entry(correlation).or_default() |= mask;
            }
        }
        let of = |root: u32| united.get(&root).cloned().unwrap_or_default();
        let entry = sites.regions.root(sites.first[0]);
        summary.head = of(entry);
        let mut exits: Vec<u32> = Vec::new();
        for (block, content) in function.blocks.entries() {
            if matches!(content.terminator, Terminator::Return(_)) {
                exits.push(sites.regions.root(sites.last[block.index()]));
            }
        }
        exits.sort_unstable();
        exits.dedup();
        summary.through = exits.contains(&entry);
        let mut tail: BTreeMap<SourceVariableId, u8> = BTreeMap::new();
        for (variable, kinds) in exits.into_iter().flat_map(of) {
            *tail.entry(variable).or_default() |= kinds;
        }
        summary.tail = tail.into_iter().take(MAX_DATA).collect();
        summary.head.truncate(MAX_DATA);
    }

    /// Fills in the correlation accesses, and which are endangered.
    fn find_endangered(&mut self, function: &Function, sites: &Sites, summary: &mut Summary) {
        let mut found: Vec<(u32, u8)> = Vec::new();
        self.partners.within(&summary.accesses.kinds, |correlation, mask| found.push((correlation, mask)));
        found.sort_unstable();
        summary.together.retain(|correlation, _| found.binary_search_by_key(correlation, |each| each.0).is_ok());
        let mut graph: Option<Graph> = None;
        for (correlation, mask) in found {
            let together = summary.together.get(&correlation).copied().unwrap_or(0);
            let apart = summary.rows.apart.get(&correlation).copied().unwrap_or(0);
            let by_row = summary.rows.endangered.get(&correlation).copied().unwrap_or(0);
            for first in AccessKind::ALL {
                for second in AccessKind::ALL {
                    let bit = pair_bit(first, second);
                    if mask & bit == 0 {
                        continue;
                    }
                    let of_variables = (together | apart) & bit == 0 && {
                        let graph = graph.get_or_insert_with(|| graph_of(function));
                        self.is_endangered(graph, sites, (correlation, bit), (first, second))
                    };
                    if of_variables {
                        *summary.endangered.entry(correlation).or_default() |= bit;
                    }
                    let (kinds, endangered) = ((first, second), of_variables || by_row & bit != 0);
                    summary.accesses.correlated.push(CorrelationAccess { correlation, kinds, endangered });
                }
            }
        }
    }

    /// Whether touches of both sides that are never together can run one after the other, here or within a callee.
    fn is_endangered(
        &mut self,
        graph: &Graph,
        sites: &Sites,
        (correlation, bit): (u32, u8),
        kinds: (AccessKind, AccessKind),
    ) -> bool {
        let data = self.correlations[correlation as usize].data;
        let inside = sites.calls.iter().any(|call| {
            let callee = self.summaries[call.callee.index()].as_ref();
            callee.and_then(|callee| callee.endangered.get(&correlation)).is_some_and(|mask| mask & bit != 0)
        });
        let first = self.places(sites, data.0, kinds.0);
        let second = self.places(sites, data.1, kinds.1);
        inside || self.reachability.reaches(graph, &first, &second) || self.reachability.reaches(graph, &second, &first)
    }

    /// Where the function, or a callee, touches a variable.
    fn places(&self, sites: &Sites, variable: SourceVariableId, kind: AccessKind) -> Vec<Place> {
        let own = sites.touches.iter().filter(|touch| touch.variable == variable && touch.kinds & kind.bit() != 0);
        let calls = sites.calls.iter().filter(|call| {
            let callee = self.summaries[call.callee.index()].as_ref();
            callee.is_some_and(|callee| callee.accesses.kinds_of(variable) & kind.bit() != 0)
        });
        let calls = calls.map(|call| (call.block, call.position));
        own.map(|touch| (touch.block, touch.position)).chain(calls).collect()
    }
}

/// What the functions of the text touch, all their bindings together. An access is endangered where it is in each binding that
/// has it.
pub(super) fn of_text(program: &Program, bound: &BoundProgram<'_>, accesses: Vec<Accesses>) -> Vec<Accesses> {
    let mut all: Vec<Accesses> = vec![Accesses::default(); program.functions.len()];
    for (index, of) in accesses.into_iter().enumerate() {
        let known = &mut all[bound.origin(FunctionId::new(index)).index()];
        let is_first = known.kinds.is_empty();
        known.own |= of.own;
        if is_first {
            (known.kinds, known.correlated) = (of.kinds, of.correlated);
            continue;
        }
        let mut kinds: BTreeMap<SourceVariableId, u8> = known.kinds.iter().copied().collect();
        of.kinds.into_iter().for_each(|(variable, bits)| *kinds.entry(variable).or_default() |= bits);
        known.kinds = kinds.into_iter().collect();
        let key = |access: &CorrelationAccess| (access.correlation, access.kinds);
        for access in of.correlated {
            match known.correlated.binary_search_by_key(&key(&access), key) {
                Ok(place) => known.correlated[place].endangered &= access.endangered,
                Err(place) => known.correlated.insert(place, access),
            }
        }
    }
    all
}
