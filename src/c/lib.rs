//! Programs in C with POSIX threads and C11 atomics: their typed tree, and what of it is read.
//!
//! In: files of C. Out: [`tree::Unit`]s, and for each what stands in the way of reading it ([`supported`]). [`headers`] are the
//! headers that every program finds.
//!
//! What a tree means is not said here.

pub mod headers;
pub mod supported;
pub mod tree;
