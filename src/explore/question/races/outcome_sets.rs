//! Computes for each state the set of outcomes that can be reached from it.
//!
//! **Input**: the whole graph of a search, and the outcome of each state in which executions end. **Output**: the
//! number of a set for each state; equal sets have equal numbers.
//!
//! **Algorithm**.
//!
//! 1. The set of an end is its outcome. The set of any other state is the union of the sets of its successors. Visit the states
//!    backwards until nothing changes: once if there are no back edges, since the search numbers states by their depth.
//! 2. If a state has no outcome after this, and some execution continues from it without being discarded, that execution never
//!    ends: this is an outcome of its own. Repeat step 1 with it.
//!
//! Sets and the computed unions are stored once: a set is a number.
//!
//! **Soundness and limits**: exact. If the sets would take too much memory, there is no answer.

use crate::states::edges::EdgeLists;
use crate::states::graph::{DISCARDED, Graph};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Words of all sets together.
const MAX_WORDS: usize = 32 << 20;

/// Numbers of sets; 0 is the empty one.
type SetId = u32;

#[derive(Default)]
struct Sets {
    list: Vec<Rc<[u64]>>,
    ids: FxHashMap<Rc<[u64]>, SetId>,
    unions: FxHashMap<(SetId, SetId), SetId>,
    words: usize,
}

impl Sets {
    fn id(&mut self, set: Rc<[u64]>) -> SetId {
        if let Some(&id) = self.ids.get(&set) {
            return id;
        }
        // A set that is hardly larger than its entry in the tables counts as well.
        self.words += set.len() + 16;
        self.list.push(Rc::clone(&set));
        let id = self.list.len() as SetId - 1;
        self.ids.insert(set, id);
        id
    }

    fn single(&mut self, outcome: u32, width: usize) -> SetId {
        let mut words = vec![0; width];
        words[outcome as usize / 64] |= 1 << (outcome % 64);
        self.id(words.into())
    }

    fn union(&mut self, a: SetId, b: SetId) -> SetId {
        if a == b || b == 0 {
            return a;
        }
        if a == 0 {
            return b;
        }
        let key = (a.min(b), a.max(b));
        if let Some(&known) = self.unions.get(&key) {
            return known;
        }
        let words = self.list[a as usize].iter().zip(self.list[b as usize].iter()).map(|(a, b)| a | b).collect();
        let id = self.id(words);
        self.unions.insert(key, id);
        id
    }
}

/// The outcomes of all states.
pub(super) struct OutcomeSets {
    of_node: Vec<SetId>,
}

impl OutcomeSets {
    /// `ends` are states with the numbers of their outcomes; `lasting` the states that count, where not all do.
    pub(super) fn new(graph: &Graph, lasting: Option<&FixedBitSet>, ends: &[(u32, u32)]) -> Option<OutcomeSets> {
        let outcomes = ends.iter().map(|end| end.1 + 1).max().unwrap_or(0);
        // One outcome more: that there is no end.
        let width = (outcomes as usize + 1).div_ceil(64);
        let mut sets = Sets::default();
        sets.id(vec![0; width].into());
        let mut of_node = vec![0; graph.len()];
        for &(node, outcome) in ends {
            of_node[node as usize] = sets.single(outcome, width);
        }
        let edges = graph.edge_lists();
        propagate(&edges, &mut sets, &mut of_node)?;
        let endless = sets.single(outcomes, width);
        let mut changed = false;
        for (node, set) in of_node.iter_mut().enumerate() {
            if *set == 0 && lasting.is_none_or(|states| states.contains(node)) {
                *set = endless;
                changed = true;
            }
        }
        if changed {
            propagate(&edges, &mut sets, &mut of_node)?;
        }
        Some(OutcomeSets { of_node })
    }

    /// The number of the set of a state.
    pub(super) fn of(&self, node: u32) -> SetId {
        self.of_node[node as usize]
    }
}

fn propagate(edges: &EdgeLists, sets: &mut Sets, of_node: &mut [SetId]) -> Option<()> {
    let mut changed = true;
    while changed {
        changed = false;
        for node in (0..of_node.len() as u32).rev() {
            let before = of_node[node as usize];
            let mut set = before;
            for &target in edges.of(node) {
                if target != DISCARDED {
                    set = sets.union(set, of_node[target as usize]);
                }
            }
            changed |= set != before;
            of_node[node as usize] = set;
            // Each state may have a set of its own.
            if sets.words > MAX_WORDS {
                return None;
            }
        }
    }
    Some(())
}
