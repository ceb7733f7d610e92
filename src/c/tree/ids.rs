//! The ids of what a unit has: typed indices into its arenas.

use cssame_source::arena::id;

id! {
    /// A type.
    TypeId
}

id! {
    /// A structure or union.
    RecordId
}

id! {
    /// An enumeration.
    EnumerationId
}

id! {
    /// An expression.
    ExprId
}

id! {
    /// A string literal.
    StringId
}

id! {
    /// A statement.
    StmtId
}

id! {
    /// A label.
    LabelId
}

id! {
    /// A declared object or function.
    DeclId
}
