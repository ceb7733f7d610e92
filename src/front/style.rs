//! The layout of a text in the style of its language.

use super::csm;
use cssame_diagnostics::Diagnostic;
use cssame_source::{FileId, SourceMap};

/// The text of a file in the style of all programs ([`csm::format`]).
///
/// # Errors
///
/// The syntax errors of the file.
pub fn format(sources: &SourceMap, file: FileId) -> Result<String, Vec<Diagnostic>> {
    csm::format::format(sources, file)
}
