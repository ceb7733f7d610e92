//! What each thread has of its own.

use super::{holds, in_main, lowered, lowered_with};

#[test]
fn a_thread_makes_its_variables_and_lends_them_to_what_it_calls() {
    let text = in_main(
        "_Thread_local int x = 3; static __thread struct { int n, a[2]; } s = { 1, { 2 } }; int g;
         void set(int v) { x = v; } int none(void) { return g; } void *w(void *p) { set(4); s.a[g] = none(); return &x; }",
        "pthread_t t; pthread_create(&t, 0, w, 0); set(5); g = x;",
    );
    holds(&text, &["local x: int = 3  // of w", "local s.n: int = 1  // of w", "local s.a: int[2]  // of w"]);
    holds(&text, &["global x: int = 3"]);
    holds(&text, &["function set(int v, pointer x) {  // 9:15", "store x = v"]);
    holds(&text, &["function int none() {  // 9:41"]);
    holds(
        &text,
        &[
            "function pointer w(pointer p, pointer x, pointer s) {  // 9:72",
            "call set(4, x)",
            "% = call none()",
            "store s.a[g][%] = %",
            "return x",
        ],
    );
    holds(&text, &["t = %", "call set(5, &x)", "% = load x", "store g = %"]);
    holds(
        &text,
        &[
            "function pointer w(pointer %) {  // 9:72",
            "x = allocate x",
            "s = allocate s",
            "% = call w(%, x, s)",
            "return %",
        ],
    );
}

#[test]
fn threads_that_use_nothing_of_their_own_begin_as_before() {
    let text = in_main(
        "_Thread_local int x; void *w(void *p) { return p; }",
        "pthread_t t; x = 1; pthread_create(&t, 0, w, 0);",
    );
    assert_eq!(text.matches("function").count(), 1, "{text}");
    holds(&text, &["global x: int = 0", "store x = 1", "% = spawn w(NULL) as w@9"]);
}

#[test]
fn what_is_used_through_cycles_of_calls_is_lent_too() {
    let text = lowered(
        "static __thread int depth; void odd(int); void even(int n) { if (n) odd(n - 1); }
         void odd(int n) { depth++; if (n) even(n - 1); }
         int main(void) { even(3); return depth; }",
    );
    holds(&text, &["function even(int n, pointer depth) {  // 1:48", "call odd(%, depth)"]);
    holds(&text, &["function odd(int n, pointer depth) {  // 2:15", "call even(%, depth)"]);
    holds(&text, &["call even(3, &depth)"]);
}

#[test]
fn thread_local_variables_of_other_units_are_the_same_ones() {
    let units = [
        "_Thread_local int x = 2; int get(void); int main(void) { x = 3; return get(); }",
        "extern _Thread_local int x; int get(void) { return x; }",
    ];
    let (text, _) = lowered_with(&units, &super::Settings::default()).expect("it is read");
    holds(&text, &["global x: int = 2", "store x = 3", "call get(&x)"]);
}

#[test]
fn errno_is_one_of_them() {
    let text = lowered("#include <errno.h>\nint main(void) { errno = 0; return errno == EBUSY; }");
    holds(&text, &["global errno: int = 0", "store errno = 0", "% = load errno"]);
    let text = lowered("extern int *__errno_location(void); int main(void) { (*__errno_location()) = 4; return 0; }");
    holds(&text, &["global errno: int = 0", "store *__errno_location() = 4"]);
}
