//! Names for the copies of one place.
//!
//! **Input**: a program with copies of functions for their contexts ([`super::specialise`]), and the contexts. **Output**: its
//! [`AccessContexts`](cssame_ir::AccessContexts): for each read and each definition that has copies, its thread, the calls on the
//! path to it, the variable to which it refers, and which of these distinguish it from the other copies.
//!
//! **Algorithm**: the variable is the only one to which the place can refer in the context. If the index of an element is
//! constant in the context, but not in the text, the index names the element. A name always contains the variable. If this
//! distinguishes all copies of a place, nothing is added; otherwise the thread, or the calls, or both. If the name of the
//! variable is the same as in the text, it distinguishes nothing: a name without context means all copies.

use super::context::Unfolding;
use super::copies::{Copies, Copy};
use super::unrolling::NO_ITERATION;
use super::value::{Address, Evaluator};
use cssame_ir::{
    AccessContext, DefinitionId, DefinitionKind, FunctionId, Instruction, Operand, Place, Program, ReadId, TextId,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// A read or a definition of the program with copies.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum AccessId {
    Read(ReadId),
    Definition(DefinitionId),
}

/// Names the contexts of all places that have several. `origins` are, by read and by definition, the originals.
pub(super) fn name_contexts(
    program: &mut Program,
    unfolding: &Unfolding,
    copies: &Copies,
    origins: (&[ReadId], &[DefinitionId]),
) {
    let mut places: FxHashMap<AccessId, Vec<(AccessId, AccessContext)>> = FxHashMap::default();
    // A function that has one copy has no context to be told.
    let mut counts: FxHashMap<FunctionId, usize> = FxHashMap::default();
    copies.list.iter().for_each(|copy| *counts.entry(copy.origin).or_default() += 1);
    for copy in copies.list.iter().filter(|copy| counts[&copy.origin] > 1) {
        let path = program.texts.intern(copy.thread.map_or("", |thread| &unfolding.threads[thread].path));
        let calls = copies.calls(copy);
        for (access, variable) in accesses(program, unfolding, copy) {
            let variable = program.texts.intern(&variable);
            let origin = match access {
                AccessId::Read(read) => AccessId::Read(origins.0[read.index()]),
                AccessId::Definition(definition) => AccessId::Definition(origins.1[definition.index()]),
            };
            let (thread, calls) = (path, calls.clone());
            let context = AccessContext { thread, calls, variable, shows_thread: false, shows_calls: false };
            places.entry(origin).or_default().push((access, context));
        }
    }
    // The order in which places are visited decides nothing: each has its own contexts.
    for of_place in places.into_values() {
        let (shows_thread, shows_calls) = needed(program, &of_place);
        for (access, context) in of_place {
            let context = AccessContext { shows_thread, shows_calls, ..context };
            match access {
                AccessId::Read(read) => program.contexts.reads.insert(read, context),
                AccessId::Definition(definition) => program.contexts.definitions.insert(definition, context),
            };
        }
    }
}

/// Whether threads and calls are needed to tell contexts apart, beside the variable. As it is written, the variable may be any.
fn needed(program: &Program, contexts: &[(AccessId, AccessContext)]) -> (bool, bool) {
    let written = |access: AccessId| match access {
        AccessId::Read(read) => program.reads[read].name,
        AccessId::Definition(definition) => program.definitions[definition].name,
    };
    let tells = |thread: bool, calls: bool| {
        // By what is told beside the variable: the variables, and whether one is as it is written.
        let mut told: FxHashMap<_, (FxHashSet<TextId>, bool)> = FxHashMap::default();
        let is_new = contexts.iter().all(|(access, of)| {
            let beside = (thread.then_some(of.thread), calls.then_some(of.calls.as_slice()));
            let (variables, any) = told.entry(beside).or_default();
            *any |= of.variable == written(*access);
            variables.insert(of.variable)
        });
        is_new && told.values().all(|(variables, any)| variables.len() == 1 || !any)
    };
    let ways = [(false, false), (true, false), (false, true)];
    ways.into_iter().find(|&(thread, calls)| tells(thread, calls)).unwrap_or((true, true))
}

/// The reads and definitions of a copy, and the variable that each of them means; the initial definitions of its local
/// variables too.
fn accesses(program: &Program, unfolding: &Unfolding, copy: &Copy) -> Vec<(AccessId, String)> {
    let mut found = Vec::new();
    let instructions = program.functions[copy.function].blocks.iter().flat_map(|block| &block.instructions);
    for instruction in instructions {
        let mut note = |access: AccessId, place: &Place| {
            let written = match access {
                AccessId::Read(read) => program.reads[read].name,
                AccessId::Definition(definition) => program.definitions[definition].name,
            };
            let meant = meant(program, unfolding, copy, place);
            found.push((access, meant.unwrap_or_else(|| program.texts.get(written).to_owned())));
        };
        match instruction {
            Instruction::Load { place, read, .. } => note(AccessId::Read(*read), place),
            Instruction::Store { place, definition, .. } if is_write(program, *definition) => {
                note(AccessId::Definition(*definition), place);
            }
            Instruction::Atomic { place, read, definition, .. } => {
                note(AccessId::Read(*read), place);
                note(AccessId::Definition(*definition), place);
            }
            Instruction::Allocate { variable, .. } => {
                for leaf in program.variables[*variable].leaves() {
                    let leaf = &program.leaves[leaf];
                    let name = || program.texts.get(leaf.name).to_owned();
                    found.extend(leaf.initial_definition.map(|definition| (AccessId::Definition(definition), name())));
                }
            }
            _ => {}
        }
    }
    found
}

fn is_write(program: &Program, definition: DefinitionId) -> bool {
    matches!(program.definitions[definition].kind, DefinitionKind::Write(_))
}

/// The variable that a place means in all contexts of a copy; none where it may mean several.
fn meant(program: &Program, unfolding: &Unfolding, copy: &Copy, place: &Place) -> Option<String> {
    let mut only: Option<String> = None;
    for &context in &copy.contexts {
        let name = unfolding.evaluate(program, (context, NO_ITERATION), |evaluator: &Evaluator<'_>| {
            let [Address { instance, byte, exact }] = evaluator.targets(place)[..] else { return None };
            let (leaf, element) = program.leaf_at_byte(unfolding.instances[instance].variable, byte)?;
            let leaf = &program.leaves[leaf];
            // What the text itself says of an index need not be said again.
            let in_text = place.indices.len() == leaf.dimensions.len()
                && place.indices.iter().all(|index| matches!(index.operand, Operand::Constant(_)));
            Some(if exact && !in_text {
                leaf.element_name(&program.texts, element)
            } else {
                program.texts.get(leaf.name).to_owned()
            })
        })?;
        if only.as_ref().is_some_and(|known| *known != name) {
            return None;
        }
        only = Some(name);
    }
    only
}
