//! Symbols of accesses through pointers.
//!
//! In: a program in which such an access has a symbol of its own: the pointer as it is written, or the member that is accessed.
//! Out: the program, in which all symbols that may name one cell count as one ([`Symbol::cells_of`](crate::Symbol)).

use super::{PointsTo, has_pointers};
use crate::{Base, Instruction, Operand, Place, Program, SymbolId};
use petgraph::unionfind::UnionFind;
use rustc_hash::FxHashMap;

/// Makes one of the symbols that may name one cell. A symbol that was declared stands for the group, if there is one.
pub fn join_symbols(program: &mut Program) {
    if !has_pointers(program) {
        return;
    }
    let mut groups = UnionFind::<usize>::new(program.symbols.len());
    for (id, symbol) in program.symbols.entries() {
        groups.union(id.index(), symbol.cells_of.index());
    }
    let points_to = PointsTo::new(program);
    for (id, function) in program.functions.entries() {
        for instruction in function.blocks.iter().flat_map(|block| &block.instructions) {
            let Some((place, symbol, value)) = accessed(program, instruction) else { continue };
            let wanted = function.type_of(value);
            // A cell of a union has the names of several members.
            if let Base::Global(variable) = place.base
                && let Some((leaf, _)) = program.leaf_at(variable, place.offset)
            {
                groups.union(symbol.index(), program.leaves[leaf].symbol.index());
            }
            let Some(register) = place.base.register() else { continue };
            for target in points_to.of(id, register) {
                let there = target.behind(place.offset).leaves(program);
                // The program fails where something else is there.
                for leaf in there.filter(|&leaf| program.leaves[leaf].kind.holds(wanted)) {
                    groups.union(symbol.index(), program.leaves[leaf].symbol.index());
                }
            }
        }
    }
    let mut first: FxHashMap<usize, SymbolId> = FxHashMap::default();
    let declared: Vec<SymbolId> = program.leaves.iter().map(|leaf| leaf.symbol).collect();
    for id in declared.into_iter().chain(program.symbols.ids()) {
        first.entry(groups.find(id.index())).or_insert(id);
    }
    for id in program.symbols.ids().collect::<Vec<_>>() {
        let of_group = first.get(&groups.find(id.index())).copied().unwrap_or(id);
        program.symbols[id].cells_of = of_group;
    }
}

/// The place behind a pointer that an instruction accesses, its symbol, and a value of its type.
fn accessed<'i>(program: &Program, instruction: &'i Instruction) -> Option<(&'i Place, SymbolId, Operand)> {
    let (place, symbol, value) = match instruction {
        Instruction::Load { dest, place, read } => (place, program.reads[*read].symbol, Operand::Register(*dest)),
        Instruction::Store { place, value, definition } => (place, program.definitions[*definition].symbol, *value),
        Instruction::Atomic { op, place, definition, .. } => {
            (place, program.definitions[*definition].symbol, op.value())
        }
        _ => return None,
    };
    (!matches!(place.base, Base::Reference(_))).then_some((place, symbol, value))
}
