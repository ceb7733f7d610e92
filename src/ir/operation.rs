//! Instructions, operands and terminators.

use super::place::{Operand, Place};
use super::{BlockId, DefinitionId, FunctionId, ReadId, RegisterId, ScalarType, Synchronisation, TextId, VariableId};

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
}

impl Arithmetic {
    /// The type that it computes in.
    #[must_use]
    pub fn scalar(self) -> ScalarType {
        match self {
            Arithmetic::Int => ScalarType::Int,
            Arithmetic::Long => ScalarType::Long,
            Arithmetic::Double => ScalarType::Double,
            Arithmetic::UnsignedInt => ScalarType::UnsignedInt,
            Arithmetic::UnsignedLong => ScalarType::UnsignedLong,
        }
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
    /// `<<`, of an `int` or a `long`; the count is a `long`, masked
    ShiftLeft(Arithmetic),
    /// `>>`, arithmetic
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
    /// A pointer so many cells behind another one; the second operand is a `long`.
    PointerAdd,
}

/// An atomic read and write of one cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AtomicOperation {
    /// Writes `new` where the cell holds `old`; the result says whether it did.
    CompareAndSwap {
        /// What the cell must hold.
        old: Operand,
        /// What it then gets.
        new: Operand,
        /// Whether the cell holds a double, which compares by value.
        double: bool,
    },
    /// Writes the operand; the result is what the cell held.
    Swap(Operand),
    /// Adds the operand; the result is what the cell held.
    FetchAdd(Operand, Arithmetic),
    /// Writes `new` where the cell holds the bits of `old`; the result is what the cell held.
    CompareExchange {
        /// What the cell must hold.
        old: Operand,
        /// What it then gets.
        new: Operand,
    },
    /// Computes with the operand in that type of integers, and writes; the result is what the cell held.
    FetchModify(Modification, Operand, ScalarType),
}

/// What a read-modify-write of an integer computes from what is there and its operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Modification {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `&`
    And,
    /// `|`
    Or,
    /// `^`
    ExclusiveOr,
    /// `~(a & b)`
    NotAnd,
}

impl Modification {
    /// The name of the operation.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Modification::Add => "fetch_add",
            Modification::Subtract => "fetch_sub",
            Modification::And => "fetch_and",
            Modification::Or => "fetch_or",
            Modification::ExclusiveOr => "fetch_xor",
            Modification::NotAnd => "fetch_nand",
        }
    }
}

impl AtomicOperation {
    /// Its name in the text.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            AtomicOperation::CompareAndSwap { .. } => "cas",
            AtomicOperation::Swap(_) => "swap",
            AtomicOperation::FetchAdd(..) => "fetch_add",
            AtomicOperation::CompareExchange { .. } => "cas",
            AtomicOperation::FetchModify(modification, ..) => modification.word(),
        }
    }

    /// Its operands.
    pub fn operands(&self) -> impl Iterator<Item = Operand> + use<> {
        let (first, second) = match *self {
            AtomicOperation::CompareAndSwap { old, new, .. } | AtomicOperation::CompareExchange { old, new } => {
                (old, Some(new))
            }
            AtomicOperation::Swap(value)
            | AtomicOperation::FetchAdd(value, _)
            | AtomicOperation::FetchModify(_, value, _) => (value, None),
        };
        std::iter::once(first).chain(second)
    }

    /// Whether it may leave the cell as it is.
    #[must_use]
    pub fn may_fail(&self) -> bool {
        matches!(self, AtomicOperation::CompareAndSwap { .. } | AtomicOperation::CompareExchange { .. })
    }
}

/// What a thread is called, below the path of the thread that makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadLabel {
    /// An arm's label, the handle's name, or the function's.
    Name(TextId),
    /// `parfor@LINE[k]`: the text before the bracket; `k` is the ordinal.
    Iteration(TextId),
    /// A handle that is an element, such as `w[]`, `m[][4]`, `p[].t`: the ordinal is the number of the element, of several
    /// arrays the last one first, by the lengths in the brackets.
    Element(TextId),
}

/// The name of a thread by its label and the number of its iteration or element: `t`, `w[2]`, `m[1][3]`, `p[0].t`; with `*`
/// where the number is not known.
#[must_use]
pub fn thread_name(label: &str, number: Option<i64>) -> String {
    // From the last bracket on, each length takes a part of the number; what is left is the first index.
    let lengths: Vec<Option<i64>> = label.split('[').skip(1).map(|rest| rest.split(']').next()?.parse().ok()).collect();
    let mut rest = number;
    let mut indices: Vec<Option<i64>> = Vec::with_capacity(lengths.len());
    for length in lengths.iter().rev() {
        indices.push(rest.map(|rest| length.map_or(rest, |length| rest.rem_euclid(length.max(1)))));
        rest = rest.map(|rest| length.map_or(0, |length| rest.div_euclid(length.max(1))));
    }
    let mut parts = label.split('[');
    let mut name = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let index = indices.pop().flatten().map_or_else(|| "*".to_owned(), |index| index.to_string());
        name.push_str(&format!("[{index}]{}", part.split_once(']').map_or("", |(_, behind)| behind)));
    }
    name
}

/// A thread to be made: a function, its arguments, and its name.
#[derive(Clone, Debug, PartialEq)]
pub struct NewThread {
    /// What it runs.
    pub function: FunctionId,
    /// For a `parfor` whose iterations run copies of their own (`specialise` of the layer `concurrency`): what each runs, by
    /// ordinal; an ordinal beyond them runs `function`.
    pub rounds: Vec<FunctionId>,
    /// With these arguments.
    pub arguments: Vec<Operand>,
    /// What it is called.
    pub label: ThreadLabel,
    /// The ordinal of an iteration of a `parfor`; of a handle, the number of the element.
    pub ordinal: Option<Operand>,
}

/// Bounds of a `parfor` in the canonical form `i = first; i < limit; i += step`, for analyses that unroll it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TripBounds {
    /// First value of the loop variable.
    pub first: Operand,
    /// The loop ends where the variable is not below it.
    pub limit: Operand,
    /// Added each round; positive.
    pub step: i64,
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
    /// Makes the cells of a local variable, or makes them new where the declaration runs again in the same frame.
    Allocate {
        /// Gets the reference; no other instruction writes it.
        dest: RegisterId,
        /// The variable.
        variable: VariableId,
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
    /// Writes a line to the output of the thread.
    Print {
        /// The operands and their types.
        arguments: Vec<(Operand, ScalarType)>,
        /// Whether they stand with one space between, else close together.
        spaced: bool,
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
            Instruction::Print { arguments, .. } => arguments.iter().for_each(|(argument, _)| operand(argument, f)),
            Instruction::Assert { condition, .. } | Instruction::Assume { condition } => operand(condition, f),
            Instruction::Call { arguments, .. } => arguments.iter().for_each(|argument| operand(argument, f)),
            Instruction::Synchronise(synchronisation) => synchronisation.places().for_each(|place| place.uses(f)),
            Instruction::Fork { threads, .. } => threads.iter().for_each(|thread| thread.uses(f)),
            Instruction::Spawn { thread, .. } => thread.uses(f),
            Instruction::JoinThread { handle, .. } => operand(handle, f),
            Instruction::Allocate { .. }
            | Instruction::CurrentThread { .. }
            | Instruction::Error { .. }
            | Instruction::Join
            | Instruction::AtomicBegin
            | Instruction::AtomicEnd => {}
        }
    }
}

impl NewThread {
    /// What it may run.
    pub fn functions(&self) -> impl Iterator<Item = FunctionId> + '_ {
        let own = (!self.rounds.contains(&self.function)).then_some(self.function);
        own.into_iter().chain(self.rounds.iter().copied())
    }

    /// What the iteration of that ordinal runs.
    #[must_use]
    pub fn function_of_round(&self, round: usize) -> FunctionId {
        self.rounds.get(round).copied().unwrap_or(self.function)
    }

    fn uses(&self, f: &mut impl FnMut(RegisterId)) {
        for operand in self.arguments.iter().chain(&self.ordinal) {
            if let Operand::Register(register) = operand {
                f(*register);
            }
        }
    }
}
