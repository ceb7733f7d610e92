//! Expressions.

use super::{holds, in_main};

#[test]
fn arithmetic_is_done_in_the_types_of_the_tree() {
    for (declarations, statement, lines) in [
        ("int x; unsigned u; long l;", "x = x * 2;", &["%0 = load x", "%1 = %0 *.checked 2", "store x = %1"][..]),
        (
            "unsigned u; int x;",
            "u = u / x;",
            &["%0 = load u", "%1 = load x", "%2 = unsigned int(%1)", "%3 = %0 /.unsigned %2"],
        ),
        ("long l; int x;", "l = l + x;", &["%2 = long(%1)", "%3 = %0 +.long.checked %2", "store l = %3"]),
        (
            "char c;",
            "c += 1;",
            &["%0 = load c", "%1 = int(%0)", "%2 = %1 +.checked 1", "%3 = signed char(%2)", "store c = %3"],
        ),
        ("unsigned char c; int x;", "x = c << x;", &["%2 = int(%0)", "%3 = long(%1)", "%4 = %2 <<.checked %3"]),
        ("_Bool b; int x;", "b = x;", &["%0 = load x", "%1 = bool(%0)", "store b = %1"]),
        ("int x, y;", "x = x < y;", &["%2 = %0 < %1", "%3 = int(%2)", "store x = %3"]),
        ("int x, y;", "x = x > y;", &["%2 = %1 < %0"]),
        ("enum e { A, B } e; int x;", "x = e + B;", &["%1 = %0 +.unsigned 1U", "%2 = int(%1)"]),
        (
            "int x;",
            "x = -x; x = ~x; x = !x;",
            &["%1 = 0 -.checked %0", "%3 = ~%2", "%5 = bool(%4)", "%6 = !%5", "%7 = int(%6)"],
        ),
        ("unsigned long u; int x;", "u = x ? 1 : 2UL;", &["%1 = 1UL", "%1 = 2UL", "store u = %1"]),
        ("int x;", "x = (x++, 5);", &["store x = %1", "store x = 5"]),
        (
            "int x, y;",
            "x = y++; x = --y;",
            &["%0 = load y", "%1 = %0 +.checked 1", "store y = %1", "store x = %0", "store x = %3"],
        ),
        ("int x;", "x = ({ int t = x; t + 1; });", &["t = %1", "%2 = t +.checked 1", "store x = %3"]),
        ("int x, y;", "x = y ?: 7;", &["%0 = load y", "%3 = %0", "%4 = bool(%3)", "%2 = %3", "%2 = 7"]),
        ("volatile int x;", "x; (void)x;", &["%0 = load x", "return"]),
        ("int x;", "x = abs(x);", &["%2 = %1 < 0"]),
    ] {
        let text = in_main(declarations, statement);
        holds(&text, lines);
    }
}

#[test]
fn conditions_become_control_flow() {
    let text = in_main("int x, y;", "if (x > 1 && !y) x = 3; else if (x || y == 2) y = 4;");
    holds(&text, &["%1 = 1 < %0", "if %1 goto b4 else b2", "%3 = bool(%2)", "if %3 goto b2 else b1"]);
    holds(&text, &["store x = 3"]);
    let text = in_main("int x;", "while (1) { if (x) break; else continue; }");
    holds(&text, &["% = load x", "% = bool(%)"]);
}

#[test]
fn pointers_are_computed_in_bytes() {
    let head = "struct s { int a; struct { long b[2]; char c; } d; } t[3], *p; int n[5], *q; int i;";
    for (statement, lines) in [
        ("q = n + i;", &["%1 = long(%0)", "%2 = %1 *.long.checked 4L", "%3 = &n[0] +.pointer %2", "store q = %3"][..]),
        ("p = p + 1;", &["%1 = %0 +.pointer 32L", "store p = %1"]),
        ("p--;", &["%1 = %0 +.pointer -32L", "store p = %1"]),
        (
            "i = p - t;",
            &["%1 = long(%0)", "%2 = long(&t[0].a)", "%3 = %1 -.long %2", "%4 = %3 /.long 32L", "%5 = int(%4)"],
        ),
        ("i = p < t;", &["%3 = %1 <.long %2"]),
        ("i = p == 0;", &["%1 = %0 == NULL"]),
        ("q = &n[5];", &["store q = &n[5]"]),
        ("q = (int *)(void *)&t[1];", &["store q = &t[1].a"]),
        ("i = p->d.b[i];", &["%0 = load p", "%1 = load i", "%2 = load p->d.b[i][%1]"]),
        ("p->d.c = 1;", &["%0 = load p", "store p->d.c = (signed char)1"]),
        ("t[i].d.b[1] = 2;", &["%0 = load i", "store t[i].d.b[1][%0] = 2L"]),
        (
            "*(n + i) = *q++;",
            &[
                "%0 = load i",
                "%1 = load q",
                "%2 = %1 +.pointer 4L",
                "store q = %2",
                "%3 = load *q++",
                "store *(n + i)[%0] = %3",
            ],
        ),
        (
            "q[i] = 1;",
            &["%1 = load i", "%2 = long(%1)", "%3 = %2 *.long.checked 4L", "%4 = %0 +.pointer %3", "store q[i] = 1"],
        ),
        ("i = (int)(long)q;", &["%1 = long(%0)", "%2 = int(%1)"]),
        ("q = (int *)5;", &["store q = (pointer)5"]),
    ] {
        holds(&in_main(head, statement), lines);
    }
}
