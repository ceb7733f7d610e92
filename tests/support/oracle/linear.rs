//! Whether a generated test has executions that no serial order of its calls explains.
//!
//! The test is run twice through all states: as it is, and so that the threads `a` and `b` change only between calls.
//! Each call is followed by a line of output that marks its end, so the output of a thread says which calls it has
//! completed. A finished execution needs a serial one with the same outputs. A stuck one needs a serial order of the
//! completed calls with their outputs, behind which each pending call can come to wait for ever when it is called alone.

use super::code::{Code, NONE, Op, Sync};
use super::compile;
use super::coverage::{all_visible, first_state, with_program};
use super::generated::{MARK, Test, program};
use super::graph::key;
use super::local::Machine;
use super::report::{lines, path_text};
use super::state::{Condition, State};
use super::step::{Move, Progress};
use super::value::{Status, Value};
use cssame::source::SourceFile;
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet};

/// Lines by thread.
pub type Outputs = BTreeMap<String, Vec<String>>;

/// Status, thread and place of a failure.
pub type Failure = (String, String, String);

/// An execution that cannot go on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stuck {
    /// Output of the calls that are completed, with a mark behind each.
    pub completed: Outputs,
    /// The threads with a pending call, and where they stand.
    pub pending: BTreeMap<String, String>,
    /// Whether a pending call waits for a lock of its own thread.
    pub own_lock: bool,
}

/// What all orders of the calls of one kind do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Orders {
    /// Outputs of the finished executions.
    pub finished: BTreeSet<Outputs>,
    pub failures: BTreeSet<Failure>,
    pub stuck: BTreeSet<Stuck>,
}

/// The answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// False where there are too many states, or an execution without an end.
    pub complete: bool,
    pub all: Orders,
    pub serial: Orders,
    /// The outputs of finished executions that no serial order has.
    pub not_linearizable: BTreeSet<Outputs>,
    /// The stuck executions that no serial order explains.
    pub unexplained: BTreeSet<Stuck>,
}

impl Verdict {
    /// Whether some execution is not linearizable, stuck ones included.
    pub fn is_violated(&self) -> bool {
        !self.not_linearizable.is_empty() || !self.unexplained.is_empty()
    }

    /// The failures that no serial order shows.
    pub fn new_failures(&self) -> BTreeSet<(&str, &str)> {
        let places = |orders: &Orders| -> BTreeSet<(String, String)> {
            orders.failures.iter().map(|(status, _, at)| (status.clone(), at.clone())).collect()
        };
        let serial = places(&self.serial);
        let is_new = |failure: &&Failure| !serial.contains(&(failure.0.clone(), failure.2.clone()));
        self.all.failures.iter().filter(is_new).map(|failure| (failure.0.as_str(), failure.2.as_str())).collect()
    }
}

/// Decides a test of the classes of a text. The serial orders are those of `reference`, if there is one.
pub fn decide(text: &str, test: &Test, reference: Option<&Test>, max_states: usize) -> Result<Verdict, String> {
    let (all, mut verdict) = with_program(&program(text, test, true)?, |tree, file| {
        let code = compile::compile(tree, file, &BTreeMap::new())?;
        let mut walk = Walk::new(&code, file, false, max_states);
        walk.run();
        Ok((walk.orders, Verdict { complete: walk.complete, ..Verdict::default() }))
    })?;
    with_program(&program(text, reference.unwrap_or(test), true)?, |tree, file| {
        let code = compile::compile(tree, file, &BTreeMap::new())?;
        let mut walk = Walk::new(&code, file, true, max_states);
        walk.run();
        for stuck in &all.stuck {
            if !walk.explains(stuck) {
                verdict.unexplained.insert(stuck.clone());
            }
        }
        verdict.complete &= walk.complete;
        verdict.not_linearizable = all.finished.difference(&walk.orders.finished).cloned().collect();
        verdict.serial = walk.orders;
        Ok(())
    })?;
    Ok(Verdict { all, ..verdict })
}

struct Walk<'c> {
    machine: Machine<'c>,
    file: &'c SourceFile,
    /// Whether `a` and `b` change only between calls.
    serial: bool,
    max_states: usize,
    known: FxHashSet<(Box<[u64]>, Option<usize>)>,
    open: Vec<(State, Option<usize>)>,
    complete: bool,
    orders: Orders,
    /// The states of the serial orders in which no call is begun, by the completed calls.
    between: BTreeMap<Outputs, Vec<State>>,
}

impl<'c> Walk<'c> {
    fn new(code: &'c Code, file: &'c SourceFile, serial: bool, max_states: usize) -> Walk<'c> {
        let mut machine = Machine::new(code, all_visible(code), u32::MAX, false);
        let first = first_state(&mut machine);
        let mut walk = Walk {
            machine,
            file,
            serial,
            max_states,
            known: FxHashSet::default(),
            open: Vec::new(),
            complete: true,
            orders: Orders::default(),
            between: BTreeMap::new(),
        };
        walk.found(first, None);
        walk
    }

    /// A state, and the thread of the call that is begun.
    fn found(&mut self, mut state: State, begun: Option<usize>) {
        self.machine.trail.clear();
        state.steps = 0;
        if self.known.insert((key(&state), begun)) {
            self.open.push((state, begun));
        }
    }

    fn run(&mut self) {
        while let Some((state, begun)) = self.open.pop() {
            if self.known.len() > self.max_states {
                self.complete = false;
                return;
            }
            if self.serial && begun.is_none() {
                let completed = self.completed(&state);
                self.between.entry(completed).or_default().push(state.clone());
            }
            let mut moves = Vec::new();
            self.machine.moves(&state, &mut moves);
            if let Some(begun) = begun {
                moves.retain(|next| next.thread == begun || !self.is_caller(&state, next.thread));
            }
            if moves.is_empty() {
                self.stuck(&state, begun);
            }
            for next in moves {
                self.go(&state, begun, next);
            }
        }
    }

    fn go(&mut self, state: &State, begun: Option<usize>, next: Move) {
        let t = next.thread;
        let mut after = state.clone();
        match self.machine.step(&mut after, next) {
            Progress::Going => {
                let is_of_call = self.serial && self.is_caller(state, t) && self.in_call(state, t);
                let is_through = self.calls_done(&after, t) > self.calls_done(state, t);
                let begun = match begun {
                    _ if is_of_call => (!is_through).then_some(t),
                    other => other,
                };
                self.found(after, begun);
            }
            Progress::Ended(Status::StepLimit) => self.complete = false,
            Progress::Ended(status) => {
                let thread = path_text(&self.machine, after.threads[t].path);
                let at = self.place(after.threads[t].pc);
                self.orders.failures.insert((status.word().to_owned(), thread, at));
            }
            Progress::Discarded => {}
        }
    }

    /// One of the threads `a` and `b`.
    fn is_caller(&self, state: &State, t: usize) -> bool {
        matches!(self.machine.paths.text(state.threads[t].path), "a" | "b")
    }

    /// Whether the next operation of the thread is one of a call of the test.
    fn in_call(&self, state: &State, t: usize) -> bool {
        // `main` is itself called.
        state.threads[t].calls > u32::from(t == 0) && state.threads[t].condition != Condition::Ended
    }

    fn place(&self, pc: u32) -> String {
        match self.machine.code.ops[pc as usize] {
            Op::JoinArms => "join".to_owned(),
            _ => self.file.position(self.machine.code.places[pc as usize]).to_string(),
        }
    }

    fn output(&self, state: &State, t: usize) -> Vec<String> {
        lines(&self.machine, state.threads[t].ahead)
    }

    fn calls_done(&self, state: &State, t: usize) -> usize {
        self.output(state, t).iter().filter(|line| *line == MARK).count()
    }

    /// The output of the completed calls of each thread that has completed one.
    fn completed(&self, state: &State) -> Outputs {
        let mut outputs = Outputs::new();
        for t in 0..state.threads.len() {
            let mut output = self.output(state, t);
            let len = output.iter().rposition(|line| line == MARK).map_or(0, |last| last + 1);
            output.truncate(len);
            if len > 0 {
                outputs.insert(path_text(&self.machine, state.threads[t].path), output);
            }
        }
        outputs
    }

    fn stuck(&mut self, state: &State, begun: Option<usize>) {
        if state.threads.iter().all(|thread| thread.condition == Condition::Ended) {
            let mut outputs = Outputs::new();
            for (t, thread) in state.threads.iter().enumerate().filter(|(_, thread)| thread.ahead != NONE) {
                let output = self.output(state, t).into_iter().filter(|line| line != MARK).collect();
                outputs.insert(path_text(&self.machine, thread.path), output);
            }
            outputs.retain(|_, output| !output.is_empty());
            self.orders.finished.insert(outputs);
            return;
        }
        let mut pending = BTreeMap::new();
        let mut own_lock = false;
        for (t, thread) in state.threads.iter().enumerate().filter(|&(t, _)| self.in_call(state, t)) {
            // In a serial order the others have not called yet.
            if begun.is_some_and(|begun| begun != t) {
                continue;
            }
            let behind = matches!(thread.condition, Condition::AtBarrier(_) | Condition::BareWaiting);
            let pc = if behind { thread.pc - 1 } else { thread.pc };
            if matches!(self.machine.code.ops[pc as usize], Op::Sync(Sync::Lock)) {
                let lock = state.cells[thread.peek(0).address() as usize].value;
                own_lock |= lock == Value::Int(t as i32);
            }
            pending.insert(path_text(&self.machine, thread.path), self.place(pc));
        }
        self.orders.stuck.insert(Stuck { completed: self.completed(state), pending, own_lock });
    }

    /// Whether some serial order of the completed calls leaves each pending one waiting.
    fn explains(&mut self, stuck: &Stuck) -> bool {
        let states = self.between.get(&stuck.completed).cloned().unwrap_or_default();
        let names: Vec<&String> = stuck.pending.keys().collect();
        states.iter().any(|state| names.iter().all(|name| self.can_wait(state, name)))
    }

    /// Whether the next call of the thread, with nobody else calling, can come to wait for ever.
    fn can_wait(&mut self, state: &State, name: &str) -> bool {
        let Some(thread) = state.threads.iter().position(|each| path_text(&self.machine, each.path) == name) else {
            return false;
        };
        let done = self.calls_done(state, thread);
        let (mut open, mut known) = (vec![state.clone()], FxHashSet::default());
        while let Some(state) = open.pop() {
            let mut moves = Vec::new();
            self.machine.moves(&state, &mut moves);
            let is_other_caller = |t: usize| t != thread && (t == 0 || self.is_caller(&state, t));
            moves.retain(|next| !is_other_caller(next.thread));
            if moves.is_empty() && self.in_call(&state, thread) {
                return true;
            }
            for next in moves {
                let mut after = state.clone();
                if self.machine.step(&mut after, next) == Progress::Going && self.calls_done(&after, thread) == done {
                    after.steps = 0;
                    if known.insert(key(&after)) {
                        open.push(after);
                    }
                }
            }
            self.machine.trail.clear();
        }
        false
    }
}
