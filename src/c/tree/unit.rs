//! One translation unit: its arenas, and questions that its readers share.

use super::declaration::Decl;
use super::expression::{Constant, Conversion, Expr, ExprKind, UnaryOperator};
use super::ids::{DeclId, EnumerationId, ExprId, LabelId, RecordId, StmtId, StringId, TypeId};
use super::place::Place;
use super::statement::{Label, Stmt};
use super::types::{Enumeration, FunctionType, Record, Type, TypeKind};
use cssame_source::FileId;
use cssame_source::arena::Arena;
use rustc_hash::FxHashMap;

/// A translation unit without errors.
///
/// The arenas also hold what is never evaluated, such as the operands of `sizeof`: start from the declarations.
#[derive(Clone, Debug, Default)]
pub struct Unit {
    /// The main file.
    pub file: FileId,
    /// Types.
    pub types: Arena<TypeId, Type>,
    /// Structures and unions.
    pub records: Arena<RecordId, Record>,
    /// Enumerations.
    pub enumerations: Arena<EnumerationId, Enumeration>,
    /// Objects and functions.
    pub declarations: Arena<DeclId, Decl>,
    /// Expressions.
    pub expressions: Arena<ExprId, Expr>,
    /// Statements.
    pub statements: Arena<StmtId, Stmt>,
    /// String literals.
    pub strings: Arena<StringId, StringLiteral>,
    /// Labels.
    pub labels: Arena<LabelId, Label>,
    /// The values of expressions that are constant, but no constant as written: of integer type, or of what an object has before
    /// the program runs. [`Unit::constant`] asks both.
    pub constants: FxHashMap<ExprId, Constant>,
    /// Objects and functions that are declared outside of functions, in order.
    pub globals: Vec<DeclId>,
    /// Assembly outside of functions.
    pub assembly: Vec<Place>,
    /// The first word of each `#pragma`, and where it stands.
    pub pragmas: Vec<(Box<str>, Place)>,
    /// Whether arithmetic on types with a sign wraps ([`Options::wraps`](super::Options::wraps)).
    pub wraps: bool,
}

/// A string literal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StringLiteral {
    /// The bytes, with the zero behind them.
    pub bytes: Box<[u8]>,
    /// Bytes of a character: 1, 2 or 4.
    pub width: u32,
}

impl Unit {
    /// The type of an expression.
    #[must_use]
    pub fn type_of(&self, expr: ExprId) -> &Type {
        &self.types[self.expressions[expr].ty]
    }

    /// What a pointer points at.
    #[must_use]
    pub fn pointee(&self, ty: TypeId) -> Option<TypeId> {
        match self.types[ty].kind {
            TypeKind::Pointer(target) => Some(target),
            _ => None,
        }
    }

    /// The type of a function, or of the function that a pointer points at.
    #[must_use]
    pub fn function_type(&self, ty: TypeId) -> Option<&FunctionType> {
        match &self.types[ty].kind {
            TypeKind::Function(function) => Some(function),
            TypeKind::Pointer(target) => match &self.types[*target].kind {
                TypeKind::Function(function) => Some(function),
                _ => None,
            },
            _ => None,
        }
    }

    /// The function that a call calls by its name.
    #[must_use]
    pub fn called(&self, callee: ExprId) -> Option<DeclId> {
        let mut at = callee;
        loop {
            at = match &self.expressions[at].kind {
                ExprKind::Name(decl) => return Some(*decl),
                ExprKind::Convert { conversion: Conversion::FunctionToPointer, operand } => *operand,
                ExprKind::Unary { operator: UnaryOperator::AddressOf | UnaryOperator::Dereference, operand } => {
                    *operand
                }
                _ => return None,
            };
        }
    }

    /// The value of an expression, if it is constant.
    #[must_use]
    pub fn constant(&self, expr: ExprId) -> Option<Constant> {
        match self.expressions[expr].kind {
            ExprKind::Constant(constant) => Some(constant),
            // What is converted may be `(void *)0`, which is no constant as written.
            ExprKind::Convert { operand, conversion: Conversion::NullPointer } => {
                self.constants.get(&expr).copied().or_else(|| self.constant(operand))
            }
            _ => self.constants.get(&expr).copied(),
        }
    }

    /// The value of an expression of integer type, if it is constant.
    #[must_use]
    pub fn integer(&self, expr: ExprId) -> Option<i128> {
        match self.constant(expr)? {
            Constant::Integer(value) => Some(value),
            _ => None,
        }
    }
}
