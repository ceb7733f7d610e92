//! The variant graph of a trace.
//!
//! **Input**: the moves of a whole trace ([`Interleaving`]). **Output**: [`VariantGraph`]: the nodes in which every operation has
//! the same versions as in the trace, the *execution-variants* (a move from such a node, with another version), the moves that a
//! lock or a wait flag forbids, and the *stuck* nodes, from which no move is possible although a thread has not done all of its
//! moves.
//!
//! **Algorithm**: Algorithm 1 of the paper with the extension of its section IV.C, breadth first. A node is identified by its
//! index, its versions and its flags. Only nodes that are no variants are looked up, because a variant may have the index and the
//! versions of one of them (FACTS A1: V5).
//!
//! **Soundness and limits**: a node on the trace is represented by the prefix of the trace, any other node by the first way
//! found. A graph with more than the given number of nodes is cut, and reports this.

use super::ids::ActionId;
use super::interleaving::{Interleaving, MAX_THREADS, Obstacle, Step, Words};
use super::trace::{ActionKind, Trace};
use cssame_vm::Cell;
use rustc_hash::{FxHashMap, FxHashSet};

/// Work for one graph, in cubes of the number of threads: what a node costs.
const MAX_WORK: usize = 100_000_000;

/// A node.
#[derive(Clone, Debug)]
pub struct Node {
    /// The node before it; none for the first one.
    pub parent: Option<u32>,
    /// The move that has led to it.
    pub step: Option<Step>,
    /// The index, flags and objects.
    pub words: Words,
    /// The versions, by variable.
    pub versions: Vec<u32>,
    /// Whether the trace passes through it.
    pub observed: bool,
    /// Whether no move leads on, and a thread has not done all its moves.
    pub stuck: bool,
}

/// A move that leads away from the trace.
#[derive(Clone, Debug)]
pub struct Variant {
    /// The node that it leads away from.
    pub node: u32,
    /// The move.
    pub step: Step,
    /// The index and flags behind it.
    pub words: Words,
    /// The versions behind it.
    pub versions: Vec<u32>,
}

/// A move that flags forbid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Infeasible {
    /// The node.
    pub node: u32,
    /// The thread, by its number.
    pub thread: usize,
    /// Why.
    pub obstacle: Obstacle,
}

/// The graph.
#[derive(Clone, Debug, Default)]
pub struct VariantGraph {
    /// The nodes that are no variants; the first one is the beginning.
    pub nodes: Vec<Node>,
    /// Moves between them.
    pub edges: Vec<(u32, u32, Step)>,
    /// The variants.
    pub variants: Vec<Variant>,
    /// The forbidden moves.
    pub infeasible: Vec<Infeasible>,
    /// Whether it has more nodes than were allowed.
    pub cut: bool,
}

impl VariantGraph {
    /// The graph of a trace, with so many nodes at most.
    #[must_use]
    pub fn new(trace: &Trace, interleaving: &Interleaving<'_>, max_nodes: usize) -> VariantGraph {
        // Of many threads a node is large, and has many moves, each of which asks all threads.
        let threads = interleaving.projection.threads.len().max(1);
        let max_nodes = max_nodes.min(MAX_WORK / (threads * threads * threads)).max(1);
        let mut builder = Builder::new(trace, interleaving);
        let mut at = 0;
        if threads > MAX_THREADS {
            builder.graph.cut = true;
            return builder.graph;
        }
        while at < builder.graph.nodes.len() {
            if builder.graph.nodes.len() + builder.graph.variants.len() > max_nodes {
                builder.graph.cut = true;
                break;
            }
            builder.expand(at as u32);
            at += 1;
        }
        builder.mark_observed();
        builder.graph
    }

    /// The moves that lead to a node: along the trace where it lies on it.
    #[must_use]
    pub fn path(&self, node: u32) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut at = node;
        while let Node { parent: Some(parent), step: Some(step), .. } = self.nodes[at as usize] {
            steps.push(step);
            at = parent;
        }
        steps.reverse();
        steps
    }

    /// Forbidden moves of a kind.
    #[must_use]
    pub fn infeasible_by(&self, obstacle: Obstacle) -> usize {
        self.infeasible.iter().filter(|one| one.obstacle == obstacle).count()
    }

    /// Stuck nodes.
    #[must_use]
    pub fn stuck(&self) -> usize {
        self.nodes.iter().filter(|node| node.stuck).count()
    }
}

struct Builder<'a> {
    trace: &'a Trace,
    interleaving: &'a Interleaving<'a>,
    graph: VariantGraph,
    known: FxHashMap<(Words, Vec<u32>), u32>,
    known_variants: FxHashSet<(Words, Vec<u32>)>,
    variable: FxHashMap<Cell, usize>,
}

impl<'a> Builder<'a> {
    fn new(trace: &'a Trace, interleaving: &'a Interleaving<'a>) -> Builder<'a> {
        let mut variable = FxHashMap::default();
        for cell in trace.actions.iter().filter_map(|action| action.kind.operand()) {
            let next = variable.len();
            variable.entry(cell).or_insert(next);
        }
        let first = Node {
            parent: None,
            step: None,
            words: interleaving.initial(),
            versions: vec![0; variable.len()],
            observed: true,
            stuck: false,
        };
        let known = FxHashMap::from_iter([((first.words.clone(), first.versions.clone()), 0)]);
        let graph = VariantGraph { nodes: vec![first], ..VariantGraph::default() };
        Builder { trace, interleaving, graph, known, known_variants: FxHashSet::default(), variable }
    }

    /// Step 2 and 3 of Algorithm 1 for one node.
    fn expand(&mut self, node: u32) {
        let threads = self.interleaving.projection.threads.len();
        let (mut moves, mut is_over) = (0, true);
        for thread in 0..threads {
            let words = &self.graph.nodes[node as usize].words;
            is_over &= self.interleaving.is_done(words, thread);
            if let Some(obstacle) = self.interleaving.obstacle(words, thread) {
                if !self.interleaving.is_silent_thread(thread) {
                    self.graph.infeasible.push(Infeasible { node, thread, obstacle });
                }
                continue;
            }
            for step in self.interleaving.steps(words, thread) {
                moves += 1;
                self.go(node, step);
            }
        }
        self.graph.nodes[node as usize].stuck = moves == 0 && !is_over;
    }

    fn go(&mut self, from: u32, step: Step) {
        let of = &self.graph.nodes[from as usize];
        let actions = self.interleaving.next(&of.words, step.thread).unwrap_or_default();
        let (mut versions, mut is_variant) = (of.versions.clone(), false);
        for &id in actions {
            is_variant |= self.advance(&mut versions, id);
        }
        let words = self.interleaving.apply(&of.words, step);
        let key = (words, versions);
        if is_variant {
            if self.known_variants.insert(key.clone()) {
                let (words, versions) = key;
                self.graph.variants.push(Variant { node: from, step, words, versions });
            }
            return;
        }
        if let Some(&to) = self.known.get(&key) {
            self.graph.edges.push((from, to, step));
            return;
        }
        let to = self.graph.nodes.len() as u32;
        self.known.insert(key.clone(), to);
        let (words, versions) = key;
        self.graph.edges.push((from, to, step));
        let (parent, step) = (Some(from), Some(step));
        self.graph.nodes.push(Node { parent, step, words, versions, observed: false, stuck: false });
    }

    /// Counts what an action writes; true where its version is another one than in the trace.
    fn advance(&self, versions: &mut [u32], id: ActionId) -> bool {
        let action = &self.trace.actions[id];
        let Some(&place) = action.kind.operand().and_then(|cell| self.variable.get(&cell)) else { return false };
        if let ActionKind::Write { .. } = action.kind {
            versions[place] += 1;
        }
        versions[place] != action.version
    }

    /// Goes along the trace, and makes its own prefix the way to each node that lies on it.
    fn mark_observed(&mut self) {
        let mut at = 0u32;
        let mut words = self.graph.nodes[0].words.clone();
        for (id, action) in self.trace.actions.entries() {
            let Some(thread) = self.interleaving.projection.thread(action.thread) else { continue };
            if self.interleaving.next(&words, thread).and_then(<[_]>::first) != Some(&id) {
                continue;
            }
            let edges = self.graph.edges.iter().filter(|&&(from, _, step)| from == at && step.thread == thread);
            let steps: Vec<(u32, Step)> = edges.map(|&(_, to, step)| (to, step)).collect();
            // Which thread a notification has woken is seen from who goes on; the first one stands for all.
            let Some(&(to, step)) = steps.first() else { return };
            if !self.graph.nodes[to as usize].observed {
                let node = &mut self.graph.nodes[to as usize];
                (node.parent, node.step, node.observed) = (Some(at), Some(step), true);
            }
            words.clone_from(&self.graph.nodes[to as usize].words);
            at = to;
        }
    }
}
