//! The verdict on an executed test: a failure, a deadlock, results that no order of its calls has, or nothing.
//!
//! **Input**: the ends of the executions of a test in which calls are not interleaved ([`calls`]), those of the same test on a
//! reference class, if one is given, and the end of an execution. **Output**: a [`Verdict`].
//!
//! **Algorithm**.
//!
//! 1. An execution to the end is explained by a serial order with the same results, the post part included (linearizability of
//!    the test: Herlihy and Wing, TOPLAS 1990). All values of `choose` are tried.
//! 2. An execution in which calls wait for ever is explained by one serial order of the returned calls, with their results, after
//!    which each waiting call, if made next, waits as well (stuck histories: Burckhardt, Dern, Musuvathi and Tan, "Line-Up", PLDI
//!    2010). So a queue may let `take` wait if nothing was put, but must not lose a notification. If both threads wait at
//!    barriers in calls that were made in the same state, the two calls release each other. No serial order predicts the result,
//!    so there is no verdict.
//! 3. A failure or a deadlock is *sequential* if some serial order shows it at the same place, or if a call waits for a lock that
//!    its own thread holds: interleaving does not cause it.
//! 4. If the results are explained, but no serial order with these results leaves the same values in all variables, there is a
//!    note: no public call of the test shows the difference.
//!
//! **Soundness and limits**: exact for this execution of this test. Results are not compared if a function of the file has the
//! name `print`, because they are not printed then.

use super::program::TestProgram;
use super::test::TestCase;
use crate::linear::{CallEnd, CallOrders, calls};
use cssame_budget::{Bound, Budget, Limits};
use cssame_explore::{BlockedThread, OutcomeStatus, WaitsFor};
use cssame_vm::{Choice, CodeIndex, FailureKind};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// What threads have printed.
type Outputs = Vec<(String, Vec<String>)>;

/// What kind of violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ViolationKind {
    /// The program fails.
    Failure,
    /// Calls wait for ever, and no serial order explains it.
    Deadlock,
    /// The results are those of no serial order.
    NotLinearizable,
}

/// What an execution shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing.
    Fine,
    /// These cells hold what no serial order with the same results leaves in them: their places in the list of the program.
    Note(Vec<usize>),
    /// It must not happen.
    Violation {
        /// What.
        kind: ViolationKind,
        /// Whether it needs no interleaving of calls.
        sequential: bool,
    },
}

/// Why a test says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// A call of the prefix fails or waits for ever.
    Prefix,
    /// There is no execution that is not discarded, in which calls are not interleaved.
    NoOrder,
    /// There are too many such executions.
    TooLarge(Bound),
}

/// The executions of a test in which calls are not interleaved.
#[derive(Clone, Debug, Default)]
pub struct SerialEnds {
    finished: FxHashSet<Outputs>,
    states: FxHashSet<(Outputs, Vec<i64>)>,
    /// An execution for each of the results.
    orders: Vec<Vec<Choice>>,
    stuck: Vec<CallEnd>,
    failures: FxHashSet<(FailureKind, CodeIndex)>,
    /// What the two threads are called.
    labels: [String; 2],
}

impl SerialEnds {
    /// Those of a test.
    ///
    /// # Errors
    ///
    /// Why they are of no use.
    pub fn new(
        program: &TestProgram,
        test: &TestCase,
        max_states: u64,
        budget: &Budget<'_>,
    ) -> Result<SerialEnds, Unusable> {
        let limits = Limits { max_states: Some(max_states), ..Limits::default() };
        let orders = CallOrders::Serial(test.parallel_calls());
        let answer = calls(program.model.machine(), orders, &program.cells, &budget.share(limits));
        if answer.ends.iter().any(|end| !end.forked) {
            return Err(Unusable::Prefix);
        }
        if let Some(bound) = answer.bound {
            return Err(Unusable::TooLarge(bound));
        }
        if answer.ends.is_empty() {
            return Err(Unusable::NoOrder);
        }
        let mut ends = SerialEnds { labels: program.labels.clone(), ..SerialEnds::default() };
        for end in answer.ends {
            match (end.status, end.failure) {
                (_, Some(failure)) => {
                    ends.failures.insert((failure.kind, failure.at));
                }
                (OutcomeStatus::Deadlock, None) => ends.stuck.push(end),
                _ => {
                    if ends.finished.insert(end.outputs.clone()) {
                        ends.orders.push(end.steps);
                    }
                    ends.states.insert((end.outputs, end.values));
                }
            }
        }
        Ok(ends)
    }

    /// Whether one serial order explains why calls wait for ever.
    fn explains(&self, end: &CallEnd) -> bool {
        if end.is_joined() {
            // Main waits in the post part, or a thread does that a call has spawned.
            return self.stuck.iter().any(|one| one.is_joined() && one.outputs == end.outputs);
        }
        let fits = |one: &&CallEnd| {
            one.output_of("main") == end.output_of("main") && {
                let ended = (0..2).filter(|&thread| end.ended[thread]);
                ended.into_iter().all(|thread| one.ended[thread] && self.same_output(one, end, thread))
            }
        };
        let fitting: Vec<&CallEnd> = self.stuck.iter().filter(fits).collect();
        let bases: BTreeSet<u128> = fitting.iter().map(|one| one.base).collect();
        let is_stuck = |base: u128, thread: usize| {
            // The other thread may have calls before it that do nothing which others notice: they are made with its next
            // step, so that it is not counted here how many of its calls have returned.
            let mut at_base = fitting.iter().filter(|one| one.base == base && one.done[thread] == end.done[thread]);
            at_base.any(|one| one.stuck[thread] && self.same_output(one, end, thread))
        };
        bases.into_iter().any(|base| (0..2).filter(|&thread| !end.ended[thread]).all(|thread| is_stuck(base, thread)))
    }

    fn same_output(&self, one: &CallEnd, other: &CallEnd, thread: usize) -> bool {
        one.output_of(&self.labels[thread]) == other.output_of(&self.labels[thread])
    }

    /// Whether in some serial order with these results so far both threads wait at a barrier, each in a call that was made in
    /// the same state: together the two calls go on, which no serial order tells.
    fn may_meet(&self, end: &CallEnd) -> bool {
        let is_beginning = |one: &CallEnd, thread: usize| {
            let label = &self.labels[thread];
            let is_at_barrier = one.blocked.iter().any(|thread| matches!(thread.waits_for, WaitsFor::Barrier { .. }));
            is_at_barrier && one.stuck[thread] && end.output_of(label).starts_with(one.output_of(label))
        };
        let waiting = |thread: usize| self.stuck.iter().filter(move |one| is_beginning(one, thread));
        let first: FxHashSet<u128> = waiting(0).map(|one| one.base).collect();
        waiting(1).any(|one| first.contains(&one.base))
    }

    /// Whether a serial order waits for locks at all the places where this execution does, and it waits for nothing else.
    fn waits_there(&self, end: &CallEnd) -> bool {
        let Some(places) = lock_places(end) else { return false };
        let has_places = |one: &CallEnd| lock_places(one).is_some_and(|known| places.is_subset(&known));
        !places.is_empty() && self.stuck.iter().any(has_places)
    }
}

/// Where threads wait for locks; none where one waits for something else than a lock or other threads.
fn lock_places(end: &CallEnd) -> Option<BTreeSet<CodeIndex>> {
    let mut places = BTreeSet::new();
    for thread in &end.blocked {
        match thread.waits_for {
            WaitsFor::Lock { .. } | WaitsFor::Readers { .. } | WaitsFor::Writers { .. } => {
                places.insert(thread.at);
            }
            WaitsFor::Threads(_) => {}
            _ => return None,
        }
    }
    Some(places)
}

/// Judges the executions of one test.
#[derive(Clone, Debug)]
pub struct Judge {
    /// The serial orders of the test itself.
    own: SerialEnds,
    /// Those of the reference class.
    reference: Option<SerialEnds>,
}

impl Judge {
    /// With the serial orders of the test, and those of the same test on a reference class.
    #[must_use]
    pub fn new(own: SerialEnds, reference: Option<SerialEnds>) -> Judge {
        Judge { own, reference }
    }

    fn orders(&self) -> &SerialEnds {
        self.reference.as_ref().unwrap_or(&self.own)
    }

    /// What an execution shows that has ended so.
    #[must_use]
    pub fn verdict(&self, end: &CallEnd) -> Verdict {
        match (end.status, end.failure) {
            (_, Some(failure)) => {
                let sequential = self.own.failures.contains(&(failure.kind, failure.at));
                Verdict::Violation { kind: ViolationKind::Failure, sequential }
            }
            (OutcomeStatus::Deadlock, None) => self.deadlock(end),
            _ => self.finished(end),
        }
    }

    fn deadlock(&self, end: &CallEnd) -> Verdict {
        let violation = |sequential| Verdict::Violation { kind: ViolationKind::Deadlock, sequential };
        if end.blocked.iter().any(BlockedThread::waits_for_itself) {
            return violation(true);
        }
        if !self.orders().explains(end) {
            return violation(self.own.waits_there(end));
        }
        // Calls that wait for a lock which nobody gives back any more are listed, although some order explains them.
        let waits_for_lock = |thread: &BlockedThread| {
            matches!(thread.waits_for, WaitsFor::Lock { .. } | WaitsFor::Readers { .. } | WaitsFor::Writers { .. })
        };
        if end.blocked.iter().any(waits_for_lock) { violation(true) } else { Verdict::Fine }
    }

    fn finished(&self, end: &CallEnd) -> Verdict {
        if !self.orders().finished.contains(&end.outputs) {
            if self.orders().may_meet(end) {
                return Verdict::Fine;
            }
            return Verdict::Violation { kind: ViolationKind::NotLinearizable, sequential: false };
        }
        if self.reference.is_some() {
            return Verdict::Fine;
        }
        let same_results = self.own.states.iter().filter(|(outputs, _)| *outputs == end.outputs);
        let differing = |values: &Vec<i64>| -> Vec<usize> {
            let cells = values.iter().zip(&end.values).enumerate();
            cells.filter(|(_, (one, other))| one != other).map(|(place, _)| place).collect()
        };
        let fewest = same_results.map(|(_, values)| differing(values)).min_by_key(|cells| (cells.len(), cells.clone()));
        match fewest {
            Some(cells) if !cells.is_empty() => Verdict::Note(cells),
            _ => Verdict::Fine,
        }
    }

    /// Executions in which calls are not interleaved, one for each of the results that are allowed; of the reference class,
    /// if one is given.
    #[must_use]
    pub fn allowed(&self) -> &[Vec<Choice>] {
        &self.orders().orders
    }

    /// Whether the calls of the class itself have these results in some serial order: then a reference class differs from it
    /// without any interleaving.
    #[must_use]
    pub fn is_own_result(&self, end: &CallEnd) -> bool {
        self.own.finished.contains(&end.outputs)
    }
}
