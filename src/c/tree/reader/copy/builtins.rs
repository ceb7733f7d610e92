//! Functions of the compiler that the front end makes nodes of.

use super::expressions::binary;
use super::{Copier, expr};
use crate::tree::expression::{BitCount, Builtin, ExprKind};
use rucc_ast::BinaryOp;
use rucc_sema::{BitCount as ReadCount, ExprKind as Read, OverflowOp};

impl Copier<'_> {
    /// The node of a function of the compiler.
    pub(super) fn builtin(&mut self, read: Read) -> ExprKind {
        let none = || Box::from([]);
        let (builtin, operands) = match read {
            // The hint is a value that has no effect, mostly a constant.
            Read::Expect { value, .. } => (Builtin::Expect, Box::from([expr(value)])),
            Read::Unreachable => (Builtin::Unreachable, none()),
            Read::Trap => (Builtin::Trap, none()),
            Read::Prefetch { address, .. } => (Builtin::Prefetch, Box::from([expr(address)])),
            Read::ConstantP { value } => (Builtin::ConstantProbe, Box::from([expr(value)])),
            Read::Alloca { size } => (Builtin::Alloca, Box::from([expr(size)])),
            Read::Abs { operand } => (Builtin::AbsoluteValue, Box::from([expr(operand)])),
            Read::ByteSwap { operand } => (Builtin::ByteSwap, Box::from([expr(operand)])),
            Read::BitCount { operand, count: what } => (Builtin::BitCount(count(what)), Box::from([expr(operand)])),
            Read::Overflow { op, at, args, stores } => {
                let operator = match op {
                    OverflowOp::Add => BinaryOp::Add,
                    OverflowOp::Sub => BinaryOp::Sub,
                    OverflowOp::Mul => BinaryOp::Mul,
                };
                let builtin = Builtin::Overflow { operator: binary(operator), exact: self.types.get(at), stores };
                (builtin, self.operands(args))
            }
            Read::VaStart { list } => (Builtin::VariadicStart, Box::from([expr(list)])),
            Read::VaArg { list } => (Builtin::VariadicNext, Box::from([expr(list)])),
            Read::VaEnd { list } => (Builtin::VariadicEnd, Box::from([expr(list)])),
            Read::VaCopy { dst, src } => (Builtin::VariadicCopy, Box::from([expr(dst), expr(src)])),
            other => (Builtin::Other(name(&other)), none()),
        };
        ExprKind::Builtin { builtin, operands }
    }
}

fn count(what: ReadCount) -> BitCount {
    match what {
        ReadCount::Leading => BitCount::LeadingZeros,
        ReadCount::Trailing => BitCount::TrailingZeros,
        ReadCount::Ones => BitCount::Ones,
        ReadCount::Parity => BitCount::Parity,
        ReadCount::FirstSet => BitCount::FirstSet,
        ReadCount::RedundantSign => BitCount::RedundantSign,
    }
}

/// What the function is called that no later pass reads.
fn name(read: &Read) -> &'static str {
    match read {
        Read::Classify { .. } | Read::FpClassify { .. } | Read::Sign { .. } => "floating-point classification",
        Read::ConvertVector { .. } | Read::Elementwise { .. } | Read::Shuffle { .. } | Read::ShuffleVector { .. } => {
            "vector operation"
        }
        Read::Complex { .. } => "complex number",
        Read::FrameAddress { .. } | Read::SpEntry | Read::ApplyArgs | Read::Apply { .. } => "address of a stack frame",
        Read::ThreadPointer => "__builtin_thread_pointer",
        Read::TimeStamp { .. } | Read::Eflags { .. } | Read::XState { .. } | Read::CpuModel { .. } => {
            "instruction of the processor"
        }
        Read::ObjectSize { .. } => "__builtin_object_size",
        Read::Jump { .. } => "setjmp",
        _ => "function of the compiler",
    }
}
