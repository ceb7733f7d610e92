//! Expressions, node by node.

use super::{Copier, decl, expr, stmt};
use crate::tree::expression::{
    AddressBase, AtomicOperation, BinaryOperator, Category, Constant, Conversion, Expr, ExprKind, Modification, Order,
    UnaryOperator,
};
use crate::tree::ids::ExprId;
use rucc_ast::{BinaryOp, UnaryOp};
use rucc_base::float::{Float, Format};
use rucc_sema::{AtomicOp, Base, Const, ExprKind as Read, ExprList, Ordering, Rmw};

impl Copier<'_> {
    pub(super) fn expression(&mut self, id: rucc_sema::ExprId) -> Expr {
        let read = self.input.tree()[id];
        let category = match read.category {
            rucc_sema::Category::Rvalue => Category::Value,
            rucc_sema::Category::Lvalue => Category::Lvalue,
            rucc_sema::Category::Bitfield => Category::BitField,
            rucc_sema::Category::Function => Category::Function,
        };
        let place = self.input.place(self.input.tree().expr_span(id));
        Expr { kind: self.expression_kind(read.kind), ty: self.types.get(read.ty), category, place }
    }

    pub(super) fn operands(&self, list: ExprList) -> Box<[ExprId]> {
        self.input.tree()[list].iter().map(|&id| expr(id)).collect()
    }

    fn expression_kind(&mut self, read: Read) -> ExprKind {
        match read {
            Read::Error => ExprKind::Error,
            Read::Const(id) => ExprKind::Constant(self.constant(self.input.tree()[id])),
            Read::Str(id) => ExprKind::String(self.string(id)),
            Read::Decl(id) => ExprKind::Name(decl(id)),
            Read::Member { base, field } => ExprKind::Member { base: expr(base), field },
            Read::Subscript { base, index } => ExprKind::Subscript { base: expr(base), index: expr(index) },
            Read::Call { callee, args } => ExprKind::Call { callee: expr(callee), arguments: self.operands(args) },
            Read::Unary { op, operand } => ExprKind::Unary { operator: unary(op), operand: expr(operand) },
            Read::Binary { op, lhs, rhs } => {
                ExprKind::Binary { operator: binary(op), left: expr(lhs), right: expr(rhs) }
            }
            Read::Assign { op, computation, lhs, rhs } => ExprKind::Assign {
                operator: op.map(binary),
                computation: self.types.get(computation),
                target: expr(lhs),
                value: expr(rhs),
            },
            Read::Cond { cond, then, otherwise } => {
                ExprKind::Conditional { condition: expr(cond), then: expr(then), otherwise: expr(otherwise) }
            }
            Read::Comma { lhs, rhs } => ExprKind::Comma { first: expr(lhs), second: expr(rhs) },
            Read::Cast(operand) => ExprKind::Cast(expr(operand)),
            Read::Convert { kind, operand } => {
                ExprKind::Convert { conversion: conversion(kind), operand: expr(operand) }
            }
            Read::CompoundLiteral(id) => ExprKind::CompoundLiteral(decl(id)),
            Read::StmtExpr(id) => ExprKind::StatementExpression(stmt(id)),
            Read::LabelAddr(id) => ExprKind::LabelAddress(self.label(id)),
            Read::Atomic { op, order: ordering, args, .. } => {
                ExprKind::Atomic { operation: atomic(op), order: order(ordering), operands: self.operands(args) }
            }
            other => self.builtin(other),
        }
    }

    pub(super) fn constant(&mut self, read: Const) -> Constant {
        match read {
            Const::Int(value) => Constant::Integer(value),
            Const::Float(value) => Constant::Floating(nearest(value)),
            Const::Address(address) => {
                let base = match address.base {
                    Base::Decl(id) => AddressBase::Declaration(decl(id)),
                    Base::Str(id) => AddressBase::String(self.string(id)),
                    Base::Label(id) => AddressBase::Label(self.label(id)),
                    Base::Absolute => AddressBase::Nothing,
                };
                Constant::Address { base, offset: address.offset }
            }
            Const::Complex { .. } | Const::ComplexInt { .. } | Const::Apart { .. } => Constant::Other,
        }
    }
}

/// The nearest `double`.
fn nearest(value: Float) -> f64 {
    let bits = value.to_bits();
    let wide = |mantissa: u32, explicit: bool| {
        let exponent = ((bits >> mantissa) & 0x7fff) as i32;
        let digits = bits & ((1_u128 << mantissa) - 1);
        let hidden = if explicit || exponent == 0 { 0 } else { 1_u128 << mantissa };
        let point = mantissa as i32 - i32::from(explicit);
        (digits | hidden) as f64 * 2_f64.powi(exponent.max(1) - 0x3fff - point)
    };
    let magnitude = match value.format() {
        Format::Single => return f64::from(f32::from_bits(bits as u32)),
        Format::Double => return f64::from_bits(bits as u64),
        _ if value.is_infinite() => f64::INFINITY,
        _ if !value.is_finite() => f64::NAN,
        Format::X87Extended => wide(64, true),
        Format::Quad => wide(112, false),
        // Of types that no later pass reads.
        _ => f64::NAN,
    };
    if value.is_negative() { -magnitude } else { magnitude }
}

fn unary(op: UnaryOp) -> UnaryOperator {
    match op {
        UnaryOp::Plus => UnaryOperator::Plus,
        UnaryOp::Minus => UnaryOperator::Minus,
        UnaryOp::Not => UnaryOperator::Not,
        UnaryOp::BitNot => UnaryOperator::Complement,
        UnaryOp::Deref => UnaryOperator::Dereference,
        UnaryOp::AddrOf => UnaryOperator::AddressOf,
        UnaryOp::PreInc => UnaryOperator::PreIncrement,
        UnaryOp::PreDec => UnaryOperator::PreDecrement,
        UnaryOp::PostInc => UnaryOperator::PostIncrement,
        UnaryOp::PostDec => UnaryOperator::PostDecrement,
        UnaryOp::Real | UnaryOp::Imag => UnaryOperator::ComplexPart,
    }
}

pub(super) fn binary(op: BinaryOp) -> BinaryOperator {
    match op {
        BinaryOp::Mul => BinaryOperator::Multiply,
        BinaryOp::Div => BinaryOperator::Divide,
        BinaryOp::Rem => BinaryOperator::Remainder,
        BinaryOp::Add => BinaryOperator::Add,
        BinaryOp::Sub => BinaryOperator::Subtract,
        BinaryOp::Shl => BinaryOperator::ShiftLeft,
        BinaryOp::Shr => BinaryOperator::ShiftRight,
        BinaryOp::Lt => BinaryOperator::Less,
        BinaryOp::Gt => BinaryOperator::Greater,
        BinaryOp::Le => BinaryOperator::LessEqual,
        BinaryOp::Ge => BinaryOperator::GreaterEqual,
        BinaryOp::Eq => BinaryOperator::Equal,
        BinaryOp::Ne => BinaryOperator::NotEqual,
        BinaryOp::BitAnd => BinaryOperator::And,
        BinaryOp::BitXor => BinaryOperator::ExclusiveOr,
        BinaryOp::BitOr => BinaryOperator::Or,
        BinaryOp::LogAnd => BinaryOperator::LogicalAnd,
        BinaryOp::LogOr => BinaryOperator::LogicalOr,
    }
}

fn conversion(read: rucc_sema::Conversion) -> Conversion {
    use rucc_sema::Conversion as Read;
    match read {
        Read::Lvalue => Conversion::Read,
        Read::ArrayDecay => Conversion::ArrayToPointer,
        Read::FunctionDecay => Conversion::FunctionToPointer,
        Read::Arithmetic => Conversion::Arithmetic,
        Read::Pointer => Conversion::Pointer,
        Read::Bool => Conversion::Truth,
        Read::NullPointer => Conversion::NullPointer,
        Read::Void => Conversion::Discard,
        Read::Broadcast | Read::Hardbool => Conversion::Other,
    }
}

fn atomic(op: AtomicOp) -> AtomicOperation {
    match op {
        AtomicOp::Load => AtomicOperation::Load,
        AtomicOp::LoadInto => AtomicOperation::LoadInto,
        AtomicOp::Store => AtomicOperation::Store,
        AtomicOp::Fence => AtomicOperation::Fence,
        AtomicOp::SignalFence => AtomicOperation::SignalFence,
        AtomicOp::CompareExchange => AtomicOperation::CompareExchange,
        AtomicOp::SwapBool => AtomicOperation::CompareAndSwap,
        AtomicOp::SwapValue => AtomicOperation::CompareAndSwapValue,
        AtomicOp::Exchange => AtomicOperation::Exchange,
        AtomicOp::ExchangeInto => AtomicOperation::ExchangeInto,
        AtomicOp::TestAndSet => AtomicOperation::TestAndSet,
        AtomicOp::Fetch(what) => AtomicOperation::FetchThen(modification(what)),
        AtomicOp::Update(what) => AtomicOperation::ThenFetch(modification(what)),
    }
}

fn modification(what: Rmw) -> Modification {
    match what {
        Rmw::Add => Modification::Add,
        Rmw::Sub => Modification::Subtract,
        Rmw::And => Modification::And,
        Rmw::Nand => Modification::NotAnd,
        Rmw::Or => Modification::Or,
        Rmw::Xor => Modification::ExclusiveOr,
    }
}

fn order(read: Ordering) -> Order {
    match read {
        Ordering::Relaxed => Order::Relaxed,
        Ordering::Acquire => Order::Acquire,
        Ordering::Release => Order::Release,
        Ordering::AcqRel => Order::AcquireRelease,
        Ordering::SeqCst => Order::SequentiallyConsistent,
        Ordering::Full => Order::Full,
    }
}
