//! The front end of the cobegin/coend language (`.csm`, docs/language.md).
//!
//! In: the text of a file. Out: its parallel flow graph. [`syntax`] makes a tree of the text, [`hir`] finds out what its
//! names and types mean, [`lower`](mod@lower) makes three-address instructions of it. Nothing else in the crate knows them.

pub mod hir;
pub mod lower;
pub mod syntax;

/// The words that have a meaning in the language: reserved ones, and operations on synchronisation objects.
pub fn words() -> impl Iterator<Item = &'static str> {
    syntax::words().chain(hir::operations())
}
