//! A check of the SSA form that shares no code with its construction.
//!
//! **Input**: the input and the result of [`build_ssa`](super::build_ssa). **Output**: all errors.
//!
//! **Algorithm**: four checks, each a direct implementation of the definition instead of an efficient algorithm.
//! 1. Form: every version has one definition, and the numbers are as documented.
//! 2. Dominance: `a` dominates `b` if `b` cannot be reached without `a` (one search for each block that creates a version used
//!    elsewhere).
//! 3. Meaning: at each use, and at the end of each predecessor for an argument of a phi function, the version found there is the
//!    only one that reaches it. This is checked by a plain reaching-definitions data flow, in which both accesses and phi
//!    functions replace the previous version.
//! 4. Economy: each phi function merges two different versions, and its variable is live, by a plain search from the uses.
//!
//! **Limits**: the time grows with blocks times variables: this is for tests and for debugging, not for large programs.

use super::access::{AccessKind, Accesses, NO_VERSION};
use super::construct::{Origin, Ssa};
use super::graph::Graph;
use std::collections::{BTreeMap, BTreeSet};

/// Checks an SSA form.
///
/// # Errors
///
/// One sentence for each thing that is wrong.
pub fn verify_ssa(graph: &Graph, variable_count: usize, accesses: &Accesses, ssa: &Ssa) -> Result<(), Vec<String>> {
    let mut check = Check { graph, accesses, ssa, reachable: reachable_without(graph, None), faults: Vec::new() };
    check.form(variable_count);
    if check.faults.is_empty() {
        check.dominance();
        for variable in 0..variable_count as u32 {
            check.meaning(variable);
            check.economy(variable);
        }
    }
    if check.faults.is_empty() { Ok(()) } else { Err(check.faults) }
}

/// The blocks that can be reached from block 0 without entering `avoided`.
fn reachable_without(graph: &Graph, avoided: Option<u32>) -> Vec<bool> {
    let mut reached = vec![false; graph.node_count()];
    let mut work: Vec<u32> = (0..graph.node_count().min(1) as u32).collect();
    while let Some(block) = work.pop() {
        if Some(block) != avoided && !reached[block as usize] {
            reached[block as usize] = true;
            work.extend(graph.successors(block));
        }
    }
    reached
}

struct Check<'a> {
    graph: &'a Graph,
    accesses: &'a Accesses,
    ssa: &'a Ssa,
    reachable: Vec<bool>,
    faults: Vec<String>,
}

impl Check<'_> {
    fn demand(&mut self, holds: bool, fault: impl FnOnce() -> String) {
        if !holds {
            self.faults.push(fault());
        }
    }

    fn blocks(&self) -> std::ops::Range<u32> {
        0..self.graph.node_count() as u32
    }

    /// Where a version comes from, if there is such a version.
    fn origin(&self, variable: u32, version: u32) -> Option<Origin> {
        (version < self.ssa.version_count(variable)).then(|| self.ssa.origin(variable, version))
    }

    fn form(&mut self, variable_count: usize) {
        let ssa = self.ssa;
        self.demand(self.accesses.block_count() == self.graph.node_count(), || "blocks of the accesses".into());
        self.demand(ssa.variable_count() == variable_count, || "number of variables".into());
        if !self.faults.is_empty() {
            return;
        }
        let mut next: Vec<u32> = vec![1; variable_count];
        for block in self.blocks() {
            let live_block = self.reachable[block as usize];
            for index in self.accesses.of_block(block) {
                let access = self.accesses.all()[index];
                let (used, made) = (ssa.used(index), ssa.made(index));
                let (reads, writes) = match access.kind {
                    AccessKind::Use => (true, false),
                    AccessKind::Definition => (false, true),
                    AccessKind::WeakDefinition => (true, true),
                };
                self.demand((used != NO_VERSION) == (reads && live_block), || format!("access {index} uses {used}"));
                let count = ssa.version_count(access.variable);
                self.demand(used == NO_VERSION || used < count, || format!("access {index} uses {used} of {count}"));
                let expected = if writes { next[access.variable as usize] } else { NO_VERSION };
                self.demand(made == expected, || format!("access {index} makes {made}, not {expected}"));
                if writes {
                    next[access.variable as usize] += 1;
                    let origin = self.origin(access.variable, made);
                    self.demand(origin == Some(Origin::Access(index as u32)), || format!("access {index}: {origin:?}"));
                }
            }
        }
        self.form_of_phis(&mut next);
    }

    fn form_of_phis(&mut self, next: &mut [u32]) {
        let ssa = self.ssa;
        let mut count = 0;
        for block in self.blocks() {
            let mut variables = BTreeSet::new();
            for index in ssa.phis_of_block(block) {
                count += 1;
                let phi = ssa.phis()[index];
                let predecessors = self.graph.predecessors(block);
                let expected = predecessors.len() + usize::from(block == 0);
                self.demand(phi.block == block && variables.insert(phi.variable), || format!("phi {index} twice"));
                self.demand(ssa.arguments(index).len() == expected, || format!("phi {index}: number of arguments"));
                self.demand(phi.version == next[phi.variable as usize], || {
                    format!("phi {index} makes {}", phi.version)
                });
                next[phi.variable as usize] += 1;
                let origin = self.origin(phi.variable, phi.version);
                self.demand(origin == Some(Origin::Phi(index as u32)), || format!("phi {index}: {origin:?}"));
                for (&argument, &from) in ssa.arguments(index).iter().zip(predecessors) {
                    let fits = self.reachable[from as usize] == (argument != NO_VERSION);
                    let known = argument == NO_VERSION || argument < ssa.version_count(phi.variable);
                    self.demand(fits && known, || format!("phi {index}: argument {argument}"));
                }
            }
        }
        self.demand(count == ssa.phis().len(), || "phi functions without block".into());
        for (variable, &versions) in next.iter().enumerate() {
            self.demand(ssa.version_count(variable as u32) == versions, || format!("versions of variable {variable}"));
            let entry = self.origin(variable as u32, 0) == Some(Origin::Entry);
            self.demand(entry, || format!("version 0 of variable {variable}"));
        }
    }

    /// Every version is made on all paths to where it is used.
    fn dominance(&mut self) {
        // For each use in another block than that of the maker: (block of the maker, block of the use).
        let mut demands: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        let access_blocks = self.access_blocks();
        let maker = |variable: u32, version: u32| match self.ssa.origin(variable, version) {
            Origin::Entry => (0, None),
            Origin::Access(access) => (access_blocks[access as usize], Some(access as usize)),
            Origin::Phi(phi) => (self.ssa.phis()[phi as usize].block, None),
        };
        let mut faults = Vec::new();
        for (index, access) in self.accesses.all().iter().enumerate() {
            let used = self.ssa.used(index);
            if used == NO_VERSION {
                continue;
            }
            let (block, position) = maker(access.variable, used);
            if block != access_blocks[index] {
                demands.entry(block).or_default().insert(access_blocks[index]);
            } else if position.is_some_and(|position| position >= index) {
                faults.push(format!("access {index} uses what is made later in its block"));
            }
        }
        for (index, phi) in self.ssa.phis().iter().enumerate() {
            for (&argument, &from) in self.ssa.arguments(index).iter().zip(self.graph.predecessors(phi.block)) {
                if argument != NO_VERSION {
                    demands.entry(maker(phi.variable, argument).0).or_default().insert(from);
                }
            }
        }
        self.faults.append(&mut faults);
        for (maker, users) in demands {
            let reached = reachable_without(self.graph, Some(maker));
            for user in users {
                self.demand(!reached[user as usize], || format!("block {maker} does not dominate {user}"));
            }
        }
    }

    fn access_blocks(&self) -> Vec<u32> {
        self.blocks().flat_map(|block| self.accesses.of_block(block).map(move |_| block)).collect()
    }

    /// The only version that reaches a place is the one that stands there.
    fn meaning(&mut self, variable: u32) {
        let reaching = self.reaching(variable);
        let mut faults = Vec::new();
        for block in self.blocks().filter(|&block| self.reachable[block as usize]) {
            let mut here = reaching[block as usize].clone();
            for index in self.ssa.phis_of_block(block) {
                let phi = self.ssa.phis()[index];
                if phi.variable == variable {
                    here = BTreeSet::from([phi.version]);
                }
            }
            for index in self.accesses.of_block(block) {
                let access = self.accesses.all()[index];
                if access.variable == variable {
                    if access.kind != AccessKind::Definition && !here.iter().eq([&self.ssa.used(index)]) {
                        faults.push(format!("access {index} uses {}, but {here:?} reach it", self.ssa.used(index)));
                    }
                    if access.kind != AccessKind::Use {
                        here = BTreeSet::from([self.ssa.made(index)]);
                    }
                }
            }
            for target in BTreeSet::from_iter(self.graph.successors(block)) {
                for index in self.ssa.phis_of_block(*target) {
                    if self.ssa.phis()[index].variable == variable {
                        let arguments = self.ssa.arguments(index).iter().zip(self.graph.predecessors(*target));
                        for (argument, _) in arguments.filter(|&(_, &from)| from == block) {
                            if !here.iter().eq([argument]) {
                                faults.push(format!("phi {index} takes {argument} from block {block}, not {here:?}"));
                            }
                        }
                    }
                }
            }
        }
        self.faults.append(&mut faults);
    }

    /// For each block the versions of a variable that reach its head, its phi functions not yet run.
    fn reaching(&self, variable: u32) -> Vec<BTreeSet<u32>> {
        let mut heads = vec![BTreeSet::new(); self.graph.node_count()];
        let mut work = Vec::new();
        if let Some(entry) = heads.first_mut() {
            entry.insert(0);
            work.push(0);
        }
        let mut seen = vec![false; heads.len()];
        while let Some(block) = work.pop() {
            seen[block as usize] = true;
            let phis = self.ssa.phis_of_block(block).map(|index| self.ssa.phis()[index]);
            let by_phi = phis.filter(|phi| phi.variable == variable).map(|phi| phi.version);
            let accesses =
                self.accesses.of_block(block).filter(|&index| self.accesses.all()[index].variable == variable);
            let made = accesses.map(|index| self.ssa.made(index)).filter(|&version| version != NO_VERSION);
            let out =
                by_phi.chain(made).last().map_or_else(|| heads[block as usize].clone(), |last| BTreeSet::from([last]));
            for &target in self.graph.successors(block) {
                let head = &mut heads[target as usize];
                let size = head.len();
                head.extend(&out);
                if head.len() > size || !seen[target as usize] {
                    seen[target as usize] = true;
                    work.push(target);
                }
            }
        }
        heads
    }

    /// No phi function is without need.
    fn economy(&mut self, variable: u32) {
        let mut live = vec![false; self.graph.node_count()];
        let mut work = Vec::new();
        for block in self.blocks().filter(|&block| self.reachable[block as usize]) {
            let own = self.accesses.all()[self.accesses.of_block(block)].iter();
            let first = own.into_iter().find(|access| access.variable == variable).map(|access| access.kind);
            if first.is_some_and(|kind| kind != AccessKind::Definition) {
                work.push(block);
            }
        }
        while let Some(block) = work.pop() {
            if std::mem::replace(&mut live[block as usize], true) {
                continue;
            }
            for &from in self.graph.predecessors(block) {
                let own = &self.accesses.all()[self.accesses.of_block(from)];
                if !own.iter().any(|access| access.variable == variable && access.kind != AccessKind::Use) {
                    work.push(from);
                }
            }
        }
        for (index, phi) in self.ssa.phis().iter().enumerate().filter(|(_, phi)| phi.variable == variable) {
            let arguments: BTreeSet<u32> =
                self.ssa.arguments(index).iter().copied().filter(|&version| version != NO_VERSION).collect();
            self.demand(live[phi.block as usize], || format!("phi {index} is dead"));
            self.demand(arguments.len() > 1, || format!("phi {index} merges nothing: {arguments:?}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dominators, build_ssa};

    /// A loop with a branch in it, and a variable that all of it works on.
    fn example() -> (Graph, Accesses, Ssa) {
        let graph = Graph::from_edges(6, &[(0, 1), (1, 2), (1, 5), (2, 3), (2, 4), (3, 4), (4, 1)]);
        let mut accesses = Accesses::new();
        for kinds in [
            &[AccessKind::Definition][..],
            &[],
            &[AccessKind::Use],
            &[AccessKind::WeakDefinition],
            &[],
            &[AccessKind::Use],
        ] {
            for &kind in kinds {
                accesses.push(0, kind);
            }
            accesses.end_block();
        }
        let ssa = build_ssa(&graph, &Dominators::new(&graph), 1, &accesses);
        (graph, accesses, ssa)
    }

    fn is_refused(change: impl FnOnce(&mut Ssa)) -> bool {
        let (graph, accesses, mut ssa) = example();
        assert_eq!(verify_ssa(&graph, 1, &accesses, &ssa), Ok(()));
        change(&mut ssa);
        verify_ssa(&graph, 1, &accesses, &ssa).is_err()
    }

    #[test]
    fn every_wrong_version_is_found() {
        let (_, _, ssa) = example();
        assert_eq!((ssa.phis.len(), ssa.value_count()), (2, 5));
        for version in 0..ssa.version_count(0) {
            for index in 0..ssa.used.len() {
                if ssa.used[index] != NO_VERSION {
                    assert_eq!(is_refused(|ssa| ssa.used[index] = version), ssa.used[index] != version);
                }
            }
            for index in 0..ssa.made.len() {
                assert_eq!(is_refused(|ssa| ssa.made[index] = version), ssa.made[index] != version);
            }
            for index in 0..ssa.arguments.len() {
                assert_eq!(is_refused(|ssa| ssa.arguments[index] = version), ssa.arguments[index] != version);
            }
            for index in 0..ssa.phis.len() {
                assert_eq!(is_refused(|ssa| ssa.phis[index].version = version), ssa.phis[index].version != version);
            }
        }
    }

    #[test]
    fn a_missing_phi_function_is_found() {
        assert!(is_refused(|ssa| {
            ssa.phis.pop();
            ssa.phi_starts.iter_mut().for_each(|start| *start = (*start).min(1));
            ssa.origins.pop();
            ssa.value_starts[1] -= 1;
        }));
    }

    #[test]
    fn phi_functions_without_need_are_found() {
        // Both ways of a branch, a join, and nobody who reads.
        let graph = Graph::from_edges(4, &[(0, 1), (0, 2), (1, 3), (2, 3)]);
        let build = |last: AccessKind| {
            let mut accesses = Accesses::new();
            for kinds in [&[][..], &[AccessKind::Definition], &[], &[last]] {
                kinds.iter().for_each(|&kind| {
                    accesses.push(0, kind);
                });
                accesses.end_block();
            }
            let ssa = build_ssa(&graph, &Dominators::new(&graph), 1, &accesses);
            (accesses, ssa)
        };
        let (_, with_use) = build(AccessKind::Use);
        let (accesses, without) = build(AccessKind::Definition);
        assert_eq!(verify_ssa(&graph, 1, &accesses, &without), Ok(()));
        let mut wrong = without;
        wrong.phis.clone_from(&with_use.phis);
        wrong.phis[0].version = 3;
        wrong.phi_starts.clone_from(&with_use.phi_starts);
        wrong.arguments.clone_from(&with_use.arguments);
        wrong.argument_starts.clone_from(&with_use.argument_starts);
        wrong.origins.push(Origin::Phi(0));
        wrong.value_starts[1] += 1;
        assert_eq!(verify_ssa(&graph, 1, &accesses, &wrong), Err(vec!["phi 0 is dead".to_owned()]));
    }
}
