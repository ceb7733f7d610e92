//! Formats source text in one style.
//!
//! **Input**: a file of a [`SourceMap`]. **Output**: its text with other white space, or its syntax errors.
//!
//! **Algorithm**: the text is split into tokens and comments (`pieces`), the role of each token is determined (`structure`),
//! lines are broken (`breaks`), blanks are inserted between neighbours (`spacing`), and everything is written (`lines`).
//!
//! **Soundness and limits**
//! - The tokens and the comments are those of the file, in their order, and a formatted text stays unchanged.
//! - A comment stays in the line of the token before it, or above the line of the token after it. A comment that allows findings
//!   applies to the same code as before.
//! - The first line end determines whether line ends have one or two characters.
//! - Time is linear in the length of the text, for a fixed depth.

mod breaks;
mod lines;
pub(crate) mod pieces;
mod spacing;
mod structure;

use super::syntax::parse;
use breaks::Layout;
use cssame_diagnostics::{Code, Diagnostic};
use cssame_source::{FileId, SourceMap};

/// The text of a file in the style of all programs.
///
/// # Errors
///
/// The syntax errors of the file. A file without any declaration or statement has none.
pub fn format(sources: &SourceMap, file: FileId) -> Result<String, Vec<Diagnostic>> {
    let mut errors = parse(sources, file).diagnostics;
    errors.retain(|error| error.code != Code::EmptyProgram);
    if !errors.is_empty() {
        return Err(errors);
    }
    let text = sources.file(file).text();
    let first_line = text.split_inclusive('\n').next().unwrap_or_default();
    let line_end = if first_line.ends_with("\r\n") { "\r\n" } else { "\n" };
    let pieces = pieces::pieces(text);
    Ok(lines::text(&Layout::new(&pieces), line_end))
}
