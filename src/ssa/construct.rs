//! SSA construction for any flow graph.
//!
//! **Input**: a [`Graph`], its [`Dominators`], and for each block the accesses to variables in order. **Output**: [`Ssa`]: the
//! version that each access uses and creates, and the phi functions of each block with one argument for each predecessor.
//!
//! **Algorithm** (Cytron, Ferrante, Rosen, Wegman and Zadeck, "Efficiently Computing Static Single Assignment Form and the
//! Control Dependence Graph", 1991; pruned)
//! 1. Leave out the variables whose uses all follow a definition in their own block (Briggs, Cooper, Harvey and Simpson 1998,
//!    "semi-pruned").
//! 2. Place phi functions at the iterated dominance frontiers of the definitions.
//! 3. Rename along the dominator tree. The tree is traversed as a list, and its stack is an undo log, so that there is no
//!    recursion.
//! 4. Keep only the phi functions that a use reaches, directly or through other phi functions. These are exactly the ones where
//!    the variable is live. This replaces the sets of live variables, whose total size grows with blocks times variables.
//! 5. Look up the arguments of the remaining phi functions.
//!
//! Versions of a variable: 0 is the value at entry, then one for each definition in the order of the accesses, then one for each
//! phi function in the order of the blocks.
//!
//! **Soundness and limits**: exact for the given accesses; other threads and aliases must be among them. Uses in blocks that the
//! entry does not reach have no version; definitions there have an unused one. `verify` checks the result against the definition.

use super::access::{Access, AccessKind, Accesses, NO_VERSION};
use super::arguments::{Arguments, choose_arguments};
use super::dominators::Dominators;
use super::graph::{Graph, row};
use super::placement::{Numbering, Placement, place_phis};
use std::ops::Range;

/// A phi function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phi {
    /// The block at whose head it stands.
    pub block: u32,
    /// Its variable.
    pub variable: u32,
    /// The version that it makes.
    pub version: u32,
}

/// Where a version comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It is the value at entry.
    Entry,
    /// That access makes it.
    Access(u32),
    /// That phi function makes it.
    Phi(u32),
}

/// The SSA form of a graph.
#[derive(Clone, Debug)]
pub struct Ssa {
    pub(super) used: Vec<u32>,
    pub(super) made: Vec<u32>,
    pub(super) phi_starts: Vec<u32>,
    pub(super) phis: Vec<Phi>,
    pub(super) argument_starts: Vec<usize>,
    pub(super) arguments: Vec<u32>,
    pub(super) value_starts: Vec<u32>,
    pub(super) origins: Vec<Origin>,
}

impl Ssa {
    /// The version that an access reads: of a use and of a weak definition; [`NO_VERSION`] for a definition and in a
    /// block that the entry does not reach.
    #[must_use]
    pub fn used(&self, access: usize) -> u32 {
        self.used[access]
    }

    /// The version that an access makes; [`NO_VERSION`] for a use.
    #[must_use]
    pub fn made(&self, access: usize) -> u32 {
        self.made[access]
    }

    /// All phi functions, by block and then by variable.
    #[must_use]
    pub fn phis(&self) -> &[Phi] {
        &self.phis
    }

    /// Which of the phi functions are those of a block.
    #[must_use]
    pub fn phis_of_block(&self, block: u32) -> Range<usize> {
        row(&self.phi_starts, block)
    }

    /// The versions that a phi function chooses from: one for each predecessor of its block, in their order
    /// ([`NO_VERSION`] for one that the entry does not reach). At the entry block there is one more at the end, for the
    /// way in from outside: version 0.
    #[must_use]
    pub fn arguments(&self, phi: usize) -> &[u32] {
        &self.arguments[self.argument_starts[phi]..self.argument_starts[phi + 1]]
    }

    /// Number of variables.
    #[must_use]
    pub fn variable_count(&self) -> usize {
        self.value_starts.len() - 1
    }

    /// Number of versions of a variable.
    #[must_use]
    pub fn version_count(&self, variable: u32) -> u32 {
        self.value_starts[variable as usize + 1] - self.value_starts[variable as usize]
    }

    /// Number of versions of all variables together.
    #[must_use]
    pub fn value_count(&self) -> usize {
        self.origins.len()
    }

    /// A number for a version that no version of another variable has: `0..value_count`, by variable.
    #[must_use]
    pub fn value(&self, variable: u32, version: u32) -> usize {
        (self.value_starts[variable as usize] + version) as usize
    }

    /// Where a version comes from.
    #[must_use]
    pub fn origin(&self, variable: u32, version: u32) -> Origin {
        self.origins[self.value(variable, version)]
    }
}

/// Builds the pruned SSA form. The variables are `0..variable_count`; `accesses` has as many blocks as the graph has
/// nodes, and `dominators` are those of the graph.
#[must_use]
pub fn build_ssa(graph: &Graph, dominators: &Dominators, variable_count: usize, accesses: &Accesses) -> Ssa {
    let numbering = Numbering::new(variable_count, accesses);
    let placement = place_phis(graph, dominators, accesses, &numbering);
    let used = rename(dominators, accesses, &numbering, &placement);
    let arguments = choose_arguments(graph, dominators, accesses, &numbering, &placement, &used);
    finish(graph, accesses, numbering, &placement, used, &arguments)
}

/// The version that each access reads, with all phi functions of the placement in place.
fn rename(dominators: &Dominators, accesses: &Accesses, numbering: &Numbering, placement: &Placement) -> Vec<u32> {
    let mut used = vec![NO_VERSION; accesses.all().len()];
    let mut current = vec![0_u32; numbering.definitions.len()];
    let mut log: Vec<(u32, u32)> = Vec::new();
    // For each block on the way down the tree: the end of its subtree, and the length of the log before it.
    let mut open: Vec<(u32, usize)> = Vec::new();
    for (place, &block) in dominators.tree_preorder().iter().enumerate() {
        while let Some((_, mark)) = open.pop_if(|&mut (last, _)| (last as usize) < place) {
            for (variable, version) in log.drain(mark..).rev() {
                current[variable as usize] = version;
            }
        }
        open.push((dominators.subtree(block).map_or(0, |(_, last)| last), log.len()));
        for &phi in placement.of_block(block) {
            let (variable, _) = placement.phis[phi as usize];
            let version = placement.version(numbering, phi as usize);
            log.push((variable, std::mem::replace(&mut current[variable as usize], version)));
        }
        for index in accesses.of_block(block) {
            let Access { variable, kind } = accesses.all()[index];
            if kind != AccessKind::Definition {
                used[index] = current[variable as usize];
            }
            if kind != AccessKind::Use {
                let old = std::mem::replace(&mut current[variable as usize], numbering.made[index]);
                // The uses of the others all follow a definition in their block: nothing to undo.
                if placement.is_shared(variable) {
                    log.push((variable, old));
                }
            }
        }
    }
    used
}

/// Drops the phi functions that no use needs, and numbers the others.
fn finish(
    graph: &Graph,
    accesses: &Accesses,
    numbering: Numbering,
    placement: &Placement,
    mut used: Vec<u32>,
    chosen: &Arguments,
) -> Ssa {
    // Versions of the phi functions that stay, and the number of versions of each variable.
    let mut versions = vec![NO_VERSION; placement.phis.len()];
    let mut counts: Vec<u32> = numbering.definitions.iter().map(|&count| count + 1).collect();
    for (phi, &(variable, _)) in placement.phis.iter().enumerate().filter(|&(phi, _)| chosen.is_live(phi)) {
        versions[phi] = counts[variable as usize];
        counts[variable as usize] += 1;
    }
    let final_version =
        |variable: u32, version: u32| placement.phi(&numbering, variable, version).map_or(version, |phi| versions[phi]);
    for (access, used) in accesses.all().iter().zip(&mut used) {
        *used = final_version(access.variable, *used);
    }
    let mut phi_starts = Vec::with_capacity(graph.node_count() + 1);
    let mut phis = Vec::new();
    let (mut argument_starts, mut arguments) = (vec![0], Vec::new());
    phi_starts.push(0);
    for block in 0..graph.node_count() as u32 {
        for phi in placement.of_block(block).iter().map(|&phi| phi as usize).filter(|&phi| chosen.is_live(phi)) {
            let (variable, _) = placement.phis[phi];
            phis.push(Phi { block, variable, version: versions[phi] });
            arguments.extend(chosen.of(graph, phi, block).iter().map(|&version| final_version(variable, version)));
            argument_starts.push(arguments.len());
        }
        phi_starts.push(phis.len() as u32);
    }
    let (value_starts, origins) = origins_of(&counts, accesses, &numbering.made, &phis);
    Ssa { used, made: numbering.made, phi_starts, phis, argument_starts, arguments, value_starts, origins }
}

/// Where the versions of each variable begin, and where each version comes from.
fn origins_of(counts: &[u32], accesses: &Accesses, made: &[u32], phis: &[Phi]) -> (Vec<u32>, Vec<Origin>) {
    let mut starts = Vec::with_capacity(counts.len() + 1);
    starts.push(0_u32);
    for &count in counts {
        starts.push(starts[starts.len() - 1] + count);
    }
    let mut origins = vec![Origin::Entry; starts[counts.len()] as usize];
    for (index, (access, &version)) in accesses.all().iter().zip(made).enumerate() {
        if version != NO_VERSION {
            origins[(starts[access.variable as usize] + version) as usize] = Origin::Access(index as u32);
        }
    }
    for (index, phi) in phis.iter().enumerate() {
        origins[(starts[phi.variable as usize] + phi.version) as usize] = Origin::Phi(index as u32);
    }
    (starts, origins)
}
