//! The parallel flow graph (PFG): functions of basic blocks of three-address instructions.
//!
//! In: the typed tree of `hir`. Out: a [`Program`], the only form that the analyses and the machine read. Every instruction makes
//! at most one access to memory. Spans are stored next to the instructions, never in them.
//!
//! Private scalar locals are [`Register`]s. Everything else is memory: a [`Variable`] is a global, or a local that is captured by
//! the arms of a `cobegin`/`parfor`, an array, an object or a synchronisation object. A variable is a run of cells; its [`Leaf`]s
//! describe the cells. The arms of a `cobegin` are separate functions, which take captured variables by reference.

mod access;
mod atomic;
mod context;
mod conversion;
pub mod dot;
mod enumeration;
pub mod flow;
pub mod json;
mod leaf;
pub mod operation;
pub mod picture;
mod place;
mod pointer;
pub mod points_to;
pub mod print;
mod reached;
pub mod structure;
pub mod svg;
pub mod sync;
mod thread;
pub mod types;
mod value;
pub mod verify;
mod versions;

pub use access::Access;
use arena::{Arena, id};
pub use atomic::{AtomicOperation, Modification};
pub use context::{AccessContext, AccessContexts};
pub use conversion::{Conversion, Letter};
use cssame_source::Span;
pub use cssame_source::arena;
pub use cssame_source::texts::{TextId, Texts};
pub use enumeration::Enumerations;
pub use leaf::{Dimension, Leaf, LeafKind};
pub use operation::*;
pub use place::{Base, Index, Operand, Place};
pub use pointer::{Object, Pointer};
pub use reached::Follow;
pub use sync::Synchronisation;
pub use thread::{NewThread, ThreadLabel, TripBounds, thread_name};
pub use types::{ArrayId, ArrayType, Class, ClassId, Field, Type};
pub use value::{Integer, ScalarType, Value};
pub use versions::number_versions;

id! {
    /// A function, a method, or an arm of a `cobegin`/`parfor`.
    FunctionId
}
id! {
    /// A basic block of one function.
    BlockId
}
id! {
    /// A private scalar, a temporary or a reference, of one function.
    RegisterId
}
id! {
    /// A memory variable.
    VariableId
}
id! {
    /// A part of a memory variable that holds one kind of thing: a scalar, an array, or a synchronisation object.
    LeafId
}
id! {
    /// What a program text calls a variable: a declared variable or a field of a class. SSA versions are counted for each.
    SymbolId
}
id! {
    /// A place in the text that reads memory.
    ReadId
}
id! {
    /// A place in the text that writes memory, or the initial definition of a leaf.
    DefinitionId
}

/// A whole program.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Functions; the order is that of the text, an arm after the function that holds it.
    pub functions: Arena<FunctionId, Function>,
    /// Where execution begins; `None` for a file that holds only classes and functions.
    pub main: Option<FunctionId>,
    /// Whether the end of `main` ends the program, as in C: threads that have not ended then are no deadlock.
    pub ends_with_main: bool,
    /// What the front end has chosen where the text leaves something open, in words: what is said of the program holds within it.
    pub limits: Vec<String>,
    /// Memory variables.
    pub variables: Arena<VariableId, Variable>,
    /// Parts of memory variables; the leaves of one variable stand together, by rising offset. Those of an array of
    /// objects lie in each other's gaps.
    pub leaves: Arena<LeafId, Leaf>,
    /// Declared classes.
    pub classes: Arena<ClassId, Class>,
    /// Types of arrays.
    pub arrays: Arena<ArrayId, ArrayType>,
    /// Declared variables and fields.
    pub symbols: Arena<SymbolId, Symbol>,
    /// Places that read memory.
    pub reads: Arena<ReadId, Read>,
    /// Places that write memory, and initial definitions.
    pub definitions: Arena<DefinitionId, Definition>,
    /// Interned texts.
    pub texts: Texts,
    /// Names of values, for people.
    pub enumerations: Enumerations,
    /// What tells copies of one place apart, where functions were copied for their calling contexts.
    pub contexts: AccessContexts,
}

/// What a variable or a field is called, and where it is declared.
#[derive(Clone, Debug)]
pub struct Symbol {
    /// `balance`
    pub name: TextId,
    /// Its name in the declaration.
    pub span: Span,
    /// The class that it is a field of; `None` for a variable.
    pub class: Option<TextId>,
    /// Whether it is declared `atomic`: unsynchronised use is meant.
    pub atomic: bool,
    /// The symbol whose cells it may name: itself, but for the arrays that a parameter takes, which count as one with it.
    pub cells_of: SymbolId,
}

impl Symbol {
    /// Its name, with that of its class: `Account.balance`.
    #[must_use]
    pub fn full_name(&self, texts: &Texts) -> String {
        let name = texts.get(self.name);
        self.class.map_or_else(|| name.to_owned(), |class| format!("{}.{name}", texts.get(class)))
    }
}

/// Who owns a memory variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// There from the start, once.
    Global,
    /// Made by [`Instruction::Allocate`] in a frame of that function.
    Local(FunctionId),
}

/// A memory variable: a run of cells.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name in the text; a hidden one, such as an anonymous barrier, has a name that shows what it is.
    pub name: TextId,
    /// Its name in the declaration.
    pub span: Span,
    /// Who owns it.
    pub storage: Storage,
    /// Its type in the declaration.
    pub ty: Type,
    /// Its first leaf.
    pub first_leaf: LeafId,
    /// Number of its leaves.
    pub leaf_count: u32,
    /// Number of its cells.
    pub size: u32,
    /// Number of its bytes.
    pub bytes: u32,
    /// Whether what [`Instruction::Allocate`] makes stays when the function returns, and when it makes another one: memory of
    /// `malloc`.
    pub heap: bool,
}

impl Variable {
    /// The ids of its leaves.
    pub fn leaves(&self) -> impl Iterator<Item = LeafId> + use<> {
        let first = self.first_leaf.index();
        (first..first + self.leaf_count as usize).map(LeafId::new)
    }
}

/// A place that reads memory.
#[derive(Clone, Debug)]
pub struct Read {
    /// The variable as written at that place: `a`, `acc.balance`, `balance`.
    pub name: TextId,
    /// The declared variable or field.
    pub symbol: SymbolId,
    /// Where the name stands.
    pub span: Span,
    /// The function that holds it.
    pub function: FunctionId,
}

/// How a definition comes about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefinitionKind {
    /// The value before the first write: of the declaration.
    Initial(LeafId),
    /// A write by an instruction of that function.
    Write(FunctionId),
    /// Memory is given back by an instruction of that function: of all cells of the object nothing is left, so that no read sees it.
    Free(FunctionId),
}

/// A place that writes memory, or an initial definition.
#[derive(Clone, Debug)]
pub struct Definition {
    /// The variable as written at that place.
    pub name: TextId,
    /// The declared variable or field.
    pub symbol: SymbolId,
    /// Where the name stands; for an initial definition, in the declaration.
    pub span: Span,
    /// How it comes about.
    pub kind: DefinitionKind,
    /// SSA version: 0 for an initial definition, then in text order for each symbol.
    pub version: u32,
}

impl Definition {
    /// Whether memory is given back there.
    #[must_use]
    pub fn is_free(&self) -> bool {
        matches!(self.kind, DefinitionKind::Free(_))
    }
}

impl Program {
    /// Whether memory is given back anywhere.
    #[must_use]
    pub fn frees_memory(&self) -> bool {
        self.definitions.iter().any(Definition::is_free)
    }
}

/// What a function comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionKind {
    /// `main`, or the statements at top level.
    Main,
    /// A function of the program.
    Function,
    /// A method of a class; its first parameter is the object. `public` says whether others may call it.
    Method {
        /// Whether others may call it.
        public: bool,
    },
    /// An arm of a `cobegin`, or the body of a `parfor`.
    Arm,
}

/// A function: registers, and blocks of which the first is the entry.
#[derive(Clone, Debug)]
pub struct Function {
    /// `main`, `f`, `Account.deposit`, and for an arm its label.
    pub name: TextId,
    /// Its name in the text.
    pub span: Span,
    /// What it comes from.
    pub kind: FunctionKind,
    /// The registers that take the arguments, in order.
    pub parameters: Vec<RegisterId>,
    /// Type of the result, if there is one.
    pub result: Option<ScalarType>,
    /// Its registers.
    pub registers: Arena<RegisterId, Register>,
    /// Its blocks; block 0 is the entry.
    pub blocks: Arena<BlockId, Block>,
}

impl Function {
    /// The type of an operand.
    #[must_use]
    pub fn type_of(&self, operand: Operand) -> RegisterType {
        match operand {
            Operand::Constant(value) => RegisterType::Scalar(value.ty()),
            Operand::Register(register) => self.registers[register].ty,
        }
    }
}

/// What a register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterType {
    /// A value.
    Scalar(ScalarType),
    /// The address of a variable or of a part of one, which never changes and is never stored. What may be stored, compared and
    /// computed with is a scalar: [`ScalarType::Pointer`].
    Reference,
}

/// A register.
#[derive(Clone, Debug)]
pub struct Register {
    /// Its name in the text; a temporary has none.
    pub name: Option<TextId>,
    /// Where it is declared, or the expression that it holds.
    pub span: Span,
    /// What it holds.
    pub ty: RegisterType,
    /// Of a reference: the type of what it leads to, where the text has one.
    pub pointee: Option<Type>,
}

/// A basic block.
#[derive(Clone, Debug)]
pub struct Block {
    /// Run in order.
    pub instructions: Vec<Instruction>,
    /// Where each of them stands in the text; as many as there are instructions.
    pub spans: Vec<Span>,
    /// What comes behind the last instruction.
    pub terminator: Terminator,
    /// Where the terminator stands in the text; for a branch, its condition.
    pub terminator_span: Span,
    /// Whether the text of a branch's condition is the negation of what the branch tests: `!x` tests `x`.
    pub negated: bool,
}
