//! The typed tree of one translation unit in C.
//!
//! In: the text of a file, the files that it includes, and the settings of a compiler ([`Options`]). Out: a [`Unit`], if the
//! text is C, and diagnostics.
//!
//! The front end of `rucc` does the work: preprocessor, parser, types, constants. Its tree is copied node by node into ours in
//! `reader`, the only place that knows its names; so it can be replaced. Our headers come before all others; a bare machine
//! reads C.
//!
//! What the tree does not see: what `#pragma` says, attributes beside those of [`DeclFlags`], comments.

mod declaration;
mod expression;
mod files;
mod ids;
mod options;
mod place;
mod presumed;
#[cfg(test)]
mod print;
mod reader;
mod statement;
#[cfg(test)]
mod tests;
mod types;
mod unit;

pub use declaration::{Decl, DeclFlags, DeclKind, Definition, InitialValue, Linkage, Storage};
pub use expression::{
    AddressBase, AtomicOperation, BinaryOperator, BitCount, Builtin, Category, Constant, Conversion, Expr, ExprKind,
    Modification, Order, UnaryOperator,
};
pub use files::{Files, KnownFiles, MemoryFiles};
pub use ids::{DeclId, EnumerationId, ExprId, LabelId, RecordId, StmtId, StringId, TypeId};
pub use options::{DataModel, Edition, Options, Standard, StandardError};
pub use place::Place;
pub use presumed::{LineMark, LineMarks};
pub use reader::{Reading, add_bytes, add_bytes_beside, read};
pub use statement::{Assembly, Case, Label, Stmt, StmtKind};
pub use types::{BitField, Enumeration, Field, FunctionType, Integer, Length, Qualifiers, Record, Type, TypeKind};
pub use unit::{StringLiteral, Unit};
