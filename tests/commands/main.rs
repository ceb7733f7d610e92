//! The program as a process: what its users call, and the packages of tests that it writes.

#![allow(clippy::unwrap_used, reason = "a test says so by failing")]

mod agreement;
mod answers;
mod c_memory;
mod c_output;
mod c_programs;
mod charts;
mod ci;
mod cli;
mod confirm;
mod coverage;
mod diff;
mod driver;
mod findings;
mod first_screen;
mod fmt;
mod formats;
mod hunt;
mod json_schema;
mod liveness;
mod look;
mod lsp;
mod mutants;
mod paths;
mod process;
mod report;
mod seeds;
#[cfg(feature = "serve")]
mod serve;
#[cfg(feature = "serve")]
mod server;
mod shell;
mod supported;
mod suppressions;
mod together;
