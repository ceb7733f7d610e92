//! The partial results of a search that was stopped, and the code that was still running.
//!
//! **Input**: executions that were not followed to their end. **Output**: [`UnfinishedReport`]: the loops and recursions that
//! their threads were executing when the bound was hit.
//!
//! **Algorithm**: a thread is in a loop if, in the second half of its steps, it has twice reached a place in the loop, or in a
//! function that is called from it. Loops are natural loops: a back edge to a dominator.
//!
//! **Soundness and limits**: it does not see threads in the middle of a long but straight path. Only some of the open executions
//! are examined.

use cssame_budget::{Bound, Statistics};
use cssame_ir::{BlockId, Function, FunctionId, Instruction, Program, Terminator};
use cssame_schedule::{Naming, Walk};
use cssame_ssa::dominators::Dominators;
use cssame_ssa::graph::Graph as FlowGraph;
use cssame_vm::{Choice, Tables, ThreadStatus};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;
use std::collections::BTreeSet;

/// What a stopped search has proved, and what still ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnfinishedReport {
    /// A failure or a deadlock that is not shown takes more steps than these.
    pub steps: u32,
    /// A failure or a deadlock that is not shown takes more preemptions than these, where that is known.
    pub preemptions: Option<u32>,
    /// What still ran, by thread.
    pub running: Vec<RunningReport>,
}

/// Code that runs again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Repetition {
    /// A loop.
    Loop,
    /// A function that calls itself, perhaps through others.
    Recursion,
}

/// A loop or a recursion that still ran.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct RunningReport {
    /// The thread.
    pub thread: String,
    /// Which of the two.
    pub kind: Repetition,
    /// The line of the loop, or of the function that calls itself.
    pub line: u32,
}

/// What a search that was stopped has proved, and what still ran in those executions.
#[must_use]
pub fn unfinished_report(
    naming: &Naming<'_>,
    bound: Bound,
    statistics: &Statistics,
    frontier: &[Vec<Choice>],
) -> UnfinishedReport {
    // A deadlock shows when its state is expanded; with a bound on steps those of the last level are looked at, too.
    let steps = if bound == Bound::Steps { statistics.depth } else { statistics.depth.saturating_sub(1) };
    // Reduction keeps failures and deadlocks, but a failure may take one step more for each state that was reduced.
    let steps = statistics.all_states_to.map_or(steps, |all| steps.min(all));
    let calls = Calls::new(naming.program);
    let mut running: BTreeSet<RunningReport> = BTreeSet::new();
    for schedule in frontier {
        for (thread, places) in repeated(naming, schedule) {
            for (kind, line) in calls.around(naming, &places) {
                running.insert(RunningReport { thread: thread.clone(), kind, line });
            }
        }
    }
    UnfinishedReport { steps, preemptions: None, running: running.into_iter().collect() }
}

type Place = (FunctionId, BlockId);

/// By thread that has not ended: the places to which it has come twice in the second half of its steps.
fn repeated(naming: &Naming<'_>, schedule: &[Choice]) -> Vec<(String, BTreeSet<Place>)> {
    let machine = naming.machine;
    let mut tables = Tables::new();
    let mut walk = Walk::new(machine, &mut tables, &mut ());
    let mut visited: FxHashMap<cssame_vm::PathId, Vec<u32>> = FxHashMap::default();
    for &choice in schedule {
        if walk.alternatives(choice.thread) == 0 {
            break;
        }
        let (path, at) = (walk.state().path(choice.thread), walk.state().position(choice.thread));
        visited.entry(path).or_default().push(at.0);
        if walk.step(choice, &mut ()).is_err() {
            break;
        }
    }
    let (state, tables) = (walk.state(), walk.tables());
    let alive = state.threads().filter(|&thread| state.status(thread) != ThreadStatus::Ended);
    let places = alive.filter_map(|thread| {
        let steps = visited.get(&state.path(thread))?;
        let (mut seen, mut places) = (FxHashSet::default(), BTreeSet::new());
        for &at in &steps[steps.len() / 2..] {
            if !seen.insert(at) {
                let origin = machine.origin(cssame_vm::CodeIndex(at));
                places.insert((origin.function, origin.block));
            }
        }
        (!places.is_empty()).then(|| (machine.path_name(tables, state.path(thread)), places))
    });
    places.collect()
}

/// Who calls whom, from where.
struct Calls {
    /// By function: the places that call it.
    callers: FxHashMap<FunctionId, Vec<Place>>,
}

impl Calls {
    fn new(program: &Program) -> Calls {
        let mut callers: FxHashMap<FunctionId, Vec<Place>> = FxHashMap::default();
        for (id, function) in program.functions.entries() {
            for (block, of) in function.blocks.entries() {
                for instruction in &of.instructions {
                    if let Instruction::Call { function: callee, .. } = instruction {
                        callers.entry(*callee).or_default().push((id, block));
                    }
                }
            }
        }
        Calls { callers }
    }

    /// The innermost loops around places; where there is none, the loops around the calls of their function, or a recursion.
    fn around(&self, naming: &Naming<'_>, places: &BTreeSet<Place>) -> BTreeSet<(Repetition, u32)> {
        let mut found = BTreeSet::new();
        let mut seen: FxHashSet<Place> = places.iter().copied().collect();
        let mut waiting: Vec<Place> = places.iter().copied().collect();
        while let Some((function, block)) = waiting.pop() {
            let of = &naming.program.functions[function];
            if let Some(line) = loop_line(naming, of, block) {
                found.insert((Repetition::Loop, line));
                continue;
            }
            for &caller in self.callers.get(&function).into_iter().flatten() {
                if caller.0 == function {
                    found.insert((Repetition::Recursion, naming.sources.line(of.span)));
                }
                if seen.insert(caller) {
                    waiting.push(caller);
                }
            }
        }
        found
    }
}

/// The line of the innermost loop that a block lies in.
fn loop_line(naming: &Naming<'_>, function: &Function, block: BlockId) -> Option<u32> {
    let count = function.blocks.len();
    let mut edges = Vec::new();
    for (from, of) in function.blocks.entries() {
        edges.extend(of.terminator.successors().map(|to| (from.0, to.0)));
    }
    let graph = FlowGraph::from_edges(count, &edges);
    let dominators = Dominators::new(&graph);
    let mut best: Option<(usize, u32)> = None;
    for &(latch, head) in &edges {
        if !dominators.dominates(head, latch) {
            continue;
        }
        let mut body = FxHashSet::from_iter([head]);
        let mut waiting = vec![latch];
        while let Some(at) = waiting.pop() {
            if body.insert(at) {
                waiting.extend(graph.predecessors(at));
            }
        }
        if !body.contains(&block.0) || best.is_some_and(|(size, _)| size <= body.len()) {
            continue;
        }
        // The jump into a loop carries the place of the statement.
        let enters = |from: &&u32| !body.contains(from);
        let entry = graph.predecessors(head).iter().find(enters).map(|&from| &function.blocks[BlockId(from)]);
        if let Some(entry) = entry.filter(|entry| matches!(entry.terminator, Terminator::Jump(_))) {
            best = Some((body.len(), naming.sources.line(entry.terminator_span)));
        }
    }
    best.map(|(_, line)| line)
}
