//! Placement of phi functions.
//!
//! **Input**: a graph, its dominators and the accesses of its blocks. **Output**: the iterated dominance frontiers of the blocks
//! that define each variable, for the variables that some block reads before it writes them.
//!
//! **Algorithm**: the worklist of Cytron et al. 1991, with one stamp per block instead of sets.
//!
//! **Limits**: liveness of the variable at the block is not checked; [`super::construct`] removes phi functions that are not
//! needed.

use super::access::{AccessKind, Accesses, NO_VERSION};
use super::dominators::{Dominators, Frontiers};
use super::graph::{Graph, rewind, row, starts_of};

/// The versions of the definitions.
pub(super) struct Numbering {
    /// For each access the version that it makes.
    pub made: Vec<u32>,
    /// For each variable the number of its definitions.
    pub definitions: Vec<u32>,
}

impl Numbering {
    /// Numbers the definitions of each variable from 1, in the order of the accesses.
    pub fn new(variable_count: usize, accesses: &Accesses) -> Numbering {
        let mut definitions = vec![0_u32; variable_count];
        let made = accesses
            .all()
            .iter()
            .map(|access| {
                if access.kind == AccessKind::Use {
                    return NO_VERSION;
                }
                definitions[access.variable as usize] += 1;
                definitions[access.variable as usize]
            })
            .collect();
        Numbering { made, definitions }
    }
}

/// Phi functions to be. The versions that they make follow those of the definitions of their variable.
pub(super) struct Placement {
    /// Variable and block of each, by variable and then by block.
    pub phis: Vec<(u32, u32)>,
    /// Where the phi functions of each variable begin.
    variable_starts: Vec<u32>,
    block_starts: Vec<u32>,
    /// The phi functions by block and then by variable.
    by_block: Vec<u32>,
    /// For each variable whether some block reads it before it writes it.
    shared: Vec<bool>,
    definition_starts: Vec<u32>,
    /// The blocks that define each shared variable, with the last version that they make of it.
    definitions: Vec<(u32, u32)>,
}

impl Placement {
    /// The phi functions of a block, by variable.
    pub fn of_block(&self, block: u32) -> &[u32] {
        &self.by_block[row(&self.block_starts, block)]
    }

    /// The phi functions of a variable, by block.
    pub fn of_variable(&self, variable: u32) -> std::ops::Range<usize> {
        row(&self.variable_starts, variable)
    }

    /// Whether some block reads the variable before it writes it.
    pub fn is_shared(&self, variable: u32) -> bool {
        self.shared[variable as usize]
    }

    /// The blocks that define a shared variable, with the last version that they make of it.
    pub fn definitions(&self, variable: u32) -> &[(u32, u32)] {
        &self.definitions[row(&self.definition_starts, variable)]
    }

    /// The version that a phi function makes.
    pub fn version(&self, numbering: &Numbering, phi: usize) -> u32 {
        let variable = self.phis[phi].0 as usize;
        numbering.definitions[variable] + 1 + phi as u32 - self.variable_starts[variable]
    }

    /// The phi function that makes that version of a variable, if one does.
    pub fn phi(&self, numbering: &Numbering, variable: u32, version: u32) -> Option<usize> {
        let definitions = numbering.definitions[variable as usize];
        (version != NO_VERSION && version > definitions)
            .then(|| (self.variable_starts[variable as usize] + version - definitions - 1) as usize)
    }
}

/// Places phi functions.
pub(super) fn place_phis(
    graph: &Graph,
    dominators: &Dominators,
    accesses: &Accesses,
    numbering: &Numbering,
) -> Placement {
    let variable_count = numbering.definitions.len();
    let shared = find_shared(graph, dominators, variable_count, accesses);
    let (definition_starts, definitions) = find_definitions(dominators, &shared, accesses, numbering);
    let mut phis: Vec<(u32, u32)> = Vec::new();
    let mut variable_starts = Vec::with_capacity(variable_count + 1);
    let mut search = Search::new(graph, dominators);
    for variable in 0..variable_count as u32 {
        let first = phis.len();
        variable_starts.push(first as u32);
        search.run(variable, &definitions[row(&definition_starts, variable)], &mut phis);
        phis[first..].sort_unstable();
    }
    variable_starts.push(phis.len() as u32);
    let mut block_starts = starts_of(graph.node_count(), phis.iter().map(|&(_, block)| block));
    let mut by_block = vec![0; phis.len()];
    for (phi, &(_, block)) in phis.iter().enumerate() {
        by_block[block_starts[block as usize] as usize] = phi as u32;
        block_starts[block as usize] += 1;
    }
    rewind(&mut block_starts);
    Placement { phis, variable_starts, block_starts, by_block, shared, definition_starts, definitions }
}

/// The variables that some reachable block reads before it writes them. What the entry block reads needs no phi function
/// unless there is a way back to it.
fn find_shared(graph: &Graph, dominators: &Dominators, variable_count: usize, accesses: &Accesses) -> Vec<bool> {
    let mut shared = vec![false; variable_count];
    let mut written_in = vec![NO_VERSION; variable_count];
    for &block in dominators.reverse_postorder() {
        let counts = block != 0 || !graph.predecessors(0).is_empty();
        for access in &accesses.all()[accesses.of_block(block)] {
            let written = &mut written_in[access.variable as usize];
            if access.kind != AccessKind::Definition && *written != block && counts {
                shared[access.variable as usize] = true;
            }
            if access.kind != AccessKind::Use {
                *written = block;
            }
        }
    }
    shared
}

/// For each shared variable the reachable blocks that define it, once each, with the last version that they make: flat,
/// with the starts of the variables.
fn find_definitions(
    dominators: &Dominators,
    shared: &[bool],
    accesses: &Accesses,
    numbering: &Numbering,
) -> (Vec<u32>, Vec<(u32, u32)>) {
    let mut newest = vec![NO_VERSION; shared.len()];
    let mut found = Vec::new();
    for &block in dominators.reverse_postorder() {
        // From the last access to the first.
        for index in accesses.of_block(block).rev() {
            let access = accesses.all()[index];
            let variable = access.variable as usize;
            if shared[variable] && access.kind != AccessKind::Use && newest[variable] != block {
                newest[variable] = block;
                found.push((access.variable, block, numbering.made[index]));
            }
        }
    }
    let mut starts = starts_of(shared.len(), found.iter().map(|&(variable, ..)| variable));
    let mut definitions = vec![(0, 0); found.len()];
    for &(variable, block, version) in &found {
        definitions[starts[variable as usize] as usize] = (block, version);
        starts[variable as usize] += 1;
    }
    rewind(&mut starts);
    (starts, definitions)
}

/// The search for iterated dominance frontiers. A stamp is the variable for which a block was last reached.
struct Search {
    frontiers: Frontiers,
    placed: Vec<u32>,
    queued: Vec<u32>,
    work: Vec<u32>,
}

impl Search {
    fn new(graph: &Graph, dominators: &Dominators) -> Search {
        let stamps = vec![NO_VERSION; graph.node_count()];
        Search { frontiers: dominators.frontiers(graph), placed: stamps.clone(), queued: stamps, work: Vec::new() }
    }

    /// Adds a phi function at each block of the iterated frontier of the definitions.
    fn run(&mut self, variable: u32, definitions: &[(u32, u32)], phis: &mut Vec<(u32, u32)>) {
        for &(block, _) in definitions {
            self.queued[block as usize] = variable;
            self.work.push(block);
        }
        while let Some(block) = self.work.pop() {
            for &join in self.frontiers.of(block) {
                if std::mem::replace(&mut self.placed[join as usize], variable) != variable {
                    phis.push((variable, join));
                    if std::mem::replace(&mut self.queued[join as usize], variable) != variable {
                        self.work.push(join);
                    }
                }
            }
        }
    }
}
