//! The memory of a recorded execution: the last write of every cell, and the final values of shared cells.
//!
//! **Input**: the accesses and allocations of the execution, in their order.
//!
//! **Output**: for a read, its write; for an access to an array, the element; at the end, the last values of all shared cells:
//! globals, and locals that threads share.
//!
//! **Soundness and limits**. The cells of a local are a new instance each time its declaration runs, and may get the address of a
//! dead one. A cell that is never accessed has no last value.

use super::Input;
use super::datum::Datum;
use super::plan::{LastValue, Source};
use cssame_ir::{Base, Leaf, LeafKind, Place, Program, VariableId};
use cssame_vm::State;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// A cell that was accessed.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    /// The latch of its last write.
    write: Option<usize>,
    /// What it holds, as bits.
    value: i64,
    shared: bool,
}

/// The cells of a local variable.
#[derive(Clone, Copy, Debug)]
struct Block {
    variable: VariableId,
    size: u32,
    /// Counted from 1.
    instance: u32,
}

/// The memory of a recorded execution.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// By address.
    cells: BTreeMap<u32, Cell>,
    /// Of locals, by first address; no two overlap.
    blocks: BTreeMap<u32, Block>,
    instances: FxHashMap<VariableId, u32>,
    /// Shared cells of locals that are gone.
    gone: Vec<LastValue>,
}

impl Memory {
    /// Makes the cells of a local variable. Those that were at their addresses are gone.
    pub(super) fn allocate(&mut self, input: &Input<'_>, variable: VariableId, address: u32, size: u32) {
        let end = address + size.max(1);
        while let Some((&start, &block)) = self.blocks.range(..end).next_back()
            && start + block.size > address
        {
            self.retire(input, start, block);
        }
        let instance = self.instances.entry(variable).or_insert(0);
        *instance += 1;
        self.blocks.insert(address, Block { variable, size: size.max(1), instance: *instance });
    }

    fn retire(&mut self, input: &Input<'_>, start: u32, block: Block) {
        self.blocks.remove(&start);
        let touched: Vec<u32> = self.cells.range(start..start + block.size).map(|(&address, _)| address).collect();
        for address in touched {
            let Some(cell) = self.cells.remove(&address) else { continue };
            let Some(leaf) = leaf_of(input, block.variable, address - start) else { continue };
            let position = input.sources.position(input.program.variables[block.variable].span);
            let count = if block.instance == 1 { String::new() } else { format!("#{}", block.instance) };
            let name = format!("{}@{position}{count}", element_name(input, leaf, address - start));
            self.gone.extend(last_value(input, name, leaf, cell));
        }
    }

    /// A read of a cell: the latch of the write that it reads from.
    pub(super) fn read(&mut self, address: u32, value: i64, shared: bool) -> Option<usize> {
        let cell = self.cells.entry(address).or_default();
        cell.value = value;
        cell.shared |= shared;
        cell.write
    }

    /// A write to a cell.
    pub(super) fn write(&mut self, address: u32, value: i64, shared: bool, latch: usize) {
        let cell = self.cells.entry(address).or_default();
        *cell = Cell { write: Some(latch), value, shared: cell.shared || shared };
    }

    /// The number of the element that an access by so many indices means: in the innermost arrays, as many of them. Globals
    /// stay where they are, so that any state of the execution will do.
    /// None where [`has_element`] says no.
    pub(super) fn element(&self, input: &Input<'_>, state: &State, address: u32, place: &Place) -> Option<u32> {
        let indices = place.indices.len();
        if !has_element(input.program, place) {
            return None;
        }
        let local = self.blocks.range(..=address).next_back().filter(|(start, block)| address - **start < block.size);
        let (variable, offset) = match local {
            Some((&start, block)) => (block.variable, address - start),
            None => input.machine.variable_at(state, address)?,
        };
        let leaf = leaf_of(input, variable, offset)?;
        // A reference may have led to an element of the outer arrays already.
        let inner = leaf.dimensions.iter().rev().take(indices).map(|dimension| dimension.length).product::<u32>();
        (indices > 0 && inner > 0).then(|| leaf.element_at(offset).map(|element| element % inner)).flatten()
    }

    /// The last values of all shared cells, globals first.
    pub(super) fn last_values(mut self, input: &Input<'_>, state: &State) -> Vec<LastValue> {
        while let Some((&start, &block)) = self.blocks.first_key_value() {
            self.retire(input, start, block);
        }
        let mut values = Vec::new();
        for (&address, &cell) in &self.cells {
            let Some((variable, offset)) = input.machine.variable_at(state, address) else { continue };
            let Some(leaf) = leaf_of(input, variable, offset) else { continue };
            values.extend(last_value(input, element_name(input, leaf, offset), leaf, cell));
        }
        values.append(&mut self.gone);
        values
    }
}

/// Whether an access names an element of an array by its indices. One through a pointer of C does not, nor one with an index
/// that is a constant in C: that one is a part of the offset.
pub(super) fn has_element(program: &Program, place: &Place) -> bool {
    match place.base {
        Base::Reference(_) => !place.indices.is_empty(),
        Base::Pointer(_) => false,
        Base::Global(variable) => program.leaf_at(variable, place.offset).is_some_and(|(leaf, _)| {
            !place.indices.is_empty() && program.leaves[leaf].dimensions.len() == place.indices.len()
        }),
    }
}

fn leaf_of<'a>(input: &Input<'a>, variable: VariableId, offset: u32) -> Option<&'a Leaf> {
    input.program.leaf_at(variable, offset).and_then(|(leaf, _)| input.program.leaves.get(leaf))
}

fn element_name(input: &Input<'_>, leaf: &Leaf, offset: u32) -> String {
    leaf.element_name(&input.program.texts, leaf.element_at(offset).unwrap_or(0))
}

/// Nothing for a cell that is not shared, or holds no data.
fn last_value(input: &Input<'_>, name: String, leaf: &Leaf, cell: Cell) -> Option<LastValue> {
    let LeafKind::Data(ty) = leaf.kind else { return None };
    let value = Datum::of(input.program, input.machine.texts(), ty, cell.value);
    let source = cell.write.map_or_else(|| Source::Initial(value.clone()), Source::Latch);
    cell.shared.then_some(LastValue { name, source, value })
}
