//! Computes which accesses a call reaches.
//!
//! **Input**: a program, and the accesses of its file. **Output**: [`Reach`]: for each function, the accesses that a calling
//! thread may make.
//!
//! **Algorithm**: collects the accesses of all functions that calls lead to, and ignores branch conditions.
//!
//! **Soundness and limits**: contains all accesses that a call makes. Threads that it creates count as other threads.

use super::universe::{AccessId, Binding, Universe};
use cssame_ir::{Access, DefinitionKind, Follow, FunctionId, Program};
use fixedbitset::FixedBitSet;

/// The accesses of each function.
#[derive(Clone, Debug)]
pub struct Reach {
    of_function: Vec<FixedBitSet>,
    accesses: usize,
}

impl Reach {
    /// Those of a program.
    #[must_use]
    pub fn new(program: &Program, binding: &Binding, universe: &Universe) -> Reach {
        let accesses = universe.accesses.len();
        let mut of_function = vec![FixedBitSet::with_capacity(accesses); program.functions.len()];
        let reads = program.reads.entries().map(|(id, read)| (Access::Read(id), read.function));
        let writes = program.definitions.entries().filter_map(|(id, definition)| match definition.kind {
            DefinitionKind::Write(function) => Some((Access::Write(id), function)),
            DefinitionKind::Initial(_) | DefinitionKind::Free(_) => None,
        });
        for (access, function) in reads.chain(writes) {
            of_function[function.index()].extend(binding.of(access).map(AccessId::index));
        }
        Reach { of_function, accesses }
    }

    /// What a thread may access that calls one of these functions.
    #[must_use]
    pub fn from(&self, program: &Program, roots: Vec<FunctionId>) -> FixedBitSet {
        let mut accesses = FixedBitSet::with_capacity(self.accesses);
        for function in program.reached_functions(roots, Follow::Calls) {
            accesses.union_with(&self.of_function[function.index()]);
        }
        accesses
    }
}
