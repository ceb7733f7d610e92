//! Arrays of objects, of synchronisation objects, of handles and of arrays: what they mean, computed by hand, and the
//! same as the program in which every element is a variable of its own.

use cssame::budget::{Budget, Limits};
use cssame::explore::{Query, count, futures};
use cssame::form::{read_in_context, read_name};
use cssame::ir::ReadId;
use std::collections::BTreeSet;
use support::model;

/// `what is printed: status`, each distinct one once, and the number of futures.
fn outcomes(text: &str) -> (BTreeSet<String>, u64) {
    let model = model(text);
    let limits = Limits { max_states: Some(3_000_000), ..Limits::default() };
    let answer = futures(model.machine(), &Query::UP_TO_THE_READ, &Budget::from(limits));
    assert!(answer.is_complete(), "{text}");
    let line = |outcome: &cssame::explore::Outcome| {
        let lines: Vec<&str> = outcome.outputs.iter().flat_map(|&(_, output)| answer.tables.lines(output)).collect();
        format!("{}: {}", lines.join(", "), outcome.status.word())
    };
    (answer.outcomes.iter().map(line).collect(), count(model.machine(), &Budget::from(limits)).futures)
}

fn check(text: &str, expected: &[&str]) {
    assert_eq!(outcomes(text).0, expected.iter().map(|line| (*line).to_owned()).collect(), "{text}");
}

#[test]
fn elements_are_objects_of_their_own() {
    let classes = "class Cell { lock guard; int value; void add(int n) { synchronized (guard) { value += n; } } }";
    check(
        &format!("{classes} Cell c[2]; c[0].add(1); c[1].add(2); c[1].add(3); print(c[0].value, c[1].value);"),
        &["1 5: ok"],
    );
    let text = format!(
        "{classes} Cell c[2]; parfor (int i = 0; i < 2; i++) {{ c[i].add(1); c[1 - i].add(10); }} \
         print(c[0].value, c[1].value);"
    );
    check(&text, &["11 11: ok"]);
    check("int t[2][3] = {1, 2, 3, 4}; print(t[0][2], t[1][0], t[1][1]);", &["3 4 0: ok"]);
    check("sem s[2] = 1; P(s[0]); P(s[1]); print(1); P(s[0]);", &["1: deadlock"]);
    check("event e[2]; cobegin A: wait(e[1]); print(1); B: set(e[0]); coend", &[": deadlock"]);
    check("barrier b[2](2); int n; cobegin A: barrier(b[1]); print(n); B: n = 1; barrier(b[1]); coend", &["1: ok"]);
    check("bool b[2]; string s[2]; double d[2]; print(b[1], s[1], d[1]);", &["false  0.0: ok"]);
}

#[test]
fn an_index_is_tested_where_its_element_is_used() {
    check("int t[2][3]; int i = 2; print(0); print(t[i][0]);", &["0: index-out-of-range"]);
    check("int t[2][3]; int i = 3; print(0); print(t[0][i]);", &["0: index-out-of-range"]);
    check("lock f[2]; int i = -1; lock(f[i]);", &[": index-out-of-range"]);
    let method = "class C { int n; void none() { print(1); } } C c[2]; int i = 2; c[i].none();";
    check(method, &[": index-out-of-range"]);
    check("void none(lock l) { print(1); } lock f[2]; int i = 2; none(f[i]);", &[": index-out-of-range"]);
    // The thread starts before the index is tested, but a failure ends the execution at once.
    let spawned = "thread w[1]; int x; void f() { x = 1; } void main() { int i = 1; w[i] = spawn f(); }";
    check(spawned, &[": index-out-of-range"]);
    check(
        "void f(int t[], int i) { t[i] = 1; print(length(t)); } int a[3]; f(a, 2); f(a, 3);",
        &["3: index-out-of-range"],
    );
    check("void f(int t[]) { t[2] = 1; } int a[3][2]; f(a[0]);", &[": index-out-of-range"]);
}

#[test]
fn a_lock_is_fixed_where_it_is_taken() {
    check("lock f[2]; int i = 0; synchronized (f[i]) { i = 1; } lock(f[0]); lock(f[1]); print(i);", &["1: ok"]);
    let shared = "lock f[2]; int i; synchronized (f[i]) { i = 1; } lock(f[0]); lock(f[1]); print(i);";
    check(shared, &["1: ok"]);
    check("lock f[2]; int i = 0; lock(f[i]); i = 1; unlock(f[i]);", &[": unlock-not-held"]);
}

#[test]
fn arrays_are_passed_by_reference() {
    check("void f(int t[]) { t[0] = length(t); } int a[3], b[5]; f(a); f(b); print(a[0], b[0]);", &["3 5: ok"]);
    check("void f(int t[]) { t[1] = 7; } int m[2][3]; f(m[1]); print(m[0][1], m[1][1], length(m));", &["0 7 2: ok"]);
    let rows = "int sum(int t[][2]) { int s = 0; for (int i = 0; i < length(t); i++) s += t[i][0] + t[i][1]; return s; } \
                int m[2][2] = {1, 2, 3, 4}; print(sum(m));";
    check(rows, &["10: ok"]);
    let arms = "void both(int t[]) { cobegin A: t[0] = length(t); B: t[1] = length(t); coend } int a[2]; both(a); \
                print(a[0], a[1]);";
    check(arms, &["2 2: ok"]);
    let locks = "void all(lock f[]) { for (int i = 0; i < length(f); i++) lock(f[i]); } lock f[3]; all(f); lock(f[2]);";
    check(locks, &[": deadlock"]);
}

#[test]
fn handles_in_an_array_name_their_threads() {
    let text = "thread w[2][2]; void f(int n) { print(n); } \
                void main() { for (int i = 0; i < 2; i++) w[i][1] = spawn f(i); join(w[0][1]); join(w[1][1]); join(w[0][0]); }";
    let model = model(text);
    let answer = futures(model.machine(), &Query::UP_TO_THE_READ, &Budget::from(Limits::default()));
    let names: BTreeSet<String> = answer
        .outcomes
        .iter()
        .flat_map(|outcome| &outcome.outputs)
        .map(|&(path, _)| answer.tables.path_name(&model.program().texts, path))
        .collect();
    assert_eq!(names, ["w[0][1]".to_owned(), "w[1][1]".to_owned()].into());
    let brackets = text.replace("w[i][1] =", "w[\"[\" == \"]\" ? 0 : i][1] =");
    let model = support::model(&brackets);
    let answer = futures(model.machine(), &Query::UP_TO_THE_READ, &Budget::from(Limits::default()));
    let named = |outcome: &cssame::explore::Outcome| {
        outcome.outputs.iter().any(|&(path, _)| answer.tables.path_name(&model.program().texts, path) == "w[1][1]")
    };
    assert!(answer.outcomes.iter().any(named));
    assert_eq!(outcomes(text).0, ["0, 1: error".to_owned()].into());
}

/// Whether a definition is a term of the read of `x` in the last line. Where no thread runs beside the read it has none.
fn last_read_has_term(text: &str, definition: &str) -> bool {
    let model = model(text);
    let form = model.form();
    let last = |read: &ReadId| read_name(model.sources(), model.program(), *read).starts_with("x@9:");
    let Some(read) = form.shared_reads().into_iter().find(last) else { return false };
    let name = |id| cssame::form::definition_name(model.sources(), model.program(), id);
    form.terms(read).into_iter().any(|id| name(id) == definition)
}

#[test]
fn a_handle_that_a_method_sets_may_be_of_another_thread() {
    let program = |handles: &str, second: &str, join: &str| {
        format!(
            "int x;\nvoid f() {{ }}\nvoid g() {{ x = 1; }}\nclass P {{ thread t; void go() {{ t = spawn f(); }} }}\n\
             void set(thread w[]) {{ w[0] = spawn f(); }}\n{handles}\nvoid main() {{\n  {second}\n  join({join}); print(x); }}\n"
        )
    };
    let named = |text: &str| last_read_has_term(text, "x@initial");
    // The thread of `g` may not have run when `x` is read: its handle was overwritten.
    assert!(named(&program("P p;", "p.t = spawn g(); p.go();", "p.t")));
    assert!(named(&program("thread w[2];", "w[0] = spawn g(); set(w);", "w[0]")));
    assert!(named(&program("thread w[2]; int i;", "w[0] = spawn g(); w[i] = spawn f();", "w[0]")));
    // Here it certainly has.
    assert!(!named(&program("P p;", "p.t = spawn g();", "p.t").replace("t = spawn f();", "")));
    assert!(!named(
        &program("thread w[2];", "w[0] = spawn g(); w[1] = spawn f();", "w[0]").replace("w[0] = spawn f();", "")
    ));
}

#[test]
fn reads_are_named_by_what_is_written_and_what_is_known() {
    let text = "class C { int n; int get() { return n; } } C c[2]; int i = 1, t[2]; c[0].n = 1;\n\
                cobegin A: c[i].n = t[i]; print(c[i].n, c[0].n, c[1].get(), c[0].get()); B: c[1].n = 2; t[1] = 3; coend";
    let model = model(text);
    let all = model.program().reads.ids().map(|id| read_name(model.sources(), model.program(), id));
    let names: Vec<String> = all.filter(|name| name.contains('c') || name.starts_with('t')).collect();
    assert_eq!(names, ["t@2:21", "c[i].n@2:33", "c[0].n@2:41"]);
    let copied = model.in_contexts().unwrap();
    let shared = copied.form().shared_reads();
    let all = shared.into_iter().map(|id| read_in_context(copied.sources(), copied.program(), id));
    let names: BTreeSet<String> = all.filter(|name| name.contains("n@")).collect();
    assert_eq!(names, ["c[0].n@1:37", "c[0].n@2:41", "c[1].n@1:37", "c[i].n@2:33"].map(str::to_owned).into());
}

/// The table of philosophers, and the same with a variable for each fork.
fn philosophers(count: usize) -> (String, String) {
    let array = format!(
        "lock fork[{count}]; int meals[{count}]; parfor (int i = 0; i < {count}; i++) {{ lock(fork[i]); \
         lock(fork[(i + 1) % {count}]); meals[i]++; unlock(fork[(i + 1) % {count}]); unlock(fork[i]); }} print(meals[0]);"
    );
    let mut plain = String::new();
    (0..count).for_each(|one| plain.push_str(&format!("lock fork{one}; int meals{one}; ")));
    plain.push_str("cobegin ");
    for one in 0..count {
        let next = (one + 1) % count;
        plain.push_str(&format!(
            "T{one}: lock(fork{one}); lock(fork{next}); meals{one}++; unlock(fork{next}); unlock(fork{one}); "
        ));
    }
    plain.push_str("coend print(meals0);");
    (array, plain)
}

#[test]
fn philosophers_by_index_are_those_spelled_out() {
    for number in 3..=6 {
        let (array, plain) = philosophers(number);
        let (of_array, of_plain) = (outcomes(&array), outcomes(&plain));
        assert_eq!(of_array, of_plain, "{number}");
        assert_eq!(of_array.0, [": deadlock".to_owned(), "1: ok".to_owned()].into());
        let deadlocks = |text: &str| {
            let model = model(text);
            futures(model.machine(), &Query::UP_TO_THE_READ, &Budget::from(Limits::default())).deadlocks.len()
        };
        assert_eq!(deadlocks(&array), deadlocks(&plain), "{number}");
    }
}

#[test]
fn a_parameter_names_the_cells_of_the_arrays_that_it_takes() {
    let text = "int t[3], u[3]; atomic int a[2]; void put(int v[], int i) { v[i] = 7; } void set(int w[]) { put(w, 1); }\n\
                void mark(int m[]) { m[0] = 1; } void main() { put(t, 0); set(t); put(u, 1); mark(a); }";
    let model = model(text);
    let program = model.program();
    let named = |name: &str| {
        let is_named = |symbol: &&cssame::ir::Symbol| program.texts.get(symbol.name) == name;
        program.symbols.iter().find(is_named).unwrap()
    };
    let first = named("t").cells_of;
    assert!(["u", "v", "w"].iter().all(|name| named(name).cells_of == first));
    assert_eq!(program.texts.get(program.symbols[first].name), "t");
    assert_eq!(named("m").cells_of, named("a").cells_of);
    assert!(named("m").atomic && !named("v").atomic);
}
