//! Answers as text for readers: views of the values that the JSON shows.

pub mod ci;
pub mod correlate;
pub mod coverage;
pub mod diff;
pub mod drive;
pub mod endless;
pub mod format;
pub mod futures;
pub mod hunt;
pub mod limits;
pub mod markdown;
pub mod outcomes;
pub mod paths;
pub mod pi;
pub mod races;
mod reason;
pub mod replay;
pub mod report;
pub mod run;
pub mod seeds;
pub mod snippet;
pub mod steps;
pub mod supported;
pub mod suppressed;
pub mod symmetric;
