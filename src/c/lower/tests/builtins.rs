//! Functions of the compiler, and what they compute.

use super::{Settings, holds, in_main, lowered_with};
use cssame_ir::{
    Arithmetic, BinaryOperator, Instruction, Operand, Program, ScalarType, Terminator, UnaryOperator, Value,
};

/// What `main` returns in its first `print`, run by hand: registers alone, and the one global `x`.
struct Run {
    registers: Vec<i64>,
    global: i64,
}

impl Run {
    fn value(&self, operand: Operand) -> i64 {
        match operand {
            Operand::Register(register) => self.registers[register.index()],
            Operand::Constant(value) => value.bits(),
        }
    }

    fn wrapped(ty: ScalarType, bits: i64) -> i64 {
        ty.integer().map_or(bits, |integer| integer.wrap(bits))
    }

    fn binary(op: BinaryOperator, left: i64, right: i64) -> i64 {
        use BinaryOperator as Op;
        match op {
            Op::Add(ty) => Run::wrapped(ty.scalar(), left.wrapping_add(right)),
            Op::Subtract(ty) => Run::wrapped(ty.scalar(), left.wrapping_sub(right)),
            Op::Multiply(ty) => Run::wrapped(ty.scalar(), left.wrapping_mul(right)),
            Op::Divide(Arithmetic::UnsignedLong) => (left as u64 / right as u64) as i64,
            Op::Divide(_) => left / right,
            Op::ShiftLeft(ty) => Run::wrapped(ty.scalar(), left << right),
            Op::ShiftRight(Arithmetic::UnsignedLong) => (left as u64 >> right) as i64,
            Op::ShiftRight(_) => left >> right,
            Op::And => left & right,
            Op::Or => left | right,
            Op::Xor => left ^ right,
            Op::Less(Arithmetic::UnsignedLong) => i64::from((left as u64) < right as u64),
            Op::Less(_) => i64::from(left < right),
            Op::LessEqual(_) => i64::from(left <= right),
            Op::Equal => i64::from(left == right),
            Op::NotEqual => i64::from(left != right),
            other => panic!("{other:?}"),
        }
    }

    fn instruction(&mut self, instruction: &Instruction) {
        match instruction {
            Instruction::Copy { dest, source } => self.registers[dest.index()] = self.value(*source),
            Instruction::Unary { dest, op, operand } => {
                let value = self.value(*operand);
                self.registers[dest.index()] = match op {
                    UnaryOperator::Negate(ty) => Run::wrapped(ty.scalar(), value.wrapping_neg()),
                    UnaryOperator::Complement(ty) => Run::wrapped(ty.scalar(), !value),
                    UnaryOperator::Not => 1 - value,
                    UnaryOperator::Convert(_, ScalarType::Bool) => i64::from(value != 0),
                    UnaryOperator::Convert(_, to) => Run::wrapped(*to, value),
                };
            }
            Instruction::Binary { dest, op, left, right } => {
                self.registers[dest.index()] = Run::binary(*op, self.value(*left), self.value(*right));
            }
            Instruction::Load { dest, .. } => self.registers[dest.index()] = self.global,
            Instruction::Store { value, .. } => self.global = self.value(*value),
            other => panic!("{other:?}"),
        }
    }
}

/// What the one global `x` holds where `main` returns.
fn run(program: &Program) -> i64 {
    let main = &program.functions[program.main.expect("there is a main")];
    let first = program.leaves.iter().find_map(|leaf| leaf.initial.first().copied()).map_or(0, Value::bits);
    let mut state = Run { registers: vec![0; main.registers.len()], global: first };
    let mut block = cssame_ir::BlockId(0);
    loop {
        main.blocks[block].instructions.iter().for_each(|one| state.instruction(one));
        block = match main.blocks[block].terminator {
            Terminator::Jump(target) => target,
            Terminator::Branch { condition, then_block, else_block } => {
                if state.value(condition) != 0 {
                    then_block
                } else {
                    else_block
                }
            }
            Terminator::Return(_) | Terminator::End(_) => return state.global,
        };
    }
}

fn computed(statements: &str) -> i64 {
    let text = format!(
        "#include <limits.h>\n#include <stdlib.h>\n#include <strings.h>\nlong x; int main(void) {{ {statements} return 0; }}"
    );
    let (_, lowered) = lowered_with(&[&text], &Settings::default()).unwrap_or_else(|found| panic!("{found:?}"));
    run(&lowered.program)
}

#[test]
fn questions_about_bits_are_arithmetic() {
    for value in [0_u64, 40, 0x8000_0000, u64::MAX, 1 << 63, 0x0102_0304_0506_0708] {
        let short = value as u32;
        let check = |text: &str, expected: i64| {
            let found = computed(&format!("unsigned long v = {value}UL; x = {text};"));
            assert_eq!(found, expected, "{text} of {value:#x}");
        };
        check("__builtin_popcountl(v)", i64::from(value.count_ones()));
        check("__builtin_popcount(v)", i64::from(short.count_ones()));
        check("__builtin_parityl(v)", i64::from(value.count_ones() % 2));
        check("__builtin_ffsl(v)", if value == 0 { 0 } else { i64::from(value.trailing_zeros()) + 1 });
        check("ffs((int)v)", if short == 0 { 0 } else { i64::from(short.trailing_zeros()) + 1 });
        if value != 0 {
            check("__builtin_ctzll(v)", i64::from(value.trailing_zeros()));
            check("__builtin_clzl(v)", i64::from(value.leading_zeros()));
        }
        if short != 0 {
            check("__builtin_clz((unsigned)v)", i64::from(short.leading_zeros()));
            check("__builtin_ctz((unsigned)v)", i64::from(short.trailing_zeros()));
        }
        let signed = short as i32;
        let sign = (signed >> 31) ^ signed;
        check("__builtin_clrsb((int)v)", i64::from(sign.leading_zeros()) - 1);
        check("__builtin_bswap64(v)", value.swap_bytes() as i64);
        check("__builtin_bswap32(v)", i64::from(short.swap_bytes()));
        check("__builtin_bswap16(v)", i64::from((value as u16).swap_bytes()));
    }
}

#[test]
fn arithmetic_with_overflow_is_exact() {
    let longs = [0_i64, 1, -1, 3_037_000_500, i64::MIN, -3_037_000_500];
    for (word, of) in [("add", i64::checked_add as fn(i64, i64) -> Option<i64>), ("mul", i64::checked_mul)] {
        for (left, right) in longs.iter().flat_map(|left| longs.iter().map(move |right| (*left, *right))) {
            // The lowest number has no literal.
            let number = |value: i64| format!("({}L - 1)", value + 1);
            let (one, other) = (number(left), number(right));
            let text = format!("long a = {one}, b = {other}; x = __builtin_{word}_overflow(a, b, &x);");
            assert_eq!(computed(&text), i64::from(of(left, right).is_none()), "{text}");
            let text = format!("long a = {one}, b = {other}; int r; x = __builtin_{word}_overflow(a, b, &r);");
            let fits = of(left, right).is_some_and(|result| i32::try_from(result).is_ok());
            assert_eq!(computed(&text), i64::from(!fits), "{text}");
        }
    }
    for (statements, expected) in [
        ("int a = INT_MAX, r; x = __builtin_add_overflow(a, 1, &r); x = x * 10 + (r == INT_MIN);", 11),
        ("int a = INT_MAX; long r; x = __builtin_add_overflow(a, 1, &r); x = x * 10 + (r == 1L + a);", 1),
        ("unsigned a = 1, r; x = __builtin_sub_overflow(a, 2u, &r); x = x * 10 + (r == UINT_MAX);", 11),
        ("unsigned long a = ULONG_MAX, r; x = __builtin_add_overflow(a, 1ul, &r); x = x * 10 + (r == 0);", 11),
        ("unsigned long a = 1; x = __builtin_sub_overflow_p(a, 2ul, a);", 1),
        ("unsigned long a = 1ul << 32, r; x = __builtin_mul_overflow(a, a, &r); x = x * 10 + (r == 0);", 11),
        ("unsigned long a = 0, r; x = __builtin_mul_overflow(a, 7ul, &r);", 0),
        ("unsigned a = UINT_MAX, r; x = __builtin_mul_overflow(a, a, &r); x = x * 10 + (r == 1);", 11),
        ("long a = LONG_MIN, r; x = __builtin_sub_overflow(a, 1L, &r); x = x * 10 + (r == LONG_MAX);", 11),
        ("int a = -1; unsigned r; x = __builtin_add_overflow(a, 0, &r);", 1),
        ("int a = 100; signed char r; x = __builtin_add_overflow(a, 28, &r); x = x * 1000 + r;", 872),
        ("x = abs(-3) + labs(-4L);", 7),
        ("int a = -3; x = abs(a);", 3),
    ] {
        assert_eq!(computed(statements), expected, "{statements}");
    }
}

#[test]
fn the_result_of_arithmetic_with_overflow_may_go_to_a_register() {
    let text = in_main("int x;", "int r; if (__builtin_add_overflow(x, 1, &r)) x = r;");
    holds(
        &text,
        &["% = load x", "% = long(%)", "% = unsigned long(%)", "% = % +.ulong 1UL", "% = long(%)", "% = int(%)"],
    );
    holds(&text, &["r = %", "if % goto b1 else b2", "store x = r"]);
    let found = super::refused("int x; unsigned long u;", "__builtin_add_overflow(x, u, &u);");
    assert_eq!(
        found,
        ["function of the compiler: arithmetic with overflow is not read at `__builtin_add_overflow(x, u, &u)`"]
    );
}
