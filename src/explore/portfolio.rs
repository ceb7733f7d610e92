//! Chooses the strategy that answers: a portfolio of exact searches, run in rounds.
//!
//! **Input**: a machine, the budget of the user, and a search for each [`Strategy`], as functions of their budgets. **Output**:
//! the answer of the first search that completes; if none does, the best partial answer, with the bound that was hit.
//!
//! **Algorithm**: a portfolio of exact search strategies runs in rounds with geometrically growing budgets, like restarts in
//! satisfiability solvers (Luby, Sinclair and Zuckerman 1993; Huberman, Lukose and Hogg 1997). The first search that completes
//! answers.
//! 1. Find out whether many threads run at the same time ([`width`]): then there are many states, unless symmetry reduces them.
//! 2. In each round run the strategies in the [order](Portfolio::order) that suits the program, each with its share of the round.
//! 3. A search that completes within its share answers.
//! 4. A strategy that cannot serve the program, or that a larger share would not help, is left out from then on.
//! 5. If none has completed, single executions get a share as well (`question::samples`).
//! 6. The round is the last one if states have hit a bound other than their share, or if the share was everything that the user
//!    allows. Otherwise the shares of the next round are [`GROWTH`] times as large.
//! 7. The findings of states in the last round, and of executions so far, are the partial answer.
//!
//! **Soundness and limits**: each strategy is exact, so it does not matter which one answers; the tests compare them. The
//! cheapest strategy cannot be known in advance: a program with many threads has more states than futures, a long program has
//! more futures than states. Since shares grow geometrically, the losers cost at most a fixed multiple of the winner.

use super::reads_from::Refusal;
use cssame_budget::{Bound, Budget, Limits, Statistics};
use cssame_schedule::Walk;
use cssame_vm::{Choice, Machine, Move, Pending, Tables, ThreadStatus};

/// A way to search that is exact if it comes to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strategy {
    /// Breadth-first through all states ([`super::states`]): serves every program.
    States,
    /// One execution for each future ([`super::reads_from`]), as long as the order of operations on objects matters to reads.
    Executions,
    /// Programs that hold only what matters to a part of the question ([`super::slice`]).
    Slices,
}

/// The search of each strategy, as a function of its budget.
pub(super) struct Searches<'s, A> {
    pub by_states: &'s mut dyn FnMut(&Budget<'_>) -> A,
    /// It may say that it cannot serve the program.
    pub by_executions: &'s mut dyn FnMut(&Budget<'_>) -> Result<A, Refusal>,
    /// It gives the whole answer, or says whether a larger share may help.
    pub by_slices: &'s mut dyn FnMut(&Budget<'_>) -> Result<A, Retry>,
    /// Follows single executions, which may show something where no search comes to its end.
    pub samples: &'s mut dyn FnMut(&Budget<'_>),
}

/// What would help a strategy that has not come to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Retry {
    /// A larger share.
    WithMore,
    /// Nothing.
    Never,
}

/// An answer that may be a part of the whole one.
pub(super) trait PartialAnswer {
    /// The bound that has cut it.
    fn bound(&mut self) -> &mut Option<Bound>;
    /// How much was visited for it.
    fn visited(&self) -> &Statistics;
    /// Adds to states what executions have shown.
    fn merge(self, executions: Self) -> Self;
}

/// Threads at a time that make a program a wide one.
const WIDE: usize = 6;

/// The share of states in the first round: of a wide program, and of others.
const STATES: (u64, u64) = (10_000, 20_000);

/// The same of a wide program whose threads synchronise by objects: executions, which come behind states there, may be few.
const FEWER_STATES: u64 = 1_000;

/// The share of slices in the first round, in states.
const SLICES: u64 = 50_000;

/// The share of executions in the first round, as [`Limits::max_work`].
const WORK: u64 = 2_000_000;

/// How much less that is where threads synchronise by objects: there, states are few.
const LESS_WORK: u64 = 32;

/// Work that is worth a state: who bounds states does not want to wait for executions much longer.
const WORK_FOR_STATE: u64 = 50;

/// The same where threads synchronise by objects.
pub(super) const LESS_WORK_FOR_STATE: u64 = 10;

/// The share of single executions in the first round, as work, and how much larger each share is than the one before: a
/// small part of what the searches of the round cost.
const SAMPLES: u64 = 16_000;
const GROWTH_OF_SAMPLES: u64 = 8;

/// Bytes that executions may take.
const MEMORY: u64 = 512 << 20;

/// How much larger each share is than the one of the round before.
const GROWTH: u64 = 16;

/// The strategies, and the shares of the round that runs now.
pub(super) struct Portfolio<'a> {
    budget: &'a Budget<'a>,
    /// Whether many threads run at a time.
    many_threads: bool,
    /// Whether threads synchronise by objects.
    by_objects: bool,
    /// Whether executions come before states: that means many states, unless symmetry folds them.
    executions_first: bool,
    /// Whether the futures are to be counted as well: executions that tell what can happen need not be followed again.
    counts: bool,
    /// Whether no round is over.
    is_first: bool,
    states: u64,
    work: u64,
    samples: u64,
}

/// What is known when a strategy has had its share.
enum Round<A> {
    /// It has come to its end.
    Answered(A),
    /// This bound ends it all.
    Over(Bound),
    /// The next one has its turn.
    Open,
}

/// What strategies have found so far.
struct Findings<A> {
    /// The best of states, and of executions.
    states: Option<A>,
    executions: Option<A>,
    /// Whether executions, and slices, may still answer.
    executions_may: bool,
    slices_may: bool,
}

impl<'a> Portfolio<'a> {
    /// Where states are searched up to symmetry, many threads need not mean many states.
    pub(super) fn new(machine: &Machine, budget: &'a Budget<'a>, symmetry: Symmetry) -> Portfolio<'a> {
        let many_threads = width(machine) >= WIDE;
        let many_states = many_threads && symmetry == Symmetry::Ignored;
        let by_objects = machine.synchronises();
        let states = match (many_states, by_objects) {
            (true, true) => FEWER_STATES,
            (true, false) => STATES.0,
            (false, _) => STATES.1,
        };
        let work = if by_objects { WORK / LESS_WORK } else { WORK };
        let executions_first = many_states && !by_objects;
        let is_first = true;
        let (counts, samples) = (false, SAMPLES);
        Portfolio { budget, many_threads, by_objects, executions_first, counts, is_first, states, work, samples }
    }

    /// The same where the futures are to be counted as well: executions, which have to be followed for that, get more from the first
    /// round on.
    pub(super) fn counting(self, counts: bool) -> Portfolio<'a> {
        let counts = counts && !self.by_objects;
        Portfolio { counts, work: if counts { self.work * GROWTH } else { self.work }, ..self }
    }

    /// The answer of the first strategy that comes to its end, or that is stopped by a bound of the user. In the latter case
    /// what executions have shown is added to it.
    pub(super) fn run<A: PartialAnswer>(mut self, mut searches: Searches<'_, A>) -> A {
        let mut found = Findings { states: None, executions: None, executions_may: true, slices_may: true };
        loop {
            let mut over = None;
            for strategy in self.order() {
                match self.search(strategy, &mut searches, &mut found) {
                    Round::Answered(answer) => return answer,
                    Round::Over(bound) => {
                        over = Some(bound);
                        break;
                    }
                    Round::Open => {}
                }
            }
            // 5. No search has come to its end.
            let followed = found.executions.as_ref().map_or(0, |answer| answer.visited().executions);
            (searches.samples)(&self.share_of_samples(followed));
            let over = over.or(self.has_all_states().then_some(Bound::States));
            if let Some((mut answer, bound)) = found.states.take_if(|_| over.is_some()).zip(over) {
                *answer.bound() = Some(bound);
                return match found.executions {
                    Some(executions) => answer.merge(executions),
                    None => answer,
                };
            }
            self.is_first = false;
            self.states = self.states.saturating_mul(GROWTH);
            self.work = self.work.saturating_mul(GROWTH);
            self.samples = self.samples.saturating_mul(GROWTH_OF_SAMPLES);
        }
    }

    /// The order of the strategies in a round. Slices come first in the first round of a wide program; last where futures are counted.
    fn order(&self) -> [Strategy; 3] {
        use Strategy::{Executions, Slices, States};
        if self.counts {
            let states_first = self.is_first && !self.executions_first;
            return if states_first { [States, Executions, Slices] } else { [Executions, States, Slices] };
        }
        match (self.many_threads && self.is_first, self.executions_first) {
            (true, true) => [Slices, Executions, States],
            (true, false) => [Slices, States, Executions],
            (false, true) => [Executions, States, Slices],
            (false, false) => [States, Slices, Executions],
        }
    }

    /// Runs one strategy with its share of the round.
    fn search<A: PartialAnswer>(
        &self,
        strategy: Strategy,
        searches: &mut Searches<'_, A>,
        found: &mut Findings<A>,
    ) -> Round<A> {
        match strategy {
            Strategy::States => self.search_states(searches, found),
            Strategy::Executions if found.executions_may && self.executions_have_a_turn() => {
                match (searches.by_executions)(&self.share_of_executions()) {
                    Ok(mut answer) => {
                        if answer.bound().is_none() {
                            return Round::Answered(answer);
                        }
                        // No larger share follows more executions than the user allows.
                        let most = self.budget.limits().max_executions;
                        let over =
                            most.is_some_and(|most| answer.visited().executions >= most) && found.states.is_some();
                        keep_larger(&mut found.executions, answer);
                        if over { Round::Over(Bound::Executions) } else { Round::Open }
                    }
                    Err(refusal) => {
                        // With a larger share all of them may be followed.
                        found.executions_may = refusal == Refusal::Orders;
                        Round::Open
                    }
                }
            }
            Strategy::Slices if found.slices_may => match (searches.by_slices)(&self.share_of_slices()) {
                Ok(answer) => Round::Answered(answer),
                Err(retry) => {
                    found.slices_may = retry == Retry::WithMore;
                    // Nothing that begins when the time is up shows anything.
                    let over = self.budget.check().filter(|_| found.states.is_some());
                    over.map_or(Round::Open, Round::Over)
                }
            },
            Strategy::Executions | Strategy::Slices => Round::Open,
        }
    }

    fn search_states<A: PartialAnswer>(&self, searches: &mut Searches<'_, A>, found: &mut Findings<A>) -> Round<A> {
        // Without another strategy there is no turn to wait for.
        let has_all = self.has_all_states() || !found.executions_may && !found.slices_may;
        let max_states = (!has_all).then_some(self.states);
        let mut answer = (searches.by_states)(&self.budget.share(Limits { max_states, ..Limits::default() }));
        let Some(bound) = *answer.bound() else { return Round::Answered(answer) };
        keep_larger(&mut found.states, answer);
        // Executions have had their turn where they come first; else not yet.
        let is_last = bound != Bound::States || has_all && (!found.executions_may || self.executions_first);
        if is_last { Round::Over(bound) } else { Round::Open }
    }

    /// Where executions come behind states, who allows no more than the first share of these wants no other search.
    fn executions_have_a_turn(&self) -> bool {
        !(self.by_objects && self.is_first && self.has_all_states())
    }

    /// Whether the share of states is all that the user allows.
    fn has_all_states(&self) -> bool {
        self.budget.limits().max_states.is_some_and(|limit| limit <= self.states)
    }

    fn share_of_executions(&self) -> Budget<'a> {
        let states = self.budget.limits().max_states;
        let most = states.map_or(u64::MAX, |states| {
            if self.by_objects {
                states.saturating_mul(LESS_WORK_FOR_STATE)
            } else {
                states.saturating_mul(WORK_FOR_STATE).max(WORK)
            }
        });
        let work = self.work.min(most);
        self.budget.share(Limits { max_work: Some(work), max_memory: Some(MEMORY), ..Limits::default() })
    }

    /// Of executions what those that were followed one by one have left.
    fn share_of_samples(&self, followed: u64) -> Budget<'a> {
        let max_executions = self.budget.limits().max_executions.map(|most| most.saturating_sub(followed));
        self.budget.share(Limits { max_work: Some(self.samples), max_executions, ..Limits::default() })
    }

    /// Later slices get less than states do: what they have not decided soon, they seldom decide for less.
    fn share_of_slices(&self) -> Budget<'a> {
        let states = if self.is_first { SLICES } else { self.states / 4 };
        self.share_of_executions().share(Limits { max_states: Some(states), ..Limits::default() })
    }
}

/// Whether states are told apart up to symmetry of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Symmetry {
    /// States that differ only in which of several like threads is which are one.
    Folded,
    /// All states are told apart.
    Ignored,
}

impl Symmetry {
    /// Folded where there is a machine for that.
    pub(super) fn of(folded: Option<&Machine>) -> Symmetry {
        if folded.is_some() { Symmetry::Folded } else { Symmetry::Ignored }
    }
}

/// Keeps the answer for which more was visited: one of a later round may have been cut at once.
fn keep_larger<A: PartialAnswer>(known: &mut Option<A>, answer: A) {
    let size = |answer: &A| answer.visited().states + answer.visited().executions;
    if known.as_ref().is_none_or(|known| size(known) <= size(&answer)) {
        *known = Some(answer);
    }
}

/// The most threads at a time in an execution in which threads are made as early as may be.
pub(super) fn width(machine: &Machine) -> usize {
    let mut tables = Tables::new();
    let mut walk = Walk::new(machine, &mut tables, &mut ());
    let mut width = 0;
    let mut moves = Vec::new();
    for _ in 0..1_000 {
        let state = walk.state();
        width = width.max(state.threads().filter(|&thread| state.status(thread) != ThreadStatus::Ended).count());
        machine.moves(state, &mut moves);
        let makes = |one: &&Move| matches!(machine.pending(state, one.thread), Some(Pending::Fork | Pending::Spawn));
        let Some(&Move { thread, .. }) = moves.iter().find(makes).or(moves.first()) else { break };
        if walk.step(Choice { thread, alternative: 0 }, &mut ()).is_err() {
            break;
        }
    }
    width
}
