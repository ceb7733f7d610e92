//! Programs, and what stands in their way.

use super::library::{Known, known, names};
use super::{Obstacle, Reason, is_cpp, obstacles, offered, refusal};
use crate::tree::{MemoryFiles, Options, add_bytes, read};
use cssame_source::SourceMap;
use std::collections::BTreeSet;

fn found(text: &str) -> (SourceMap, Vec<Obstacle>) {
    let mut sources = SourceMap::default();
    let main = add_bytes(&mut sources, "main.c", text.as_bytes());
    let reading = read(&mut sources, main, &MemoryFiles::new(), &Options::default());
    let messages: Vec<&str> = reading.diagnostics.iter().map(|one| one.message.as_str()).collect();
    let unit = reading.unit.unwrap_or_else(|| panic!("{messages:?}\n{text}"));
    (sources, obstacles(&unit))
}

/// `reason at text` of each obstacle of a `main` with these statements behind these declarations.
fn in_main(declarations: &str, statements: &str) -> Vec<String> {
    let head =
        "#include <pthread.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <stddef.h>\n";
    let (sources, found) = found(&format!("{head}{declarations}\nint main(void) {{ {statements}\nreturn 0; }}"));
    found.iter().map(|one| format!("{} at `{}`", one.reason, sources.text(one.place.span))).collect()
}

#[test]
fn stages_one_and_two_are_read() {
    for (declarations, statements) in [
        ("int x, a[3]; struct s { int v; struct s *n; } t = { 1, &t };", "x = a[x] + t.n->v; goto l; l: x = ({ 3; });"),
        ("pthread_mutex_t m[2], *p = &m[1];", "pthread_mutex_lock(p); pthread_mutex_trylock(&m[0]);"),
        ("void *w(void *a) { return (void *)((long)a + 1); }", "pthread_t t; pthread_create(&t, 0, w, (void *)3);"),
        (
            "int w(int *a) { return *a; }",
            "pthread_t t; int n = 2, v[n]; pthread_create(&t, 0, (void *(*)(void *))w, v);",
        ),
        (
            "_Thread_local int x; static void c(int *p) {}",
            "int y __attribute__((cleanup(c))) = x; printf(\"%d %s\\n\", y, \"a\");",
        ),
        (
            "struct base { int x; }; struct derived { struct base b; int y; } d;",
            "struct base *p = (struct base *)&d; ((struct derived *)p)->y = 1;",
        ),
        (
            "_Atomic int a;",
            "a++; __atomic_store_n(&a, 1, 5); asm volatile(\"mfence\" ::: \"memory\"); asm volatile(\"\");",
        ),
        (
            "struct s { int a, b[2]; } s; struct s f(struct s s) { return s; }",
            "struct s t = f(s); s = t; memset(&t, 0, sizeof t);",
        ),
        (
            "char a[3], b[3]; struct t { int a; struct { int n; } l; };",
            "strcpy(a, \"b\"); memcpy(a, b, strlen(b)); struct t t, *p = (struct t *)((char *)&t.l - offsetof(struct t, l));",
        ),
        ("void never(void) { malloc(3); asm(\"hlt\"); }", ""),
        (
            "void reach_error(void) { abort(); asm(\"hlt\"); } int __VERIFIER_nondet_int(void);",
            "if (__VERIFIER_nondet_int()) reach_error();",
        ),
        (
            "extern void assume_abort_if_not(int);",
            "assume_abort_if_not(rand() > 2); fprintf((FILE *)stderr, \"%lu\", 3ul);",
        ),
    ] {
        assert_eq!(in_main(declarations, statements), [""; 0], "{declarations} {statements}");
    }
}

#[test]
fn what_comes_later_is_named_with_its_place() {
    for (declarations, statements, expected) in [
        ("int *p;", "p = realloc(p, 4);", "heap allocation at `realloc(p, 4)`"),
        ("void *(*p)(unsigned long);", "p = malloc;", "function pointer at `malloc`"),
        ("union { int a; float b; } u;", "u.a = 1;", "union at `u.a`"),
        ("char a[3];", "sprintf(a, \"b\");", "string function at `sprintf(a, \"b\")`"),
        ("struct { int a : 3; } s;", "s.a = 1;", "bit-field at `s.a`"),
        ("", "float d;", "`float` or `long double` at `d`"),
        ("void f(int n, ...) {}", "f(1, 2);", "variadic function at `f`"),
        ("", "void *p = &&l; goto *p; l:;", "computed goto at `&&l`"),
        ("", "asm volatile(\"hlt\");", "inline assembly at `asm volatile(\"hlt\");`"),
        ("void f(int);", "f(3);", "call of `f`, which has no body and is not known at `f(3)`"),
        ("extern int x;", "x = 1;", "object `x`, which is only declared at `x`"),
        ("int n;", "printf(\"%e\", n);", "format with `%e` at `printf(\"%e\", n)`"),
        ("FILE *f;", "fprintf(f, \"\");", "`fprintf` to another file than `stdout` or `stderr` at `fprintf(f, \"\")`"),
        ("", "__int128 x;", "type: __int128 at `x`"),
        ("", "__builtin_alloca(3);", "stack allocation by `alloca` at `__builtin_alloca(3)`"),
        ("struct { int a, b; } _Atomic s, t;", "s = t;", "`_Atomic` structure by value at `t`"),
    ] {
        let found = in_main(declarations, statements);
        assert!(found.iter().any(|one| one == expected), "{declarations} {statements}\n{found:#?}");
    }
}

#[test]
fn what_others_can_call_is_looked_at_where_there_is_no_main() {
    let text = "#include <stdlib.h>\nstatic void a(void) { realloc(0, 4); } void b(void) { a(); } static void c(void) { asm(\"hlt\"); }";
    let (_, found) = found(text);
    assert_eq!(found.iter().map(|one| &one.reason).collect::<Vec<_>>(), [&Reason::HeapAllocation]);
    let mut sources = SourceMap::default();
    let main = add_bytes(&mut sources, "main.c", text.as_bytes());
    let unit = read(&mut sources, main, &MemoryFiles::new(), &Options::default()).unit.expect("it is C");
    assert_eq!(offered(&unit).collect::<Vec<_>>(), ["b"]);
}

#[test]
fn an_obstacle_is_a_diagnostic_with_the_use_of_its_macro() {
    let (sources, found) = found("#define P() asm(\"hlt\")\nint main(void) { P(); }");
    let one = found[0].diagnostic();
    assert_eq!((one.code.number(), one.message.as_str()), ("CS0603", "inline assembly is not read"));
    assert_eq!(sources.position(one.span().expect("a place")).to_string(), "1:13");
    assert_eq!(one.secondary.len(), 1);
}

#[test]
fn a_file_without_a_tree_has_a_reason() {
    let of = |text: &str| {
        let mut sources = SourceMap::default();
        let main = add_bytes(&mut sources, "main.c", text.as_bytes());
        refusal(&read(&mut sources, main, &MemoryFiles::new(), &Options::default()))
    };
    assert_eq!(of("#include <thread>\n"), Reason::CPlusPlus);
    assert_eq!(of("#include <linux/list.h>\n"), Reason::MissingHeader("linux/list.h".into()));
    assert_eq!(of("int x"), Reason::NotC);
    assert!(is_cpp("a/b.cc".as_ref()) && !is_cpp("a/b.c".as_ref()));
}

#[test]
fn each_known_name_is_listed_once() {
    let all: Vec<&str> = names().map(|(name, _)| name).collect();
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
    assert_eq!(known("pthread_mutex_lock"), Some(Known::Meant));
    assert_eq!(known("__VERIFIER_nondet_uint"), Some(Known::Choice));
    assert_eq!(known("fork"), None);
}
