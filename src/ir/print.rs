//! The text form of the PFG, and of the forms that are built on it.
//!
//! In: a program, and [`Annotations`] that a form adds to it: versions behind names, merges (`a_4 = phi(a_1, a_2)`) at the heads
//! of blocks and round instructions. Out: text for readers, one function after the other. Blocks are in reverse postorder, so
//! that a loop reads from its head to its exit. Blocks that the entry does not reach come last, and only if they have
//! instructions.
//!
//! A register without name is `%` and its number. A reference has an `&` before its name (`&this` for the object of a method). If
//! several registers have one name, the later ones are written as `i.2`; if names have versions, the versions distinguish them
//! instead.
//!
//! Limitation: it does not check whether the annotations are right.

mod words;

use super::flow::{Successors, reverse_postorder};
use super::{
    Block, BlockId, DefinitionId, Function, FunctionId, FunctionKind, LeafKind, Program, ReadId, RegisterId,
    RegisterType, Storage, SymbolId,
};
use cssame_source::{SourceMap, Span};
use std::fmt::Write;

pub use words::{constant_text, pointer_text};

/// An instruction of a block; its terminator stands behind the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site {
    /// The function.
    pub function: FunctionId,
    /// The block.
    pub block: BlockId,
    /// Which instruction.
    pub position: usize,
}

/// A name in an instruction that can have a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mention {
    /// A register is read.
    RegisterRead(RegisterId),
    /// A register is written.
    RegisterWrite(RegisterId),
    /// Memory is read.
    Read(ReadId),
    /// Memory is written.
    Definition(DefinitionId),
}

/// The version that a name has at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// `2` in `a_2`.
    pub number: u32,
    /// Of a write that leaves a part of the old value: the old version. Shown as `t_2(t_1)`.
    pub from: Option<u32>,
}

/// One of the versions that a merge chooses from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// The name without version.
    pub name: String,
    /// The version.
    pub version: u32,
    /// The block that it comes from, for a phi function.
    pub block: Option<BlockId>,
    /// The write, for a pi function: versions of two variables of one name may have one number.
    pub definition: Option<DefinitionId>,
}

/// A function of versions: `a_4 = pi(a_0, a_2, a_3)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merge {
    /// `phi`, `pi`, `chi`.
    pub function: &'static str,
    /// The name without version.
    pub name: String,
    /// Whose versions these are; none for a register.
    pub symbol: Option<SymbolId>,
    /// The version that it makes.
    pub version: u32,
    /// What it chooses from.
    pub arguments: Vec<Argument>,
}

impl Merge {
    /// As it is written.
    #[must_use]
    pub fn text(&self) -> String {
        let arguments: Vec<String> =
            self.arguments.iter().map(|each| format!("{}_{}", each.name, each.version)).collect();
        format!("{}_{} = {}({})", self.name, self.version, self.function, arguments.join(", "))
    }
}

/// What a form adds to the plain text. All of it is optional.
pub trait Annotations {
    /// The version of a name in an instruction.
    fn version(&self, site: Site, mention: Mention) -> Option<Version> {
        let _ = (site, mention);
        None
    }

    /// Merges at the head of a block.
    fn at_head(&self, function: FunctionId, block: BlockId) -> Vec<Merge> {
        let _ = (function, block);
        Vec::new()
    }

    /// Merges just before an instruction.
    fn before(&self, site: Site) -> Vec<Merge> {
        let _ = site;
        Vec::new()
    }

    /// Merges just behind an instruction.
    fn after(&self, site: Site) -> Vec<Merge> {
        let _ = site;
        Vec::new()
    }
}

/// No annotation: the PFG itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plain;

impl Annotations for Plain {}

/// The text of a program.
#[must_use]
pub fn print_program(program: &Program, sources: &SourceMap, annotations: &dyn Annotations) -> String {
    let mut text = String::new();
    for leaf in program.leaves.iter() {
        let variable = &program.variables[leaf.variable];
        let lengths: String = leaf.dimensions.iter().map(|dimension| format!("[{}]", dimension.length)).collect();
        let kind = format!("{}{lengths}", kind_text(leaf.kind));
        let atomic = if program.symbols[leaf.symbol].atomic { "atomic " } else { "" };
        let initial = match (leaf.kind, leaf.is_array(), leaf.initial.first()) {
            (LeafKind::Data(_) | LeafKind::Semaphore, false, Some(&value)) => {
                format!(" = {}", constant_text(program, value))
            }
            _ => String::new(),
        };
        let (storage, owner) = match variable.storage {
            Storage::Global => ("global", String::new()),
            Storage::Local(owner) => ("local", format!("  // of {}", program.texts.get(program.functions[owner].name))),
        };
        let _ = writeln!(text, "{storage} {}: {atomic}{kind}{initial}{owner}", program.texts.get(leaf.name));
    }
    for id in program.functions.ids() {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&print_function(program, sources, id, annotations));
    }
    text
}

/// What a leaf holds: `int`, `lock`, `barrier(2)`.
#[must_use]
pub fn kind_text(kind: LeafKind) -> String {
    match kind {
        LeafKind::Data(ty) => ty.name().to_owned(),
        LeafKind::Lock => "lock".to_owned(),
        LeafKind::ReentrantLock => "reentrant lock".to_owned(),
        LeafKind::RwLock => "rwlock".to_owned(),
        LeafKind::Event => "event".to_owned(),
        LeafKind::Barrier(count) => format!("barrier({count})"),
        LeafKind::Condition => "cond".to_owned(),
        LeafKind::Semaphore => "sem".to_owned(),
    }
}

/// The text of one function.
#[must_use]
pub fn print_function(program: &Program, sources: &SourceMap, id: FunctionId, annotations: &dyn Annotations) -> String {
    let printer = Printer::new(program, sources, id, annotations);
    let mut text = format!("{} {{  // {}\n", printer.heading(), printer.position(printer.function.span));
    for (block, reached) in printer.layout() {
        let _ = writeln!(text, "b{}:{}", block.0, if reached { "" } else { "  // not reached" });
        for line in printer.block_lines(block) {
            let _ = writeln!(text, "  {line}");
        }
    }
    text.push_str("}\n");
    text
}

/// Words for one function.
pub struct Printer<'a> {
    program: &'a Program,
    sources: &'a SourceMap,
    annotations: &'a dyn Annotations,
    id: FunctionId,
    function: &'a Function,
    /// For each register how many before it have its name.
    namesakes: Vec<u32>,
}

impl<'a> Printer<'a> {
    /// A printer of one function.
    pub fn new(
        program: &'a Program,
        sources: &'a SourceMap,
        id: FunctionId,
        annotations: &'a dyn Annotations,
    ) -> Printer<'a> {
        let function = &program.functions[id];
        let mut counts = rustc_hash::FxHashMap::default();
        let namesakes = function.registers.iter().map(|register| {
            let count = counts.entry((register.name, register.ty == RegisterType::Reference)).or_insert(0_u32);
            *count += 1;
            *count - 1
        });
        Printer { namesakes: namesakes.collect(), program, sources, annotations, id, function }
    }

    /// `int f(int n)`, `method Account.take(&this, int n)`, `arm T1(&x)`.
    pub fn heading(&self) -> String {
        let kind = match self.function.kind {
            FunctionKind::Main => "main",
            FunctionKind::Function => "function",
            FunctionKind::Method { public: true } => "public method",
            FunctionKind::Method { public: false } => "method",
            FunctionKind::Arm => "arm",
        };
        let result = self.function.result.map_or(String::new(), |ty| format!("{} ", ty.name()));
        let parameters: Vec<String> = self.function.parameters.iter().map(|&each| self.declared_name(each)).collect();
        let name = self.program.texts.get(self.function.name);
        format!("{kind} {result}{name}({})", parameters.join(", "))
    }

    fn declared_name(&self, register: RegisterId) -> String {
        match self.function.registers[register].ty {
            RegisterType::Scalar(ty) => format!("{} {}", ty.name(), self.register_name(register)),
            RegisterType::Reference => self.register_name(register),
        }
    }

    /// The name of a register without version.
    pub fn register_name(&self, register: RegisterId) -> String {
        let name = self.plain_name(register);
        match self.namesakes[register.index()] {
            count if count > 0 && self.function.registers[register].name.is_some() => format!("{name}.{}", count + 1),
            _ => name,
        }
    }

    /// The name of a register as the text has it.
    pub fn plain_name(&self, register: RegisterId) -> String {
        let declared = &self.function.registers[register];
        let sign = if declared.ty == RegisterType::Reference { "&" } else { "" };
        match declared.name {
            Some(name) => format!("{sign}{}", self.program.texts.get(name)),
            // The object of a method is the only parameter without name.
            None if sign == "&" && self.function.parameters.first() == Some(&register) => "&this".to_owned(),
            None => format!("{sign}%{}", register.0),
        }
    }

    /// `3:9`, or `?` where the file is not known.
    pub fn position(&self, span: Span) -> String {
        self.sources.get(span.file).map_or_else(|| "?".to_owned(), |file| file.position(span.start).to_string())
    }

    /// The blocks in the order of the text, and whether the entry reaches them.
    pub fn layout(&self) -> Vec<(BlockId, bool)> {
        let order = reverse_postorder(self.function, Successors::Reversed);
        let mut reached = vec![false; self.function.blocks.len()];
        order.iter().for_each(|block| reached[block.index()] = true);
        let others = self.function.blocks.entries().filter(|(id, block)| {
            let Block { instructions, .. } = block;
            !reached[id.index()] && !instructions.is_empty()
        });
        let others: Vec<_> = others.map(|(id, _)| (id, false)).collect();
        order.into_iter().map(|block| (block, true)).chain(others).collect()
    }

    /// The lines of a block, merges included.
    pub fn block_lines(&self, id: BlockId) -> Vec<String> {
        let mut lines: Vec<String> = self.annotations.at_head(self.id, id).iter().map(Merge::text).collect();
        let count = self.function.blocks[id].instructions.len();
        for position in 0..=count {
            lines.extend(self.site_lines(Site { function: self.id, block: id, position }));
        }
        lines
    }

    /// The lines of an instruction or a terminator, merges included.
    pub fn site_lines(&self, site: Site) -> Vec<String> {
        let mut lines: Vec<String> = self.annotations.before(site).iter().map(Merge::text).collect();
        lines.push(self.words(site));
        lines.extend(self.annotations.after(site).iter().map(Merge::text));
        lines
    }
}
