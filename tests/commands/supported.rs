//! `check --supported`: which files in C are read, and why others are not.

use crate::json_schema::assert_answer;
use crate::process::{Answer, Files, finish, program};
use serde_json::json;
use std::fs;

const READ: &str = "#include <pthread.h>\nint x;\nvoid *w(void *a) { x++; return a; }\n\
int main(void) { pthread_t t; pthread_create(&t, 0, w, 0); return pthread_join(t, 0); }\n";
const HEAP: &str = "#include <stdlib.h>\nint main(void) {\n  int *p = realloc(0, 4);\n  p = realloc(p, 8);\n  asm(\"hlt\");\n  return 0; }\n";

fn tree() -> Files {
    let files = Files::new();
    fs::create_dir(files.path("a")).expect("a directory for the test");
    files.write("a/read.c", READ);
    files.write("a/heap.c", HEAP);
    files.write("heap2.c", "#include <stdlib.h>\nint main(void) { realloc(0, 4); return help(3); }\n");
    files.write("help.c", "int help(int a) { return a; }\n");
    files.write("lost.c", "#include <where.h>\n");
    files.write("bad.c", "int x\n");
    files.write("one.cpp", "class A {};\n");
    files.write("notes.txt", "int");
    files
}

fn ask(files: &Files, line: &str) -> Answer {
    finish(program().current_dir(files.0.path()).args(line.split_whitespace()))
}

#[test]
fn what_stands_in_the_way_is_listed_the_most_frequent_first() {
    let answer = ask(&tree(), "check --supported .");
    assert_eq!(answer.status, 1, "{}", answer.stderr);
    let expected = "\
2  heap allocation, stage 3; a/heap.c:3:12
1  C++, 1 by this alone; one.cpp
1  call of `help`, which another file defines; heap2.c:2:40
1  header `where.h`, which is not found, 1 by this alone; lost.c:1:1: `where.h` file not found
1  inline assembly; a/heap.c:5:3
1  not C, 1 by this alone; bad.c:1:6: expected `;`, found end of file
";
    assert_eq!(answer.stdout, expected);
    assert_eq!(answer.stderr, "2 of 7 files read\n");
    let answer = ask(&tree(), "check --supported --all a");
    let lines: Vec<&str> = answer.stdout.lines().skip(2).collect();
    assert_eq!(lines, ["a/heap.c: heap allocation, inline assembly", "a/read.c: read"]);
}

#[test]
fn a_tree_that_is_read_ends_well() {
    let answer = ask(&tree(), "check --supported a/read.c help.c");
    assert_eq!((answer.status, answer.stdout.as_str(), answer.stderr.as_str()), (0, "", "2 of 2 files read\n"));
}

#[test]
fn the_json_keeps_to_its_schema() {
    let value = ask(&tree(), "check --supported --format json .").json();
    assert_answer("supported", &value);
    assert_eq!(value["read"], json!(["a/read.c", "help.c"]));
    let heap = json!({ "reason": "heap allocation", "stage": 3, "uses": 2, "at": "a/heap.c", "line": 3, "column": 12 });
    assert_eq!(value["refused"][0]["obstacles"][0], heap);
    assert_eq!(value["reasons"][0]["files"], 2);
}

#[test]
fn how_c_is_read_stands_behind_the_other_options() {
    let files = tree();
    fs::create_dir(files.path("inc")).expect("a directory for the test");
    files.write("inc/where.h", "#if N != 3\n#error N\n#endif\n");
    let answer = ask(&files, "check --supported lost.c -- -I inc -DN=3 -std=c11");
    assert_eq!(answer.status, 0, "{}", answer.stdout);
    for (line, problem) in [
        ("check --supported lost.c -- -O2", "`-O2` is not an option for reading C"),
        ("check --supported lost.c -- -std=c++17", "a dialect of C++"),
        ("check --supported --format sarif lost.c", "lists files, not findings"),
        ("check --supported --confirm lost.c", "cannot be used with"),
    ] {
        let answer = ask(&files, line);
        assert_eq!((answer.status, answer.stdout.as_str()), (2, ""), "{line}");
        assert!(answer.stderr.contains(problem), "{line}: {}", answer.stderr);
    }
}

/// No command takes a program in another language for one in its own.
#[test]
fn what_is_no_program_that_is_read_is_refused_by_name() {
    let files = Files::new();
    files.write("one.cpp", "int main() { return 0; }");
    files.write("one.h", "int x;");
    for name in ["one.cpp", "one.h"] {
        let path = files.path(name);
        for command in [&[][..], &["futures"], &["check"], &["fmt"]] {
            let answer = finish(program().args(command).arg(&path));
            assert_eq!(answer.status, 2, "{answer:?}");
            assert!((answer.stdout + &answer.stderr).contains("CS0603"), "{name} {command:?}");
        }
    }
}
