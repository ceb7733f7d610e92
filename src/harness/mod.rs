//! Programs around methods that have none: contexts for a file without `main`.
//!
//! In: a file of classes, and two of its methods. Out: [`Context`]s: the file with a `main` in which the two run in parallel.

mod contexts;

pub use contexts::{Context, Methods};
