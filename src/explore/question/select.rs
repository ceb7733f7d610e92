//! Decides whether some execution has a given selection of pi terms.
//!
//! **Input**: selections: a read, every evaluation of which (or the K-th one of each thread) must read from a definition; or a
//! definition that must happen (K times in one thread). **Output**: an execution that satisfies them, or a smallest set of
//! contradictory selections.
//!
//! **Algorithm**:
//! 1. For each selection, a monitor remembers whether it was evaluated, and whether one of its evaluations has read from
//!    something else. Until a selected definition has happened, it counts as a read that has read from something else.
//! 2. A complete execution agrees if no evaluation of a selected read has read from something else, and at least one was
//!    evaluated. One that evaluates all is preferred, and ends the search.
//! 3. If none agrees, remove one selection after the other as long as the rest still contradict each other.
//!
//! **Soundness and limits**: exact, provided that no bound was hit. The set of step 3 is minimal: no member can be removed.

use crate::portfolio::{PartialAnswer, Portfolio, Retry, Searches, Symmetry};
use crate::reads_from::{self, Refusal};
use crate::states::open::open_executions;
use crate::states::{self, AtEnds, End, EndContext, Monitor};
use cssame_budget::{Bound, Budget, Statistics};
use cssame_form::Selection;
use cssame_schedule::walk;
use cssame_vm::{Choice, CodeIndex, Event, Machine, Observer, Tables, ThreadIndex, ThreadName};
use rustc_hash::FxHashSet;
use std::borrow::Cow;
use std::ops::ControlFlow;
use std::rc::Rc;

/// Whether a selection is consistent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Some execution has it.
    Consistent {
        /// One that has as many as may be.
        schedule: Vec<Choice>,
        /// By selection: whether it is satisfied; the others are not evaluated.
        satisfied: Vec<bool>,
    },
    /// No execution has it.
    Inconsistent {
        /// Places of selections that no execution has together, none of which can be left out.
        core: Vec<usize>,
    },
    /// A bound was hit before it was decided.
    Undecided,
}

/// The answer to a selection.
#[derive(Clone, Debug)]
pub struct SelectAnswer {
    /// The verdict.
    pub verdict: Verdict,
    /// The bound that was hit.
    pub bound: Option<Bound>,
    /// How much was visited.
    pub statistics: Statistics,
    /// Some of the executions that were not followed to their end, where a bound was hit.
    pub open: Vec<Vec<Choice>>,
    /// Whether some thread did local work without end.
    pub diverged: bool,
}

/// Decides whether some execution has the selections, by the [portfolio](crate::portfolio) of exact strategies.
pub fn select(machine: &Machine, selections: &[Selection], budget: &Budget<'_>) -> SelectAnswer {
    select_with(machine, &|| Cow::Borrowed(machine), selections, budget)
}

/// The same, where executions are followed with a machine that may [know](Machine::knowing_looks) more.
pub(crate) fn select_with<'k>(
    machine: &Machine,
    looks: &dyn Fn() -> Cow<'k, Machine>,
    selections: &[Selection],
    budget: &Budget<'_>,
) -> SelectAnswer {
    let mut looking = None;
    // An instance is counted by thread.
    let symmetric = selections.iter().all(|one| one.instance.is_none()).then(|| machine.up_to_symmetry()).flatten();
    let machine_of_states = symmetric.as_ref().unwrap_or(machine);
    Portfolio::new(machine, budget, Symmetry::of(symmetric.as_ref())).run(Searches {
        by_states: &mut |budget| select_by_states(machine_of_states, selections, budget),
        by_executions: &mut |budget| select_by_executions(looking.get_or_insert_with(looks), selections, budget),
        by_slices: &mut |_| Err(Retry::Never),
        samples: &mut |_| {},
    })
}

impl PartialAnswer for SelectAnswer {
    fn bound(&mut self) -> &mut Option<Bound> {
        &mut self.bound
    }

    fn visited(&self) -> &Statistics {
        &self.statistics
    }

    fn merge(self, executions: SelectAnswer) -> SelectAnswer {
        if self.verdict == Verdict::Undecided { executions } else { self }
    }
}

/// Decides whether some execution has the selections, by a search through all states.
pub fn select_by_states(machine: &Machine, selections: &[Selection], budget: &Budget<'_>) -> SelectAnswer {
    let mut ends = Ends::default();
    let mut at_ends = AtEnds::new(|context: &EndContext<'_, Evaluation>, _| {
        ends.diverged |= matches!(context.end, End::Failed(failure) if failure.kind.is_limit());
        // The first execution that satisfies all is the shortest one.
        ends.add(&context.monitor.states, || context.node)
    });
    let searched = states::search(machine, budget, Evaluation::new(selections), &mut at_ends);
    let verdict = ends.verdict(selections.len(), searched.bound, |&node| searched.graph.path_to(node));
    let open = searched.bound.map_or_else(Vec::new, |_| open_executions(&searched.graph, &searched.statistics));
    SelectAnswer { verdict, bound: searched.bound, statistics: searched.statistics, open, diverged: ends.diverged }
}

/// Decides whether some execution has the selections, by one execution of each future: what reads see is the same in all of
/// its executions.
///
/// # Errors
///
/// A program that cannot be explored in this way.
pub fn select_by_executions(
    machine: &Machine,
    selections: &[Selection],
    budget: &Budget<'_>,
) -> Result<SelectAnswer, Refusal> {
    let mut ends = Ends::default();
    let found = reads_from::enumerate(machine, budget, &mut |execution| {
        if !execution.is_new {
            return ControlFlow::Continue(());
        }
        let (mut tables, mut evaluation) = (Tables::new(), Evaluation::new(selections));
        let choices = execution.choices();
        let done = walk(machine, &mut tables, &choices, &mut evaluation);
        debug_assert!(done.is_ok(), "an execution that was found can be done again");
        ends.add(&evaluation.states, || choices)
    })?;
    let verdict = ends.verdict(selections.len(), found.bound, Vec::clone);
    let (bound, statistics) = (found.bound, found.statistics);
    Ok(SelectAnswer { verdict, bound, statistics, open: Vec::new(), diverged: false })
}

/// The selection was not evaluated.
const NEVER: u8 = 0;
/// It was evaluated, and read from its definition each time.
const SATISFIED: u8 = 1;
/// Some evaluation has read from something else, or the definition has not happened.
const MISSED: u8 = 2;

/// Whether an execution that ends so agrees with a part of the selections.
fn accepts(states: &[u8], part: impl Fn(usize) -> bool) -> bool {
    let mut any = false;
    for (_, &state) in states.iter().enumerate().filter(|(place, _)| part(*place)) {
        match state {
            MISSED => return false,
            SATISFIED => any = true,
            _ => {}
        }
    }
    any
}

/// The states of the selections in one execution.
#[derive(Debug)]
struct Evaluation {
    selections: Rc<[Selection]>,
    states: Vec<u8>,
    /// By thread and selection: how often the thread has evaluated it, for those that ask for an instance.
    counts: Vec<u32>,
}

impl Clone for Evaluation {
    fn clone(&self) -> Self {
        let selections = Rc::clone(&self.selections);
        Evaluation { selections, states: self.states.clone(), counts: self.counts.clone() }
    }

    fn clone_from(&mut self, source: &Self) {
        // All of one search have the same selections.
        self.states.clone_from(&source.states);
        self.counts.clone_from(&source.counts);
    }
}

impl Evaluation {
    fn new(selections: &[Selection]) -> Evaluation {
        let states = selections.iter().map(|one| if one.is_write() { MISSED } else { NEVER }).collect();
        Evaluation { selections: selections.into(), states, counts: Vec::new() }
    }

    /// Counts an evaluation by a thread, up to one more than is asked for, so that loops have finitely many states.
    fn count(&mut self, thread: ThreadIndex, place: usize, wanted: u32) -> u32 {
        let width = self.selections.len();
        if self.counts.len() < (thread.index() + 1) * width {
            self.counts.resize((thread.index() + 1) * width, 0);
        }
        let count = &mut self.counts[thread.index() * width + place];
        *count = (*count + 1).min(wanted.saturating_add(1));
        *count
    }

    fn forget(&mut self, thread: ThreadIndex) {
        let width = self.selections.len();
        // Counts that are zero may be missing at the end.
        let end = self.counts.len().min((thread.index() + 1) * width);
        if let Some(counts) = self.counts.get_mut(thread.index() * width..end) {
            counts.fill(0);
        }
    }
}

impl Observer for Evaluation {
    const DETAILS: bool = false;

    fn event(&mut self, thread: ThreadName, _: CodeIndex, event: Event) {
        let thread = thread.slot;
        match event {
            Event::Read { read, writer, .. } => {
                for place in 0..self.selections.len() {
                    if !self.selections[place].selects(read) {
                        continue;
                    }
                    if let Some(wanted) = self.selections[place].instance
                        && self.count(thread, place, wanted) != wanted
                    {
                        continue;
                    }
                    let state = if self.selections[place].accepts(writer) { SATISFIED } else { MISSED };
                    self.states[place] = self.states[place].max(state);
                }
            }
            Event::Write { definition, .. } => {
                for place in 0..self.selections.len() {
                    let selection = &self.selections[place];
                    if !selection.is_write() || !selection.accepts(Some(definition)) {
                        continue;
                    }
                    if let Some(wanted) = selection.instance
                        && self.count(thread, place, wanted) < wanted
                    {
                        continue;
                    }
                    self.states[place] = SATISFIED;
                }
            }
            Event::End { .. } => self.forget(thread),
            _ => {}
        }
    }
}

impl Monitor for Evaluation {
    type Note = ();

    fn encode(&self, words: &mut Vec<u64>) {
        words.extend(self.states.iter().map(|&state| u64::from(state)));
        // Threads that have counted nothing must not be told from threads that are not there.
        let used = self.counts.iter().rposition(|&count| count > 0).map_or(0, |last| last + 1);
        words.extend(self.counts[..used].iter().map(|&count| u64::from(count)));
    }

    fn decode(&mut self, words: &[u64]) {
        let (states, counts) = words.split_at(self.selections.len());
        self.states.clear();
        self.states.extend(states.iter().map(|&state| state as u8));
        self.counts.clear();
        self.counts.extend(counts.iter().map(|&count| count as u32));
    }
}

/// The ends of executions: how the selections stood, and how the first execution with that has come there.
struct Ends<W> {
    list: Vec<(Vec<u8>, W)>,
    known: FxHashSet<Vec<u8>>,
    diverged: bool,
}

impl<W> Default for Ends<W> {
    fn default() -> Self {
        Ends { list: Vec::new(), known: FxHashSet::default(), diverged: false }
    }
}

impl<W> Ends<W> {
    /// Adds an end; `Break` where all selections are satisfied.
    fn add(&mut self, states: &[u8], way: impl FnOnce() -> W) -> ControlFlow<()> {
        if self.known.insert(states.to_vec()) {
            self.list.push((states.to_vec(), way()));
        }
        if states.iter().all(|&state| state == SATISFIED) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn verdict(&self, count: usize, bound: Option<Bound>, schedule: impl Fn(&W) -> Vec<Choice>) -> Verdict {
        let satisfied = |states: &[u8]| states.iter().filter(|&&state| state == SATISFIED).count();
        let accepted = self.list.iter().filter(|(states, _)| accepts(states, |_| true));
        // Of equally good ones the first.
        match accepted.min_by_key(|(states, _)| usize::MAX - satisfied(states)) {
            Some((states, way)) => Verdict::Consistent {
                schedule: schedule(way),
                satisfied: states.iter().map(|&state| state == SATISFIED).collect(),
            },
            None if bound.is_some() => Verdict::Undecided,
            None => Verdict::Inconsistent { core: self.core(count) },
        }
    }

    /// Selections that contradict each other, none of which can be left out: one is left out after the other, as long
    /// as the rest still contradict each other.
    fn core(&self, count: usize) -> Vec<usize> {
        let mut core: Vec<usize> = (0..count).collect();
        let consistent =
            |part: &[usize]| self.list.iter().any(|(states, _)| accepts(states, |one| part.contains(&one)));
        for place in 0..count {
            let rest: Vec<usize> = core.iter().copied().filter(|&one| one != place).collect();
            if !rest.is_empty() && !consistent(&rest) {
                core = rest;
            }
        }
        core
    }
}
