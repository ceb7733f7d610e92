//! Constant propagation over pi functions: reads of shared memory that always see the same constant.
//!
//! **Input**: a [`Form`]. **Output**: for each read whose terms all write one constant, that constant.
//!
//! **Algorithm** (concurrent SSA constant propagation: Lee, Midkiff and Padua 1998, without the optimistic assumption): a read is
//! constant if all its terms are stores of the same constant. If this decides a branch, the next form is built without the other
//! side.
//!
//! **Soundness and limits**: terms cover all writers of every execution, so a value on which they agree holds in every execution.
//! The module does not see constants that only hold because of each other, constants of one calling context, and elements of
//! arrays.

use super::Form;
use cssame_concurrency::KnownReads;
use cssame_concurrency::value::{Evaluator, Writers};
use cssame_ir::{DefinitionId, Instruction, Program, Storage, Terminator};
use rustc_hash::FxHashMap;

/// What some definitions write.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    /// There are none.
    Nothing,
    Constant(i64),
    Various,
}

impl Written {
    fn and(self, other: Written) -> Written {
        match (self, other) {
            (Written::Nothing, known) | (known, Written::Nothing) => known,
            (one, other) if one == other => one,
            _ => Written::Various,
        }
    }
}

/// The reads whose value is known, those in `known` among them; nothing where that decides no branch that was open before.
pub(super) fn find_known_reads(program: &Program, form: &Form, known: &KnownReads) -> Option<KnownReads> {
    let written = written_constants(program, known);
    let of_definition = |definition| written.get(definition).copied().unwrap_or(Written::Various);
    let of_set: Vec<Written> =
        form.sets.iter().map(|set| set.iter().map(of_definition).fold(Written::Nothing, Written::and)).collect();
    let mut found = known.clone();
    for reads in form.reads.chunk_by(|a, b| a.read == b.read) {
        let sets = reads.iter().flat_map(|of| [of_set[of.control.index()], of_set[of.concurrent.index()]]);
        if let Written::Constant(bits) = sets.fold(Written::Nothing, Written::and) {
            found.insert(reads[0].read, bits);
        }
    }
    (found.len() > known.len() && decides_branch(program, known, &found)).then_some(found)
}

/// The constants that definitions of single variables write. What a declaration in a block writes is its initialiser.
pub(super) fn written_constants(program: &Program, known: &KnownReads) -> FxHashMap<DefinitionId, Written> {
    let mut written: FxHashMap<DefinitionId, Written> = FxHashMap::default();
    for leaf in program.leaves.iter() {
        let Some(definition) = leaf.initial_definition else { continue };
        let global = program.variables[leaf.variable].storage == Storage::Global;
        let constant = leaf.initial.first().filter(|_| global && !leaf.is_array());
        written.insert(definition, constant.map_or(Written::Various, |value| Written::Constant(value.bits())));
    }
    for function in program.functions.iter() {
        let writers = Writers::of(function);
        let evaluator = Evaluator::new(program, function, &writers, &[], known);
        for instruction in function.blocks.iter().flat_map(|block| &block.instructions) {
            let (definition, value) = match instruction {
                Instruction::Store { definition, value, .. } => (*definition, evaluator.constant(*value)),
                Instruction::Atomic { definition, .. } => (*definition, None),
                _ => continue,
            };
            let value = value.map_or(Written::Various, Written::Constant);
            let before = written.entry(definition).or_insert(Written::Nothing);
            *before = before.and(value);
        }
    }
    written
}

/// Whether some branch goes one way with what was found, and was open before, without regard to calling contexts.
fn decides_branch(program: &Program, known: &KnownReads, found: &KnownReads) -> bool {
    program.functions.iter().any(|function| {
        let writers = Writers::of(function);
        let with = |known| Evaluator::new(program, function, &writers, &[], known);
        let (before, now) = (with(known), with(found));
        function.blocks.iter().any(|block| match block.terminator {
            Terminator::Branch { condition, .. } => {
                now.constant(condition).is_some() && before.constant(condition).is_none()
            }
            _ => false,
        })
    })
}
