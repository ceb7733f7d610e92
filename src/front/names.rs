//! The meanings of the names of a file.

use super::csm::hir;
use super::csm::syntax::parse;
use cssame_diagnostics as diagnostics;
use cssame_diagnostics::Diagnostic;
use cssame_source::names::Name;
use cssame_source::{FileId, SourceMap};

/// The names of a file.
#[derive(Clone, Debug)]
pub struct Names {
    /// In the order of the text; those that could be resolved, where there are errors.
    pub names: Vec<Name>,
    /// Errors of syntax, names and types, sorted.
    pub errors: Vec<Diagnostic>,
}

/// Finds out what the names of a file mean.
#[must_use]
pub fn names(sources: &SourceMap, file: FileId) -> Names {
    let parsed = parse(sources, file);
    let checked = hir::check(sources, &parsed.program, &[]);
    let names = checked.names(sources);
    let mut errors = parsed.diagnostics;
    errors.extend(checked.diagnostics);
    diagnostics::sort(&mut errors);
    Names { names, errors }
}
