//! The oracle's own small machine language: a stack machine, one line of code for the whole program.
//!
//! A thread is a stack of values. A frame is two words (return address, base of the caller), then its slots, then
//! operands. Everything that two threads could share lives in *cells*, and slots hold references to cells.

use super::value::{Status, Strings, Ty, Value};
use cssame::front::csm::syntax::ast::{BinaryOp, UnaryOp};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// No variable, no thread, no name.
pub const NONE: u32 = u32::MAX;

/// Slot of a frame.
pub type Slot = u32;

/// What an atomic expression does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Atomic {
    Cas,
    Swap,
    FetchAdd,
}

/// Operations on synchronisation objects; their operands are references on the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    Lock,
    TryLock,
    Unlock,
    ReadLock,
    TryReadLock,
    WriteLock,
    TryWriteLock,
    Set,
    Clear,
    WaitEvent,
    Barrier,
    CondWait,
    /// As `CondWait`; it may give up, and pushes whether it was notified.
    TimedWait,
    Notify,
    NotifyAll,
    BareWait,
    BareNotify,
    BareNotifyAll,
    P,
    V,
    Join,
}

/// One instruction. An access finds the reference of its cell on the stack, below its operands.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    Push(Value),
    Pop,
    /// Repeats the top value.
    Repeat,
    LoadSlot(Slot),
    StoreSlot(Slot),
    /// Reference to a member of the object.
    Offset(u32),
    /// Reference to an element. Stack: the array, the index. `len` is [`NONE`] where the array has it with it.
    Index {
        len: u32,
        stride: u32,
    },
    /// The array on top becomes one that has its length with it.
    Measure(u32),
    /// The length of such an array.
    Length,
    /// A reference is formed: each index of it must be in range.
    Formed,
    Unary(UnaryOp),
    Binary(BinaryOp),
    Convert(Ty),
    Jump(u32),
    /// A branch: it pops a truth value. Its place is where the text of the condition begins.
    JumpFalse(u32),
    JumpTrue(u32),
    /// The value of `?:`, `&&` or `||` is computed between these two; it also comes from what decides which one it is.
    DecideBegin,
    DecideEnd,
    /// Makes room for the two words of a frame, before the arguments.
    Frame,
    Call {
        function: u32,
        arguments: u32,
    },
    /// Makes room for the slots of a function.
    Enter(u32),
    Return,
    Print(u32),
    Assert,
    Assume,
    Fail(Status),
    /// A new cell for a scalar: its initial value is popped.
    Box {
        slot: Slot,
        variable: u32,
    },
    /// New cells for an object, an array or a synchronisation object.
    Allocate {
        slot: Slot,
        layout: u32,
    },
    Load {
        name: u32,
    },
    Store {
        name: u32,
    },
    /// A write that belongs to a declaration. It is a step only for globals (`step`): a local is not yet shared.
    StoreInitial {
        step: bool,
    },
    /// Stack: the place, then one or two operands.
    Atomic {
        kind: Atomic,
        name: u32,
        ty: Ty,
    },
    /// The same on a private variable.
    SlotAtomic {
        kind: Atomic,
        slot: Slot,
        ty: Ty,
    },
    /// A visible operation that does nothing.
    StepPoint,
    /// Stack: lowest and highest.
    Choose,
    AtomicBegin,
    AtomicEnd,
    Sync(Sync),
    Fork(u32),
    /// The threads of a parfor: the values of the loop variable lie on the stack, their number on top.
    ForkLoop(u32),
    JoinArms,
    /// Stack: the arguments. With a handle, it is pushed.
    Spawn {
        function: u32,
        arguments: u32,
        label: u32,
        handle: bool,
    },
    End,
}

/// Which variable a place of the text is of: a field belongs to its class, and an array is one for all elements.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Owner {
    /// `x`, `Account.balance`.
    pub name: String,
    /// Where a local is declared; [`NONE`] for globals and fields.
    pub declared: u32,
}

/// A method: `Account.deposit`, and whether it is public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Method {
    pub name: String,
    pub public: bool,
}

/// How a spawned thread is called: texts, with the value of an index between each two of them.
#[derive(Clone, Debug)]
pub struct Label {
    pub texts: Vec<String>,
    /// Where each index is, and the length of its array.
    pub indices: Vec<(Slot, u32)>,
}

/// A type and the lengths of the dimensions of an array; that of the first is [`NONE`] for a parameter.
pub type Shape = (Ty, Vec<u32>);

/// A function or a method (whose first parameter is `this`).
#[derive(Clone, Debug)]
pub struct Function {
    pub entry: u32,
    pub parameters: Vec<Shape>,
    pub result: Ty,
    pub slots: u32,
}

/// The threads that a cobegin or a parfor creates.
#[derive(Clone, Debug)]
pub struct Fork {
    pub function: u32,
    pub arms: Vec<ForkArm>,
    /// Anonymous barriers: slot of the reference, count.
    pub anonymous: Vec<(Slot, i64)>,
    /// Where a thread of a parfor finds its value of the loop variable.
    pub loop_slot: Slot,
}

/// One thread of a [`Fork`]. The label is a name; that of a parfor has no index yet.
#[derive(Clone, Copy, Debug)]
pub struct ForkArm {
    pub label: u32,
    /// Where it stands in the text: threads are ordered by it.
    pub site: u32,
    pub entry: u32,
}

/// How a cell begins.
#[derive(Clone, Copy, Debug)]
pub struct CellInit {
    pub value: Value,
    /// [`NONE`] for synchronisation objects.
    pub variable: u32,
}

/// A declared variable, or a field of a declared object.
#[derive(Clone, Debug)]
pub struct Variable {
    /// `x`, `acc.balance`.
    pub name: String,
    /// `x@initial`.
    pub initial: u32,
    /// Whether several threads can get at it at all: a global, a captured local, a field.
    pub candidate: bool,
    /// Whether it is declared `atomic`: all accesses to it are.
    pub atomic: bool,
    /// Whether it holds threads, not data.
    pub handle: bool,
}

/// A compiled program.
#[derive(Clone, Debug, Default)]
pub struct Code {
    pub ops: Vec<Op>,
    /// Of each instruction, where its construct begins in the text.
    pub places: Vec<u32>,
    pub functions: Vec<Function>,
    pub forks: Vec<Fork>,
    pub layouts: Vec<Vec<CellInit>>,
    pub variables: Vec<Variable>,
    /// The globals.
    pub cells: Vec<CellInit>,
    /// Names of reads and writes, labels of threads.
    pub names: Strings,
    /// String literals of the program.
    pub strings: Strings,
    /// Of the name of each read or write, its variable.
    pub owners: FxHashMap<u32, Owner>,
    /// Names of spawned threads.
    pub labels: Vec<Label>,
    /// Of each spawn, where its statement names the handle, or begins.
    pub spawns: FxHashMap<u32, u32>,
    /// Of each function that is a method, which one it is.
    pub methods: BTreeMap<u32, Method>,
    /// Where `main` begins.
    pub entry: u32,
}
