//! The possible orders of the operations that affect a branch, before the branch is evaluated.
//!
//! **Input**: the moves of a projection that ends, in the thread of the branch, at the evaluation of the branch. **Output**:
//! [`Orders`]: every order of the operations, up to the last one of the branch's own thread, each with a sequence of moves that
//! has it.
//!
//! **Algorithm** ("feasible orders, complete and cut" of docs/paths.md): a depth-first search through the states of the moves,
//! each with the order so far, which is a node of a trie. Actions of other threads after the last operation of the branch's own
//! thread are not part of an order. The search prefers the order of the trace, so that the first ways found are close to it.
//!
//! **Soundness and limits**: complete for the moves of the trace, unless there are more states or orders than allowed, which the
//! result reports.

use super::ids::ActionId;
use super::interleaving::{Interleaving, Step, Words};
use cssame_vm::hash;
use rustc_hash::{FxHashMap, FxHashSet};

/// States, each with its order, that are visited at most.
const MAX_STATES: usize = 100_000;

/// Work of one search, in cubes of the number of threads: what a state costs.
const MAX_WORK: u64 = 1_000_000_000;

/// Orders that are found at most.
const MAX_ORDERS: usize = 4_000;

/// An order.
#[derive(Clone, Debug)]
pub struct Order {
    /// The operations.
    pub members: Vec<ActionId>,
    /// The last of the moves that have it, for [`Orders::way`].
    last: u32,
}

/// All orders.
#[derive(Clone, Debug, Default)]
pub struct Orders {
    /// Each once, in the order in which they were found.
    pub list: Vec<Order>,
    /// Whether some may be missing.
    pub cut: bool,
    /// The moves, each with the one before it: ways share them.
    nodes: Vec<Node>,
}

impl Orders {
    /// Moves that have an order.
    #[must_use]
    pub fn way(&self, order: &Order) -> Vec<Step> {
        let node = |number: u32| self.nodes.get(number as usize);
        let back = std::iter::successors(node(order.last), |of| node(of.parent));
        let mut way: Vec<Step> = back.map(|of| of.step).collect();
        way.reverse();
        way
    }
}

/// Where a search ends.
#[derive(Clone, Copy, Debug)]
pub struct Goal {
    /// The thread of the branch; `None` where nothing is left of it.
    pub thread: Option<usize>,
    /// Whether that thread waits at the end: the goal is a wait.
    pub waits: bool,
}

/// A move.
#[derive(Clone, Copy, Debug)]
struct Node {
    parent: u32,
    step: Step,
}

struct Search<'a> {
    interleaving: &'a Interleaving<'a>,
    goal: Goal,
    /// The number of moves of the goal's thread with which its last operation is done.
    last_own: usize,
    trie: Vec<(u32, Option<ActionId>)>,
    children: FxHashMap<(u32, ActionId), u32>,
    found: FxHashSet<u32>,
    orders: Orders,
}

/// Finds all orders.
#[must_use]
pub fn orders(interleaving: &Interleaving<'_>, goal: Goal) -> Orders {
    let members = &interleaving.projection.members;
    let is_member = |id: &ActionId| members.contains(id.index());
    // Where the thread has no operation of its own, all that come before the branch count.
    let last_own = goal.thread.map_or(usize::MAX, |thread| {
        let moves = &interleaving.projection.threads[thread].moves;
        moves.iter().rposition(|actions| actions.iter().any(is_member)).map_or(usize::MAX, |last| last + 1)
    });
    let mut search = Search {
        interleaving,
        goal,
        last_own,
        trie: vec![(0, None)],
        children: FxHashMap::default(),
        found: FxHashSet::default(),
        orders: Orders::default(),
    };
    search.run();
    search.orders
}

const NO_NODE: u32 = u32::MAX;

impl Search<'_> {
    fn run(&mut self) {
        let first = self.interleaving.initial();
        let mut seen: FxHashSet<(u128, u32)> = FxHashSet::default();
        let mut stack: Vec<(Words, u32, u32)> = vec![(first, 0, NO_NODE)];
        let mut scratch: Vec<u64> = Vec::new();
        let threads = self.interleaving.projection.threads.len() as u64;
        let mut work = 0;
        while let Some((words, order, node)) = stack.pop() {
            scratch.clear();
            scratch.extend(words.iter().map(|&word| u64::from(word)));
            if !seen.insert((hash(&scratch), order)) {
                continue;
            }
            work += threads * threads * threads;
            if seen.len() > MAX_STATES || work > MAX_WORK || self.orders.list.len() >= MAX_ORDERS {
                self.orders.cut = true;
                return;
            }
            if self.is_goal(&words) {
                self.note(order, node);
                continue;
            }
            let mut steps = self.steps(&words);
            // The last one of the stack is looked at first: that which stands first in the trace.
            steps.sort_by_key(|step| std::cmp::Reverse(self.position(&words, step.thread)));
            for step in steps {
                let order = self.advance(&words, order, step);
                self.orders.nodes.push(Node { parent: node, step });
                let after = self.interleaving.apply(&words, step);
                stack.push((after, order, self.orders.nodes.len() as u32 - 1));
            }
        }
    }

    fn is_goal(&self, words: &[u32]) -> bool {
        let Some(thread) = self.goal.thread else { return true };
        if self.goal.waits {
            self.interleaving.next(words, thread).is_none()
        } else {
            self.interleaving.is_done(words, thread)
        }
    }

    fn steps(&self, words: &[u32]) -> Vec<Step> {
        let threads = 0..self.interleaving.projection.threads.len();
        threads.flat_map(|thread| self.interleaving.steps(words, thread)).collect()
    }

    fn position(&self, words: &[u32], thread: usize) -> Option<ActionId> {
        self.interleaving.next(words, thread).and_then(|actions| actions.first().copied())
    }

    /// The order behind a move.
    fn advance(&mut self, words: &[u32], order: u32, step: Step) -> u32 {
        if self.goal.thread.is_some_and(|thread| words[thread] as usize >= self.last_own) {
            return order;
        }
        let actions = self.interleaving.next(words, step.thread).unwrap_or_default();
        let mut at = order;
        for &id in actions.iter().filter(|id| self.interleaving.projection.members.contains(id.index())) {
            let trie = &mut self.trie;
            at = *self.children.entry((at, id)).or_insert_with(|| {
                trie.push((at, Some(id)));
                trie.len() as u32 - 1
            });
        }
        at
    }

    /// Notes an order that was found, with the last move of the way to it.
    fn note(&mut self, order: u32, node: u32) {
        if !self.found.insert(order) {
            return;
        }
        let (mut members, mut at) = (Vec::new(), order);
        while let (parent, Some(id)) = self.trie[at as usize] {
            members.push(id);
            at = parent;
        }
        members.reverse();
        self.orders.list.push(Order { members, last: node });
    }
}
