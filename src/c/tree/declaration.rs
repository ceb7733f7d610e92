//! Declarations of objects and functions.
//!
//! All declarations of one name are one: `extern int x; int x = 1;` is one object. Names of types, tags and enumerators are no
//! declarations here; the types know them.

use super::ids::{DeclId, ExprId, StmtId, TypeId};
use super::place::Place;
use super::types::BitField;

/// A declared object or function.
#[derive(Clone, Debug, PartialEq)]
pub struct Decl {
    /// Its name; `None` for a compound literal, and for a parameter without one.
    pub name: Option<Box<str>>,
    /// Its type; arrays that are parameters are pointers here.
    pub ty: TypeId,
    /// What it is.
    pub kind: DeclKind,
    /// Who else knows it.
    pub linkage: Linkage,
    /// How long it lives.
    pub storage: Storage,
    /// Whether this unit defines it.
    pub definition: Definition,
    /// Alignment asked for, in bytes, where it is more than that of the type.
    pub align: Option<u64>,
    /// The values that it begins with; what they leave out is zero. `None` where nothing was said.
    pub initial: Option<Box<[InitialValue]>>,
    /// The function that is called with its address where the block of it is left (`cleanup`).
    pub cleanup: Option<DeclId>,
    /// The function's parameters, where it has a body.
    pub parameters: Box<[DeclId]>,
    /// The function's body.
    pub body: Option<StmtId>,
    /// Further facts.
    pub flags: DeclFlags,
    /// Where its name stands: at the definition, if there is one.
    pub place: Place,
}

/// Facts about a declaration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeclFlags {
    /// `inline` was written, in some declaration of it.
    pub inline: bool,
    /// The function does not return (`noreturn`).
    pub no_return: bool,
    /// Another definition takes precedence (`weak`).
    pub weak: bool,
    /// The function runs before `main`, or behind it (`constructor`, `destructor`).
    pub startup: bool,
    /// It is another name for something (`alias`), or lies in a register by name.
    pub alias: bool,
}

/// What a declaration declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeclKind {
    /// An object.
    Object,
    /// A function.
    Function,
    /// A name of an array type of variable length: its length is computed where the declaration is reached.
    Type,
}

/// Who else knows a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linkage {
    /// Nobody: locals and parameters.
    None,
    /// This unit: `static`.
    Internal,
    /// All units.
    External,
}

/// How long an object lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// As long as the program.
    Static,
    /// As long as a thread; each has its own.
    Thread,
    /// As long as its block.
    Automatic,
}

/// How much of a definition there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Definition {
    /// None: another unit has it.
    Declared,
    /// A global without a value: a definition where no other one is.
    Tentative,
    /// One.
    Defined,
}

/// One value of an initialiser, and where it goes.
#[derive(Clone, Debug, PartialEq)]
pub struct InitialValue {
    /// Bytes from the start of the object.
    pub offset: u64,
    /// The first bit within that byte and the number of bits, for a bit-field.
    pub bits: Option<BitField>,
    /// The value, converted to the type of what lies there. A string literal fills an array.
    pub value: ExprId,
}
