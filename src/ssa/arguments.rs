//! Liveness and arguments of phi functions.
//!
//! **Input**: the placed phi functions and the versions that the accesses read. **Output**: for each phi function that a use needs,
//! directly or through another one, the version at the end of each predecessor.
//!
//! **Algorithm**
//! 1. Mark the phi functions that accesses read, and, from each marked one, the phi functions that its arguments name, variable
//!    by variable.
//! 2. The nearest block above in the dominator tree that creates a version determines the version at the end of a block. In
//!    preorder of the tree, the versions of one variable are steps: a step begins at its block, and after the subtree of that
//!    block the version of the block above applies again.
//! 3. So a look-up is a binary search among the steps of one variable. Phi functions that are not needed cost nothing, however
//!    many predecessors they have.

use super::access::{Accesses, NO_VERSION};
use super::dominators::Dominators;
use super::graph::Graph;
use super::placement::{Numbering, Placement};

/// Not kept.
const DEAD: usize = usize::MAX;

/// The arguments of the phi functions that are kept.
pub(super) struct Arguments {
    /// For each placed phi function where its arguments begin, or [`DEAD`].
    starts: Vec<usize>,
    versions: Vec<u32>,
}

impl Arguments {
    /// Whether a use needs the phi function.
    pub fn is_live(&self, phi: usize) -> bool {
        self.starts[phi] != DEAD
    }

    /// The arguments of a phi function that is live and stands in that block.
    pub fn of(&self, graph: &Graph, phi: usize, block: u32) -> &[u32] {
        let start = self.starts[phi];
        &self.versions[start..start + graph.predecessors(block).len() + usize::from(block == 0)]
    }
}

/// Finds the phi functions that the uses need, and their arguments.
pub(super) fn choose_arguments(
    graph: &Graph,
    dominators: &Dominators,
    accesses: &Accesses,
    numbering: &Numbering,
    placement: &Placement,
    used: &[u32],
) -> Arguments {
    let mut needed = vec![false; placement.phis.len()];
    for (access, &version) in accesses.all().iter().zip(used) {
        if let Some(phi) = placement.phi(numbering, access.variable, version) {
            needed[phi] = true;
        }
    }
    let mut arguments = Arguments { starts: vec![DEAD; placement.phis.len()], versions: Vec::new() };
    let mut steps = Steps::default();
    let mut work = Vec::new();
    for variable in 0..numbering.definitions.len() as u32 {
        work.extend(placement.of_variable(variable).filter(|&phi| needed[phi]));
        if !work.is_empty() {
            steps.fill(dominators, numbering, placement, variable);
        }
        while let Some(phi) = work.pop() {
            let (_, block) = placement.phis[phi];
            let first = arguments.versions.len();
            arguments.starts[phi] = first;
            let predecessors = graph.predecessors(block).iter();
            arguments.versions.extend(predecessors.map(|&from| steps.at_end(dominators, from)));
            arguments.versions.extend((block == 0).then_some(0));
            for &version in &arguments.versions[first..] {
                let other = placement.phi(numbering, variable, version);
                work.extend(other.filter(|&other| !std::mem::replace(&mut needed[other], true)));
            }
        }
    }
    arguments
}

/// The versions of one variable in preorder of the dominator tree.
#[derive(Default)]
struct Steps {
    /// Places in the preorder, rising, and the version from there on; before the first it is 0.
    steps: Vec<(u32, u32)>,
    /// First and last place of the subtree of a block, whether the block defines the variable, and the version.
    makers: Vec<(u32, bool, u32, u32)>,
    /// Last place and version of the makers above.
    open: Vec<(u32, u32)>,
}

impl Steps {
    fn fill(&mut self, dominators: &Dominators, numbering: &Numbering, placement: &Placement, variable: u32) {
        self.makers.clear();
        let by_definition = placement.definitions(variable).iter().map(|&(block, version)| (block, true, version));
        let by_phi = placement.of_variable(variable).map(|phi| {
            let (_, block) = placement.phis[phi];
            (block, false, placement.version(numbering, phi))
        });
        for (block, defines, version) in by_definition.chain(by_phi) {
            if let Some((first, last)) = dominators.subtree(block) {
                self.makers.push((first, defines, last, version));
            }
        }
        // A definition comes after the phi function of its block, and replaces it.
        self.makers.sort_unstable();
        self.steps.clear();
        self.open.clear();
        for index in 0..self.makers.len() {
            let (first, _, last, version) = self.makers[index];
            self.close_before(first);
            self.open.push((last, version));
            self.step(first, version);
        }
        self.close_before(NO_VERSION);
    }

    /// Ends the subtrees that end before that place.
    fn close_before(&mut self, place: u32) {
        while let Some((last, _)) = self.open.pop_if(|&mut (last, _)| last < place) {
            let above = self.open.last().map_or(0, |&(_, version)| version);
            self.step(last + 1, above);
        }
    }

    fn step(&mut self, place: u32, version: u32) {
        match self.steps.last_mut() {
            Some(step) if step.0 == place => step.1 = version,
            _ => self.steps.push((place, version)),
        }
    }

    /// The version at the end of a block; [`NO_VERSION`] where the entry does not reach it.
    fn at_end(&self, dominators: &Dominators, block: u32) -> u32 {
        let Some((place, _)) = dominators.subtree(block) else {
            return NO_VERSION;
        };
        let after = self.steps.partition_point(|&(first, _)| first <= place);
        after.checked_sub(1).map_or(0, |index| self.steps[index].1)
    }
}
