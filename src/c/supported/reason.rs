//! What can stand in the way of reading a program, each by name.

use std::fmt;

/// Something in a program that is not read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// `malloc` and the like.
    HeapAllocation,
    /// `alloca`.
    StackAllocation,
    /// A function that is stored, compared, or called through a pointer.
    FunctionPointer,
    /// A pointer to a member becomes one to the structure around it.
    ContainerOf,
    /// A member of a union is used.
    Union,
    /// A structure is assigned, passed or returned.
    StructByValue,
    /// `memcpy` and the like.
    MemoryFunction,
    /// `strcpy` and the like.
    StringFunction,
    /// An object is used as one of another type.
    MixedSize,
    /// A bit-field is used.
    BitField,
    /// `float`, `double`.
    FloatingPoint,
    /// A function with `...`.
    VariadicFunction,
    /// `goto *p`, `&&label`.
    ComputedGoto,
    /// A function that runs before `main`, or behind it.
    Startup,
    /// A name that stands for another one in the object file.
    Alias,
    /// Assembly that is no fence.
    InlineAssembly,
    /// A structure that is `_Atomic`, as a whole.
    AtomicStructure,
    /// `#pragma omp`.
    OpenMp,
    /// A type, by name.
    Type(&'static str),
    /// A function of the compiler, by name.
    Builtin(&'static str),
    /// A function that has no body and is not known.
    UnknownFunction(Box<str>),
    /// A function that another of the files defines.
    OtherFile(Box<str>),
    /// An object that is only declared.
    UnknownObject(Box<str>),
    /// A format that is no literal, or holds a conversion that is not known.
    Format(Box<str>),
    /// Output to something else than the standard output.
    OutputFile(Box<str>),
    /// A header that is not found, by name.
    MissingHeader(Box<str>),
    /// The file is no program in C.
    NotC,
    /// The file is a program in C++.
    CPlusPlus,
    /// The file cannot be read.
    Unreadable,
}

impl Reason {
    /// The stage of the front end in which it comes; `None` for what is not planned, or is for the user to mend.
    #[must_use]
    pub fn stage(&self) -> Option<u8> {
        match self {
            Reason::HeapAllocation | Reason::StackAllocation | Reason::FunctionPointer | Reason::ContainerOf => Some(3),
            Reason::Union
            | Reason::StructByValue
            | Reason::MemoryFunction
            | Reason::StringFunction
            | Reason::MixedSize
            | Reason::BitField => Some(4),
            Reason::FloatingPoint
            | Reason::VariadicFunction
            | Reason::ComputedGoto
            | Reason::Startup
            | Reason::Format(_) => Some(5),
            Reason::Alias
            | Reason::InlineAssembly
            | Reason::AtomicStructure
            | Reason::OpenMp
            | Reason::Type(_)
            | Reason::Builtin(_)
            | Reason::UnknownFunction(_)
            | Reason::OtherFile(_)
            | Reason::UnknownObject(_)
            | Reason::OutputFile(_)
            | Reason::MissingHeader(_)
            | Reason::NotC
            | Reason::CPlusPlus
            | Reason::Unreadable => None,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self {
            Reason::HeapAllocation => "heap allocation",
            Reason::StackAllocation => "stack allocation by `alloca`",
            Reason::FunctionPointer => "function pointer",
            Reason::ContainerOf => "pointer to the structure around a member",
            Reason::Union => "union",
            Reason::StructByValue => "structure by value",
            Reason::MemoryFunction => "memory function",
            Reason::StringFunction => "string function",
            Reason::MixedSize => "mixed-size access",
            Reason::BitField => "bit-field",
            Reason::FloatingPoint => "floating point",
            Reason::VariadicFunction => "variadic function",
            Reason::ComputedGoto => "computed goto",
            Reason::Startup => "constructor or destructor",
            Reason::Alias => "name for another symbol",
            Reason::InlineAssembly => "inline assembly",
            Reason::AtomicStructure => "`_Atomic` structure by value",
            Reason::OpenMp => "OpenMP",
            Reason::Type(name) => return write!(f, "type: {name}"),
            Reason::Builtin(name) => return write!(f, "function of the compiler: {name}"),
            Reason::UnknownFunction(name) => {
                return write!(f, "call of `{name}`, which has no body and is not known");
            }
            Reason::OtherFile(name) => return write!(f, "call of `{name}`, which another file defines"),
            Reason::UnknownObject(name) => return write!(f, "object `{name}`, which is only declared"),
            Reason::Format(what) => return write!(f, "format with {what}"),
            Reason::OutputFile(name) => return write!(f, "`{name}` to another file than `stdout` or `stderr`"),
            Reason::MissingHeader(name) => return write!(f, "header `{name}`, which is not found"),
            Reason::NotC => "not C",
            Reason::CPlusPlus => "C++",
            Reason::Unreadable => "file that cannot be read",
        };
        f.write_str(words)
    }
}
