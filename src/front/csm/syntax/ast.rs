//! The syntax tree: the parser builds it, and the printer prints it.
//!
//! Names are not resolved here. Synchronisation operations and the other built-in functions are plain calls
//! (`lock(L)`, `barrier(2)`, `print(x)`, `cas(x, 0, 1)`): [`hir`](crate) gives them their meaning, so that a program may
//! name a method `set` or a lock `P`.

use cssame_source::Span;

/// A name as it stands in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ident {
    /// The name.
    pub name: String,
    /// Where it stands.
    pub span: Span,
}

/// A whole file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    /// In the order of the text.
    pub items: Vec<Item>,
}

/// What may stand at top level.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// `int f(int a, lock L) { … }`
    Function(Function),
    /// `class C { … }`
    Class(Class),
    /// `extern int now() in 0..3;`
    Extern(Extern),
    /// `input int n = 3;`
    Input(Input),
    /// `enum State { IDLE, BUSY };`
    Enum(Enum),
    /// A declaration (a global), or a statement of the body of `main`.
    Statement(Stmt),
    /// What could not be parsed; an error was reported.
    Error(Span),
}

/// A function or a method with its body.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Type of the result; `void` where there is none.
    pub result: TypeName,
    /// Its name.
    pub name: Ident,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// Its body.
    pub body: Block,
    /// From the result type to the closing brace.
    pub span: Span,
}

/// `int a` in a parameter list.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its type.
    pub ty: TypeName,
    /// Its name.
    pub name: Ident,
    /// `[]`: it takes an array; further dimensions have a size.
    pub sizes: Vec<Option<Expr>>,
}

/// A class.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// Its name.
    pub name: Ident,
    /// Fields and methods, in the order of the text.
    pub members: Vec<Member>,
    /// From `class` to the closing brace.
    pub span: Span,
}

/// A member of a class and who may use it.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// False after `private`. Both spellings are accepted: `public int f;` and `public:` for all that follow.
    pub public: bool,
    /// The member.
    pub kind: MemberKind,
}

/// What a class may hold.
#[derive(Clone, Debug, PartialEq)]
pub enum MemberKind {
    /// Fields and synchronisation objects.
    Field(Declaration),
    /// A method.
    Method(Function),
    /// `Queue(int n) { … }`: the constructor, whose result type is `void` and has no place of its own. A method without a
    /// result type comes out so too; `hir` reports it.
    Constructor(Function),
    /// Constants of the class.
    Enum(Enum),
    /// What could not be parsed; an error was reported.
    Error(Span),
}

/// `extern int now() in 0..3;`: a function whose body is not visible.
#[derive(Clone, Debug, PartialEq)]
pub struct Extern {
    /// Type of the result.
    pub result: TypeName,
    /// Its name.
    pub name: Ident,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// Lowest and highest result, both possible.
    pub range: Option<(Expr, Expr)>,
    /// The whole declaration.
    pub span: Span,
}

/// `input int n = 3;`: a constant that the command line can set.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// Its type.
    pub ty: TypeName,
    /// Its name.
    pub name: Ident,
    /// Its value where the command line gives none.
    pub value: Expr,
    /// Lowest and highest value, both possible.
    pub range: Option<(Expr, Expr)>,
    /// The whole declaration.
    pub span: Span,
}

/// `enum State { IDLE = 1, BUSY };`: constants of type `int`, and another name of `int`.
#[derive(Clone, Debug, PartialEq)]
pub struct Enum {
    /// The name of the type, if it has one.
    pub name: Option<Ident>,
    /// In the order of the text.
    pub enumerators: Vec<Enumerator>,
    /// From `enum` to the closing brace.
    pub span: Span,
}

/// `BUSY`, or `BUSY = 4`.
#[derive(Clone, Debug, PartialEq)]
pub struct Enumerator {
    /// Its name.
    pub name: Ident,
    /// Its value; without one it is one more than the enumerator before, and the first is 0.
    pub value: Option<Expr>,
}

/// A type as written.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeName {
    /// Which.
    pub kind: TypeKind,
    /// Where it stands.
    pub span: Span,
}

/// The types that can be written. `lock`, `reentrant`, `rwlock`, `event`, `barrier`, `cond`, `sem` and `thread` are no reserved words: the
/// parser recognises them in the place of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeKind {
    /// 32 bits, wrapping.
    Int,
    /// 64 bits, wrapping.
    Long,
    /// `true` or `false`.
    Bool,
    /// IEEE double.
    Double,
    /// Text.
    String,
    /// No value.
    Void,
    /// A lock.
    Lock,
    /// A lock that its holder may take again.
    ReentrantLock,
    /// A readers-writer lock.
    RwLock,
    /// An event.
    Event,
    /// A barrier.
    Barrier,
    /// A condition.
    Cond,
    /// A semaphore.
    Sem,
    /// A handle of a spawned thread.
    Thread,
    /// A class or an enum, by name.
    Class(String),
}

/// `int a = 1, b[3] = {1, 2, 3};`, `atomic int a;`, or `const int N = 5;`
#[derive(Clone, Debug, PartialEq)]
pub struct Declaration {
    /// Whether it begins with `atomic`.
    pub atomic: bool,
    /// Whether it begins with `const`.
    pub constant: bool,
    /// Type of all declared names.
    pub ty: TypeName,
    /// At least one.
    pub declarators: Vec<Declarator>,
    /// From `atomic`, `const` or the type to the semicolon.
    pub span: Span,
}

/// One name of a declaration.
#[derive(Clone, Debug, PartialEq)]
pub struct Declarator {
    /// The declared name.
    pub name: Ident,
    /// `[size]`: an array; several: of several dimensions.
    pub sizes: Vec<Expr>,
    /// What it begins with.
    pub initialiser: Option<Initialiser>,
}

/// What a declared name begins with.
#[derive(Clone, Debug, PartialEq)]
pub enum Initialiser {
    /// `= e`; for a thread, `e` is an [`ExprKind::Spawn`].
    Value(Expr),
    /// `= {e, …}`
    List(Vec<Expr>),
    /// `= {{e, …}, …}`: an array of several dimensions, row by row.
    Rows(Vec<Row>),
    /// `(e, …)`, at least one: the count of a barrier, or the arguments of a constructor.
    Arguments(Vec<Expr>),
}

/// What the elements of an array begin with that is an element of another one.
#[derive(Clone, Debug, PartialEq)]
pub enum Row {
    /// `{e, …}`
    Values(Vec<Expr>, Span),
    /// `{{e, …}, …}`
    Rows(Vec<Row>, Span),
}

impl Initialiser {
    /// The expressions in it, in the order of the text.
    #[must_use]
    pub fn expressions(&self) -> Vec<&Expr> {
        match self {
            Initialiser::Value(value) => vec![value],
            Initialiser::List(values) | Initialiser::Arguments(values) => values.iter().collect(),
            Initialiser::Rows(rows) => rows.iter().flat_map(Row::expressions).collect(),
        }
    }
}

impl Row {
    fn expressions(&self) -> Vec<&Expr> {
        match self {
            Row::Values(values, _) => values.iter().collect(),
            Row::Rows(rows, _) => rows.iter().flat_map(Row::expressions).collect(),
        }
    }

    /// With the braces.
    #[must_use]
    pub fn span(&self) -> Span {
        match self {
            Row::Values(_, span) | Row::Rows(_, span) => *span,
        }
    }
}

/// `{ … }`
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// In the order of the text.
    pub statements: Vec<Stmt>,
    /// With the braces.
    pub span: Span,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// Which.
    pub kind: StmtKind,
    /// The whole statement.
    pub span: Span,
}

/// The statements.
#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// `{ … }`
    Block(Block),
    /// `int a = 1;`
    Declare(Declaration),
    /// `target = value;`, or with an operator, `target += value;`
    Assign {
        /// A [`ExprKind::Name`], [`ExprKind::Field`] or [`ExprKind::Index`]; anything else is an error of `hir`.
        target: Expr,
        /// The `+` of `+=`.
        op: Option<BinaryOp>,
        /// The right side.
        value: Expr,
    },
    /// `target++;` or `--target;`
    Step {
        /// As in [`StmtKind::Assign`].
        target: Expr,
        /// `++`, else `--`.
        increment: bool,
    },
    /// `if (condition) then_branch else else_branch`
    If {
        /// The condition.
        condition: Expr,
        /// Run where it holds.
        then_branch: Box<Stmt>,
        /// Run where it does not.
        else_branch: Option<Box<Stmt>>,
    },
    /// `while (condition) body`
    While {
        /// Tested before each round.
        condition: Expr,
        /// The body.
        body: Box<Stmt>,
    },
    /// `do body while (condition);`
    DoWhile {
        /// The body.
        body: Box<Stmt>,
        /// Tested after each round.
        condition: Expr,
    },
    /// `for (initial; condition; step) body`
    For {
        /// A declaration, an assignment, a step or a call.
        initial: Option<Box<Stmt>>,
        /// Absent means true.
        condition: Option<Expr>,
        /// An assignment, a step or a call.
        step: Option<Box<Stmt>>,
        /// The body.
        body: Box<Stmt>,
    },
    /// `switch (value) { case 1: … default: … }`
    Switch {
        /// Evaluated once.
        value: Expr,
        /// In the order of the text.
        cases: Vec<Case>,
    },
    /// `fallthrough;`, the last statement of a case: the next one runs too.
    Fallthrough,
    /// `break;`
    Break,
    /// `continue;`
    Continue,
    /// `return e;`
    Return(Option<Expr>),
    /// `cobegin T1: … T2: … coend`
    Cobegin(Vec<Arm>),
    /// `parfor (int i = 0; i < n; i++) body`: one thread an iteration.
    Parfor {
        /// The declaration of the loop variable.
        initial: Box<Stmt>,
        /// The condition.
        condition: Expr,
        /// The step.
        step: Box<Stmt>,
        /// The body of each thread.
        body: Box<Stmt>,
    },
    /// `synchronized (L) { … }`
    Synchronized {
        /// The lock.
        lock: Expr,
        /// The body.
        body: Block,
    },
    /// `atomic { … }`
    Atomic(Block),
    /// A call, also one of a built-in function (`lock(L);`, `print(x);`), or a `spawn f(x)` without a handle.
    Call(Expr),
    /// `skip;` or a lone semicolon.
    Skip,
    /// What could not be parsed; an error was reported.
    Error,
}

/// A body of a switch, with the labels that lead to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// At least one.
    pub labels: Vec<CaseLabel>,
    /// Run in order; local declarations are local to them.
    pub statements: Vec<Stmt>,
    /// From the first label to the end of the last statement.
    pub span: Span,
}

/// `case e:` or `default:`
#[derive(Clone, Debug, PartialEq)]
pub struct CaseLabel {
    /// The constant; absent for `default`.
    pub value: Option<Expr>,
    /// From its word to the colon.
    pub span: Span,
}

/// One thread of a cobegin.
#[derive(Clone, Debug, PartialEq)]
pub struct Arm {
    /// Its name.
    pub label: Ident,
    /// Run in order.
    pub statements: Vec<Stmt>,
    /// From the label to the end of the last statement.
    pub span: Span,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// Which.
    pub kind: ExprKind,
    /// Where it stands, without parentheses around it.
    pub span: Span,
    /// Height of the tree, at most [`MAX_DEPTH`]: recursion over a tree is bounded.
    pub depth: u16,
}

/// No expression and no statement nests deeper; the parser reports one that does.
pub const MAX_DEPTH: u16 = 256;

/// The expressions.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// `12`, `0x1F`, `'a'` is not one. `long` after the suffix `L` or where 32 bits do not hold it.
    Int {
        /// Its value.
        value: i64,
        /// Whether it has type `long`.
        long: bool,
    },
    /// `1.5`
    Double(f64),
    /// `true`
    Bool(bool),
    /// `"text"`, with its escapes resolved.
    String(String),
    /// `x`
    Name(String),
    /// `this`
    This,
    /// `object.field`
    Field {
        /// The object.
        object: Box<Expr>,
        /// The field.
        field: Ident,
    },
    /// `array[index]`
    Index {
        /// A name or a field.
        array: Box<Expr>,
        /// The index.
        index: Box<Expr>,
    },
    /// `f(a, b)`, `o.m(a)`, `cas(x, 0, 1)`, `choose(0, 3)`, `lock(L)`
    Call {
        /// The object of a method call.
        receiver: Option<Box<Expr>>,
        /// The name that stands before the parenthesis.
        callee: Ident,
        /// In order.
        arguments: Vec<Expr>,
    },
    /// `spawn f(a, b)`: as the value of a thread variable, or alone as a statement.
    Spawn(Box<Expr>),
    /// `-e`, `!e`, `~e`
    Unary {
        /// The operator.
        op: UnaryOp,
        /// Its operand.
        operand: Box<Expr>,
    },
    /// `a + b`
    Binary {
        /// The operator.
        op: BinaryOp,
        /// Evaluated first.
        left: Box<Expr>,
        /// Evaluated second; by `&&` and `||` only where it matters.
        right: Box<Expr>,
    },
    /// `c ? a : b`
    Conditional {
        /// The condition.
        condition: Box<Expr>,
        /// Where it holds.
        then_value: Box<Expr>,
        /// Where it does not.
        else_value: Box<Expr>,
    },
    /// `(long) e`
    Cast {
        /// `int`, `long`, `bool` or `double`.
        ty: TypeName,
        /// What is converted.
        operand: Box<Expr>,
    },
    /// What could not be parsed; an error was reported.
    Error,
}

/// Operators of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `-`
    Negate,
    /// `!`
    Not,
    /// `~`
    Complement,
}

/// Operators of two operands, with C's precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`, truncating
    Divide,
    /// `%`, with the sign of the dividend
    Remainder,
    /// `<<`
    ShiftLeft,
    /// `>>`, arithmetic
    ShiftRight,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `&`
    BitAnd,
    /// `^`
    BitXor,
    /// `|`
    BitOr,
    /// `&&`, short-circuit
    And,
    /// `||`, short-circuit
    Or,
}

impl UnaryOp {
    /// As it is written.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            UnaryOp::Negate => "-",
            UnaryOp::Not => "!",
            UnaryOp::Complement => "~",
        }
    }
}

impl BinaryOp {
    /// As it is written.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            BinaryOp::Add => "+",
            BinaryOp::Subtract => "-",
            BinaryOp::Multiply => "*",
            BinaryOp::Divide => "/",
            BinaryOp::Remainder => "%",
            BinaryOp::ShiftLeft => "<<",
            BinaryOp::ShiftRight => ">>",
            BinaryOp::Less => "<",
            BinaryOp::LessEqual => "<=",
            BinaryOp::Greater => ">",
            BinaryOp::GreaterEqual => ">=",
            BinaryOp::Equal => "==",
            BinaryOp::NotEqual => "!=",
            BinaryOp::BitAnd => "&",
            BinaryOp::BitXor => "^",
            BinaryOp::BitOr => "|",
            BinaryOp::And => "&&",
            BinaryOp::Or => "||",
        }
    }
}
