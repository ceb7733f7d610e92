//! The instructions of the machine.
//!
//! One flat array of instructions of 16 bytes for the whole program: registers are slots of a frame, globals are addresses, jumps
//! are indices. Data that does not fit (calls, forks, indexed places, …) is in tables next to it. Loads and stores come in a
//! shared form, which is a visible operation, and a local one.

use cssame_ir::sync::Kind;
use cssame_ir::{
    Arithmetic, AtomicOperation, BinaryOperator, BlockId, Conversion, DefinitionId, FunctionId, Line, Modification,
    ReadId, ScalarType, TextId, UnaryOperator, VariableId,
};

/// Index of an instruction in the code of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CodeIndex(pub u32);

impl CodeIndex {
    /// As an index.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Where an instruction comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin {
    /// The function.
    pub function: FunctionId,
    /// The block.
    pub block: BlockId,
    /// The instruction in the block; the number of its instructions stands for the terminator.
    pub instruction: u32,
}

/// A register of a frame; slot 0 is the frame's header.
pub(super) type Slot = u32;

/// No slot: a result that nobody wants.
pub(super) const NO_SLOT: Slot = u32::MAX;

const CONSTANT: u32 = 1 << 31;

/// A slot, or a constant by its place in the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Source(u32);

impl Source {
    pub(super) fn slot(slot: Slot) -> Source {
        debug_assert!(slot < CONSTANT);
        Source(slot)
    }

    pub(super) fn constant(index: usize) -> Source {
        debug_assert!(index < CONSTANT as usize);
        Source(index as u32 | CONSTANT)
    }

    /// Its value in a frame.
    #[inline(always)]
    pub(super) fn value(self, frame: &[i64], constants: &[i64]) -> i64 {
        if self.0 & CONSTANT == 0 { frame[self.0 as usize] } else { constants[(self.0 & !CONSTANT) as usize] }
    }
}

/// Index into one of the tables of [`Compiled`](super::compiled::Compiled).
pub(super) type TableIndex = u32;

/// No place: an operand that there is not.
pub(super) const NO_PLACE: TableIndex = u32::MAX;

/// An instruction.
#[derive(Clone, Copy, Debug)]
pub(super) enum Code {
    Copy {
        dest: Slot,
        source: Source,
    },
    Unary {
        dest: Slot,
        op: UnaryOperator,
        operand: Source,
    },
    /// All operators that cannot fail.
    Binary {
        dest: Slot,
        op: BinaryOperator,
        left: Source,
        right: Source,
    },
    /// Operators that have no result for some operands.
    Partial {
        dest: Slot,
        op: BinaryOperator,
        left: Source,
        right: Source,
    },
    Jump {
        target: u32,
    },
    Branch {
        condition: Source,
        then_target: u32,
        else_target: u32,
    },
    /// A global scalar.
    Load {
        dest: Slot,
        address: u32,
        read: ReadId,
    },
    LoadAt {
        dest: Slot,
        place: TableIndex,
        read: ReadId,
    },
    Store {
        address: u32,
        value: Source,
        definition: DefinitionId,
    },
    StoreAt {
        place: TableIndex,
        value: Source,
        definition: DefinitionId,
    },
    SharedLoad {
        dest: Slot,
        address: u32,
        read: ReadId,
    },
    SharedLoadAt {
        dest: Slot,
        place: TableIndex,
        read: ReadId,
    },
    /// A read that is shared in one thread, and nothing in others.
    WatchedLoad {
        dest: Slot,
        place: TableIndex,
        read: ReadId,
    },
    SharedStore {
        address: u32,
        value: Source,
        definition: DefinitionId,
    },
    SharedStoreAt {
        place: TableIndex,
        value: Source,
        definition: DefinitionId,
    },
    Atomic {
        atomic: TableIndex,
    },
    SharedAtomic {
        atomic: TableIndex,
    },
    Address {
        dest: Slot,
        place: TableIndex,
    },
    /// The address of an element, which fails where an index is out of range.
    ElementAddress {
        dest: Slot,
        place: TableIndex,
    },
    /// A pointer to a place, which fails where an index is out of range; a pointer may lead anywhere.
    PointerTo {
        dest: Slot,
        pointer: TableIndex,
    },
    /// Gives a reference, or a pointer.
    Allocate {
        dest: Slot,
        variable: VariableId,
        is_pointer: bool,
        /// How many elements; [`NO_SLOT`] for the whole variable.
        elements: Slot,
    },
    /// Gives an object on the heap back.
    Free {
        pointer: Source,
        definition: DefinitionId,
    },
    SharedFree {
        pointer: Source,
        definition: DefinitionId,
    },
    Call {
        call: TableIndex,
    },
    Return {
        value: Source,
        present: bool,
    },
    /// Leaves all functions of the thread.
    End {
        value: Source,
        present: bool,
    },
    CurrentThread {
        dest: Slot,
    },
    Choose {
        dest: Slot,
        low: Source,
        high: Source,
    },
    Print {
        print: TableIndex,
    },
    Assert {
        condition: Source,
        message: Option<TextId>,
    },
    Error {
        message: Option<TextId>,
    },
    Assume {
        condition: Source,
    },
    /// An operation on synchronisation objects; [`NO_PLACE`] stands for an operand that the kind does not have, and
    /// [`NO_SLOT`] for a verdict that there is not or that nobody wants.
    Synchronise {
        kind: Kind,
        object: TableIndex,
        lock: TableIndex,
        verdict: Slot,
    },
    Fork {
        fork: TableIndex,
    },
    Join,
    Spawn {
        dest: Slot,
        fork: TableIndex,
    },
    JoinThread {
        handle: Source,
        dest: Slot,
    },
    AtomicBegin,
    AtomicEnd,
}

impl Code {
    /// Whether it is an operation that other threads can observe: a step of its own.
    pub(super) fn is_visible(self) -> bool {
        match self {
            Code::SharedLoad { .. }
            | Code::SharedLoadAt { .. }
            | Code::WatchedLoad { .. }
            | Code::SharedStore { .. }
            | Code::SharedStoreAt { .. }
            | Code::SharedAtomic { .. }
            | Code::SharedFree { .. }
            | Code::Choose { .. }
            | Code::Synchronise { .. }
            | Code::Fork { .. }
            | Code::Join
            | Code::Spawn { .. }
            | Code::JoinThread { .. }
            | Code::AtomicBegin => true,
            Code::Copy { .. }
            | Code::Unary { .. }
            | Code::Binary { .. }
            | Code::Partial { .. }
            | Code::Jump { .. }
            | Code::Branch { .. }
            | Code::Load { .. }
            | Code::LoadAt { .. }
            | Code::Store { .. }
            | Code::StoreAt { .. }
            | Code::Atomic { .. }
            | Code::Address { .. }
            | Code::ElementAddress { .. }
            | Code::PointerTo { .. }
            | Code::Allocate { .. }
            | Code::Free { .. }
            | Code::Call { .. }
            | Code::Return { .. }
            | Code::End { .. }
            | Code::CurrentThread { .. }
            | Code::Print { .. }
            | Code::Assert { .. }
            | Code::Error { .. }
            | Code::Assume { .. }
            | Code::AtomicEnd => false,
        }
    }

    /// Whether it is an access to private memory, of which events tell.
    #[inline(always)]
    pub(super) fn is_access(self) -> bool {
        matches!(self, Code::Load { .. } | Code::LoadAt { .. } | Code::Store { .. } | Code::StoreAt { .. })
    }

    /// Whether a thread may stand before it between two steps, or a frame be suspended at it: visible operations and
    /// local work that can have an effect.
    pub(super) fn may_stand(self) -> bool {
        self.is_visible()
            || matches!(
                self,
                Code::Partial { .. }
                    | Code::LoadAt { .. }
                    | Code::StoreAt { .. }
                    | Code::Atomic { .. }
                    | Code::ElementAddress { .. }
                    | Code::PointerTo { .. }
                    | Code::Free { .. }
                    | Code::Print { .. }
                    | Code::Assert { .. }
                    | Code::Error { .. }
                    | Code::Assume { .. }
            )
    }
}

/// A call: arguments go into the first slots of the callee that its parameters have.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub function: FunctionId,
    pub arguments: Box<[Source]>,
    pub dest: Slot,
}

/// An atomic read and write.
#[derive(Clone, Copy, Debug)]
pub(super) struct Atomic {
    pub dest: Slot,
    pub place: TableIndex,
    pub kind: AtomicKind,
    pub read: ReadId,
    pub definition: DefinitionId,
}

/// [`AtomicOperation`] with resolved operands.
#[derive(Clone, Copy, Debug)]
pub(super) enum AtomicKind {
    CompareAndSwap { old: Source, new: Source, double: bool },
    Swap(Source),
    FetchAdd(Source, Arithmetic),
    CompareExchange { old: Source, new: Source },
    FetchModify(Modification, Source, ScalarType),
}

impl AtomicKind {
    pub(super) fn resolve(op: &AtomicOperation, mut source: impl FnMut(cssame_ir::Operand) -> Source) -> AtomicKind {
        match *op {
            AtomicOperation::CompareAndSwap { old, new, double } => {
                AtomicKind::CompareAndSwap { old: source(old), new: source(new), double }
            }
            AtomicOperation::Swap(value) => AtomicKind::Swap(source(value)),
            AtomicOperation::FetchAdd(value, kind) => AtomicKind::FetchAdd(source(value), kind),
            AtomicOperation::CompareExchange { old, new } => {
                AtomicKind::CompareExchange { old: source(old), new: source(new) }
            }
            AtomicOperation::FetchModify(modification, value, ty) => {
                AtomicKind::FetchModify(modification, source(value), ty)
            }
        }
    }

    /// The name of the operation.
    pub(super) fn word(self) -> &'static str {
        match self {
            AtomicKind::CompareAndSwap { .. } | AtomicKind::CompareExchange { .. } => "cas",
            AtomicKind::Swap(_) => "swap",
            AtomicKind::FetchAdd(..) => "fetch_add",
            AtomicKind::FetchModify(modification, ..) => modification.word(),
        }
    }
}

/// What a print writes.
#[derive(Clone, Debug)]
pub(super) struct Print {
    pub arguments: Box<[(Source, ScalarType, Option<Conversion>)]>,
    pub line: Line,
}

/// A thread to be made.
#[derive(Clone, Debug)]
pub(super) struct Start {
    pub function: FunctionId,
    /// What an iteration runs, by its ordinal; `function` beyond them.
    pub rounds: Box<[FunctionId]>,
    pub arguments: Box<[Source]>,
    pub label: TextId,
    /// Of an iteration.
    pub ordinal: Option<Source>,
    /// Rank of this place among all places that make threads, in text order.
    pub rank: u32,
}

/// What the machine knows of a function.
#[derive(Clone, Debug)]
pub(super) struct FunctionCode {
    /// Its first instruction.
    pub entry: u32,
    /// Words of a frame, the header included.
    pub frame_size: u32,
    /// The slots of its parameters.
    pub parameters: Box<[Slot]>,
    /// The slots that hold the addresses of the locals which it allocates.
    pub allocations: Box<[Slot]>,
    /// Whether its locals may outlive its frames: it may pass a reference to a spawned thread.
    pub leaks: bool,
}
