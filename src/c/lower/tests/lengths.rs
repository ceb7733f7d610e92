//! Arrays of variable length.

use super::{holds, in_main, lowered, refused};
use cssame_ir::{Instruction, Operand};

#[test]
fn the_length_is_evaluated_once_and_bounds_the_indices() {
    let text = in_main(
        "int n = 3; void *w(void *a) { return a; }",
        "pthread_t t[n]; int i = 1; pthread_create(&t[i], 0, w, 0); n = 5; pthread_join(t[0], 0);
         pthread_create(t + i, 0, w, 0); unsigned long s = sizeof t;",
    );
    holds(&text, &["local t: thread[1024]  // of main"]);
    holds(
        &text,
        &[
            "%0 = load n",
            "%1 = %0",
            "%2 = %1 < 1",
            "error \"the length of `t` is not positive\"",
            "%3 = 1024 < %1",
            "error \"arrays of more than 1024 elements are not read: `t`\"",
            "store t[i][i] = %",
            "store n = 5",
            "% = load t[0][0]",
        ],
    );
    holds(&text, &["% = load t[0][0]", "% = unsigned long(%)", "% = % *.ulong 8UL", "s = %"]);
}

#[test]
fn arrays_of_variable_length_of_functions_are_made_in_their_frames() {
    let text = lowered(
        "struct p { int a; long b; };
         long f(unsigned n) { typedef struct p row[n]; row r; n = 9; r[1].b = 4; struct p *q = r; return q[1].b + r[n].a; }
         int main(void) { return f(2); }",
    );
    holds(&text, &["local r.a: int[1024]  // of f", "local r.b: long[1024]  // of f"]);
    holds(&text, &["% = long(n)", "% = %", "% = % <.long 1L", "% = 1024L <.long %", "n = 9U", "store r[1].b[1] = 4L"]);
}

#[test]
fn only_the_first_length_may_be_variable() {
    let text = in_main("int n = 2;", "int a[n][3]; a[n - 1][2] = 1;");
    holds(&text, &["local a: int[1024][3]  // of main", "store a[n - 1][2][%] = 1"]);
    let found = refused("int n;", "int v[2][n]; v[0][1] = 1;");
    assert_eq!(found, ["array of variable length within another type is not read at `v`"]);
}

#[test]
fn an_index_is_tested_against_the_register_of_the_length() {
    let text = "int n = 3; int main(void) { int a[n]; a[0] = 1; return a[n]; }";
    let (_, lowered) = super::lowered_with(&[text], &super::Settings::default()).expect("it is read");
    let main = &lowered.program.functions[lowered.program.main.expect("there is a main")];
    let places = main.blocks.iter().flat_map(|block| &block.instructions).filter_map(|one| match one {
        Instruction::Load { place, .. } | Instruction::Store { place, .. } => place.indices.first(),
        _ => None,
    });
    let lengths: Vec<Operand> = places.map(|index| index.length).collect();
    assert!(matches!(lengths[..], [Operand::Register(one), Operand::Register(other)] if one == other), "{lengths:?}");
}
