//! The text, DOT and JSON forms of small programs.

use super::{Plain, print_function, print_program};
use crate::ir::compile::compile;
use crate::ir::dot::dot_program;
use crate::ir::json::program_data;
use crate::ir::{FunctionId, Program};
use crate::source::SourceMap;

fn compiled(text: &str) -> (SourceMap, Program) {
    let mut sources = SourceMap::default();
    let file = sources.add("test.csm", text);
    let compiled = compile(&sources, file, &[]);
    let program = compiled.program.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics));
    (sources, program)
}

fn text_of(text: &str) -> String {
    let (sources, program) = compiled(text);
    print_program(&program, &sources, &Plain)
}

#[test]
fn threads_locks_and_accesses() {
    let text = "int a = 0; lock L;\nvoid main() {\n  int x;\n  cobegin T1: { lock(L); a += 2; unlock(L); } T2: x = a; coend\n  print(a, x);\n}";
    insta::assert_snapshot!(text_of(text), @"");
}

#[test]
fn objects_arrays_and_arithmetic() {
    let text = r#"class C { lock L; long n = 5; bool b[2]; int get(int i) { lock(L); b[i] = n << 2 > 3; unlock(L); return -i; } }
        C c; sem s = 2; barrier q(2);
        void main() { double d = 0.5 * c.get(1); P(s); barrier(q); atomic { swap(c.n, 3); } assert(!c.b[0], "no \"b\""); print("x", d); }"#;
    insta::assert_snapshot!(text_of(text), @"");
}

#[test]
fn loops_spawns_and_names_that_come_twice() {
    let text = "int f(int n) { return n; }
        void main() { thread t = spawn f(1); for (int i = 0; i < 2; i++) { skip; } for (int i = 0; i < 2; i++) { break; } join(t);
          parfor (int k = 0; k < 3; k++) { print(k); } }";
    insta::assert_snapshot!(text_of(text), @"");
}

#[test]
fn code_that_is_not_reached_comes_last() {
    let (sources, program) = compiled("int f() { return 1; print(2); } void main() { f(); }");
    insta::assert_snapshot!(print_function(&program, &sources, FunctionId(0), &Plain), @"");
}

#[test]
fn arms_stand_between_fork_and_join() {
    let (sources, program) = compiled("int a; void main() { print(\"\\\"\"); cobegin T1: a = 1; T2: if (a > 0) { a = 2; } coend print(a); }");
    insta::assert_snapshot!(dot_program(&program, &sources, &Plain), @"");
}

#[test]
fn data_names_accesses_and_threads() {
    let (sources, program) = compiled("int a; void main() { cobegin T1: fetch_add(a, 1); coend }");
    let data = program_data(&program, &sources, &Plain);
    insta::assert_snapshot!(serde_json::to_string_pretty(&data).unwrap(), @"");
}
