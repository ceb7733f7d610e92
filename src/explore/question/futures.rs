//! Finds the possible behaviours: terms, outcomes, failures, deadlocks.
//!
//! **Input**: a machine and a budget. **Output**: an [`Answer`].
//!
//! **Algorithm**: one of the strategies of the [portfolio](crate::portfolio). With states:
//! 1. Search all states. Each step shows which definition a read has seen; each end shows an outcome.
//! 2. If executions may be discarded, keep only findings on executions that are not ([`assumption`](crate::states::assumption)).
//! 3. Build a schedule for each term from the path to its step, and complete it to an end.
//!
//! **Soundness and limits**: every finding is real. A behaviour that was not seen cannot happen, provided that no bound was hit.

use crate::answer::{Answer, Ends, MAX_TERM_STEPS, Query, Term, TermSchedules};
use crate::portfolio::{PartialAnswer, Portfolio, Retry, Searches, Symmetry};
use crate::question::bad_ends::BadEnds;
use crate::question::by_executions::by_executions;
use crate::question::outcomes::{self, OutcomeKey, Outcomes, Room};
use crate::question::samples::Samples;
use crate::reduction::{Commuting, Reduction};
use crate::states::assumption::{Unexpanded, lasting_states};
use crate::states::completion::Completion;
use crate::states::open::open_executions;
use crate::states::terms::{SeenTerm, SeenTerms};
use crate::states::{self, EndContext, Searched, Transition, Visitor};
use cssame_budget::{Bound, Budget, Statistics};
use cssame_ir::{DefinitionId, ReadId};
use cssame_vm::{CodeIndex, Event, Machine, Observer, Tables, ThreadName};
use rustc_hash::FxHashSet;
use std::borrow::Cow;
use std::ops::ControlFlow;

/// Finds out what can happen, by the [portfolio](crate::portfolio) of exact strategies, without slices.
pub fn futures(machine: &Machine, query: &Query<'_>, budget: &Budget<'_>) -> Answer {
    let known = Known { commuting: &|| None, looks: &|| Cow::Borrowed(machine) };
    futures_with(machine, query, &known, budget, &mut |_| Err(Retry::Never))
}

/// What is known of a program, found out where it is needed.
pub(crate) struct Known<'k> {
    /// The steps by which states are reduced.
    pub commuting: &'k dyn Fn() -> Option<Commuting>,
    /// The machine that [knows](Machine::knowing_looks) which bodies of locks may only look.
    pub looks: &'k dyn Fn() -> Cow<'k, Machine>,
}

/// The same with slices, as a function of their budget, and with what is known of the program.
pub(crate) fn futures_with<'k>(
    machine: &Machine,
    query: &Query<'_>,
    &Known { commuting, looks }: &Known<'k>,
    budget: &Budget<'_>,
    by_slices: &mut dyn FnMut(&Budget<'_>) -> Result<Answer, Retry>,
) -> Answer {
    let symmetric = machine.up_to_symmetry();
    let mut samples = Samples::new(machine, query);
    let (mut known, mut looking, mut bad_ends) = (None, None, Vec::new());
    let portfolio = Portfolio::new(machine, budget, Symmetry::of(symmetric.as_ref()));
    let mut answer = portfolio.counting(query.counts).run(Searches {
        by_states: &mut |budget| {
            let is_large = budget.limits().max_states.is_none_or(|states| states > FEW_STATES);
            let commuting = if is_large { known.get_or_insert_with(commuting).as_ref() } else { None };
            let from = |commuting: &Commuting| if commuting.locks.is_empty() { FEW_STATES } else { 0 };
            let reduction = commuting.map(|commuting| Reduction { commuting, from: from(commuting) });
            let query = &Query { reduction: query.reduction.or(reduction), ..*query };
            let Some(symmetric) = &symmetric else { return by_states(machine, query, budget) };
            let answer = by_states(symmetric, query, budget);
            // Deadlocks are told apart by who is in them. Where the time is up, those that were found will do.
            let again = !answer.deadlocks.is_empty() && matches!(answer.bound, None | Some(Bound::States));
            if again { by_states(machine, query, budget) } else { answer }
        },
        by_executions: &mut |budget| {
            let answer = by_executions(looking.get_or_insert_with(looks), query, budget)?;
            let failures = answer.failures.iter().map(|failure| &failure.schedule);
            bad_ends = failures.chain(answer.deadlocks.iter().map(|deadlock| &deadlock.schedule)).cloned().collect();
            Ok(answer)
        },
        by_slices,
        samples: &mut |budget| samples.run(budget),
    });
    if !answer.is_complete() {
        samples.add_to(query, &bad_ends, &mut answer);
    }
    answer
}

/// States that are expanded whole before any is reduced, so that schedules of small programs are shortest. Where orders of locks do
/// not matter, few states may be left of very many: only searches that are allowed more than that are reduced there, from the first
/// state on.
const FEW_STATES: u64 = 20_000;

/// Outcomes of executions that are shown where there may be many more than that.
const MORE_OUTCOMES: usize = 1_000;

impl PartialAnswer for Answer {
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
        outcomes::sort(&self.tables, &mut self.outcomes);
        self.statistics.executions = self.statistics.executions.max(executions.statistics.executions);
        self
    }
}

/// Finds out what can happen by a search through all states.
pub fn by_states(machine: &Machine, query: &Query<'_>, budget: &Budget<'_>) -> Answer {
    let follows = query.schedules == TermSchedules::WholeExecutions || machine.may_discard();
    let mut recorder = Recorder {
        pairs: SeenTerms::new(machine),
        ends: query.ends,
        asks_for_edges: follows || query.ends != Ends::Nothing,
        ..Recorder::default()
    };
    let searched = states::search_by(machine, Tables::new(), budget, (), &mut recorder, query.reduction);
    let Recorder { pairs, outcomes, bad, threads, .. } = recorder;
    let (terms, undecided) = terms(machine, query, &searched, pairs);
    let Searched { graph, tables, statistics, bound, stopped } = searched;
    let all_end = query.ends != Ends::Nothing && bound.is_none() && !stopped && graph.is_acyclic();
    let open = bound.map_or_else(Vec::new, |_| open_executions(&graph, &statistics));
    let (outcomes, is_cut) = outcomes.list(&tables, Room::behind(bound, budget), |node| graph.path_to(node));
    let (failures, deadlocks) = bad.lists(machine, |node| graph.path_to(node));
    Answer {
        bound: bound.or(is_cut.then_some(Bound::Memory)),
        all_end,
        statistics,
        futures: None,
        finished: None,
        from_slices: false,
        threads: threads + 1,
        open,
        terms,
        undecided,
        outcomes,
        failures,
        deadlocks,
        tables,
    }
}

/// Decides which of the pairs belong to executions that are not discarded, and makes the schedules.
fn terms(
    machine: &Machine,
    query: &Query<'_>,
    searched: &Searched,
    pairs: SeenTerms,
) -> (Vec<Term>, Vec<(ReadId, DefinitionId)>) {
    let graph = &searched.graph;
    let lasting = machine.may_discard().then(|| lasting_states(graph, Unexpanded::Lost));
    let perhaps =
        (machine.may_discard() && searched.bound.is_some()).then(|| lasting_states(graph, Unexpanded::Lasting));
    let completion = (query.schedules == TermSchedules::WholeExecutions).then(|| Completion::new(machine, graph));
    let (mut terms, mut undecided, mut left) = (Vec::new(), Vec::new(), MAX_TERM_STEPS);
    for SeenTerm { read, definition, witnesses } in pairs.list {
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

/// Notes pairs and ends.
#[derive(Default)]
struct Recorder {
    pairs: SeenTerms,
    outcomes: Outcomes<u32>,
    ends: Ends,
    asks_for_edges: bool,
    bad: BadEnds<u32>,
    /// The highest number of a thread.
    threads: usize,
}

impl Visitor<()> for Recorder {
    const ACTIVE: bool = true;

    fn asks_for_edges(&self) -> bool {
        self.asks_for_edges
    }

    fn begin(&mut self) {
        self.pairs.begin();
    }

    #[inline]
    fn event(&mut self, thread: ThreadName, at: CodeIndex, event: Event) {
        if let Event::Fork { child: ThreadName { slot: child, .. } }
        | Event::Spawn { child: ThreadName { slot: child, .. } } = event
        {
            self.threads = self.threads.max(child.index());
        }
        self.pairs.event(thread, at, event);
    }

    fn transition(&mut self, transition: &Transition, _: &[()]) {
        self.pairs.transition(transition);
    }

    fn terms(&self) -> usize {
        self.pairs.list.len()
    }

    fn bytes(&self) -> u64 {
        self.pairs.bytes() + self.outcomes.bytes()
    }

    fn end(&mut self, context: &EndContext<'_, ()>) -> ControlFlow<()> {
        let EndContext { machine, tables, state, node, end, .. } = *context;
        if self.ends == Ends::Outcomes {
            self.outcomes.note((machine.outputs(state, tables), end.into()), end.failure(), node);
        }
        self.bad.note((machine, tables, state), end, || node);
        ControlFlow::Continue(())
    }
}
