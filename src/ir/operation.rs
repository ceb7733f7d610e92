//! Instructions, operands and terminators.

use super::place::{Operand, Place};
use super::{AtomicOperation, Conversion, NewThread, TripBounds};
use super::{
    BlockId, DefinitionId, FunctionId, ReadId, RegisterId, ScalarType, Synchronisation, TextId, Value, VariableId,
};

/// Types that arithmetic is done in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arithmetic {
    /// 32 bits, wrapping.
    Int,
    /// 64 bits, wrapping.
    Long,
    /// IEEE.
    Double,
    /// 32 bits, unsigned, wrapping.
    UnsignedInt,
    /// 64 bits, unsigned, wrapping.
    UnsignedLong,
    /// 32 bits, signed, as in C: a thread fails where the result does not fit.
    CheckedInt,
    /// 64 bits, as `CheckedInt`.
    CheckedLong,
}

impl Arithmetic {
    /// The type that it computes in.
    #[must_use]
    pub fn scalar(self) -> ScalarType {
        match self {
            Arithmetic::Int | Arithmetic::CheckedInt => ScalarType::Int,
            Arithmetic::Long | Arithmetic::CheckedLong => ScalarType::Long,
            Arithmetic::Double => ScalarType::Double,
            Arithmetic::UnsignedInt => ScalarType::UnsignedInt,
            Arithmetic::UnsignedLong => ScalarType::UnsignedLong,
        }
    }

    /// Whether it fails where the result does not fit.
    #[must_use]
    pub fn is_checked(self) -> bool {
        matches!(self, Arithmetic::CheckedInt | Arithmetic::CheckedLong)
    }
}

/// Operators of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOperator {
    /// `-`
    Negate(Arithmetic),
    /// `~`, not for doubles
    Complement(Arithmetic),
    /// `!`, of a bool
    Not,
    /// From one type to another.
    Convert(ScalarType, ScalarType),
}

/// Operators of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOperator {
    /// `+`
    Add(Arithmetic),
    /// `-`
    Subtract(Arithmetic),
    /// `*`
    Multiply(Arithmetic),
    /// `/`; a zero divisor of an integer division is a failure
    Divide(Arithmetic),
    /// `%`, as `/`
    Remainder(Arithmetic),
    /// `<<`; the count is a `long`, masked for [`Arithmetic::Int`] and [`Arithmetic::Long`]; for the types of C, one that is not below
    /// the width is a failure
    ShiftLeft(Arithmetic),
    /// `>>`, arithmetic where the type has a sign; the count as for `<<`
    ShiftRight(Arithmetic),
    /// `&`, of integers or bools alike
    And,
    /// `|`
    Or,
    /// `^`
    Xor,
    /// `<`
    Less(Arithmetic),
    /// `<=`
    LessEqual(Arithmetic),
    /// `==` of integers, bools, strings or handles: of the bits
    Equal,
    /// `!=` of the bits
    NotEqual,
    /// `==` of doubles
    EqualDouble,
    /// `!=` of doubles
    NotEqualDouble,
    /// A pointer so many bytes behind another one; the second operand is a `long`.
    PointerAdd,
}

impl BinaryOperator {
    /// Whether it divides integers.
    #[must_use]
    pub fn divides(self) -> bool {
        match self {
            BinaryOperator::Divide(kind) | BinaryOperator::Remainder(kind) => kind != Arithmetic::Double,
            _ => false,
        }
    }

    /// Whether it may have no result where its right operand is that one.
    #[must_use]
    pub fn may_fail(self, right: Operand) -> bool {
        match (self, right) {
            (
                BinaryOperator::ShiftLeft(kind) | BinaryOperator::ShiftRight(kind),
                Operand::Constant(Value::Long(count)),
            ) if self.is_partial() => {
                kind.scalar().integer().is_none_or(|of| !(0..i64::from(of.bits)).contains(&count))
            }
            (BinaryOperator::Divide(kind) | BinaryOperator::Remainder(kind), Operand::Constant(divisor)) => {
                // The least number has no negation.
                self.divides() && (divisor.bits() == 0 || kind.is_checked() && divisor.bits() == -1)
            }
            (op, _) => op.is_partial(),
        }
    }

    /// Whether it has no result for some operands: a thread fails there.
    #[must_use]
    pub fn is_partial(self) -> bool {
        match self {
            BinaryOperator::Add(kind) | BinaryOperator::Subtract(kind) | BinaryOperator::Multiply(kind) => {
                kind.is_checked()
            }
            BinaryOperator::ShiftLeft(kind) | BinaryOperator::ShiftRight(kind) => {
                !matches!(kind, Arithmetic::Int | Arithmetic::Long | Arithmetic::Double)
            }
            op => op.divides(),
        }
    }
}

/// A value that is printed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Printed {
    /// The value.
    pub operand: Operand,
    /// Its type.
    pub ty: ScalarType,
    /// How C writes it; without, as `print` does.
    pub conversion: Option<Conversion>,
}

/// What becomes of printed values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Line {
    /// A line, with one space between them.
    Spaced,
    /// A line, in which they stand close together; behind what [`Line::Open`] has begun.
    Close,
    /// The beginning of a line, which the thread goes on with by its next print.
    Open,
}

/// Three-address instructions. At most one access to memory each.
#[derive(Clone, Debug, PartialEq)]
pub enum Instruction {
    /// `dest = source`
    Copy {
        /// Gets the value.
        dest: RegisterId,
        /// The value.
        source: Operand,
    },
    /// `dest = op operand`
    Unary {
        /// Gets the result.
        dest: RegisterId,
        /// The operator.
        op: UnaryOperator,
        /// Its operand.
        operand: Operand,
    },
    /// `dest = left op right`
    Binary {
        /// Gets the result.
        dest: RegisterId,
        /// The operator.
        op: BinaryOperator,
        /// First operand.
        left: Operand,
        /// Second operand.
        right: Operand,
    },
    /// `dest = place`
    Load {
        /// Gets the value.
        dest: RegisterId,
        /// What is read.
        place: Place,
        /// Where in the text.
        read: ReadId,
    },
    /// `place = value`
    Store {
        /// What is written.
        place: Place,
        /// The value.
        value: Operand,
        /// Where in the text; an initial definition where a declaration's initialiser is evaluated.
        definition: DefinitionId,
    },
    /// An atomic read and write.
    Atomic {
        /// Gets the result: a bool of `cas`, else the old value.
        dest: RegisterId,
        /// Which.
        op: AtomicOperation,
        /// What is read and written.
        place: Place,
        /// The read.
        read: ReadId,
        /// The write.
        definition: DefinitionId,
    },
    /// `dest = &place`, to pass an object by reference.
    Address {
        /// Gets the reference.
        dest: RegisterId,
        /// The place; its indices are tested here.
        place: Place,
    },
    /// Makes the cells of a local variable, or makes them new where the declaration runs again in the same frame. Those of a variable
    /// on the heap are made beside the ones that are there.
    Allocate {
        /// Gets the reference; no other instruction writes it.
        dest: RegisterId,
        /// The variable.
        variable: VariableId,
        /// How many elements there are of an array, up to its length, a `long`; none for the whole variable.
        elements: Option<RegisterId>,
    },
    /// Gives the object on the heap back that a pointer leads to the first cell of: a write of all of its cells, after which there are
    /// none. The null pointer does nothing; any other one is a failure.
    Free {
        /// The pointer.
        pointer: RegisterId,
        /// Where in the text.
        definition: DefinitionId,
    },
    /// `dest = choose(low, high)`: any `int` of the range, both ends included; none discards the execution.
    Choose {
        /// Gets the choice.
        dest: RegisterId,
        /// Lowest.
        low: Operand,
        /// Highest.
        high: Operand,
    },
    /// Writes to the output of the thread.
    Print {
        /// What is written.
        arguments: Vec<Printed>,
        /// How it becomes a line.
        line: Line,
    },
    /// Fails unless the condition holds.
    Assert {
        /// A bool.
        condition: Operand,
        /// What the program says then.
        message: Option<TextId>,
    },
    /// Fails.
    Error {
        /// What the program says.
        message: Option<TextId>,
    },
    /// Discards the execution unless the condition holds.
    Assume {
        /// A bool.
        condition: Operand,
    },
    /// Calls a function.
    Call {
        /// Gets the result.
        dest: Option<RegisterId>,
        /// Which.
        function: FunctionId,
        /// References and values, as the parameters want them.
        arguments: Vec<Operand>,
    },
    /// An operation on a synchronisation object.
    Synchronise(Synchronisation),
    /// Makes the threads of a `cobegin`, or one iteration of a `parfor`. They belong to the group that the next
    /// [`Instruction::Join`] of this thread waits for.
    Fork {
        /// The threads.
        threads: Vec<NewThread>,
        /// For a `parfor`.
        bounds: Option<TripBounds>,
    },
    /// Waits for all threads that this thread forked.
    Join,
    /// Makes a thread that nobody waits for by itself.
    Spawn {
        /// Gets the handle.
        dest: Option<RegisterId>,
        /// The thread.
        thread: NewThread,
    },
    /// Waits for the thread of a handle; fails as an error where the handle is empty.
    JoinThread {
        /// The handle.
        handle: Operand,
        /// Gets what the function of the thread has returned.
        dest: Option<RegisterId>,
    },
    /// `dest = self()`: the handle of the thread itself.
    CurrentThread {
        /// Gets the handle.
        dest: RegisterId,
    },
    /// From here to the matching end, in one step.
    AtomicBegin,
    /// The end of an atomic block.
    AtomicEnd,
}

/// How a block ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Terminator {
    /// Goes on there.
    Jump(BlockId),
    /// Goes on at one of two places.
    Branch {
        /// A bool.
        condition: Operand,
        /// Where it holds.
        then_block: BlockId,
        /// Where it does not.
        else_block: BlockId,
    },
    /// Leaves the function.
    Return(Option<Operand>),
    /// Leaves all functions of the thread, which ends with that value.
    End(Option<Operand>),
}

impl Terminator {
    /// The operand that it reads.
    #[must_use]
    pub fn operand(&self) -> Option<Operand> {
        match *self {
            Terminator::Jump(_) => None,
            Terminator::Branch { condition, .. } => Some(condition),
            Terminator::Return(value) | Terminator::End(value) => value,
        }
    }

    /// The register that it reads.
    #[must_use]
    pub fn register(&self) -> Option<RegisterId> {
        match self.operand() {
            Some(Operand::Register(register)) => Some(register),
            Some(Operand::Constant(_)) | None => None,
        }
    }

    /// The blocks that may come next, in order.
    pub fn successors(&self) -> impl DoubleEndedIterator<Item = BlockId> + use<> {
        let (first, second) = match *self {
            Terminator::Jump(target) => (Some(target), None),
            Terminator::Branch { then_block, else_block, .. } => (Some(then_block), Some(else_block)),
            Terminator::Return(_) | Terminator::End(_) => (None, None),
        };
        first.into_iter().chain(second)
    }
}

impl Instruction {
    /// The register that it writes.
    #[must_use]
    pub fn dest(&self) -> Option<RegisterId> {
        match self {
            Instruction::Copy { dest, .. }
            | Instruction::Unary { dest, .. }
            | Instruction::Binary { dest, .. }
            | Instruction::Load { dest, .. }
            | Instruction::Atomic { dest, .. }
            | Instruction::Address { dest, .. }
            | Instruction::Allocate { dest, .. }
            | Instruction::Choose { dest, .. }
            | Instruction::CurrentThread { dest } => Some(*dest),
            Instruction::Call { dest, .. } | Instruction::Spawn { dest, .. } | Instruction::JoinThread { dest, .. } => {
                *dest
            }
            Instruction::Synchronise(operation) => operation.verdict,
            Instruction::Store { .. }
            | Instruction::Free { .. }
            | Instruction::Print { .. }
            | Instruction::Assert { .. }
            | Instruction::Error { .. }
            | Instruction::Assume { .. }
            | Instruction::Fork { .. }
            | Instruction::Join
            | Instruction::AtomicBegin
            | Instruction::AtomicEnd => None,
        }
    }

    /// The threads that it makes.
    #[must_use]
    pub fn new_threads(&self) -> &[NewThread] {
        match self {
            Instruction::Fork { threads, .. } => threads,
            Instruction::Spawn { thread, .. } => std::slice::from_ref(thread),
            _ => &[],
        }
    }

    /// Whether it may discard the execution: an assumption, or a choice whose range is not known to hold a value.
    #[must_use]
    pub fn may_discard(&self) -> bool {
        match *self {
            Instruction::Assume { .. } => true,
            Instruction::Choose { low: Operand::Constant(low), high: Operand::Constant(high), .. } => {
                !matches!((low, high), (Value::Int(low), Value::Int(high)) if low <= high)
            }
            Instruction::Choose { .. } => true,
            _ => false,
        }
    }

    /// Calls `f` with every register that it reads, those of its places included.
    pub fn uses(&self, f: &mut impl FnMut(RegisterId)) {
        let operand = |operand: &Operand, f: &mut dyn FnMut(RegisterId)| {
            if let Operand::Register(register) = operand {
                f(*register);
            }
        };
        match self {
            Instruction::Copy { source, .. } => operand(source, f),
            Instruction::Unary { operand: only, .. } => operand(only, f),
            Instruction::Binary { left, right, .. } => {
                operand(left, f);
                operand(right, f);
            }
            Instruction::Load { place, .. } | Instruction::Address { place, .. } => place.uses(f),
            Instruction::Store { place, value, .. } => {
                place.uses(f);
                operand(value, f);
            }
            Instruction::Atomic { op, place, .. } => {
                place.uses(f);
                op.operands().for_each(|value| operand(&value, f));
            }
            Instruction::Choose { low, high, .. } => {
                operand(low, f);
                operand(high, f);
            }
            Instruction::Print { arguments, .. } => arguments.iter().for_each(|one| operand(&one.operand, f)),
            Instruction::Assert { condition, .. } | Instruction::Assume { condition } => operand(condition, f),
            Instruction::Call { arguments, .. } => arguments.iter().for_each(|argument| operand(argument, f)),
            Instruction::Synchronise(synchronisation) => synchronisation.places().for_each(|place| place.uses(f)),
            Instruction::Fork { threads, .. } => threads.iter().for_each(|thread| thread.uses(f)),
            Instruction::Spawn { thread, .. } => thread.uses(f),
            Instruction::JoinThread { handle, .. } => operand(handle, f),
            Instruction::Allocate { elements, .. } => elements.iter().for_each(|&register| f(register)),
            Instruction::Free { pointer, .. } => f(*pointer),
            Instruction::CurrentThread { .. }
            | Instruction::Error { .. }
            | Instruction::Join
            | Instruction::AtomicBegin
            | Instruction::AtomicEnd => {}
        }
    }
}
