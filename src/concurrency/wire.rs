//! The edges between threads: forks to the entries of their threads, and their exits to the joins.
//!
//! **Input**: the blocks of all contexts. **Output**: value-flow edges, and the merges at which all branches have run.
//!
//! **Soundness and limits**: a join that may be passed without any of several threads, such as the join of a `parfor` with an
//! unknown number of iterations, merges with the path that bypasses all of them.

use super::AndJoin;
use super::builder::GraphBuilder;
use super::context::Site;
use cssame_ir::{BlockId, Function, Instruction};
use cssame_ssa::graph::Graph;

impl GraphBuilder<'_> {
    /// Wires forks to the entries of their threads.
    pub fn wire_threads(&mut self) {
        let mut forks: Vec<u32> = self.forks.keys().copied().collect();
        forks.sort_unstable();
        for fork in forks {
            for position in 0..self.forks[&fork].len() {
                let thread = self.forks[&fork][position];
                let root = self.unfolding.threads[thread].root;
                self.flow_edges.push((fork, self.unfolding.contexts[root].entry));
            }
        }
    }

    /// Wires the exits of forked threads to the join of their fork.
    pub fn wire_joins(&mut self, local: &Graph) {
        let joins = std::mem::take(&mut self.joins);
        for join in &joins {
            let function = &self.program.functions[self.unfolding.contexts[join.at.context].function];
            let Some((block, position)) = fork_of_join(function, (join.at.block, join.at.position)) else { continue };
            // A loop that makes the threads of a `parfor` has no iterations, so fork and join are in one.
            let Some(&fork) = self.fork_blocks.get(&Site { block, position, ..join.at }) else { continue };
            self.wire_join(join.block, fork, local);
        }
        self.joins = joins;
    }

    fn wire_join(&mut self, join: u32, fork: u32, local: &Graph) {
        let threads = self.forks[&fork].clone();
        let mut branches = Vec::new();
        for &thread in &threads {
            let exit = self.unfolding.contexts[self.unfolding.threads[thread].root].exit;
            self.flow_edges.push((exit, join));
            branches.push(vec![exit]);
        }
        self.joined.push((fork, join));
        // Where the number of iterations is not known there may be none: no branch is sure to have run.
        if threads.iter().all(|&thread| !self.unfolding.threads[thread].multiple) {
            branches.push(local.predecessors(join).to_vec());
            self.and_joins.push(AndJoin { block: join, marker: fork, branches, threads });
        }
    }
}

/// The fork that a join waits for: the instruction before it (`cobegin`), or the one in the loop before it (`parfor`).
/// `None` for the join of a handle.
fn fork_of_join(function: &Function, (block, position): (BlockId, u32)) -> Option<(BlockId, u32)> {
    if !matches!(function.blocks[block].instructions[position as usize], Instruction::Join) {
        return None;
    }
    let predecessors = cssame_ir::flow::predecessors(function);
    let mut seen = vec![false; function.blocks.len()];
    let mut waiting = vec![(block, position as usize)];
    while let Some((at, end)) = waiting.pop() {
        for (earlier, instruction) in function.blocks[at].instructions[..end].iter().enumerate().rev() {
            if matches!(instruction, Instruction::Fork { .. }) {
                return Some((at, earlier as u32));
            }
        }
        for &from in &predecessors[at.index()] {
            if !std::mem::replace(&mut seen[from.index()], true) {
                waiting.insert(0, (from, function.blocks[from].instructions.len()));
            }
        }
    }
    None
}
