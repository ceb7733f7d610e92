//! `src/program.rs`: the program in CSSAME form, one Rust function for each function and arm.
//!
//! In: the program and its form. Out: Rust text. Only code that main reaches by calls and forks is written.

use super::body::Body;
use super::free;
use super::names::{comment, identifier};
use super::registers::Memory;
use crate::names::{FunctionNames, Names};
use crate::parts::{Module, Parts};
use crate::{DriveError, Options};
use cssame_ir::Follow;
use std::fmt::Write;

/// The name of the module of a program that is the only one of its package, and of the one that the others are in.
const PROGRAM: &str = "program";

/// The path of a program in the package.
pub(super) fn path(module: Option<&str>) -> String {
    module.map_or_else(|| PROGRAM.to_owned(), |name| format!("{PROGRAM}::{name}"))
}

/// The text of the file: one program as it is, others as modules.
pub(super) fn emit(parts: &Parts<'_>) -> Result<String, DriveError> {
    if let [only @ Module { name: None, .. }] = parts.programs {
        return one(only, parts.options);
    }
    let mut text = format!("//! Contexts of the methods of `{}`.\n", comment(&parts.options.file));
    for program in parts.programs {
        let _ = write!(text, "\npub mod {} {{\n{}}}\n", program.file_stem(), one(program, parts.options)?);
    }
    Ok(text)
}

/// The text of one program.
fn one(module: &Module<'_>, options: &Options) -> Result<String, DriveError> {
    let (input, main) = (&module.input, module.main()?);
    let program = input.program;
    let reached = input.program.reached_functions([main], Follow::CallsAndThreads);
    let mut fresh = Names::new(identifier);
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
    // The program of a user may have variables that it does not read, or compare what is equal: that is not for the
    // compiler of the package to say, nor for clippy.
    let mut text = format!(
        "//! `{}` {}\n\n\
         #![allow(clippy::all, unused, unused_comparisons)]\n\n\
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
    Ok(text)
}
