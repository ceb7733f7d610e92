//! What can happen: terms, outcomes, failures, deadlocks.
//!
//! In: a machine and bounds. Out: an [`Answer`]. One search through all states; every step tells which definition a
//! read has seen, every end tells an outcome. What was not seen cannot happen, provided that the search is complete.

use crate::budget::{Bound, Budget, Statistics};
use crate::explore::deadlock::{BlockedThread, Deadlock, blocked_threads};
use crate::explore::portfolio::{Dovetail, Found, Share};
use crate::explore::question::by_executions::by_executions;
use crate::explore::report::unfinished::frontier;
use crate::explore::states::assumption::lasting_states;
use crate::explore::states::completion::Completion;
use crate::explore::states::graph::Graph;
use crate::explore::states::pairs::{Pair, Pairs};
use crate::explore::states::{self, End, EndContext, Searched, Transition, Visitor};
use crate::ir::{DefinitionId, ReadId};
use crate::vm::{
    Choice, CodeIndex, Event, Failure, FailureKind, Machine, Observer, OutputId, PathId, Tables, ThreadIndex,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::ControlFlow;

/// What an exploration is to find out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Query {
    /// Whether the schedule of a term goes on to the end of an execution.
    pub whole_executions: bool,
}

impl Default for Query {
    fn default() -> Self {
        Query { whole_executions: true }
    }
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
    /// A shortest execution with this outcome.
    pub schedule: Vec<Choice>,
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
    /// Whether it was put together from slices: there were too many states and futures.
    pub from_slices: bool,
    /// Slots of threads that were in use: every thread has a lower number.
    pub threads: usize,
    /// The pairs that were seen, by read and definition.
    pub terms: Vec<Term>,
    /// Pairs that were seen only on executions of which it is not known whether an assumption discards them.
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

/// Finds out what can happen, by the cheapest exact means that comes to an end: see [`Dovetail`].
pub fn futures(machine: &Machine, query: &Query, budget: &Budget<'_>) -> Answer {
    futures_with(machine, query, budget, &mut |_| Err(Share::Never))
}

/// The same with one more means.
pub(in crate::explore) fn futures_with(
    machine: &Machine,
    query: &Query,
    budget: &Budget<'_>,
    aside: &mut dyn FnMut(&Budget<'_>) -> Result<Answer, Share>,
) -> Answer {
    let symmetric = machine.up_to_symmetry();
    Dovetail::new(machine, budget, symmetric.is_some()).run(
        |budget| {
            let Some(symmetric) = &symmetric else { return by_states(machine, query, budget) };
            let answer = by_states(symmetric, query, budget);
            // Deadlocks are told apart by who is in them. Where the time is up, those that were found will do.
            let again = !answer.deadlocks.is_empty() && matches!(answer.bound, None | Some(Bound::States));
            if again { by_states(machine, query, budget) } else { answer }
        },
        |budget| by_executions(machine, query, budget),
        aside,
    )
}

/// Outcomes of executions that are shown where there may be many more than that.
const MORE_OUTCOMES: usize = 1_000;

impl Found for Answer {
    fn bound(&mut self) -> &mut Option<Bound> {
        &mut self.bound
    }

    fn visited(&self) -> &Statistics {
        &self.statistics
    }

    fn merge(mut self, executions: Answer) -> Answer {
        let known: FxHashSet<(ReadId, DefinitionId)> =
            self.terms.iter().map(|term| (term.read, term.definition)).collect();
        self.terms.extend(executions.terms.into_iter().filter(|term| !known.contains(&(term.read, term.definition))));
        self.terms.sort_by_key(|term| (term.read, term.definition));
        let seen = |pair: &(ReadId, DefinitionId)| {
            self.terms.binary_search_by_key(pair, |term| (term.read, term.definition)).is_ok()
        };
        self.undecided.retain(|pair| !seen(pair));
        let known: FxHashSet<OutcomeKey> =
            self.outcomes.iter().map(|outcome| (outcome.outputs.clone(), outcome.status)).collect();
        for mut outcome in executions.outcomes.into_iter().take(MORE_OUTCOMES) {
            for (path, output) in &mut outcome.outputs {
                *path = self.tables.adopt_path(&executions.tables, *path);
                *output = self.tables.adopt_output(&executions.tables, *output);
            }
            if !known.contains(&(outcome.outputs.clone(), outcome.status)) {
                self.outcomes.push(outcome);
            }
        }
        sort_outcomes(&self.tables, &mut self.outcomes);
        self.statistics.executions = self.statistics.executions.max(executions.statistics.executions);
        self
    }
}

/// Finds out what can happen by a search through all states.
pub fn by_states(machine: &Machine, query: &Query, budget: &Budget<'_>) -> Answer {
    let mut recorder = Recorder { pairs: Pairs::new(machine.may_discard()), ..Recorder::default() };
    let searched = states::search(machine, budget, (), &mut recorder);
    let Recorder { pairs, outcomes, failures, deadlocks, threads, .. } = recorder;
    let (terms, undecided) = terms(machine, query, &searched, pairs);
    let Searched { graph, tables, statistics, bound, .. } = searched;
    let open = bound.map_or_else(Vec::new, |_| frontier(&graph, &statistics));
    Answer {
        bound,
        statistics,
        from_slices: false,
        threads: threads + 1,
        open,
        terms,
        undecided,
        outcomes: outcome_list(&graph, &tables, outcomes),
        failures: failure_list(machine, &graph, failures),
        deadlocks: deadlocks
            .into_iter()
            .map(|(threads, node)| Deadlock { threads, schedule: graph.path_to(node) })
            .collect(),
        tables,
    }
}

/// Decides which of the pairs belong to executions that are not discarded, and makes the schedules.
fn terms(
    machine: &Machine,
    query: &Query,
    searched: &Searched,
    pairs: Pairs,
) -> (Vec<Term>, Vec<(ReadId, DefinitionId)>) {
    let graph = &searched.graph;
    let lasting = machine.may_discard().then(|| lasting_states(graph, false));
    let perhaps = (machine.may_discard() && searched.bound.is_some()).then(|| lasting_states(graph, true));
    let completion = query.whole_executions.then(|| Completion::new(machine, graph));
    let (mut terms, mut undecided, mut left) = (Vec::new(), Vec::new(), MAX_TERM_STEPS);
    for Pair { read, definition, witnesses } in pairs.list {
        let holds = |states: &fixedbitset::FixedBitSet, one: &Transition| states.contains(one.to as usize);
        let witness = match &lasting {
            None => witnesses.first(),
            Some(states) => witnesses.iter().find(|one| holds(states, one)),
        };
        if let Some(&Transition { from, choice, to }) = witness {
            if left == 0 {
                terms.push(Term { read, definition, schedule: None, step: 0 });
                continue;
            }
            let mut schedule = graph.path_to(from);
            let step = schedule.len();
            schedule.extend(choice);
            if let Some(completion) = &completion {
                completion.complete(&mut schedule, to);
            }
            let step = if choice.is_some() { step } else { schedule.len() };
            left = left.saturating_sub(schedule.len());
            terms.push(Term { read, definition, schedule: Some(schedule), step });
        } else if perhaps.as_ref().is_some_and(|states| witnesses.iter().any(|one| holds(states, one))) {
            undecided.push((read, definition));
        }
    }
    terms.sort_by_key(|term| (term.read, term.definition));
    undecided.sort_unstable();
    (terms, undecided)
}

type OutcomeKey = (Vec<(PathId, OutputId)>, OutcomeStatus);

fn outcome_list(graph: &Graph, tables: &Tables, found: FxHashMap<OutcomeKey, (u32, Option<Failure>)>) -> Vec<Outcome> {
    let mut found: Vec<(OutcomeKey, (u32, Option<Failure>))> = found.into_iter().collect();
    found.sort_by_key(|&(_, (node, _))| node);
    let mut outcomes: Vec<Outcome> = found
        .into_iter()
        .map(|((outputs, status), (node, failure))| Outcome { outputs, status, failure, schedule: graph.path_to(node) })
        .collect();
    sort_outcomes(tables, &mut outcomes);
    outcomes
}

/// Sorts outcomes by what is printed, and then by how they end.
pub(in crate::explore) fn sort_outcomes(tables: &Tables, outcomes: &mut [Outcome]) {
    let lines = |outcome: &Outcome| {
        let lines = outcome.outputs.iter().flat_map(|&(_, output)| tables.lines(output));
        lines.map(str::to_owned).collect::<Vec<String>>()
    };
    let names = |outcome: &Outcome| outcome.outputs.iter().map(|&(path, _)| path).collect::<Vec<PathId>>();
    outcomes.sort_by_cached_key(|outcome| (lines(outcome), outcome.status, names(outcome)));
}

type FailureKey = (FailureKind, Option<crate::ir::TextId>, CodeIndex);

fn failure_list(
    machine: &Machine,
    graph: &Graph,
    found: FxHashMap<FailureKey, (Failure, PathId, u32)>,
) -> Vec<FailureWitness> {
    let mut failures: Vec<FailureWitness> = found
        .into_values()
        .map(|(failure, path, node)| FailureWitness { failure, path, schedule: graph.path_to(node) })
        .collect();
    failures.sort_by_key(|witness| {
        let Failure { kind, at, message, .. } = witness.failure;
        (machine.span(at), kind, at, message)
    });
    failures
}

/// Notes pairs and ends.
#[derive(Default)]
struct Recorder {
    pairs: Pairs,
    outcomes: FxHashMap<OutcomeKey, (u32, Option<Failure>)>,
    failures: FxHashMap<FailureKey, (Failure, PathId, u32)>,
    deadlocks: Vec<(Vec<BlockedThread>, u32)>,
    known_deadlocks: FxHashSet<Vec<BlockedThread>>,
    /// The highest number of a thread.
    threads: usize,
}

impl Observer for Recorder {
    #[inline]
    fn event(&mut self, thread: ThreadIndex, at: CodeIndex, event: Event) {
        if let Event::Fork { child, .. } | Event::Spawn { child, .. } = event {
            self.threads = self.threads.max(child.index());
        }
        self.pairs.event(thread, at, event);
    }
}

impl Visitor<()> for Recorder {
    fn begin(&mut self) {
        self.pairs.begin();
    }

    fn transition(&mut self, transition: &Transition) {
        self.pairs.transition(transition);
    }

    fn terms(&self) -> usize {
        self.pairs.list.len()
    }

    fn end(&mut self, context: &EndContext<'_, ()>) -> ControlFlow<()> {
        let EndContext { machine, tables, state, node, end, .. } = *context;
        let (status, failure) = match end {
            End::Finished => (OutcomeStatus::Ok, None),
            End::Failed(failure) => (OutcomeStatus::Failed(failure.kind), Some(failure)),
            End::Deadlock => (OutcomeStatus::Deadlock, None),
        };
        self.outcomes.entry((machine.outputs(state, tables), status)).or_insert((node, failure));
        if let Some(failure) = failure {
            let key = (failure.kind, failure.message, failure.at);
            self.failures.entry(key).or_insert_with(|| (failure, state.path(failure.thread), node));
        }
        if end == End::Deadlock {
            let threads = blocked_threads(machine, tables, state);
            if self.known_deadlocks.insert(threads.clone()) {
                self.deadlocks.push((threads, node));
            }
        }
        ControlFlow::Continue(())
    }
}
