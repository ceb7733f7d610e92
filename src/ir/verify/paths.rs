//! Properties of every path: registers are written before they are read, atomic blocks are balanced, forked threads are joined
//! before the function returns.
//!
//! In: a function whose ids exist. Out: registers that some path reads unwritten, and paths that violate the other two
//! properties.
//!
//! A register that is read before it is written is live at the entry. From each block that reads it before it writes it, the
//! search goes backwards over blocks that do not write it. Registers of a single block cost nothing. Blocks that the entry does
//! not reach do not count.

use super::Scope;
use crate::flow::{Successors, predecessors, reverse_postorder};
use crate::{BlockId, Function, Instruction, RegisterId, Terminator};

/// Checks the paths of a function.
pub(super) fn check_paths(scope: &mut Scope<'_>) {
    let order = reverse_postorder(scope.function, Successors::InOrder);
    check_assignment(scope, &order);
    check_nesting(scope, &order);
}

fn check_assignment(scope: &mut Scope<'_>, order: &[BlockId]) {
    let function = scope.function;
    let (exposed, written) = accesses(function, order);
    let before = predecessors(function);
    let mut reachable = vec![false; function.blocks.len()];
    order.iter().for_each(|block| reachable[block.index()] = true);
    let mut seen: Vec<Option<RegisterId>> = vec![None; function.blocks.len()];
    let mut work = Vec::new();
    for reads in exposed.chunk_by(|a, b| a.0 == b.0) {
        let register = reads[0].0;
        if function.parameters.contains(&register) {
            continue;
        }
        work.extend(reads.iter().map(|&(_, block)| block));
        while let Some(block) = work.pop() {
            if seen[block.index()].replace(register) == Some(register) {
                continue;
            }
            if block.index() == 0 {
                scope.at(reads[0].1, None);
                scope.demand(false, || format!("register {} may be read before it is written", register.0));
                work.clear();
                break;
            }
            let open = before[block.index()].iter().filter(|from| reachable[from.index()]);
            work.extend(open.filter(|&&from| written.binary_search(&(register, from)).is_err()));
        }
    }
}

/// Registers with the blocks that access them, sorted.
type Accesses = Vec<(RegisterId, BlockId)>;

/// The registers that blocks read before they write them, and those that blocks write.
fn accesses(function: &Function, order: &[BlockId]) -> (Accesses, Accesses) {
    let (mut exposed, mut written) = (Accesses::new(), Accesses::new());
    let mut newest: Vec<Option<BlockId>> = vec![None; function.registers.len()];
    for &id in order {
        let block = &function.blocks[id];
        for instruction in &block.instructions {
            instruction.uses(&mut |register| {
                if newest[register.index()] != Some(id) {
                    exposed.push((register, id));
                }
            });
            if let Some(dest) = instruction.dest() {
                newest[dest.index()] = Some(id);
                written.push((dest, id));
            }
        }
        if let Some(register) = block.terminator.register()
            && newest[register.index()] != Some(id)
        {
            exposed.push((register, id));
        }
    }
    exposed.sort_unstable();
    exposed.dedup();
    written.sort_unstable();
    written.dedup();
    (exposed, written)
}

/// What is open at a point: atomic blocks, and whether there may be threads to be joined.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Open {
    atomic: u32,
    forked: bool,
}

fn check_nesting(scope: &mut Scope<'_>, order: &[BlockId]) {
    let heads = open_at_heads(scope.function, order);
    for &id in order {
        let Some(mut open) = heads[id.index()] else { continue };
        let block = &scope.function.blocks[id];
        for (position, instruction) in block.instructions.iter().enumerate() {
            scope.at(id, Some(position));
            let ends = matches!(instruction, Instruction::AtomicEnd) && open.atomic == 0;
            scope.demand(!ends, || "the end of an atomic block that has not begun".into());
            open.pass(instruction);
        }
        scope.at(id, Some(block.instructions.len()));
        if let Terminator::Return(_) = block.terminator {
            scope.demand(open.atomic == 0, || "returns inside an atomic block".into());
            scope.demand(!open.forked, || "returns without joining what it forked".into());
        }
        for target in block.terminator.successors() {
            let balanced = heads[target.index()].is_some_and(|head| head.atomic == open.atomic);
            scope.demand(balanced, || format!("atomic blocks are unbalanced at block {}", target.0));
        }
    }
}

/// What is open at the head of each block, the first way in deciding on atomic blocks.
fn open_at_heads(function: &Function, order: &[BlockId]) -> Vec<Option<Open>> {
    let mut heads: Vec<Option<Open>> = vec![None; function.blocks.len()];
    let mut work: Vec<BlockId> = order.first().copied().into_iter().collect();
    if let Some(entry) = heads.first_mut() {
        *entry = Some(Open { atomic: 0, forked: false });
    }
    while let Some(id) = work.pop() {
        let Some(mut open) = heads[id.index()] else { continue };
        let block = &function.blocks[id];
        block.instructions.iter().for_each(|instruction| open.pass(instruction));
        for target in block.terminator.successors() {
            let head = &mut heads[target.index()];
            let met = head.map_or(open, |old| Open { atomic: old.atomic, forked: old.forked || open.forked });
            if *head != Some(met) {
                *head = Some(met);
                work.push(target);
            }
        }
    }
    heads
}

impl Open {
    fn pass(&mut self, instruction: &Instruction) {
        match instruction {
            Instruction::AtomicBegin => self.atomic += 1,
            Instruction::AtomicEnd => self.atomic = self.atomic.saturating_sub(1),
            Instruction::Fork { .. } => self.forked = true,
            Instruction::Join => self.forked = false,
            _ => {}
        }
    }
}
