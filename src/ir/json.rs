//! The PFG as plain data, for `--format json`.
//!
//! In: a program and the [`Annotations`] of a form. Out: [`ProgramData`], which derives `Serialize`. Every instruction has its
//! text, as in the text form, and separately the data that other programs need without parsing it.

use super::print::{Annotations, Mention, Merge, Printer, Site, kind_text};
use super::{BlockId, FunctionId, FunctionKind, Instruction, NewThread, Program, Storage, TextId};
use cssame_source::{SourceMap, Span};
use serde::Serialize;

/// A program.
#[derive(Clone, Debug, Serialize)]
pub struct ProgramData {
    /// Memory variables.
    pub variables: Vec<VariableData>,
    /// Functions and arms.
    pub functions: Vec<FunctionData>,
}

/// A place in the text.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PlaceData {
    /// Line, from 1; 0 where the file is not known.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// A memory variable.
#[derive(Clone, Debug, Serialize)]
pub struct VariableData {
    /// Its name.
    pub name: String,
    /// Where it is declared.
    #[serde(flatten)]
    pub place: PlaceData,
    /// The number of the function whose local it is; none for a global.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<u32>,
    /// Its parts.
    pub leaves: Vec<LeafData>,
}

/// A part of a memory variable.
#[derive(Clone, Debug, Serialize)]
pub struct LeafData {
    /// Its name from outside: `acc.balance`.
    pub name: String,
    /// `int`, `lock`, `barrier(2)`.
    pub kind: String,
    /// Number of elements, for an array.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elements: Option<u32>,
    /// Whether it is declared `atomic`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub atomic: bool,
}

/// A function, a method or an arm.
#[derive(Clone, Debug, Serialize)]
pub struct FunctionData {
    /// Its number, by which threads and calls name it.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// `main`, `function`, `method` or `arm`.
    pub kind: &'static str,
    /// Where its name stands.
    #[serde(flatten)]
    pub place: PlaceData,
    /// The names of its parameters; a reference begins with `&`.
    pub parameters: Vec<String>,
    /// Type of its result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<&'static str>,
    /// Its blocks; the first is the entry.
    pub blocks: Vec<BlockData>,
}

/// A basic block.
#[derive(Clone, Debug, Serialize)]
pub struct BlockData {
    /// Its number.
    pub id: u32,
    /// Whether the entry reaches it.
    pub reachable: bool,
    /// Merges at its head.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub merges: Vec<MergeData>,
    /// Its instructions; the last is the terminator.
    pub instructions: Vec<InstructionData>,
    /// The blocks that may come next.
    pub successors: Vec<u32>,
}

/// An instruction or a terminator.
#[derive(Clone, Debug, Serialize)]
pub struct InstructionData {
    /// As the text form has it.
    pub text: String,
    /// Where it stands.
    #[serde(flatten)]
    pub place: PlaceData,
    /// Merges just before it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<MergeData>,
    /// Merges just behind it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<MergeData>,
    /// The register that it writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writes: Option<String>,
    /// The registers that it reads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<String>,
    /// Its read of memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<AccessData>,
    /// Its write of memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<AccessData>,
    /// The functions that it calls or makes threads of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<u32>,
}

/// An access to memory.
#[derive(Clone, Debug, Serialize)]
pub struct AccessData {
    /// `a@3:5`
    pub at: String,
    /// `a_2`, where the form has versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// A function of versions.
#[derive(Clone, Debug, Serialize)]
pub struct MergeData {
    /// `phi`, `pi`, `chi`.
    pub function: &'static str,
    /// `a_4`
    pub version: String,
    /// What it chooses from.
    pub arguments: Vec<ArgumentData>,
}

/// One of the versions that a merge chooses from.
#[derive(Clone, Debug, Serialize)]
pub struct ArgumentData {
    /// `a_2`
    pub version: String,
    /// The block that it comes from, for a phi function.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<u32>,
    /// The place of the write, for a pi function: `a@3:5`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

/// The data of a program.
#[must_use]
pub fn program_data(program: &Program, sources: &SourceMap, annotations: &dyn Annotations) -> ProgramData {
    let context = Context { program, sources, annotations };
    ProgramData {
        variables: context.variables(),
        functions: program.functions.ids().map(|id| context.function(id)).collect(),
    }
}

struct Context<'a> {
    program: &'a Program,
    sources: &'a SourceMap,
    annotations: &'a dyn Annotations,
}

impl Context<'_> {
    fn text(&self, id: TextId) -> String {
        self.program.texts.get(id).to_owned()
    }

    fn place(&self, span: Span) -> PlaceData {
        self.sources.get(span.file).map_or(PlaceData { line: 0, column: 0 }, |file| {
            let position = file.position(span.start);
            PlaceData { line: position.line, column: position.column }
        })
    }

    fn variables(&self) -> Vec<VariableData> {
        let leaf = |leaf| {
            let leaf = &self.program.leaves[leaf];
            let elements = leaf.is_array().then(|| leaf.element_count());
            let atomic = self.program.symbols[leaf.symbol].atomic;
            LeafData { name: self.text(leaf.name), kind: kind_text(leaf.kind), elements, atomic }
        };
        let variables = self.program.variables.iter().map(|variable| VariableData {
            name: self.text(variable.name),
            place: self.place(variable.span),
            function: match variable.storage {
                Storage::Global => None,
                Storage::Local(function) => Some(function.0),
            },
            leaves: variable.leaves().map(leaf).collect(),
        });
        variables.collect()
    }

    fn function(&self, id: FunctionId) -> FunctionData {
        let function = &self.program.functions[id];
        let printer = Printer::new(self.program, self.sources, id, self.annotations);
        let mut reachable = vec![false; function.blocks.len()];
        for (block, reached) in printer.layout() {
            reachable[block.index()] = reached;
        }
        FunctionData {
            id: id.0,
            name: self.text(function.name),
            kind: match function.kind {
                FunctionKind::Main => "main",
                FunctionKind::Function => "function",
                FunctionKind::Method { .. } => "method",
                FunctionKind::Arm => "arm",
            },
            place: self.place(function.span),
            parameters: function.parameters.iter().map(|&each| printer.register_name(each)).collect(),
            result: function.result.map(crate::ScalarType::name),
            blocks: function
                .blocks
                .ids()
                .map(|block| self.block(&printer, id, block, reachable[block.index()]))
                .collect(),
        }
    }

    fn block(&self, printer: &Printer<'_>, function: FunctionId, id: BlockId, reachable: bool) -> BlockData {
        let block = &self.program.functions[function].blocks[id];
        let site = |position| Site { function, block: id, position };
        BlockData {
            id: id.0,
            reachable,
            merges: self.merges(self.annotations.at_head(function, id)),
            instructions: (0..=block.instructions.len()).map(|each| self.instruction(printer, site(each))).collect(),
            successors: block.terminator.successors().map(|target| target.0).collect(),
        }
    }

    fn instruction(&self, printer: &Printer<'_>, site: Site) -> InstructionData {
        let block = &self.program.functions[site.function].blocks[site.block];
        let instruction = block.instructions.get(site.position);
        let span = block.spans.get(site.position).copied().unwrap_or(block.terminator_span);
        let (read, write) = self.accesses(site, instruction);
        let functions = match instruction {
            Some(Instruction::Call { function, .. }) => vec![function.0],
            Some(Instruction::Fork { threads, .. }) => {
                threads.iter().flat_map(NewThread::functions).map(|function| function.0).collect()
            }
            Some(Instruction::Spawn { thread, .. }) => vec![thread.function.0],
            _ => Vec::new(),
        };
        InstructionData {
            text: printer.words(site),
            place: self.place(span),
            before: self.merges(self.annotations.before(site)),
            after: self.merges(self.annotations.after(site)),
            writes: printer.write_of(site),
            reads: printer.reads_of(site),
            read,
            write,
            functions,
        }
    }

    fn accesses(&self, site: Site, instruction: Option<&Instruction>) -> (Option<AccessData>, Option<AccessData>) {
        let (read, definition) = match instruction {
            Some(Instruction::Load { read, .. }) => (Some(*read), None),
            Some(Instruction::Store { definition, .. }) => (None, Some(*definition)),
            Some(Instruction::Atomic { read, definition, .. }) => (Some(*read), Some(*definition)),
            _ => (None, None),
        };
        let read = read.map(|id| {
            let fact = &self.program.reads[id];
            self.access(site, fact.name, fact.span, Mention::Read(id))
        });
        let write = definition.map(|id| {
            let fact = &self.program.definitions[id];
            self.access(site, fact.name, fact.span, Mention::Definition(id))
        });
        (read, write)
    }

    fn merges(&self, merges: Vec<Merge>) -> Vec<MergeData> {
        let place_of = |id| {
            let of = &self.program.definitions[id];
            let place = self.place(of.span);
            format!("{}@{}:{}", self.text(of.name), place.line, place.column)
        };
        let data = merges.into_iter().map(|merge| MergeData {
            function: merge.function,
            version: format!("{}_{}", merge.name, merge.version),
            arguments: merge
                .arguments
                .into_iter()
                .map(|argument| ArgumentData {
                    version: format!("{}_{}", argument.name, argument.version),
                    block: argument.block.map(|block| block.0),
                    at: argument.definition.map(place_of),
                })
                .collect(),
        });
        data.collect()
    }

    fn access(&self, site: Site, name: TextId, span: Span, mention: Mention) -> AccessData {
        let (name, place) = (self.text(name), self.place(span));
        let version = self.annotations.version(site, mention).map(|version| format!("{name}_{}", version.number));
        AccessData { at: format!("{name}@{}:{}", place.line, place.column), version }
    }
}
