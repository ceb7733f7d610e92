//! Context sensitivity: how the contexts of each function are distinguished.
//!
//! **Input**: the program. **Output**: [`Policies`].
//!
//! **Algorithm**
//! 1. Over the strongly connected components of the graph of calls and forks, callees first, add up the blocks and the threads
//!    that cloning by whole call strings would create. Large recursive components get one context for each thread. Recursion
//!    through a fork creates an unbounded number of threads, which only the unordered pseudo-thread can represent.
//! 2. If a sum for `main` exceeds its budget, functions with several call sites are merged: to one context for each thread if
//!    those sums fit, otherwise to one in the unordered pseudo-thread.
//!
//! **Soundness and limits**: any policy covers all executions; coarser ones only lose precision.

use cssame_ir::{Function, FunctionId, Instruction, NewThread, Program};
use petgraph::Direction;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;

/// How a function's contexts are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// By call string.
    Clone,
    /// One for each thread.
    PerThread,
    /// One, in the pseudo-thread that counts as parallel with everything.
    Unordered,
}

/// The unfolded graph may have that many blocks, or four times those of the program.
pub(super) const BLOCK_BUDGET: u64 = 200_000;

/// Static threads beyond which contexts are merged, and iterations are not told apart: whether two of them may run in parallel is
/// asked of each pair.
pub(super) const THREAD_BUDGET: u64 = 4_096;

/// The number of blocks that iterations of counted loops may add to the unfolded graph.
pub(super) const UNROLLING_BUDGET: u64 = 20_000;

/// How large the unfolded graph is: its blocks, and the static threads that it has beside `main`.
#[derive(Clone, Copy, Debug)]
struct Size {
    blocks: u64,
    threads: u64,
}

impl Size {
    fn has_room_for(self, other: Size) -> bool {
        other.blocks <= self.blocks && other.threads <= self.threads
    }
}

/// How the contexts of all functions are told apart.
pub(super) struct Policies {
    /// By function.
    pub policies: Vec<Policy>,
    /// By function: whether it can call or run itself.
    pub recursive: Vec<bool>,
    /// By function: the blocks of a context of it, with those of all that it calls and runs.
    pub cost: Vec<u64>,
    /// Whether contexts are merged because the unfolding would grow too large.
    pub merged: bool,
}

/// Decides how contexts are told apart, by what the unfolding would cost.
///
/// `limit` is the number of blocks that the unfolded graph may have in any case.
pub(super) fn choose_policies(program: &Program, main: FunctionId, limit: u64) -> Policies {
    let count = program.functions.len();
    let mut graph: DiGraph<(), bool> = DiGraph::with_capacity(count, count * 2);
    for _ in 0..count {
        graph.add_node(());
    }
    let mut calls = vec![0u32; count];
    for (id, function) in program.functions.entries() {
        for (callee, forks) in callees(function) {
            graph.add_edge(NodeIndex::new(id.index()), NodeIndex::new(callee.index()), forks);
            calls[callee.index()] += 1;
        }
    }
    let mut recursive = vec![false; count];
    let mut policies = vec![Policy::Clone; count];
    let mut cost = vec![0u64; count];
    let mut threads = vec![0u64; count];
    // Step 1: callees before callers.
    let components = kosaraju_scc(&graph);
    for component in &components {
        let inside = |node: NodeIndex| component.contains(&node);
        let cyclic = component.len() > 1 || graph.contains_edge(component[0], component[0]);
        let forks = cyclic
            && component.iter().any(|&node| graph.edges(node).any(|edge| *edge.weight() && inside(edge.target())));
        let (mut total, mut made) = (0u64, 0u64);
        for &node in component {
            let own = program.functions[FunctionId::new(node.index())].blocks.len() as u64 + 2;
            let outside = graph.neighbors(node).filter(|&target| !inside(target)).map(|target| cost[target.index()]);
            total = outside.fold(total.saturating_add(own), u64::saturating_add);
            let outside = graph.edges(node).filter(|edge| !inside(edge.target()));
            let of = outside.map(|edge| threads[edge.target().index()].saturating_add(u64::from(*edge.weight())));
            made = of.fold(made, u64::saturating_add);
        }
        for &node in component {
            cost[node.index()] = total;
            threads[node.index()] = made;
            recursive[node.index()] = cyclic;
            if forks {
                policies[node.index()] = Policy::Unordered;
            } else if cyclic && component.len() > 4 {
                // Call strings through a large component would be many.
                policies[node.index()] = Policy::PerThread;
            }
        }
    }
    let blocks: u64 = program.functions.iter().map(|function| function.blocks.len() as u64).sum();
    let budget = limit.max(blocks.saturating_mul(4));
    // Step 2.
    let forks = graph.edge_weights().filter(|&&forks| forks).count() as u64;
    let most = Size { blocks: budget, threads: THREAD_BUDGET.max(forks.saturating_mul(4)) };
    let merged = !most.has_room_for(Size { blocks: cost[main.index()], threads: threads[main.index()] });
    if merged {
        let reaching = threads_that_reach(program, main, (&graph, &components), most);
        merge_contexts(&reaching, &calls, most, &mut policies);
    }
    Policies { policies, recursive, cost, merged }
}

/// Merges the contexts of functions that are called from several places, by the threads that reach them.
fn merge_contexts((threads, size): &(Vec<u64>, Size), calls: &[u32], most: Size, policies: &mut [Policy]) {
    let rough = Size { blocks: most.blocks.saturating_mul(4), ..most };
    for (node, policy) in policies.iter_mut().enumerate() {
        if *policy == Policy::Clone && calls[node] > 1 {
            *policy = if most.has_room_for(*size) || threads[node] <= 1 && rough.has_room_for(*size) {
                Policy::PerThread
            } else {
                Policy::Unordered
            };
        }
    }
}

/// By function: the static threads that reach it by calls, if it has one context in each; and how large the graph is then. A rough
/// sum is enough where that is much more than there is room for.
fn threads_that_reach(
    program: &Program,
    main: FunctionId,
    (graph, components): (&DiGraph<(), bool>, &[Vec<NodeIndex>]),
    most: Size,
) -> (Vec<u64>, Size) {
    let mut threads = vec![0u64; program.functions.len()];
    let mut seen = vec![usize::MAX; program.functions.len()];
    let mut size = Size { blocks: 0, threads: 0 };
    // Callers first: who runs a function as a thread is reached by all threads that ever reach it before those are counted. One that
    // runs itself has a single context.
    let callers_first = components.iter().rev().flatten().copied();
    for (round, root) in callers_first.enumerate() {
        let forks = graph.edges_directed(root, Direction::Incoming).filter(|edge| *edge.weight());
        let forked = forks.map(|edge| threads[edge.source().index()]).fold(0, u64::saturating_add);
        let made = forked.saturating_add(u64::from(root.index() == main.index()));
        size.threads = size.threads.saturating_add(forked);
        let mut waiting = if made > 0 { vec![root] } else { Vec::new() };
        while let Some(node) = waiting.pop() {
            if std::mem::replace(&mut seen[node.index()], round) == round {
                continue;
            }
            let blocks = program.functions[FunctionId::new(node.index())].blocks.len() as u64;
            threads[node.index()] = threads[node.index()].saturating_add(made);
            size.blocks = size.blocks.saturating_add(made.saturating_mul(blocks));
            let calls = graph.edges(node).filter(|edge| !edge.weight());
            waiting.extend(calls.map(|edge| edge.target()));
        }
        if size.blocks > most.blocks.saturating_mul(4) {
            break;
        }
    }
    (threads, size)
}

/// The functions that a function calls (false) or runs as threads (true).
fn callees(function: &Function) -> impl Iterator<Item = (FunctionId, bool)> {
    function.blocks.iter().flat_map(|block| &block.instructions).flat_map(called_by)
}

/// The functions that an instruction calls (false) or runs as threads (true).
pub(super) fn called_by(instruction: &Instruction) -> impl Iterator<Item = (FunctionId, bool)> {
    let call = match instruction {
        Instruction::Call { function, .. } => Some(*function),
        _ => None,
    };
    let run = instruction.new_threads().iter().flat_map(NewThread::functions).map(|function| (function, true));
    call.map(|callee| (callee, false)).into_iter().chain(run)
}
