//! Counting loops: the values of some registers distinguish their iterations.
//!
//! **Input**: a function. **Output**: its [`CountedLoops`]: natural loops with the registers that one instruction at the end of
//! each iteration updates, and the instruction that gives them their first value.
//!
//! **Algorithm**
//! 1. Find natural loops by back edges to dominators. Leave out a loop that has several back edges, or that creates the threads
//!    of a `parfor` (these are distinguished as threads).
//! 2. A counter of a loop is a register that only one instruction in the loop writes, in the block of the back edge, and that no
//!    instruction reads between that write and the next iteration. Its first value is the last one written on the only path into
//!    the loop.
//! 3. Leave out a loop in which no index, no distance that a pointer moves, and no argument of a call or a new thread is computed
//!    from a counter: there is nothing to distinguish.
//!
//! **Soundness and limits**: from the head of the loop to the end of an iteration a counter has one value. [`super::unrolling`]
//! determines whether these values are known, and few.

use super::value::Writers;
use cssame_ir::{
    BinaryOperator, Block, BlockId, Function, Instruction, Operand, Place, RegisterId, Terminator, ThreadLabel,
};
use cssame_ssa::dominators::Dominators;
use cssame_ssa::graph::Graph;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;

/// An instruction.
pub(super) type At = (BlockId, u32);

/// A register that a loop steps on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counter {
    pub register: RegisterId,
    /// What gives it its value before the first round.
    pub first: At,
    /// What gives it its value for the next round.
    pub next: At,
}

/// A loop with its counters.
#[derive(Clone, Debug)]
pub(super) struct CountedLoop {
    pub head: BlockId,
    /// Its blocks, sorted.
    blocks: Vec<BlockId>,
    pub counters: Vec<Counter>,
}

impl CountedLoop {
    /// Whether it holds a block.
    pub fn holds(&self, block: BlockId) -> bool {
        self.blocks.binary_search(&block).is_ok()
    }
}

/// The counted loops of a function, outer ones before those that they hold.
#[derive(Clone, Debug, Default)]
pub(super) struct CountedLoops {
    pub list: Vec<CountedLoop>,
    /// The place in the list of the loop that begins with a block.
    pub of_head: FxHashMap<BlockId, usize>,
    dominators: Option<Dominators>,
}

/// No way into a loop is followed further back, in blocks, and no chain of registers, in instructions.
const MAX_CHAIN: usize = 16;

impl CountedLoops {
    /// Those of a function.
    pub fn of(function: &Function, writers: &Writers) -> CountedLoops {
        let goes_back = |(id, block): (BlockId, &Block)| block.terminator.successors().any(|to| to <= id);
        if !function.blocks.entries().any(goes_back) {
            return CountedLoops::default();
        }
        let edges: Vec<(u32, u32)> = function
            .blocks
            .entries()
            .flat_map(|(from, block)| block.terminator.successors().map(move |to| (from.0, to.0)))
            .collect();
        let graph = Graph::from_edges(function.blocks.len(), &edges);
        let dominators = Dominators::new(&graph);
        let finder = Finder { function, writers, graph: &graph, dominators: &dominators };
        let list = finder.loops();
        let of_head = list.iter().enumerate().map(|(place, one)| (one.head, place)).collect();
        CountedLoops { list, of_head, dominators: Some(dominators) }
    }

    /// Whether every way to a block leads through another one.
    pub fn dominates(&self, above: BlockId, block: BlockId) -> bool {
        self.dominators.as_ref().is_some_and(|known| known.dominates(above.0, block.0))
    }
}

/// A loop by its back edges, and its blocks.
struct Natural {
    head: u32,
    latches: Vec<u32>,
    blocks: Vec<BlockId>,
}

struct Finder<'a> {
    function: &'a Function,
    writers: &'a Writers,
    graph: &'a Graph,
    dominators: &'a Dominators,
}

impl Finder<'_> {
    fn loops(&self) -> Vec<CountedLoop> {
        let mut latches: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for from in 0..self.graph.node_count() as u32 {
            for &to in self.graph.successors(from) {
                if self.dominators.dominates(to, from) {
                    latches.entry(to).or_default().push(from);
                }
            }
        }
        let mut natural: Vec<Natural> = latches
            .into_iter()
            .map(|(head, latches)| Natural { head, blocks: self.body(head, &latches), latches })
            .collect();
        // A loop in another one is smaller.
        natural.sort_by_key(|one| (Reverse(one.blocks.len()), one.head));
        let iterations = self.parfor_heads(&natural);
        natural.into_iter().filter(|one| !iterations.contains(&one.head)).filter_map(|one| self.counted(one)).collect()
    }

    /// The heads of the loops that make the threads of a `parfor`: the smallest ones around such forks.
    fn parfor_heads(&self, natural: &[Natural]) -> FxHashSet<u32> {
        let makes = |block: &Block| {
            let mut threads = block.instructions.iter().flat_map(Instruction::new_threads);
            threads.any(|thread| matches!(thread.label, ThreadLabel::Iteration(_)))
        };
        let forks = self.function.blocks.entries().filter(|(_, block)| makes(block));
        let mut around: FxHashMap<BlockId, Option<u32>> = forks.map(|(id, _)| (id, None)).collect();
        if around.is_empty() {
            return FxHashSet::default();
        }
        for one in natural {
            for block in &one.blocks {
                around.entry(*block).and_modify(|head| *head = Some(one.head));
            }
        }
        around.into_values().flatten().collect()
    }

    fn counted(&self, Natural { head, latches, blocks }: Natural) -> Option<CountedLoop> {
        let &[latch] = latches.as_slice() else { return None };
        // Only at the end of such a block is the way to the next round the only one.
        let (head, latch) = (BlockId(head), BlockId(latch));
        if !matches!(self.function.blocks[latch].terminator, Terminator::Jump(_)) {
            return None;
        }
        let counters = self.counters(head, latch, &blocks);
        let is_counted = !counters.is_empty() && self.matters(&blocks, &counters);
        is_counted.then_some(CountedLoop { head, blocks, counters })
    }

    /// The blocks of a loop, sorted.
    fn body(&self, head: u32, latches: &[u32]) -> Vec<BlockId> {
        let mut blocks = FxHashSet::from_iter([BlockId(head)]);
        let mut waiting = latches.to_vec();
        while let Some(block) = waiting.pop() {
            if blocks.insert(BlockId(block)) {
                let before = self.graph.predecessors(block).iter();
                waiting.extend(before.filter(|&&block| self.dominators.is_reachable(block)));
            }
        }
        let mut blocks: Vec<BlockId> = blocks.into_iter().collect();
        blocks.sort_unstable();
        blocks
    }

    fn instructions<'f>(&'f self, blocks: &'f [BlockId]) -> impl Iterator<Item = (At, &'f Instruction)> {
        blocks.iter().flat_map(|&block| {
            let instructions = self.function.blocks[block].instructions.iter().enumerate();
            instructions.map(move |(position, instruction)| ((block, position as u32), instruction))
        })
    }

    fn counters(&self, head: BlockId, latch: BlockId, blocks: &[BlockId]) -> Vec<Counter> {
        let mut writes: FxHashMap<RegisterId, u32> = FxHashMap::default();
        for (_, instruction) in self.instructions(blocks) {
            if let Some(dest) = instruction.dest() {
                *writes.entry(dest).or_default() += 1;
            }
        }
        let last = &self.function.blocks[latch].instructions;
        let mut counters = Vec::new();
        for (position, instruction) in last.iter().enumerate() {
            let Some(register) = instruction.dest() else { continue };
            // What is written once in the whole function is no counter.
            if writes[&register] != 1 || self.writers.place(register).is_some() {
                continue;
            }
            let mut is_read = false;
            for later in &last[position + 1..] {
                later.uses(&mut |used| is_read |= used == register);
            }
            if let Some(first) = self.first(head, blocks, register).filter(|_| !is_read) {
                counters.push(Counter { register, first, next: (latch, position as u32) });
            }
        }
        counters
    }

    /// The last instruction before a loop that writes a register, where there is only one way.
    fn first(&self, head: BlockId, blocks: &[BlockId], register: RegisterId) -> Option<At> {
        let outside = |block: u32| -> Option<BlockId> {
            let mut before =
                self.graph.predecessors(block).iter().filter(|&&from| blocks.binary_search(&BlockId(from)).is_err());
            let only = *before.next()?;
            before.next().is_none().then_some(BlockId(only))
        };
        let mut at = outside(head.0)?;
        for _ in 0..MAX_CHAIN {
            let instructions = self.function.blocks[at].instructions.iter();
            if let Some(position) = instructions.clone().rposition(|instruction| instruction.dest() == Some(register)) {
                return Some((at, position as u32));
            }
            at = outside(at.0)?;
        }
        None
    }

    /// Whether an index, a distance that a pointer moves, or an argument of a call or a new thread, follows from a counter.
    fn matters(&self, blocks: &[BlockId], counters: &[Counter]) -> bool {
        let follows = |operand: &Operand| self.follows(*operand, counters, MAX_CHAIN);
        let counts = |place: &Place| place.indices.iter().any(|index| follows(&index.operand));
        self.instructions(blocks).any(|(_, instruction)| match instruction {
            Instruction::Load { place, .. }
            | Instruction::Store { place, .. }
            | Instruction::Atomic { place, .. }
            | Instruction::Address { place, .. } => counts(place),
            Instruction::Synchronise(operation) => operation.places().any(counts),
            Instruction::Call { arguments, .. } => arguments.iter().any(follows),
            Instruction::Binary { op: BinaryOperator::PointerAdd, right, .. } => follows(right),
            _ => {
                let threads = instruction.new_threads().iter();
                threads.flat_map(|thread| thread.arguments.iter().chain(&thread.ordinal)).any(follows)
            }
        })
    }

    fn follows(&self, operand: Operand, counters: &[Counter], fuel: usize) -> bool {
        let Operand::Register(register) = operand else { return false };
        if counters.iter().any(|counter| counter.register == register) {
            return true;
        }
        let Some((block, position)) = self.writers.place(register).filter(|_| fuel > 0) else { return false };
        match &self.function.blocks[block].instructions[position as usize] {
            Instruction::Copy { source, .. } => self.follows(*source, counters, fuel - 1),
            Instruction::Unary { operand, .. } => self.follows(*operand, counters, fuel - 1),
            // Chains are short, but they may branch at each step.
            Instruction::Binary { left, right, .. } => {
                self.follows(*left, counters, fuel / 2) || self.follows(*right, counters, fuel / 2)
            }
            Instruction::Address { place, .. } => {
                place.indices.iter().any(|index| self.follows(index.operand, counters, fuel / 2))
            }
            _ => false,
        }
    }
}
