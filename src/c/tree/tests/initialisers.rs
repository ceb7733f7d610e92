//! Initialisers, resolved to offsets and values.

use super::{body, printed};

#[test]
fn values_go_where_their_members_lie() {
    for (text, expected) in [
        ("int a[4] = { 1, [2] = 3 };", "a: int[4] = {0 1:int, 8 3:int}"),
        ("int a[] = { [3] = 1 };", "a: int[4] = {12 1:int}"),
        ("struct { int x; struct { char c; short s; } y; } a = { 1, 2, 3 };", "{0 1:int, 4 2:char, 6 3:short}"),
        ("struct { int x, y; } a = { .y = 2, .x = 1 };", "{4 2:int, 0 1:int}"),
        ("struct { int x : 3, y : 5; } a = { 1, 2 };", "{0.0:3 1:int, 0.3:5 2:int}"),
        ("char a[4] = \"ab\";", "a: char[4] = {0 \"ab\\0\"}"),
        ("int b; int *a = &b + 1;", "a: int * = {0 &b+4:int *}"),
        ("struct { int x[3]; } b; int *a = &b.x[2];", "a: int * = {0 &b+8:int *}"),
        ("const char *a[] = { \"x\", 0 };", "a: const char *[2] = {0 &\"x\\0\"+0:const char *, 8 0:const char *}"),
        ("int a[2][2] = { { 1 }, 2, 3 };", "{0 1:int, 8 2:int, 12 3:int}"),
        ("_Thread_local int a = 1;", "thread a: int = {0 1:int}"),
        ("static double a = 1 / 4.0;", "static a: double = {0 0.25:double}"),
        ("long double a = 1.5L;", "{0 1.5:long double}"),
        ("_Bool a = 5;", "{0 1:_Bool}"),
    ] {
        let found = printed(text);
        assert!(found.trim_end().ends_with(expected), "{text}\n{found}");
    }
}

#[test]
fn what_a_local_begins_with_is_an_expression() {
    let lines =
        body("struct s { int x, y; } g; int h(void);", "struct s a = g, *p = &(struct s){ h() }; static int n = 3;");
    let expected =
        ["a: struct s = {0 Read<struct s>(g)}", "p: struct s * = {0 AddressOf(literal #", "static n: int = {0 3:int}"];
    for (line, expected) in lines.iter().zip(expected) {
        assert!(line.starts_with(expected), "{lines:?}");
    }
}
