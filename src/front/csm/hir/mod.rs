//! The typed tree: names resolved, types checked, constants folded.
//!
//! In: the syntax tree and the values of the inputs. Out: a [`Program`] and all diagnostics of names and types. A program with
//! errors must not be lowered. No later layer depends on the grammar.
//!
//! An arm of a `cobegin`/`parfor` keeps the list of the locals of enclosing arms that it uses ([`Arm::captures`]): these live in
//! memory, and every other scalar local in a register.

mod call;
mod class;
mod completes;
mod constant;
mod construct;
mod declaration;
mod expression;
mod habits;
mod input;
mod item;
mod named;
mod names;
mod operation;
mod place;
mod scope;
mod statement;
mod switch;
mod thread;
mod types;

pub use call::built_ins;
pub use constant::Constant;
pub use input::UNKNOWN;
pub use item::check;
pub use types::{Array, Scalar, Type};

use crate::csm::syntax::ast::{BinaryOp, UnaryOp};
use cssame_diagnostics::Diagnostic;
use cssame_ir::{Enumerations, sync};
use cssame_source::Span;
use cssame_source::arena::{Arena, id};
use cssame_source::names::Name;
use cssame_source::texts::{TextId, Texts};
use rustc_hash::FxHashMap;

id! {
    /// A declared variable or parameter.
    VariableId
}
id! {
    /// A class.
    ClassId
}
id! {
    /// A type of arrays.
    ArrayId
}
id! {
    /// A function or method.
    FunctionId
}

/// A typed program.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Classes, in text order.
    pub classes: Arena<ClassId, Class>,
    /// Types of arrays.
    pub arrays: Arena<ArrayId, Array>,
    array_ids: FxHashMap<Array, ArrayId>,
    /// All variables and parameters, in text order.
    pub variables: Arena<VariableId, Variable>,
    /// Functions and methods, in text order, then `main`.
    pub functions: Arena<FunctionId, Function>,
    /// Where execution begins, if the file has a `main` or statements at top level.
    pub main: Option<FunctionId>,
    /// Names, literals, messages.
    pub texts: Texts,
    /// Names of values.
    pub enumerations: Enumerations,
}

/// A class, laid out.
#[derive(Clone, Debug)]
pub struct Class {
    /// Its name.
    pub name: TextId,
    /// Its name in the text.
    pub span: Span,
    /// Fields, in text order.
    pub fields: Vec<Field>,
    /// Methods, in text order.
    pub methods: Vec<FunctionId>,
    /// Number of cells of an object.
    pub size: u32,
}

/// A field of a class.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name.
    pub name: TextId,
    /// Its name in the text.
    pub span: Span,
    /// Its type.
    pub ty: Type,
    /// Whether others than the methods of the class may use it.
    pub public: bool,
    /// First cell, counted from that of the object.
    pub offset: u32,
    /// What its elements begin with; fewer values than elements are repeated. Empty for objects.
    pub initial: Vec<Constant>,
    /// Whether it is declared `atomic`.
    pub atomic: bool,
}

/// Where a variable comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariableKind {
    /// Declared at top level.
    Global,
    /// Declared in a body.
    Local,
    /// A named constant: its value is its initial one, and it has no cell.
    Constant,
    /// A parameter that takes a value.
    Parameter,
    /// A parameter that takes a reference: to an object or a synchronisation object.
    ReferenceParameter,
}

/// A declared variable.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: TextId,
    /// Its name in the text.
    pub span: Span,
    /// Its type.
    pub ty: Type,
    /// Where it comes from.
    pub kind: VariableKind,
    /// What its elements begin with; zeros where the declaration says nothing or something that is evaluated at run time.
    /// Fewer values than elements are repeated. Empty for objects.
    pub initial: Vec<Constant>,
    /// Whether an arm of a `cobegin`/`parfor` uses it that does not declare it.
    pub captured: bool,
    /// Whether it is declared `atomic`.
    pub atomic: bool,
}

/// A function or method.
#[derive(Clone, Debug)]
pub struct Function {
    /// `f`, or `Account.deposit`.
    pub name: TextId,
    /// Its name in the text.
    pub span: Span,
    /// The class of a method, and whether it is public.
    pub method_of: Option<(ClassId, bool)>,
    /// Its parameters, without the object.
    pub parameters: Vec<VariableId>,
    /// Type of the result.
    pub result: Option<Scalar>,
    /// For a function whose body is not visible: lowest and highest result.
    pub external: Option<(i32, i32)>,
    /// Its body; empty for an external one.
    pub body: Vec<Statement>,
    /// Where the body ends.
    pub end: Span,
}

/// A statement and its place.
#[derive(Clone, Debug)]
pub struct Statement {
    /// Which.
    pub kind: StatementKind,
    /// Its place.
    pub span: Span,
}

/// The statements.
#[derive(Clone, Debug)]
pub enum StatementKind {
    /// Statements in order; declarations inside are local to it.
    Block(Vec<Statement>),
    /// A local begins, or a global's initialiser is evaluated: `values` are what is not constant, by cell.
    Declare {
        /// The variable.
        variable: VariableId,
        /// Cell and value, evaluated in order.
        values: Vec<(u32, Expression)>,
    },
    /// An object is constructed. Its declaration comes before.
    Construct {
        /// The object, or the array whose elements are constructed in index order.
        object: Place,
        /// What runs on each.
        constructor: FunctionId,
        /// Evaluated once, in order.
        arguments: Vec<Argument>,
    },
    /// `place = value`
    Assign {
        /// What is written. Its index is evaluated first.
        place: Place,
        /// The value, of the type of the place.
        value: Expression,
    },
    /// `place op= value`: reads, computes, writes.
    Update {
        /// What is read and written.
        place: Place,
        /// The operator.
        op: BinaryOp,
        /// Type in which it is computed.
        ty: Scalar,
        /// The right operand, of that type (for a shift, a `long`).
        value: Expression,
    },
    /// An expression for its effects.
    Evaluate(Expression),
    /// `if`
    If {
        /// A bool.
        condition: Expression,
        /// Where it holds.
        then_branch: Box<Statement>,
        /// Where it does not.
        else_branch: Option<Box<Statement>>,
    },
    /// `while`, and `for` with a step.
    While {
        /// A bool; tested before each round.
        condition: Expression,
        /// The body.
        body: Box<Statement>,
        /// Run after each round, also after `continue`.
        step: Option<Box<Statement>>,
    },
    /// `do … while`
    DoWhile {
        /// The body.
        body: Box<Statement>,
        /// A bool; tested after each round.
        condition: Expression,
    },
    /// `switch`
    Switch {
        /// Evaluated once; an `int`, a `long`, a `bool` or a `string`.
        value: Expression,
        /// In the order of the text. Their labels are distinct.
        cases: Vec<SwitchCase>,
    },
    /// `break`
    Break,
    /// `continue`
    Continue,
    /// `return`
    Return(Option<Expression>),
    /// `cobegin`; `barriers` are the anonymous barriers of its arms.
    Cobegin {
        /// Hidden barrier variables.
        barriers: Vec<VariableId>,
        /// The threads.
        arms: Vec<Arm>,
    },
    /// `parfor`
    Parfor {
        /// Hidden barrier variables.
        barriers: Vec<VariableId>,
        /// The loop variable of the parent.
        variable: VariableId,
        /// Its first value.
        first: Expression,
        /// A bool.
        condition: Expression,
        /// Run after each round.
        step: Box<Statement>,
        /// The copy of the loop variable that each thread has.
        copy: VariableId,
        /// What each thread runs.
        arm: Arm,
        /// Line of the `parfor`.
        line: u32,
        /// Where the loop has the form `i < limit; i += step`: the limit, a constant or a variable, and the step.
        canonical: Option<(Expression, i64)>,
    },
    /// `synchronized (lock) { … }`
    Synchronized {
        /// The lock.
        lock: Place,
        /// The body.
        body: Vec<Statement>,
        /// Its closing brace.
        end: Span,
    },
    /// `atomic { … }`
    Atomic(Vec<Statement>),
    /// An operation on a synchronisation object.
    Synchronise(Operation),
    /// `print(…)`
    Print(Vec<Expression>),
    /// `assert(…)`
    Assert {
        /// A bool.
        condition: Expression,
        /// What the program says.
        message: Option<TextId>,
    },
    /// `error(…)`
    Error(Option<TextId>),
    /// `assume(…)`
    Assume(Expression),
    /// `spawn f(…)`
    Spawn {
        /// Gets the handle.
        target: Option<Place>,
        /// What runs.
        call: Call,
        /// What the thread is called.
        label: TextId,
    },
    /// `join(t)`
    Join(Expression),
    /// Nothing.
    Skip,
}

/// A body of a `switch`.
#[derive(Clone, Debug)]
pub struct SwitchCase {
    /// Its labels.
    pub labels: Vec<SwitchLabel>,
    /// Run where one of them fits.
    pub body: Vec<Statement>,
    /// Whether the next body runs behind it.
    pub falls: bool,
    /// From the first label to the end of the last statement.
    pub span: Span,
}

/// A label of a `switch`.
#[derive(Clone, Copy, Debug)]
pub struct SwitchLabel {
    /// Of the type of what is switched on; absent for `default`.
    pub value: Option<Constant>,
    /// From its word to the colon.
    pub span: Span,
}

/// Operations on synchronisation objects.
#[derive(Clone, Debug)]
pub struct Operation {
    /// Which.
    pub kind: sync::Kind,
    /// The objects that it works on, as many as the kind has operands.
    pub objects: Vec<Place>,
}

/// An arm of a `cobegin`, or the body of a `parfor`.
#[derive(Clone, Debug)]
pub struct Arm {
    /// Its label.
    pub label: TextId,
    /// Its label in the text.
    pub span: Span,
    /// Locals of enclosing arms or of the function that it uses, in the order of first use.
    pub captures: Vec<VariableId>,
    /// Whether it uses the object of the enclosing method.
    pub uses_this: bool,
    /// Its body.
    pub body: Vec<Statement>,
}

/// An expression and its type.
#[derive(Clone, Debug)]
pub struct Expression {
    /// Which.
    pub kind: ExpressionKind,
    /// Its type.
    pub ty: Scalar,
    /// Its place.
    pub span: Span,
}

/// The expressions.
#[derive(Clone, Debug)]
pub enum ExpressionKind {
    /// A constant of the type of the expression.
    Constant(Constant),
    /// The value of a place.
    Read(Box<Place>),
    /// An operator of one operand, of the type of the expression.
    Unary(UnaryOp, Box<Expression>),
    /// An operator of two operands of that common type; a shift count is a `long`.
    Binary(BinaryOp, Scalar, Box<Expression>, Box<Expression>),
    /// `c ? a : b`
    Conditional(Box<Expression>, Box<Expression>, Box<Expression>),
    /// To the type of the expression.
    Convert(Box<Expression>),
    /// A call with a result.
    Call(Box<Call>),
    /// `choose(low, high)`
    Choose(Box<Expression>, Box<Expression>),
    /// `cas(place, old, new)`
    CompareAndSwap(Box<Place>, Box<Expression>, Box<Expression>),
    /// `swap(place, value)`
    Swap(Box<Place>, Box<Expression>),
    /// `fetch_add(place, value)`
    FetchAdd(Box<Place>, Box<Expression>),
    /// The length of the array that a parameter takes.
    Length(VariableId),
    /// An operation on synchronisation objects that has a verdict: `trylock(L)`
    Synchronise(Box<Operation>),
}

/// A call of a function of the program.
#[derive(Clone, Debug)]
pub struct Call {
    /// Which.
    pub function: FunctionId,
    /// The object of a method.
    pub receiver: Option<Place>,
    /// One for each parameter.
    pub arguments: Vec<Argument>,
}

/// An argument.
#[derive(Clone, Debug)]
pub enum Argument {
    /// A value of the parameter's type.
    Value(Expression),
    /// An object or a synchronisation object.
    Reference(Place),
    /// An array, and how long it is.
    Array(Place, Length),
}

/// Where a place begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// A variable.
    Variable(VariableId),
    /// The object of the method.
    This,
}

/// The number of elements of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// A constant.
    Constant(u32),
    /// Of the array that this parameter takes.
    Parameter(VariableId),
}

/// An element of an array.
#[derive(Clone, Debug)]
pub struct Index {
    /// An `int` or a `long`.
    pub value: Expression,
    /// The length of the array.
    pub length: Length,
    /// Cells from one element to the next.
    pub stride: u32,
}

/// A variable or a part of one.
#[derive(Clone, Debug)]
pub struct Place {
    /// Where it begins.
    pub root: Root,
    /// Cells to skip.
    pub offset: u32,
    /// Elements of arrays, outermost first.
    pub indices: Vec<Index>,
    /// As written, without the indices at its end: `acc.balance`, `t`, `a[i].balance`.
    pub name: TextId,
    /// The indices at its end, as written: `[i]`.
    pub last_indices: TextId,
    /// Where the name stands, without the index.
    pub span: Span,
    /// Name and declaration of the variable or field that it ends in.
    pub symbol: (TextId, Span),
    /// Its type; of an element, the element's.
    pub ty: Type,
}

/// What [`check`] returns.
#[derive(Clone, Debug, Default)]
pub struct Checked {
    /// The program; to be used only where no diagnostic is an error.
    pub program: Program,
    /// In no particular order.
    pub diagnostics: Vec<Diagnostic>,
    /// Names that were resolved, in no particular order; [`Checked::names`] has all.
    uses: Vec<Name>,
}
