//! The layout of a text in the style of its language.

use super::{Language, csm};
use cssame_diagnostics::{Code, Diagnostic, Severity};
use cssame_source::{FileId, SourceMap};

/// The text of a file in the style of all programs ([`csm::format`]).
///
/// # Errors
///
/// The syntax errors of the file; or it is one in C.
pub fn format(sources: &SourceMap, file: FileId) -> Result<String, Vec<Diagnostic>> {
    if Language::of(sources, file) == Language::C {
        let name = sources.file(file).name();
        let message = format!("`{name}` is a program in C: only `.csm` programs can be formatted");
        return Err(vec![Diagnostic::general(Code::UnreadC, Severity::Error, message)]);
    }
    csm::format::format(sources, file)
}
