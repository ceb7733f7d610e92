//! Facts of failures of small programs.

use super::facts;
use crate::{ExecutionStatus, Naming, Random, run};
use cssame_front::compile;
use cssame_source::SourceMap;
use cssame_vm::{Failure, Machine, ThreadIndex, Visibility};

/// The facts of the first failure by seeds, all accesses being visible or none.
fn facts_of(text: &str) -> String {
    let mut sources = SourceMap::default();
    let file = sources.add("test.csm", text);
    let compiled = compile(&sources, file, &[]);
    let program = compiled.program.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics));
    let of = |visible: &Visibility| {
        let machine = Machine::new(&program, visible);
        let naming = Naming { program: &program, sources: &sources, machine: &machine };
        let executions = (0..200).map(|seed| run(&machine, &mut Random::new(seed), 10_000, &mut ()));
        let found = executions.into_iter().find_map(|execution| match execution.status {
            ExecutionStatus::Failed(failure) => Some(facts(&naming, &failure, &execution.steps).join("; ")),
            _ => None,
        });
        found.expect("a failure")
    };
    of(&Visibility::all(&program))
}

#[test]
fn a_failed_assertion_tells_its_operands() {
    let shown = |condition: &str| {
        facts_of(&format!(
            "int x = 1, y = 2; bool done = true; int v[3]; string s = \"a b\"; double d = 0.5; lock L;\n\
             int f(int a) {{ if (a > 1) return a + 1; return a; }}\n\
             class C {{ int n = 7; bool is(int m) {{ return n == m; }} void check() {{ assert(n < 7); }} }} C c;\n\
             void main() {{ int k = 1; v[1] = 9; if (k == 1 && x == 1) k = 2; {condition} }}"
        ))
    };
    assert_eq!(shown("assert(x == y);"), "x is 1; y is 2");
    assert_eq!(shown("assert(x + 1 == k + 4);"), "x is 1; k is 2");
    assert_eq!(shown("assert(v[k - 1] < v[0], \"text\");"), "v[1] is 9; k is 2; v[0] is 0");
    assert_eq!(shown("assert(x == 1 && f(y) > 3 || !done);"), "x is 1; f(y) is 3; y is 2; done is true");
    assert_eq!(shown("assert(x == 2 && f(y) > 3);"), "x is 1");
    assert_eq!(shown("assert((done ? x : y) + d < 1.0);"), "done is true; x is 1; d is 0.5");
    assert_eq!(shown("assert(s == \"a\");"), "s is \"a b\"");
    assert_eq!(shown("assert(c.is(3));"), "c.is(3) is false");
    assert_eq!(shown("c.check();"), "n is 7");
    assert_eq!(shown("assert(false);"), "");
    assert_eq!(shown("lock(L); assert(trylock(L));"), "trylock(L) is false");
    assert_eq!(shown("assert(fetch_add(x, 1) == 5 - x);"), "fetch_add(x) is 1; x is 2");
    assert_eq!(shown("int i = 0; while (true) { assert(i < 2 && v[i] == 0); i++; }"), "i is 1; v[1] is 9");
    assert_eq!(shown("int i = 0; while (true) { assert(v[i] < 2 || i == 5); i++; }"), "v[1] is 9; i is 1");
}

#[test]
fn an_index_out_of_range_tells_index_and_size() {
    let shown = |text: &str| {
        facts_of(&format!(
            "int v[4]; int m[2][3]; class A {{ int log[2]; }} A a[3]; lock L[2];\n\
             void fill(int w[], int n) {{ w[n] = 1; }}\nvoid main() {{ int i = 5; {text} }}"
        ))
    };
    assert_eq!(shown("v[i] = 1;"), "index 5, size 4: v[5]; i is 5");
    assert_eq!(shown("i = v[i - 6];"), "index -1, size 4: v[-1]; i is 5");
    assert_eq!(shown("m[1][i] = 1;"), "index 5, size 3: m[1][5]; i is 5");
    assert_eq!(shown("m[i][1] = 1;"), "index 5, size 2: m[5][1]; i is 5");
    assert_eq!(shown("a[2].log[i] = 1;"), "index 5, size 2: a[2].log[5]; i is 5");
    assert_eq!(shown("fill(v, i);"), "index 5, size 4: v[5]; n is 5");
    assert_eq!(shown("fill(m[1], i);"), "index 5, size 3: m[1][5]; n is 5");
    assert_eq!(shown("lock(L[i]);"), "index 5, size 2: L[5]; i is 5");
}

#[test]
fn a_division_by_zero_tells_its_operands() {
    assert_eq!(facts_of("int x = 3, y = 2; int z = x / (y - 2);"), "x is 3; y - 2 is 0; y is 2");
    assert_eq!(facts_of("int x = 3, y; int z = x % y;"), "x is 3; y is 0");
}

#[test]
fn a_lock_that_is_not_held_tells_its_holder() {
    let text = "lock L; rwlock R;\nevent e, f;\ncobegin\n  A: { OP set(e); wait(f); }\n  B: { wait(e); unlock(LOCK); }\ncoend\n";
    let shown = |operation: &str, lock: &str| facts_of(&text.replace("OP", operation).replace("LOCK", lock));
    assert_eq!(shown("lock(L);", "L"), "L is held by A since 4:8");
    assert_eq!(shown("lock(L); unlock(L);", "L"), "nobody holds L: A gave it back at 4:17");
    assert_eq!(shown("", "L"), "nobody holds L, or has held it");
    assert_eq!(shown("rdlock(R);", "R"), "R is read by A");
    assert_eq!(shown("wrlock(R);", "R"), "R is held by A since 4:8");
    assert_eq!(
        facts_of("lock L; cond c; lock(L); unlock(L); wait(c, L);"),
        "nobody holds L: main gave it back at 1:26"
    );
}

#[test]
fn limits_and_handles_are_told() {
    assert_eq!(
        facts_of("int deeper(int n) { return deeper(n + 1); }\nprint(deeper(0));"),
        "1,000 calls inside each other are the limit, the last one of deeper"
    );
    assert_eq!(
        facts_of("void main() { int n = 1; while (n > 0) { n = 1; } }"),
        "1,000,000 operations without one that other threads can see are the limit, in an atomic block 10,000,000"
    );
    assert_eq!(facts_of("thread t[2]; void work() { } join(t[1]);"), "t[1] is no thread");
}

#[test]
fn a_failure_of_another_execution_may_name_another_slot() {
    let mut sources = SourceMap::default();
    let file = sources.add("test.csm", "int x = 1; void main() { assert(x == 2); }");
    let program = compile(&sources, file, &[]).program.unwrap();
    let machine = Machine::new(&program, &Visibility::all(&program));
    let naming = Naming { program: &program, sources: &sources, machine: &machine };
    let execution = run(&machine, &mut Random::new(0), 100, &mut ());
    let ExecutionStatus::Failed(failure) = execution.status else { panic!("{:?}", execution.status) };
    let elsewhere = Failure { thread: ThreadIndex(7), ..failure };
    assert_eq!(facts(&naming, &elsewhere, &execution.steps), ["x is 1"]);
}
