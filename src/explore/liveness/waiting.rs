//! Loops in which a thread may wait: loops that a branch leaves.
//!
//! **Input**: a program and its machine. **Output**: for each branch of the code, and each of its directions, the loops that this
//! direction leaves, and those in which it stays.
//!
//! **Algorithm**: natural loops. A loop without an exit is not a waiting loop: it is how a program serves for ever.
//!
//! **Soundness and limits**: a branch leaves a loop, since a block with a single successor outside cannot lead back. If a
//! function calls itself from a loop, leaving the loop of the inner call counts as leaving the outer one.

use super::finite::NaturalLoops;
use cssame_ir::{BlockId, FunctionId, Program, Terminator};
use cssame_source::Span;
use cssame_vm::{CodeIndex, Machine};
use rustc_hash::FxHashMap;

/// What a way of a branch means for loops.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ways {
    pub left: Vec<u16>,
    pub stayed: Vec<u16>,
}

/// A loop that a branch leaves.
#[derive(Clone, Debug)]
struct WaitingLoop {
    function: FunctionId,
    /// Its blocks, sorted.
    blocks: Vec<u32>,
    /// The statement.
    span: Span,
}

/// The loops of a program.
#[derive(Clone, Debug, Default)]
pub(super) struct WaitingLoops {
    list: Vec<WaitingLoop>,
    /// By branch: where its condition does not hold, and where it does.
    branches: FxHashMap<CodeIndex, [Ways; 2]>,
}

impl WaitingLoops {
    /// Those of a program.
    pub(super) fn of(program: &Program, machine: &Machine) -> WaitingLoops {
        let mut loops = WaitingLoops::default();
        let mut ways: FxHashMap<(FunctionId, u32), [Ways; 2]> = FxHashMap::default();
        for (id, function) in program.functions.entries() {
            let natural = NaturalLoops::of(function);
            for one in &natural.list {
                let successors = |block: &u32| function.blocks[BlockId(*block)].terminator.successors();
                let number = loops.list.len();
                if number > usize::from(u16::MAX) || one.blocks.iter().flat_map(successors).all(|to| one.holds(to.0)) {
                    continue;
                }
                for &block in &one.blocks {
                    let Terminator::Branch { then_block, else_block, .. } = function.blocks[BlockId(block)].terminator
                    else {
                        continue;
                    };
                    let of = ways.entry((id, block)).or_default();
                    for (way, to) in [else_block, then_block].into_iter().enumerate() {
                        let list = if one.holds(to.0) { &mut of[way].stayed } else { &mut of[way].left };
                        list.push(number as u16);
                    }
                }
                // The jump into a loop carries the place of the statement.
                let entry = natural.graph.predecessors(one.head).iter().find(|from| !one.holds(**from));
                let entry = function.blocks[BlockId(entry.copied().unwrap_or(one.head))].terminator_span;
                loops.list.push(WaitingLoop { function: id, blocks: one.blocks.clone(), span: entry });
            }
        }
        for at in (0..machine.code_length() as u32).map(CodeIndex) {
            let origin = machine.origin(at);
            let instructions =
                program.functions.get(origin.function).map(|of| of.blocks[origin.block].instructions.len());
            if instructions == Some(origin.instruction as usize)
                && let Some(of) = ways.get(&(origin.function, origin.block.0))
            {
                loops.branches.insert(at, of.clone());
            }
        }
        loops
    }

    /// Number of loops.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// What a way of a branch means; `None` where it is in no loop.
    #[inline]
    pub(super) fn at(&self, at: CodeIndex, holds: bool) -> Option<&Ways> {
        self.branches.get(&at).map(|ways| &ways[usize::from(holds)])
    }

    /// Where the statement stands.
    pub(super) fn span(&self, of: u16) -> Span {
        self.list[usize::from(of)].span
    }

    /// Whether a loop lies within another one.
    pub(super) fn is_within(&self, inner: u16, outer: u16) -> bool {
        let (inner, outer) = (&self.list[usize::from(inner)], &self.list[usize::from(outer)]);
        let holds = |block: &u32| outer.blocks.binary_search(block).is_ok();
        inner.function == outer.function && inner.blocks.len() < outer.blocks.len() && inner.blocks.iter().all(holds)
    }
}
