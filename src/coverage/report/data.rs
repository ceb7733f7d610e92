//! The answer of `coverage` as plain data: the keys of its JSON (docs/json.md).

use super::lines::LinesReport;
use cssame_explore::report::{DeadlockReport, FailureReport};
use serde::Serialize;
use std::collections::BTreeMap;

/// Numbers of instances of patterns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// All.
    pub total: u64,
    /// Those that some execution covers; none where that is not known.
    pub feasible: Option<u64>,
    /// Those that are known to be covered by no execution, or by none of any client.
    pub infeasible: Option<u64>,
    /// Those that the executions cover.
    pub covered: u64,
}

/// The instances of patterns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PatternsReport {
    /// Of all patterns.
    #[serde(flatten)]
    pub all: Counts,
    /// By the number of the pattern, from 1 to 17.
    pub by_pattern: BTreeMap<u8, Counts>,
}

/// A variable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VariableReport {
    /// `x`, `A.th`
    pub variable: String,
    /// Places that read it.
    pub reads: usize,
    /// Places that write it.
    pub writes: usize,
    /// Instances whose first access is to it.
    pub total: u64,
    /// Those of them that the executions cover.
    pub covered: u64,
}

/// An access of an instance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StepReport {
    /// `a` or `b`.
    pub thread: &'static str,
    /// `th@4:9`
    pub access: String,
    /// `read` or `write`.
    pub kind: &'static str,
}

/// An instance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InstanceReport {
    /// The number of the pattern.
    pub pattern: u8,
    /// Its accesses, in order.
    pub steps: Vec<StepReport>,
    /// For each of the two threads the public methods, or the functions, from which its accesses are reached; empty where
    /// an access stands in none.
    pub methods: [Vec<String>; 2],
    /// Why no execution covers it; none where one does, or where that is not known.
    pub reason: Option<&'static str>,
    /// The number of the execution that was found for it, from 1; none where none was asked for, or found.
    pub witness: Option<usize>,
}

/// A read with terms that no execution has had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MissingTerms {
    /// `a@6:24`
    pub read: String,
    /// The definitions that it was not seen to read from.
    pub defs: Vec<MissingTerm>,
}

/// A term that no execution has had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MissingTerm {
    /// `a@4:31` or `a@initial`.
    pub def: String,
    /// Whether some execution has it; none where that is not known.
    pub feasible: Option<bool>,
}

/// The terms of pi functions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TermsReport {
    /// All, by the static form.
    #[serde(rename = "static")]
    pub all: usize,
    /// Those that some execution has; none where that is not known.
    pub feasible: Option<usize>,
    /// Those that the executions have had.
    pub covered: usize,
    /// The others, by read.
    pub missing: Vec<MissingTerms>,
}

/// A pair of methods.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MethodPairReport {
    /// The two, in text order.
    pub methods: [String; 2],
    /// Whether these executions cover it.
    pub covered: bool,
    /// Whether some execution covers it; none where that is not known.
    pub feasible: Option<bool>,
    /// How many do.
    pub executions: u64,
}

/// The pairs of public methods.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MethodPairsReport {
    /// All.
    pub total: u64,
    /// Those that some execution covers; none where that is not known.
    pub feasible: Option<u64>,
    /// Those that these executions cover.
    pub covered: u64,
    /// One by one.
    pub pairs: Vec<MethodPairReport>,
}

/// Instances that a failing execution covers and no passing one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TriggersReport {
    /// Some of them, those that were complete last first.
    pub triggers: Vec<TriggerReport>,
    /// How many more there are.
    pub triggers_omitted: u64,
}

/// Such an instance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TriggerReport {
    /// The number of the pattern.
    pub pattern: u8,
    /// `a reads, b writes, a reads`
    pub name: String,
    /// `x`, `A.th`: that of the first access, and the other one if there are two.
    pub variables: Vec<String>,
    /// Its accesses, in order.
    pub steps: Vec<StepReport>,
}

/// A failure of an execution.
#[derive(Clone, Debug, Serialize)]
pub struct SeededFailure {
    /// As in `futures`.
    #[serde(flatten)]
    pub failure: FailureReport,
    /// What may have triggered it.
    #[serde(flatten)]
    pub triggers: TriggersReport,
    /// The seed of the first execution that has it; none for a recorded one, and for one that a search has met.
    pub seed: Option<u64>,
}

/// A deadlock of an execution.
#[derive(Clone, Debug, Serialize)]
pub struct SeededDeadlock {
    /// As in `futures`.
    #[serde(flatten)]
    pub deadlock: DeadlockReport,
    /// What may have triggered it.
    #[serde(flatten)]
    pub triggers: TriggersReport,
    /// The seed of the first execution that has it; none for a recorded one, and for one that a search has met.
    pub seed: Option<u64>,
}

/// How executions of a program have failed, each way once.
#[derive(Clone, Debug, Default, Serialize)]
pub struct MetReport {
    /// Failures.
    pub failures: Vec<SeededFailure>,
    /// Deadlocks.
    pub deadlocks: Vec<SeededDeadlock>,
}

/// What executions cover.
#[derive(Clone, Debug, Serialize)]
pub struct CoverageReport {
    /// Whether it is known of each instance and of each term whether it is covered, can be covered, or cannot.
    pub complete: bool,
    /// The bound that was hit first.
    pub bound: Option<&'static str>,
    /// Executions that count.
    pub executions: u64,
    /// Executions that an assumption has discarded.
    pub discarded: u64,
    /// How many executions have ended in each way.
    pub ends: BTreeMap<&'static str, u64>,
    /// The programs that were run for a file without `main`: which methods each calls.
    pub drivers: Vec<String>,
    /// The instances of patterns.
    pub patterns: PatternsReport,
    /// The variables that count.
    pub variables: Vec<VariableReport>,
    /// Instances that the executions do not cover.
    pub missing: Vec<InstanceReport>,
    /// How many more of them there are.
    pub missing_omitted: u64,
    /// The terms of pi functions; none for a file without `main`.
    pub pi_terms: Option<TermsReport>,
    /// The pairs of public methods.
    pub method_pairs: MethodPairsReport,
    /// Line by line, for listings.
    #[serde(skip)]
    pub lines: LinesReport,
}
