//! Atomic operations on one cell.
//!
//! In: nothing. Out: the kinds of read-modify-writes, with their operands and their names in the text.

use super::place::Operand;
use super::{Arithmetic, ScalarType};

/// An atomic read and write of one cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AtomicOperation {
    /// Writes `new` where the cell holds `old`; the result says whether it did.
    CompareAndSwap {
        /// What the cell must hold.
        old: Operand,
        /// What it then gets.
        new: Operand,
        /// Whether the cell holds a double, which compares by value.
        double: bool,
    },
    /// Writes the operand; the result is what the cell held.
    Swap(Operand),
    /// Adds the operand; the result is what the cell held.
    FetchAdd(Operand, Arithmetic),
    /// Writes `new` where the cell holds the bits of `old`; the result is what the cell held.
    CompareExchange {
        /// What the cell must hold.
        old: Operand,
        /// What it then gets.
        new: Operand,
    },
    /// Computes with the operand in that type of integers, and writes; the result is what the cell held.
    FetchModify(Modification, Operand, ScalarType),
}

/// What a read-modify-write of an integer computes from what is there and its operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Modification {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `&`
    And,
    /// `|`
    Or,
    /// `^`
    ExclusiveOr,
    /// `~(a & b)`
    NotAnd,
}

impl Modification {
    /// The name of the operation.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Modification::Add => "fetch_add",
            Modification::Subtract => "fetch_sub",
            Modification::And => "fetch_and",
            Modification::Or => "fetch_or",
            Modification::ExclusiveOr => "fetch_xor",
            Modification::NotAnd => "fetch_nand",
        }
    }
}

impl AtomicOperation {
    /// Its name in the text.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            AtomicOperation::CompareAndSwap { .. } | AtomicOperation::CompareExchange { .. } => "cas",
            AtomicOperation::Swap(_) => "swap",
            AtomicOperation::FetchAdd(..) => "fetch_add",
            AtomicOperation::FetchModify(modification, ..) => modification.word(),
        }
    }

    /// Its operands.
    pub fn operands(&self) -> impl Iterator<Item = Operand> + use<> {
        let second = match *self {
            AtomicOperation::CompareAndSwap { new, .. } | AtomicOperation::CompareExchange { new, .. } => Some(new),
            AtomicOperation::Swap(_) | AtomicOperation::FetchAdd(..) | AtomicOperation::FetchModify(..) => None,
        };
        std::iter::once(self.value()).chain(second)
    }

    /// An operand of the type of the cell.
    #[must_use]
    pub fn value(&self) -> Operand {
        match *self {
            AtomicOperation::CompareAndSwap { old, .. } | AtomicOperation::CompareExchange { old, .. } => old,
            AtomicOperation::Swap(value)
            | AtomicOperation::FetchAdd(value, _)
            | AtomicOperation::FetchModify(_, value, _) => value,
        }
    }

    /// Whether it may leave the cell as it is.
    #[must_use]
    pub fn may_fail(&self) -> bool {
        matches!(self, AtomicOperation::CompareAndSwap { .. } | AtomicOperation::CompareExchange { .. })
    }
}
