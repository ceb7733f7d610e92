//! CSSAME form as text, as Graphviz graph and as data.
//!
//! In: a program, its SSA form and its [`Form`]. Out: annotations for the printers of the PFG: those of SSA; and, before each
//! read of shared memory that several definitions reach, a pi function, `a_4 = pi(a_0, a_2, a_3)`. The read then names the
//! version that the pi creates. A read that one definition reaches names that definition. Pi functions get the next free numbers
//! of their symbol, after writes and merges, function by function and in the order of the instructions.
//!
//! A read that sees the same version as an earlier read ([`Form::same_as`]) names that version, and has no pi function. A place
//! in several contexts has one pi, with the terms of all of them.

use super::Form;
use super::report::term_names;
use cssame_ir::print::{Annotations, Argument, Mention, Merge, Site, Version};
use cssame_ir::{BlockId, DefinitionId, FunctionId, Instruction, Program, ReadId};
use cssame_ssa::ProgramSsa;
use cssame_ssa::print::SsaAnnotations;
use rustc_hash::FxHashMap;

/// What CSSAME adds to the PFG.
#[derive(Debug)]
pub struct CssameAnnotations<'a> {
    program: &'a Program,
    ssa: SsaAnnotations<'a>,
    /// What stands at the reads of shared memory.
    reads: FxHashMap<ReadId, Seen>,
}

/// What a read sees.
#[derive(Debug)]
enum Seen {
    /// The version of its only definition.
    Definition(u32),
    /// A pi function.
    Pi(Merge),
}

impl Seen {
    fn version(&self) -> u32 {
        match self {
            Seen::Definition(version) => *version,
            Seen::Pi(merge) => merge.version,
        }
    }
}

impl<'a> CssameAnnotations<'a> {
    /// The annotations of a program; without a form, those of SSA.
    #[must_use]
    pub fn new(program: &'a Program, ssa: &'a ProgramSsa, form: Option<&Form>) -> CssameAnnotations<'a> {
        let mut next_versions = ssa.next_versions.clone();
        let mut reads = FxHashMap::default();
        let shared =
            form.into_iter().flat_map(|form| form.shared_reads().into_iter().map(move |read| (read, form.terms(read))));
        for (read, terms) in shared {
            let of = &program.reads[read];
            let argument = |(&id, name): (&DefinitionId, &str)| {
                let version = program.definitions[id].version;
                Argument { name: name.to_owned(), version, block: None, definition: Some(id) }
            };
            let seen = match terms.as_slice() {
                [] => continue,
                [only] => Seen::Definition(program.definitions[*only].version),
                several => {
                    let version = next_versions[of.symbol];
                    next_versions[of.symbol] += 1;
                    let mut arguments: Vec<Argument> =
                        several.iter().zip(term_names(program, read, several)).map(argument).collect();
                    arguments.sort_by_key(|argument| argument.version);
                    let name = program.texts.get(of.name).to_owned();
                    Seen::Pi(Merge { function: "pi", name, symbol: Some(of.symbol), version, arguments })
                }
            };
            if form.is_none_or(|form| form.same_as(read).is_none()) {
                reads.insert(read, seen);
            }
        }
        let same: Vec<(ReadId, u32)> = form
            .into_iter()
            .flat_map(|form| form.shared_reads().into_iter().filter_map(|read| Some((read, form.same_as(read)?))))
            .filter_map(|(read, first)| Some((read, reads.get(&first)?.version())))
            .collect();
        reads.extend(same.into_iter().map(|(read, version)| (read, Seen::Definition(version))));
        CssameAnnotations { program, ssa: SsaAnnotations::new(program, ssa), reads }
    }

    fn seen(&self, site: Site) -> Option<&Seen> {
        match self.program.functions[site.function].blocks[site.block].instructions.get(site.position)? {
            Instruction::Load { read, .. } | Instruction::Atomic { read, .. } => self.reads.get(read),
            _ => None,
        }
    }
}

impl Annotations for CssameAnnotations<'_> {
    fn version(&self, site: Site, mention: Mention) -> Option<Version> {
        let plain = self.ssa.version(site, mention);
        let Some(seen) = self.seen(site).map(Seen::version) else { return plain };
        match mention {
            Mention::Read(_) => Some(Version { number: seen, from: None }),
            // Of an atomic expression: what it writes replaces what it has read.
            Mention::Definition(_) => plain.map(|version| Version { from: version.from.map(|_| seen), ..version }),
            Mention::RegisterRead(_) | Mention::RegisterWrite(_) => plain,
        }
    }

    fn at_head(&self, function: FunctionId, block: BlockId) -> Vec<Merge> {
        self.ssa.at_head(function, block)
    }

    fn before(&self, site: Site) -> Vec<Merge> {
        match self.seen(site) {
            Some(Seen::Pi(merge)) => vec![merge.clone()],
            Some(Seen::Definition(_)) | None => Vec::new(),
        }
    }

    fn after(&self, site: Site) -> Vec<Merge> {
        self.ssa.after(site)
    }
}
