//! Results of steps and executions: their ends, and the steps that a state allows.

use super::code::CodeIndex;
use super::state::ThreadIndex;
use cssame_ir::TextId;

/// Why a program fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FailureKind {
    /// An `assert` that does not hold.
    Assert,
    /// An `error` that was reached.
    Error,
    /// A `join` of a handle that no thread was assigned to.
    EmptyHandle,
    /// An integer division or remainder by zero.
    DivisionByZero,
    /// The result of arithmetic does not fit into its type, which has a sign.
    Overflow,
    /// A shift by a number that is negative, or not below the width.
    ShiftCount,
    /// An index outside of its array.
    IndexOutOfRange,
    /// `unlock`, or `wait` for a condition, of a lock that the thread does not hold.
    UnlockNotHeld,
    /// Local work beyond a limit: it may have no end.
    StepLimit,
    /// Calls inside each other beyond a limit.
    CallDepth,
    /// A thread takes a lock that it holds more often than that can be counted.
    LockLevels,
    /// More threads at one time than there may be.
    TooManyThreads,
    /// The null pointer is followed.
    NullPointer,
    /// A pointer is followed that is a number.
    InvalidPointer,
    /// A pointer is followed that has left its object.
    PointerOutOfRange,
    /// A pointer is followed whose object is gone.
    DanglingPointer,
    /// A pointer is followed to a cell of another type than that of the access: what C says of that is not known here.
    OtherContent,
    /// A pointer is followed to memory that was given back.
    UseAfterFree,
    /// Memory is given back that was given back before.
    DoubleFree,
    /// What is given back is no memory that was asked for, or not from its first cell on.
    InvalidFree,
}

impl FailureKind {
    /// All of them, in this order.
    pub const ALL: [FailureKind; 20] = [
        FailureKind::Assert,
        FailureKind::Error,
        FailureKind::EmptyHandle,
        FailureKind::DivisionByZero,
        FailureKind::Overflow,
        FailureKind::ShiftCount,
        FailureKind::IndexOutOfRange,
        FailureKind::UnlockNotHeld,
        FailureKind::StepLimit,
        FailureKind::CallDepth,
        FailureKind::LockLevels,
        FailureKind::TooManyThreads,
        FailureKind::NullPointer,
        FailureKind::InvalidPointer,
        FailureKind::PointerOutOfRange,
        FailureKind::DanglingPointer,
        FailureKind::OtherContent,
        FailureKind::UseAfterFree,
        FailureKind::DoubleFree,
        FailureKind::InvalidFree,
    ];

    /// The word for the status of an outcome.
    #[must_use]
    pub fn status(self) -> &'static str {
        match self {
            FailureKind::Assert => "assert",
            FailureKind::Error | FailureKind::EmptyHandle => "error",
            FailureKind::DivisionByZero => "division-by-zero",
            FailureKind::Overflow | FailureKind::ShiftCount => "overflow",
            FailureKind::IndexOutOfRange => "index-out-of-range",
            FailureKind::UnlockNotHeld => "unlock-not-held",
            FailureKind::NullPointer
            | FailureKind::InvalidPointer
            | FailureKind::PointerOutOfRange
            | FailureKind::DanglingPointer => "invalid-pointer",
            FailureKind::OtherContent => "not-read",
            FailureKind::UseAfterFree => "use-after-free",
            FailureKind::DoubleFree => "double-free",
            FailureKind::InvalidFree => "invalid-free",
            FailureKind::StepLimit | FailureKind::CallDepth | FailureKind::LockLevels | FailureKind::TooManyThreads => {
                "step-limit"
            }
        }
    }

    /// A sentence, for failures that the program gives no message for.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match self {
            FailureKind::Assert => "assertion failed",
            FailureKind::Error => "error reached",
            FailureKind::EmptyHandle => "join of a handle without a thread",
            FailureKind::DivisionByZero => "division by zero",
            FailureKind::Overflow => "signed overflow",
            FailureKind::ShiftCount => "shift beyond the width",
            FailureKind::IndexOutOfRange => "index out of range",
            FailureKind::UnlockNotHeld => "the lock is not held by this thread",
            FailureKind::StepLimit => "the thread computes too long",
            FailureKind::CallDepth => "the calls are too deep",
            FailureKind::LockLevels => "the lock is taken too often",
            FailureKind::TooManyThreads => "there are too many threads",
            FailureKind::NullPointer => "the null pointer is followed",
            FailureKind::InvalidPointer => "a number is followed as a pointer",
            FailureKind::PointerOutOfRange => "the pointer leads out of its object",
            FailureKind::DanglingPointer => "the pointer leads to a local that is gone",
            FailureKind::OtherContent => "memory is used as another type than it was made for, which is not read",
            FailureKind::UseAfterFree => "use of memory that was given back",
            FailureKind::DoubleFree => "the memory was given back before",
            FailureKind::InvalidFree => "what is given back is not the beginning of memory that was asked for",
        }
    }

    /// Whether a limit of the machine was passed: a program without that limit might go on.
    #[must_use]
    pub fn is_limit(self) -> bool {
        matches!(self.status(), "step-limit" | "not-read")
    }
}

/// A failure of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Failure {
    /// Why.
    pub kind: FailureKind,
    /// What the program says.
    pub message: Option<TextId>,
    /// Who fails.
    pub thread: ThreadIndex,
    /// At which instruction.
    pub at: CodeIndex,
}

/// What a step has led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The execution goes on, or is in a deadlock: [`Machine::moves`](super::Machine::moves) tells.
    Running,
    /// All threads have ended.
    Finished,
    /// The program has failed, and the execution is over.
    Failed(Failure),
    /// An assumption does not hold: the execution is to be forgotten.
    Discarded,
}

/// A step that a state allows: a thread, and which of its alternatives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Choice {
    /// Who moves.
    pub thread: ThreadIndex,
    /// Which value of a `choose` (0 is the lowest), or which of the waiting threads a `notify` wakes (in the order of
    /// their slots); else 0.
    pub alternative: u32,
}

/// A thread that can move, and the number of its alternatives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// Who can move.
    pub thread: ThreadIndex,
    /// In how many ways; at least one.
    pub alternatives: u32,
}

#[cfg(test)]
mod tests {
    use super::FailureKind;

    #[test]
    fn all_kinds_of_failures_are_listed_once_in_their_order() {
        for (place, kind) in FailureKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, place, "{kind:?}");
        }
        assert_eq!(FailureKind::InvalidFree as usize + 1, FailureKind::ALL.len(), "the last one");
    }
}
