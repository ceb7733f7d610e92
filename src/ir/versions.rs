//! Versions of definitions.
//!
//! In: a program whose definitions are all there. Out: their numbers: 0 for initial ones, then by place, for all symbols that
//! name the same cells together.

use super::{DefinitionId, DefinitionKind, Program};

/// Gives the definitions of the symbols of the same cells their versions: 0 to the initial ones, then by place.
pub fn number_versions(program: &mut Program) {
    let mut order: Vec<DefinitionId> = program.definitions.ids().collect();
    let of = |program: &Program, id: DefinitionId| program.symbols[program.definitions[id].symbol].cells_of;
    order.sort_by_key(|&id| {
        let definition = &program.definitions[id];
        let write = !matches!(definition.kind, DefinitionKind::Initial(_));
        (of(program, id), write, definition.span, id)
    });
    let mut previous = None;
    let mut version = 0;
    for id in order {
        let cells = of(program, id);
        if previous != Some(cells) {
            previous = Some(cells);
            version = 0;
        }
        let definition = &mut program.definitions[id];
        definition.version = match definition.kind {
            DefinitionKind::Write(_) | DefinitionKind::Free(_) => {
                version += 1;
                version
            }
            DefinitionKind::Initial(_) => 0,
        };
    }
}
