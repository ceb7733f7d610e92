//! The search of the oracle of `paths`: all executions up to what their histories tell.
//!
//! Two prefixes of executions are one if they lead to the same state and every thread has the same history
//! ([`super::trace`]): all that can follow is the same, and so is all that is asked of it.

use super::code::Code;
use super::control::controllers;
use super::graph::key;
use super::local::Machine;
use super::state::{Condition, State};
use super::step::{Move, Progress};
use super::trace::{Selected, Tables, Tracer};
use super::value::Status;
use rustc_hash::FxHashSet;
use std::cell::RefCell;
use std::rc::Rc;

/// How an execution ends.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EndKind {
    Ok,
    /// What fails, and where.
    Failed(&'static str, u32),
    /// The threads that have not ended, and where they are.
    Stuck(Vec<(u32, u32)>),
}

/// An execution, as far as histories tell it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct End {
    pub kind: EndKind,
    /// Path and history of each thread.
    pub threads: Vec<(u32, u32)>,
    /// The order of the selected operations.
    pub order: u32,
}

/// The executions of a program.
#[derive(Debug)]
pub struct Histories {
    pub complete: bool,
    /// Prefixes of executions that were looked at.
    pub nodes: usize,
    pub ends: Vec<End>,
    pub tables: Tables,
}

/// What to search for.
#[derive(Debug, Default)]
pub struct Wanted {
    pub max_nodes: usize,
    /// The paths of two threads that are alone.
    pub alone: Option<[u32; 2]>,
    /// The accesses that are operations, and whether they write; all, if none are given.
    pub operations: Option<FxHashSet<(u32, bool)>>,
    /// Only the order of these is asked for.
    pub selected: Option<Selected>,
}

type Node = (State, Box<Tracer>);

struct Searcher<'m, 'c> {
    machine: &'m mut Machine<'c>,
    alone: Option<[u32; 2]>,
    open: Vec<Node>,
    known: FxHashSet<(Box<[u64]>, Vec<u32>)>,
    ended: FxHashSet<End>,
    ends: Vec<End>,
    complete: bool,
}

/// Searches; stops early where a variable turns out to be shared, as [`super::search::search`] does.
pub fn histories(machine: &mut Machine<'_>, code: &Code, wanted: Wanted) -> Histories {
    let tables = Rc::new(RefCell::new(Tables::new(controllers(code), wanted.operations, wanted.selected)));
    let main = machine.paths.intern("main");
    let mut state = State::initial(code, main);
    machine.tracer = Some(Box::new(Tracer::new(&state, Rc::clone(&tables))));
    machine.advance(&mut state, 0);
    let mut searcher = Searcher {
        machine,
        alone: wanted.alone,
        open: Vec::new(),
        known: FxHashSet::default(),
        ended: FxHashSet::default(),
        ends: Vec::new(),
        complete: true,
    };
    searcher.found(state);
    while let Some(node) = searcher.open.pop() {
        if searcher.machine.newly_shared.is_some() {
            break;
        }
        if searcher.known.len() > wanted.max_nodes {
            searcher.complete = false;
            break;
        }
        searcher.visit(&node);
    }
    let Searcher { open, known, ends, complete, .. } = searcher;
    drop(open);
    let tables = Rc::try_unwrap(tables).map(RefCell::into_inner).unwrap_or_default();
    Histories { complete, nodes: known.len(), ends, tables }
}

impl Searcher<'_, '_> {
    /// A state was reached with the tracer of the machine.
    fn found(&mut self, mut state: State) {
        self.machine.trail.clear();
        state.steps = 0;
        let Some(tracer) = self.machine.tracer.take() else { return };
        if self.known.insert((key(&state), tracer.key())) {
            self.open.push((state, tracer));
        }
    }

    fn visit(&mut self, node: &Node) {
        let (state, tracer) = node;
        let mut moves = Vec::new();
        self.machine.moves(state, &mut moves);
        let stuck = moves.is_empty();
        self.restrict(state, &mut moves);
        if moves.is_empty() {
            return self.stuck(state, tracer, stuck);
        }
        for next in moves {
            let mut after = state.clone();
            self.machine.tracer = Some(tracer.clone());
            match self.machine.step(&mut after, next) {
                Progress::Going => self.found(after),
                Progress::Ended(status) => self.failed(&after, state, next.thread, status),
                Progress::Discarded => self.machine.tracer = None,
            }
        }
    }

    fn stuck(&mut self, state: &State, tracer: &Tracer, everybody: bool) {
        if self.are_missing(state) {
            return;
        }
        let mut tracer = tracer.clone();
        // In a deadlock every thread has come as far as it could.
        (0..state.threads.len()).filter(|_| everybody).for_each(|t| tracer.begin_step(t));
        let blocked = self.blocked(state);
        let kind = if blocked.is_empty() { EndKind::Ok } else { EndKind::Stuck(blocked) };
        self.end(kind, &tracer);
    }

    fn failed(&mut self, after: &State, before: &State, thread: usize, status: Status) {
        let Some(mut tracer) = self.machine.tracer.take() else { return };
        self.complete &= status != Status::StepLimit;
        if self.are_missing(before) {
            return;
        }
        let mut moves = Vec::new();
        self.machine.moves(before, &mut moves);
        for other in 0..before.threads.len() {
            // A step that is local work alone is possible where the operation behind it is not, or has several outcomes.
            if moves.iter().filter(|next| next.thread == other).count() != 1 {
                tracer.begin_step(other);
            }
        }
        let place = self.machine.code.places[after.threads[thread].pc as usize];
        self.end(EndKind::Failed(status.word(), place), &tracer);
    }

    fn end(&mut self, kind: EndKind, tracer: &Tracer) {
        let (threads, order) = tracer.histories();
        let end = End { kind, threads, order };
        if self.ended.insert(end.clone()) {
            self.ends.push(end);
        }
    }

    /// Whether two threads should be alone and are not there yet: what ends before does not count.
    fn are_missing(&self, state: &State) -> bool {
        let is_there = |path: &u32| state.threads.iter().any(|thread| thread.path == *path);
        self.alone.is_some_and(|pair| !pair.iter().all(is_there))
    }

    /// The threads that have not ended, and where they are: the two that are alone, or all.
    fn blocked(&self, state: &State) -> Vec<(u32, u32)> {
        let mut blocked = Vec::new();
        for thread in state.threads.iter().filter(|thread| thread.condition != Condition::Ended) {
            if self.alone.is_some_and(|pair| !pair.contains(&thread.path)) {
                continue;
            }
            let behind = matches!(thread.condition, Condition::AtBarrier(_) | Condition::BareWaiting);
            let pc = if behind { thread.pc - 1 } else { thread.pc };
            blocked.push((thread.path, self.machine.code.places[pc as usize]));
        }
        blocked.sort_unstable();
        blocked
    }

    /// Where two threads are alone: only they move once both are there. Before that the thread moves that has to make
    /// the one which is missing, or else the first one that can.
    fn restrict(&mut self, state: &State, moves: &mut Vec<Move>) {
        let Some(pair) = self.alone else { return };
        let path = |thread: usize| state.threads[thread].path;
        let missing = pair.iter().find(|wanted| state.threads.iter().all(|thread| thread.path != **wanted));
        let Some(&missing) = missing else {
            return moves.retain(|next| pair.contains(&path(next.thread)));
        };
        let mut maker = self.machine.paths.text(missing).to_owned();
        let creator = loop {
            maker = maker.rfind('/').map_or_else(|| "main".to_owned(), |end| maker[..end].to_owned());
            let found = state.threads.iter().position(|thread| self.machine.paths.text(thread.path) == maker);
            if found.is_some() || maker == "main" {
                break found;
            }
        };
        let of = |thread: Option<usize>| moves.iter().any(|next| Some(next.thread) == thread);
        let others = moves.iter().map(|next| next.thread).find(|&thread| !pair.contains(&path(thread)));
        let mover = [creator, others].into_iter().find(|&thread| of(thread));
        let mover = mover.flatten().or_else(|| moves.first().map(|next| next.thread));
        moves.retain(|next| Some(next.thread) == mover);
    }
}
