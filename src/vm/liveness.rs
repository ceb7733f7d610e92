//! Liveness of registers, and the assignment of frame slots.
//!
//! **Input**: a function.
//!
//! **Output**: the live registers at the borders of every block, and a [`SlotMap`].
//!
//! **Algorithm**.
//!
//! 1. Liveness: from each upward-exposed use back to the definitions, one register at a time, so that the cost is the
//!    length of the live ranges (Brandner, Boissinot, Darte, Dupont de Dinechin, Rastello: "Computing Liveness Sets for
//!    SSA-Form Programs", 2011).
//! 2. Slots: linear scan over the blocks in order. Two registers share a slot if their ranges do not overlap. Fewer slots make
//!    the states of the machine smaller.
//!
//! **Soundness and limits**: a range is the hull of all places where the register is live. A range with holes has a
//! slot for the whole hull.

use cssame_ir::{Block, Function, Instruction, RegisterId, flow};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Live registers at the borders of the blocks of one function.
pub(super) struct Liveness {
    /// At the beginning of each block.
    pub live_in: Vec<Vec<RegisterId>>,
    /// At the end of each block.
    pub live_out: Vec<Vec<RegisterId>>,
}

/// Blocks with an upward-exposed use, and blocks with a definition, of every register.
struct Occurrences {
    exposed: Vec<Vec<u32>>,
    defined: Vec<Vec<u32>>,
}

fn occurrences(function: &Function) -> Occurrences {
    let count = function.registers.len();
    let mut result = Occurrences { exposed: vec![Vec::new(); count], defined: vec![Vec::new(); count] };
    for (id, block) in function.blocks.entries() {
        let at = id.0;
        let Occurrences { exposed, defined } = &mut result;
        let mut expose = |register: RegisterId, defined: &[Vec<u32>]| {
            let list = &mut exposed[register.index()];
            if defined[register.index()].last() != Some(&at) && list.last() != Some(&at) {
                list.push(at);
            }
        };
        for instruction in &block.instructions {
            instruction.uses(&mut |register| expose(register, defined));
            if let Some(dest) = instruction.dest()
                && defined[dest.index()].last() != Some(&at)
            {
                defined[dest.index()].push(at);
            }
        }
        block.terminator.register().into_iter().for_each(|register| expose(register, defined));
    }
    result
}

/// Liveness of a function.
pub(super) fn compute(function: &Function) -> Liveness {
    let Occurrences { exposed, defined } = occurrences(function);
    let predecessors = flow::predecessors(function);
    let blocks = function.blocks.len();
    let mut live = Liveness { live_in: vec![Vec::new(); blocks], live_out: vec![Vec::new(); blocks] };
    let mut defines = vec![u32::MAX; blocks];
    let mut work = Vec::new();
    for register in function.registers.ids() {
        for &block in &defined[register.index()] {
            defines[block as usize] = register.0;
        }
        work.extend(exposed[register.index()].iter().map(|&block| block as usize));
        while let Some(block) = work.pop() {
            if live.live_in[block].last() == Some(&register) {
                continue;
            }
            live.live_in[block].push(register);
            for &predecessor in &predecessors[block] {
                let predecessor = predecessor.index();
                if live.live_out[predecessor].last() != Some(&register) {
                    live.live_out[predecessor].push(register);
                    if defines[predecessor] != register.0 {
                        work.push(predecessor);
                    }
                }
            }
        }
    }
    live
}

/// The slot of every register of a function.
pub(super) struct SlotMap {
    /// Indexed by register. A register that occurs nowhere has slot 1.
    pub slots: Vec<u32>,
    /// Words of a frame, the header included.
    pub frame_size: u32,
}

/// First and last moment at which a register is live. Moments: two for each instruction, of its reads and of its write.
#[derive(Clone, Copy)]
struct Range {
    first: u32,
    last: u32,
}

impl Range {
    fn include(&mut self, moment: u32) {
        self.first = self.first.min(moment);
        self.last = self.last.max(moment);
    }
}

fn moments(block: &Block) -> u32 {
    2 * (block.instructions.len() as u32 + 1)
}

fn ranges(function: &Function, live: &Liveness) -> Vec<Range> {
    let mut ranges = vec![Range { first: u32::MAX, last: 0 }; function.registers.len()];
    let mut moment = 0;
    let mut always = Vec::new();
    for &parameter in &function.parameters {
        ranges[parameter.index()].include(0);
    }
    for (id, block) in function.blocks.entries() {
        for register in &live.live_in[id.index()] {
            ranges[register.index()].include(moment);
        }
        for instruction in &block.instructions {
            instruction.uses(&mut |register| ranges[register.index()].include(moment));
            if let Some(dest) = instruction.dest() {
                ranges[dest.index()].include(moment + 1);
            }
            if let Instruction::Allocate { dest, .. } = instruction {
                always.push(*dest);
            }
            moment += 2;
        }
        block.terminator.register().into_iter().for_each(|register| ranges[register.index()].include(moment));
        moment += 2;
        for register in &live.live_out[id.index()] {
            ranges[register.index()].include(moment - 1);
        }
    }
    debug_assert_eq!(moment, function.blocks.iter().map(moments).sum::<u32>());
    // The frame looks at them when it ends, and before the first allocation they must be 0.
    for register in always {
        ranges[register.index()] = Range { first: 0, last: moment };
    }
    ranges
}

/// Gives every register a slot; two registers share one where their ranges do not meet.
pub(super) fn assign_slots(function: &Function, live: &Liveness) -> SlotMap {
    let ranges = ranges(function, live);
    let mut order: Vec<usize> = (0..ranges.len()).filter(|&index| ranges[index].first != u32::MAX).collect();
    order.sort_by_key(|&index| (ranges[index].first, index));
    let mut slots = vec![1; ranges.len()];
    let mut free: BinaryHeap<Reverse<u32>> = BinaryHeap::new();
    let mut active: BinaryHeap<Reverse<(u32, u32)>> = BinaryHeap::new();
    let mut next = 1;
    for index in order {
        while let Some(&Reverse((last, slot))) = active.peek()
            && last < ranges[index].first
        {
            active.pop();
            free.push(Reverse(slot));
        }
        let slot = free.pop().map_or_else(
            || {
                next += 1;
                next - 1
            },
            |Reverse(slot)| slot,
        );
        slots[index] = slot;
        active.push(Reverse((ranges[index].last, slot)));
    }
    // A register that occurs nowhere still has slot 1.
    SlotMap { slots, frame_size: next.max(2) }
}
