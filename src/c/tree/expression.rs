//! Expressions: typed, names resolved, every conversion a node.
//!
//! The operands of an operator have the type that the operation is done in, but for shifts, pointer arithmetic and compound
//! assignment. A name alone is a place, not a value: reading it is a [`Conversion::Read`] of it.

use super::ids::{DeclId, ExprId, LabelId, StmtId, StringId, TypeId};
use super::place::Place;

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Its type.
    pub ty: TypeId,
    /// What may be done with it.
    pub category: Category,
    /// Where it stands.
    pub place: Place,
}

/// What may be done with an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    /// A value.
    Value,
    /// A place in memory.
    Lvalue,
    /// A bit-field: a place without an address.
    BitField,
    /// A function, before it becomes a pointer.
    Function,
}

/// What an expression is.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// Something of which a diagnostic speaks; a unit without errors has none that is evaluated.
    Error,
    /// A constant; what could be folded has been.
    Constant(Constant),
    /// A string literal: an array.
    String(StringId),
    /// An object or function.
    Name(DeclId),
    /// A member of a structure or union; `p->x` is the member of a dereference.
    Member {
        /// The structure or union.
        base: ExprId,
        /// Which of its members.
        field: u32,
    },
    /// An element; the pointer comes first, however it was written.
    Subscript {
        /// A pointer.
        base: ExprId,
        /// An integer.
        index: ExprId,
    },
    /// A call.
    Call {
        /// A pointer to the function.
        callee: ExprId,
        /// The arguments, converted.
        arguments: Box<[ExprId]>,
    },
    /// An operator with one operand.
    Unary {
        /// Which.
        operator: UnaryOperator,
        /// What it is applied to.
        operand: ExprId,
    },
    /// An operator with two operands.
    Binary {
        /// Which.
        operator: BinaryOperator,
        /// The first.
        left: ExprId,
        /// The second.
        right: ExprId,
    },
    /// An assignment.
    Assign {
        /// The operator of a compound one.
        operator: Option<BinaryOperator>,
        /// The type in which the operator computes; the type of the whole where there is none.
        computation: TypeId,
        /// Where the value goes.
        target: ExprId,
        /// The value, or the right operand of the operator.
        value: ExprId,
    },
    /// `condition ? then : otherwise`.
    Conditional {
        /// Of type `_Bool`, or a constant.
        condition: ExprId,
        /// The value if so. `a ?: b` has an operand of the condition here, which is evaluated once.
        then: ExprId,
        /// The value if not.
        otherwise: ExprId,
    },
    /// `first, second`.
    Comma {
        /// Evaluated for what it does.
        first: ExprId,
        /// The value.
        second: ExprId,
    },
    /// A conversion that the program wrote.
    Cast(ExprId),
    /// A conversion that the language makes.
    Convert {
        /// Which.
        conversion: Conversion,
        /// What is converted.
        operand: ExprId,
    },
    /// `(T){ … }`: an object without a name.
    CompoundLiteral(DeclId),
    /// `({ … })`: a block whose last expression is the value.
    StatementExpression(StmtId),
    /// `&&label`.
    LabelAddress(LabelId),
    /// An atomic operation, or a fence.
    Atomic {
        /// Which.
        operation: AtomicOperation,
        /// How it is ordered.
        order: Order,
        /// The address, and the other operands.
        operands: Box<[ExprId]>,
    },
    /// Another function of the compiler.
    Builtin {
        /// Which.
        builtin: Builtin,
        /// Its operands.
        operands: Box<[ExprId]>,
    },
}

/// A folded constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Constant {
    /// An integer, a truth value, or a pointer made of a number; of the value of its type.
    Integer(i128),
    /// A floating value; of `long double` the nearest `double`.
    Floating(f64),
    /// The address of an object, and bytes from there.
    Address {
        /// What it is the address of.
        base: AddressBase,
        /// Bytes.
        offset: i128,
    },
    /// A complex number, or a distance between labels.
    Other,
}

/// What an address constant leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressBase {
    /// A declared object or function.
    Declaration(DeclId),
    /// A string literal.
    String(StringId),
    /// A label of the function around it.
    Label(LabelId),
    /// No object: the offset is all.
    Nothing,
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOperator {
    /// `+`.
    Plus,
    /// `-`.
    Minus,
    /// `!`, of a `_Bool`.
    Not,
    /// `~`.
    Complement,
    /// `*`.
    Dereference,
    /// `&`.
    AddressOf,
    /// `++x`.
    PreIncrement,
    /// `--x`.
    PreDecrement,
    /// `x++`.
    PostIncrement,
    /// `x--`.
    PostDecrement,
    /// `__real__`, `__imag__`.
    ComplexPart,
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOperator {
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Remainder,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `<<`
    ShiftLeft,
    /// `>>`
    ShiftRight,
    /// `<`
    Less,
    /// `>`
    Greater,
    /// `<=`
    LessEqual,
    /// `>=`
    GreaterEqual,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `&`
    And,
    /// `^`
    ExclusiveOr,
    /// `|`
    Or,
    /// `&&`: the second operand is evaluated only if the first is true.
    LogicalAnd,
    /// `||`: the second operand is evaluated only if the first is false.
    LogicalOr,
}

/// Conversions that the language makes without being asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversion {
    /// A place is read.
    Read,
    /// An array becomes a pointer to its first element.
    ArrayToPointer,
    /// A function becomes a pointer to it.
    FunctionToPointer,
    /// A number becomes one of another type.
    Arithmetic,
    /// A pointer becomes one of another type.
    Pointer,
    /// A scalar becomes a truth value.
    Truth,
    /// A constant zero becomes a null pointer.
    NullPointer,
    /// A value is dropped.
    Discard,
    /// A scalar becomes a vector, and other conversions of types that no later pass reads.
    Other,
}

/// Atomic operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomicOperation {
    /// Reads from the first operand.
    Load,
    /// Reads from the first operand into the object that the second points at.
    LoadInto,
    /// Writes the second operand.
    Store,
    /// Orders what stands around it.
    Fence,
    /// Orders what stands around it for a signal handler of the same thread.
    SignalFence,
    /// Compares with the object that the second operand points at, and writes the third if equal, else the found value back
    /// to there; whether they were equal.
    CompareExchange,
    /// Compares with the second operand, and writes the third if equal; whether they were equal.
    CompareAndSwap,
    /// The same; what was found.
    CompareAndSwapValue,
    /// Writes the second operand; what was there.
    Exchange,
    /// The same, with what was there written into the object that the third points at.
    ExchangeInto,
    /// Sets a byte; whether it was set.
    TestAndSet,
    /// Computes with the second operand and writes; what was there.
    FetchThen(Modification),
    /// Computes with the second operand and writes; what is there then.
    ThenFetch(Modification),
}

/// What a read-modify-write computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Modification {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `&`
    And,
    /// `~(a & b)`
    NotAnd,
    /// `|`
    Or,
    /// `^`
    ExclusiveOr,
}

/// How an atomic operation is ordered, as written; what is not a constant is sequentially consistent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Order {
    /// `memory_order_relaxed`
    Relaxed,
    /// `memory_order_acquire`, and `memory_order_consume`.
    Acquire,
    /// `memory_order_release`
    Release,
    /// `memory_order_acq_rel`
    AcquireRelease,
    /// `memory_order_seq_cst`
    SequentiallyConsistent,
    /// Of the `__sync_` functions: nothing moves across it, plain accesses included.
    Full,
}

/// Functions of the compiler that are neither calls nor atomic operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Builtin {
    /// `__builtin_expect`: the first operand.
    Expect,
    /// `__builtin_unreachable`.
    Unreachable,
    /// `__builtin_trap`.
    Trap,
    /// `__builtin_prefetch`: nothing.
    Prefetch,
    /// `__builtin_constant_p` of what is no constant as written.
    ConstantProbe,
    /// `__builtin_alloca`.
    Alloca,
    /// `abs`, `labs`, `llabs`.
    AbsoluteValue,
    /// `__builtin_bswap*`.
    ByteSwap,
    /// A question about the bits of the operand.
    BitCount(BitCount),
    /// `__builtin_*_overflow`: computes without bounds and says whether the result does not fit.
    Overflow {
        /// What it computes.
        operator: BinaryOperator,
        /// A type in which the result fits.
        exact: TypeId,
        /// Whether the third operand points at where the result goes; else it only names a type.
        stores: bool,
    },
    /// `va_start`.
    VariadicStart,
    /// `va_arg`, of the type of the node.
    VariadicNext,
    /// `va_end`.
    VariadicEnd,
    /// `va_copy`.
    VariadicCopy,
    /// Another one, by name.
    Other(&'static str),
}

/// Questions about bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BitCount {
    /// Zeros above the highest one; not defined of zero.
    LeadingZeros,
    /// Zeros below the lowest one; not defined of zero.
    TrailingZeros,
    /// How many are one.
    Ones,
    /// Whether an odd number of them is one.
    Parity,
    /// The place of the lowest one, from 1 on; 0 of zero.
    FirstSet,
    /// How many below the sign are equal to it.
    RedundantSign,
}
