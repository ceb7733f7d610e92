//! Executions without end with names: the threads in the cycle and their places, the waiting threads, the starving threads.
//!
//! **Input**: the steps into a cycle, and those of the cycle. **Output**: a [`CycleReport`], and an [`EndlessReport`] for the
//! findings of a search.
//!
//! **Algorithm**: the steps are repeated. A thread that does not move in the cycle is shown in the first state of the cycle in
//! which it cannot move: a fair cycle has such a state.

use super::blocked::{Awaited, BlockedReport, blocked_reports};
use super::{ThreadOutput, thread_outputs};
use crate::liveness::{Endless, EndlessKind};
use cssame_schedule::{Naming, Step, Walk};
use cssame_source::Span;
use cssame_vm::{Choice, PathId, State, Tables, ThreadIndex};
use serde::Serialize;

/// A thread that goes round in a cycle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RoundReport {
    /// Its path.
    pub thread: String,
    /// Where it takes its first step in the cycle: `LINE:COL`.
    pub at: String,
    /// Its line.
    pub line: u32,
    /// The same place.
    #[serde(skip)]
    pub span: Span,
}

/// A cycle with names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CycleReport {
    /// The threads that move in it, in the order of threads.
    pub threads: Vec<RoundReport>,
    /// The others that have not ended, and what they wait for.
    pub waiting: Vec<BlockedReport>,
    /// The steps that lead into it.
    pub schedule: Vec<Step>,
    /// The steps that lead back to where they began.
    pub cycle: Vec<Step>,
}

/// A thread that starves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StarvingReport {
    /// Its path.
    pub thread: String,
    /// Where it stands, or the loop that it does not leave: `LINE:COL`.
    pub at: String,
    /// Its line.
    pub line: u32,
    /// The same place.
    #[serde(skip)]
    pub span: Span,
    /// Whether it goes round in a loop; otherwise it stays at one operation.
    pub spins: bool,
}

/// A way to run for ever.
#[derive(Clone, Debug, Serialize)]
pub struct EndlessReport {
    /// `no-end`, `livelock` or `starvation`.
    pub kind: &'static str,
    /// The thread that starves.
    pub starving: Option<StarvingReport>,
    /// The number of steps after which no end can be reached.
    pub no_end_after: Option<usize>,
    /// Who goes round, who waits, and the steps.
    #[serde(flatten)]
    pub cycle: CycleReport,
    /// What was printed before the cycle.
    #[serde(skip)]
    pub printed: Vec<ThreadOutput>,
    /// The steps into the cycle and those of the cycle, and where it begins.
    #[serde(skip)]
    pub steps: Vec<Choice>,
}

impl EndlessReport {
    /// Gives names to a way to run for ever.
    #[must_use]
    pub fn of(naming: &Naming<'_>, endless: &Endless) -> EndlessReport {
        let Endless { kind, schedule, cycle, no_end_after, starving, waits_in } = endless;
        let steps: Vec<Choice> = schedule.iter().chain(cycle).copied().collect();
        let (mut tables, names) = (Tables::new(), CycleReport::of(naming, &steps, schedule.len()));
        let mut walk = Walk::new(naming.machine, &mut tables, &mut ());
        let done = walk.follow(schedule, &mut ());
        debug_assert!(done.is_ok(), "an execution that was found can be done again");
        let printed =
            thread_outputs(naming.machine, walk.tables(), &naming.machine.outputs(walk.state(), walk.tables()));
        let starving = starving.map(|thread| {
            let name = naming.machine.path_name(walk.tables(), walk.state().path(thread));
            let span = waits_in.unwrap_or_else(|| naming.span(walk.state(), thread));
            let at = naming.sources.position(span);
            StarvingReport { thread: name, at: at.to_string(), line: at.line, span, spins: waits_in.is_some() }
        });
        EndlessReport { kind: kind.word(), starving, no_end_after: *no_end_after, cycle: names, printed, steps }
    }

    /// Number of steps that lead into the cycle.
    #[must_use]
    pub fn start(&self) -> usize {
        self.steps.len() - self.cycle.cycle.len()
    }

    /// Whether it is a thread that starves.
    #[must_use]
    pub fn is_starvation(&self) -> bool {
        self.kind == EndlessKind::Starvation.word()
    }
}

impl CycleReport {
    /// Gives names to the steps from the `start`-th one on, which lead back to the state where they begin.
    #[must_use]
    pub fn of(naming: &Naming<'_>, steps: &[Choice], start: usize) -> CycleReport {
        let machine = naming.machine;
        let (before, cycle) = steps.split_at(start.min(steps.len()));
        let mut tables = Tables::new();
        let mut walk = Walk::new(machine, &mut tables, &mut ());
        let done = walk.follow(before, &mut ());
        debug_assert!(done.is_ok(), "an execution that was found can be done again");
        let moving: Vec<ThreadIndex> = cycle.iter().map(|choice| choice.thread).collect();
        let alive =
            |state: &State| -> Vec<ThreadIndex> { state.threads().filter(|thread| !moving.contains(thread)).collect() };
        // Threads that wait, with the number of steps behind which they cannot move.
        let mut waiting: Vec<(ThreadIndex, usize)> = Vec::new();
        let mut rounds: Vec<(PathId, Span)> = Vec::new();
        for (place, &choice) in cycle.iter().enumerate() {
            let state = walk.state();
            for thread in alive(state) {
                let is_new = waiting.iter().all(|(known, _)| *known != thread);
                if is_new && machine.obstacle(state, thread).is_some() {
                    waiting.push((thread, start + place));
                }
            }
            let path = state.path(choice.thread);
            if rounds.iter().all(|(known, _)| *known != path) {
                rounds.push((path, naming.span(state, choice.thread)));
            }
            if walk.step(choice, &mut ()).is_err() {
                break;
            }
        }
        let tables = walk.tables();
        rounds.sort_by(|left, right| tables.compare_paths(left.0, right.0));
        let round = |&(path, span): &(PathId, Span)| {
            let at = naming.sources.position(span);
            RoundReport { thread: machine.path_name(tables, path), at: at.to_string(), line: at.line, span }
        };
        let threads = rounds.iter().map(round).collect();
        let mut named = naming.steps(steps);
        let cycle = named.split_off(start.min(named.len()));
        CycleReport { threads, waiting: reports(naming, steps, waiting), schedule: named, cycle }
    }

    /// The threads that wait for something else than the end of others.
    pub fn kept(&self) -> impl Iterator<Item = &BlockedReport> {
        self.waiting.iter().filter(|one| one.waits_for != Awaited::Threads)
    }
}

/// What threads wait for, each behind a number of steps.
fn reports(naming: &Naming<'_>, steps: &[Choice], mut waiting: Vec<(ThreadIndex, usize)>) -> Vec<BlockedReport> {
    let mut found = Vec::new();
    waiting.sort_by_key(|&(thread, behind)| (behind, thread));
    for same in waiting.chunk_by(|left, right| left.1 == right.1) {
        let steps = &steps[..same[0].1];
        let mut tables = Tables::new();
        let mut walk = Walk::new(naming.machine, &mut tables, &mut ());
        if walk.follow(steps, &mut ()).is_err() {
            continue;
        }
        let name = |of: &(ThreadIndex, usize)| naming.machine.path_name(walk.tables(), walk.state().path(of.0));
        let names: Vec<String> = same.iter().map(name).collect();
        found.extend(blocked_reports(naming, steps).into_iter().filter(|one| names.contains(&one.thread)));
    }
    found
}
