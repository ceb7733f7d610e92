//! The subcommands, one file each: the arguments, the library call, and the display of the answer.

pub mod check;
pub mod ci;
pub mod completions;
pub mod correlate;
pub mod coverage;
pub mod diff;
pub mod drive;
pub mod explain;
pub mod fmt;
pub mod futures;
pub mod hunt;
pub mod ir;
pub mod look;
pub mod lsp;
pub mod man;
pub mod new;
pub mod paths;
pub mod pi;
pub mod races;
pub mod report;
pub mod run;
#[cfg(feature = "serve")]
pub mod serve;
