//! Programs in C with POSIX threads and C11 atomics: their typed tree, and what of it is read.
//!
//! In: files of C. Out: [`tree::Unit`]s, for each what stands in the way of reading it ([`supported`]), and the flow graph of
//! the program ([`lower`]). [`headers`] are the headers that every program finds, [`library`] what of the library is written
//! in C. [`compile_commands`] says how the files of a project are compiled.

pub mod compile_commands;
pub mod headers;
pub mod library;
pub mod lower;
pub mod supported;
pub mod tree;
