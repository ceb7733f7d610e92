//! The worked examples of the CSSAME paper, as exact facts: pi functions, pruned definitions.

use cssame::form::{PiReport, report};
use support::model;

fn pi(source: &str) -> PiReport {
    let model = model(source);
    report(model.sources(), model.program(), model.form())
}

/// `read: term term | pruned(reason)`, one line a pi function.
fn show(source: &str) -> String {
    let report = pi(source);
    let mut lines = Vec::new();
    for pi in &report.pis {
        let terms: Vec<String> = pi.terms.iter().map(|term| term.version.clone()).collect();
        let pruned: Vec<String> = pi
            .pruned
            .iter()
            .map(|pruned| {
                let lock = pruned.lock.as_deref().map_or(String::new(), |lock| format!(" {lock}"));
                format!("{}({}{lock})", pruned.term.version, pruned.reason.word())
            })
            .collect();
        lines.push(
            format!("{} in {}: {} | {}", pi.read, pi.thread, terms.join(" "), pruned.join(" ")).trim_end().to_owned(),
        );
    }
    lines.join("\n")
}

#[test]
fn figure_2_sees_the_last_write_of_each_body() {
    let source = "int a = 0;\nlock L;\ncobegin\n  T1: { lock(L); a = 1; a = 2; unlock(L); }\n  T2: { lock(L); a = 3; unlock(L); }\n  \
                  T3: { lock(L); print(a); unlock(L); }\ncoend\n";
    assert_eq!(show(source), "a@6:24 in T3: a_0 a_2 a_3 | a_1(killed-before-unlock L)");
}

#[test]
fn figure_2_without_locks_sees_all() {
    let source = "int a = 0;\ncobegin\n  T1: { a = 1; a = 2; }\n  T2: { a = 3; }\n  T3: { print(a); }\ncoend\n";
    assert_eq!(show(source), "a@5:15 in T3: a_0 a_1 a_2 a_3 |");
    let source = "int a = 0;\nlock L;\ncobegin\n  T1: { lock(L); a = 1; unlock(L); lock(L); a = 2; unlock(L); }\n  \
                  T2: { lock(L); a = 3; unlock(L); }\n  T3: { lock(L); print(a); unlock(L); }\ncoend\n";
    assert_eq!(show(source), "a@6:24 in T3: a_0 a_1 a_2 a_3 |");
}

const FIGURE_5: &str = "int n = 1;\nlock L;\ncobegin\n  T1: { lock(L); n = 0; unlock(L); }\n  \
                        T2: { lock(L); sleep(10); n = 3; unlock(L); barrier(2); }\n  \
                        T3: { int result; barrier(2); lock(L); result = 21 / n; print(result); unlock(L); }\ncoend\n";

#[test]
fn figure_5_the_barrier_overwrites_the_initial_value() {
    assert_eq!(show(FIGURE_5), "n@6:56 in T3: n_1 n_2 | n_0(overwritten)");
    let without = FIGURE_5.replace("barrier(2);", "");
    assert_eq!(show(&without), "n@6:45 in T3: n_0 n_1 n_2 |");
}

#[test]
fn figure_6_has_four_pi_functions_of_two_terms() {
    let source = "int n0, n1, n2, n3, sum;\ncobegin\n  T1: n0 += 1;\n  T2: n1 += 1;\n  T3: n2 += 1;\n  T4: n3 += 1;\n  \
                  T5: { sum = n0 + n1 + n2 + n3; print(sum); }\ncoend\n";
    let expected = "n0@7:15 in T5: n0_0 n0_1 |\nn1@7:20 in T5: n1_0 n1_1 |\nn2@7:25 in T5: n2_0 n2_1 |\nn3@7:30 in T5: n3_0 n3_1 |";
    assert_eq!(show(source), expected);
}

#[test]
fn figure_7_has_two_terms_for_each_variable() {
    let source = "int a, b;\nlock L;\ncobegin\n  T1: { lock(L); a = 1; b = 1; unlock(L); }\n  \
                  T2: { int z = 0; lock(L); a = 2; b = 2; unlock(L); lock(L); if (a == 1) z = b; print(a, z); unlock(L); }\ncoend\n";
    let expected = "a@5:67 in T2: a_1 a_2 |\nb@5:79 in T2: b_1 b_2 |\na@5:88 in T2: a_1 a_2 |";
    assert_eq!(show(source), expected);
}

#[test]
fn a_join_overwrites_what_was_before_the_fork() {
    let source = "int x = 0;\ncobegin\n  T1: x = 1;\n  T2: x = 2;\n  T3: skip;\ncoend\nprint(x);\n";
    assert_eq!(show(source), "x@7:7 in main: x_1 x_2 | x_0(overwritten)");
}

#[test]
fn an_event_orders_and_overwrites() {
    let source = "int x = 0;\nevent e;\ncobegin\n  T1: { x = 1; set(e); x = 2; }\n  T2: { print(x); wait(e); print(x); }\ncoend\n";
    let expected = "x@5:15 in T2: x_0 x_1 x_2 |\nx@5:34 in T2: x_1 x_2 | x_0(overwritten)";
    assert_eq!(show(source), expected);
}

#[test]
fn cyclic_barriers_separate_the_parts_of_a_loop() {
    let source = "int x = 0;\nbarrier b(2);\ncobegin\n  T1: { for (int i = 0; i < 3; i++) { x = 1; x = 2; barrier(b); barrier(b); } }\n  \
                  T2: { for (int i = 0; i < 3; i++) { barrier(b); print(x); barrier(b); } }\ncoend\n";
    let report = pi(source);
    // The write that is replaced before the barrier is never seen; the initial value is replaced as well, but only exact rounds show it.
    let terms: Vec<&str> = report.pis.iter().flat_map(|pi| pi.terms.iter()).map(|term| term.version.as_str()).collect();
    assert!(!terms.contains(&"x_1"), "{terms:?}");
}

#[test]
fn spawned_threads_are_parallel_until_they_are_joined() {
    let source = "int x = 0;\nvoid f() { x = 1; }\nvoid main() {\n  thread t = spawn f();\n  print(x);\n  join(t);\n  print(x);\n}\n";
    assert_eq!(show(source), "x@5:9 in main: x_0 x_1 |");
    let report = pi(source);
    assert_eq!(report.single.len(), 1);
    assert_eq!(report.single[0].terms[0].version, "x_1");
}

#[test]
fn a_branch_that_a_constant_decides_is_left_out() {
    let source = "int flag = 0, a = 0;\ncobegin\n  T1: { if (flag) a = 1; }\n  T2: { flag = 0; print(a); }\ncoend\n";
    assert_eq!(show(source), "flag@3:13 in T1: flag_0 flag_1 |");
    let changed = source.replace("flag = 0; ", "flag = 1; ");
    assert_eq!(show(&changed), "flag@3:13 in T1: flag_0 flag_1 |\na@4:25 in T2: a_0 a_1 |");
}

#[test]
fn constants_that_follow_from_constants_are_found() {
    let source =
        "int f, g, a;\ncobegin\n  T1: { if (f) g = 1; if (g) a = 1; }\n  T2: { f = 0; g = 0; print(a); }\ncoend\n";
    assert_eq!(show(source), "f@3:13 in T1: f_0 f_1 |\ng@3:27 in T1: g_0 g_2 |");
}

/// The terms of the reads of a variable, by version.
fn terms_of(source: &str, variable: &str) -> Vec<Vec<String>> {
    let report = pi(source);
    let mut reads: Vec<_> = report.pis.iter().chain(&report.single).filter(|read| read.variable == variable).collect();
    reads.sort_by_key(|read| read.span);
    reads.iter().map(|read| read.terms.iter().map(|term| term.version.clone()).collect()).collect()
}

#[test]
fn behind_a_flag_the_initial_value_is_overwritten() {
    let passed = |test: &str| format!("int data, flag;\ncobegin\nT1: {{ data = 42; flag = 1; }}\nT2: {test}\ncoend\n");
    assert_eq!(terms_of(&passed("if (flag == 1) print(data);"), "data"), [["data_1"]]);
    assert_eq!(terms_of(&passed("while (flag == 0) skip; print(data);"), "data"), [["data_1"]]);
    assert_eq!(terms_of(&passed("if (flag == 0) skip; else print(data);"), "data"), [["data_1"]]);
    // The other side, another value, and two reads of the flag tell nothing.
    assert_eq!(terms_of(&passed("if (flag == 0) print(data);"), "data"), [["data_0", "data_1"]]);
    assert_eq!(terms_of(&passed("if (flag < 2) print(data);"), "data"), [["data_0", "data_1"]]);
    assert_eq!(terms_of(&passed("if (flag + flag == 2) print(data);"), "data"), [["data_0", "data_1"]]);
    let report = pi(&passed("if (flag == 1) print(data);"));
    let pruned: Vec<&str> = report.single.iter().flat_map(|read| &*read.pruned).map(|one| one.reason.word()).collect();
    assert_eq!(pruned, ["overwritten"]);
}

#[test]
fn a_flag_that_is_set_before_the_write_excludes_nothing() {
    let text = "int data, flag;\ncobegin\nT1: { flag = 1; data = 42; }\nT2: if (flag == 1) print(data);\ncoend\n";
    assert_eq!(terms_of(text, "data"), [["data_0", "data_1"]]);
    let one_way = "int data, flag, other;\ncobegin\nT1: { if (other == 1) data = 42; flag = 1; }\n\
                   T2: if (flag == 1) print(data);\nT3: other = 1;\ncoend\n";
    assert_eq!(terms_of(one_way, "data"), [["data_0", "data_1"]]);
    let two_setters = "int data, flag;\ncobegin\nT1: { data = 42; flag = 1; }\nT2: if (flag == 1) print(data);\n\
                       T3: flag = 1;\ncoend\n";
    assert_eq!(terms_of(two_setters, "data"), [["data_0", "data_1"]]);
}

#[test]
fn whoever_finds_the_flag_set_or_sets_it_has_the_value() {
    let text = "bool ready; int value; lock L;\nint get() { if (!ready) { lock(L); if (!ready) { value = 42; ready = true; } \
                unlock(L); } return value; }\ncobegin\nT1: print(get());\nT2: print(get());\ncoend\nprint(value);\n";
    for terms in terms_of(text, "value") {
        assert!(!terms.contains(&"value_0".to_owned()), "{terms:?}");
    }
}
