//! What can stand in the way of reading a program, each by name.

use std::fmt;

/// Something in a program that is not read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// `realloc` and the like.
    HeapAllocation,
    /// Memory of which it is not clear what it holds, and why.
    UnclearMemory(&'static str),
    /// `alloca`.
    StackAllocation,
    /// A pointer to a function of the library, to one with `...`, or given to `pthread_once` and the like.
    FunctionPointer,
    /// A member of a union is used.
    Union,
    /// The value of an expression is a structure in a way that is not read.
    StructByValue,
    /// More cells are copied at once than are copied one by one.
    LargeCopy,
    /// `snprintf` and the like.
    StringFunction,
    /// An object is used as one of another type.
    MixedSize,
    /// A bit-field is used.
    BitField,
    /// `float`, `long double`.
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
    /// A variable that each thread has for itself.
    ThreadLocal,
    /// An array whose length is known at run time only, as an element, a member or what a pointer leads to.
    VariableLength,
    /// An object of more cells than are kept.
    LargeObject,
    /// A known function that has no meaning yet.
    LaterFunction(Box<str>),
    /// The result of a known function that has none yet.
    ResultOf(Box<str>),
    /// A mutex that says where it is misused.
    ErrorCheckingMutex,
    /// A mutex, a barrier or a semaphore whose first state is not one constant of one object.
    UnclearStart(&'static str),
    /// A synchronisation object that is used as something else.
    OpaqueObject,
    /// A section that does not end where it begins.
    UnevenSection,
    /// Something in a section that may wait, or has several results.
    WaitInSection,
    /// The arguments of the program.
    Arguments,
    /// A jump out of a scope that something is done at the end of.
    JumpOverCleanup,
    /// The thread ends inside of what is to be cleaned up.
    EndInCleanup,
    /// A name that two files define.
    DefinedTwice(Box<str>),
    /// A form of an expression that the lowering does not know, by name.
    Form(&'static str),
    /// The file is no program in C.
    NotC,
    /// The file is a program in C++.
    CPlusPlus,
    /// The file cannot be read.
    Unreadable,
    /// The compilation database does not say how the file is compiled.
    NoCommand,
}

impl Reason {
    /// The stage of the front end in which it comes; `None` for what is not planned, or is for the user to mend.
    #[must_use]
    pub fn stage(&self) -> Option<u8> {
        match self {
            Reason::HeapAllocation | Reason::UnclearMemory(_) | Reason::StackAllocation | Reason::FunctionPointer => {
                Some(3)
            }
            Reason::Union | Reason::StructByValue | Reason::StringFunction | Reason::MixedSize | Reason::BitField => {
                Some(4)
            }
            Reason::FloatingPoint
            | Reason::VariadicFunction
            | Reason::ComputedGoto
            | Reason::Startup
            | Reason::Format(_) => Some(5),
            Reason::ThreadLocal
            | Reason::VariableLength
            | Reason::LaterFunction(_)
            | Reason::ResultOf(_)
            | Reason::ErrorCheckingMutex
            | Reason::UnclearStart(_)
            | Reason::Arguments
            | Reason::JumpOverCleanup
            | Reason::EndInCleanup => Some(2),
            Reason::LargeObject
            | Reason::LargeCopy
            | Reason::OpaqueObject
            | Reason::UnevenSection
            | Reason::WaitInSection
            | Reason::DefinedTwice(_)
            | Reason::Form(_)
            | Reason::Alias
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
            | Reason::NoCommand
            | Reason::Unreadable => None,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self {
            Reason::HeapAllocation => "heap allocation",
            Reason::UnclearMemory(why) => return write!(f, "memory {why}"),
            Reason::StackAllocation => "stack allocation by `alloca`",
            Reason::FunctionPointer => "function pointer",
            Reason::Union => "union",
            Reason::StructByValue => "structure by value",
            Reason::StringFunction => "string function",
            Reason::MixedSize => "mixed-size access",
            Reason::BitField => "bit-field",
            Reason::FloatingPoint => "`float` or `long double`",
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
            Reason::ThreadLocal => "thread-local variable",
            Reason::VariableLength => "array of variable length within another type",
            Reason::LargeCopy => "copy of more than 4,096 cells",
            Reason::LargeObject => "object of more than 4,194,304 cells",
            Reason::LaterFunction(name) => return write!(f, "call of `{name}`"),
            Reason::ResultOf(name) => return write!(f, "result of `{name}`"),
            Reason::ErrorCheckingMutex => "error-checking mutex",
            Reason::UnclearStart(what) => return write!(f, "{what} whose first state is not one constant"),
            Reason::OpaqueObject => "inside of a synchronisation object",
            Reason::UnevenSection => "section that does not begin and end in one function, once on each path",
            Reason::WaitInSection => "waiting or choosing operation in a section",
            Reason::Arguments => "`argv`",
            Reason::JumpOverCleanup => "`goto` beside a variable with `cleanup`",
            Reason::EndInCleanup => "end of the thread in a scope that has a `cleanup`",
            Reason::DefinedTwice(name) => return write!(f, "second definition of `{name}`"),
            Reason::Form(name) => return write!(f, "{name}"),
            Reason::NotC => "not C",
            Reason::CPlusPlus => "C++",
            Reason::Unreadable => "file that cannot be read",
            Reason::NoCommand => "file without a compile command",
        };
        f.write_str(words)
    }
}
