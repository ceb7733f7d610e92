//! Functions of the compiler that look at the bits of a number.
//!
//! In: an operand. Out: arithmetic in 64 bits without a sign, without branches: private registers, which no thread waits for.

use super::ask::Done;
use super::builder::{Builder, Typed};
use crate::supported::Reason;
use crate::tree::{BinaryOperator as Operator, BitCount, ExprId, Place};
use cssame_ir::{Arithmetic, Instruction, Operand, ScalarType, UnaryOperator, Value};

const WIDE: ScalarType = ScalarType::UnsignedLong;

/// Every second bit, pair and group of four; the lowest bit of every byte.
const ONES: u64 = 0x5555_5555_5555_5555;
const PAIRS: u64 = 0x3333_3333_3333_3333;
const FOURS: u64 = 0x0f0f_0f0f_0f0f_0f0f;
const BYTES: u64 = 0x0101_0101_0101_0101;
/// Every second byte, and pair of bytes.
const EVEN_BYTES: u64 = 0x00ff_00ff_00ff_00ff;
const EVEN_PAIRS: u64 = 0x0000_ffff_0000_ffff;

impl Builder<'_, '_> {
    /// A question about the bits of an operand. What has no answer for zero gives some number there.
    pub fn bit_count(&mut self, count: BitCount, operand: ExprId, expr: ExprId) -> Done<Typed> {
        let place = self.expr(expr).place;
        let ty = self.scalar(operand)?;
        let Some(integer) = ty.integer() else { return self.refuse(Reason::Builtin("counting of bits"), place) };
        let value = Typed { operand: self.value_as(operand, ty)?, ty };
        let bits = match count {
            BitCount::Ones | BitCount::Parity => self.without_sign(value, place)?,
            BitCount::TrailingZeros => {
                let value = self.without_sign(value, place)?;
                let below = self.word(Operator::Subtract, value, 1, place)?;
                let complement = self.complement(value, place);
                self.words(Operator::And, complement, below, place)?
            }
            BitCount::FirstSet => {
                let value = self.without_sign(value, place)?;
                let below = self.word(Operator::Subtract, value, 1, place)?;
                let up_to = self.words(Operator::ExclusiveOr, value, below, place)?;
                // For zero that is all bits.
                let is_some = self.computed(Operator::NotEqual, WIDE, value, word(0), place)?;
                let is_some = self.converted(is_some, WIDE, place.span);
                let mask = self.words(Operator::Subtract, word(0).operand, is_some, place)?;
                self.words(Operator::And, up_to, mask, place)?
            }
            BitCount::LeadingZeros => {
                let value = self.without_sign(value, place)?;
                self.smeared(value, place)?
            }
            BitCount::RedundantSign => {
                let long = self.converted(value, ScalarType::Long, place.span);
                let sign = self.computed(Operator::ShiftRight, ScalarType::Long, long, Typed::int(63), place)?;
                let other = self.computed(Operator::ExclusiveOr, ScalarType::Long, long, sign, place)?;
                let other = self.converted(other, WIDE, place.span);
                self.smeared(other, place)?
            }
        };
        let ones = self.ones(bits, place)?;
        let ones = Typed { operand: self.converted(ones, ScalarType::Int, place.span), ty: ScalarType::Int };
        let width = Typed::int(integer.bits as i32);
        match count {
            BitCount::Ones | BitCount::TrailingZeros | BitCount::FirstSet => Ok(ones),
            BitCount::Parity => self.computed(Operator::And, ScalarType::Int, ones.operand, Typed::int(1), place),
            BitCount::LeadingZeros => self.computed(Operator::Subtract, ScalarType::Int, width.operand, ones, place),
            BitCount::RedundantSign => {
                let width = Typed::int(integer.bits as i32 - 1);
                self.computed(Operator::Subtract, ScalarType::Int, width.operand, ones, place)
            }
        }
    }

    /// The bytes the other way round.
    pub fn byte_swap(&mut self, operand: ExprId, expr: ExprId) -> Done<Typed> {
        let (ty, place) = (self.scalar(expr)?, self.expr(expr).place);
        let Some(integer) = ty.integer() else { return self.refuse(Reason::Builtin("__builtin_bswap"), place) };
        let value = Typed { operand: self.value_as(operand, ty)?, ty };
        let mut value = self.without_sign(value, place)?;
        for (count, mask) in [(8, EVEN_BYTES), (16, EVEN_PAIRS), (32, u64::from(u32::MAX))] {
            let low = self.word(Operator::And, value, mask, place)?;
            let low = self.word(Operator::ShiftLeft, low, count, place)?;
            let high = self.word(Operator::ShiftRight, value, count, place)?;
            let high = self.word(Operator::And, high, mask, place)?;
            value = self.words(Operator::Or, low, high, place)?;
        }
        let value = match 64 - integer.bits {
            0 => value,
            unused => self.word(Operator::ShiftRight, value, u64::from(unused), place)?,
        };
        Ok(Typed { operand: self.converted(Typed { operand: value, ty: WIDE }, ty, place.span), ty })
    }

    /// The bits of a value, and zeros before them.
    fn without_sign(&mut self, value: Typed, place: Place) -> Done<Operand> {
        let ty = match value.ty {
            ScalarType::Long => WIDE,
            ScalarType::Int => ScalarType::UnsignedInt,
            ScalarType::Short => ScalarType::UnsignedShort,
            ScalarType::SignedChar => ScalarType::UnsignedChar,
            ty => ty,
        };
        let value = Typed { operand: self.converted(value, ty, place.span), ty };
        Ok(self.converted(value, WIDE, place.span))
    }

    /// The bits up to the highest one that is set, all set.
    fn smeared(&mut self, value: Operand, place: Place) -> Done<Operand> {
        let mut value = value;
        for count in [1, 2, 4, 8, 16, 32] {
            let moved = self.word(Operator::ShiftRight, value, count, place)?;
            value = self.words(Operator::Or, value, moved, place)?;
        }
        Ok(value)
    }

    /// The number of bits that are set: of each pair, of each four, of each byte, and the sum of these.
    fn ones(&mut self, value: Operand, place: Place) -> Done<Typed> {
        let odd = self.word(Operator::ShiftRight, value, 1, place)?;
        let odd = self.word(Operator::And, odd, ONES, place)?;
        let pairs = self.words(Operator::Subtract, value, odd, place)?;
        let even = self.word(Operator::And, pairs, PAIRS, place)?;
        let odd = self.word(Operator::ShiftRight, pairs, 2, place)?;
        let odd = self.word(Operator::And, odd, PAIRS, place)?;
        let fours = self.words(Operator::Add, even, odd, place)?;
        let odd = self.word(Operator::ShiftRight, fours, 4, place)?;
        let bytes = self.words(Operator::Add, fours, odd, place)?;
        let bytes = self.word(Operator::And, bytes, FOURS, place)?;
        let sum = self.word(Operator::Multiply, bytes, BYTES, place)?;
        Ok(Typed { operand: self.word(Operator::ShiftRight, sum, 56, place)?, ty: WIDE })
    }

    fn complement(&mut self, operand: Operand, place: Place) -> Operand {
        let dest = self.temporary(WIDE, place.span);
        let op = UnaryOperator::Complement(Arithmetic::UnsignedLong);
        self.emit(Instruction::Unary { dest, op, operand }, place.span);
        Operand::Register(dest)
    }

    fn word(&mut self, operator: Operator, left: Operand, right: u64, place: Place) -> Done<Operand> {
        Ok(self.computed(operator, WIDE, left, word(right), place)?.operand)
    }

    fn words(&mut self, operator: Operator, left: Operand, right: Operand, place: Place) -> Done<Operand> {
        Ok(self.computed(operator, WIDE, left, Typed { operand: right, ty: WIDE }, place)?.operand)
    }
}

fn word(value: u64) -> Typed {
    Typed::constant(Value::Integer(WIDE, value as i64))
}
