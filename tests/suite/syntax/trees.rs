//! What the constructs of the language parse to. Trees are compared by their printed form, which shows precedence where
//! the text has parentheses that matter.

use super::{erased, program};
use cssame::front::csm::syntax::ast::*;
use cssame::front::csm::syntax::{print, print_expression};

/// The value that `x = text;` assigns.
fn expression(text: &str) -> Expr {
    let program = program(&format!("x = {text};"));
    match &program.items[0] {
        Item::Statement(Stmt { kind: StmtKind::Assign { value, .. }, .. }) => value.clone(),
        other => panic!("{text} gives {other:?}"),
    }
}

/// An expression with parentheses around every operation.
fn grouped(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Binary { op, left, right } => format!("({} {} {})", grouped(left), op.symbol(), grouped(right)),
        ExprKind::Unary { op, operand } => format!("({}{})", op.symbol(), grouped(operand)),
        ExprKind::Cast { operand, .. } => format!("(cast {})", grouped(operand)),
        ExprKind::Conditional { condition, then_value, else_value } => {
            format!("({} ? {} : {})", grouped(condition), grouped(then_value), grouped(else_value))
        }
        _ => print_expression(expr),
    }
}

#[track_caller]
fn groups(text: &str, expected: &str) {
    assert_eq!(grouped(&expression(text)), expected, "{text}");
}

#[test]
fn operators_have_the_precedence_of_c() {
    groups("a + b * c - d", "((a + (b * c)) - d)");
    groups(
        "a || b && c | d ^ e & f == g < h << i + j * k",
        "(a || (b && (c | (d ^ (e & (f == (g < (h << (i + (j * k))))))))))",
    );
    groups(
        "a * b + c << d < e == f & g ^ h | i && j || k",
        "((((((((((a * b) + c) << d) < e) == f) & g) ^ h) | i) && j) || k)",
    );
    groups("a - b - c", "((a - b) - c)");
    groups("a / b % c * d", "(((a / b) % c) * d)");
    groups("a >> b << c", "((a >> b) << c)");
    groups("a >= b <= c > d", "(((a >= b) <= c) > d)");
    groups("a != b == c", "((a != b) == c)");
    groups("-a * !b + ~c", "(((-a) * (!b)) + (~c))");
    groups("- -a", "(-(-a))");
    groups("a - -b", "(a - (-b))");
    groups("(int) a + b", "((cast a) + b)");
    groups("(long) -a", "(cast (-a))");
    groups("-(double) a", "(-(cast a))");
    groups("(a) - b", "(a - b)");
    groups("a ? b : c ? d : e", "(a ? b : (c ? d : e))");
    groups("a ? b ? c : d : e", "(a ? (b ? c : d) : e)");
    groups("a || b ? c + 1 : d", "((a || b) ? (c + 1) : d)");
    groups("-t[1].f(2)", "(-t[1].f(2))");
}

#[test]
fn literals_have_their_values() {
    let int = |value, long| ExprKind::Int { value, long };
    assert_eq!(expression("0").kind, int(0, false));
    assert_eq!(expression("0").kind, int(0, false));
    assert_eq!(expression("2147483647").kind, int(2_147_483_647, false));
    assert_eq!(expression("2147483648").kind, int(2_147_483_648, true));
    assert_eq!(expression("5L").kind, int(5, true));
    assert_eq!(expression("0x1F").kind, int(31, false));
    assert_eq!(expression("0XffL").kind, int(255, true));
    assert_eq!(expression("0xFFFFFFFF").kind, int(4_294_967_295, true));
    assert_eq!(expression("9223372036854775807").kind, int(i64::MAX, true));
    assert_eq!(expression("1.5").kind, ExprKind::Double(1.5));
    assert_eq!(expression(".5").kind, ExprKind::Double(0.5));
    assert_eq!(expression("1e3").kind, ExprKind::Double(1000.0));
    assert_eq!(expression("2.5E-1").kind, ExprKind::Double(0.25));
    assert_eq!(expression("true").kind, ExprKind::Bool(true));
    assert_eq!(expression("false").kind, ExprKind::Bool(false));
    assert_eq!(expression(r#""a\n\t\\\"\0\r é""#).kind, ExprKind::String("a\n\t\\\"\0\r é".to_owned()));
    assert_eq!(expression(r#""""#).kind, ExprKind::String(String::new()));
    // The least number: its digits alone are too large.
    let ExprKind::Unary { op: UnaryOp::Negate, operand } = expression("-9223372036854775808").kind else {
        panic!("a unary minus");
    };
    assert_eq!(operand.kind, int(i64::MIN, true));
}

#[test]
fn depth_is_the_height_of_the_tree() {
    assert_eq!(expression("a").depth, 1);
    assert_eq!(expression("a + b").depth, 2);
    assert_eq!(expression("((a))").depth, 1);
    assert_eq!(expression("f(a, -b) + c").depth, 4);
}

#[test]
fn spans_cover_the_text() {
    let text = "x = (a + b) * f(c).d[2];";
    let (sources, parsed) = super::parse_text(text);
    let Item::Statement(statement) = &parsed.program.items[0] else { panic!("a statement") };
    assert_eq!(sources.text(statement.span), text);
    let StmtKind::Assign { target, value, .. } = &statement.kind else { panic!("an assignment") };
    assert_eq!(sources.text(target.span), "x");
    assert_eq!(sources.text(value.span), "(a + b) * f(c).d[2]");
    let ExprKind::Binary { left, right, .. } = &value.kind else { panic!("a product") };
    assert_eq!(sources.text(left.span), "a + b");
    assert_eq!(sources.text(right.span), "f(c).d[2]");
}

/// One of everything, in the layout of the printer.
const EVERYTHING: &str = include_str!("everything.csm");

#[test]
fn everything_parses_and_prints_as_it_stands() {
    assert_eq!(print(&program(EVERYTHING)), EVERYTHING);
}

#[test]
fn other_spellings_give_the_same_tree() {
    let same = |one: &str, other: &str| assert_eq!(erased(&program(one)), erased(&program(other)), "{one}");
    same("++x;", "x++;");
    same("--x;", "x--;");
    same("class A { int x; };", "class A { public: ; int x; ; }");
    same(
        "class A { private: int x; void f() {} public: int y; }",
        "class A { private int x; private void f() {} public int y; }",
    );
    same("class A { private: public int x; int y; }", "class A { public int x; private int y; }");
    same("cobegin T: skip; coend;", "cobegin T: skip; coend");
    same("void f() {}; ; int x;", "void f() {} int x;");
    same("{ ; x = 1; }", "{ x = 1; }");
    same("if (a) if (b) x = 1; else x = 2;", "if (a) if (b) x = 1; else x = 2; else_();".trim_end_matches(" else_();"));
    same("/* a */ x /**/ = // b\n 1 /* * / ** */;", "x = 1;");
    same("x\r\n=\t1;", "x = 1;");
}

#[test]
fn an_else_belongs_to_the_nearest_if() {
    for text in [
        "if (a) if (b) x = 1; else x = 2;",
        "if (a) while (c) if (b) x = 1; else x = 2;",
        "if (a) for (;;) if (b) x = 1; else x = 2;",
        "if (a) parfor (int i = 0; i < 2; i++) if (b) x = 1; else x = 2;",
    ] {
        let program = program(text);
        let Item::Statement(Stmt { kind: StmtKind::If { else_branch, .. }, .. }) = &program.items[0] else {
            panic!("{text}");
        };
        assert!(else_branch.is_none(), "{text}");
    }
    let program = program("if (a) do if (b) x = 1; else x = 2; while (c); else x = 3;");
    let Item::Statement(Stmt { kind: StmtKind::If { else_branch, .. }, .. }) = &program.items[0] else {
        panic!("an if")
    };
    assert!(else_branch.is_some());
}

#[test]
fn names_of_synchronisation_objects_are_not_reserved() {
    let program = program(
        "lock lock; lock(lock); event set; set(set); int sem = 1; sem++; thread thread; barrier b(2); barrier(2);",
    );
    let kinds: Vec<String> = program
        .items
        .iter()
        .map(|item| match item {
            Item::Statement(Stmt { kind: StmtKind::Declare(declaration), .. }) => format!("{:?}", declaration.ty.kind),
            Item::Statement(Stmt { kind: StmtKind::Call(call), .. }) => print_expression(call),
            Item::Statement(Stmt { kind: StmtKind::Step { target, .. }, .. }) => print_expression(target),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(kinds, ["Lock", "lock(lock)", "Event", "set(set)", "Int", "sem", "Thread", "Barrier", "barrier(2)"]);
}

#[test]
fn arms_hold_all_up_to_the_next_label() {
    let program = program("cobegin A: x = 1; y = 2; B: { z = 3; } int w; C: D: skip; coend");
    let Item::Statement(Stmt { kind: StmtKind::Cobegin(arms), .. }) = &program.items[0] else { panic!("a cobegin") };
    let shape: Vec<(&str, usize)> = arms.iter().map(|arm| (arm.label.name.as_str(), arm.statements.len())).collect();
    assert_eq!(shape, [("A", 2), ("B", 2), ("C", 0), ("D", 1)]);
}
