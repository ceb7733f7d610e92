//! Counts classes without running an execution of each.
//!
//! **Input**: a machine, and the threads that may move. **Output**: the number of executions up to the order of independent steps
//! (Mazurkiewicz traces), and whether this is the number of classes.
//!
//! **Algorithm**: depth-first search with sleep sets (Godefroid 1996). A node is a state and a set of steps that are asleep
//! there.
//! 1. In a node, the steps that are possible and not asleep are executed one after the other. After a step, a step is asleep if
//!    it was asleep before or was executed earlier in this node, and does not depend on the executed step.
//! 2. The number of a node is the sum over its steps. A step that ends the execution counts 1; a step whose execution is
//!    discarded counts 0. A node without any possible step is an end itself. A node in which all steps are asleep counts 0.
//! 3. The numbers of completed nodes are kept, by fingerprint. If an execution of each class is requested ([`run_orders`]), they
//!    are not kept: the search runs exactly one execution of each trace.
//!
//! Each trace counts once for this reason. Let u be the steps that led to a node. By induction, a step z is asleep there if and
//! only if each completion that has z before all steps which depend on it is equivalent to an execution that begins with an
//! earlier choice on the path: z was executed at an earlier node, and all steps since then could have been executed after z. So
//! among all executions of one trace, the search follows only the first one in the order of choices: no earlier choice is
//! possible in an equivalent execution at any of its nodes. It never omits that execution, since a step falls asleep only if an
//! earlier, equivalent execution was followed.
//!
//! The numbers may be kept because the state of a node and its sleeping steps determine the subtree below it. These steps have
//! the same footprints on every path to the node, because they are the next steps of threads in this state.
//!
//! A step that fails depends on all others because it ends the execution, and the class is that of the steps before.
//!
//! **Soundness and limits**: each class has a trace, since executions of one trace have the same operations and ends, so the
//! number is never too small. Two traces can be one class only if somewhere two possible steps of different threads depend on
//! each other in a way that no version shows ([`Dependence::Hidden`]), such as taking one lock. Take two executions of one class,
//! rearranged within their traces so that their common beginning is longest. The next step a of the first execution is possible
//! there. In the second execution it comes later, after a step c that depends on it (or the second execution fails first). Both a
//! and c are possible at the same time. If the reason is an operation on a common cell, a performs it on different versions in
//! the two executions, and the classes differ. So if no such pair occurred, the number is exact. A cycle of nodes has no number,
//! and the count is abandoned.

use super::course::{Course, History};
use super::footprint::{Dependence, Footprint, Recorder};
use super::found::{Found, class_of};
use super::operations::Operations;
use super::scope::Scope;
use cssame_budget::{Bound, Budget, Statistics};
use cssame_explore::frame::{End, Monitor};
use cssame_vm as vm;
use cssame_vm::{Choice, Hashes, Machine, Move, Progress, State, Tables};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The orders of dependent steps.
pub(super) struct Orders {
    pub(super) count: u128,
    /// Whether each of them is a class of its own.
    pub(super) is_exact: bool,
    pub(super) statistics: Statistics,
}

/// Why there is no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoNumber {
    /// A bound was hit.
    Bound(Bound),
    /// Executions have no end.
    Cycle,
}

/// Counts the orders of dependent steps, with at most so many nodes.
pub(super) fn count_orders(
    machine: &Machine,
    tables: &Tables,
    (operations, scope): (&Operations, &Scope),
    budget: &Budget<'_>,
    max_nodes: u64,
) -> Result<Orders, NoNumber> {
    let course = Course::new(operations, scope, None);
    let mut counter = Counter::new(machine, tables, budget, max_nodes);
    let count = counter.begin(course)?;
    counter.statistics.states = counter.numbers.len() as u64;
    Ok(Orders { count, is_exact: counter.is_exact, statistics: counter.statistics })
}

/// Runs one execution of each order of dependent steps, where these have a number, and enters it.
pub(super) fn run_orders(
    machine: &Machine,
    tables: &Tables,
    (operations, scope): (&Operations, &Scope),
    budget: &Budget<'_>,
    found: &mut Found,
) -> Result<Statistics, NoNumber> {
    let course = Course::new(operations, scope, Some(History::default()));
    let mut counter = Counter { found: Some(found), ..Counter::new(machine, tables, budget, u64::MAX) };
    counter.begin(course)?;
    Ok(counter.statistics)
}

/// A step that was done, or that is asleep.
#[derive(Clone)]
struct Known {
    choice: Choice,
    footprint: Rc<Footprint>,
}

/// A node whose steps are being done.
struct Node<'a> {
    key: u128,
    state: State,
    course: Course<'a>,
    moves: Vec<Move>,
    /// The next step: the place of its thread in `moves`, and the alternative.
    next: (usize, u32),
    /// Steps that were asleep at first, and those that were done since then.
    known: Vec<Known>,
    asleep: usize,
    count: u128,
}

impl Node<'_> {
    /// The next step that is not asleep.
    fn next(&mut self) -> Option<(Choice, u32)> {
        loop {
            let &Move { thread, alternatives } = self.moves.get(self.next.0)?;
            if self.next.1 >= alternatives {
                self.next = (self.next.0 + 1, 0);
                continue;
            }
            let choice = Choice { thread, alternative: self.next.1 };
            self.next.1 += 1;
            if !self.known[..self.asleep].iter().any(|known| known.choice == choice) {
                return Some((choice, alternatives));
            }
        }
    }
}

struct Counter<'a> {
    machine: &'a Machine,
    tables: Tables,
    budget: &'a Budget<'a>,
    max_nodes: u64,
    /// By node: its number; none while it is on the path.
    numbers: FxHashMap<u128, Option<u128>>,
    path: Vec<Node<'a>>,
    is_exact: bool,
    /// Where each execution is to be run: what was found. Then no numbers are kept.
    found: Option<&'a mut Found>,
    statistics: Statistics,
    hashes: Hashes,
    /// Memory of the state that was looked at last.
    state_bytes: usize,
    words: Vec<u64>,
}

impl<'a> Counter<'a> {
    fn new(machine: &'a Machine, tables: &Tables, budget: &'a Budget<'a>, max_nodes: u64) -> Counter<'a> {
        Counter {
            machine,
            tables: tables.clone(),
            budget,
            max_nodes,
            numbers: FxHashMap::default(),
            path: Vec::new(),
            is_exact: true,
            found: None,
            statistics: Statistics::default(),
            hashes: Hashes::default(),
            state_bytes: 0,
            words: Vec::new(),
        }
    }

    fn begin(&mut self, mut course: Course<'a>) -> Result<u128, NoNumber> {
        let state = self.machine.start(&mut self.tables, &mut course);
        if self.machine.is_finished(&state) {
            return Ok(self.ended(&course, End::Finished, &state));
        }
        self.run(state, course)
    }

    fn run(&mut self, state: State, course: Course<'a>) -> Result<u128, NoNumber> {
        let mut number = self.enter(state, course, Vec::new())?;
        loop {
            let Some(node) = self.path.last_mut() else { return Ok(number.unwrap_or(0)) };
            if let Some(number) = number.take() {
                node.count = node.count.saturating_add(number);
            }
            match node.next() {
                Some((choice, alternatives)) => number = self.step(choice, alternatives)?,
                None => {
                    number = Some(node.count);
                    if self.found.is_none() {
                        self.numbers.insert(node.key, number);
                    }
                    self.path.pop();
                }
            }
        }
    }

    /// Does a step of the last node; gives its number, unless it is a new node at the end of the path.
    fn step(&mut self, choice: Choice, alternatives: u32) -> Result<Option<u128>, NoNumber> {
        self.look()?;
        let Some(node) = self.path.last_mut() else { return Ok(Some(0)) };
        let (mut state, mut course) = (node.state.clone(), node.course.clone());
        let mut recorder = Recorder::new(course.operations, choice.thread);
        let progress = self.machine.step(&mut state, &mut self.tables, choice, &mut (&mut recorder, &mut course));
        self.statistics.steps += 1;
        let mut footprint = recorder.footprint;
        footprint.is_exclusive = state.is_in_atomic_block(choice.thread);
        let mut asleep = Vec::new();
        // Which thread a notification wakes is not seen.
        let mut is_exact = alternatives == 1 || footprint.is_choice();
        for known in &node.known {
            match footprint.dependence(&known.footprint) {
                Dependence::None => asleep.push(known.clone()),
                Dependence::Visible => {}
                Dependence::Hidden => is_exact = false,
            }
        }
        // One that fails depends on all steps, so it is never asleep; but the others must be held against it.
        node.known.push(Known { choice, footprint: Rc::new(footprint) });
        self.is_exact &= is_exact;
        match progress {
            Progress::Discarded => Ok(Some(0)),
            Progress::Finished => Ok(Some(self.ended(&course, End::Finished, &state))),
            Progress::Failed(failure) => Ok(Some(self.ended(&course, End::Failed(failure), &state))),
            Progress::Running => self.enter(state, course, asleep),
        }
    }

    /// The number of an execution that has ended.
    fn ended(&mut self, course: &Course<'_>, end: End, state: &State) -> u128 {
        self.statistics.executions += 1;
        let path = &self.path;
        if let Some(found) = &mut self.found {
            // The step that each node has done last.
            let schedule = || path.iter().filter_map(|node| node.known.last()).map(|known| known.choice).collect();
            found.enter(class_of(self.machine, course, end, state), schedule);
        }
        u128::from(course.scope.is_complete(course.progress))
    }

    /// The fingerprint of a node.
    fn key(&mut self, state: &State, course: &Course<'_>, asleep: &[Known]) -> u128 {
        self.state_bytes = state.bytes();
        let fingerprint = self.machine.begin_hashes(state, &mut self.hashes);
        self.words.clear();
        // The words of a course without a history are as many in each node.
        course.encode(&mut self.words);
        let choices = asleep.iter().map(|known| known.choice);
        self.words.extend(choices.map(|choice| u64::from(choice.thread.0) << 32 | u64::from(choice.alternative)));
        vm::with_more(fingerprint, &self.words)
    }

    /// The number of a node, or none where it is a new one: it is on the path then.
    fn enter(&mut self, state: State, course: Course<'a>, mut asleep: Vec<Known>) -> Result<Option<u128>, NoNumber> {
        asleep.sort_unstable_by_key(|known| known.choice);
        let key = if self.found.is_none() { self.key(&state, &course, &asleep) } else { 0 };
        match self.numbers.get(&key) {
            Some(Some(number)) => return Ok(Some(*number)),
            Some(None) => return Err(NoNumber::Cycle),
            None => {}
        }
        let mut moves = Vec::new();
        self.machine.moves(&state, &mut moves);
        course.restrict(&state, &mut moves);
        if moves.is_empty() {
            return Ok(Some(self.ended(&course, End::Deadlock, &state)));
        }
        if self.budget.limits().max_steps.is_some_and(|limit| self.path.len() as u64 >= u64::from(limit)) {
            return Err(NoNumber::Bound(Bound::Steps));
        }
        if self.found.is_none() {
            self.numbers.insert(key, None);
        }
        let node = Node { key, state, course, moves, next: (0, 0), asleep: asleep.len(), known: asleep, count: 0 };
        self.path.push(node);
        Ok(None)
    }

    /// Looks at the bounds.
    fn look(&mut self) -> Result<(), NoNumber> {
        if self.numbers.len() as u64 > self.max_nodes {
            return Err(NoNumber::Bound(Bound::States));
        }
        let max_executions = self.budget.limits().max_executions.filter(|_| self.found.is_some());
        if max_executions.is_some_and(|limit| self.statistics.executions >= limit) {
            return Err(NoNumber::Bound(Bound::Executions));
        }
        if !self.statistics.steps.is_multiple_of(1024) {
            return Ok(());
        }
        self.statistics.states = self.numbers.len() as u64;
        self.statistics.depth = self.path.len() as u32;
        self.budget.report(&self.statistics).map_err(NoNumber::Bound)?;
        let of_path = self.path.len() * self.state_bytes;
        let bytes = self.numbers.capacity() * size_of::<(u128, Option<u128>)>() + of_path;
        if self.budget.exceeds_memory(bytes as u64) { Err(NoNumber::Bound(Bound::Memory)) } else { Ok(()) }
    }
}
