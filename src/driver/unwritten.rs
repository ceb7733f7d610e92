//! What only the target in Rust with latches writes: the constructs that only programs in C have.
//!
//! In: a program. Out: the first function with such a construct, or that there is none.
//!
//! Java has no pointers, no unsigned integers and not all of the library of C; tests that run free have no pointers to locals. So a
//! program with any of them has no such package.

use super::DriveError;
use cssame_ir::{
    AtomicOperation, Base, Function, Instruction, LeafKind, Line, Place, Program, RegisterType, ScalarType, Terminator,
};

/// Refuses a program that these targets do not write.
pub(super) fn check(program: &Program) -> Result<(), DriveError> {
    let cells = program.leaves.iter().any(|leaf| matches!(leaf.kind, LeafKind::Data(ty) if is_of_c(ty)));
    if program.ends_with_main || cells || program.functions.iter().any(has_construct_of_c) {
        return Err(DriveError::OfC);
    }
    Ok(())
}

fn has_construct_of_c(function: &Function) -> bool {
    let registers = function.registers.iter().any(|register| match register.ty {
        RegisterType::Scalar(ty) => is_of_c(ty),
        RegisterType::Reference => false,
    });
    let blocks = function.blocks.iter().any(|block| {
        matches!(block.terminator, Terminator::End(_)) || block.instructions.iter().any(is_instruction_of_c)
    });
    registers || blocks
}

fn is_instruction_of_c(instruction: &Instruction) -> bool {
    let is_pointer = |place: &Place| matches!(place.base, Base::Pointer(_));
    match instruction {
        Instruction::Load { place, .. } | Instruction::Store { place, .. } | Instruction::Address { place, .. } => {
            is_pointer(place)
        }
        Instruction::Atomic { op, place, .. } => {
            is_pointer(place)
                || matches!(op, AtomicOperation::CompareExchange { .. } | AtomicOperation::FetchModify(..))
        }
        Instruction::Synchronise(operation) => operation.places().any(is_pointer),
        Instruction::Print { line, .. } => *line != Line::Spaced,
        Instruction::JoinThread { dest, .. } => dest.is_some(),
        Instruction::CurrentThread { .. } | Instruction::Free { .. } => true,
        _ => false,
    }
}

fn is_of_c(ty: ScalarType) -> bool {
    use ScalarType::{Bool, Double, Int, Long, String, Thread};
    !matches!(ty, Int | Long | Bool | Double | String | Thread)
}
