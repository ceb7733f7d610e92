//! The graph of all states: every state once, with every move out of it.
//!
//! Two states are one if they agree in the values of the cells, in the threads with their stacks, and in what each
//! thread has printed. Who wrote a value, and how many steps there were, is left out. Nothing else is: no order of
//! threads or cells is taken for another.

use super::code::{NONE, Op, Sync};
use super::local::Machine;
use super::state::{Condition, State};
use super::step::{Move, Progress};
use super::value::{Status, Value};
use rustc_hash::FxHashMap;

/// An end of executions: its status, path and output of each thread that printed, and where nothing failed the last values of
/// global data.
pub type End = (Status, Vec<(u32, u32)>, Vec<u64>);

/// A node of the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// The moves of threads and where they lead.
    Going(Vec<(u32, u32)>),
    /// Index of an end.
    Ended(u32),
    /// An assumption is violated.
    Discarded,
}

/// A failure: its status, the path of the thread, and where it stands.
pub type Failure = (Status, u32, u32);

/// The graph. Node 0 is the first state.
#[derive(Debug, Default)]
pub struct Graph {
    /// False where there were too many states, or an execution took too many steps.
    pub complete: bool,
    pub nodes: Vec<Node>,
    pub ends: Vec<End>,
    /// Where executions fail.
    pub failures: Vec<Failure>,
    /// Deadlocks: the threads that have not ended, and their places.
    pub deadlocks: Vec<Vec<(u32, u32)>>,
}

/// Builds the graph; `visit` sees each state that is no end, with its node.
pub fn build(
    machine: &mut Machine<'_>,
    max_states: usize,
    visit: &mut dyn FnMut(&mut Machine<'_>, &State, u32),
) -> Graph {
    let main = machine.paths.intern("main");
    let mut state = State::initial(machine.code, main);
    machine.advance(&mut state, 0);
    let mut builder =
        Builder { graph: Graph { complete: true, ..Graph::default() }, known: FxHashMap::default(), open: Vec::new() };
    builder.state(machine, state);
    while let Some((node, state)) = builder.open.pop() {
        if builder.graph.nodes.len() > max_states {
            builder.graph.complete = false;
            break;
        }
        let mut moves = Vec::new();
        machine.moves(&state, &mut moves);
        if moves.is_empty() {
            builder.stuck(machine, &state, node);
            continue;
        }
        visit(machine, &state, node);
        let edges = moves.into_iter().map(|next| (next.thread as u32, builder.go(machine, &state, next))).collect();
        builder.graph.nodes[node as usize] = Node::Going(edges);
    }
    builder.graph
}

struct Builder {
    graph: Graph,
    known: FxHashMap<Box<[u64]>, u32>,
    open: Vec<(u32, State)>,
}

impl Builder {
    fn add(&mut self, node: Node) -> u32 {
        self.graph.nodes.push(node);
        self.graph.nodes.len() as u32 - 1
    }

    /// The node of a state, which is new or known.
    fn state(&mut self, machine: &mut Machine<'_>, mut state: State) -> u32 {
        machine.trail.clear();
        state.steps = 0;
        let key = key(&state);
        if let Some(&node) = self.known.get(&key) {
            return node;
        }
        let node = self.add(Node::Going(Vec::new()));
        self.known.insert(key, node);
        self.open.push((node, state));
        node
    }

    fn go(&mut self, machine: &mut Machine<'_>, from: &State, next: Move) -> u32 {
        let mut state = from.clone();
        match machine.step(&mut state, next) {
            Progress::Going => self.state(machine, state),
            Progress::Discarded => self.add(Node::Discarded),
            Progress::Ended(status) => {
                let node = self.end(machine, &state, status);
                let thread = &state.threads[next.thread];
                let failure = (status, thread.path, machine.code.places[thread.pc as usize]);
                self.graph.failures.push(failure);
                self.graph.complete &= status != Status::StepLimit;
                node
            }
        }
    }

    /// No thread can move.
    fn stuck(&mut self, machine: &Machine<'_>, state: &State, node: u32) {
        let blocked = blocked(machine, state);
        let status = if blocked.is_empty() { Status::Ok } else { Status::Deadlock };
        let end = self.end(machine, state, status);
        self.graph.nodes[node as usize] = self.graph.nodes[end as usize].clone();
        if !blocked.is_empty() {
            self.graph.deadlocks.push(blocked);
        }
    }

    fn end(&mut self, machine: &Machine<'_>, state: &State, status: Status) -> u32 {
        let mut outputs: Vec<(u32, u32)> = state
            .threads
            .iter()
            // In a deadlock every thread has come as far as it could.
            .map(|thread| (thread.path, if status == Status::Deadlock { thread.ahead } else { thread.printed }))
            .filter(|&(_, output)| output != NONE)
            .collect();
        outputs.sort_unstable();
        let mut values = Vec::new();
        if status == Status::Ok {
            let globals =
                machine.code.cells.iter().zip(&state.cells).filter(|(init, _)| {
                    init.variable != NONE && !machine.code.variables[init.variable as usize].handle
                });
            globals.for_each(|(_, cell)| push_value(&mut values, cell.value));
        }
        let end = (status, outputs, values);
        let at = self.graph.ends.iter().position(|known| *known == end).unwrap_or_else(|| {
            self.graph.ends.push(end);
            self.graph.ends.len() - 1
        });
        self.add(Node::Ended(at as u32))
    }
}

/// The threads that have not ended, and where they are: [`NONE`] if they wait for the end of threads.
pub fn blocked(machine: &Machine<'_>, state: &State) -> Vec<(u32, u32)> {
    let mut blocked = Vec::new();
    for thread in state.threads.iter().filter(|thread| thread.condition != Condition::Ended) {
        let behind = matches!(thread.condition, Condition::AtBarrier(_) | Condition::BareWaiting);
        let pc = if behind { thread.pc - 1 } else { thread.pc };
        let joins = matches!(machine.code.ops[pc as usize], Op::JoinArms | Op::Sync(Sync::Join));
        blocked.push((thread.path, if joins { NONE } else { machine.code.places[pc as usize] }));
    }
    blocked.sort_unstable();
    blocked
}

/// All that what follows can depend on, and the output.
pub fn key(state: &State) -> Box<[u64]> {
    let mut words = Vec::with_capacity(2 * state.cells.len() + 16 * state.threads.len() + 2);
    words.push(state.exclusive.map_or(u64::MAX, |thread| thread as u64));
    words.push(state.cells.len() as u64);
    words.push(state.holds.len() as u64);
    for hold in &state.holds {
        words.extend([u64::from(hold.lock), hold.thread as u64, u64::from(hold.reads)]);
    }
    for cell in &state.cells {
        words.push(u64::from(cell.variable));
        push_value(&mut words, cell.value);
    }
    for thread in &state.threads {
        let (condition, at) = condition_words(thread.condition);
        let numbers = [
            thread.pc,
            thread.base,
            thread.calls,
            thread.path,
            thread.base_path,
            thread.printed,
            thread.ahead,
            thread.arms,
            thread.levels,
            thread.waiter,
            thread.atomic,
            condition,
            at,
            thread.stack.len() as u32,
        ];
        words.extend(numbers.map(u64::from));
        thread.stack.iter().for_each(|&value| push_value(&mut words, value));
    }
    words.into()
}

fn push_value(words: &mut Vec<u64>, value: Value) {
    words.extend(match value {
        Value::Int(value) => [0, u64::from(value as u32)],
        Value::Long(value) => [1, value as u64],
        Value::Bool(value) => [2, u64::from(value)],
        Value::Double(value) => [3, value.to_bits()],
        Value::Str(id) => [4, u64::from(id)],
        Value::Ref(address) => [5, u64::from(address)],
        Value::Element { address, element } => [6, u64::from(address) << 32 | u64::from(element)],
        // The length belongs to the address and the element.
        Value::Array { address, element, .. } => [7, u64::from(address) << 32 | u64::from(element)],
        Value::Astray => [8, 0],
    });
}

fn condition_words(condition: Condition) -> (u32, u32) {
    match condition {
        Condition::Ready => (0, 0),
        Condition::AtBarrier(address) => (1, address),
        Condition::AtCond(address) => (2, address),
        Condition::Reacquiring => (3, 0),
        Condition::BareWaiting => (4, 0),
        Condition::Failing(status) => (5, status as u32),
        Condition::Discarding => (6, 0),
        Condition::Ended => (7, 0),
        Condition::TimedOut => (8, 0),
        Condition::AtWrite(address) => (9, address),
    }
}
