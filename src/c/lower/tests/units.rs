//! Programs of several files.

use super::{Settings, holds, lowered_with};

#[test]
fn external_names_are_linked_and_static_ones_are_not() {
    let head =
        "#include <pthread.h>\nstruct q { int n; pthread_mutex_t m; }; extern struct q q; extern int x; int f(int);\n";
    let a = format!(
        "{head}static int s = 1; int x; int main(void) {{ pthread_mutex_lock(&q.m); q.n = s; x = f(2); return 0; }}"
    );
    let b =
        format!("{head}static int s = 2; int x = 5; struct q q = {{ 3 }}; int f(int a) {{ s = a; q.n++; return x; }}");
    let (text, lowered) = lowered_with(&[&a, &b], &Settings::default()).expect("it is read");
    holds(
        &text,
        &[
            "global s: int = 1",
            "global q.n: int = 3",
            "global q.m: lock",
            "global x: int = 5",
            "global s: int = 2",
            "lock q.m",
            "%1 = call f(2)",
        ],
    );
    let program = lowered.program;
    let fields = program.symbols.iter().filter(|symbol| program.texts.get(symbol.name) == "n");
    assert_eq!(fields.count(), 1, "the member of both files is one");
    assert_eq!(program.classes.len(), 1);
}

#[test]
fn a_name_is_defined_once() {
    let found = lowered_with(&["int x = 1; int main(void) { return x; }", "int x = 2;"], &Settings::default());
    assert_eq!(found.err().unwrap_or_default(), ["second definition of `x` is not read at `x`"]);
}
