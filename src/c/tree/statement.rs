//! Statements.

use super::ids::{DeclId, ExprId, LabelId, StmtId};
use super::place::Place;

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// What it is.
    pub kind: StmtKind,
    /// Where it stands.
    pub place: Place,
}

/// What a statement is.
#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// Something of which a diagnostic speaks.
    Error,
    /// `;`.
    Empty,
    /// An expression, evaluated for what it does.
    Expression(ExprId),
    /// `{ … }`.
    Block(Box<[StmtId]>),
    /// Objects of the block around it.
    Declarations(Box<[DeclId]>),
    /// `if`.
    If {
        /// Of type `_Bool`, or a constant.
        condition: ExprId,
        /// What is done if so.
        then: StmtId,
        /// What is done if not.
        otherwise: Option<StmtId>,
    },
    /// `while`.
    While {
        /// Of type `_Bool`, or a constant.
        condition: ExprId,
        /// What is repeated.
        body: StmtId,
    },
    /// `do … while`.
    DoWhile {
        /// What is repeated.
        body: StmtId,
        /// Of type `_Bool`, or a constant.
        condition: ExprId,
    },
    /// `for`.
    For {
        /// A declaration or an expression.
        initial: Option<StmtId>,
        /// Of type `_Bool`, or a constant; none is true.
        condition: Option<ExprId>,
        /// What is done behind the body.
        step: Option<ExprId>,
        /// What is repeated.
        body: StmtId,
    },
    /// `switch`.
    Switch {
        /// The value.
        value: ExprId,
        /// What holds the labels.
        body: StmtId,
        /// Where each value leads to.
        cases: Box<[Case]>,
        /// Where every other value leads to.
        default: Option<StmtId>,
    },
    /// `case …:`; the `switch` around it knows the values.
    Case {
        /// What is labelled.
        body: StmtId,
    },
    /// `default:`.
    Default {
        /// What is labelled.
        body: StmtId,
    },
    /// `name:`.
    Label {
        /// Which label.
        label: LabelId,
        /// What is labelled.
        body: StmtId,
    },
    /// `goto name;`.
    Goto(LabelId),
    /// `goto *value;`.
    ComputedGoto(ExprId),
    /// `asm(…)`.
    Assembly(Assembly),
    /// `break;`.
    Break,
    /// `continue;`.
    Continue,
    /// `return;`, with the value converted.
    Return(Option<ExprId>),
}

/// A case of a `switch`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The first value.
    pub low: i128,
    /// The last one, the same but for `case 1 ... 9:`.
    pub high: i128,
    /// Where they lead to.
    pub body: StmtId,
}

/// A label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Its name.
    pub name: Box<str>,
    /// What is labelled.
    pub body: Option<StmtId>,
}

/// An assembly statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Assembly {
    /// The text of the instructions.
    pub template: Box<str>,
    /// What it writes.
    pub outputs: Box<[ExprId]>,
    /// What it reads.
    pub inputs: Box<[ExprId]>,
    /// What else it changes: `memory`, registers.
    pub clobbers: Box<[Box<str>]>,
    /// Where it may jump to.
    pub labels: Box<[LabelId]>,
    /// Whether it says `volatile`, or has no outputs.
    pub volatile: bool,
}
