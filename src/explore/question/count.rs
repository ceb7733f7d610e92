//! Counts the futures of a program.
//!
//! A future is a complete execution up to reorderings that no read can distinguish: the map from each read instance to the write
//! instance that it read from. A write instance is the k-th write of a thread, or the initial value.
//!
//! **Input**: a machine and a budget. **Output**: their number.
//!
//! **Algorithm**: one execution for each ([`reads_from`]) if that is possible. Otherwise a search through states. Its monitor
//! holds for each thread a hash of its reads so far, and for each cell the write instance that it holds. The distinct histories
//! of the executions that end are counted. If there are [infinitely many](super::infinite) futures, none of them is counted.
//!
//! **Soundness and limits**: 128-bit hashes distinguish the histories. Discarded executions are left out.

use crate::answer::Answer;
use crate::portfolio::LESS_WORK_FOR_STATE;
use crate::question::chains::hash_of_end;
use crate::question::history::History;
use crate::question::infinite;
use crate::reads_from::{self, Enumerated, Refusal};
use crate::states::{self, AtEnds, EndContext, Fingerprints};
use cssame_budget::{Bound, Budget, Limits, Statistics};
use cssame_vm::Machine;
use std::ops::ControlFlow;

/// How many futures there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountAnswer {
    /// The futures that were found.
    pub futures: u64,
    /// Whether it is proven that there are infinitely many; none was counted then.
    pub infinite: bool,
    /// The executions that were followed: one for each future, those that an assumption discards, and those that differ from another
    /// one only in the order of operations on objects, some of these not to their end. Of a search through states, as many as futures.
    pub executions: u64,
    /// The bound that was hit; `None` if these are all of them.
    pub bound: Option<Bound>,
    /// How much was visited.
    pub statistics: Statistics,
}

impl CountAnswer {
    /// The number of futures that a search for what can happen has told.
    #[must_use]
    pub fn of(answer: &Answer) -> Option<CountAnswer> {
        let Answer { futures, statistics, .. } = *answer;
        let executions = statistics.executions;
        Some(CountAnswer { futures: futures?, infinite: false, executions, bound: None, statistics })
    }
}

/// Counts the futures of a machine of whose program nothing else is known: by one execution for each where that is possible, else by a
/// search through states. For tests: [`Subject::count`](crate::Subject::count) also sees which orders make no difference, and futures
/// without end.
pub fn count(machine: &Machine, budget: &Budget<'_>) -> CountAnswer {
    let found = count_unless(machine, Followed::Whole, budget, None);
    found.unwrap_or_else(|_| count_by_states(machine, budget))
}

/// The answer where there are infinitely many futures, or none, as far as so many states show that.
type InfiniteOrNone<'a> = &'a dyn Fn(u64) -> Option<CountAnswer>;

/// Whose executions are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Followed {
    /// Those of the program that is asked about.
    Whole,
    /// Those of a program without some of its operations. A loop that does nothing else has no step there, so that local work passes a
    /// limit where the whole program goes on: such a failure is none of its executions.
    Less,
}

/// Counts the futures by one execution for each, unless it turns out that there are infinitely many: that is asked, through so many
/// states at most, where executions are not [few](ASKED_BEHIND), or a bound was hit before. Where threads synchronise by objects, a
/// bound on states bounds executions as well, by the work that they are: there may be futures without end.
///
/// # Errors
///
/// A program that cannot be explored in this way.
pub(crate) fn count_unless(
    machine: &Machine,
    followed: Followed,
    budget: &Budget<'_>,
    infinite_or_none: Option<InfiniteOrNone<'_>>,
) -> Result<CountAnswer, Refusal> {
    let Limits { max_states, max_executions, .. } = *budget.limits();
    let max_states = max_states.filter(|_| machine.synchronises());
    let max_work = max_states.map(|states| states.saturating_mul(LESS_WORK_FOR_STATE));
    let (mut executions, mut other, mut passes_limit) = (0, None, false);
    let ask = |states| infinite_or_none.and_then(|ask| ask(states));
    let share = budget.share(Limits { max_work, ..Limits::default() });
    let found = reads_from::enumerate(machine, &share, &mut |execution| {
        executions += 1;
        passes_limit = followed == Followed::Less && execution.failure.is_some_and(|failure| failure.kind.is_limit());
        if passes_limit {
            return ControlFlow::Break(());
        }
        if let Some(&(_, states)) = ASKED_BEHIND.iter().find(|&&(few, _)| executions == few) {
            other = ask(states);
        }
        if other.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    if passes_limit {
        return Err(Refusal::Endless);
    }
    if found.bound.is_some() && executions < FEW_EXECUTIONS {
        other = ask(STATES_OF_CYCLES);
    }
    if let Some(other) = other {
        return Ok(other);
    }
    let mut answer = answer(&found);
    let is_users = max_executions.is_some_and(|most| answer.executions >= most);
    if answer.bound == Some(Bound::Executions) && !is_users && max_work.is_some() {
        answer.bound = Some(Bound::States);
    }
    Ok(answer)
}

fn answer(found: &Enumerated) -> CountAnswer {
    let (futures, executions) = (found.futures, found.statistics.executions);
    CountAnswer { futures, infinite: false, executions, bound: found.bound, statistics: found.statistics }
}

/// Executions that are followed before it is asked, at last, whether futures are infinitely many: that many take as long.
const FEW_EXECUTIONS: u64 = 20_000;

/// States up to which it is asked, at last, whether there are infinitely many futures.
pub(crate) const STATES_OF_CYCLES: u64 = 100_000;

/// Executions behind which it is asked whether there are infinitely many futures, and states up to which. Where a thread waits in a
/// loop, executions get longer and longer, while the states are often very few.
const ASKED_BEHIND: [(u64, u64); 2] = [(300, 1_000), (FEW_EXECUTIONS, STATES_OF_CYCLES)];

/// The answer where there are infinitely many futures, or none since no execution ends; `None` where that is not known.
pub(crate) fn infinite_or_none(machine: &Machine, budget: &Budget<'_>, most_states: u64) -> Option<CountAnswer> {
    let share = budget.share(Limits { max_states: Some(most_states), ..Limits::default() });
    let found = infinite::infinite_or_none(machine, &share);
    let statistics = found.statistics;
    let answer = CountAnswer { futures: 0, infinite: found.proven, executions: 0, bound: None, statistics };
    (found.proven || found.none).then_some(answer)
}

/// Counts the futures by one execution for each.
///
/// # Errors
///
/// A program that cannot be explored in this way.
pub fn count_by_executions(machine: &Machine, budget: &Budget<'_>) -> Result<CountAnswer, Refusal> {
    Ok(answer(&reads_from::enumerate(machine, budget, &mut |_| ControlFlow::Continue(()))?))
}

/// Counts the futures by a search through all states, each with what its threads have read.
pub fn count_by_states(machine: &Machine, budget: &Budget<'_>) -> CountAnswer {
    let mut futures = Fingerprints::default();
    let mut ends = AtEnds::new(|context: &EndContext<'_, History>, bytes: &mut u64| {
        let EndContext { machine, monitor, end, state, .. } = context;
        futures.insert(hash_of_end(machine, &monitor.chains, *end, state.standing()));
        *bytes = futures.bytes();
        ControlFlow::Continue(())
    });
    let searched = states::search(machine, budget, History::default(), &mut ends);
    let futures = futures.len();
    CountAnswer {
        futures,
        infinite: false,
        executions: futures,
        bound: searched.bound,
        statistics: searched.statistics,
    }
}
