//! The accesses that patterns consist of: the places where the text reads and writes the relevant variables.
//!
//! **Input**: a program. **Output**: the [`Universe`]: the variables of the criterion, and for each of them the places of the
//! text that read it and that write it; and a [`Binding`], which maps each read and definition of a compiled program to its
//! access.
//!
//! **Algorithm**: the variables are the declared ones: a field is one variable for all objects of its class, an array is one
//! variable for all its elements. In a program, a variable counts if two threads that may run in parallel may access it, and some
//! place writes it. In a file without `main`, the fields and the variables of the file count if some place writes them. Copies
//! that the front end makes, such as the condition of a loop, are one access.
//!
//! **Soundness and limits**: initial definitions, synchronisation objects and thread handles are not accesses. Places that no
//! execution reaches are accesses as well, as in the paper.

use super::pattern::Kind;
use cssame_concurrency::Sharing;
use cssame_ir::{Access, Instruction, LeafKind, Program, RegisterType, ScalarType, Storage, SymbolId};
use cssame_source::Span;
use cssame_source::arena::{Arena, id};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

id! {
    /// A place of the text that reads, or that writes, a variable of the universe; in text order, a read before a write.
    AccessId
}
id! {
    /// A variable of the universe, in the order in which the text declares them.
    VariableNumber
}

/// A place of the text that reads or writes.
#[derive(Clone, Debug)]
pub struct PlaceAccess {
    /// The variable as written there.
    pub name: String,
    /// Where its name stands.
    pub span: Span,
    /// The variable.
    pub variable: VariableNumber,
    /// What it does.
    pub kind: Kind,
}

/// A variable that counts.
#[derive(Clone, Debug)]
pub struct Variable {
    /// `x`, `A.th`
    pub name: String,
    /// Where it is declared.
    pub span: Span,
    /// What reads it.
    pub reads: Vec<AccessId>,
    /// What writes it.
    pub writes: Vec<AccessId>,
}

impl Variable {
    /// The accesses of a kind.
    #[must_use]
    pub fn accesses(&self, kind: Kind) -> &[AccessId] {
        match kind {
            Kind::Read => &self.reads,
            Kind::Write => &self.writes,
        }
    }
}

/// What tells accesses apart: the place, the declaration of the variable, and what is done.
type Key = (Span, Span, Kind);

/// The variables that count, and their accesses.
#[derive(Clone, Debug, Default)]
pub struct Universe {
    /// By declaration.
    pub variables: Arena<VariableNumber, Variable>,
    /// In text order.
    pub accesses: Arena<AccessId, PlaceAccess>,
    numbers: FxHashMap<Key, AccessId>,
}

impl Universe {
    /// That of a program with a `main`.
    #[must_use]
    pub fn of_program(program: &Program, sharing: &Sharing) -> Universe {
        let shared = sharing
            .leaves
            .ones()
            .map(cssame_ir::LeafId::new)
            .map(|leaf| program.symbols[program.leaves[leaf].symbol].cells_of);
        Universe::new(program, shared)
    }

    /// That of a file without `main`: fields, and variables of the file.
    #[must_use]
    pub fn of_library(program: &Program) -> Universe {
        let fields = program.symbols.entries().filter(|(_, symbol)| symbol.class.is_some()).map(|(id, _)| id);
        let is_global = |leaf: &&cssame_ir::Leaf| program.variables[leaf.variable].storage == Storage::Global;
        let globals = program.leaves.iter().filter(is_global).map(|leaf| program.symbols[leaf.symbol].cells_of);
        Universe::new(program, fields.chain(globals))
    }

    /// That of some of the variables, as far as they are written.
    fn new(program: &Program, candidates: impl Iterator<Item = SymbolId>) -> Universe {
        let mut counts = FixedBitSet::with_capacity(program.symbols.len());
        counts.extend(candidates.map(SymbolId::index));
        let handles = handles(program);
        let accesses: Vec<Access> =
            accesses(program).filter(|one| !handles.contains(one.symbol(program).index())).collect();
        let mut written = FixedBitSet::with_capacity(program.symbols.len());
        written.extend(accesses.iter().filter(|one| one.is_write()).map(|one| one.cells_of(program).index()));
        counts.intersect_with(&written);

        let mut symbols: Vec<SymbolId> = counts.ones().map(SymbolId::new).collect();
        symbols.sort_by_key(|&symbol| program.symbols[symbol].span);
        let mut universe = Universe::default();
        let mut variables = vec![None; program.symbols.len()];
        for symbol in symbols {
            let of = &program.symbols[symbol];
            let (name, span) = (of.full_name(&program.texts), of.span);
            let variable = Variable { name, span, reads: Vec::new(), writes: Vec::new() };
            variables[symbol.index()] = Some(universe.variables.push(variable));
        }
        let mut kept: Vec<(Key, Access)> = accesses.into_iter().map(|access| (key(program, access), access)).collect();
        kept.sort();
        kept.dedup_by_key(|one| one.0);
        for (key, access) in kept {
            if let Some(variable) = variables[access.cells_of(program).index()] {
                universe.add(program, key, access, variable);
            }
        }
        universe
    }

    fn add(&mut self, program: &Program, key: Key, access: Access, variable: VariableNumber) {
        let (span, _, kind) = key;
        let name = program.texts.get(access.name(program)).to_owned();
        let id = self.accesses.push(PlaceAccess { name, span, variable, kind });
        self.numbers.insert(key, id);
        let of = &mut self.variables[variable];
        match kind {
            Kind::Read => of.reads.push(id),
            Kind::Write => of.writes.push(id),
        }
    }

    /// The access of a read or definition of a program that was compiled from this text, or from one that begins with it.
    #[must_use]
    pub fn find(&self, program: &Program, access: Access) -> Option<AccessId> {
        if access.is_initial(program) {
            return None;
        }
        self.numbers.get(&key(program, access)).copied()
    }
}

fn key(program: &Program, access: Access) -> Key {
    let kind = if access.is_write() { Kind::Write } else { Kind::Read };
    (access.span(program), program.symbols[access.symbol(program)].span, kind)
}

/// All reads and definitions, but for initial ones.
fn accesses(program: &Program) -> impl Iterator<Item = Access> + '_ {
    let reads = program.reads.ids().map(Access::Read);
    let writes = program.definitions.ids().map(Access::Write);
    reads.chain(writes.filter(|write| !write.is_initial(program)))
}

/// Which variables hold handles of threads, or are objects of synchronisation.
fn handles(program: &Program) -> FixedBitSet {
    let mut handles = FixedBitSet::with_capacity(program.symbols.len());
    for leaf in program.leaves.iter() {
        let is_value = matches!(leaf.kind, LeafKind::Data(ty) if ty != ScalarType::Thread);
        if !is_value {
            handles.insert(leaf.symbol.index());
        }
    }
    // A field of a class that has no object in the file has no leaf.
    for function in program.functions.iter() {
        for instruction in function.blocks.iter().flat_map(|block| &block.instructions) {
            if let Instruction::Load { dest, read, .. } = instruction
                && function.registers[*dest].ty == RegisterType::Scalar(ScalarType::Thread)
            {
                handles.insert(program.reads[*read].symbol.index());
            }
        }
    }
    handles
}

/// The accesses of the reads and definitions of one compiled program.
#[derive(Clone, Debug)]
pub struct Binding {
    reads: Vec<Option<AccessId>>,
    definitions: Vec<Option<AccessId>>,
}

impl Binding {
    /// For a program that was compiled from the text of the universe, or from one that begins with it.
    #[must_use]
    pub fn new(universe: &Universe, program: &Program) -> Binding {
        let find = |access| universe.find(program, access);
        Binding {
            reads: program.reads.ids().map(Access::Read).map(find).collect(),
            definitions: program.definitions.ids().map(Access::Write).map(find).collect(),
        }
    }

    /// The access of a read or a definition; none for what does not count.
    #[must_use]
    pub fn of(&self, access: Access) -> Option<AccessId> {
        match access {
            Access::Read(read) => self.reads.get(read.index()).copied().flatten(),
            Access::Write(definition) => self.definitions.get(definition.index()).copied().flatten(),
        }
    }
}
