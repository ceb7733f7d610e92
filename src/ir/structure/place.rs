//! The position of each block among labelled blocks and loops.
//!
//! **Input**: a reducible graph and its loops. **Output**: a list of [`Token`]s, in which every edge is a jump.
//!
//! **Algorithm**
//! 1. Compute a new reverse postorder, in which the follow of a loop is visited before the body: among the blocks that the head
//!    of the loop dominates, exactly those that the follow leads to come after the loop in the order.
//! 2. Assign a place to each block. A block with one incoming edge is inline, at the target of that edge. The follow of a loop is
//!    placed after the loop. A block with several incoming edges that would be in the loop, but to which the follow leads, is
//!    placed after the loop too. Any other block with several incoming edges is placed after its immediate dominator, within the
//!    loop of that dominator.
//! 3. Blocks after a block are in reverse postorder, each in the labelled blocks of the later ones. So every forward edge leads
//!    out of a labelled block that ends where its target begins.
//! 4. Beyond [`DEEP`] levels, the larger one of the inline blocks at a branch is moved after the branch, so that long ladders of
//!    branches become a sequence.

use super::graph::{Graph, ranks_of};
use super::loops::{Left, LoopPlaces, Loops};
use crate::{BlockId, Terminator};

/// Levels that inline blocks make.
const DEEP: u32 = 100;

/// A piece of the text of a structured program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// The instructions of a block.
    Block(BlockId),
    /// Begins a labelled block that ends before the block.
    Labelled(BlockId),
    /// Begins the loop of that head.
    Loop(BlockId),
    /// The test of a block, and the beginning of what is run where its condition holds.
    If(BlockId),
    /// The beginning of what is run where the condition of the `If` does not hold.
    Else,
    /// Ends a `Labelled`, a `Loop` or an `If` with its `Else`.
    End,
    /// Leaves the labelled block before that block.
    Break(BlockId),
    /// Goes to the head of a loop.
    Continue(BlockId),
    /// The return of a block.
    Return(BlockId),
}

/// What stands behind each block.
struct Places {
    is_inline: Vec<bool>,
    /// Within the loop of the block, if it is the head of one; in reverse postorder.
    inside: Vec<Vec<BlockId>>,
    /// Behind the loop.
    outside: Vec<Vec<BlockId>>,
}

/// The text of the function.
pub(super) fn place_blocks(graph: &Graph<'_>, loops: &Loops) -> Vec<Token> {
    let order = order_with_follows(graph, loops);
    let ranks = ranks_of(&order, graph.function.blocks.len());
    let mut places = Places::new(graph, loops, &order, &ranks);
    places.flatten(graph, loops, &order, &ranks);
    places.tokens(graph, loops, order.first().copied())
}

/// A reverse postorder of the graph with an edge from the head of each loop to its follow, which is visited first; of
/// others the one that is later in the text.
fn order_with_follows(graph: &Graph<'_>, loops: &Loops) -> Vec<BlockId> {
    let ways_on = |block: BlockId| {
        let mut targets: Vec<BlockId> = graph.function.blocks[block].terminator.successors().collect();
        targets.sort_by_key(|&target| graph.text_end(target));
        targets.extend(loops.follow(block));
        targets
    };
    let mut order = Vec::with_capacity(graph.order.len());
    let mut is_seen = vec![false; graph.function.blocks.len()];
    let mut stack = Vec::new();
    if let Some(&entry) = graph.order.first() {
        is_seen[entry.index()] = true;
        stack.push((entry, ways_on(entry)));
    }
    while let Some((block, left)) = stack.last_mut() {
        match left.pop() {
            Some(target) if std::mem::replace(&mut is_seen[target.index()], true) => {}
            Some(target) => stack.push((target, ways_on(target))),
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}

impl Places {
    fn new(graph: &Graph<'_>, loops: &Loops, order: &[BlockId], ranks: &[u32]) -> Places {
        let count = graph.function.blocks.len();
        let mut places =
            Places { is_inline: vec![false; count], inside: vec![Vec::new(); count], outside: vec![Vec::new(); count] };
        let mut loop_places = LoopPlaces::new(graph, loops);
        for &block in order.iter().skip(1) {
            let is_merge = graph.is_merge(block);
            let is_behind = |left: &Left| {
                let follow = loops.follow(left.head);
                let comes_later = |follow: BlockId| ranks[follow.index()] < ranks[block.index()];
                follow == Some(block) || is_merge && follow.is_some_and(comes_later)
            };
            let behind = loop_places.left_by(graph, loops, block).into_iter().rfind(is_behind);
            loop_places.place(graph, loops, block, behind);
            if let Some(left) = behind {
                places.outside[left.head.index()].push(block);
            } else if is_merge {
                places.inside[graph.immediate_dominator(block).index()].push(block);
            } else {
                places.is_inline[block.index()] = true;
            }
        }
        places
    }

    /// Step 4: counts levels from the entry on. Labelled blocks count, though many of them turn out not to be needed.
    fn flatten(&mut self, graph: &Graph<'_>, loops: &Loops, order: &[BlockId], ranks: &[u32]) {
        let sizes = dominated(graph, order);
        let mut levels = vec![0_u32; graph.function.blocks.len()];
        for &block in order {
            let at = block.index();
            let within = levels[at] + self.outside[at].len() as u32 + u32::from(loops.is_head(block));
            let mut level = within + self.inside[at].len() as u32;
            let terminator = &graph.function.blocks[block].terminator;
            let is_branch = matches!(terminator, Terminator::Branch { .. });
            let inline = |target: &BlockId| self.is_inline[target.index()] && !graph.is_back_edge(block, *target);
            let targets: Vec<BlockId> = terminator.successors().filter(inline).collect();
            let largest = targets.iter().copied().max_by_key(|target| sizes[target.index()]);
            if let Some(target) = largest.filter(|_| is_branch && level >= DEEP) {
                self.is_inline[target.index()] = false;
                self.inside[at].push(target);
                self.inside[at].sort_by_key(|behind| ranks[behind.index()]);
                level += 1;
            }
            targets.iter().for_each(|target| levels[target.index()] = level + u32::from(is_branch));
            for (below, behind) in self.inside[at].iter().rev().enumerate() {
                levels[behind.index()] = within + below as u32;
            }
            for (below, behind) in self.outside[at].iter().rev().enumerate() {
                levels[behind.index()] = levels[at] + below as u32;
            }
        }
    }

    fn tokens(&self, graph: &Graph<'_>, loops: &Loops, entry: Option<BlockId>) -> Vec<Token> {
        let mut tokens = Vec::new();
        let mut work: Vec<Work> = entry.map(Work::Tree).into_iter().collect();
        while let Some(next) = work.pop() {
            match next {
                Work::Token(token) => tokens.push(token),
                Work::Edge(from, to) if graph.is_back_edge(from, to) => tokens.push(Token::Continue(to)),
                Work::Edge(_, to) if !self.is_inline[to.index()] => tokens.push(Token::Break(to)),
                Work::Edge(_, block) | Work::Tree(block) => {
                    let begin = work.len();
                    self.tree(graph, loops, block, &mut work);
                    work[begin..].reverse();
                }
            }
        }
        tokens
    }

    /// The text of a block and all that stands behind it, in order.
    fn tree(&self, graph: &Graph<'_>, loops: &Loops, block: BlockId, work: &mut Vec<Work>) {
        let begin = |behind: &[BlockId], work: &mut Vec<Work>| {
            work.extend(behind.iter().rev().map(|&target| Work::Token(Token::Labelled(target))));
        };
        let end = |behind: &[BlockId], work: &mut Vec<Work>| {
            work.extend(behind.iter().flat_map(|&target| [Work::Token(Token::End), Work::Tree(target)]));
        };
        let (inside, outside) = (&self.inside[block.index()], &self.outside[block.index()]);
        begin(outside, work);
        work.extend(loops.is_head(block).then_some(Work::Token(Token::Loop(block))));
        // The instructions stand before the labelled blocks: these hold no more than they must.
        let this = &graph.function.blocks[block];
        work.extend((!this.instructions.is_empty()).then_some(Work::Token(Token::Block(block))));
        begin(inside, work);
        match this.terminator {
            Terminator::Jump(target) => work.push(Work::Edge(block, target)),
            Terminator::Branch { then_block, else_block, .. } => work.extend([
                Work::Token(Token::If(block)),
                Work::Edge(block, then_block),
                Work::Token(Token::Else),
                Work::Edge(block, else_block),
                Work::Token(Token::End),
            ]),
            Terminator::Return(_) | Terminator::End(_) => work.push(Work::Token(Token::Return(block))),
        }
        end(inside, work);
        work.extend(loops.is_head(block).then_some(Work::Token(Token::End)));
        end(outside, work);
    }
}

/// What is still to be written.
enum Work {
    Token(Token),
    Edge(BlockId, BlockId),
    Tree(BlockId),
}

/// By block, how many blocks it dominates.
fn dominated(graph: &Graph<'_>, order: &[BlockId]) -> Vec<u32> {
    let mut sizes = vec![1_u32; graph.function.blocks.len()];
    for &block in order.iter().skip(1).rev() {
        let size = sizes[block.index()];
        sizes[graph.immediate_dominator(block).index()] += size;
    }
    sizes
}
