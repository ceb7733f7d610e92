//! Compiles source text to the parallel flow graph, in one call.
//!
//! In: a file and the inputs of the command line. Out: the program, if it compiles, and all diagnostics of the compilation.

mod allowed;
pub mod c;
pub mod csm;
mod file;
mod folds;
mod inputs;
mod language;
mod lines;
mod names;
mod style;

pub use allowed::{AllowComments, Allowed, Scope, allow_comments, may_allow, scopes};
pub use csm::{StatementForm, StatementPlace, statement_places};
pub use file::add_bytes;
pub use folds::{Fold, folds};
pub use inputs::{DeclaredInput, UNKNOWN_INPUT, declared_inputs};
pub use language::Language;
pub use lines::lines_of_code;
pub use names::{Names, names};
pub use style::format;

use crate::csm::hir;
use crate::csm::lower::lower;
use crate::csm::syntax;
use cssame_diagnostics as diagnostics;
use cssame_diagnostics::{Code, Diagnostic};
use cssame_ir::Program;
use cssame_source::{FileId, SourceMap};
use rustc_hash::FxHashMap;

/// The line behind which private members may be used, and constants, whose values are given, may be assigned in vain: it
/// stands before a `main` that brings objects into a recorded state (the layer `harness`).
pub const PRIVATE_FIELDS_BEHIND: &str = "// cssame: recorded state\n";

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
/// Names and types are checked also where the syntax has errors, so that one run shows them all; but of a line with such an error,
/// only the unknown names before it are told, which may be its cause: the rest would only repeat it.
#[must_use]
pub fn compile(sources: &SourceMap, file: FileId, inputs: &[(String, String)]) -> Compiled {
    match Language::of(sources, file) {
        Language::Csm => compile_csm(sources, file, inputs),
        Language::C => c::compile(sources, file, inputs),
    }
}

fn compile_csm(sources: &SourceMap, file: FileId, inputs: &[(String, String)]) -> Compiled {
    let parsed = syntax::parse(sources, file);
    let mut diagnostics = parsed.diagnostics;
    let checked = hir::check(sources, &parsed.program, inputs);
    drop(parsed.program);
    // What the text behind the mark may do is fixed by whoever has put it there.
    let mark = sources.get(file).and_then(|of| of.text().find(PRIVATE_FIELDS_BEHIND));
    let is_lifted = |one: &Diagnostic| {
        let behind = mark.zip(one.span()).is_some_and(|(mark, span)| span.file == file && span.start as usize > mark);
        matches!(one.code, Code::PrivateMember | Code::NotAssignable) && behind
    };
    let line = |one: &Diagnostic| one.span().map(|span| (span.file, sources.line(span)));
    let mut broken: FxHashMap<(FileId, u32), u32> = FxHashMap::default();
    for one in &diagnostics {
        let (Some(line), Some(span)) = (line(one), one.span()) else { continue };
        broken.entry(line).and_modify(|first| *first = span.start.min(*first)).or_insert(span.start);
    }
    let repeats = |one: &Diagnostic| {
        let syntax = line(one).and_then(|line| broken.get(&line));
        let may_be_cause =
            |&error: &u32| one.code == Code::UnknownName && one.span().is_some_and(|at| at.start < error);
        syntax.is_some_and(|error| !may_be_cause(error))
    };
    diagnostics.extend(checked.diagnostics.into_iter().filter(|one| !is_lifted(one) && !repeats(one)));
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
