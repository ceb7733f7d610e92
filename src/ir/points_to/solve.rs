//! The least sets that satisfy the inclusions.
//!
//! In: [`Constraints`]. Out: [`PointsTo`].
//!
//! A list of targets that are new in a set is worked off: each goes along the flows from the set, and opens the flows that accesses
//! through it ask for. So each target passes each flow once.

use super::constraints::{Access, Constraints, Set};
use super::step::{Step, moved};
use super::{PointsTo, Target};
use crate::Program;
use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet};

/// Cells of one variable in one set, of which those of some are computed from others: beyond so many it is any cell.
const MAX_CELLS: usize = 16;

struct Solver<'p> {
    program: &'p Program,
    first_leaf: Set,
    sets: Vec<FxHashSet<Target>>,
    /// By set: where its targets flow.
    flows: Vec<Vec<(Set, Step)>>,
    known: FxHashSet<(Set, Set)>,
    /// By set: the accesses through what it holds.
    accesses: Vec<Vec<(u32, Access)>>,
    /// By set and variable: cells that are computed.
    computed: FxHashMap<(Set, u32), usize>,
    work: Vec<(Set, Target)>,
}

/// Solves the constraints of a program.
pub fn solve(program: &Program, constraints: Constraints) -> PointsTo {
    let Constraints { firsts, first_leaf, count, initial, flows, accesses } = constraints;
    let mut solver = Solver {
        program,
        first_leaf,
        sets: vec![FxHashSet::default(); count],
        flows: vec![Vec::new(); count],
        known: FxHashSet::default(),
        accesses: vec![Vec::new(); count],
        computed: FxHashMap::default(),
        work: Vec::new(),
    };
    for (from, to, step) in flows {
        solver.flows[from as usize].push((to, step));
    }
    for (base, bytes, access) in accesses {
        solver.accesses[base as usize].push((bytes, access));
    }
    initial.into_iter().for_each(|(set, target)| solver.add(set, target));
    while let Some((set, target)) = solver.work.pop() {
        solver.pass_on(set, target);
    }
    let mut stored = FixedBitSet::with_capacity(program.variables.len());
    for set in &solver.sets[first_leaf as usize..] {
        stored.extend(set.iter().map(|target| target.variable.index()));
    }
    let sorted = |set: FxHashSet<Target>| {
        let mut targets: Vec<Target> = set.into_iter().collect();
        targets.sort_unstable();
        targets
    };
    let targets = solver.sets.into_iter().take(first_leaf as usize).map(sorted).collect();
    PointsTo { firsts, targets, stored }
}

impl Solver<'_> {
    fn add(&mut self, set: Set, target: Target) {
        if self.sets[set as usize].insert(target) {
            self.work.push((set, target));
        }
    }

    fn pass_on(&mut self, set: Set, target: Target) {
        let mut at = 0;
        while let Some(&(to, step)) = self.flows[set as usize].get(at) {
            at += 1;
            let step = self.bounded(to, target, step);
            self.add(to, moved(self.program, target, step));
        }
        let mut at = 0;
        while let Some(&(bytes, access)) = self.accesses[set as usize].get(at) {
            at += 1;
            self.access(target.behind(bytes), access);
        }
    }

    /// A loop that moves a pointer would give ever new cells.
    fn bounded(&mut self, to: Set, target: Target, step: Step) -> Step {
        if !matches!(step, Step::Plus(_) | Step::Member { .. }) || step == Step::Plus(0) {
            return step;
        }
        let count = self.computed.entry((to, target.variable.0)).or_default();
        *count += 1;
        match step {
            _ if *count <= MAX_CELLS => step,
            Step::Plus(bytes) => Step::Times(bytes.unsigned_abs() as u32),
            Step::Member { bytes, exact: true } => Step::Times(bytes),
            _ => Step::Times(1),
        }
    }

    /// An access through a pointer that may lead there.
    fn access(&mut self, target: Target, access: Access) {
        for leaf in target.leaves(self.program) {
            let there = self.first_leaf + leaf.0;
            match access {
                Access::Load(dest) => self.open(there, dest),
                Access::Store(source) => self.open(source, there),
                Access::Put(target) => self.add(there, target),
            }
        }
    }

    /// Lets one set flow into another from now on.
    fn open(&mut self, from: Set, to: Set) {
        if self.known.insert((from, to)) {
            self.flows[from as usize].push((to, Step::Same));
            let now: Vec<Target> = self.sets[from as usize].iter().copied().collect();
            now.into_iter().for_each(|target| self.add(to, target));
        }
    }
}
