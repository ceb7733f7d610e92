//! Names in a text, and the declarations that they mean: what a front end finds out, whatever the language.

use super::Span;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NameKind {
    /// A class.
    Class,
    /// An enum.
    Enum,
    /// An input, a named constant, or an enumerator.
    Constant,
    /// A variable that holds data, objects or handles of threads.
    Variable,
    /// A parameter that does so.
    Parameter,
    /// A field that does so.
    Field,
    /// A synchronisation object.
    Object,
    /// A function.
    Function,
    /// A method.
    Method,
    /// An arm of a `cobegin`.
    Thread,
}

/// A name in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name {
    /// Where it stands.
    pub span: Span,
    /// Where that name stands in the declaration; the same place for the declaration itself.
    pub declared: Span,
    /// What it stands for.
    pub kind: NameKind,
}
