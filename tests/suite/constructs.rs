//! What constants, enumerations, `switch` and constructors mean: outcomes of small programs, each also held to the oracle.

use crate::law::holds;
use cssame::budget::Budget;
use cssame::explore::{Query, futures};
use std::collections::BTreeSet;
use support::model;

/// `line, line: status`, each distinct one once.
fn outcomes(text: &str) -> Vec<String> {
    let model = model(text);
    let answer = futures(model.machine(), &Query::UP_TO_THE_READ, &Budget::default());
    assert!(answer.is_complete());
    let line = |outcome: &cssame::explore::Outcome| {
        let lines = outcome.outputs.iter().flat_map(|&(_, output)| answer.tables.lines(output));
        format!("{}: {}", lines.collect::<Vec<_>>().join(", "), outcome.status.word())
    };
    answer.outcomes.iter().map(line).collect::<BTreeSet<_>>().into_iter().collect()
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    assert_eq!(outcomes(text), expected, "{text}");
    assert_eq!(holds(text), Ok(()), "{text}");
}

#[test]
fn constants_are_values_in_any_order() {
    check(
        "input int n = 2; const int N = M * 2; const int M = n + 1; const long big = 1L << 40; const bool on = N > 5;
         const double half = 1 / 2.0; const string word = \"a\"; int t[N]; sem s = M;
         void main() { const int own = N + 1; int u[own]; t[N - 1] = own; P(s); u[6] = 3;
         print(N, M, big, on, half, word, t[5], u[6], own); }",
        &["6 3 1099511627776 true 0.5 a 7 3 7: ok"],
    );
}

#[test]
fn a_constant_that_is_not_constant_is_a_variable() {
    check(
        "int x = 1; const int now = x + 1; int f() { return now; } const int later = f();
         x = 5; for (int i = 0; i < 2; i++) { const int own = x + i; print(own); } print(now, later);",
        &["5, 6, 2 2: ok"],
    );
    check("const int t[3] = {1, 2}; int i = 1; print(t[i], t[2]);", &["2 0: ok"]);
}

#[test]
fn an_inner_name_hides_a_constant() {
    check(
        "const int N = 1; void f(int N) { N++; print(N); } f(4); { int N = 7; N++; print(N); { const int N = 3; print(N); } }
         print(N);",
        &["5, 8, 3, 1: ok"],
    );
}

#[test]
fn enumerators_count_from_the_one_before() {
    check(
        "enum State { A, B = 4, C, D = A - 1, E }; enum { F = C + 1 }; State s = C; State g(State t) { return t + 1; }
         print(A, B, C, D, E, F, s, g(B));",
        &["0 4 5 -1 0 6 5 5: ok"],
    );
}

#[test]
fn constants_of_a_class_belong_to_it() {
    assert_eq!(
        outcomes("class Queue { enum { NONE = -1, SOME }; const int ROOM = 2; } Queue q; print(q.ROOM, q.SOME);"),
        ["2 0: ok"]
    );
    check(
        "const int ROOM = 9; class Queue { enum { NONE = -1, SOME }; const int ROOM = 2; int data[ROOM];
         int last() { return data[ROOM - 1] + NONE; } } Queue q;
         q.data[1] = 5; print(q.last(), ROOM);",
        &["4 9: ok"],
    );
}

#[test]
fn a_switch_runs_the_case_that_fits() {
    check(
        "for (int i = 0; i < 5; i++) { switch (i) { case 1: print(\"one\"); break; default: print(\"else\"); break;
         case 2: case 3: print(\"two, three\"); } }",
        &["else, one, two, three, two, three, else: ok"],
    );
    check("switch (7) { case 1: print(1); }  switch (choose(0, 1)) { } print(2);", &["2: ok"]);
    check(
        "long x = 1L << 40; switch (x) { case 0: print(0); break; case 1099511627776: print(1); }
         string s = \"b\"; switch (s) { case \"a\": print(\"a\"); break; case \"b\": print(\"b\"); }
         bool b = x > 0; switch (b) { case false: print(\"no\"); break; case true: print(\"yes\"); }",
        &["1, b, yes: ok"],
    );
}

#[test]
fn a_case_runs_into_the_next_where_it_says_so() {
    check(
        "for (int i = 0; i < 4; i++) { switch (i) { case 0: print(0); fallthrough; case 1: print(1); fallthrough;
         default: print(9); break; case 3: print(3); } }",
        &["0, 1, 9, 1, 9, 9, 3: ok"],
    );
    check("switch (1) { case 0: print(0); break; case 1: print(1); fallthrough; case 2: print(2); }", &["1, 2: ok"]);
}

#[test]
fn the_value_of_a_switch_is_read_once() {
    check(
        "int x; cobegin A: switch (x) { case 0: print(\"zero\"); break; case 1: print(\"one\"); break;
         default: error(\"neither\"); } B: x = 1; coend",
        &["one: ok", "zero: ok"],
    );
    check("int x; switch (fetch_add(x, 1)) { case 1: print(1); break; case 0: print(x); }", &["1: ok"]);
    check("int x = 1; switch (x) { case 1: x = 2; print(x); break; case 2: print(\"no\"); }", &["2: ok"]);
}

#[test]
fn break_leaves_the_switch_and_continue_the_round() {
    check(
        "lock L; for (int i = 0; i < 4; i++) { synchronized (L) { switch (i) { case 0: continue;
         case 1: if (i == 1) break; print(\"never\"); break; case 2: for (;;) { switch (i) { default: break; } break; }
         break; default: print(\"last\"); return; } } print(i); }",
        &["1, 2, last: ok"],
    );
    check(
        "int n; parfor (int i = 0; i < 3; i++) { for (int k = 0; k < 2; k++) { switch (i + k) { case 1: continue;
         case 2: fetch_add(n, 1); break; } fetch_add(n, 10); } } print(n);",
        &["42: ok"],
    );
}

#[test]
fn the_locals_of_a_case_are_its_own() {
    check(
        "int x = choose(0, 1); switch (x) { case 0: int y = 1; print(y); break; case 1: int y; print(y);
         cobegin T1: y = 5; T2: skip; coend print(y); }",
        &["0, 5: ok", "1: ok"],
    );
}

#[test]
fn a_function_may_end_in_a_switch() {
    check(
        "int f(bool b) { switch (b) { case true: return 1; case false: return 2; } }
         int g(int x) { switch (x) { case 1: return 4; default: error(); } } print(f(true), f(false), g(1));",
        &["1 2 4: ok"],
    );
}

#[test]
fn constructors_run_where_objects_are_declared() {
    check(
        "int made; class Queue { int room, number; Queue(int n) { room = n; made++; number = made; } }
         Queue a(1), b(2); print(a.room, a.number, b.room, b.number);
         for (int i = 0; i < 2; i++) { Queue c(i + 5); print(c.room, c.number); c.room = 0; } print(made);",
        &["1 1 2 2, 5 3, 6 4, 4: ok"],
    );
    check(
        "int x = 1; int next() { x++; return x; } class A { int v; A(int n) { v = n; print(v); } }
         int first = next(); A a(next()); int third = next(); void main() { print(first, a.v, third); }",
        &["3, 2 3 4: ok"],
    );
}

#[test]
fn fields_are_constructed_before_the_body() {
    check(
        "class Part { int v; Part(int n) { v = n; print(\"part\", n); } }
         class Whole { int base = 3; Part one(base), two(one.v + 1); Whole(int base) { print(\"whole\", base, two.v); } }
         class Outer { Whole w(7); } Outer o; Outer p; print(p.w.two.v);",
        &["part 3, part 4, whole 7 4, part 3, part 4, whole 7 4, 4: ok"],
    );
}

#[test]
fn constructors_lock_recurse_and_start_threads() {
    check(
        "lock L; int sum; class Node { int v; Node(int n, lock by) { synchronized (by) { sum += n; v = sum; }
         if (n > 0) Node inner(n - 1, by); } } cobegin A: { Node a(1, L); print(a.v); } B: { Node b(1, L); print(b.v); } coend",
        &["1, 2: ok", "2, 1: ok"],
    );
}

#[test]
fn a_constructor_may_start_threads() {
    check(
        "class Pool { int done; lock guard; Pool(int n) { parfor (int i = 0; i < n; i++) { work(); } }
         void work() { synchronized (guard) { done++; } } }
         Pool p(2); print(p.done);",
        &["2: ok"],
    );
    check(
        "int x; void run(int n) { x = n; } class Starter { thread t; Starter(int n) { t = spawn run(n); } }
         Starter s(4); print(x); join(s.t); print(x);",
        &["0, 4: ok", "4, 4: ok"],
    );
}

#[test]
fn another_thread_may_see_an_object_before_it_is_made() {
    check(
        "class A { int v; A(int n) { v = n; } } int seen; thread t = spawn look(); A a(2);
         void look() { seen = a.v; } join(t); print(seen);",
        &["0: ok", "2: ok"],
    );
}

#[test]
fn a_case_that_a_constant_never_chooses_is_not_there() {
    // `holds` verifies the flow graph: a body without a way to it has none of the results of its function.
    check(
        "const int K = 3; int f() { switch (K) { case 1: print(1); break; case 2: return 2; default: print(0); } return 5; }
         void main() { print(f()); }",
        &["0, 5: ok"],
    );
}
