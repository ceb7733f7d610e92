//! The findings of an exploration: terms, outcomes, failures, deadlocks, each with an execution that shows it.
//!
//! Plain data, the same for every strategy. Long executions have long schedules. The schedules of terms and outcomes are kept up
//! to a number of steps, so that an answer is never much larger than the data of the search itself.

use crate::deadlock::Deadlock;
use crate::reduction::Reduction;
use crate::states::End;
use cssame_budget::{Bound, Statistics};
use cssame_ir::{DefinitionId, ReadId};
use cssame_vm::{Choice, Failure, FailureKind, OutputId, PathId, Tables};

/// What is asked of an exploration. The default asks for everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Query<'a> {
    /// How far the schedules of terms go.
    pub schedules: TermSchedules,
    /// What is to be known of the ends of executions.
    pub ends: Ends,
    /// How a search through states may leave out orders of steps that no answer depends on.
    pub reduction: Option<Reduction<'a>>,
    /// Whether the futures are to be counted as well: executions, which tell how many there are, come earlier.
    pub counts: bool,
}

/// How far the schedule of a term is to go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TermSchedules {
    /// To the end of an execution.
    #[default]
    WholeExecutions,
    /// To the step that reads: a search for terms alone need not complete executions.
    UpToTheRead,
}

/// What is to be known of the ends of executions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ends {
    /// What they print, how they fail and where they block. There may be exponentially many outcomes.
    #[default]
    Outcomes,
    /// How they fail and where they block.
    FailuresAndDeadlocks,
    /// Nothing.
    Nothing,
}

impl Query<'_> {
    /// Everything, with the schedules of terms up to the step that reads.
    pub const UP_TO_THE_READ: Query<'static> =
        Query { schedules: TermSchedules::UpToTheRead, ends: Ends::Outcomes, reduction: None, counts: false };

    /// Terms, failures and deadlocks, without the outcomes.
    pub const WITHOUT_OUTCOMES: Query<'static> = Query {
        schedules: TermSchedules::WholeExecutions,
        ends: Ends::FailuresAndDeadlocks,
        reduction: None,
        counts: false,
    };
}

/// Steps of the schedules of all terms together: a program may have millions of terms, each with a long schedule.
pub const MAX_TERM_STEPS: usize = 2_000_000;

/// A definition that a read was seen to read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// The read.
    pub read: ReadId,
    /// The definition.
    pub definition: DefinitionId,
    /// An execution that shows it; `None` beyond [`MAX_TERM_STEPS`].
    pub schedule: Option<Vec<Choice>>,
    /// The step that shows it, counted from 0. It is the number of steps of the schedule for local work of main
    /// before its first step.
    pub step: usize,
}

/// How an execution ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OutcomeStatus {
    /// All threads have ended.
    Ok,
    /// The program has failed.
    Failed(FailureKind),
    /// No thread can move, and some has not ended.
    Deadlock,
}

impl From<End> for OutcomeStatus {
    fn from(end: End) -> OutcomeStatus {
        match end {
            End::Finished => OutcomeStatus::Ok,
            End::Failed(failure) => OutcomeStatus::Failed(failure.kind),
            End::Deadlock => OutcomeStatus::Deadlock,
        }
    }
}

impl OutcomeStatus {
    /// The word that users read.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            OutcomeStatus::Ok => "ok",
            OutcomeStatus::Failed(kind) => kind.status(),
            OutcomeStatus::Deadlock => "deadlock",
        }
    }
}

/// What an execution has printed, and how it has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// By thread, in the order of threads; those that have printed nothing are left out.
    pub outputs: Vec<(PathId, OutputId)>,
    /// How it ends.
    pub status: OutcomeStatus,
    /// For a failure: the one that was found first.
    pub failure: Option<Failure>,
    /// A shortest execution with this outcome; `None` where those of others take all the steps that are kept.
    pub schedule: Option<Vec<Choice>>,
}

/// A place where the program can fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailureWitness {
    /// What and where.
    pub failure: Failure,
    /// Who fails.
    pub path: PathId,
    /// A shortest execution that fails there.
    pub schedule: Vec<Choice>,
}

/// The answer of an exploration.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The bound that was hit; `None` if every state was visited.
    pub bound: Option<Bound>,
    /// How much was visited.
    pub statistics: Statistics,
    /// How many futures there are, where the search has told that.
    pub futures: Option<u64>,
    /// Whether it is known that all executions end.
    pub all_end: bool,
    /// Where a bound was hit: all failures and deadlocks with so many preemptions are listed all the same.
    pub finished: Option<u32>,
    /// Whether it was put together from slices: there were too many states and futures.
    pub from_slices: bool,
    /// Slots of threads that were in use: every thread has a lower number.
    pub threads: usize,
    /// The pairs that were seen, by read and definition.
    pub terms: Vec<Term>,
    /// SeenTerms that were seen only on executions of which it is not known whether an assumption discards them.
    pub undecided: Vec<(ReadId, DefinitionId)>,
    /// Each distinct one once, sorted by what is printed.
    pub outcomes: Vec<Outcome>,
    /// Each kind, message and place once, by place.
    pub failures: Vec<FailureWitness>,
    /// Each distinct one once, the shortest first.
    pub deadlocks: Vec<Deadlock>,
    /// Some of the executions that were not followed to their end, where a bound was hit.
    pub open: Vec<Vec<Choice>>,
    /// Names and outputs that the ids belong to.
    pub tables: Tables,
}

impl Answer {
    /// Whether every state was visited.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.bound.is_none()
    }

    /// The term of a read and a definition, if it was seen.
    #[must_use]
    pub fn term(&self, read: ReadId, definition: DefinitionId) -> Option<&Term> {
        let key = (read, definition);
        let place = self.terms.binary_search_by_key(&key, |term| (term.read, term.definition)).ok()?;
        self.terms.get(place)
    }

    /// Whether a read can read from a definition; `None` where the exploration did not get far enough to tell.
    #[must_use]
    pub fn is_feasible(&self, read: ReadId, definition: DefinitionId) -> Option<bool> {
        if self.term(read, definition).is_some() {
            return Some(true);
        }
        (self.is_complete() && !self.undecided.contains(&(read, definition))).then_some(false)
    }
}
