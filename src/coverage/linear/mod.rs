//! Computes the possible ends of a test of two threads that call methods: in all executions, or only in those where calls are not
//! interleaved.
//!
//! **Input**: the machine of a program in which main forks two threads, once, each of which makes some calls; the number of
//! calls; the cells whose last values are of interest; a budget. **Output**: each distinct [`CallEnd`] once, with a shortest
//! execution.
//!
//! **Algorithm**: a search through states with a monitor that knows which thread is inside a call. In a *serial* execution a
//! thread switch happens only between calls. Its ends are the possible results of the calls one after the other, including all
//! values of `choose` and all orders within a call. A call that waits there ends the execution: it cannot return unless a later
//! call begins.
//!
//! **Soundness and limits**: exact, provided that no bound was hit. Threads that a call has spawned may run between calls.

mod ends;
mod tracker;

pub use ends::CallEnd;
pub use tracker::{Arm, CallTracker};

use cssame_budget::{Bound, Budget, Statistics};
use cssame_explore::OutcomeStatus;
use cssame_explore::frame::{self, End, EndContext, Visitor};
use cssame_vm::{CodeIndex, FailureKind, Machine, OutputId, PathId};
use rustc_hash::FxHashSet;
use std::ops::ControlFlow;

/// Which executions are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallOrders {
    /// All.
    All,
    /// Those in which calls are not interleaved; each thread makes so many.
    Serial([u32; 2]),
}

/// How a test can end.
#[derive(Clone, Debug)]
pub struct CallsAnswer {
    /// Each distinct end, the shortest executions first.
    pub ends: Vec<CallEnd>,
    /// The bound that was hit; there may be other ends then.
    pub bound: Option<Bound>,
    /// How much was visited.
    pub statistics: Statistics,
}

/// Finds out how a test can end. `cells` are the addresses of the cells whose last values tell ends apart.
#[must_use]
pub fn calls(machine: &Machine, orders: CallOrders, cells: &[u32], budget: &Budget<'_>) -> CallsAnswer {
    let monitor = match orders {
        CallOrders::All => CallTracker::new(),
        CallOrders::Serial(calls) => CallTracker::serial(calls),
    };
    let mut recorder = Recorder { cells, known: FxHashSet::default(), ends: Vec::new() };
    let searched = frame::search(machine, budget, monitor, &mut recorder);
    let mut ends = recorder.ends;
    for (end, node) in &mut ends {
        end.steps = searched.graph.path_to(*node);
    }
    CallsAnswer {
        ends: ends.into_iter().map(|(end, _)| end).collect(),
        bound: searched.bound,
        statistics: searched.statistics,
    }
}

/// What tells ends apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    status: OutcomeStatus,
    failure: Option<(FailureKind, CodeIndex)>,
    outputs: Vec<(PathId, OutputId)>,
    values: Vec<i64>,
    done: [u32; 2],
    /// Of a deadlock: where threads stand, and from where the open call was made.
    blocked: Vec<(PathId, CodeIndex)>,
    base: u128,
}

struct Recorder<'a> {
    cells: &'a [u32],
    known: FxHashSet<Key>,
    ends: Vec<(CallEnd, u32)>,
}

impl Visitor<CallTracker> for Recorder<'_> {
    fn asks_for_edges(&self) -> bool {
        false
    }

    fn bytes(&self) -> u64 {
        (self.ends.len() * (size_of::<Key>() + size_of::<CallEnd>() + 8 * self.cells.len())) as u64
    }

    fn end(&mut self, context: &EndContext<'_, CallTracker>) -> ControlFlow<()> {
        let EndContext { machine, tables, state, monitor, node, end } = *context;
        let (status, failure) = (OutcomeStatus::from(end), end.failure());
        let is_blocked = end == End::Deadlock;
        let blocked = state.threads().filter(|_| is_blocked).map(|thread| (state.path(thread), state.position(thread)));
        let key = Key {
            status,
            failure: failure.map(|failure| (failure.kind, failure.at)),
            outputs: machine.outputs(state, tables),
            values: self.cells.iter().map(|&address| state.value(address)).collect(),
            done: monitor.arms().map(|arm| arm.done),
            blocked: blocked.collect(),
            base: if is_blocked { monitor.stuck().0 } else { 0 },
        };
        if self.known.insert(key) {
            let found = CallEnd::new((machine, tables, state), (status, failure), monitor, self.cells, Vec::new());
            self.ends.push((found, node));
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests;
