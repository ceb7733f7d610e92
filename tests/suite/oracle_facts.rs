//! The oracle against the worked examples of the papers (FACTS E, A and B) and against itself.
//!
//! Nothing of the analyser runs here but the parser and the printer. What the papers and their recomputed facts say of
//! small programs is what the oracle must find, else it cannot judge the analyser.

use std::collections::{BTreeMap, BTreeSet};
use support::generate::{self, Size};
use support::oracle::{Explored, Options, Visible, explore_source};

fn explore(source: &str) -> Explored {
    explore_with(source, &Options::default())
}

/// Counts interleavings as the papers do: the end of a thread is no step.
fn count(source: &str) -> Explored {
    explore_with(source, &Options { merge_ends: true, max_executions: 1_000_000, ..Options::default() })
}

fn explore_with(source: &str, options: &Options) -> Explored {
    let explored = explore_source(source, options).unwrap_or_else(|error| panic!("{error}\n{source}"));
    assert!(explored.complete, "not explored to the end:\n{source}");
    explored
}

/// What a read saw: `terms(&explored, "a@6:24")`.
fn terms<'a>(explored: &'a Explored, read: &str) -> BTreeSet<&'a str> {
    explored.pairs.iter().filter(|pair| pair.0 == read).map(|pair| pair.1.as_str()).collect()
}

/// Each outcome as `status: line|line`, and how many executions have it.
fn outcomes(explored: &Explored) -> BTreeMap<String, u64> {
    let mut outcomes = BTreeMap::new();
    for (outcome, count) in &explored.counts {
        *outcomes.entry(format!("{}: {}", outcome.status, outcome.lines().join("|"))).or_insert(0) += count;
    }
    outcomes
}

fn keys(explored: &Explored) -> Vec<String> {
    outcomes(explored).into_keys().collect()
}

#[test]
fn figure_2_shows_what_the_lock_hides() {
    let source = "int a = 0;\nlock L;\ncobegin\n\
                  T1: lock(L); a = 1; a = 2; unlock(L);\n\
                  T2: lock(L); a = 3; unlock(L);\n\
                  T3: lock(L); print(a); unlock(L);\n\
                  coend\n";
    let locked = explore(source);
    assert_eq!(terms(&locked, "a@6:20"), BTreeSet::from(["a@initial", "a@4:21", "a@5:14"]));
    assert_eq!(keys(&locked), ["ok: 0", "ok: 2", "ok: 3"]);
    assert_eq!(locked.futures.len(), 3);
    assert_eq!(locked.shared_variables, BTreeSet::from(["a".to_owned()]));
    assert_eq!(locked.shared_pairs(), locked.pairs);
    let named = Options { visible: Visible::Named(locked.shared_variables.clone()), ..Options::default() };
    assert_eq!(explore_with(source, &named), locked);

    let free = explore(&source.replace("lock(L); ", "").replace(" unlock(L);", ""));
    assert_eq!(terms(&free, "a@6:11"), BTreeSet::from(["a@initial", "a@4:5", "a@4:12", "a@5:5"]));
    assert_eq!(keys(&free), ["ok: 0", "ok: 1", "ok: 2", "ok: 3"]);

    let split = source.replace("a = 1; a = 2;", "a = 1; unlock(L); lock(L); a = 2;");
    assert_eq!(keys(&explore(&split)), ["ok: 0", "ok: 1", "ok: 2", "ok: 3"]);
}

#[test]
fn figure_2_has_each_term_in_two_of_six_block_orders() {
    let blocks =
        count("int a = 0; cobegin T1: atomic { a = 1; a = 2; } T2: atomic { a = 3; } T3: atomic { print(a); } coend");
    assert_eq!(blocks.executions, 6);
    let expected = [("ok: 0", 2), ("ok: 2", 2), ("ok: 3", 2)];
    assert_eq!(outcomes(&blocks), expected.map(|(outcome, count)| (outcome.to_owned(), count)).into());
}

#[test]
fn figure_5_never_reads_the_initial_value_behind_the_barrier() {
    let source = "int n = 1, result; lock L; cobegin\n\
                  T1: lock(L); n = 0; unlock(L);\n\
                  T2: lock(L); n = 3; unlock(L); barrier(2);\n\
                  T3: barrier(2); lock(L); result = 21 / n; print(result); unlock(L);\n\
                  coend\n";
    let explored = explore(source);
    assert_eq!(terms(&explored, "n@4:40"), BTreeSet::from(["n@2:14", "n@3:14"]));
    assert_eq!(keys(&explored), ["division-by-zero: ", "ok: 7"]);
    for place in ["n = 0", "n = 3"] {
        let sleeping = source.replace(place, &format!("sleep(1000); {place}"));
        assert_eq!(keys(&explore(&sleeping)), ["division-by-zero: ", "ok: 7"]);
    }
    let named = source.replace("int n", "barrier b(2); int n").replace("barrier(2);\n", "barrier(b);\n");
    let named = named.replace("T3: barrier(2)", "T3: barrier(b)");
    assert_eq!(keys(&explore(&named)), ["division-by-zero: ", "ok: 7"]);

    let free = explore(&source.replace("barrier(2);", ""));
    assert_eq!(terms(&free, "n@4:29"), BTreeSet::from(["n@initial", "n@2:14", "n@3:14"]));
    assert_eq!(keys(&free), ["division-by-zero: ", "ok: 21", "ok: 7"]);
}

#[test]
fn figure_6_has_all_sixteen_combinations() {
    let source = "int n0, n1, n2, n3, sum; cobegin\n\
                  T1: atomic { n0 += 1; } T2: atomic { n1 += 1; } T3: atomic { n2 += 1; } T4: atomic { n3 += 1; }\n\
                  T5: sum = n0 + n1 + n2 + n3; print(sum);\n\
                  coend\n";
    let explored = count(source);
    assert_eq!(explored.executions, 1680);
    assert_eq!(explored.futures.len(), 16);
    assert_eq!(keys(&explored), ["ok: 0", "ok: 1", "ok: 2", "ok: 3", "ok: 4"]);
    let mut by_sum = BTreeMap::new();
    for future in &explored.futures {
        let reads = future.reads.iter().filter(|read| read.thread == "T5");
        let incremented = reads.filter(|read| !read.writer_thread.is_empty()).count();
        *by_sum.entry(incremented).or_insert(0) += 1;
    }
    assert_eq!(by_sum.into_values().collect::<Vec<_>>(), [1, 4, 6, 4, 1]);
    assert_eq!(terms(&explored, "n0@3:11"), BTreeSet::from(["n0@initial", "n0@2:14"]));
    assert_eq!(terms(&explored, "n0@2:14"), BTreeSet::from(["n0@initial"]));

    let decremented = count(&source.replace("n3 += 1", "n3 -= 1"));
    assert_eq!(keys(&decremented), ["ok: -1", "ok: 0", "ok: 1", "ok: 2", "ok: 3"]);
    // Without `atomic` the read and the write of `+=` are two steps; two threads show the same terms.
    let steps = explore("int n0, n1; cobegin T1: n0 += 1; T2: n1 += 1; T3: print(n0 + n1); coend");
    assert_eq!(steps.futures.len(), 4);
    assert_eq!(keys(&steps), ["ok: 0", "ok: 1", "ok: 2"]);
}

/// Figure 7; `{` and `}` stand for the locks of a write and of the block that reads.
fn figure_7(reread: bool) -> String {
    let print = if reread { "print(a, z);" } else { "print(r, z);" };
    format!(
        "int a, b; lock L, A, B; cobegin\n\
         T1: <a a = 1; >a <b b = 1; >b\n\
         T2: int z = 0; <a a = 2; >a <b b = 2; >b <r int r = a; if (r == 1) z = b; {print} >r\n\
         coend\n"
    )
}

/// Puts locks in for the marks: of the write of `a`, of the write of `b`, of the reading block.
fn with_locks(source: &str, locks: [(&str, &str); 3]) -> String {
    let mut text = source.to_owned();
    for ((open, close), mark) in locks.into_iter().zip(["a", "b", "r"]) {
        text = text.replace(&format!("<{mark} "), open).replace(&format!(">{mark}"), close);
    }
    text
}

#[test]
fn figure_7_is_inconsistent_only_with_its_locks() {
    let whole = [("lock(L); ", ""), ("", "unlock(L); "), ("lock(L); ", "unlock(L);")];
    let own = [("lock(L); ", "unlock(L); "), ("lock(L); ", "unlock(L); "), ("lock(L); ", "unlock(L);")];
    let two =
        [("lock(A); ", "unlock(A); "), ("lock(B); ", "unlock(B); "), ("lock(A); lock(B); ", "unlock(B); unlock(A);")];
    let none = [("", ""); 3];
    let run = |locks, reread| keys(&count(&with_locks(&figure_7(reread), locks)));
    assert_eq!(run(whole, false), ["ok: 1 1", "ok: 2 0"]);
    assert_eq!(run(whole, true), ["ok: 1 1", "ok: 2 0"]);
    for locks in [own, two, none] {
        assert_eq!(run(locks, false), ["ok: 1 1", "ok: 1 2", "ok: 2 0"]);
    }
    assert_eq!(run(none, true), ["ok: 1 0", "ok: 1 1", "ok: 1 2", "ok: 2 0"]);

    let explored = count(&with_locks(&figure_7(false), whole));
    assert_eq!(explored.futures.len(), 2);
    assert_eq!(terms(&explored, "a@3:69"), BTreeSet::from(["a@2:14", "a@3:25"]), "{:?}", explored.pairs);
    assert_eq!(terms(&explored, "b@3:88"), BTreeSet::from(["b@2:22"]), "{:?}", explored.pairs);
    assert_eq!(count(&with_locks(&figure_7(false), own)).futures.len(), 3);
}

/// A0 and A1: 20 interleavings, 6 different ones, as reachability testing counts them.
#[test]
fn the_race_example_has_six_classes_of_twenty_interleavings() {
    let explored = count(
        "int x = -1, y = 0; cobegin\n\
         T1: int n = x + y; if (n < 0) { print(\"true\"); } else { print(\"false\"); } print(y);\n\
         T2: x = -10; y = 2; print(x);\n\
         coend\n",
    );
    assert_eq!(explored.executions, 20);
    assert_eq!(explored.futures.len(), 6);
}

/// A4, Fig. 13: bare `wait()` and `notifyAll()`, where a notification can be lost.
#[test]
fn the_wait_example_has_34_executions() {
    let explored = count(
        "int x = -1, y = 0; lock a; cobegin\n\
         T1: lock(a); int n = x + y; unlock(a); print(n); wait(); print(y);\n\
         T2: lock(a); x = -10; y = 2; unlock(a); notifyAll(); print(x);\n\
         coend\n",
    );
    assert_eq!(explored.executions, 34);
    let expected = [("deadlock: -1|-10", 2), ("deadlock: -8|-10", 20), ("ok: -1|2|-10", 10), ("ok: -8|2|-10", 2)];
    assert_eq!(outcomes(&explored), expected.map(|(outcome, count)| (outcome.to_owned(), count)).into());
    let deadlock = explored.futures.iter().find(|future| future.status == "deadlock").unwrap();
    let places: Vec<(&str, &str)> = deadlock.blocked.iter().map(|(t, place)| (t.as_str(), place.as_str())).collect();
    assert_eq!(places, [("T1", "2:50"), ("main", "1:28")]);
}

/// A5 (2), JTelnet: one writer, so that classes by version and futures are the same.
#[test]
fn the_terminal_example_has_as_many_classes_as_the_paper() {
    let paint = "print(x); print(x); print(x); print(x); print(x); ";
    let character = "if (x >= 80) { skip; } print(x); print(x); print(x); x++; ";
    for (paints, characters, classes, interleavings) in [(1, 1, 6, 462), (1, 2, 21, 6188), (2, 1, 11, 8008)] {
        let (paints, characters) = (paint.repeat(paints), character.repeat(characters));
        let explored = count(&format!("int x; cobegin AWT: {paints} T2: {characters} coend"));
        assert_eq!((explored.futures.len(), explored.executions), (classes, interleavings));
    }
}

/// B, Fig. 1, every statement a step of its own.
#[test]
fn the_racefuzzer_example_misses_error_1_once() {
    let source = "int x, y, z; lock L; cobegin\n\
                  T1: x = 1; lock(L); y = 1; unlock(L); if (z == 1) { atomic { print(\"ERROR1\"); } }\n\
                  T2: z = 1; lock(L); if (y == 1) { if (x != 1) { atomic { print(\"ERROR2\"); } } } unlock(L);\n\
                  coend\n";
    let explored = count(source);
    let expected = [("ok: ", 1), ("ok: ERROR1", 80)];
    assert_eq!(outcomes(&explored), expected.map(|(outcome, count)| (outcome.to_owned(), count)).into());

    let failing = explore(&source.replace("print(\"ERROR1\")", "error(\"1\")").replace("print(", "error("));
    assert_eq!(keys(&failing), ["error: ", "ok: "]);
}

/// Small programs, and all that they can do.
fn check(rows: &[(&str, &[&str])]) {
    for (source, expected) in rows {
        assert_eq!(keys(&explore(source)), *expected, "{source}");
    }
}

#[test]
fn synchronisation_means_what_the_contract_says() {
    check(&[
        // A lock is not re-entrant, and belongs to its holder.
        ("lock L; lock(L); print(1); lock(L);", &["deadlock: 1"]),
        ("lock L; cobegin A: lock(L); B: unlock(L); coend", &["unlock-not-held: "]),
        (
            "lock L, M; cobegin A: lock(L); lock(M); unlock(M); unlock(L); B: lock(M); lock(L); unlock(L); \
             unlock(M); coend",
            &["deadlock: ", "ok: "],
        ),
        (
            "lock L; int i; while (true) { synchronized (L) { i++; if (i == 2) break; if (i < 5) continue; } } \
             lock(L); print(i);",
            &["ok: 2"],
        ),
        ("lock L; int f() { synchronized (L) { return 4; } return 5; } print(f()); lock(L);", &["ok: 4"]),
        // An event stays set; `clear` unsets it.
        ("event e; int x; cobegin A: x = 1; set(e); B: wait(e); print(x); wait(e); coend", &["ok: 1"]),
        ("event e; set(e); clear(e); wait(e);", &["deadlock: "]),
        // A barrier is cyclic; anonymous ones of one count are one.
        (
            "int x; cobegin A: x = 1; barrier(2); barrier(2); x = 2; B: barrier(2); print(x); barrier(2); coend",
            &["ok: 1"],
        ),
        ("barrier b(3); cobegin A: barrier(b); B: barrier(b); coend", &["deadlock: "]),
        ("void meet() { barrier(2); } cobegin A: meet(); B: meet(); coend", &["ok: "]),
        ("cobegin A: cobegin A1: barrier(2); A2: skip; coend B: barrier(2); coend", &["deadlock: "]),
        // A condition forgets what nobody waits for.
        ("lock L; cond c; notify(c); lock(L); wait(c, L);", &["deadlock: "]),
        ("lock L; cond c; wait(c, L);", &["unlock-not-held: "]),
        (
            "lock L; cond c; bool b; cobegin A: lock(L); while (!b) wait(c, L); print(b); unlock(L); B: \
             lock(L); b = true; notify(c); unlock(L); coend",
            &["ok: true"],
        ),
        (
            "lock L; cond c; int n; cobegin A: lock(L); wait(c, L); unlock(L); B: lock(L); wait(c, L); \
             unlock(L); C: sleep(1); lock(L); notify(c); unlock(L); coend",
            &["deadlock: "],
        ),
        (
            "cobegin A: wait(); print(1); B: wait(); print(2); C: notify(); coend",
            &["deadlock: ", "deadlock: 1", "deadlock: 2"],
        ),
        // Semaphores.
        ("sem s; int x; cobegin A: x = 1; V(s); B: P(s); print(x); coend", &["ok: 1"]),
        ("sem s = 1; int x; cobegin A: P(s); x++; V(s); B: P(s); x++; V(s); coend print(x);", &["ok: 2"]),
        // Atomic steps.
        ("int x; cobegin A: x++; B: x++; coend print(x);", &["ok: 1", "ok: 2"]),
        ("int x; cobegin A: atomic { x++; } B: fetch_add(x, 1); coend print(x);", &["ok: 2"]),
        (
            "int x; cobegin A: print(cas(x, 0, 1)); B: print(cas(x, 0, 2)); coend print(x);",
            &["ok: 1|true|false", "ok: 2|false|true"],
        ),
        ("int x; cobegin A: print(swap(x, 1)); B: print(swap(x, 2)); coend", &["ok: 0|1", "ok: 2|0"]),
        (
            "int x; cobegin A: atomic { x = choose(1, 2); x = x * 10; } B: print(x); coend",
            &["ok: 0", "ok: 10", "ok: 20"],
        ),
    ]);
}

#[test]
fn threads_objects_and_failures_mean_what_the_contract_says() {
    check(&[
        ("int x; void f(int v) { x = v; } thread t = spawn f(7); join(t); print(x);", &["ok: 7"]),
        ("int x; void f() { x = 1; } spawn f(); print(x);", &["ok: 0", "ok: 1"]),
        ("int x; void f() { x = 1; } thread t; t = spawn f(); print(x); join(t);", &["ok: 0", "ok: 1"]),
        ("thread t; join(t);", &["error: "]),
        // A handle is a value: another thread may have set it.
        (
            "int x; void f() { x = 1; } thread t, u; cobegin A: t = spawn f(); B: { u = t; join(u); print(x); } coend",
            &["error: ", "ok: 1"],
        ),
        ("parfor (int i = 0; i < 2; i++) { print(i); i = 5; }", &["ok: 0|1"]),
        ("void main() { int v = 1; cobegin A: v = 2; B: print(v); coend print(v); }", &["ok: 2|1", "ok: 2|2"]),
        ("void f(int p) { cobegin A: p++; B: print(p); coend } f(3);", &["ok: 3", "ok: 4"]),
        (
            "class C { int v; lock l; void add(int n) { synchronized (l) { v += n; } } } C a, b; void twice(C \
             c) { c.add(1); c.add(1); } cobegin A: twice(a); B: a.add(5); b.add(9); coend print(a.v, b.v);",
            &["ok: 7 9"],
        ),
        (
            "class I { int t[2] = {3, 4}; } class O { I i; void set(int v) { i.t[1] = v; } } O o; o.set(8); \
             print(o.i.t[0], o.i.t[1]);",
            &["ok: 3 8"],
        ),
        ("int fac(int n) { if (n < 2) return 1; return n * fac(n - 1); } print(fac(5));", &["ok: 120"]),
        ("int f(int n) { return f(n + 1); } print(f(0));", &["step-limit: "]),
        ("int t[2]; int i = 2; print(1); t[i] = 1 / 0;", &["division-by-zero: 1"]),
        ("int t[2]; int i = -1; print(t[i]);", &["index-out-of-range: "]),
        ("int x; cobegin A: x = 1; assert(x == 1, \"why\"); B: x = 2; coend", &["assert: ", "ok: "]),
        ("int x = choose(0, 2); assume(x != 1); print(x);", &["ok: 0", "ok: 2"]),
        ("print(choose(2, 1));", &[]),
        (
            "extern int now() in 1..2; extern void log(); log(); print(now(), now());",
            &["ok: 1 1", "ok: 1 2", "ok: 2 1", "ok: 2 2"],
        ),
        ("input int n = 3; int t[n]; t[n - 1] = n; print(t[2]);", &["ok: 3"]),
        // A line belongs to the step of the next visible operation.
        ("int x; cobegin A: x = 1; print(1); B: x = 2; error(\"now\"); coend", &["error: ", "error: 1"]),
    ]);
}

#[test]
fn arrays_of_anything_mean_what_the_contract_says() {
    check(&[
        ("int t[2][3] = {1, 2, 3, 4, 5, 6}; print(t[1][0], length(t), length(t[0]));", &["ok: 4 2 3"]),
        (
            "int t[2][3]; void f(int r[], int g[][3]) { r[2] = length(r); g[0][1] = length(g); } f(t[1], t); print(t[1][2], t[0][1]);",
            &["ok: 3 2"],
        ),
        (
            "class C { int v; int w[2]; lock l; void set(int n) { v = n; } } C c[2]; c[1].set(4); c[0].w[1] = 5; print(c[1].v, c[0].v, c[0].w[1]);",
            &["ok: 4 0 5"],
        ),
        (
            "class C { int v; } class D { C c[2]; } D d[2]; void f(C c[], int i) { c[i].v = length(c); } f(d[1].c, 1); print(d[1].c[1].v, d[0].c[1].v);",
            &["ok: 2 0"],
        ),
        (
            "lock f[2]; int i; cobegin A: synchronized (f[i]) { i = 1; } B: { lock(f[0]); lock(f[1]); } coend print(i);",
            &["deadlock: ", "ok: 1"],
        ),
        ("lock f[2]; lock(f[1]); unlock(f[0]);", &["unlock-not-held: "]),
        ("event e[2]; set(e[1]); wait(e[1]); clear(e[0]); wait(e[0]);", &["deadlock: "]),
        ("sem s[2] = 1; P(s[0]); P(s[1]); print(1); P(s[1]);", &["deadlock: 1"]),
        (
            "barrier b[2](2); int x; cobegin A: { x = 1; barrier(b[1]); } B: { barrier(b[1]); print(x); } coend",
            &["ok: 1"],
        ),
        // What is wrong with an index is found where the place is used, a reference where it is formed.
        ("int t[2]; int i = 2; int f() { print(1); return 0; } t[i] = f();", &["index-out-of-range: 1"]),
        (
            "int t[2]; int f() { print(1); return 0; } void g(int v[], int i) { } int u[2][2]; int i = 2; g(u[i], f());",
            &["index-out-of-range: "],
        ),
        ("int t[2][2]; int i = 3; print(0); t[0][i] = 1;", &["index-out-of-range: 0"]),
        ("lock f[2]; int i = -1; lock(f[i]);", &["index-out-of-range: "]),
        // The thread starts before the index of its handle is tested, and is called by it.
        (
            "int x; void f() { print(1); } thread w[2]; int i = 2; w[i] = spawn f();",
            &["index-out-of-range: ", "index-out-of-range: 1"],
        ),
        (
            "void f(int n) { print(n); } thread w[2][2]; for (int i = 0; i < 2; i++) { w[i][1] = spawn f(i); } join(w[1][1]);",
            &["ok: 0|1"],
        ),
        ("void f(int n) { } thread w[2]; w[1] = spawn f(0); join(w[0]);", &["error: "]),
        (
            "void f(int v[]) { cobegin A: v[0] = 1; B: v[1] = 2; coend } void main() { int own[2]; f(own); print(own[0], own[1]); }",
            &["ok: 1 2"],
        ),
    ]);
}

#[test]
fn values_mean_what_the_contract_says() {
    check(&[
        (
            "print(7 / -2, -7 % 3, 1 << 33, -8 >> 1, 2147483647 + 1, 2147483648);",
            &["ok: -3 -1 2 -4 -2147483648 2147483648"],
        ),
        (
            "long l = 1; l = l << 33; int i = (int) l; print(l, i, (int) 2.9, (int) -1e99, 1 / 2.0, 1.0 / 0);",
            &["ok: 8589934592 0 2 -2147483648 0.5 inf"],
        ),
        (
            "bool b = 3; int i = b; print(b, i, b == 1, !b, b & true, true + true, 5 & 6);",
            &["ok: true 1 true false true 2 4"],
        ),
        ("string s; print(s == \"\", \"a\\tb\" != s); s = \"x\"; print(s, 1 > 0 ? 1 : 2.0);", &["ok: true true|x 1.0"]),
        (
            "int x; int f() { x++; return x; } print(f() * 10 + f(), false && f() == 9, true || f() == 9, x);",
            &["ok: 12 false true 2"],
        ),
        (
            "int i = 2147483647; i++; print(i, -i, -2147483647 - 1, (-2147483647 - 1) / -1);",
            &["ok: -2147483648 -2147483648 -2147483648 -2147483648"],
        ),
    ]);
}

#[test]
fn reads_writes_and_threads_have_the_names_of_the_contract() {
    let explored = explore(
        "class C { int v; int t[2];\n\
         void m(C o) { this.v = o.v; t[0] += 1; } }\n\
         C acc; int x = 1, y = x;\n\
         cobegin T1: acc.m(acc); T2: print(acc.v, acc.t[0]); coend print(y);\n",
    );
    assert_eq!(terms(&explored, "o.v@2:24"), BTreeSet::from(["acc.v@initial"]));
    assert_eq!(terms(&explored, "t@2:29"), BTreeSet::from(["acc.t@initial"]));
    assert_eq!(terms(&explored, "acc.v@4:35"), BTreeSet::from(["acc.v@initial", "v@2:15"]));
    assert_eq!(terms(&explored, "acc.t@4:42"), BTreeSet::from(["acc.t@initial", "t@2:29"]));
    assert_eq!(terms(&explored, "x@3:23"), BTreeSet::from(["x@initial"]));
    assert_eq!(terms(&explored, "y@4:65"), BTreeSet::from(["y@initial"]));
    let shared: Vec<&str> = explored.shared_variables.iter().map(String::as_str).collect();
    assert_eq!(shared, ["acc.t", "acc.v"]);
}

#[test]
fn threads_have_the_names_and_the_order_of_the_contract() {
    let source = "void f() { cobegin I: print(1); coend }\n\
                  cobegin T1: f(); thread h = spawn f(); spawn f();\n\
                  T2: parfor (int i = 0; i < 2; i++) print(0); coend\n\
                  cobegin T1: print(2); coend print(3);\n";
    // There are many executions, all with one outcome: a few of them do.
    let explored = explore_source(source, &Options { max_executions: 100, ..Options::default() }).unwrap();
    assert_eq!(explored.outcomes.len(), 1);
    let outcome = explored.outcomes.first().unwrap();
    let order: Vec<&str> = outcome.output.iter().map(|(thread, _)| thread.as_str()).collect();
    let expected = ["main", "T1/I", "T1/h/I", "T1/f/I", "T2/parfor@3[0]", "T2/parfor@3[1]", "T1#2"];
    assert_eq!(order, expected);
}

/// Both ways to decide what is visible must tell the same but for what failing executions had printed.
#[test]
fn visibility_does_not_change_what_can_happen() {
    let mut checked = 0;
    for seed in 0..300 {
        let source = generate::program(seed, &Size::default());
        let options = Options { max_executions: 3_000, ..Options::default() };
        let run = |visible| {
            let options = Options { visible, ..options.clone() };
            explore_source(&source, &options).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{source}"))
        };
        let all = run(Visible::All);
        if !all.complete {
            continue;
        }
        let dynamic = run(Visible::Dynamic);
        let summary = |explored: &Explored| {
            let statuses: BTreeSet<String> = explored.outcomes.iter().map(|outcome| outcome.status.clone()).collect();
            let calm = explored.outcomes.iter().filter(|outcome| ["ok", "deadlock"].contains(&outcome.status.as_str()));
            (calm.cloned().collect::<Vec<_>>(), statuses)
        };
        assert!(dynamic.complete && dynamic.executions <= all.executions, "seed {seed}\n{source}");
        assert_eq!(dynamic.pairs, all.pairs, "seed {seed}\n{source}");
        assert_eq!(summary(&dynamic), summary(&all), "seed {seed}\n{source}");
        checked += 1;
    }
    assert!(checked > 200, "only {checked} programs are small enough");
}

#[test]
fn generated_programs_are_reproducible_and_small_ones_are_found() {
    assert_eq!(generate::program(5, &Size::default()), generate::program(5, &Size::default()));
    let deadlocks = |source: &str| {
        explore_source(source, &Options::default())
            .is_ok_and(|explored| explored.outcomes.iter().any(|outcome| outcome.status == "deadlock"))
    };
    let source = (0..).map(|seed| generate::program(seed, &Size::default())).find(|source| deadlocks(source)).unwrap();
    let small = generate::shrink(&source, &mut |candidate| deadlocks(candidate));
    assert!(deadlocks(&small) && small.len() < 60, "{small}");
}
