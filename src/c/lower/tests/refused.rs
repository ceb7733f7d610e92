//! What is refused by name.

use super::refused;

#[test]
fn what_is_not_read_is_named() {
    for (declarations, statements, expected) in [
        ("sem_t s;", "sem_trywait(&s);", "call of `sem_trywait` is not read at `sem_trywait(&s)`"),
        (
            "pthread_key_t k;",
            "pthread_setspecific(k, 0);",
            "call of `pthread_setspecific` is not read at `pthread_setspecific(k, 0)`",
        ),
        (
            "pthread_barrier_t b; int n;",
            "pthread_barrier_init(&b, 0, n); pthread_barrier_wait(&b);",
            "barrier whose first state is not one constant is not read at `b`",
        ),
        (
            "pthread_barrier_t b;",
            "pthread_barrier_init(&b, 0, 2); if (pthread_barrier_wait(&b)) return 1;",
            "result of `pthread_barrier_wait` is not read at `pthread_barrier_wait(&b)`",
        ),
        (
            "sem_t s;",
            "sem_init(&s, 0, 1); sem_init(&s, 0, 2); sem_wait(&s);",
            "semaphore whose first state is not one constant is not read at `s`",
        ),
        (
            "pthread_mutex_t m = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;",
            "pthread_mutex_lock(&m);",
            "error-checking mutex is not read at `PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP`",
        ),
        (
            "",
            "pthread_mutex_t m = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP; pthread_mutex_lock(&m);",
            "error-checking mutex is not read at `PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP`",
        ),
        (
            "mtx_t m;",
            "mtx_init(&m, 0); mtx_init(&m, mtx_recursive);",
            "mutex whose first state is not one constant is not read at `m`",
        ),
        (
            "char x[4];",
            "printf(\"%5s\\n\", x);",
            "format with `%s` with a width, of a value that is not a literal is not read at `printf(\"%5s\\n\", x)`",
        ),
        (
            "void __VERIFIER_atomic_begin(void);",
            "__VERIFIER_atomic_begin();",
            "section that does not begin and end in one function, once on each path is not read at `return 0;`",
        ),
        ("int main(void);", "main();", "call of `main` is not read at `main`"),
        ("int a[2]; long b;", "memcpy(a, &b, 8);", "mixed-size access is not read at `memcpy(a, &b, 8)`"),
    ] {
        let found = refused(declarations, statements);
        assert!(found.iter().any(|one| one == expected), "{declarations} {statements}\n{found:#?}");
    }
}
