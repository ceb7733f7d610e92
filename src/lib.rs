//! `cssame` analyses explicitly parallel programs.
//!
//! Input: source text in the cobegin/coend language (`docs/language.md`). Output: plain data types, one for each
//! question that can be asked of a program; [`cli`] prints them.
//!
//! The layers are the modules below, in order: each uses only what stands before it (`tests/tidy.rs` holds the table
//! of allowed edges).

#![forbid(unsafe_code)]

pub mod source;

pub mod diagnostics;

pub mod budget;

pub mod ir;

pub mod front;

pub mod ssa;

pub mod concurrency;

pub mod form;

pub mod correlation;

pub mod vm;

pub mod schedule;

pub mod model;

pub mod harness;

pub mod explore;

pub mod driver;

pub mod answer;

pub mod cli;
