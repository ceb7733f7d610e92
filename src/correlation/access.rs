//! Correlation accesses: which methods touch both variables of a correlation, and between which touches they synchronise.
//!
//! In: the program, its assignments, and the correlations. Out: for each function, calls inlined, [`Accesses`]: the data that
//! it reads and writes, and its correlation accesses, one for each correlation and each kind of access (read or write) to
//! either side (Jannesari and Wolf, section 4.3). An access is *endangered* (4.4) where every two of its touches that can run
//! one after the other have an operation of synchronisation between them.
//!
//! A function is cut at each such operation into segments; segments that control can pass between freely are united
//! (`ena`). Touches of one united segment are *together*; a call brings the first and the last segment of its callee along.
//! Segments on two sides of a branch count as together where what is before the branch joins them: that errs towards not
//! endangered.
//!
//! Bounds: [`MAX_DATA`] data of a function with its callees (its own come first), and those of [`super::follow`]. What it does not see: which lock is taken (`check`
//! asks that).

use super::assignment::Assignments;
use super::datum::{Data, DatumId};
use super::follow::{Follow, Place};
use super::pattern::Correlation;
use super::segment::{Segments, is_synchronisation};
use crate::ir::{BlockId, Function, FunctionId, Instruction, Operand, Program, RegisterId, Terminator};
use crate::ssa::function::graph_of;
use crate::ssa::graph::Graph;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Data that a function with its callees may touch; further ones are left out.
const MAX_DATA: usize = 256;

/// Reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessKind {
    /// Reads.
    Read,
    /// Writes.
    Write,
}

impl AccessKind {
    /// Both, in order.
    pub const ALL: [AccessKind; 2] = [AccessKind::Read, AccessKind::Write];

    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            AccessKind::Read => "read",
            AccessKind::Write => "write",
        }
    }

    pub(super) fn bit(self) -> u8 {
        match self {
            AccessKind::Read => 1,
            AccessKind::Write => 2,
        }
    }
}

/// The bit of two kinds in a mask of four.
pub(super) fn pair_bit(first: AccessKind, second: AccessKind) -> u8 {
    1 << (2 * (first.bit() - 1) + second.bit() - 1)
}

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
    pub kinds: Vec<(DatumId, u8)>,
    /// Its correlation accesses, sorted.
    pub correlated: Vec<CorrelationAccess>,
    /// Whether it touches memory itself.
    pub own: bool,
}

impl Accesses {
    /// The kinds of access to a datum.
    #[must_use]
    pub fn kinds_of(&self, datum: DatumId) -> u8 {
        kinds_in(&self.kinds, datum)
    }
}

fn kinds_in(kinds: &[(DatumId, u8)], datum: DatumId) -> u8 {
    kinds.binary_search_by_key(&datum, |each| each.0).map_or(0, |index| kinds[index].1)
}

/// A place where a function touches a datum, or calls one that does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Touch {
    pub datum: DatumId,
    pub kinds: u8,
    pub block: BlockId,
    pub position: u32,
    pub segment: u32,
}

/// A call between two segments.
#[derive(Clone, Copy, Debug)]
struct Call {
    callee: FunctionId,
    block: BlockId,
    position: u32,
    before: u32,
    after: u32,
}

/// The kinds of access that are together, by correlation.
type Masks = FxHashMap<u32, u8>;

#[derive(Clone, Debug, Default)]
struct Summary {
    head: Vec<(DatumId, u8)>,
    tail: Vec<(DatumId, u8)>,
    /// Whether control may pass through without synchronisation.
    through: bool,
    together: Masks,
    endangered: Masks,
    accesses: Accesses,
}

/// The correlations of each datum.
pub(super) struct Neighbours(FxHashMap<DatumId, Vec<(DatumId, u32)>>);

impl Neighbours {
    pub fn new(correlations: &[Correlation]) -> Neighbours {
        let mut of: FxHashMap<DatumId, Vec<(DatumId, u32)>> = FxHashMap::default();
        for (index, correlation) in correlations.iter().enumerate() {
            let (a, b) = correlation.data;
            of.entry(a).or_default().push((b, index as u32));
            of.entry(b).or_default().push((a, index as u32));
        }
        Neighbours(of)
    }

    fn contains(&self, datum: DatumId) -> bool {
        self.0.contains_key(&datum)
    }

    /// The correlations within a set of data, each with the mask of the kinds.
    fn within(&self, kinds: &[(DatumId, u8)], mut f: impl FnMut(u32, u8)) {
        for &(datum, first) in kinds {
            for &(partner, correlation) in self.0.get(&datum).map_or(&[][..], Vec::as_slice) {
                let second = if partner > datum { kinds_in(kinds, partner) } else { 0 };
                if second != 0 {
                    f(correlation, mask(first, second));
                }
            }
        }
    }
}

fn mask(first: u8, second: u8) -> u8 {
    let mut mask = 0;
    for a in AccessKind::ALL {
        for b in AccessKind::ALL {
            if first & a.bit() != 0 && second & b.bit() != 0 {
                mask |= pair_bit(a, b);
            }
        }
    }
    mask
}

/// What all functions touch.
pub(super) struct Finder<'a> {
    pub program: &'a Program,
    pub data: &'a Data,
    pub assignments: &'a Assignments,
    pub correlations: &'a [Correlation],
    pub neighbours: Neighbours,
    summaries: Vec<Option<Summary>>,
    follow: Follow,
}

/// Finds the accesses of all functions. `components` are those of the call graph, callees first.
pub(super) fn find_accesses(
    program: &Program,
    data: &Data,
    assignments: &Assignments,
    correlations: &[Correlation],
    components: &[Vec<FunctionId>],
) -> Vec<Accesses> {
    let mut finder = Finder {
        program,
        data,
        assignments,
        correlations,
        neighbours: Neighbours::new(correlations),
        summaries: vec![None; program.functions.len()],
        follow: Follow::default(),
    };
    for &id in components.iter().flatten() {
        let summary = finder.function(id);
        finder.summaries[id.index()] = Some(summary);
    }
    finder.summaries.into_iter().map(|summary| summary.unwrap_or_default().accesses).collect()
}

/// The sites of one function.
struct Sites {
    touches: Vec<Touch>,
    calls: Vec<Call>,
    segments: Segments,
    /// The segments in which blocks begin and end.
    first: Vec<u32>,
    last: Vec<u32>,
    own: bool,
}

impl Finder<'_> {
    fn function(&mut self, id: FunctionId) -> Summary {
        let function = &self.program.functions[id];
        let mut sites = self.sites(id, function);
        for (block, content) in function.blocks.entries() {
            for target in content.terminator.successors() {
                sites.segments.unite(sites.last[block.index()], sites.first[target.index()]);
            }
        }
        let mut summary = Summary::default();
        summary.accesses.own = sites.own;
        summary.accesses.kinds = self.all_kinds(&sites);
        self.find_together(function, &mut sites, &mut summary);
        self.find_endangered(function, &sites, &mut summary);
        summary
    }

    fn sites(&self, id: FunctionId, function: &Function) -> Sites {
        let mut sites = Sites {
            touches: Vec::new(),
            calls: Vec::new(),
            segments: Segments::new(),
            first: Vec::new(),
            last: Vec::new(),
            own: false,
        };
        for (block, content) in function.blocks.entries() {
            let mut segment = sites.segments.add();
            sites.first.push(segment);
            for (position, instruction) in content.instructions.iter().enumerate() {
                let position = position as u32;
                let cut = is_synchronisation(instruction);
                if cut {
                    segment = sites.segments.add();
                }
                let at = Touch { datum: DatumId(0), kinds: 0, block, position, segment };
                self.touches(id, instruction, at, &mut sites);
                if let Instruction::Call { function: callee, .. } = instruction {
                    let before = segment;
                    let summary = self.summaries[callee.index()].as_ref();
                    if summary.is_some_and(|summary| !summary.through) {
                        segment = sites.segments.add();
                    }
                    sites.calls.push(Call { callee: *callee, block, position, before, after: segment });
                } else if cut {
                    // What an atomic access touches stands alone.
                    segment = sites.segments.add();
                }
            }
            sites.last.push(segment);
            let position = content.instructions.len() as u32;
            let at = Touch { datum: DatumId(0), kinds: 0, block, position, segment };
            if let Terminator::Branch { condition: Operand::Register(register), .. }
            | Terminator::Return(Some(Operand::Register(register))) = content.terminator
            {
                self.touch_register(id, register, AccessKind::Read, at, &mut sites);
            }
        }
        sites
    }

    /// Adds what an instruction touches.
    fn touches(&self, id: FunctionId, instruction: &Instruction, at: Touch, sites: &mut Sites) {
        instruction.uses(&mut |register| self.touch_register(id, register, AccessKind::Read, at, sites));
        if let Instruction::Load { read, .. } | Instruction::Atomic { read, .. } = instruction {
            let datum = self.data.of_symbol(self.program.reads[*read].symbol);
            self.touch(datum, AccessKind::Read, at, sites);
        }
        if let Some(assignment) = self.assignments.at(id, at.block, at.position as usize) {
            self.touch(self.assignments.all[assignment].target, AccessKind::Write, at, sites);
        }
    }

    fn touch_register(&self, id: FunctionId, register: RegisterId, kind: AccessKind, at: Touch, sites: &mut Sites) {
        let datum = self.data.of_register(id, register);
        if self.data.is_named(datum) {
            self.touch(datum, kind, at, sites);
        }
    }

    fn touch(&self, datum: DatumId, kind: AccessKind, at: Touch, sites: &mut Sites) {
        let shared = self.data.is_shared(datum);
        sites.own |= shared;
        if shared || self.neighbours.contains(datum) {
            sites.touches.push(Touch { datum, kinds: kind.bit(), ..at });
        }
    }

    /// The data that a function and its callees touch.
    fn all_kinds(&self, sites: &Sites) -> Vec<(DatumId, u8)> {
        let mut all: BTreeMap<DatumId, u8> = BTreeMap::new();
        for touch in &sites.touches {
            *all.entry(touch.datum).or_default() |= touch.kinds;
        }
        for call in &sites.calls {
            let Some(callee) = &self.summaries[call.callee.index()] else { continue };
            for &(datum, kinds) in &callee.accesses.kinds {
                if all.len() < MAX_DATA || all.contains_key(&datum) {
                    *all.entry(datum).or_default() |= kinds;
                }
            }
        }
        all.into_iter().collect()
    }

    /// Fills in what is together, and the first and the last segment.
    fn find_together(&self, function: &Function, sites: &mut Sites, summary: &mut Summary) {
        let mut united: BTreeMap<u32, BTreeMap<DatumId, u8>> = BTreeMap::new();
        for touch in &sites.touches {
            let root = sites.segments.root(touch.segment);
            *united.entry(root).or_default().entry(touch.datum).or_default() |= touch.kinds;
        }
        for call in &sites.calls {
            let Some(callee) = &self.summaries[call.callee.index()] else { continue };
            for (segment, kinds) in [(call.before, &callee.head), (call.after, &callee.tail)] {
                let of = united.entry(sites.segments.root(segment)).or_default();
                kinds.iter().for_each(|&(datum, kinds)| *of.entry(datum).or_default() |= kinds);
            }
        }
        let united: BTreeMap<u32, Vec<(DatumId, u8)>> =
            united.into_iter().map(|(root, kinds)| (root, kinds.into_iter().collect())).collect();
        for kinds in united.values() {
            self.neighbours
                .within(kinds, |correlation, mask| *summary.together.entry(correlation).or_default() |= mask);
        }
        for call in &sites.calls {
            let Some(callee) = &self.summaries[call.callee.index()] else { continue };
            for (&correlation, &mask) in &callee.together {
                *summary.together.entry(correlation).or_default() |= mask;
            }
        }
        let of = |root: u32| united.get(&root).cloned().unwrap_or_default();
        let entry = sites.segments.root(sites.first[0]);
        summary.head = of(entry);
        let mut exits: Vec<u32> = Vec::new();
        for (block, content) in function.blocks.entries() {
            if matches!(content.terminator, Terminator::Return(_)) {
                exits.push(sites.segments.root(sites.last[block.index()]));
            }
        }
        exits.sort_unstable();
        exits.dedup();
        summary.through = exits.contains(&entry);
        let mut tail: BTreeMap<DatumId, u8> = BTreeMap::new();
        for (datum, kinds) in exits.into_iter().flat_map(of) {
            *tail.entry(datum).or_default() |= kinds;
        }
        summary.tail = tail.into_iter().take(MAX_DATA).collect();
        summary.head.truncate(MAX_DATA);
    }

    /// Fills in the correlation accesses, and which are endangered.
    fn find_endangered(&mut self, function: &Function, sites: &Sites, summary: &mut Summary) {
        let mut found: Vec<(u32, u8)> = Vec::new();
        self.neighbours.within(&summary.accesses.kinds, |correlation, mask| found.push((correlation, mask)));
        found.sort_unstable();
        summary.together.retain(|correlation, _| found.binary_search_by_key(correlation, |each| each.0).is_ok());
        let mut graph: Option<Graph> = None;
        for (correlation, mask) in found {
            let together = summary.together.get(&correlation).copied().unwrap_or(0);
            for first in AccessKind::ALL {
                for second in AccessKind::ALL {
                    let bit = pair_bit(first, second);
                    if mask & bit == 0 {
                        continue;
                    }
                    let endangered = together & bit == 0 && {
                        let graph = graph.get_or_insert_with(|| graph_of(function));
                        self.is_endangered(graph, sites, (correlation, bit), (first, second))
                    };
                    if endangered {
                        *summary.endangered.entry(correlation).or_default() |= bit;
                    }
                    let kinds = (first, second);
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
        inside || self.follow.reaches(graph, &first, &second) || self.follow.reaches(graph, &second, &first)
    }

    /// Where the function, or a callee, touches a datum.
    fn places(&self, sites: &Sites, datum: DatumId, kind: AccessKind) -> Vec<Place> {
        let own = sites.touches.iter().filter(|touch| touch.datum == datum && touch.kinds & kind.bit() != 0);
        let calls = sites.calls.iter().filter(|call| {
            let callee = self.summaries[call.callee.index()].as_ref();
            callee.is_some_and(|callee| callee.accesses.kinds_of(datum) & kind.bit() != 0)
        });
        let calls = calls.map(|call| (call.block, call.position));
        own.map(|touch| (touch.block, touch.position)).chain(calls).collect()
    }
}
