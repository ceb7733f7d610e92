//! The possible future actions of a thread at each place: a lookahead along the control flow.
//!
//! **Input**: a program with its machine. **Output**: for each place at which a frame may continue, a set of [`Item`]s: the
//! branches and waits that the frame may reach, and the variables that it, or a thread that it creates, may read and write.
//!
//! **Algorithm**: sets of items, as bits.
//!
//! 1. The items of a function are the items of its blocks and of the functions that it calls. A function that runs in its own
//!    thread contributes only its variables; its branches and waits belong to that thread. This is a fixed point over all
//!    functions, since they may call one another.
//! 2. The items from the beginning of a block are its own and those of the blocks that may follow: a fixed point over the blocks
//!    of the function.
//! 3. The items from a place are those of the rest of its block, and those of the blocks that may follow. They are computed once,
//!    on demand.
//!
//! **Soundness and limits**: if a thread performs an item, one of its frames has the item ahead before. The converse does not
//! hold: conditions are ignored. A cell has one symbol, whichever name reaches it, so every access to a cell is an access to its
//! symbol. A program that is too large has no lookahead.

use cssame_ir::sync::{Blocking, Kind};
use cssame_ir::{
    Access, Block, BlockId, DefinitionId, Function, FunctionId, Instruction, Leaf, NewThread, Program, ReadId,
    SymbolId, Terminator,
};
use cssame_vm::{CodeIndex, Machine, Origin, State, ThreadIndex};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::cell::OnceCell;

/// Memory that all sets may take, in bits: 64 MiB.
const MAX_BITS: usize = 1 << 29;

/// Something that a thread may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// It comes to a branch or a wait.
    Place(CodeIndex),
    /// It, or a thread that it makes, reads a variable.
    Read(SymbolId),
    /// It, or a thread that it makes, writes a variable.
    Write(SymbolId),
    /// It, or a thread that it makes, joins a thread by its handle.
    JoinThread,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Ahead<'a> {
    program: &'a Program,
    machine: &'a Machine,
    /// By origin of a branch or a wait: its number among the items.
    places: FxHashMap<Origin, usize>,
    items: usize,
    /// By function: the items of the whole function.
    functions: Vec<FixedBitSet>,
    /// By function and block: the items from the beginning of the block on.
    blocks: Vec<Vec<FixedBitSet>>,
    /// By instruction.
    from: Vec<OnceCell<FixedBitSet>>,
}

/// Whether a thread may wait at an operation.
pub(super) fn is_wait(kind: Kind) -> bool {
    !kind.is_on_lock() && kind.properties().blocking != Blocking::Never
}

impl<'a> Ahead<'a> {
    /// `None` for a program that is too large.
    pub(super) fn new(machine: &'a Machine, program: &'a Program) -> Option<Ahead<'a>> {
        let mut ahead = Ahead {
            program,
            machine,
            places: FxHashMap::default(),
            items: 1 + 2 * program.symbols.len(),
            functions: Vec::new(),
            blocks: Vec::new(),
            from: Vec::new(),
        };
        ahead.number_places();
        let blocks: usize = program.functions.iter().map(|function| function.blocks.len()).sum();
        let sets = blocks + program.functions.len() + machine.code_length();
        if sets.saturating_mul(ahead.items) > MAX_BITS {
            return None;
        }
        ahead.from.resize_with(machine.code_length(), OnceCell::new);
        ahead.close_functions();
        ahead.blocks = program.functions.entries().map(|(id, function)| ahead.close_blocks(id, function)).collect();
        Some(ahead)
    }

    fn number_places(&mut self) {
        for (function, of) in self.program.functions.entries() {
            for (block, Block { instructions, terminator, .. }) in of.blocks.entries() {
                let waits = instructions.iter().enumerate().filter_map(|(index, instruction)| match instruction {
                    Instruction::Synchronise(operation) if is_wait(operation.kind) => Some(index),
                    _ => None,
                });
                let branch = matches!(terminator, Terminator::Branch { .. }).then_some(instructions.len());
                for index in waits.chain(branch) {
                    self.places.insert(Origin { function, block, instruction: index as u32 }, self.items);
                    self.items += 1;
                }
            }
        }
    }

    /// Step 1.
    fn close_functions(&mut self) {
        self.functions = vec![FixedBitSet::with_capacity(self.items); self.program.functions.len()];
        let mut changed = true;
        while changed {
            changed = false;
            for (id, function) in self.program.functions.entries() {
                let mut set = FixedBitSet::with_capacity(self.items);
                for block in function.blocks.ids() {
                    self.add_rest(&mut set, Origin { function: id, block, instruction: 0 });
                }
                changed |= set != self.functions[id.index()];
                self.functions[id.index()] = set;
            }
        }
    }

    /// Step 2.
    fn close_blocks(&self, id: FunctionId, function: &Function) -> Vec<FixedBitSet> {
        let own = |block| {
            let mut set = FixedBitSet::with_capacity(self.items);
            self.add_rest(&mut set, Origin { function: id, block, instruction: 0 });
            set
        };
        let mut sets: Vec<FixedBitSet> = function.blocks.ids().map(own).collect();
        let mut changed = true;
        while changed {
            changed = false;
            for (block, of) in function.blocks.entries().rev() {
                for next in of.terminator.successors().filter(|&next| next != block) {
                    let (set, other) = two(&mut sets, block, next);
                    if !other.is_subset(set) {
                        set.union_with(other);
                        changed = true;
                    }
                }
            }
        }
        sets
    }

    /// Adds the items of a block from an instruction on.
    fn add_rest(&self, set: &mut FixedBitSet, origin: Origin) {
        let Block { instructions, .. } = &self.program.functions[origin.function].blocks[origin.block];
        for (index, instruction) in instructions.iter().enumerate().skip(origin.instruction as usize) {
            self.add(set, instruction);
            set.extend(self.places.get(&Origin { instruction: index as u32, ..origin }).copied());
        }
        set.extend(self.places.get(&Origin { instruction: instructions.len() as u32, ..origin }).copied());
    }

    fn add(&self, set: &mut FixedBitSet, instruction: &Instruction) {
        match *instruction {
            Instruction::Load { read, .. } => self.add_read(set, read),
            Instruction::Store { definition, .. } => self.add_write(set, definition),
            Instruction::Free { .. } => {
                let of_heap = |leaf: &&Leaf| self.program.variables[leaf.variable].heap;
                let symbols = self.program.leaves.iter().filter(of_heap).map(|leaf| leaf.symbol);
                set.extend(symbols.map(|symbol| 2 + 2 * self.program.symbols[symbol].cells_of.index()));
            }
            Instruction::Atomic { read, definition, .. } => {
                self.add_read(set, read);
                self.add_write(set, definition);
            }
            Instruction::Call { function, .. } => set.union_with(&self.functions[function.index()]),
            Instruction::Fork { ref threads, .. } => {
                threads.iter().flat_map(NewThread::functions).for_each(|function| self.add_thread(set, function));
            }
            Instruction::Spawn { ref thread, .. } => self.add_thread(set, thread.function),
            Instruction::JoinThread { .. } => set.insert(0),
            _ => {}
        }
    }

    fn add_read(&self, set: &mut FixedBitSet, read: ReadId) {
        set.insert(1 + 2 * Access::Read(read).cells_of(self.program).index());
    }

    fn add_write(&self, set: &mut FixedBitSet, definition: DefinitionId) {
        set.insert(2 + 2 * Access::Write(definition).cells_of(self.program).index());
    }

    /// Of a thread that is made here the variables alone count.
    fn add_thread(&self, set: &mut FixedBitSet, function: FunctionId) {
        let variables = 1 + 2 * self.program.symbols.len();
        set.extend(self.functions[function.index()].ones().take_while(|&item| item < variables));
    }

    /// Step 3.
    fn from(&self, at: CodeIndex) -> &FixedBitSet {
        self.from[at.index()].get_or_init(|| {
            let origin = self.machine.origin(at);
            let mut set = FixedBitSet::with_capacity(self.items);
            self.add_rest(&mut set, origin);
            let block = &self.program.functions[origin.function].blocks[origin.block];
            for next in block.terminator.successors() {
                set.union_with(&self.blocks[origin.function.index()][next.index()]);
            }
            set
        })
    }

    /// The number of an item; `None` for an instruction that is no such place.
    pub(super) fn number(&self, item: Item) -> Option<usize> {
        match item {
            Item::JoinThread => Some(0),
            Item::Read(symbol) => Some(1 + 2 * symbol.index()),
            Item::Write(symbol) => Some(2 + 2 * symbol.index()),
            Item::Place(at) => self.places.get(&self.machine.origin(at)).copied(),
        }
    }

    /// What a thread has ahead in a state: the sets of its frames.
    pub(super) fn of<'b>(&'b self, state: &State, thread: ThreadIndex) -> Prospect<'b> {
        Prospect(self.machine.frames(state, thread).map(|at| self.from(at)).collect())
    }
}

fn two(sets: &mut [FixedBitSet], one: BlockId, other: BlockId) -> (&mut FixedBitSet, &FixedBitSet) {
    let (low, high) = (one.index().min(other.index()), one.index().max(other.index()));
    let (left, right) = sets.split_at_mut(high);
    if one.index() == low { (&mut left[low], &right[0]) } else { (&mut right[0], &left[low]) }
}

/// What a thread has ahead.
#[derive(Clone, Debug)]
pub(super) struct Prospect<'a>(SmallVec<[&'a FixedBitSet; 4]>);

impl Prospect<'_> {
    /// Whether the item with that number is ahead.
    pub(super) fn has(&self, number: usize) -> bool {
        self.0.iter().any(|set| set.contains(number))
    }
}
