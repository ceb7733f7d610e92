//! Structured control flow against the graph that it comes from.

mod flat;
mod golden;
mod law;
