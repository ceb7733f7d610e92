//! The front end of the cobegin/coend language (`.csm`, docs/language.md).
//!
//! In: the text of a file. Out: its parallel flow graph. [`syntax`] parses the text to a tree, [`hir`] resolves its names and
//! types, and [`lower`](mod@lower) translates it to three-address instructions. Nothing else in the crate depends on them.
//! [`mod@format`] formats the text.

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
