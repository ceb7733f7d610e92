//! `src/program.rs`: the program in CSSAME form, one Rust function for each function and arm.
//!
//! In: the program and its form. Out: Rust text. Only what main reaches by calls and forks is written.

use super::body::Body;
use super::free;
use super::names::{FunctionNames, Names, comment};
use super::registers::Memory;
use super::{Input, Options};
use crate::ir::{FunctionId, Instruction, NewThread};
use rustc_hash::FxHashSet;

/// The text of the file.
pub(super) fn emit(input: &Input<'_>, main: FunctionId, options: &Options) -> String {
    let program = input.program;
    let reached = reachable(input, main);
    let mut fresh = Names::default();
    let mut names = FunctionNames::default();
    // Main comes first, so that its name is its own.
    names.add(main, fresh.fresh("main"));
    for &id in reached.iter().filter(|&&id| id != main) {
        names.add(id, fresh.fresh(program.texts.get(program.functions[id].name)));
    }
    let memory = if options.free { Memory::Real } else { Memory::Latches };
    let version = env!("CARGO_PKG_VERSION");
    let about = if options.free {
        format!("with plain memory and threads: made by cssame {version}; do not edit.")
    } else {
        format!(
            "in CSSAME form: made by cssame {version}; do not edit.\n//!\n\
             //! A read of memory asks its pi for a value, a write defines a version and trips its latch."
        )
    };
    // The program of a user may have variables that it does not read: that is not for the compiler of the package to say.
    let mut text = format!(
        "//! `{}` {}\n\n\
         #![allow(unused_variables, unused_assignments, unused_imports, unused_mut)]\n\n\
         use {}::{{{}}};\n",
        comment(&options.file),
        about,
        "crate",
        if options.free { "body, Flow, Handle, Place, Thread, Value, NOWHERE" } else { "body, Flow, Handle, Thread" }
    );
    if options.free {
        text += &free::memory(input);
    }
    for id in reached {
        text.push('\n');
        text += &Body::new(input, &names, id, memory).emit();
    }
    text
}

/// The functions that main reaches, in the order of the text.
fn reachable(input: &Input<'_>, main: FunctionId) -> Vec<FunctionId> {
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

fn callees(instruction: &Instruction) -> Vec<FunctionId> {
    match instruction {
        Instruction::Call { function, .. } => vec![*function],
        Instruction::Spawn { thread, .. } => vec![thread.function],
        Instruction::Fork { threads, .. } => threads.iter().flat_map(NewThread::functions).collect(),
        _ => Vec::new(),
    }
}
