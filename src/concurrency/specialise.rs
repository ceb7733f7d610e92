//! A program in which every calling context has a copy of its function.
//!
//! **Input**: a program with a `main`. **Output**: [`Specialised`]: a program that executes the same steps in the same order, in
//! which a read or a definition is a place of the text in one calling context; and for each of them its original.
//!
//! **Algorithm** (procedure cloning: Cooper, Hall and Kennedy, 1993)
//! 1. Unfold the program by its contexts ([`super::context`]), up to a size; beyond it contexts are merged.
//! 2. Merge contexts that function, thread and calls do not distinguish ([`super::copies`]).
//! 3. Copy each function for each context but the first, with its reads, its definitions and its local variables. Calls and new
//!    threads lead to the copies. The iterations of a `parfor` find their copy by their ordinal.
//! 4. Name the differences between the copies of one place ([`super::context_names`]).
//!
//! **Soundness and limits**: control reaches a copy only in its context, so a fact about a read in a copy holds for the read in
//! the context. A place that no context reaches keeps the first copy. If contexts would produce too many pairs of a read and a
//! definition, their calls, and then their threads, are not distinguished, and [`Specialised::merged`] says so. The iterations of
//! a `parfor` are one context if there are more than 16, if their number is not constant, or if the caller requests it. The
//! activations of a recursive function in one thread are one context.

use super::context::{Extent, Site, Unfolding, unfold};
use super::context_names::name_contexts;
use super::copies::{Copies, Copy, find_copies};
use super::{ContextId, KnownReads};
use cssame_ir::{
    BlockId, Definition, DefinitionId, DefinitionKind, Function, FunctionId, Instruction, Leaf, LeafId, Program, Read,
    ReadId, Storage, Variable, VariableId,
};
use rustc_hash::FxHashMap;

/// Blocks that the copies may have together in any case; or four times those of the program.
const MAX_BLOCKS: u64 = 20_000;

/// A program with a copy of each function for each of its contexts.
#[derive(Clone, Debug)]
pub struct Specialised {
    /// The program.
    pub program: Program,
    /// By [`ReadId`]: the read of the original program.
    pub reads: Vec<ReadId>,
    /// By [`DefinitionId`]: the definition of the original program.
    pub definitions: Vec<DefinitionId>,
    /// Whether contexts were merged because there would be too many copies.
    pub merged: bool,
}

/// Copies functions for their contexts; none where each has a single one, and none could be told apart. `together` says of which bodies
/// of a `parfor` the iterations are not told apart.
#[must_use]
pub fn specialise(program: &Program, together: &[bool]) -> Option<Specialised> {
    let main = program.main?;
    let extent = Extent { blocks: MAX_BLOCKS, together, iterations: 0 };
    let unfolding = unfold(program, main, &KnownReads::default(), extent);
    if unfolding.contexts.len() <= 1 {
        return None;
    }
    let found = find_copies(program, &unfolding);
    if !found.merged && found.list.iter().all(|copy| copy.function == copy.origin) {
        return None;
    }
    let Copies { list: copies, of_context, .. } = &found;
    let targets = Targets::new(&unfolding, of_context);
    let mut cloner = Cloner {
        source: program,
        program: program.clone(),
        reads: program.reads.ids().collect(),
        definitions: program.definitions.ids().collect(),
        locals: locals_of(program),
    };
    for (index, copy) in copies.iter().enumerate() {
        cloner.add(index, copy, copies, &targets);
    }
    let Cloner { mut program, reads, definitions, .. } = cloner;
    program.contexts.functions = source_functions(&program, copies);
    name_contexts(&mut program, &unfolding, &found, (&reads, &definitions));
    Some(Specialised { program, reads, definitions, merged: unfolding.merged || found.merged })
}

/// By function of the program with copies: the one that it is a copy of.
fn source_functions(program: &Program, copies: &[Copy]) -> Vec<FunctionId> {
    let mut functions: Vec<FunctionId> = program.functions.ids().collect();
    for copy in copies {
        functions[copy.function.index()] = copy.origin;
    }
    functions
}

/// Where the calls and forks of each copy lead.
struct Targets {
    calls: FxHashMap<(usize, BlockId, u32), usize>,
    /// The copies that the new threads run; for a `parfor`, by ordinal.
    forks: FxHashMap<(usize, BlockId, u32), Vec<usize>>,
}

impl Targets {
    fn new(unfolding: &Unfolding, of_context: &[usize]) -> Targets {
        let copy = |context: ContextId| of_context[context.index()];
        let calls = unfolding.calls.iter().map(|(&Site { context, block, position, .. }, &target)| {
            // Contexts of one copy call contexts of one copy.
            ((copy(context), block, position), copy(target))
        });
        let mut forks: FxHashMap<_, Vec<usize>> = FxHashMap::default();
        for (&Site { context, block, position, .. }, threads) in &unfolding.forks {
            let roots: Vec<usize> = threads.iter().map(|&thread| copy(unfolding.threads[thread].root)).collect();
            let known = forks.entry((copy(context), block, position)).or_default();
            if known.len() < roots.len() {
                *known = roots;
            }
        }
        Targets { calls: calls.collect(), forks }
    }

    /// Leads a call or new threads of a copy to copies. What no context reaches stays as it is.
    fn lead(&self, instruction: &mut Instruction, site: (usize, BlockId, u32), copies: &[Copy]) {
        let threads = match instruction {
            Instruction::Call { function, .. } => {
                if let Some(&target) = self.calls.get(&site) {
                    *function = copies[target].function;
                }
                return;
            }
            Instruction::Fork { threads, .. } => threads.as_mut_slice(),
            Instruction::Spawn { thread, .. } => std::slice::from_mut(thread),
            _ => return,
        };
        let roots = self.forks.get(&site).into_iter().flatten();
        let roots: Vec<FunctionId> = roots.map(|&root| copies[root].function).collect();
        match threads {
            [body] if body.ordinal.is_some() => {
                body.function = roots.first().copied().unwrap_or(body.function);
                body.rounds = if roots.iter().any(|&root| root != body.function) { roots } else { Vec::new() };
            }
            _ => threads.iter_mut().zip(roots).for_each(|(thread, root)| thread.function = root),
        }
    }
}

/// By function, the local variables that its frames hold.
fn locals_of(program: &Program) -> FxHashMap<FunctionId, Vec<VariableId>> {
    let mut locals: FxHashMap<FunctionId, Vec<VariableId>> = FxHashMap::default();
    for (id, variable) in program.variables.entries() {
        if let Storage::Local(function) = variable.storage {
            locals.entry(function).or_default().push(id);
        }
    }
    locals
}

/// Makes the copies.
struct Cloner<'a> {
    source: &'a Program,
    program: Program,
    reads: Vec<ReadId>,
    definitions: Vec<DefinitionId>,
    locals: FxHashMap<FunctionId, Vec<VariableId>>,
}

/// The ids of a copy for those of its function.
#[derive(Default)]
struct Renamed {
    variables: FxHashMap<VariableId, VariableId>,
    definitions: FxHashMap<DefinitionId, DefinitionId>,
}

impl Cloner<'_> {
    fn add(&mut self, index: usize, copy: &Copy, copies: &[Copy], targets: &Targets) {
        let mut function = self.source.functions[copy.origin].clone();
        if copy.function != copy.origin {
            let mut renamed = self.copy_locals(copy);
            self.copy_accesses(copy, &mut function, &mut renamed);
        }
        let ids = function.blocks.ids();
        for (block, content) in ids.zip(function.blocks.iter_mut()) {
            for (position, instruction) in content.instructions.iter_mut().enumerate() {
                targets.lead(instruction, (index, block, position as u32), copies);
            }
        }
        if copy.function == copy.origin {
            self.program.functions[copy.function] = function;
        } else {
            self.program.functions.push(function);
        }
    }

    /// Gives a copy its own local variables, with their initial definitions.
    fn copy_locals(&mut self, copy: &Copy) -> Renamed {
        let mut renamed = Renamed::default();
        for local in self.locals.get(&copy.origin).cloned().unwrap_or_default() {
            let variable = self.source.variables[local].clone();
            let id = VariableId::new(self.program.variables.len());
            let first_leaf = LeafId::new(self.program.leaves.len());
            for leaf in variable.leaves() {
                let source = &self.source.leaves[leaf];
                let new_leaf = LeafId::new(self.program.leaves.len());
                let initial_definition = source.initial_definition.map(|definition| {
                    let new = self.copy_definition(definition, DefinitionKind::Initial(new_leaf));
                    renamed.definitions.insert(definition, new);
                    new
                });
                self.program.leaves.push(Leaf { variable: id, initial_definition, ..source.clone() });
            }
            let storage = Storage::Local(copy.function);
            self.program.variables.push(Variable { storage, first_leaf, ..variable });
            renamed.variables.insert(local, id);
        }
        renamed
    }

    /// Gives a copy its own reads and definitions.
    fn copy_accesses(&mut self, copy: &Copy, function: &mut Function, renamed: &mut Renamed) {
        let instructions = function.blocks.iter_mut().flat_map(|block| &mut block.instructions);
        for instruction in instructions {
            match instruction {
                Instruction::Load { read, .. } => *read = self.copy_read(*read, copy.function),
                Instruction::Store { definition, .. } | Instruction::Free { definition, .. } => {
                    *definition = self.rename(*definition, copy, renamed)
                }
                Instruction::Atomic { read, definition, .. } => {
                    *read = self.copy_read(*read, copy.function);
                    *definition = self.rename(*definition, copy, renamed);
                }
                Instruction::Allocate { variable, .. } => {
                    *variable = renamed.variables.get(variable).copied().unwrap_or(*variable);
                }
                _ => {}
            }
        }
    }

    fn copy_read(&mut self, read: ReadId, function: FunctionId) -> ReadId {
        self.reads.push(read);
        self.program.reads.push(Read { function, ..self.source.reads[read].clone() })
    }

    /// The definition of a copy; the initial one of a global that `main` writes stays what it is.
    fn rename(&mut self, definition: DefinitionId, copy: &Copy, renamed: &mut Renamed) -> DefinitionId {
        if let Some(&known) = renamed.definitions.get(&definition) {
            return known;
        }
        let kind = match self.source.definitions[definition].kind {
            DefinitionKind::Initial(_) => return definition,
            DefinitionKind::Write(_) => DefinitionKind::Write(copy.function),
            DefinitionKind::Free(_) => DefinitionKind::Free(copy.function),
        };
        let new = self.copy_definition(definition, kind);
        renamed.definitions.insert(definition, new);
        new
    }

    fn copy_definition(&mut self, definition: DefinitionId, kind: DefinitionKind) -> DefinitionId {
        self.definitions.push(definition);
        self.program.definitions.push(Definition { kind, ..self.source.definitions[definition].clone() })
    }
}
