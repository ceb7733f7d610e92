//! Numbers of index values, by their computation: two indices with one number have one value.
//!
//! **Input**: constants, parameters, results of instructions, and operators on them. **Output**: [`Values`], which numbers each
//! such term once, together with the leaf values that are recomputed while a function runs ([`Values::roots`]).
//!
//! **Algorithm** (value numbering): constants are folded, and a sum with a constant is kept as a value and an offset, so that
//! `i + 1` is known to differ from `i`. A term of a callee becomes a term of its caller if it contains only parameters.
//!
//! **Soundness and limits**: equal numbers mean equal values as long as no root is recomputed. Unequal numbers mean nothing,
//! except through [`Values::differ`]. Other laws of arithmetic are not known.

use cssame_concurrency::value::{binary, unary};
use cssame_ir::{Arithmetic, BinaryOperator, BlockId, FunctionId, RegisterId, SymbolId, UnaryOperator};
use cssame_source::arena::id;
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

/// Terms that are deeper than that are not carried to a caller.
const MAX_DEPTH: u32 = 32;

id! {
    /// A value that an index may have.
    ValueId
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Value {
    /// These bits.
    Constant(i64),
    /// What a variable holds that nobody writes.
    Fixed(SymbolId),
    /// What a function gets as its argument of that number.
    Parameter(FunctionId, u32),
    /// What an instruction gives that is not computed from values: a load, a call, a choice.
    Made(FunctionId, BlockId, u32),
    /// What a register holds where ways meet on which it got several values.
    Merged(FunctionId, BlockId, RegisterId),
    /// A value and a constant.
    Sum(Arithmetic, ValueId, i64),
    /// An operator on a value.
    Unary(UnaryOperator, ValueId),
    /// An operator on two values.
    Binary(BinaryOperator, ValueId, ValueId),
}

/// All values.
#[derive(Clone, Debug, Default)]
pub(super) struct Values {
    set: IndexSet<Value, FxBuildHasher>,
    /// By value: parameters, what instructions make, and what is merged, sorted.
    roots: Vec<SmallVec<[ValueId; 2]>>,
}

impl Values {
    /// The number of a value.
    pub fn number(&mut self, value: Value) -> ValueId {
        let (index, is_new) = self.set.insert_full(value);
        let id = ValueId::new(index);
        if is_new {
            let mut roots = match value {
                Value::Constant(_) | Value::Fixed(_) => SmallVec::new(),
                Value::Parameter(..) | Value::Made(..) | Value::Merged(..) => SmallVec::from_slice(&[id]),
                Value::Sum(_, of, _) | Value::Unary(_, of) => self.roots[of.index()].clone(),
                Value::Binary(_, left, right) => {
                    let mut both = self.roots[left.index()].clone();
                    both.extend_from_slice(&self.roots[right.index()]);
                    both
                }
            };
            roots.sort_unstable();
            roots.dedup();
            self.roots.push(roots);
        }
        id
    }

    /// What a number stands for.
    pub fn get(&self, id: ValueId) -> Option<Value> {
        self.set.get_index(id.index()).copied()
    }

    /// The values that it is computed from and that are no constants.
    pub fn roots(&self, id: ValueId) -> &[ValueId] {
        &self.roots[id.index()]
    }

    fn constant(&self, id: ValueId) -> Option<i64> {
        match self.get(id) {
            Some(Value::Constant(bits)) => Some(bits),
            _ => None,
        }
    }

    /// `op operand`
    pub fn unary(&mut self, op: UnaryOperator, operand: ValueId) -> ValueId {
        match self.constant(operand).and_then(|bits| unary(op, bits)) {
            Some(bits) => self.number(Value::Constant(bits)),
            None => self.number(Value::Unary(op, operand)),
        }
    }

    /// `left op right`
    pub fn binary(&mut self, op: BinaryOperator, left: ValueId, right: ValueId) -> ValueId {
        let (first, second) = (self.constant(left), self.constant(right));
        if let Some(bits) = first.zip(second).and_then(|(first, second)| binary(op, first, second)) {
            return self.number(Value::Constant(bits));
        }
        match (op, first, second) {
            (BinaryOperator::Add(arithmetic), None, Some(offset)) => self.sum(arithmetic, left, offset),
            (BinaryOperator::Add(arithmetic), Some(offset), None) => self.sum(arithmetic, right, offset),
            (BinaryOperator::Subtract(arithmetic), None, Some(offset)) => {
                self.sum(arithmetic, left, offset.wrapping_neg())
            }
            _ => self.number(Value::Binary(op, left, right)),
        }
    }

    fn sum(&mut self, arithmetic: Arithmetic, of: ValueId, offset: i64) -> ValueId {
        let (of, offset) = match self.get(of) {
            Some(Value::Sum(same, inner, before)) if same == arithmetic => (inner, before.wrapping_add(offset)),
            _ => (of, offset),
        };
        let offset = if arithmetic == Arithmetic::Int { i64::from(offset as i32) } else { offset };
        if offset == 0 { of } else { self.number(Value::Sum(arithmetic, of, offset)) }
    }

    /// Whether the two are never equal.
    pub fn differ(&self, a: ValueId, b: ValueId) -> bool {
        let parts = |id: ValueId| match self.get(id) {
            Some(Value::Sum(arithmetic, of, offset)) => (of, Some(arithmetic), offset),
            _ => (id, None, 0),
        };
        let (one, other) = (parts(a), parts(b));
        let comparable = one.1.is_none() || other.1.is_none() || one.1 == other.1;
        match (self.constant(a), self.constant(b)) {
            (Some(first), Some(second)) => first != second,
            _ => one.0 == other.0 && comparable && one.2 != other.2,
        }
    }

    /// The value with arguments in the place of the parameters of a callee; nothing if more of the callee stands in it.
    pub fn substitute(&mut self, id: ValueId, callee: FunctionId, arguments: &[Option<ValueId>]) -> Option<ValueId> {
        self.substitute_within(id, (callee, arguments), MAX_DEPTH)
    }

    fn substitute_within(&mut self, id: ValueId, call: (FunctionId, &[Option<ValueId>]), fuel: u32) -> Option<ValueId> {
        let fuel = fuel.checked_sub(1)?;
        match self.get(id)? {
            Value::Constant(_) | Value::Fixed(_) => Some(id),
            Value::Parameter(function, position) => {
                call.1.get(position as usize).copied().flatten().filter(|_| function == call.0)
            }
            Value::Made(..) | Value::Merged(..) => None,
            Value::Sum(arithmetic, of, offset) => {
                let of = self.substitute_within(of, call, fuel)?;
                let offset = self.number(Value::Constant(offset));
                Some(self.binary(BinaryOperator::Add(arithmetic), of, offset))
            }
            Value::Unary(op, of) => {
                let of = self.substitute_within(of, call, fuel)?;
                Some(self.unary(op, of))
            }
            Value::Binary(op, left, right) => {
                let left = self.substitute_within(left, call, fuel)?;
                let right = self.substitute_within(right, call, fuel)?;
                Some(self.binary(op, left, right))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADD: BinaryOperator = BinaryOperator::Add(Arithmetic::Int);

    #[test]
    fn equal_terms_have_one_number_and_offsets_tell_values_apart() {
        let mut values = Values::default();
        let i = values.number(Value::Parameter(FunctionId(0), 0));
        let j = values.number(Value::Parameter(FunctionId(0), 1));
        let [one, two] = [1, 2].map(|bits| values.number(Value::Constant(bits)));
        let next = values.binary(ADD, i, one);
        assert_eq!(values.binary(ADD, one, i), next);
        assert_eq!(values.binary(BinaryOperator::Subtract(Arithmetic::Int), next, one), i);
        assert_eq!(values.binary(ADD, next, one), values.binary(ADD, i, two));
        assert!(values.differ(i, next) && values.differ(one, two));
        assert!(!values.differ(i, j) && !values.differ(i, one) && !values.differ(i, i));
        // The remainders may be equal.
        let remainder = BinaryOperator::Remainder(Arithmetic::Int);
        let (a, b) = (values.binary(remainder, i, two), values.binary(remainder, next, two));
        assert!(a != b && !values.differ(a, b));
    }

    #[test]
    fn a_term_of_a_callee_is_one_of_its_caller_where_only_parameters_stand_in_it() {
        let mut values = Values::default();
        let (caller, callee) = (FunctionId(0), FunctionId(1));
        let (own, two) = (values.number(Value::Made(caller, BlockId(0), 3)), values.number(Value::Constant(2)));
        let parameter = values.number(Value::Parameter(callee, 0));
        let index = values.binary(ADD, parameter, two);
        let expected = values.binary(ADD, own, two);
        assert_eq!(values.substitute(index, callee, &[Some(own)]), Some(expected));
        assert_eq!(values.substitute(index, callee, &[None]), None);
        assert_eq!(values.substitute(index, callee, &[Some(two)]), Some(values.number(Value::Constant(4))));
        let read = values.number(Value::Made(callee, BlockId(0), 0));
        let sum = values.binary(ADD, parameter, read);
        assert_eq!(values.substitute(sum, callee, &[Some(own)]), None);
        assert_eq!(values.roots(sum), [parameter, read]);
    }
}
