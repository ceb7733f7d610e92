//! Races by their definition: all states are looked at, and all that can follow from each.
//!
//! A race is an unordered pair of places of the text. It is *real* if an execution that no assumption discards reaches
//! a state where two threads both stand directly before accesses to one cell at these places, one of which writes, and
//! not both of which are atomic. A thread that stands before an `atomic` block stands before each access that the block
//! would make from this state. The rest is said of all such states: what can follow if the one access is made first,
//! and what if the other is.

use super::code::{Atomic, Code, NONE, Op};
use super::graph::{End, Graph, Node, build};
use super::local::{Logged, Machine, place};
use super::report::{lines, path_text};
use super::state::{Condition, State};
use super::step::Progress;
use super::value::{Status, Value, binary};
use super::{Outcome, Visible, compile};
use cssame::front::csm::syntax::ast::BinaryOp;
use cssame::source::{SourceFile, SourceMap};
use std::collections::{BTreeMap, BTreeSet};

/// A place: line, column, and the name of the access (`x@3:5`).
pub type Place = (u32, u32, String);

/// How to search for races.
#[derive(Clone, Debug)]
pub struct RaceOptions {
    pub visible: Visible,
    pub max_states: usize,
    /// Values of `input` constants.
    pub inputs: BTreeMap<String, i64>,
}

impl Default for RaceOptions {
    fn default() -> RaceOptions {
        RaceOptions { visible: Visible::All, max_states: 100_000, inputs: BTreeMap::new() }
    }
}

/// What is true of a real race.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Race {
    /// `read/write`: what is done at the first place and what at the second. At one place the `read` comes first.
    pub kinds: BTreeSet<String>,
    /// Whether an atomic access meets one that is not.
    pub mixed: bool,
    /// The places after whose access, made first, a failure or a deadlock can follow: none where the race does no harm.
    pub fails_when_first: BTreeSet<String>,
    /// Whether in some state neither order is always discarded, and their ends are not the same.
    pub orders_differ: bool,
}

impl Race {
    pub fn harmful(&self) -> bool {
        !self.fails_when_first.is_empty()
    }

    /// Whether nothing tells which access came first.
    pub fn benign(&self) -> bool {
        !self.harmful() && !self.orders_differ
    }
}

/// The races of a program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Races {
    pub complete: bool,
    pub states: usize,
    /// By the two places, the earlier one first.
    pub races: BTreeMap<(Place, Place), Race>,
    /// The threads that have not ended in a deadlock, and where they are; `join` if they wait for the end of threads.
    pub deadlocks: BTreeSet<Vec<(String, String)>>,
    /// Status, thread and place of each failure.
    pub failures: BTreeSet<(String, String, String)>,
    pub outcomes: BTreeSet<Outcome>,
}

impl Races {
    /// What is known of a pair, by the names of its places.
    pub fn race(&self, a: &str, b: &str) -> Option<&Race> {
        self.races.iter().find(|(pair, _)| pair.0.2 == a && pair.1.2 == b).map(|(_, race)| race)
    }
}

/// A state in which a race is about to happen.
struct Sighting {
    node: u32,
    /// The race, and the threads that are at its first and at its second place.
    pair: (Place, Place),
    threads: (u32, u32),
    kinds: String,
    mixed: bool,
}

struct Finder {
    sightings: Vec<Sighting>,
}

/// Parses and searches. The error says why the program cannot be run.
pub fn races_of_source(source: &str, options: &RaceOptions) -> Result<Races, String> {
    let mut sources = SourceMap::default();
    let file = sources.add("oracle.csm", source);
    let parsed = cssame::front::csm::syntax::parse(&sources, file);
    if let Some(first) = parsed.diagnostics.first() {
        return Err(first.message.clone());
    }
    let file = sources.file(file);
    let code = compile::compile(&parsed.program, file, &options.inputs)?;
    let visible = code.variables.iter().map(|variable| match &options.visible {
        Visible::Named(names) => names.contains(&variable.name),
        _ => variable.candidate,
    });
    let mut machine = Machine::new(&code, visible.collect(), u32::MAX, false);
    let mut finder = Finder { sightings: Vec::new() };
    let graph = build(&mut machine, options.max_states, &mut |machine, state, node| finder.look(machine, state, node));
    Ok(conclude(&machine, &graph, &finder, file))
}

impl Finder {
    /// Notes the races of which this state is one.
    fn look(&mut self, machine: &mut Machine<'_>, state: &State, node: u32) {
        if state.exclusive.is_some() {
            return;
        }
        let pending: Vec<Vec<Logged>> = (0..state.threads.len()).map(|t| pending(machine, state, t)).collect();
        for (first, accesses) in pending.iter().enumerate() {
            for (second, others) in pending.iter().enumerate().skip(first + 1) {
                for left in accesses {
                    for right in others {
                        self.meet(machine.code, node, (first as u32, *left), (second as u32, *right));
                    }
                }
            }
        }
    }

    fn meet(&mut self, code: &Code, node: u32, left: (u32, Logged), right: (u32, Logged)) {
        let is_race =
            left.1.address == right.1.address && (left.1.write || right.1.write) && !(left.1.atomic && right.1.atomic);
        if !is_race {
            return;
        }
        let (mut a, mut b) = (left, right);
        let place = |access: &Logged| place_of(code, access.name);
        if (place(&a.1), a.1.write) > (place(&b.1), b.1.write) {
            std::mem::swap(&mut a, &mut b);
        }
        let word = |access: &Logged| if access.write { "write" } else { "read" };
        self.sightings.push(Sighting {
            node,
            pair: (place(&a.1), place(&b.1)),
            threads: (a.0, b.0),
            kinds: format!("{}/{}", word(&a.1), word(&b.1)),
            mixed: a.1.atomic != b.1.atomic,
        });
    }
}

/// The accesses that a thread makes if it moves now. What reads and writes in one is two.
fn pending(machine: &mut Machine<'_>, state: &State, t: usize) -> Vec<Logged> {
    let thread = &state.threads[t];
    if thread.condition != Condition::Ready {
        return Vec::new();
    }
    let op = machine.code.ops[thread.pc as usize];
    let (name, read, write, atomic) = match op {
        Op::Load { name, .. } => (name, true, false, false),
        Op::Store { name, .. } => (name, false, true, false),
        Op::Atomic { kind, name, .. } => (name, true, kind != Atomic::Cas || succeeds(state, t, op), true),
        Op::AtomicBegin => {
            let mut accesses = Vec::new();
            run_block(machine, state, t, &mut accesses);
            return accesses;
        }
        _ => return Vec::new(),
    };
    let Ok(address) = place(thread, op) else { return Vec::new() };
    let variable = state.cells[address as usize].variable;
    let atomic = atomic || variable != NONE && machine.code.variables[variable as usize].atomic;
    let kinds = [(read, false), (write, true)];
    kinds.into_iter().filter(|kind| kind.0).map(|(_, write)| Logged { address, name, write, atomic }).collect()
}

/// Whether a `cas` would write.
fn succeeds(state: &State, t: usize, op: Op) -> bool {
    let thread = &state.threads[t];
    let Ok(address) = place(thread, op) else { return false };
    let (value, expected) = (state.cells[address as usize].value, thread.peek(1));
    binary(BinaryOp::Equal, value, expected) == Ok(Value::Bool(true))
}

/// All accesses of the atomic block that the thread stands before, in all runs of it from this state.
fn run_block(machine: &mut Machine<'_>, state: &State, t: usize, accesses: &mut Vec<Logged>) {
    let mut moves = Vec::new();
    machine.moves(state, &mut moves);
    for next in moves.into_iter().filter(|next| next.thread == t) {
        let mut after = state.clone();
        machine.log = Some(Vec::new());
        let progress = machine.step(&mut after, next);
        for access in machine.log.take().unwrap_or_default() {
            if !accesses.contains(&access) {
                accesses.push(access);
            }
        }
        if progress == Progress::Going && after.exclusive == Some(t) {
            run_block(machine, &after, t, accesses);
        }
    }
    machine.trail.clear();
}

/// The place in the name of an access.
pub fn place_of(code: &Code, name: u32) -> Place {
    let text = code.names.text(name);
    let at = text.rsplit_once('@').and_then(|(_, at)| at.split_once(':'));
    let (line, column) =
        at.and_then(|(line, column)| Some((line.parse().ok()?, column.parse().ok()?))).unwrap_or((0, 0));
    (line, column, text.to_owned())
}

/// Stands among the ends for running on without one.
const ENDLESS: u32 = NONE;

/// What can follow from each node.
struct Future {
    /// Some execution through it is not discarded.
    lives: Vec<bool>,
    /// A failure or a deadlock.
    fails: Vec<bool>,
    ends: Vec<BTreeSet<u32>>,
}

fn future(graph: &Graph) -> Future {
    let count = graph.nodes.len();
    let mut future = Future { lives: vec![true; count], fails: vec![false; count], ends: vec![BTreeSet::new(); count] };
    let (mut ends, mut changed) = (future.ends.clone(), true);
    // Until nothing changes. Nodes are made after their predecessors, mostly, so the last comes first.
    while changed {
        changed = false;
        for (at, node) in graph.nodes.iter().enumerate().rev() {
            let (lives, fails) = match node {
                Node::Going(edges) => {
                    let mut union = BTreeSet::new();
                    edges.iter().for_each(|edge| union.extend(&ends[edge.1 as usize]));
                    changed |= union != ends[at];
                    ends[at] = union;
                    let is = |of: &[bool]| edges.iter().any(|edge| of[edge.1 as usize]);
                    (is(&future.lives), is(&future.fails))
                }
                Node::Ended(end) => {
                    changed |= ends[at].insert(*end);
                    (true, graph.ends[*end as usize].0 != Status::Ok)
                }
                Node::Discarded => (false, false),
            };
            changed |= (lives, fails) != (future.lives[at], future.fails[at]);
            (future.lives[at], future.fails[at]) = (lives, fails);
        }
    }
    endless(graph, &future.lives, &mut ends);
    future.ends = ends;
    future
}

/// Adds [`ENDLESS`] wherever an execution can come to a state that has no end before it and is not discarded.
fn endless(graph: &Graph, lives: &[bool], ends: &mut [BTreeSet<u32>]) {
    for (at, ends) in ends.iter_mut().enumerate() {
        if lives[at] && ends.is_empty() {
            ends.insert(ENDLESS);
        }
    }
    let mut changed = true;
    while changed {
        changed = false;
        for (at, node) in graph.nodes.iter().enumerate().rev() {
            let Node::Going(edges) = node else { continue };
            if edges.iter().any(|edge| ends[edge.1 as usize].contains(&ENDLESS)) {
                changed |= ends[at].insert(ENDLESS);
            }
        }
    }
}

fn conclude(machine: &Machine<'_>, graph: &Graph, finder: &Finder, file: &SourceFile) -> Races {
    let mut races = Races { complete: graph.complete, states: graph.nodes.len(), ..Races::default() };
    if !graph.complete {
        return races;
    }
    let future = future(graph);
    for sighting in &finder.sightings {
        let Node::Going(edges) = &graph.nodes[sighting.node as usize] else { continue };
        if !future.lives[sighting.node as usize] {
            continue;
        }
        let race = races.races.entry(sighting.pair.clone()).or_default();
        race.kinds.insert(sighting.kinds.clone());
        race.mixed |= sighting.mixed;
        // An access has one outcome, and so has an atomic block up to what it notifies.
        let after = |thread: u32| edges.iter().filter(move |edge| edge.0 == thread).map(|edge| edge.1 as usize);
        let (a, b) = sighting.threads;
        for (thread, place) in [(a, &sighting.pair.0), (b, &sighting.pair.1)] {
            if after(thread).any(|node| future.fails[node]) {
                race.fails_when_first.insert(place.2.clone());
            }
        }
        let ends = |thread| after(thread).flat_map(|node| future.ends[node].iter().copied()).collect::<BTreeSet<u32>>();
        let (ends_a, ends_b) = (ends(a), ends(b));
        // An order that is always discarded is no execution; one that has no end is, and has `ENDLESS` here.
        race.orders_differ |= !ends_a.is_empty() && !ends_b.is_empty() && ends_a != ends_b;
    }
    report(machine, graph, &future, file, &mut races);
    races
}

fn report(machine: &Machine<'_>, graph: &Graph, future: &Future, file: &SourceFile, races: &mut Races) {
    for (status, thread, place) in &graph.failures {
        let at = file.position(*place).to_string();
        races.failures.insert((status.word().to_owned(), path_text(machine, *thread), at));
    }
    for blocked in &graph.deadlocks {
        let place = |at| if at == NONE { "join".to_owned() } else { file.position(at).to_string() };
        races.deadlocks.insert(blocked.iter().map(|&(path, at)| (path_text(machine, path), place(at))).collect());
    }
    let ends = future.ends.first().into_iter().flatten();
    races.outcomes =
        ends.filter(|&&end| end != ENDLESS).map(|&end| outcome(machine, &graph.ends[end as usize])).collect();
}

fn outcome(machine: &Machine<'_>, (status, outputs, _): &End) -> Outcome {
    let mut threads = outputs.clone();
    threads.sort_by_key(|(path, _)| (machine.path_keys.get(path), *path));
    let output = threads.into_iter().map(|(path, output)| (path_text(machine, path), lines(machine, output)));
    Outcome { output: output.collect(), status: status.word().to_owned() }
}
