//! Types with their layout.
//!
//! Names of types (`typedef`) are looked through: what stands here is what they stand for. Equal types have one id, but for
//! arrays whose length is an expression. Sizes and alignments are those of the target, in bytes; a type without a size is
//! incomplete, a function, or has a length that is known only at run time.

use super::ids::{EnumerationId, ExprId, RecordId, TypeId};

/// A type.
#[derive(Clone, Debug, PartialEq)]
pub struct Type {
    /// What it is.
    pub kind: TypeKind,
    /// What it is qualified with.
    pub qualifiers: Qualifiers,
    /// Bytes of an object of it; `None` where that is not known before run time, or no object can have it.
    pub size: Option<u64>,
    /// What the address of an object of it is a multiple of; 1 where no object can have it.
    pub align: u64,
    /// As C writes it, without names of types: `unsigned long`, `struct node *`.
    pub name: Box<str>,
}

/// What is said of a type beside what it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Qualifiers {
    /// `const`.
    pub constant: bool,
    /// `volatile`.
    pub volatile: bool,
    /// `restrict`.
    pub restrict: bool,
    /// `_Atomic`, as a qualifier or with a type in brackets.
    pub atomic: bool,
}

/// What a type is.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeKind {
    /// `void`.
    Void,
    /// `_Bool`: one byte, 0 or 1.
    Bool,
    /// An integer type.
    Integer(Integer),
    /// A binary floating type of so many bits: 32, 64; 80 or 128 for `long double`.
    Floating(u32),
    /// An enumeration; its values are those of an integer type.
    Enumeration(EnumerationId),
    /// A pointer to the type.
    Pointer(TypeId),
    /// An array.
    Array {
        /// What it has many of.
        element: TypeId,
        /// How many.
        length: Length,
    },
    /// A function.
    Function(FunctionType),
    /// A structure or union.
    Record(RecordId),
    /// A type that no later pass reads, by name: `complex number`, `vector`.
    Other(&'static str),
}

/// Width and sign of an integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Integer {
    /// Bits of a value.
    pub bits: u32,
    /// Whether values may be negative.
    pub signed: bool,
    /// Whether it is a character type (`char`, `signed char`, `unsigned char`), which may be used to look at any object.
    pub character: bool,
}

/// How many elements an array has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// So many.
    Fixed(u64),
    /// Not said: `extern int a[];`, or the last member of a structure.
    Unknown,
    /// As many as the value of an expression, computed where the declaration is reached.
    Variable(ExprId),
}

/// The type of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionType {
    /// What it returns.
    pub result: TypeId,
    /// What it takes; arrays and functions are pointers here.
    pub parameters: Box<[TypeId]>,
    /// Whether more arguments may follow.
    pub variadic: bool,
    /// Whether the parameters were declared at all: `int f();` says nothing of them.
    pub prototype: bool,
}

/// A structure or union.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Its tag, if it has one.
    pub tag: Option<Box<str>>,
    /// Whether its members lie at one place.
    pub union: bool,
    /// Whether its members are known.
    pub complete: bool,
    /// Its members in the order of their declaration.
    pub fields: Vec<Field>,
}

/// A member of a structure or union.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name; `None` for an anonymous structure or union, whose members are reached without it, and for padding.
    pub name: Option<Box<str>>,
    /// Its type.
    pub ty: TypeId,
    /// Bytes from the start of the record to its first byte; for a bit-field, to the byte of its first bit.
    pub offset: u64,
    /// Where it lies within that byte and how many bits it has, for a bit-field.
    pub bits: Option<BitField>,
}

/// A bit-field within its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BitField {
    /// The first bit, counted from the least significant one of the byte at the offset.
    pub first: u32,
    /// How many bits; 0 only moves the next member to a new unit.
    pub width: u32,
}

/// An enumeration.
#[derive(Clone, Debug, PartialEq)]
pub struct Enumeration {
    /// Its tag, if it has one.
    pub tag: Option<Box<str>>,
    /// The type of its values.
    pub integer: Integer,
    /// Names and values in the order of their declaration.
    pub enumerators: Vec<(Box<str>, i128)>,
}

impl Type {
    /// Whether values of it are numbers, pointers or truth values: what one cell holds.
    #[must_use]
    pub fn is_scalar(&self) -> bool {
        use TypeKind::{Bool, Enumeration, Floating, Integer, Pointer};
        matches!(self.kind, Bool | Integer(_) | Floating(_) | Enumeration(_) | Pointer(_))
    }
}
