//! The front end of the cobegin/coend language (`.csm`, docs/language.md).
//!
//! In: the text of a file. Out: its parallel flow graph. [`syntax`] makes a tree of the text, [`hir`] finds out what its
//! names and types mean, [`lower`](mod@lower) makes three-address instructions of it. Nothing else in the crate knows them. [`mod@format`] lays
//! out the text.

pub mod format;
pub mod hir;
pub mod lower;
mod places;
pub mod syntax;

pub use places::{StatementForm, StatementPlace, statement_places};

/// What comments to this tool begin with: `// cssame: allow(CS0401): why`.
pub const COMMENT_MARK: &str = "cssame";

/// The words that have a meaning in the language: reserved ones, and names of built-in functions.
pub fn words() -> impl Iterator<Item = &'static str> {
    syntax::words().chain(hir::built_ins())
}
