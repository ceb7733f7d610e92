//! The accesses that separate a print from the next action of its thread.
//!
//! **Input**: an [`Index`], and the visible accesses. **Output**: the visible accesses that may be the first one after a `print`.
//!
//! **Algorithm**: a forward data-flow analysis, within functions and through calls, that determines whether a print came last.
//!
//! **Soundness and limits**: a step of the machine executes a print and the work up to the next visible operation. So if such an
//! access is removed from a program, a step without effect must replace it: otherwise another thread could not fail between the
//! print and the next operation. A program that cannot fail has no such accesses. More accesses than necessary may be found.

use super::index::Index;
use super::program::accesses;
use super::relevance::may_fail;
use cssame_concurrency::Sharing;
use cssame_ir::{BlockId, FunctionId, Instruction};
use fixedbitset::FixedBitSet;

/// The visible accesses that may come first behind a print.
pub(super) fn behind_prints(index: &Index<'_>, shared: &Sharing) -> FixedBitSet {
    let mut all = (0..index.sites.len() as u32).map(|number| index.instruction(number));
    if !all.any(may_fail) {
        return FixedBitSet::with_capacity(index.sites.len());
    }
    let mut flow = Flow {
        index,
        shared,
        prints: printing_functions(index),
        entered: FixedBitSet::with_capacity(index.blocks()),
        found: FixedBitSet::with_capacity(index.sites.len()),
        work: Vec::new(),
    };
    for (function, content) in index.program.functions.entries() {
        for block in content.blocks.ids() {
            flow.follow(function, block, false);
        }
    }
    while let Some((function, block)) = flow.work.pop() {
        flow.follow(function, block, true);
    }
    flow.found
}

struct Flow<'i, 'a> {
    index: &'i Index<'a>,
    shared: &'i Sharing,
    /// Functions that print, or call what prints.
    prints: FixedBitSet,
    /// Blocks that may be entered behind a print.
    entered: FixedBitSet,
    found: FixedBitSet,
    work: Vec<(FunctionId, BlockId)>,
}

impl Flow<'_, '_> {
    /// Follows a block that is entered behind a print, or not.
    fn follow(&mut self, function: FunctionId, block: BlockId, mut printed: bool) {
        let content = &self.index.program.functions[function].blocks[block];
        let first = self.index.first_instruction(function, block);
        for (position, instruction) in content.instructions.iter().enumerate() {
            match instruction {
                Instruction::Print { .. } => printed = true,
                Instruction::Call { function: callee, .. } => {
                    if printed {
                        self.enter(*callee, BlockId(0));
                    }
                    printed |= self.prints.contains(callee.index());
                }
                _ => {
                    let (read, definition) = accesses(instruction);
                    let is_visible = read.is_some_and(|read| self.shared.read(read))
                        || definition.is_some_and(|definition| self.shared.definition(definition));
                    if is_visible && printed {
                        self.found.insert(first as usize + position);
                        printed = false;
                    }
                }
            }
        }
        if printed {
            for target in content.terminator.successors() {
                self.enter(function, target);
            }
        }
    }

    fn enter(&mut self, function: FunctionId, block: BlockId) {
        if !self.entered.put(self.index.block(function, block) as usize) {
            self.work.push((function, block));
        }
    }
}

/// Functions that print, themselves or through what they call.
fn printing_functions(index: &Index<'_>) -> FixedBitSet {
    let mut found = FixedBitSet::with_capacity(index.program.functions.len());
    let prints = |&number: &u32| matches!(index.instruction(number), Instruction::Print { .. });
    let numbers = (0..index.sites.len() as u32).filter(prints);
    let mut work: Vec<FunctionId> = numbers.map(|number| index.sites[number as usize].function).collect();
    while let Some(function) = work.pop() {
        if found.put(function.index()) {
            continue;
        }
        for call in index.calls(function) {
            if matches!(index.instruction(call.instruction), Instruction::Call { .. }) {
                work.push(index.sites[call.instruction as usize].function);
            }
        }
    }
    found
}
