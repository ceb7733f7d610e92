//! Synchronisation objects.

use super::{holds, in_main, lowered, refused};

#[test]
fn what_a_lock_function_is_called_on_is_a_lock() {
    let text = in_main(
        "struct s { int n; pthread_mutex_t m; pthread_rwlock_t r; } q[2]; pthread_spinlock_t spin; pthread_cond_t c; sem_t s;
         pthread_mutex_t again = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP, other;
         void f(pthread_mutex_t *p) { pthread_mutex_lock(p); }",
        "int i = 1; f(&q[i].m); pthread_mutex_unlock(&q[1].m); pthread_rwlock_rdlock(&q[i].r); pthread_rwlock_unlock(&q[i].r);
         pthread_spin_init(&spin, 0); pthread_spin_lock(&spin); pthread_cond_wait(&c, &again); pthread_cond_broadcast(&c);
         sem_init(&s, 0, 3); sem_wait(&s); sem_post(&s);
         pthread_mutexattr_t a; pthread_mutexattr_init(&a); pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
         pthread_mutex_init(&other, &a); pthread_mutex_lock(&other);",
    );
    holds(
        &text,
        &[
            "global q.n: int[2]",
            "global q.m: lock[2]",
            "global q.r: rwlock[2]",
            "global spin: lock",
            "global c: cond",
            "global s: sem = 3",
            "global again: reentrant lock",
            "global other: reentrant lock",
            "lock *p",
        ],
    );
    holds(
        &text,
        &[
            "unlock q.m",
            "rdlock q.r[i]",
            "unlock q.r[i]",
            "lock spin",
            "wait c, again",
            "notifyAll c",
            "P s",
            "V s",
            "lock other",
        ],
    );
    assert!(!text.contains(": int = 0"), "attributes are no memory\n{text}");
}

#[test]
fn what_tries_says_so_by_numbers() {
    let text = in_main(
        "pthread_mutex_t m; pthread_cond_t c; int x;",
        "if (pthread_mutex_trylock(&m) == 0) x = 1; pthread_mutex_trylock(&m);
         x = pthread_cond_timedwait(&c, &m, 0); x = pthread_mutex_timedlock(&m, 0);",
    );
    holds(&text, &["%0 = trylock m", "%1 = 0"]);
    holds(&text, &["%1 = 16"]);
    holds(&text, &["trylock m", "%3 = timedwait c, m", "%4 = 0"]);
    holds(&text, &["%4 = 110"]);
}

#[test]
fn the_union_of_glibc_is_one_lock() {
    let text = lowered(
        "struct __pthread_mutex_s { int __lock; unsigned __count; int __owner; unsigned __nusers; int __kind; short s, e;
           struct { void *p, *n; } __list; };
         typedef union { struct __pthread_mutex_s __data; char __size[40]; long __align; } pthread_mutex_t;
         extern int pthread_mutex_lock(pthread_mutex_t *);
         pthread_mutex_t m = { { 0, 0, 0, 0, 0, 0, 0, { 0, 0 } } }, r = { { 0, 0, 0, 0, 1, 0, 0, { 0, 0 } } }, a[2];
         int main(void) { pthread_mutex_lock(&m); pthread_mutex_lock(&r); pthread_mutex_lock(a); return 0; }",
    );
    holds(&text, &["global m: lock", "global r: reentrant lock", "global a: lock[2]", "lock m", "lock r"]);
}

#[test]
fn a_barrier_knows_its_threads() {
    let text = in_main("pthread_barrier_t b;", "pthread_barrier_init(&b, 0, 2); pthread_barrier_wait(&b);");
    holds(&text, &["global b: barrier(2)", "barrier b"]);
}

#[test]
fn once_is_a_lock_and_a_flag() {
    let text = in_main(
        "pthread_once_t o = PTHREAD_ONCE_INIT; int x; void f(void) { x = 1; }",
        "pthread_once(&o, f); pthread_once(&o, f);",
    );
    holds(
        &text,
        &["lock o.lock", "%0 = load o.done", "call f()", "store o.done = true", "unlock o.lock", "lock o.lock"],
    );
}

#[test]
fn an_initialiser_that_is_assigned_does_nothing() {
    let text = in_main(
        "struct q { pthread_mutex_t m; pthread_cond_t c; } q[2]; int i;",
        "q[i].m = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER; q[1].c = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
         pthread_mutex_lock(&q[0].m);",
    );
    holds(&text, &["% = load i", "lock q.m"]);
    assert!(!text.contains("store"), "{text}");
    for (statement, expected) in [
        ("m = (pthread_mutex_t)PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;", "error-checking mutex is not read at `m`"),
        (
            "m = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;",
            "mutex whose first state is not one constant is not read at `m`",
        ),
        ("m = o;", "structure by value is not read at `m`"),
    ] {
        let found = refused("pthread_mutex_t m, o; struct s { int a; } s;", statement);
        assert!(found.iter().any(|one| one == expected), "{statement}\n{found:#?}");
    }
}
