//! Keys of threads.

use super::{holds, in_main, refused};

#[test]
fn the_value_of_a_key_is_of_each_thread_and_goes_to_its_destructor() {
    let text = in_main(
        "pthread_key_t k; int gone; void d(void *p) { gone = 1; }
         void *w(void *p) { pthread_setspecific(k, p); return pthread_getspecific(k); }",
        "pthread_t t; pthread_key_create(&k, d); pthread_create(&t, 0, w, &t); void *v = pthread_getspecific(k);
         pthread_join(t, 0); pthread_key_delete(k);",
    );
    holds(
        &text,
        &["global k: unsigned int = 0U", "local k.value: pointer = NULL  // of w", "global k.value: pointer = NULL"],
    );
    holds(
        &text,
        &[
            "function pointer w(pointer p, pointer k.value) {  // 9:16",
            "% = load k",
            "store k.value = p",
            "% = load k",
            "% = load k.value",
            "return %",
        ],
    );
    holds(&text, &["store k = 0U", "% = load k", "% = load k.value", "v = %", "% = load k", "return"]);
    holds(
        &text,
        &[
            "function pointer w(pointer %) {  // 9:16",
            "k.value = allocate k.value",
            "% = call w(%, k.value)",
            "% = load k.value",
            "% = % == NULL",
            "if % goto b2 else b1",
            "store k.value = NULL",
            "call d(%)",
        ],
    );
}

#[test]
fn a_thread_that_ends_itself_calls_destructors_too() {
    let text = in_main(
        "tss_t k, other; _Thread_local int x; void d(void *p) { x = 1; } void make(void) { tss_create(&k, d); tss_create(&other, NULL); }
         void *w(void *p) { tss_set(k, p); tss_set(other, p); pthread_exit(tss_get(k)); }",
        "once_flag o; static once_flag f; pthread_t t; call_once(&f, make); pthread_create(&t, 0, w, &t);",
    );
    holds(&text, &["store k = 0U", "store other = 1U"]);
    holds(
        &text,
        &[
            "function pointer w(pointer p, pointer x, pointer k.value, pointer other.value) {  // 9:16",
            "store k.value = p",
            "store other.value = p",
            "% = load k.value",
            "% = load k.value",
            "% = % == NULL",
            "call d(%, x)",
            "end thread %",
        ],
    );
}

#[test]
fn other_uses_of_keys_are_named() {
    let d = "pthread_key_t k; void d(void *p) {} void *w(void *p) { pthread_key_create(&k, 0); return 0; }";
    for (declarations, statements, expected) in [
        (
            d,
            "pthread_key_create(&k, d); pthread_key_create(&k, 0);",
            "call of `pthread_key_create` is not read at `pthread_key_create(&k, d)`",
        ),
        (
            d,
            "for (;;) pthread_key_create(&k, d);",
            "call of `pthread_key_create` is not read at `pthread_key_create(&k, d)`",
        ),
        (
            d,
            "pthread_t t; pthread_create(&t, 0, w, 0);",
            "call of `pthread_key_create` is not read at `pthread_key_create(&k, 0)`",
        ),
        (
            d,
            "pthread_key_t o[2]; pthread_getspecific(o[1]);",
            "call of `pthread_getspecific` is not read at `pthread_getspecific(o[1])`",
        ),
        (
            "pthread_key_t k; void d(void *p) { pthread_setspecific(k, p); }",
            "pthread_key_create(&k, d);",
            "call of `pthread_key_create` is not read at `pthread_key_create(&k, d)`",
        ),
    ] {
        let found = refused(declarations, statements);
        assert!(found.iter().any(|one| one == expected), "{statements}\n{found:#?}");
    }
}
