//! The answer of `paths`, as plain data.

use cssame_explore::report::{DeadlockReport, FailureReport};
use cssame_schedule::SharedStep;
use cssame_source::Span;
use cssame_vm::{Choice, Failure};
use serde::Serialize;

/// The first execution.
#[derive(Clone, Debug, Serialize)]
pub struct FirstRunReport {
    /// `in-turn`, `seed` or `schedule`.
    pub kind: &'static str,
    /// The seed, if it was made by one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Whether that which was asked for is discarded by an assumption, and this one was taken instead.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub replaced: bool,
    /// How it ended.
    pub status: &'static str,
    /// Its steps.
    pub schedule: Vec<SharedStep>,
}

/// An evaluation of a branch.
#[derive(Clone, Debug, Serialize)]
pub struct BranchReport {
    /// `T1:2:9#1`
    pub branch: String,
    /// The outcomes that tests have shown: `true`, `false`.
    pub outcomes: Vec<&'static str>,
    /// The outcomes that no execution has: proven by exploration.
    pub impossible: Vec<&'static str>,
    /// Whether an operation of another thread can change the outcome.
    pub affected: bool,
    /// The operations that affect it, by place: `read x@4:7`.
    pub operations: Vec<String>,
    /// The earlier evaluation with the same operations, which stands for it.
    pub same_as: Option<String>,
    /// Where the condition stands.
    #[serde(skip)]
    pub span: Span,
}

/// A branch-affect group.
#[derive(Clone, Debug, Serialize)]
pub struct GroupReport {
    /// The branch, or the wait: `T1:2:9#1`.
    pub branch: String,
    /// Its number among the groups of the branch, from 1.
    pub group: u32,
    /// The operations in their order: `write x@10:3`.
    pub order: Vec<String>,
    /// Who does each of them.
    pub threads: Vec<String>,
    /// How the branch comes out: `true`, `false`; for a wait `woken`, `not woken`.
    pub outcome: Option<&'static str>,
    /// For the test of a loop that is left nowhere else: how many iterations it makes in that execution.
    pub iterations: Option<u32>,
    /// Whether some execution has this order; null where that is not known.
    pub feasible: Option<bool>,
    /// The first test that has it, by number.
    pub tested_by: Option<usize>,
    /// An execution that has it.
    pub schedule: Option<Vec<SharedStep>>,
    /// The execution-variants of the first execution that belong to it: `V1`.
    pub variants: Vec<String>,
    /// Where the condition, or the wait, stands.
    #[serde(skip)]
    pub span: Span,
    /// The same execution.
    #[serde(skip)]
    pub steps: Option<Vec<Choice>>,
}

/// A race: two operations that no lock keeps apart.
#[derive(Clone, Debug, Serialize)]
pub struct RaceReport {
    /// The variable, as the text names it from outside.
    pub variable: String,
    /// The first place: `x@3:5`.
    pub a: String,
    /// The second place.
    pub b: String,
    /// What is done at the first place, and at the second: `write/read`.
    pub kinds: String,
    /// Who was there in the test.
    pub threads: [String; 2],
    /// The locks that were held at the first place.
    pub locks_a: Vec<String>,
    /// The locks that were held at the second place.
    pub locks_b: Vec<String>,
    /// Whether synchronisation orders the two in every test that has shown them.
    pub ordered: bool,
    /// Whether all states were visited, and in none of them two threads stand before the two places at once.
    pub impossible: bool,
    /// The test that shows it, by number.
    pub test: usize,
    /// The places in the text.
    #[serde(skip)]
    pub spans: [Span; 2],
}

impl RaceReport {
    /// Whether nothing is known that keeps the two accesses apart.
    #[must_use]
    pub fn is_finding(&self) -> bool {
        !self.ordered && !self.impossible
    }
}

/// A failure that a test has shown.
#[derive(Clone, Debug, Serialize)]
pub struct TestFailure {
    /// What and where.
    #[serde(flatten)]
    pub failure: FailureReport,
    /// The test, by number.
    pub test: usize,
    /// The failure itself.
    #[serde(skip)]
    pub data: Failure,
    /// The execution.
    #[serde(skip)]
    pub steps: Vec<Choice>,
}

/// A deadlock that a test has shown.
#[derive(Clone, Debug, Serialize)]
pub struct TestDeadlock {
    /// Who waits for what.
    #[serde(flatten)]
    pub deadlock: DeadlockReport,
    /// The test, by number.
    pub test: usize,
    /// The execution.
    #[serde(skip)]
    pub steps: Vec<Choice>,
}

/// A test.
#[derive(Clone, Debug, Serialize)]
pub struct TestReport {
    /// Its number, from 1.
    pub test: usize,
    /// Why it was made: `first`, `group`, `stuck`, `exploration`, `class`.
    pub reason: &'static str,
    /// The branch of the group that it was made for, and the number of that group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<(String, u32)>,
    /// How it ended.
    pub status: &'static str,
    /// Which class of race-equivalent executions it belongs to, from 1.
    pub class: usize,
    /// Its steps.
    pub schedule: Vec<SharedStep>,
    /// The execution.
    #[serde(skip)]
    pub steps: Vec<Choice>,
}

/// The classes of executions whose threads access shared memory in the same manners.
#[derive(Clone, Debug, Serialize)]
pub struct EquivalenceReport {
    /// How many the tests have shown.
    pub classes: usize,
    /// The first test of each.
    pub tests: Vec<usize>,
}

/// Moves that flags forbid.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct InfeasibleReport {
    /// Because a lock is held.
    pub lock: usize,
    /// Because the thread waits for a notification.
    pub wait: usize,
    /// For another reason: an event, a semaphore, a thread that has not ended.
    pub other: usize,
}

/// The variant graph of the first execution.
#[derive(Clone, Debug, Serialize)]
pub struct GraphReport {
    /// Nodes that are no variants.
    pub nodes: usize,
    /// Execution-variants.
    pub variants: usize,
    /// Forbidden moves.
    pub infeasible: InfeasibleReport,
    /// Nodes from which no move leads on, though a thread has not done all its moves.
    pub stuck: usize,
    /// Whether it has more nodes than were looked at.
    pub cut: bool,
    /// The graph, for pictures, where one was asked for.
    #[serde(skip)]
    pub drawing: Option<GraphDrawing>,
}

/// What a node of the picture is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrawnKind {
    /// On the way of the first execution.
    Observed,
    /// Reached by the same versions.
    Plain,
    /// An execution-variant.
    Variant,
    /// No move leads on.
    Stuck,
    /// Where a forbidden move would lead.
    Forbidden,
}

/// A node of the picture.
#[derive(Clone, Debug)]
pub struct DrawnNode {
    /// Index, versions and flags, a line each.
    pub lines: Vec<String>,
    /// What it is.
    pub kind: DrawnKind,
}

/// An edge of the picture.
#[derive(Clone, Debug)]
pub struct DrawnEdge {
    /// From this node.
    pub from: usize,
    /// To that one.
    pub to: usize,
    /// What is done: `T1 read x@4:7`.
    pub label: String,
    /// Why the move is forbidden: `lock`, `wait`, `other`.
    pub forbidden: Option<&'static str>,
}

/// A variant graph to be drawn.
#[derive(Clone, Debug, Default)]
pub struct GraphDrawing {
    /// Its nodes; the first one is the beginning.
    pub nodes: Vec<DrawnNode>,
    /// Its edges.
    pub edges: Vec<DrawnEdge>,
}

/// What the paper's method alone would have missed.
#[derive(Clone, Debug, Serialize)]
pub struct MissedReport {
    /// `outcome`, `race`, or `end`: a failure or a deadlock.
    pub kind: &'static str,
    /// The branch and its outcome, the two places, or how the execution ends.
    pub what: String,
    /// The test that was added, by number.
    pub test: usize,
}

/// How far the tests were held to all executions.
#[derive(Clone, Debug, Serialize)]
pub struct ExactReport {
    /// Whether all executions were looked at.
    pub complete: bool,
    /// Evaluations of one branch by one thread beyond this number count as that one.
    pub instances: u32,
    /// What the method alone would have missed.
    pub missed: Vec<MissedReport>,
}

/// The classes that another criterion tells apart.
#[derive(Clone, Debug, Serialize)]
pub struct CountedReport {
    /// Whether they have no end.
    pub infinite: bool,
    /// Whether classes that locks order differently were counted apart, so that there may be fewer.
    pub upper_bound: bool,
}

/// The answer.
#[derive(Clone, Debug, Serialize)]
pub struct PathsReport {
    /// Whether no branch outcome, race, failure or deadlock can be missing, and each group that was found is decided.
    pub complete: bool,
    /// The bound that was hit first.
    pub bound: Option<&'static str>,
    /// `race-equivalent`, `reachability` or `tpair`.
    pub criterion: &'static str,
    /// The first execution.
    pub first_run: FirstRunReport,
    /// How many test cases the criterion has: null where they have no end, or were not all found.
    pub test_cases: Option<u64>,
    /// The executions that are tests, the first one included.
    pub executions: u64,
    /// Executions that were made as tests and show nothing that no test shows.
    pub attempts: u64,
    /// Shared variables that some thread writes while others may access them.
    pub shared: Vec<String>,
    /// Shared variables that are only read while several threads run: left out.
    pub read_shared: Vec<String>,
    /// The branches that were evaluated.
    pub branches: Vec<BranchReport>,
    /// Their groups.
    pub groups: Vec<GroupReport>,
    /// Groups of waits for notifications, which are tested like the others but are no test cases.
    pub wait_groups: Vec<GroupReport>,
    /// Orders that the operations of a trace allow, and no execution has.
    pub infeasible_groups: Vec<GroupReport>,
    /// The races of the tests.
    pub races: Vec<RaceReport>,
    /// The failures of the tests.
    pub failures: Vec<TestFailure>,
    /// The deadlocks of the tests.
    pub deadlocks: Vec<TestDeadlock>,
    /// The tests.
    pub tests: Vec<TestReport>,
    /// Which of them are race-equivalent.
    pub race_equivalent: EquivalenceReport,
    /// The variant graph of the first execution.
    pub graph: Option<GraphReport>,
    /// `rows` (condition 1 of the paper), `groups` (condition 2), or `bound`.
    pub stopped_by: &'static str,
    /// How far the tests were held to all executions.
    pub exact: Option<ExactReport>,
    /// For another criterion than race equivalence.
    pub counted: Option<CountedReport>,
}
