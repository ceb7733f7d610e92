//! Executions that cover instances which are known to be feasible.
//!
//! **Input**: the graph of all steps, and an instance. **Output**: the steps of an execution that covers it, up to the step of its
//! last access.
//!
//! **Algorithm**: breadth-first search through pairs of a state and a beginning of the instance (or no beginning). Each pair
//! keeps the step that first led to it, so the execution is a shortest one.
//!
//! **Soundness and limits**: an execution that is found covers the instance. If the bound on the work is hit, no execution is
//! found.

use super::Space;
use super::beginnings::{Beginnings, NONE};
use crate::instance::Instance;
use crate::matching::Candidates;
use cssame_budget::Budget;
use cssame_vm::Choice;
use rustc_hash::FxHashSet;

/// Pairs between two looks at the bounds.
const LOOK: usize = 1 << 16;

/// A pair that was met.
#[derive(Clone, Copy)]
struct Met {
    state: u32,
    /// The beginning, by number.
    beginning: u32,
    /// The pair before it, by place, and the step between them; none at first.
    before: Option<(u32, u32)>,
}

struct Search<'a> {
    space: &'a Space,
    beginnings: Beginnings<'a>,
    met: Vec<Met>,
    seen: FxHashSet<(u32, u32)>,
}

/// The steps of an execution that covers an instance; takes what it looks at off the pairs that are left.
pub(super) fn witness(space: &Space, instance: Instance, left: &mut u64, budget: &Budget<'_>) -> Option<Vec<Choice>> {
    let first = *instance.accesses().first()?;
    let open = Candidates::new([instance]);
    let beginnings = Beginnings::new(&space.trie, &space.graph, &space.kinds, first, open);
    let mut search = Search { space, beginnings, met: Vec::new(), seen: FxHashSet::default() };
    let found = search.run(*left, budget);
    *left = left.saturating_sub(search.met.len() as u64);
    found
}

impl Search<'_> {
    fn run(&mut self, most: u64, budget: &Budget<'_>) -> Option<Vec<Choice>> {
        self.meet(0, NONE, None);
        for beginning in self.beginnings.at_first() {
            self.meet(0, beginning, None);
        }
        let (mut place, mut looked) = (0, 0);
        while let Some(&Met { state, beginning, .. }) = self.met.get(place) {
            for edge in self.space.graph.edges_of(state) {
                let to = self.space.graph.edges()[edge].to;
                let next = self.beginnings.of_kind(self.space.kinds.of(edge), beginning);
                let before = Some((place as u32, edge as u32));
                if !self.beginnings.covered.is_empty() {
                    return Some(self.steps(before));
                }
                if beginning == NONE {
                    self.meet(to, NONE, before);
                }
                for beginning in next {
                    self.meet(to, beginning, before);
                }
            }
            place += 1;
            if self.met.len() - looked >= LOOK {
                looked = self.met.len();
                let bytes = looked * (size_of::<Met>() + 2 * size_of::<(u32, u32)>());
                if looked as u64 > most || budget.exceeds_memory(bytes as u64) || budget.check().is_some() {
                    return None;
                }
            }
        }
        None
    }

    fn meet(&mut self, state: u32, beginning: u32, before: Option<(u32, u32)>) {
        if self.seen.insert((state, beginning)) {
            self.met.push(Met { state, beginning, before });
        }
    }

    /// The steps that lead to a pair, and behind it.
    fn steps(&self, last: Option<(u32, u32)>) -> Vec<Choice> {
        let back = std::iter::successors(last, |&(place, _)| self.met[place as usize].before);
        let mut steps: Vec<Choice> = back.map(|(_, edge)| self.space.graph.edges()[edge as usize].choice).collect();
        steps.reverse();
        steps
    }
}
