//! Everything that is tested through the library: each layer by its facts, and the laws on random programs.
//!
//! `support` has what the laws share: generators of programs, and the oracle, which runs every interleaving and has
//! nothing in common with the analyser but the parser.

#![allow(clippy::unwrap_used, reason = "a test says so by failing")]

mod all_states;
mod arrays;
mod assumptions;
mod bad_outcomes;
mod class_samples;
mod classes;
mod closed;
mod confined;
mod constructs;
mod contexts;
mod contradictions;
mod correlation;
mod correlation_contexts;
mod correlation_figures;
mod correlation_locals;
mod correlation_objects;
mod correlation_rows;
mod coverage;
mod exit_status;
mod explored;
mod facts;
mod form;
mod generated;
mod harness;
mod infinite_futures;
mod inputs;
mod ir;
mod java;
mod latches;
mod law;
mod liveness;
mod lock_states;
mod locks;
mod looking_bodies;
mod meetings;
mod mends;
mod oracle_coverage;
mod oracle_facts;
mod oracle_linear;
mod oracle_paths;
mod oracle_races;
mod oracle_tears;
mod paths;
mod prefer_writers;
mod race_facts;
mod race_samples;
mod race_targets;
mod race_words;
mod races;
mod races_by_executions;
mod readers;
mod reads_from;
mod real_programs;
mod reductions;
mod row_locks;
mod same_versions;
mod samples;
mod selections;
mod serial;
mod several_monitors;
mod shared_readers;
mod signals;
mod ssa;
mod structure;
mod syntax;
mod tears;
mod torn_methods;
mod unobserved_locks;
mod without_outcomes;
mod witnesses;
