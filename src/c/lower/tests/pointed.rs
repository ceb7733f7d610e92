//! Functions that pointers lead to.

use super::{holds, in_main, refused};

#[test]
fn a_call_through_a_pointer_is_one_of_the_function_that_it_is() {
    let declarations = "int one(int a) { return a; } int two(int b) { return -b; } long far(long c) { return c; }
        int (*table[2])(int) = {one, two}; long (*f)(long) = far;";
    let text = in_main(declarations, "int n = f != 0; int (*p)(int) = table[n]; n = p(3) + (*p)(n);");
    holds(&text, &["global table: pointer[2]", "global f: pointer = &far"]);
    // What has another type is not called.
    holds(
        &text,
        &[
            "% = p",
            "% = % == &one",
            "% = call one(3)",
            "% = % == &two",
            "% = call two(3)",
            "% = % == &one",
            "% = call one(n)",
            "error \"the pointer leads to no function of this type\"",
        ],
    );
    assert!(!text.contains("== &far"), "{text}");
}

#[test]
fn a_thread_begins_with_what_a_pointer_leads_to() {
    let declarations = "void *v(void *a) { return a; } void *w(void *a) { return 0; } void *(*start)(void *) = v;";
    let text = in_main(declarations, "pthread_t t; start = &w; pthread_create(&t, 0, start, 0);");
    holds(&text, &["store start = &w", "% = load start", "% = % == &v", "% = spawn v(NULL) as v@9"]);
    holds(&text, &["% = % == &w", "% = spawn w(NULL) as w@9", "t = %"]);
}

#[test]
fn a_function_without_a_body_has_no_address() {
    let found = refused("", "void *(*p)(unsigned long) = malloc; p(4);");
    assert_eq!(found, ["function pointer is not read at `malloc`"]);
    let found = refused("int f(int);", "int (*p)(int) = f; p(4);");
    assert_eq!(found, ["call of `f`, which has no body and is not known is not read at `f`"]);
}
