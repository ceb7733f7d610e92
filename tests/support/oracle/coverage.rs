//! What the executions of a program can cover of the memory-access patterns, and what one execution covers.
//!
//! All states are looked at once, with the vector clocks of fork and join as a part of them. A partial match is followed
//! from state to state: at each access it stays as it is, and it also takes the access where the pattern allows that.
//! Partial matches do not depend on each other, so the set of those with which a state can be reached says all. A match
//! counts where what follows it is not always discarded.

use super::accesses::Accesses;
use super::code::Code;
use super::compile;
use super::graph::key;
use super::local::Machine;
use super::patterns::{Event, Instance, Letter, Places, TABLE, Variables, all_instances, covered, word};
use super::state::State;
use super::step::Progress;
use super::value::Status;
use cssame::front::csm::syntax::ast::Program;
use cssame::source::{SourceFile, SourceMap};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

/// Two reads in parallel: no pattern, but it tells that a variable is shared.
const TWO_READS: &str = "aRx bRx";

/// How to search.
#[derive(Clone, Debug)]
pub struct CoverageOptions {
    pub max_states: usize,
    /// Partial matches, over all states.
    pub max_partial: usize,
    /// Values of `input` constants.
    pub inputs: BTreeMap<String, i64>,
}

impl Default for CoverageOptions {
    fn default() -> CoverageOptions {
        CoverageOptions { max_states: 50_000, max_partial: 3_000_000, inputs: BTreeMap::new() }
    }
}

/// The answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// False where the program is too large: the last two say nothing then.
    pub complete: bool,
    pub states: usize,
    /// The places of all variables.
    pub places: Variables,
    /// The variables that some place writes and that two threads in parallel use in some execution, in one cell.
    pub shared: BTreeSet<String>,
    /// What executions cover, of all variables.
    pub feasible: BTreeSet<Instance>,
}

impl Coverage {
    /// The places of these variables.
    pub fn of(&self, names: &BTreeSet<String>) -> Variables {
        self.places.iter().filter(|(name, _)| names.contains(*name)).map(|(n, p)| (n.clone(), p.clone())).collect()
    }

    /// The places of the shared variables.
    pub fn of_shared(&self) -> Variables {
        self.of(&self.shared)
    }

    /// All instances over the shared variables.
    pub fn all(&self) -> BTreeSet<Instance> {
        all_instances(&self.of_shared())
    }
}

/// The instances that are about these variables alone.
pub fn among(instances: &BTreeSet<Instance>, variables: &Variables) -> BTreeSet<Instance> {
    let is_of = |places: &Places, step: &super::patterns::Access| {
        if step.write { places.writes.contains(&step.place) } else { places.reads.contains(&step.place) }
    };
    let are_of =
        |instance: &&Instance| instance.steps.iter().all(|step| variables.values().any(|places| is_of(places, step)));
    instances.iter().filter(are_of).cloned().collect()
}

/// Parses, and hands on the tree and the file.
pub fn with_program<T>(
    source: &str,
    use_it: impl FnOnce(&Program, &SourceFile) -> Result<T, String>,
) -> Result<T, String> {
    let mut sources = SourceMap::default();
    let file = sources.add("oracle.csm", source);
    let parsed = cssame::front::csm::syntax::parse(&sources, file);
    if let Some(first) = parsed.diagnostics.first() {
        let place = first.span().map(|span| sources.position(span).to_string()).unwrap_or_default();
        return Err(format!("{place}: {}", first.message));
    }
    use_it(&parsed.program, sources.file(file))
}

/// The variables of a library: its fields and globals that some function or method writes.
pub fn library_variables(source: &str) -> Result<Variables, String> {
    // Something has to be run, so that there is something to compile; it stands behind all places.
    with_program(&format!("{source}\nvoid main() {{ skip; }}\n"), |program, file| {
        let code = compile::compile(program, file, &BTreeMap::new())?;
        let accesses = Accesses::new(&code);
        let mut places = accesses.places();
        let inside: BTreeSet<&String> =
            accesses.variables.iter().zip(&accesses.outside).filter(|each| !*each.1).map(|each| each.0).collect();
        places.retain(|name, places| !inside.contains(name) && !places.writes.is_empty());
        Ok(places)
    })
}

/// Parses and searches. The error says why the program cannot be run.
pub fn coverage_of_source(source: &str, options: &CoverageOptions) -> Result<Coverage, String> {
    with_program(source, |program, file| {
        let code = compile::compile(program, file, &options.inputs)?;
        let accesses = Accesses::new(&code);
        let graph = Graph::build(&code, &accesses, options.max_states);
        let mut coverage = Coverage { states: graph.nodes.len(), places: accesses.places(), ..Coverage::default() };
        let words: Vec<Vec<Letter>> = TABLE.iter().chain([&TWO_READS]).map(|text| word(text)).collect();
        let Some(matches) = graph.matches(&words, options.max_partial) else { return Ok(coverage) };
        coverage.complete = graph.complete;
        for (word, steps) in &matches {
            if *word < TABLE.len() {
                coverage.feasible.insert(accesses.instance(*word, steps));
            }
            if words[*word].len() == 2 {
                let place = &accesses.list[steps[0] as usize].place;
                let uses = |of: &Places| of.reads.contains(place) || of.writes.contains(place);
                let written = coverage.places.iter().find(|(_, of)| uses(of) && !of.writes.is_empty());
                coverage.shared.extend(written.map(|(name, _)| name.clone()));
            }
        }
        Ok(coverage)
    })
}

/// The same instances, by the definition: every execution on its own, and every subsequence of it. Nothing where there
/// are more executions than `most`.
pub fn coverage_by_executions(source: &str, most: usize) -> Result<Option<BTreeSet<Instance>>, String> {
    with_program(source, |program, file| {
        let code = compile::compile(program, file, &BTreeMap::new())?;
        let accesses = Accesses::new(&code);
        let mut machine = Machine::new(&code, all_visible(&code), u32::MAX, false);
        machine.journal = Some(Vec::new());
        let mut state = first_state(&mut machine);
        state.steps = 0;
        let (mut open, mut traces, mut executions) = (vec![(state, Vec::new())], BTreeSet::new(), 0);
        while let Some((state, trace)) = open.pop() {
            let mut moves = Vec::new();
            machine.moves(&state, &mut moves);
            let mut over = moves.is_empty();
            for next in moves {
                let (mut after, mut trace) = (state.clone(), trace.clone());
                let progress = machine.step(&mut after, next);
                let notes = machine.journal.replace(Vec::new()).unwrap_or_default();
                trace.extend(notes.iter().filter_map(|note| accesses.event(note)));
                match progress {
                    Progress::Going => open.push((after, trace)),
                    Progress::Ended(_) => over = true,
                    Progress::Discarded => {}
                }
            }
            machine.trail.clear();
            executions += usize::from(over);
            if executions > most || open.len() > most {
                return Ok(None);
            }
            if over {
                traces.extend(covered(&trace));
            }
        }
        Ok(Some(traces.iter().map(|(pattern, steps)| accesses.instance(*pattern, steps)).collect()))
    })
}

/// All that several threads could get at.
pub fn all_visible(code: &Code) -> Vec<bool> {
    code.variables.iter().map(|variable| variable.candidate).collect()
}

/// The state in which `main` stands before its first step.
pub fn first_state(machine: &mut Machine<'_>) -> State {
    let main = machine.paths.intern("main");
    let mut state = State::initial(machine.code, main);
    machine.advance(&mut state, 0);
    state
}

/// A move: where it leads, and what it accesses.
struct Edge {
    to: usize,
    events: Vec<Event>,
}

enum Node {
    Going(Vec<Edge>),
    Ended,
    Discarded,
}

struct Graph {
    complete: bool,
    nodes: Vec<Node>,
}

/// A match in the making.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Partial {
    word: usize,
    len: usize,
    threads: [Option<usize>; 2],
    /// Cell and variable of `x` and of `y`.
    cells: [Option<(u32, u32)>; 2],
    /// The thread of the last step, and its own component of its clock there.
    last: (usize, u32),
    steps: [u32; 4],
}

impl Partial {
    fn new(word: usize) -> Partial {
        Partial { word, len: 0, threads: [None; 2], cells: [None; 2], last: (0, 0), steps: [0; 4] }
    }

    /// With the event as its next step, if it can be that.
    fn take(mut self, words: &[Vec<Letter>], event: &Event) -> Option<Partial> {
        let letter = words[self.word][self.len];
        self.steps[self.len] = event.plays(letter)?;
        let (thread, cell) = (&self.threads, (event.cell, event.variable));
        if thread[1 - letter.thread] == Some(event.thread)
            || thread[letter.thread].is_some_and(|known| known != event.thread)
            || self.cells[letter.variable].is_some_and(|known| known != cell)
            || self.cells[1 - letter.variable].is_some_and(|known| known.1 == event.variable)
        {
            return None;
        }
        let (last, epoch) = self.last;
        if self.len > 0 && last != event.thread && event.clock.get(last).copied().unwrap_or(0) >= epoch {
            return None;
        }
        self.threads[letter.thread] = Some(event.thread);
        self.cells[letter.variable] = Some(cell);
        self.last = (event.thread, event.clock[event.thread]);
        self.len += 1;
        Some(self)
    }
}

/// A state and its clocks.
type Key = (Box<[u64]>, Vec<Vec<u32>>);

impl Graph {
    fn build(code: &Code, accesses: &Accesses, max_states: usize) -> Graph {
        let mut machine = Machine::new(code, all_visible(code), u32::MAX, false);
        machine.journal = Some(Vec::new());
        let mut graph = Graph { complete: true, nodes: Vec::new() };
        let (mut known, mut open) = (FxHashMap::default(), Vec::new());
        let state = first_state(&mut machine);
        machine.journal = Some(Vec::new());
        graph.node(&mut known, &mut open, state);
        while let Some((node, state)) = open.pop() {
            if graph.nodes.len() > max_states {
                graph.complete = false;
                break;
            }
            let mut moves = Vec::new();
            machine.moves(&state, &mut moves);
            let mut edges = Vec::new();
            if moves.is_empty() {
                graph.nodes[node] = Node::Ended;
                continue;
            }
            for next in moves {
                let mut after = state.clone();
                let progress = machine.step(&mut after, next);
                let notes = machine.journal.replace(Vec::new()).unwrap_or_default();
                let events = notes.iter().filter_map(|note| accesses.event(note)).collect();
                let to = match progress {
                    Progress::Going => graph.node(&mut known, &mut open, after),
                    Progress::Ended(status) => {
                        graph.complete &= status != Status::StepLimit;
                        graph.add(Node::Ended)
                    }
                    Progress::Discarded => graph.add(Node::Discarded),
                };
                edges.push(Edge { to, events });
            }
            machine.trail.clear();
            graph.nodes[node] = Node::Going(edges);
        }
        graph
    }

    fn add(&mut self, node: Node) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    fn node(&mut self, known: &mut FxHashMap<Key, usize>, open: &mut Vec<(usize, State)>, mut state: State) -> usize {
        state.steps = 0;
        let clocks = state.threads.iter().map(|thread| thread.clock.to_vec()).collect();
        let key = (key(&state), clocks);
        if let Some(&node) = known.get(&key) {
            return node;
        }
        let node = self.add(Node::Going(Vec::new()));
        known.insert(key, node);
        open.push((node, state));
        node
    }

    /// Of each node, whether some execution through it is not discarded; one without an end is not.
    fn lives(&self) -> Vec<bool> {
        let (mut lives, mut changed) = (vec![true; self.nodes.len()], true);
        while changed {
            changed = false;
            for (at, node) in self.nodes.iter().enumerate().rev() {
                let is_alive = match node {
                    Node::Going(edges) => edges.iter().any(|edge| lives[edge.to]),
                    Node::Ended => true,
                    Node::Discarded => false,
                };
                changed |= lives[at] != is_alive;
                lives[at] = is_alive;
            }
        }
        lives
    }

    /// The matches of all executions: word and accesses. Nothing where it is too much.
    fn matches(&self, words: &[Vec<Letter>], max_partial: usize) -> Option<BTreeSet<(usize, Vec<u32>)>> {
        let (lives, mut found) = (self.lives(), FxHashSet::default());
        let mut seen: Vec<FxHashSet<Partial>> = self.nodes.iter().map(|_| FxHashSet::default()).collect();
        let (mut open, mut count): (Vec<(usize, Partial)>, usize) = (Vec::new(), 0);
        for word in 0..words.len() {
            open.push((0, Partial::new(word)));
        }
        while let Some((node, partial)) = open.pop() {
            let Node::Going(edges) = &self.nodes[node] else { continue };
            for edge in edges.iter().filter(|edge| lives[edge.to]) {
                let mut now = vec![partial];
                for event in &edge.events {
                    let taken: Vec<Partial> = now.iter().filter_map(|each| each.take(words, event)).collect();
                    for each in taken {
                        if each.len == words[each.word].len() {
                            found.insert((each.word, each.steps[..each.len].to_vec()));
                        } else {
                            now.push(each);
                        }
                    }
                }
                for each in now {
                    if seen[edge.to].insert(each) {
                        count += 1;
                        open.push((edge.to, each));
                    }
                }
            }
            if count > max_partial {
                return None;
            }
        }
        Some(found.into_iter().collect())
    }
}
