//! The functions of a program that a package needs.
//!
//! In: a program. Out: what main reaches by calls and by threads that are made.

use super::Input;
use cssame_ir::{FunctionId, Instruction, NewThread};
use rustc_hash::FxHashSet;

/// The functions that main reaches, in the order of the text.
pub(super) fn reached_functions(input: &Input<'_>, main: FunctionId) -> Vec<FunctionId> {
    let mut found = vec![main];
    let mut seen: FxHashSet<FunctionId> = found.iter().copied().collect();
    let mut next = 0;
    while let Some(&id) = found.get(next) {
        next += 1;
        for instruction in input.program.functions[id].blocks.iter().flat_map(|block| &block.instructions) {
            for callee in callees(instruction) {
                if seen.insert(callee) {
                    found.push(callee);
                }
            }
        }
    }
    found.sort_unstable();
    found
}

/// The functions that an instruction calls or that its threads run.
pub(super) fn callees(instruction: &Instruction) -> Vec<FunctionId> {
    match instruction {
        Instruction::Call { function, .. } => vec![*function],
        Instruction::Spawn { thread, .. } => vec![thread.function],
        Instruction::Fork { threads, .. } => threads.iter().flat_map(NewThread::functions).collect(),
        _ => Vec::new(),
    }
}
