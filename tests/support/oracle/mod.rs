//! The oracle: a naive explorer of the whole language, independent of the analyser.
//!
//! It shares nothing with the analyser but the parser. It interprets the syntax tree (by way of a little stack code of
//! its own) and runs *every* interleaving of visible operations, depth first, without visited states and without
//! reductions. What it says of a small program is therefore what the analyser has to say.
//!
//! Races are a question of states, so `races` looks at each state once, and at all that can follow from it. `paths` asks
//! for what the histories of the threads tell: prefixes with one state and the same histories are looked at once.
//! `coverage` follows matches of memory-access patterns from state to state; `replayed` does one execution and says what
//! it covers; `linear` holds a test of a class to its serial orders; `tears` follows two accesses of a method.

mod accesses;
mod activations;
mod affect;
mod arrays;
mod call;
mod classes;
mod code;
mod compile;
mod control;
mod coverage;
mod declare;
mod endless;
mod expression;
mod generated;
mod graph;
mod histories;
mod linear;
mod local;
mod owners;
mod paths;
mod patterns;
mod races;
mod replayed;
mod report;
mod search;
mod state;
mod statement;
mod step;
mod tears;
mod trace;
mod value;
mod ways;

pub use self::activations::MethodPairs;
pub use self::coverage::{
    Coverage, CoverageOptions, among, coverage_by_executions, coverage_of_source, library_variables,
};
pub use self::endless::{Endless, endless_of_source};
pub use self::generated::{Test, program as program_of_test};
pub use self::linear::{Outputs, Stuck, Verdict, decide};
pub use self::paths::{BranchPlace, PathsOptions, PathsOracle, paths_of_source};
pub use self::patterns::{Access, Instance, Places, TABLE, Variables, all_instances, by_pattern, totals, word};
pub use self::races::{Race, RaceOptions, Races, races_of_source};
pub use self::replayed::{Replayed, Wanted, pairs_by_executions, replay, steps};
pub use self::tears::{Torn, tears_of_source};
pub use self::ways::{Located, Reading};

use self::local::Machine;
use self::search::{Limits, search};
use self::ways::Ways;
use cssame::front::csm::syntax::ast::Program;
use cssame::source::{SourceFile, SourceMap};
use std::collections::{BTreeMap, BTreeSet};

/// Which accesses are visible steps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Visible {
    /// Those of variables that two threads which may run in parallel (by fork and join alone) use in some execution.
    #[default]
    Dynamic,
    /// All of globals, captured locals and fields.
    All,
    /// Those of the variables with these declared names (`x`, `acc.balance`).
    Named(BTreeSet<String>),
}

/// How to explore.
#[derive(Clone, Debug)]
pub struct Options {
    pub visible: Visible,
    /// Executions, also discarded ones.
    pub max_executions: u64,
    /// Visible operations of one execution.
    pub max_steps: u32,
    /// Values of `input` constants.
    pub inputs: BTreeMap<String, i64>,
    /// Whether futures are collected: it costs time and memory.
    pub futures: bool,
    /// Whether it is collected where reads and writes stand in their calls.
    pub contexts: bool,
    /// Whether it is collected what each execution reads, with `contexts`.
    pub profiles: bool,
    /// Counts the end of a thread to the step before it, as counts of interleavings in papers do.
    pub merge_ends: bool,
    /// Whether threads that wait for a readers-writer lock to write keep readers out.
    pub prefer_writers: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            visible: Visible::Dynamic,
            max_executions: 50_000,
            max_steps: 2_000,
            inputs: BTreeMap::new(),
            futures: true,
            contexts: false,
            profiles: false,
            merge_ends: false,
            prefer_writers: false,
        }
    }
}

/// What all executions of a program do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Explored {
    /// False where a bound was hit, on executions or on the steps of one.
    pub complete: bool,
    /// Executions that no `assume` discarded.
    pub executions: u64,
    /// Executions that an `assume` discarded; nothing of them is below.
    pub discarded: u64,
    /// Which read saw which write: `("a@6:24", "a@4:31")`, `("a@6:24", "a@initial")`.
    pub pairs: BTreeSet<(String, String)>,
    /// The pairs with where they stand in their calls, and whether the read is a step.
    pub located: BTreeSet<(Located, Located, bool)>,
    /// What each execution reads, thread after thread.
    pub profiles: BTreeSet<Vec<Reading>>,
    /// The reads among them that (also) read shared variables, that is, whose accesses are visible steps.
    pub shared_reads: BTreeSet<String>,
    /// Declared names of the shared variables.
    pub shared_variables: BTreeSet<String>,
    pub outcomes: BTreeSet<Outcome>,
    /// How many executions have each outcome.
    pub counts: BTreeMap<Outcome, u64>,
    pub futures: BTreeSet<Future>,
}

/// What can be seen of an execution.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Outcome {
    /// The threads that printed, `main` first, then by creation sites, and their lines.
    pub output: Vec<(String, Vec<String>)>,
    pub status: String,
}

/// An execution up to reordering that no read can tell.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Future {
    pub reads: Vec<ReadFrom>,
    /// Thread, how-manieth `choose` of that thread, result.
    pub choices: Vec<(String, u32, i32)>,
    pub status: String,
    /// In a deadlock: the threads that have not ended, and the positions where they are (`12:5`).
    pub blocked: Vec<(String, String)>,
}

/// A visible read of an execution and the write that it saw. Ordinals count from 0 within a thread, over its visible
/// reads or its visible writes. An initial definition has no thread (the empty path) and the ordinal 0.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReadFrom {
    pub thread: String,
    pub ordinal: u32,
    pub read: String,
    pub writer_thread: String,
    pub writer_ordinal: u32,
    pub def: String,
}

impl Outcome {
    /// All lines, thread after thread: the `output` of the JSON contract.
    pub fn lines(&self) -> Vec<&str> {
        self.output.iter().flat_map(|(_, lines)| lines.iter().map(String::as_str)).collect()
    }
}

impl Explored {
    /// The pairs whose reads are of shared variables.
    pub fn shared_pairs(&self) -> BTreeSet<(String, String)> {
        self.pairs.iter().filter(|(read, _)| self.shared_reads.contains(read)).cloned().collect()
    }
}

/// Parses and explores. The error says why the program cannot be run: it is invalid, or has no `main`.
pub fn explore_source(source: &str, options: &Options) -> Result<Explored, String> {
    let mut sources = SourceMap::default();
    let file = sources.add("oracle.csm", source);
    let parsed = cssame::front::csm::syntax::parse(&sources, file);
    if let Some(first) = parsed.diagnostics.first() {
        let place = first.span().map(|span| sources.position(span).to_string()).unwrap_or_default();
        return Err(format!("{place}: {}", first.message));
    }
    explore(&parsed.program, sources.file(file), options)
}

/// Explores a parsed program. Positions come from the file that it was parsed from.
pub fn explore(program: &Program, file: &SourceFile, options: &Options) -> Result<Explored, String> {
    let code = compile::compile(program, file, &options.inputs)?;
    let mut visible: Vec<bool> = code
        .variables
        .iter()
        .map(|variable| match &options.visible {
            Visible::Dynamic => false,
            Visible::All => variable.candidate,
            Visible::Named(names) => names.contains(&variable.name),
        })
        .collect();
    let Options { max_executions, futures, contexts, profiles, .. } = *options;
    let limits = Limits { max_executions, futures, profiles: contexts && profiles };
    loop {
        let mut machine = Machine::new(&code, visible.clone(), options.max_steps, options.merge_ends);
        machine.prefer_writers = options.prefer_writers;
        machine.ways = contexts.then(Ways::new);
        machine.watch_sharing = options.visible == Visible::Dynamic;
        let found = search(&mut machine, limits);
        match machine.newly_shared {
            // Found out by an execution that really happens; with this variable visible, the search begins anew. A
            // search that finds no more has seen every execution up to reordering of truly private work.
            Some(variable) => visible[variable as usize] = true,
            None => return Ok(report::report(&machine, &found, file)),
        }
    }
}
