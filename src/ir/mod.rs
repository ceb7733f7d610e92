//! The parallel flow graph (PFG): functions of basic blocks of three-address instructions.
//!
//! In: the typed tree of `hir`. Out: a [`Program`], the only form that the analyses and the machine read. Every instruction
//! makes at most one access to memory. Spans stand beside the instructions, never in them.
//!
//! Private scalar locals are [`Register`]s. Everything else is memory: a [`Variable`] is a global, or a local that is
//! captured by the arms of a `cobegin`/`parfor`, an array, an object or a synchronisation object. A variable is a run of cells;
//! its [`Leaf`]s say what the cells are. The arms of a `cobegin` are functions of their own, which take what they capture
//! by reference.

mod access;
mod context;
pub mod dot;
pub mod flow;
pub mod json;
pub mod operation;
pub mod print;
pub mod svg;
pub mod sync;
mod value;
pub mod verify;

use crate::source::Span;
pub use crate::source::arena;
pub use crate::source::texts::{TextId, Texts};
pub use access::Access;
use arena::{Arena, id};
pub use context::{AccessContext, AccessContexts};
pub use operation::*;
pub use sync::Synchronisation;
pub use value::{ScalarType, Value};

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
    /// Memory variables.
    pub variables: Arena<VariableId, Variable>,
    /// Parts of memory variables; the leaves of one variable stand together, by rising offset. Those of an array of
    /// objects lie in each other's gaps.
    pub leaves: Arena<LeafId, Leaf>,
    /// Declared variables and fields.
    pub symbols: Arena<SymbolId, Symbol>,
    /// Places that read memory.
    pub reads: Arena<ReadId, Read>,
    /// Places that write memory, and initial definitions.
    pub definitions: Arena<DefinitionId, Definition>,
    /// Interned texts.
    pub texts: Texts,
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
    /// Its first leaf.
    pub first_leaf: LeafId,
    /// Number of its leaves.
    pub leaf_count: u32,
    /// Number of its cells.
    pub size: u32,
}

impl Variable {
    /// The ids of its leaves.
    pub fn leaves(&self) -> impl Iterator<Item = LeafId> + use<> {
        let first = self.first_leaf.index();
        (first..first + self.leaf_count as usize).map(LeafId::new)
    }
}

/// What the cells of a leaf hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeafKind {
    /// Data of that type.
    Data(ScalarType),
    /// A lock: one cell, 0 when free, else the holder.
    Lock,
    /// A lock that its holder may take again: one cell, as of a lock, with the levels.
    ReentrantLock,
    /// A readers-writer lock: one cell, who writes and how many read.
    RwLock,
    /// An event: one cell, 1 when set.
    Event,
    /// A barrier for that many threads: two cells, the count and the number that have arrived.
    Barrier(u32),
    /// A condition: one cell, which only gives it an address.
    Condition,
    /// A semaphore: one cell, its count.
    Semaphore,
}

/// A part of a memory variable.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// The variable that it is a part of.
    pub variable: VariableId,
    /// As the text names it from outside: `a`, `acc.balance`, `t`.
    pub name: TextId,
    /// The declared variable or field.
    pub symbol: SymbolId,
    /// First cell, counted from that of the variable.
    pub offset: u32,
    /// The arrays that it lies in, outermost first; none for a part that there is once in its variable.
    pub dimensions: Vec<Dimension>,
    /// What the cells hold.
    pub kind: LeafKind,
    /// What the first cell of each element begins with, in the order of the elements; zero beyond its end.
    pub initial: Vec<Value>,
    /// Its initial definition; only data has one.
    pub initial_definition: Option<DefinitionId>,
}

/// An array that a leaf lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// Number of its elements.
    pub length: u32,
    /// Cells from one element to the next.
    pub stride: u32,
    /// Where in the name of the leaf the index stands, in bytes: of `a.balance` behind `a` for an array of objects.
    pub name_end: u32,
}

impl Leaf {
    /// Whether it has elements (also a single one), not just one thing.
    #[must_use]
    pub fn is_array(&self) -> bool {
        !self.dimensions.is_empty()
    }

    /// Number of its elements, over all dimensions; 1 where it is no array. They are numbered from 0, the last dimension
    /// first.
    #[must_use]
    pub fn element_count(&self) -> u32 {
        self.dimensions.iter().map(|dimension| dimension.length).product()
    }

    /// The first cell of an element, counted from that of the variable.
    #[must_use]
    pub fn cell(&self, element: u32) -> u32 {
        let mut rest = element;
        let mut cell = self.offset;
        for dimension in self.dimensions.iter().rev() {
            cell += rest % dimension.length * dimension.stride;
            rest /= dimension.length;
        }
        cell
    }

    /// Behind its last cell, counted from that of the variable.
    #[must_use]
    pub fn end(&self) -> u32 {
        self.cell(self.element_count().saturating_sub(1)) + self.kind.width()
    }

    /// The element that a cell of the variable belongs to; none where the cell is no part of the leaf.
    #[must_use]
    pub fn element_at(&self, cell: u32) -> Option<u32> {
        let mut rest = cell.checked_sub(self.offset)?;
        let mut element = 0;
        for dimension in &self.dimensions {
            let index = rest / dimension.stride;
            if index >= dimension.length {
                return None;
            }
            rest -= index * dimension.stride;
            element = element * dimension.length + index;
        }
        (rest < self.kind.width()).then_some(element)
    }

    /// The cells of all elements, counted from that of the variable.
    pub fn cells(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.element_count()).flat_map(|element| {
            let first = self.cell(element);
            first..first + self.kind.width()
        })
    }

    /// The indices of an element, one for each dimension.
    #[must_use]
    pub fn indices_of(&self, element: u32) -> Vec<u32> {
        let mut rest = element;
        let mut indices: Vec<u32> = Vec::with_capacity(self.dimensions.len());
        for dimension in self.dimensions.iter().rev() {
            indices.push(rest % dimension.length);
            rest /= dimension.length;
        }
        indices.reverse();
        indices
    }

    /// The name of an element: `t[3]`, `a[1].balance`; of a leaf that is no array, its name.
    #[must_use]
    pub fn element_name(&self, texts: &Texts, element: u32) -> String {
        let name = texts.get(self.name);
        let mut text = String::with_capacity(name.len() + 4);
        let mut done = 0;
        for (index, dimension) in self.indices_of(element).into_iter().zip(&self.dimensions) {
            let end = dimension.name_end as usize;
            text.push_str(name.get(done..end).unwrap_or_default());
            text.push_str(&format!("[{index}]"));
            done = end;
        }
        text.push_str(name.get(done..).unwrap_or_default());
        text
    }
}

impl LeafKind {
    /// Number of cells of one thing of that kind.
    #[must_use]
    pub fn width(self) -> u32 {
        match self {
            LeafKind::Barrier(_) => 2,
            LeafKind::Data(_)
            | LeafKind::Lock
            | LeafKind::ReentrantLock
            | LeafKind::RwLock
            | LeafKind::Event
            | LeafKind::Condition
            | LeafKind::Semaphore => 1,
        }
    }
}

impl Program {
    /// The leaf of a variable that holds a cell, and the number of the element.
    #[must_use]
    pub fn leaf_at(&self, variable: VariableId, cell: u32) -> Option<(LeafId, u32)> {
        let variable = self.variables.get(variable)?;
        let (first, count) = (variable.first_leaf.index(), variable.leaf_count as usize);
        // It begins no later than the cell. Of an array of objects all fields begin in the first one, so the last leaf
        // that begins before the cell need not be the one.
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = low.midpoint(high);
            if self.leaves.get(LeafId::new(first + middle))?.offset <= cell {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let mut earlier = (first..first + low).rev().map(LeafId::new);
        earlier.find_map(|leaf| Some((leaf, self.leaves[leaf].element_at(cell)?)))
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

/// What a register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterType {
    /// A value.
    Scalar(ScalarType),
    /// The address of a variable or of a part of one.
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
