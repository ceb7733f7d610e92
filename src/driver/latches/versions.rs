//! The versions of shared variables, and the pi functions of their reads.
//!
//! **Input**: a program that the form can express, and its CSSAME form. **Output**: [`Versions`]: the field of each definition,
//! the field and method of each pi function, and the fields of all other data in memory.
//!
//! **Algorithm**
//! 1. A definition of a shared variable is the field `a_2`, by its version; the same holds for the result of a pi function. The
//!    numbers are those of `cssame ir --emit cssame`.
//! 2. A read that sees the same version as an earlier read ([`Form::same_as`](cssame_form::Form::same_as)) names the field of
//!    that read. A read that one definition reaches names the field of that definition.
//! 3. Unshared memory has no versions: a variable is one field.

use super::sites::Sites;
use crate::Input;
use crate::java::text::{default_value, identifier, literal, string, type_name};
use crate::names::Names;
use cssame_form::print::CssameAnnotations;
use cssame_form::{definition_name, read_name};
use cssame_ir::print::{Annotations, Site};
use cssame_ir::{DefinitionId, DefinitionKind, Instruction, LeafKind, ReadId, ScalarType, SymbolId, VariableId};
use cssame_ssa::ProgramSsa;
use rustc_hash::{FxHashMap, FxHashSet};

/// Names that the program needs itself.
const TAKEN: [&str; 11] = [
    "Barrier",
    "IllegalStateException",
    "Latches",
    "Local",
    "Override",
    "Phi",
    "Pi",
    "Runnable",
    "Version",
    "run",
    "woven",
];

/// A version of a variable: a field that is assigned once.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) ty: ScalarType,
    /// Its variable, by a name that no other variable has.
    pub(super) of: String,
    /// Where it is defined: `a@15:5`, `a@25:9` for what a pi function gives, `phi` for what a phi function gives.
    pub(super) at: String,
}

/// The pi function of a read.
#[derive(Clone, Debug)]
pub(super) struct Pi {
    /// The name of its method.
    pub(super) method: String,
    /// The version that it makes.
    pub(super) field: String,
    pub(super) ty: ScalarType,
    /// The name of the read: `a@25:9`.
    pub(super) at: String,
    /// By rising version.
    pub(super) terms: Vec<DefinitionId>,
    /// Those that reach the read by control flow; all terms where none does.
    pub(super) control: Vec<DefinitionId>,
}

/// What a read gives.
#[derive(Clone, Copy, Debug)]
pub(super) enum Seen<'v> {
    /// What its pi function gives.
    Pi(&'v Pi),
    /// That version.
    Version(&'v str),
    /// Nothing: the form has no definition that could reach it.
    Nothing,
}

/// A variable that has no versions: data that threads do not share, or a synchronisation object.
#[derive(Clone, Debug)]
pub(super) struct Plain {
    pub(super) name: String,
    /// The declaration of its field.
    pub(super) declaration: String,
}

/// What makes a version.
#[derive(Clone, Copy, Debug)]
enum By {
    Definition(DefinitionId),
    Pi(ReadId),
}

/// A version of a shared variable.
#[derive(Clone, Copy, Debug)]
struct Made {
    symbol: SymbolId,
    version: u32,
    ty: ScalarType,
    by: By,
}

/// What the memory of a program is in the form.
pub(super) struct Versions<'a> {
    input: &'a Input<'a>,
    /// In the order of the symbols, by rising version.
    pub(super) fields: Vec<Field>,
    /// In the order of the reads.
    pub(super) pis: Vec<Pi>,
    /// In the order of the variables.
    pub(super) plain: Vec<Plain>,
    definitions: FxHashMap<DefinitionId, String>,
    latched: FxHashSet<String>,
    pi_of: FxHashMap<ReadId, usize>,
    plain_of: FxHashMap<VariableId, usize>,
    /// Initial definitions that an instruction makes.
    stored: FxHashSet<DefinitionId>,
    names: Names<'static>,
    /// All names of fields, methods and classes.
    pub(super) taken: FxHashSet<String>,
}

impl<'a> Versions<'a> {
    pub(super) fn new(input: &'a Input<'a>, sites: &Sites<'a>, ssa: &ProgramSsa) -> Versions<'a> {
        let mut versions = Versions {
            input,
            fields: Vec::new(),
            pis: Vec::new(),
            plain: Vec::new(),
            definitions: FxHashMap::default(),
            latched: FxHashSet::default(),
            pi_of: FxHashMap::default(),
            plain_of: FxHashMap::default(),
            stored: FxHashSet::default(),
            names: Names::new(identifier),
            taken: FxHashSet::default(),
        };
        for name in TAKEN {
            versions.fresh(name);
        }
        versions.add_shared(sites, ssa);
        versions.add_plain(sites);
        versions
    }

    /// A name of the class that no other one is like.
    pub(super) fn fresh(&mut self, wanted: &str) -> String {
        let name = self.names.fresh(wanted);
        self.taken.insert(name.clone());
        name
    }

    fn is_shared(&self, variable: VariableId) -> bool {
        let shared = &self.input.form.concurrency.sharing.leaves;
        self.input.program.variables[variable].leaves().any(|leaf| shared.contains(leaf.index()))
    }

    /// The definitions of shared variables, and the pi functions of their reads.
    fn add_shared(&mut self, sites: &Sites<'a>, ssa: &ProgramSsa) {
        let Input { program, sources, .. } = *self.input;
        let mut made = self.initial_definitions(sites);
        let types: FxHashMap<SymbolId, ScalarType> = made.iter().map(|made| (made.symbol, made.ty)).collect();
        made.extend(self.made_by_instructions(sites, ssa, &types));
        made.sort_by_key(|made| (made.symbol, made.version));
        let mut bases: FxHashMap<SymbolId, String> = FxHashMap::default();
        let mut pis = Vec::new();
        for (place, &Made { symbol, version, ty, by }) in made.iter().enumerate() {
            let name = program.texts.get(program.symbols[symbol].name);
            let of = bases.entry(symbol).or_insert_with(|| self.names.fresh(name)).clone();
            let name = self.fresh(&format!("{of}_{version}"));
            let at = match by {
                By::Definition(definition) => {
                    self.definitions.insert(definition, name.clone());
                    definition_name(sources, program, definition)
                }
                By::Pi(read) => {
                    pis.push((read, place));
                    read_name(sources, program, read)
                }
            };
            self.fields.push(Field { name, ty, of, at });
        }
        self.add_pis(pis);
        let shown = |pi: &Pi| [self.versions(&pi.terms), self.versions(&pi.control)].concat();
        self.latched = self.pis.iter().flat_map(shown).map(str::to_owned).collect();
    }

    /// Whether the definition of a version opens a latch: some pi function may give it. The aspect captures no other one, as in
    /// figure 4 of the paper.
    pub(super) fn is_latched(&self, field: &Field) -> bool {
        self.latched.contains(&field.name)
    }

    /// The initial definitions of shared variables.
    fn initial_definitions(&self, sites: &Sites<'a>) -> Vec<Made> {
        let program = self.input.program;
        let mut made = Vec::new();
        for (id, variable) in program.variables.entries().filter(|&(id, _)| self.is_shared(id)) {
            let leaf = program.leaf_at(id, 0).map(|(leaf, _)| &program.leaves[leaf]);
            if let Some(leaf) = leaf.filter(|_| sites.has(variable.storage))
                && let (LeafKind::Data(ty), Some(definition)) = (leaf.kind, leaf.initial_definition)
            {
                made.push(Made { symbol: leaf.symbol, version: 0, ty, by: By::Definition(definition) });
            }
        }
        made
    }

    /// What instructions define of variables that have these types, and what pi functions give.
    fn made_by_instructions(
        &mut self,
        sites: &Sites<'a>,
        ssa: &ProgramSsa,
        types: &FxHashMap<SymbolId, ScalarType>,
    ) -> Vec<Made> {
        let Input { program, form, .. } = *self.input;
        let annotations = CssameAnnotations::new(program, ssa, Some(form));
        let mut made = Vec::new();
        let mut add = |symbol, version, by| {
            made.extend(types.get(&symbol).map(|&ty| Made { symbol, version, ty, by }));
        };
        for &function in &sites.functions {
            for (block, content) in program.functions[function].blocks.entries() {
                for (position, instruction) in content.instructions.iter().enumerate() {
                    match instruction {
                        Instruction::Store { definition, .. } => {
                            let of = &program.definitions[*definition];
                            if matches!(of.kind, DefinitionKind::Initial(_)) {
                                self.stored.insert(*definition);
                            } else {
                                add(of.symbol, of.version, By::Definition(*definition));
                            }
                        }
                        Instruction::Load { read, .. } => {
                            let symbol = program.reads[*read].symbol;
                            let merges = annotations.before(Site { function, block, position });
                            merges.first().into_iter().for_each(|merge| add(symbol, merge.version, By::Pi(*read)));
                        }
                        _ => {}
                    }
                }
            }
        }
        made
    }

    /// The pi functions, each with the place of its field.
    fn add_pis(&mut self, mut pis: Vec<(ReadId, usize)>) {
        let Input { program, form, sources, .. } = *self.input;
        pis.sort_by_key(|&(read, _)| (program.reads[read].span, read));
        for (read, field) in pis {
            let by_version = |mut terms: Vec<DefinitionId>| {
                terms.sort_by_key(|&term| (program.definitions[term].version, term));
                terms
            };
            let (terms, control) = (by_version(form.terms(read)), by_version(form.control_definitions(read)));
            let at = read_name(sources, program, read);
            let method = self.fresh(&format!("pi_{at}"));
            let Field { name, ty, .. } = &self.fields[field];
            let (field, ty) = (name.clone(), *ty);
            let control = if control.is_empty() { terms.clone() } else { control };
            self.pi_of.insert(read, self.pis.len());
            self.pis.push(Pi { method, field, ty, at, terms, control });
        }
    }

    /// Variables without versions.
    fn add_plain(&mut self, sites: &Sites<'a>) {
        let program = self.input.program;
        for (id, variable) in program.variables.entries() {
            if self.is_data_with_versions(id) || !sites.has(variable.storage) {
                continue;
            }
            let Some((leaf, _)) = program.leaf_at(id, 0) else { continue };
            let leaf = &program.leaves[leaf];
            let name = self.fresh(program.texts.get(variable.name));
            let shown = string(program.texts.get(variable.name));
            let first = leaf.initial.first().copied();
            let declaration = match leaf.kind {
                LeafKind::Data(ty) => format!("{} {name} = {};", type_name(ty), self.initial_value(id, ty)),
                LeafKind::Event => format!("final Event {name} = new Event({shown});"),
                LeafKind::Barrier(parties) => format!("final Barrier {name} = new Barrier({shown}, {parties});"),
                LeafKind::Semaphore => {
                    let count = first.map_or(0, cssame_ir::Value::bits);
                    format!("final Semaphore {name} = new Semaphore({shown}, {count});")
                }
                _ => format!("final Lock {name} = new Lock({shown});"),
            };
            self.plain_of.insert(id, self.plain.len());
            self.plain.push(Plain { name, declaration });
        }
    }

    fn is_data_with_versions(&self, id: VariableId) -> bool {
        let leaf = self.input.program.leaf_at(id, 0).map(|(leaf, _)| &self.input.program.leaves[leaf]);
        self.is_shared(id) && leaf.is_some_and(|leaf| matches!(leaf.kind, LeafKind::Data(_)))
    }

    /// The value that a variable begins with.
    pub(super) fn initial_value(&self, id: VariableId, ty: ScalarType) -> String {
        let program = self.input.program;
        let first = program.leaf_at(id, 0).and_then(|(leaf, _)| program.leaves[leaf].initial.first().copied());
        first.map_or_else(|| default_value(ty).to_owned(), |value| literal(&program.texts, value))
    }

    /// The assignment by which a variable begins, where no other instruction makes it: of a version, or of a variable without
    /// versions that is made anew.
    pub(super) fn beginning(&self, id: VariableId) -> Option<String> {
        let program = self.input.program;
        let leaf = &program.leaves[program.leaf_at(id, 0)?.0];
        let (LeafKind::Data(ty), Some(definition)) = (leaf.kind, leaf.initial_definition) else { return None };
        let name = match self.definitions.get(&definition) {
            Some(_) if self.stored.contains(&definition) => return None,
            Some(name) => name,
            None => &self.plain(id)?.name,
        };
        Some(format!("{name} = {};", self.initial_value(id, ty)))
    }

    /// What a read of a shared variable gives; none of one without versions.
    pub(super) fn seen(&self, id: VariableId, read: ReadId) -> Option<Seen<'_>> {
        if !self.is_data_with_versions(id) {
            return None;
        }
        let form = self.input.form;
        let first = self.first(read);
        Some(match (self.pi(first), form.terms(read).as_slice()) {
            (Some(pi), _) if first == read => Seen::Pi(pi),
            (Some(pi), _) => Seen::Version(&pi.field),
            (None, [only]) => self.definitions.get(only).map_or(Seen::Nothing, |name| Seen::Version(name)),
            (None, _) => Seen::Nothing,
        })
    }

    /// The first read that sees what a read sees.
    pub(super) fn first(&self, mut read: ReadId) -> ReadId {
        while let Some(earlier) = self.input.form.same_as(read) {
            read = earlier;
        }
        read
    }

    /// The pi function of a read.
    pub(super) fn pi(&self, read: ReadId) -> Option<&Pi> {
        self.pis.get(*self.pi_of.get(&read)?)
    }

    /// The field of a definition.
    pub(super) fn version(&self, definition: DefinitionId) -> Option<&str> {
        self.definitions.get(&definition).map(String::as_str)
    }

    /// The fields of several definitions.
    pub(super) fn versions(&self, definitions: &[DefinitionId]) -> Vec<&str> {
        definitions.iter().filter_map(|&each| self.version(each)).collect()
    }

    /// The field of a variable without versions.
    pub(super) fn plain(&self, id: VariableId) -> Option<&Plain> {
        self.plain.get(*self.plain_of.get(&id)?)
    }
}
