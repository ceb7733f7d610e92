//! Statements.

use super::{holds, in_main, lowered};

#[test]
fn loops_jumps_and_switches_are_blocks() {
    let text = in_main("int x;", "do { if (x == 3) goto out; x++; } while (x < 5); out: x = 0;");
    holds(&text, &["%1 = %0 == 3", "if %1 goto b5 else b6", "store x = %3", "%5 = %4 < 5", "store x = 0"]);
    let text = in_main("int x;", "switch (x) { case 1: x = 2; case 3 ... 5: x = 3; break; default: x = 4; }");
    holds(&text, &["%1 = %0 == 1", "store x = 2", "store x = 3"]);
    holds(&text, &["%2 = 3 <= %0", "%3 = %0 <= 5"]);
    let text = in_main("int x;", "for (;;) { switch (x) { case 1: continue; default: break; } break; }");
    holds(&text, &["%0 = load x", "return"]);
    let text = in_main("int x;", "goto in; while (x) { int y; in: y = 2; x = y; }");
    holds(&text, &["y = 2", "store x = y"]);
}

#[test]
fn what_cannot_run_is_left_out() {
    let text = in_main("int x;", "return 0; x = 1; while (1) { x = 2; }");
    assert!(!text.contains("store x"), "{text}");
}

#[test]
fn calls_convert_what_old_programs_leave_out() {
    let text = lowered("f(a, b) long b; { return a + b; } int main() { return f(3); }");
    holds(&text, &["function int f(int a, long b) {  // 1:1"]);
    let text = in_main("void v(void) {} int g(char c) { return c; }", "v(); int x = g(300);");
    holds(&text, &["call v()", "%1 = call g((signed char)44)", "x = %1"]);
}

#[test]
fn a_variable_is_cleaned_up_where_its_block_is_left() {
    let text = in_main(
        "int x; void done(int *p) { x = *p; }",
        "for (int i = 0; i < 3; i++) { int c __attribute__((cleanup(done))) = i; if (x) break; x = 5; }",
    );
    holds(&text, &["store c = i", "%3 = load x", "call done(&c)"]);
    assert_eq!(text.matches("call done").count(), 2, "{text}");
}

#[test]
fn failures_end_the_execution() {
    let text = in_main(
        "int x; void reach_error(void) { }",
        "if (x) abort(); if (x == 2) { reach_error(); x = 4; } assert(x != 3);",
    );
    holds(&text, &["error \"abort\"", "end thread"]);
    holds(&text, &["error \"reach_error\"", "end thread"]);
    holds(&text, &["assert %6, \"x != 3\""]);
    assert!(!text.contains("store x"), "{text}");
    let text = lowered(
        "extern void __assert_fail(const char *, const char *, unsigned, const char *); void __VERIFIER_assert(int);
         int x; int main(void) { if (x == 1) ; else __assert_fail(\"x == 1\", \"f\", 2, \"main\"); __VERIFIER_assert(x < 3); }",
    );
    holds(&text, &["assert %1, \"x == 1\"", "assert %3, \"x < 3\""]);
}

#[test]
fn sections_are_atomic_blocks() {
    let text = lowered(
        "void __VERIFIER_atomic_begin(void); void __VERIFIER_atomic_end(void); int x;
         int __VERIFIER_atomic_inc(int n) { if (n) return 3; x++; return 4; }
         int main(void) { __VERIFIER_atomic_begin(); x = 1; __VERIFIER_atomic_end(); return __VERIFIER_atomic_inc(2); }",
    );
    holds(&text, &["begin atomic", "end atomic", "return 3", "end atomic", "return 4"]);
    holds(&text, &["begin atomic", "store x = 1", "end atomic"]);
}
