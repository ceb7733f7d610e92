//! The oracle of `paths` against answers that were found by hand: the programs of Setiadi, Ohsuga and Maekawa (FACTS A)
//! and small programs of each kind.

use support::oracle::{BranchPlace, PathsOptions, PathsOracle, paths_of_source};

fn paths_with(source: &str, inputs: &[(&str, i64)]) -> PathsOracle {
    let inputs = inputs.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
    let options = PathsOptions { inputs, max_nodes: 400_000, ..PathsOptions::default() };
    let found = paths_of_source(source, &options).unwrap_or_else(|error| panic!("{error}\n{source}"));
    assert!(found.complete, "{source}");
    found
}

fn paths(source: &str) -> PathsOracle {
    paths_with(source, &[])
}

fn sample(name: &str) -> String {
    let path = support::root().join("samples").join(name).with_extension("csm");
    std::fs::read_to_string(path).unwrap()
}

/// The orders of a branch: `write x@3:5, read x@4:9`.
fn orders(found: &PathsOracle, thread: &str, place: &str) -> Vec<String> {
    let branch: BranchPlace = (thread.to_owned(), place.to_owned());
    found.branches[&branch].groups.keys().map(|order| order.join(", ")).collect()
}

#[test]
fn figure_3_has_six_groups_and_six_classes() {
    let found = paths(&sample("setiadi_fig3"));
    assert_eq!((found.groups(), found.groups_of_affected_instances()), (6, 6));
    assert_eq!((found.classes, found.tpair()), (6, 6));
    let orders = orders(&found, "T1", "15:9");
    let expected = [
        "read x@14:13, read y@14:17",
        "read x@14:13, write x@21:5, read y@14:17",
        "read x@14:13, write x@21:5, write y@22:5, read y@14:17",
        "write x@21:5, read x@14:13, read y@14:17",
        "write x@21:5, read x@14:13, write y@22:5, read y@14:17",
        "write x@21:5, write y@22:5, read x@14:13, read y@14:17",
    ];
    assert_eq!(orders, expected);
    let pairs: Vec<String> = found.pairs.keys().map(|(a, b)| format!("{} {}", a.2, b.2)).collect();
    assert_eq!(pairs, ["x@14:13 x@21:5", "y@14:17 y@22:5", "y@19:11 y@22:5"]);
    assert_eq!(found.racy_variables().into_iter().collect::<Vec<_>>(), ["x", "y"]);
}

#[test]
fn figure_13_has_two_groups_and_four_classes_of_which_two_wait_for_ever() {
    let found = paths(&sample("setiadi_fig13"));
    assert_eq!((found.groups(), found.classes, found.deadlocked_classes), (2, 4, 2));
    let expected = ["read x@17:13, read y@17:17", "write x@27:5, write y@28:5, read x@17:13, read y@17:17"];
    assert_eq!(orders(&found, "T1", "20:9"), expected);
    // The last read of y takes no lock; it always comes behind the notification.
    let (pair, what) = found.pairs.iter().next().unwrap();
    assert_eq!((pair.0.2.as_str(), pair.1.2.as_str()), ("y@24:11", "y@28:5"));
    assert_eq!((found.pairs.len(), what.ordered, what.unordered), (1, true, false));
    let stuck: Vec<String> = found.deadlocks.iter().flatten().cloned().collect();
    assert_eq!(stuck, ["T1", "main"]);
}

#[test]
fn the_pool_has_two_groups_however_often_the_racy_reader_reads() {
    let source = sample("setiadi_commons_pool");
    for k in [1, 2, 3, 4, 6, 8] {
        let found = paths_with(&source, &[("k", k)]);
        assert_eq!(found.groups(), 2, "{k}");
        assert_eq!((found.classes as i64, found.tpair() as i64), (5 + 2 * k, 6 + 2 * k), "{k}");
    }
}

#[test]
fn the_richer_pool_has_42_classes_and_22_of_pairs() {
    let source = "int numActive = 0, pool = 7, factory = 1; lock P; cobegin
        T1: int a = factory; pool = pool + 1; a = factory; a = pool;
        T2: synchronized (P) {
          if (0 < numActive) skip; else { int b = pool; b = pool; pool = 0; factory = 2; }
        }
        T3: synchronized (P) { pool = pool + 1; numActive++; }
        coend";
    let found = paths(source);
    assert_eq!((found.groups(), found.classes, found.tpair()), (2, 42, 22));
    assert_eq!(found.thread_pairs.values().copied().collect::<Vec<_>>(), [14, 6, 2]);
}

#[test]
fn the_telnet_model_has_no_group_and_66_classes() {
    let source = sample("setiadi_jtelnet");
    let rows = [(1, 1, 6), (1, 2, 21), (2, 1, 11), (2, 2, 66), (2, 3, 286), (3, 2, 136)];
    for (paints, characters, classes) in rows {
        let found = paths_with(&source, &[("paints", paints), ("characters", characters)]);
        assert_eq!((found.groups(), found.classes, found.tpair()), (0, classes, classes), "{paints} {characters}");
    }
}

#[test]
fn the_map_has_five_groups_in_any_number_of_rounds_from_two_on() {
    let source = sample("setiadi_jnetmap");
    for rounds in 2..7 {
        let found = paths_with(&source, &[("rounds", rounds)]);
        let classes = (rounds * rounds + 3 * rounds + 1) as usize;
        assert_eq!((found.groups(), found.classes, found.tpair()), (5, classes, classes), "{rounds}");
    }
    let found = paths_with(&source, &[("rounds", 3)]);
    let expected = [
        "read p@19:11",
        "write p@23:7, read p@19:11",
        "write p@23:7, write p@26:5, read p@19:11",
        "write p@26:5, read p@19:11",
        "write p@26:5, write p@23:7, read p@19:11",
    ];
    assert_eq!(orders(&found, "MAP", "19:11"), expected);
}

/// Orders, each with the operations by the letters of their variable: `w:x r:x`.
fn short(found: &PathsOracle) -> Vec<String> {
    let mut told = Vec::new();
    for ((thread, place), branch) in &found.branches {
        for order in branch.groups.keys() {
            let operation = |each: &String| {
                let (kind, name) = each.split_once(' ').unwrap();
                format!("{}{}", &kind[..1], name.split('@').next().unwrap())
            };
            let order: Vec<String> = order.iter().map(operation).collect();
            told.push(format!("{thread}:{place} {}", order.join(" ")));
        }
    }
    told
}

/// Programs with the orders of their branches, and their number of version classes.
fn check(rows: &[(&str, &[&str], usize)]) {
    for (source, expected, classes) in rows {
        let found = paths(source);
        assert_eq!(short(&found), *expected, "{source}");
        assert_eq!(found.classes, *classes, "{source}");
    }
}

#[test]
fn a_branch_depends_on_the_branches_around_it() {
    let nested = ["T1:2:23 wx rx ry", "T1:2:23 wx rx wy ry", "T1:2:23 wx wy rx ry", "T1:2:9 rx", "T1:2:9 wx rx"];
    check(&[
        ("int x, y; cobegin\nT1: if (x == 1) { if (y == 1) skip; }\nT2: x = 1; y = 1;\ncoend", &nested, 3),
        // The operands of `&&` are branches.
        (
            "int x, y; cobegin\nT1: if (x == 1 && y == 1) skip;\nT2: x = 1; y = 1;\ncoend",
            &["T1:2:19 wx rx ry", "T1:2:19 wx rx wy ry", "T1:2:19 wx wy rx ry", "T1:2:9 rx", "T1:2:9 wx rx"],
            3,
        ),
        // What stands behind a branch in any case does not depend on it.
        (
            "int x, y; cobegin\nT1: if (x == 1) skip;\nif (y == 1) skip;\nT2: x = 1; y = 1;\ncoend",
            &["T1:2:9 rx", "T1:2:9 wx rx", "T1:3:5 ry", "T1:3:5 wy ry"],
            4,
        ),
        // But it does where one side leaves.
        (
            "int x, y;\nvoid f() { if (x == 0) return;\nif (y == 1) skip; }\ncobegin\nT1: f();\nT2: x = 1; y = 1;\ncoend",
            &["T1:2:16 rx", "T1:2:16 wx rx", "T1:3:5 wx rx ry", "T1:3:5 wx rx wy ry", "T1:3:5 wx wy rx ry"],
            3,
        ),
        // The branches on which a call depends.
        (
            "int x, y;\nvoid f() { if (y == 1) skip; }\ncobegin\nT1: if (x == 1) f();\nT2: x = 1; y = 1;\ncoend",
            &["T1:2:16 wx rx ry", "T1:2:16 wx rx wy ry", "T1:2:16 wx wy rx ry", "T1:4:9 rx", "T1:4:9 wx rx"],
            3,
        ),
        // A second round depends on the test of the first.
        (
            "int x; cobegin\nT1: for (int i = 0; i < 2 && x == 0; i++) skip;\nT2: x = 1;\ncoend",
            &[
                "T1:2:21 ",
                "T1:2:21 rx",
                "T1:2:21 rx rx",
                "T1:2:30 rx",
                "T1:2:30 rx rx",
                "T1:2:30 rx wx rx",
                "T1:2:30 wx rx",
            ],
            3,
        ),
    ]);
}

#[test]
fn operations_affect_a_branch_by_the_flow_of_values() {
    let seen = ["T1:2:20 rx", "T1:2:20 wx rx"];
    check(&[
        ("int x; cobegin\nT1: int n = x;   if (n == 0) skip;\nT2: x = 1;\ncoend", &["T1:2:22 rx", "T1:2:22 wx rx"], 2),
        (
            "int x; int id(int v) { return v; } cobegin\nT1: int n = id(x); if (n == 0) skip;\nT2: x = 1;\ncoend",
            &["T1:2:24 rx", "T1:2:24 wx rx"],
            2,
        ),
        ("int x; bool is() { return x == 1; } cobegin\nT1:            if (is()) skip;\nT2: x = 1;\ncoend", &seen, 2),
        // Which constant a function returns is decided by a branch, not by a value.
        (
            "int x;\nbool is() { if (x == 1) return true; return false; }\ncobegin\nT1: if (is()) skip;\n\
             T2: x = 1;\ncoend",
            &["T1:2:17 rx", "T1:2:17 wx rx"],
            2,
        ),
        // But what decides a value is a part of it.
        (
            "int x; cobegin\nT1: int n = x == 1 ? 1 : 0; if (n == 1) skip;\nT2: x = 1;\ncoend",
            &["T1:2:13 rx", "T1:2:13 wx rx", "T1:2:33 rx", "T1:2:33 wx rx"],
            2,
        ),
        (
            "int x; cobegin\nT1: bool b = true && x == 1; if (b) skip;\nT2: x = 1;\ncoend",
            &["T1:2:14 rx", "T1:2:14 wx rx", "T1:2:34 rx", "T1:2:34 wx rx"],
            2,
        ),
        // A local that was overwritten.
        ("int x; cobegin\nT1: int n = x; n = 3; if (n == 0) skip;\nT2: x = 1;\ncoend", &[], 2),
        // What another thread wrote comes from what it read.
        (
            "int x, y; cobegin\nT1: if (x == 0) skip;\nT2: x = y;\nT3: y = 1;\ncoend",
            &[
                "T1:2:9 rx",
                "T1:2:9 ry rx",
                "T1:2:9 ry wx rx",
                "T1:2:9 ry wx wy rx",
                "T1:2:9 ry wy rx",
                "T1:2:9 ry wy wx rx",
                "T1:2:9 wy rx",
                "T1:2:9 wy ry rx",
                "T1:2:9 wy ry wx rx",
            ],
            4,
        ),
        // A write of its own, and what that comes from.
        (
            "int x; cobegin\nT1: x = x + 1; if (x > 0) skip;\nT2: x = 5;\ncoend",
            &["T1:2:20 rx wx rx", "T1:2:20 rx wx wx rx", "T1:2:20 rx wx wx rx", "T1:2:20 wx rx wx rx"],
            4,
        ),
        // The index says which element is read.
        (
            "int x, t[2]; cobegin\nT1: if (t[x] == 0) skip;\nT2: x = 1;\nT3: t[1] = 1;\ncoend",
            &[
                "T1:2:9 rx rt",
                "T1:2:9 rx wx rt",
                "T1:2:9 wt wx rx rt",
                "T1:2:9 wx rx rt",
                "T1:2:9 wx rx wt rt",
                "T1:2:9 wx wt rx rt",
            ],
            3,
        ),
        // Only writes of its own thread: not affected.
        ("int x; cobegin\nT1: x = 1; if (x == 1) skip;\nT2: print(x);\ncoend", &[], 2),
        // Nobody writes.
        ("int x; cobegin\nT1: if (x == 1) skip;\nT2: print(x);\ncoend", &[], 1),
    ]);
}

#[test]
fn only_feasible_orders_are_groups() {
    check(&[
        (
            "int x; lock L; cobegin\nT1: synchronized (L) { if (x == 1) skip; }\n\
             T2: synchronized (L) { x = 1; x = 2; }\ncoend",
            &["T1:2:28 rx", "T1:2:28 wx wx rx"],
            2,
        ),
        ("int x; event e; cobegin\nT1: wait(e); if (x == 1) skip;\nT2: x = 1; set(e);\ncoend", &["T1:2:18 wx rx"], 1),
        ("int x; sem s; cobegin\nT1: P(s); if (x == 1) skip;\nT2: x = 1; V(s);\ncoend", &["T1:2:15 wx rx"], 1),
        (
            "int x; barrier b(2); cobegin\nT1: barrier(b); if (x == 1) skip;\nT2: x = 1; barrier(b);\ncoend",
            &["T1:2:21 wx rx"],
            1,
        ),
        // The notification is lost or not; only then there is a branch.
        ("int x; cobegin\nT1: wait(); if (x == 1) skip;\nT2: x = 1; notify();\ncoend", &["T1:2:17 wx rx"], 2),
        ("int x; cobegin\nT1: int n = x; assume(n == 1); if (n == 1) skip;\nT2: x = 1;\ncoend", &["T1:2:36 wx rx"], 1),
        (
            "int x; cobegin\nT1: atomic { if (x == 1) skip; }\nT2: atomic { x = 1; x = 2; }\ncoend",
            &["T1:2:18 rx", "T1:2:18 wx wx rx"],
            2,
        ),
        // What a cas writes does not come from what it reads, though whether it writes does.
        ("int x; cobegin\nT1: if (cas(x, 0, 1)) skip;\nT2: cas(x, 0, 2);\ncoend", &["T1:2:9 rx", "T1:2:9 wx rx"], 2),
    ]);
}

/// Pairs as `x@2:5 x@3:5`, with `ordered` where happens-before always orders them, `both` where it sometimes does.
fn pairs(source: &str) -> Vec<String> {
    let told = paths(source).pairs.into_iter().map(|((a, b), pair)| {
        let order = match (pair.ordered, pair.unordered) {
            (true, true) => " both",
            (true, false) => " ordered",
            _ => "",
        };
        format!("{} {}{order}", a.2, b.2)
    });
    told.collect()
}

#[test]
fn pairs_are_unprotected_where_threads_are_parallel_and_have_no_lock_in_common() {
    let rows: &[(&str, &[&str])] = &[
        ("int x; cobegin\nT1: x = 1;\nT2: print(x);\ncoend", &["x@2:5 x@3:11"]),
        ("int x; x = 1; cobegin\nT1: print(x);\nT2: print(x);\ncoend x = 2;", &[]),
        ("int x; lock L, M; cobegin\nT1: synchronized (L) { x = 1; }\nT2: synchronized (L) { x = 2; }\ncoend", &[]),
        (
            "int x; lock L, M; cobegin\nT1: synchronized (L) { x = 1; }\nT2: synchronized (M) { x = 2; }\ncoend",
            &["x@2:24 x@3:24"],
        ),
        ("int x; event e; cobegin\nT1: x = 1; set(e);\nT2: wait(e); print(x);\ncoend", &["x@2:5 x@3:20 ordered"]),
        ("int x; event e; cobegin\nT1: set(e); x = 1;\nT2: wait(e); print(x);\ncoend", &["x@2:13 x@3:20"]),
        // A V comes before each later P, so the second write is ordered in one execution and not in the other.
        ("int x; sem s = 1; cobegin\nT1: x = 1; V(s);\nT2: P(s); x = 2;\ncoend", &["x@2:5 x@3:11 both"]),
        ("int x; cobegin\nT1: x = 1; notify();\nT2: wait(); x = 2;\ncoend", &["x@2:5 x@3:13 ordered"]),
        (
            "int x; barrier b(2); cobegin\nT1: x = 1; barrier(b);\nT2: barrier(b); x = 2;\ncoend",
            &["x@2:5 x@3:17 ordered"],
        ),
        // Both atomic, and one alone.
        ("int x; cobegin\nT1: atomic { x = 1; }\nT2: fetch_add(x, 1);\ncoend", &[]),
        ("int x; cobegin\nT1: x = 1;\nT2: fetch_add(x, 1);\ncoend", &["x@2:5 x@3:15"]),
        ("atomic int x; cobegin\nT1: x = 1;\nT2: x = 2;\ncoend", &[]),
        // A cas that fails only reads.
        ("int x = 5; cobegin\nT1: print(x);\nT2: cas(x, 0, 1);\ncoend", &[]),
        // Elements are cells of their own.
        ("int t[2]; cobegin\nT1: t[0] = 1;\nT2: t[1] = 1;\ncoend", &[]),
        ("int t[2]; cobegin\nT1: t[0] = 1;\nT2: t[0] = 1;\ncoend", &["t@2:5 t@3:5"]),
        // Two threads at one place.
        ("int x; parfor (int i = 0; i < 2; i++)\nx = i;", &["x@2:1 x@2:1"]),
        // Until the join; both accesses are made in one execution, not at one time.
        (
            "int x; void f() {\nx = 1; }\nvoid main() { thread w = spawn f();\nx = 2; join(w);\nx = 3; }",
            &["x@2:1 x@4:1"],
        ),
        // Only executions that are not discarded count, those that fail do.
        ("int x; cobegin\nT1: x = 1; assume(false);\nT2: x = 2;\ncoend", &[]),
        ("int x; cobegin\nT1: x = 1;\nT2: x = 2; error();\ncoend", &["x@2:5 x@3:5"]),
        ("int x; cobegin\nT1: error(); x = 1;\nT2: x = 2;\ncoend", &[]),
        ("int x; event e; cobegin\nT1: x = 1;\nT2: x = 2; wait(e);\ncoend", &["x@2:5 x@3:5"]),
    ];
    for (source, expected) in rows {
        assert_eq!(pairs(source), *expected, "{source}");
    }
}

/// Outcomes as `T1:2:9#1 true`.
fn outcomes(source: &str) -> Vec<String> {
    let mut told = Vec::new();
    for ((thread, place), branch) in &paths(source).branches {
        for (instance, outcomes) in &branch.outcomes {
            told.extend(outcomes.iter().map(|outcome| format!("{thread}:{place}#{instance} {outcome}")));
        }
    }
    told
}

#[test]
fn outcomes_are_those_of_executions_that_are_not_discarded() {
    let rows: &[(&str, &[&str])] = &[
        ("int x; cobegin\nT1: if (x == 1) skip;\nT2: x = 1;\ncoend", &["T1:2:9#1 false", "T1:2:9#1 true"]),
        // A `!` belongs to the text of the condition; but the operands of `&&` are branches.
        ("int x; cobegin\nT1: if (!(x == 1)) skip;\nT2: skip;\ncoend", &["T1:2:9#1 true"]),
        (
            "void main() {\nif (!(choose(1, 1) == 1 && !(choose(1, 1) == 1))) skip; }",
            &["main:2:28#1 false", "main:2:7#1 true"],
        ),
        (
            "void main() {\nbool b = true && choose(0, 1) == 1;\nprint(b ? 1 : 2); }",
            &["main:2:10#1 false", "main:2:10#1 true", "main:3:7#1 false", "main:3:7#1 true"],
        ),
        ("void main() {\nif (true) skip; while (false) skip; do skip; while (1 > 2); }", &[]),
        (
            "void main() {\nfor (int i = 0; i < 2; i++) skip;\nint j = 1; do j--; while (j > 0); }",
            &["main:2:17#1 true", "main:2:17#2 true", "main:2:17#3 false", "main:3:27#1 false"],
        ),
        (
            "void main() {\nparfor (int i = 0; i < 1; i++) { if (i == 0) skip; } }",
            &["main:2:20#1 true", "main:2:20#2 false", "parfor@2[0]:2:38#1 true"],
        ),
        (
            "int x; cobegin\nT1: if (x == 1) skip; assume(x == 1);\nT2: x = 1;\ncoend",
            &["T1:2:9#1 false", "T1:2:9#1 true"],
        ),
        ("int x; cobegin\nT1: int n = x; if (n == 1) skip; assume(n == 1);\nT2: x = 1;\ncoend", &["T1:2:20#1 true"]),
        // A branch is evaluated at once, unless a print is before it: that waits for the next step.
        (
            "cobegin\nT1: if (choose(0, 1) > 0) skip; assume(false);\nT2: error();\ncoend",
            &["T1:2:9#1 false", "T1:2:9#1 true"],
        ),
        ("cobegin\nT1: int n = choose(0, 1); print(n); if (n > 0) skip; assume(false);\nT2: error();\ncoend", &[]),
        (
            "lock L; cobegin\nT1: int n = choose(0, 1); print(n); if (n > 0) skip; lock(L);\nT2: lock(L); error();\ncoend",
            &["T1:2:41#1 false", "T1:2:41#1 true"],
        ),
    ];
    for (source, expected) in rows {
        assert_eq!(outcomes(source), *expected, "{source}");
    }
}

#[test]
fn sets_of_access_manners_are_counted() {
    let rows: &[(&str, usize, usize)] = &[
        (
            "int x, y; lock L; cobegin\nT1: if (x == 0) { lock(L); y = 1; unlock(L); } else y = 1;\nT2: x = 1;\ncoend",
            2,
            2,
        ),
        // One round or two: the same set.
        (
            "int x; lock L; cobegin\nT1: for (int i = 0; i < choose(1, 2); i++) synchronized (L) { x = 1; }\n\
          T2: print(x);\ncoend",
            1,
            1,
        ),
        // Two threads change roles.
        ("int x, y; void f() { if (cas(x, 0, 1)) y = 1; } cobegin\nT1: f();\nT2: f();\ncoend", 1, 2),
        // The section of a thread that waits for ever has no end.
        (
            "int x; lock L, M; cobegin\nT1: lock(L); x = 1; lock(M); unlock(M); unlock(L);\n\
          T2: lock(M); lock(L); x = 2; unlock(L); unlock(M);\ncoend",
            2,
            2,
        ),
    ];
    for &(source, sets, by_thread) in rows {
        let found = paths(source);
        assert_eq!((found.mannersets, found.mannersets_by_thread), (sets, by_thread), "{source}");
    }
}
