//! How executions of a test end, and the serial orders that explain them.
//!
//! **Input**: the last state of an execution, and the progress of its calls. **Output**: a [`CallEnd`]: the printed output, the
//! calls that wait for ever, and the values of the given cells.

use super::tracker::CallTracker;
use cssame_explore::OutcomeStatus;
use cssame_explore::{BlockedThread, blocked_threads};
use cssame_vm::{Choice, Failure, Machine, State, Tables};

/// How an execution of a test ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallEnd {
    /// How it ends.
    pub status: OutcomeStatus,
    /// For a failure: what and where.
    pub failure: Option<Failure>,
    /// For a deadlock: the threads that wait.
    pub blocked: Vec<BlockedThread>,
    /// The lines that threads have printed, in the order of threads; those that have printed nothing are left out.
    pub outputs: Vec<(String, Vec<String>)>,
    /// What the given cells hold.
    pub values: Vec<i64>,
    /// Whether main has forked the two threads.
    pub forked: bool,
    /// How many calls of each thread have returned.
    pub done: [u32; 2],
    /// Which of the two threads have ended.
    pub ended: [bool; 2],
    /// Where calls are not interleaved: the state from which the last call was made that has not returned.
    pub base: u128,
    /// Where calls are not interleaved: the threads that cannot return from their next call, made there.
    pub stuck: [bool; 2],
    /// An execution that ends so.
    pub steps: Vec<Choice>,
}

impl CallEnd {
    /// The end of an execution.
    #[must_use]
    pub fn new(
        (machine, tables, state): (&Machine, &Tables, &State),
        (status, failure): (OutcomeStatus, Option<Failure>),
        tracker: &CallTracker,
        cells: &[u32],
        steps: Vec<Choice>,
    ) -> CallEnd {
        let lines = |output| tables.lines(output).into_iter().map(str::to_owned).collect();
        let outputs = machine.outputs(state, tables).into_iter();
        let (base, stuck) = tracker.stuck();
        let is_blocked = status == OutcomeStatus::Deadlock;
        CallEnd {
            status,
            failure,
            blocked: if is_blocked { blocked_threads(machine, tables, state) } else { Vec::new() },
            outputs: outputs.map(|(path, output)| (machine.path_name(tables, path), lines(output))).collect(),
            values: cells.iter().map(|&address| state.value(address)).collect(),
            forked: tracker.has_forked(),
            done: tracker.arms().map(|arm| arm.done),
            ended: tracker.arms().map(|arm| arm.ended),
            base,
            stuck,
            steps,
        }
    }

    /// What a thread has printed.
    #[must_use]
    pub fn output_of(&self, thread: &str) -> &[String] {
        self.outputs.iter().find(|(name, _)| name == thread).map_or(&[], |(_, lines)| lines)
    }

    /// Whether all calls of the two threads have returned.
    #[must_use]
    pub fn is_joined(&self) -> bool {
        self.ended == [true; 2]
    }
}
