//! The natural loops of a reducible graph, and the block that follows each in the text.
//!
//! **Input**: a [`Graph`]. **Output**: the innermost loop around each block, and the follow of each loop.
//!
//! **Algorithm**: from the innermost loop outwards, each loop is walked backwards from the jumps to its head; an inner loop
//! counts as one block, by union-find (Havlak, "Nesting of Reducible and Irreducible Loops", 1997). The follow of a loop is a
//! block outside that its head dominates, and that follows the loop in the text. It is not a `return` in the body, nor a block
//! between a test in the body and its `break`. A block that may be the follow of several loops is the follow of the outermost
//! one.

use super::graph::Graph;
use crate::BlockId;
use petgraph::unionfind::UnionFind;

/// The loops of a graph. A loop is named by its head.
pub(super) struct Loops {
    is_head: Vec<bool>,
    around: Vec<Option<BlockId>>,
    follows: Vec<Option<BlockId>>,
}

impl Loops {
    pub(super) fn new(graph: &Graph<'_>) -> Loops {
        let count = graph.function.blocks.len();
        let mut loops = Loops { is_head: vec![false; count], around: vec![None; count], follows: vec![None; count] };
        loops.nest(graph);
        loops.choose_follows(graph);
        loops
    }

    /// Whether a loop begins with the block.
    pub(super) fn is_head(&self, block: BlockId) -> bool {
        self.is_head[block.index()]
    }

    /// The block behind the loop.
    pub(super) fn follow(&self, head: BlockId) -> Option<BlockId> {
        self.follows[head.index()]
    }

    fn nest(&mut self, graph: &Graph<'_>) {
        let count = graph.function.blocks.len();
        // The blocks of a loop are one set; by the number of the set, its head.
        let mut sets: UnionFind<usize> = UnionFind::new(count);
        let mut heads: Vec<BlockId> = graph.function.blocks.ids().collect();
        for &head in graph.order.iter().rev() {
            let mut open: Vec<BlockId> = graph.latches(head).collect();
            self.is_head[head.index()] = !open.is_empty();
            while let Some(block) = open.pop() {
                let block = heads[sets.find_mut(block.index())];
                if block != head {
                    self.around[block.index()] = Some(head);
                    sets.union(block.index(), head.index());
                    heads[sets.find_mut(head.index())] = head;
                    open.extend(graph.ways_in(block));
                }
            }
        }
    }

    fn choose_follows(&mut self, graph: &Graph<'_>) {
        let count = graph.function.blocks.len();
        let mut candidates: Vec<Vec<BlockId>> = vec![Vec::new(); count];
        let mut ends = vec![0; count];
        for &head in &graph.order {
            ends[head.index()] = graph.latches(head).map(|latch| graph.text_end(latch)).max().unwrap_or(0);
        }
        let mut places = LoopPlaces::new(graph, self);
        for &block in graph.order.iter().skip(1) {
            // Behind a loop that is in a loop around the block, or in none.
            let is_behind = |head: BlockId| {
                let around = self.around[block.index()];
                graph.text_end(block) >= ends[head.index()] && around.is_none_or(|around| graph.dominates(around, head))
            };
            let left = places.left_by(graph, self, block);
            let behind: Vec<Left> = left.into_iter().filter(|left| is_behind(left.head)).collect();
            behind.iter().for_each(|left| candidates[left.head.index()].push(block));
            places.place(graph, self, block, behind.last().copied());
        }
        let mut is_taken = vec![false; count];
        for &head in graph.order.iter().filter(|head| self.is_head[head.index()]) {
            let free = candidates[head.index()].iter().copied().filter(|block| !is_taken[block.index()]);
            // Of equal ones the last in reverse postorder.
            if let Some(follow) = free.max_by_key(|&block| graph.text_end(block)) {
                is_taken[follow.index()] = true;
                self.follows[head.index()] = Some(follow);
            }
        }
    }
}

/// The loops around the place of each block, among them loops that the block does not belong to: a `return` stands in a loop, but
/// does not belong to it.
pub(super) struct LoopPlaces {
    /// A loop, and the list of those around it. Lists share their tails.
    cells: Vec<(BlockId, Option<usize>)>,
    /// By block that has a place: the loops around it, from inside outwards; that of the block too, if it is the head of one.
    lists: Vec<Option<usize>>,
}

/// A loop that a block does not belong to, around the place of its immediate dominator.
#[derive(Clone, Copy)]
pub(super) struct Left {
    pub(super) head: BlockId,
    around: Option<usize>,
}

impl LoopPlaces {
    /// The place of the entry.
    pub(super) fn new(graph: &Graph<'_>, loops: &Loops) -> LoopPlaces {
        let mut places = LoopPlaces { cells: Vec::new(), lists: vec![None; graph.function.blocks.len()] };
        if let Some(&entry) = graph.order.first() {
            places.put(loops, entry, None);
        }
        places
    }

    /// The loops around the place of the immediate dominator of a block that the block does not belong to, from inside
    /// outwards.
    pub(super) fn left_by(&self, graph: &Graph<'_>, loops: &Loops, block: BlockId) -> Vec<Left> {
        let list = self.lists[graph.immediate_dominator(block).index()];
        let cells = std::iter::successors(list, |&cell| self.cells[cell].1).map(|cell| self.cells[cell]);
        let mut kept = loops.around[block.index()];
        let mut left = Vec::new();
        for (head, around) in cells {
            // The loops that a block belongs to are all around the place of its immediate dominator.
            if Some(head) == kept {
                kept = loops.around[head.index()];
            } else {
                left.push(Left { head, around });
            }
        }
        left
    }

    /// Places a block behind a loop, or else within all that its immediate dominator is in.
    pub(super) fn place(&mut self, graph: &Graph<'_>, loops: &Loops, block: BlockId, behind: Option<Left>) {
        let list = self.lists[graph.immediate_dominator(block).index()];
        self.put(loops, block, behind.map_or(list, |left| left.around));
    }

    fn put(&mut self, loops: &Loops, block: BlockId, mut list: Option<usize>) {
        if loops.is_head(block) {
            self.cells.push((block, list));
            list = Some(self.cells.len() - 1);
        }
        self.lists[block.index()] = list;
    }
}
