//! Objects: cells, first values, locals.

use super::{holds, in_main, lowered};

#[test]
fn objects_have_a_leaf_for_each_scalar() {
    let text = in_main(
        "struct q { char c; struct { short s; long l[2]; } in; struct q *next; pthread_mutex_t m; } a[2], b = { 1, { 2, { 3, 4 } }, a + 1 };
         int n[2][3] = { { 1 }, { [2] = 5 } }; const char *text = \"hi\"; atomic_int k = 7;",
        "a[0].c = n[1][2] + *text + k + (b.next == 0);",
    );
    holds(
        &text,
        &[
            "global a.c: signed char[2]",
            "global a.in.s: short[2]",
            "global a.in.l: long[2][2]",
            "global a.next: pointer[2]",
            "global a.m: lock[2]",
            "global b.c: signed char = (signed char)1",
            "global b.in.s: short = (short)2",
            "global b.in.l: long[2]",
            "global b.next: pointer = &a[1].c",
            "global b.m: lock",
            "global n: int[2][3]",
            "global text: pointer = &\"hi\"[0]",
            "global k: atomic int = 7",
            "global \"hi\": signed char[3]",
        ],
    );
}

#[test]
fn locals_are_registers_unless_their_address_is_kept() {
    let text = lowered(
        "int g(int *p) { return *p; }
         int f(int a, int b) { int x = a, y[2] = { b }, z; z = g(&x); return z + y[1] + g(&b); }
         int main(void) { int u = 1; static int s = 4; int v; u = f(u, s); return g(&v); }",
    );
    holds(
        &text,
        &[
            "global s: int = 4",
            "local b: int = 0  // of f",
            "local x: int = 0  // of f",
            "local y: int[2]  // of f",
            "global v: int = 0",
            "function int f(int a, int b) {  // 2:14",
        ],
    );
    holds(&text, &["b.2 = allocate b", "x = allocate x", "y = allocate y", "store b = b", "store x = a"]);
    holds(&text, &["u = 1", "%3 = load s", "return"]);
}

#[test]
fn pointers_may_begin_as_null() {
    let text = in_main(
        "int *p = NULL, *q = 0; struct { int n; void *a[2]; } s = { 1, { NULL, &p } };",
        "p = NULL; q = s.a[1];",
    );
    holds(&text, &["global p: pointer = NULL", "global q: pointer = NULL", "global s.n: int = 1", "store p = NULL"]);
}

#[test]
fn what_is_declared_in_a_loop_begins_anew() {
    let text = in_main("int x;", "for (int i = 0; i < 2; i++) { int a[3] = { i }; x = a[i]; }");
    holds(&text, &["store a[1] = 0", "store a[2] = 0", "store a[0] = i"]);
    let text = in_main("int x;", "int a[3] = { 4 }; x = a[x];");
    assert!(!text.contains("store a[1]"), "{text}");
}

#[test]
fn what_is_never_written_is_zero() {
    let text = in_main("int x;", "int y; if (x) y = 1; x = y;");
    holds(&text, &["y = 0", "%1 = load x", "y = 1", "store x = y"]);
}

#[test]
fn the_names_of_enumerations_are_kept() {
    let text = "enum color { RED, GREEN = 3 } c; void f(enum color given) {}
                int main(void) { enum color local = c = GREEN; f(local); return 0; }";
    let (_, lowered) = super::lowered_with(&[text], &super::Settings::default()).expect("it is read");
    let program = lowered.program;
    let registers = program.functions.iter().flat_map(|function| function.registers.iter());
    let named = registers.filter(|register| register.name.is_some()).map(|register| register.span);
    let spans: Vec<cssame_source::Span> = program.variables.iter().map(|variable| variable.span).chain(named).collect();
    assert_eq!(spans.len(), 3);
    for span in spans {
        let name = program.enumerations.name(span, 3).map(|name| program.texts.get(name));
        assert_eq!(name, Some("GREEN"));
    }
}
