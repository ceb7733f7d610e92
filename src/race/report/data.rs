//! The part of answers about races: plain data that serialises (docs/json.md).

use cssame_explore::report::{DeadlockReport, FailureReport};
use cssame_schedule::Step;
use cssame_source::Span;
use cssame_vm::{Choice, Failure};
use serde::Serialize;

/// A thread before its access.
#[derive(Clone, Debug, Serialize)]
pub struct SideReport {
    /// Its thread.
    pub thread: String,
    /// `read` or `write`.
    pub kind: &'static str,
    /// The locks that it holds, in the order in which it took them.
    pub locks: Vec<LockReport>,
    /// What the cell holds before both, as text.
    pub value: Option<String>,
}

/// A lock that is held.
#[derive(Clone, Debug, Serialize)]
pub struct LockReport {
    /// The lock.
    pub lock: String,
    /// `LINE:COL` of the place where it was taken.
    pub at: String,
    /// The same place.
    #[serde(skip)]
    pub span: Span,
}

/// A pair of places.
#[derive(Clone, Debug, Serialize)]
pub struct PairReport {
    /// The first place in text order.
    pub a: String,
    /// The other one.
    pub b: String,
    /// The variable that they race for.
    pub variable: String,
    /// All of them, where the places mean several.
    pub variables: Vec<String>,
    /// What happens at the first place and at the second one: `write/read`.
    pub kinds: Vec<String>,
    /// `real`, `impossible`, `unconfirmed`.
    pub status: &'static str,
    /// Why it is impossible: `exhausted`, `ordered`, `locked`, `exclusive`.
    pub reason: Option<&'static str>,
    /// The same in words.
    pub proof: Option<String>,
    /// Whether a failure or a deadlock can follow.
    pub harmful: bool,
    /// The places, `a` or `b`, that must go first for that.
    pub fails_when_first: Vec<&'static str>,
    /// Whether nothing follows from it, and no order changes what comes out.
    pub benign: bool,
    /// Whether the order changes what comes out; null where that is not known.
    pub outcomes_differ: Option<bool>,
    /// Whether one access is atomic and the other one is not.
    pub mixed: bool,
    /// Trials that have hit it.
    pub hits: u64,
    /// Trials that were made.
    pub trials: u64,
    /// The seed of a trial that shows it: one that fails, if there is one.
    pub seed: Option<u64>,
    /// Of a file without `main`: the name of the driver that shows it, or in which it was predicted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// How it was predicted: `dynamic`, `static`.
    pub predicted: Vec<&'static str>,
    /// The threads at `a` and at `b`, in the execution that shows it, or where it was predicted.
    pub threads: Vec<String>,
    /// The locks that are held at `a`.
    pub locks_a: Vec<String>,
    /// The locks that are held at `b`.
    pub locks_b: Vec<String>,
    /// Both sides in the execution that shows it.
    pub sides: Option<[SideReport; 2]>,
    /// How many steps of the schedule lead to the state in which both accesses are pending.
    pub before: Option<usize>,
    /// An execution that shows it.
    pub schedule: Option<Vec<Step>>,
    /// The same for other views.
    #[serde(skip)]
    pub spans: [Span; 2],
    /// The same for other views.
    #[serde(skip)]
    pub witness: Option<Vec<Choice>>,
}

/// A failure that was met.
#[derive(Clone, Debug, Serialize)]
pub struct MetFailure {
    /// What, where and how.
    #[serde(flatten)]
    pub failure: FailureReport,
    /// The seed of the execution that has met it first; none where the exploration alone has.
    pub seed: Option<u64>,
    /// The pair that this execution was directed at; none in phase 1.
    pub pair: Option<[String; 2]>,
    /// Of a file without `main`: the name of the driver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// The same for other views.
    #[serde(skip)]
    pub data: Failure,
    /// The execution, for other views.
    #[serde(skip)]
    pub steps: Vec<Choice>,
}

/// A deadlock that was met.
#[derive(Clone, Debug, Serialize)]
pub struct MetDeadlock {
    /// Who waits for what, and how it comes about.
    #[serde(flatten)]
    pub deadlock: DeadlockReport,
    /// The seed of the execution that has met it first; none where the exploration alone has.
    pub seed: Option<u64>,
    /// The pair that this execution was directed at; none in phase 1.
    pub pair: Option<[String; 2]>,
    /// Of a file without `main`: the name of the driver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// The execution, for other views.
    #[serde(skip)]
    pub steps: Vec<Choice>,
}

/// How executions of a phase have ended.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Runs {
    /// Executions, but for those that are discarded.
    pub executions: u64,
    /// How many have failed or ended in a deadlock.
    pub failed: u64,
    /// How many were cut after as many steps as are allowed.
    pub cut: u64,
}

/// The exploration.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ExplorationReport {
    /// Whether all states were visited.
    pub complete: bool,
    /// How many were.
    pub states: u64,
}

/// All races of a program.
#[derive(Clone, Debug, Serialize)]
pub struct RacesReport {
    /// Whether every pair that is listed is real or impossible.
    pub complete: bool,
    /// The bound that has cut something.
    pub bound: Option<&'static str>,
    /// What executions are directed at: `races`, `deadlocks`, `correlations`, `notifications`, `term`.
    pub target: &'static str,
    /// The pairs, in text order.
    pub potential: Vec<PairReport>,
    /// If the target is another one than races: the single things that it means.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aims: Option<Vec<AimReport>>,
    /// All failures that were met.
    pub failures: Vec<MetFailure>,
    /// All deadlocks that were met.
    pub deadlocks: Vec<MetDeadlock>,
    /// The executions of phase 1.
    pub prediction: Runs,
    /// The executions of phase 2.
    pub directed: Runs,
    /// If other schedulers than the directed one make executions: what each has shown of the pairs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedulers: Option<Vec<SchedulerReport>>,
    /// The exploration, where there was one.
    pub exploration: Option<ExplorationReport>,
    /// Of a file without `main`: the programs that it was closed by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drivers: Option<Vec<DriverReport>>,
    /// Of a file without `main`: whether there are more drivers than were made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub has_more_drivers: Option<bool>,
}

/// What a scheduler has shown of the pairs.
#[derive(Clone, Debug, Serialize)]
pub struct SchedulerReport {
    /// `random`, `pct`, `pos`, `race-directed`, `reads-from`.
    pub scheduler: &'static str,
    /// Of `pct`: the depth of bugs to look for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// Of `pct`: the bound on the number of steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<u32>,
    /// Where it switches threads: `operation` or `synchronisation`.
    pub granularity: &'static str,
    /// Executions, but for those that are discarded.
    pub executions: u64,
    /// How many have failed or ended in a deadlock.
    pub failed: u64,
    /// The pairs.
    pub pairs: Vec<SchedulerPairReport>,
}

/// What a scheduler has shown of a pair.
#[derive(Clone, Debug, Serialize)]
pub struct SchedulerPairReport {
    /// The first place in text order.
    pub a: String,
    /// The other one.
    pub b: String,
    /// Executions that have hit it.
    pub hits: u64,
    /// Executions that were made for it.
    pub trials: u64,
    /// The lower end of Wilson's interval for the probability of a hit, with a confidence of 95 %; null for
    /// `reads-from`, whose executions learn from each other.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// The number of the execution that has hit it first; null if none has: then it takes more than `trials`.
    pub first: Option<u64>,
}

/// Something that executions were directed at.
#[derive(Clone, Debug, Serialize)]
pub struct AimReport {
    /// In words.
    pub what: String,
    /// The places that it is about, as `LINE:COL`.
    pub places: Vec<String>,
    /// `real` or `unconfirmed`.
    pub status: &'static str,
    /// Executions that have reached it.
    pub hits: u64,
    /// Executions that were made.
    pub trials: u64,
    /// The seed of the first one that has.
    pub seed: Option<u64>,
    /// Its steps.
    pub schedule: Option<Vec<Step>>,
    /// The same places, for other views.
    #[serde(skip)]
    pub spans: Vec<Span>,
    /// The same steps, for other views.
    #[serde(skip)]
    pub steps: Option<Vec<Choice>>,
}

/// A program that closes a file without `main`.
#[derive(Clone, Debug, Serialize)]
pub struct DriverReport {
    /// Which methods run in parallel in it.
    pub name: String,
    /// What was added to the file.
    pub main: String,
    /// Whether its calls fail or block also if one comes after the other: then it shows no harm.
    pub fails_alone: bool,
    /// Pairs of the file that may race in it.
    pub potential: usize,
    /// Pairs that do.
    pub real: usize,
}
