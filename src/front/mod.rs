//! From source text to the parallel flow graph, in one call.
//!
//! In: a file and the inputs of the command line. Out: the program, if it compiles, and all diagnostics of the way there.

pub mod csm;
mod file;
mod inputs;

pub use file::add_bytes;
pub use inputs::{DeclaredInput, UNKNOWN_INPUT, declared_inputs};

use crate::diagnostics::{self, Diagnostic};
use crate::front::csm::hir;
use crate::front::csm::lower::lower;
use crate::front::csm::syntax;
use crate::ir::Program;
use crate::source::{FileId, SourceMap};

/// What [`compile`] returns.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The program; `None` where a diagnostic is an error.
    pub program: Option<Program>,
    /// Sorted.
    pub diagnostics: Vec<Diagnostic>,
}

/// Compiles a file. `inputs` are the values that the command line gives to `input` constants, by name.
///
/// Names and types are checked also where the syntax has errors, so that one run shows them all.
#[must_use]
pub fn compile(sources: &SourceMap, file: FileId, inputs: &[(String, String)]) -> Compiled {
    let parsed = syntax::parse(sources, file);
    let mut diagnostics = parsed.diagnostics;
    let checked = hir::check(sources, &parsed.program, inputs);
    drop(parsed.program);
    diagnostics.extend(checked.diagnostics);
    let mut program = None;
    if !diagnostics::has_errors(&diagnostics) {
        let (lowered, errors) = lower(checked.program);
        if errors.is_empty() {
            program = Some(lowered);
        }
        diagnostics.extend(errors);
    }
    diagnostics::sort(&mut diagnostics);
    Compiled { program, diagnostics }
}
