//! Threads.

use super::{Settings, holds, in_main, lowered_with};

#[test]
fn a_thread_is_made_with_the_argument_that_its_function_wants() {
    let head = "void *p(void *a) { return a; } void n(void) {} int i(long a) { return a; }";
    let text = in_main(
        head,
        "pthread_t a, t[3]; void *r; long m = 2;
         pthread_create(&a, 0, p, (void *)m); pthread_create(&t[1], 0, (void *(*)(void *))n, 0);
         for (int k = 0; k < 3; k++) pthread_create(t + k, 0, (void *(*)(void *))i, (void *)(long)k);
         pthread_join(a, &r); pthread_join(t[m], 0); m = (long)r;",
    );
    holds(&text, &["global t: thread[3]"]);
    holds(&text, &["function pointer i(long %0) {  // 8:52", "%1 = call i(%0)", "%2 = pointer(%1)", "return %2"]);
    holds(
        &text,
        &[
            "%4 = pointer(m)",
            "%5 = spawn p(%4) as p@10",
            "a = %5",
            "%6 = spawn n() as n@10[][1L]",
            "store t[1] = %6",
            "%13 = spawn i(%12) as i@11[][%9]",
            "store t + k[k] = %13",
            "%16 = join a",
            "r = %16",
            "%17 = load t[m][m]",
            "join %17",
        ],
    );
}

#[test]
fn handles_are_numbers_where_nothing_shows_what_they_are() {
    let text = in_main(
        "pthread_t main_thread; void *w(void *a) { pthread_t *h = a; pthread_join(*h, 0); return 0; }",
        "main_thread = pthread_self(); pthread_t t; pthread_create(&t, 0, w, &main_thread);
         unsigned long n = t; if (pthread_equal(t, main_thread) || t == main_thread) n = 0;",
    );
    holds(&text, &["global main_thread: thread = no thread"]);
    holds(&text, &["h = a", "%2 = load *h", "%3 = thread(%2)", "join %3"]);
    holds(&text, &["%1 = self", "store main_thread = %1"]);
    holds(&text, &["t = %2", "%3 = unsigned long(t)", "n = %3"]);
}

#[test]
fn the_ends_of_threads_and_of_the_program() {
    let declarations =
        "void out(void) { exit(3); } void *w(void *a) { if (a) pthread_exit((void *)4); out(); return 0; }";
    let text = in_main(declarations, "pthread_t t; pthread_create(&t, 0, w, 0); if (t) exit(1); pthread_exit(0);");
    holds(&text, &["assume false", "end thread"]);
    holds(&text, &["end thread (pointer)4"]);
    holds(&text, &["end thread", "end thread NULL"]);
    for main_waits in [false, true] {
        let settings = Settings { main_waits, ..Settings::default() };
        let (_, lowered) = lowered_with(&["int main(void) { return 0; }"], &settings).expect("it is read");
        assert_eq!(lowered.program.ends_with_main, !main_waits);
    }
}

#[test]
fn handlers_are_called_where_they_are_popped_or_the_thread_ends() {
    let text = in_main(
        "int x; void h(void *a) { x = (int)(long)a; }",
        "pthread_cleanup_push(h, (void *)5); if (x) pthread_exit(0); pthread_cleanup_pop(1);
         pthread_cleanup_push(h, 0); pthread_cleanup_pop(0);",
    );
    assert_eq!(text.matches("call h((pointer)5)").count(), 2, "{text}");
    assert_eq!(text.matches("call h(NULL)").count(), 0, "{text}");
}

#[test]
fn c11_threads_are_threads() {
    let text = in_main(
        "int w(void *a) { return 3; }",
        "thrd_t t; int r; thrd_create(&t, w, 0); thrd_join(t, &r); mtx_t m; mtx_init(&m, mtx_recursive); mtx_lock(&m);",
    );
    holds(&text, &["global m: reentrant lock"]);
    holds(&text, &["%2 = spawn w(NULL) as w@9", "t = %2", "%3 = join t", "%4 = int(%3)", "r = %4", "lock m"]);
}

#[test]
fn argv_is_a_name_and_nothing() {
    let text = "int main(int argc, char **argv) { if (argc > 1) return argv[1][0]; return 0; }";
    let (text, _) = lowered_with(&[text], &Settings::default()).expect("it is read");
    holds(
        &text,
        &["global argv[0]: signed char = (signed char)0", "global argv: pointer[2]", "argc = 1", "argv = &argv[0]"],
    );
}
