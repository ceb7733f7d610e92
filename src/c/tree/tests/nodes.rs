//! Conversions, operators, statements.

use super::{body, printed, printed_32};

/// The one line that an expression statement becomes.
fn line(declarations: &str, statement: &str) -> String {
    let mut lines = body(declarations, statement);
    assert_eq!(lines.len(), 1, "{lines:?}");
    lines.remove(0)
}

#[test]
fn numbers_are_converted_by_nodes() {
    for (declarations, statement, expected) in [
        ("char a; int b;", "b = a;", "(b = Arithmetic<int>(Read<char>(a)))"),
        ("short a, b;", "a + b;", "Add(Arithmetic<int>(Read<short>(a)), Arithmetic<int>(Read<short>(b))):int"),
        ("unsigned char a;", "a << 1;", "ShiftLeft(Arithmetic<int>(Read<unsigned char>(a)), 1:int):int"),
        ("int a; unsigned b;", "a < b;", "Less(Arithmetic<unsigned int>(Read<int>(a)), Read<unsigned int>(b)):int"),
        ("int a; long b;", "a * b;", "Multiply(Arithmetic<long>(Read<int>(a)), Read<long>(b)):long"),
        ("int a; double b;", "b = a / 2;", "(b = Arithmetic<double>(Divide(Read<int>(a), 2:int):int))"),
        ("int a;", "a /= 0.5;", "(a = Divide:double 0.5:double)"),
        ("char a;", "a += 3;", "(a = Add:int 3:int)"),
        ("_Bool a; int b;", "a = b;", "(a = Truth<_Bool>(Read<int>(b)))"),
        ("_Bool a; void *p;", "a = p;", "(a = Truth<_Bool>(Read<void *>(p)))"),
        (
            "enum e { A, B } a; int b;",
            "b = a + B;",
            "(b = Arithmetic<int>(Add(Arithmetic<unsigned int>(Read<enum e>(a)), 1:unsigned int):unsigned int))",
        ),
        ("struct { int x : 3; } s; int b;", "b = s.x;", "(b = Read<int>(s.0))"),
        ("struct { unsigned x : 3; } s;", "s.x + 1;", "Add(Arithmetic<int>(Read<unsigned int>(s.0)), 1:int):int"),
        ("float a;", "a * a;", "Multiply(Read<float>(a), Read<float>(a)):float"),
        ("int a;", "(char)a;", "(char)Read<int>(a)"),
    ] {
        assert_eq!(line(declarations, statement), expected, "{declarations} {statement}");
    }
}

#[test]
fn pointers_are_converted_by_nodes() {
    for (declarations, statement, expected) in [
        ("int a[3]; int *p;", "p = a;", "(p = ArrayToPointer<int *>(a))"),
        ("int a[3];", "a[1];", "Read<int>(ArrayToPointer<int *>(a)[1:int])"),
        ("int *p;", "1[p];", "Read<int>(Read<int *>(p)[1:int])"),
        ("int *p; void *q;", "q = p;", "(q = Pointer<void *>(Read<int *>(p)))"),
        ("int *p;", "p = 0;", "(p = NullPointer<int *>(0:int))"),
        ("int *p, *q; long n;", "n = p - q;", "(n = Subtract(Read<int *>(p), Read<int *>(q)):long)"),
        ("int *p;", "p + 2;", "Add(Read<int *>(p), 2:int):int *"),
        ("int g(void); int (*p)(void);", "p = g;", "(p = FunctionToPointer<int (*)(void)>(g))"),
        ("int (*p)(void);", "p();", "Read<int (*)(void)>(p)()"),
        ("struct s { int x, y; } *p;", "p->y = 1;", "(Dereference(Read<struct s *>(p)).1 = 1:int)"),
        ("void *p; long n;", "n = (long)p;", "(n = (long)Read<void *>(p))"),
        ("const char *p;", "p = \"ab\";", "(p = Pointer<const char *>(ArrayToPointer<char *>(\"ab\\0\")))"),
    ] {
        assert_eq!(line(declarations, statement), expected, "{declarations} {statement}");
    }
}

#[test]
fn qualifiers_and_atomics_stay_with_the_type() {
    assert_eq!(line("_Atomic int a;", "a++;"), "PostIncrement(a)");
    assert_eq!(line("_Atomic(int) a; int b;", "b = a;"), "(b = Read<int>(a))");
    assert_eq!(
        line("_Atomic int a;", "__atomic_fetch_add(&a, 2, __ATOMIC_RELAXED);"),
        "FetchThen(Add).Relaxed(AddressOf(a), 2:int):int"
    );
    assert_eq!(line("int a;", "__sync_lock_release(&a);"), "Store.Release(AddressOf(a), 0:int):void");
    assert_eq!(
        line("int a; int g(void);", "__atomic_store_n(&a, g(), 3);"),
        "Store.Release(AddressOf(a), FunctionToPointer<int (*)(void)>(g)()):void"
    );
    let (_, unit) = super::unit("volatile _Atomic int a; const int *p;");
    let of = |name: &str| {
        let decl = unit.declarations.iter().find(|decl| decl.name.as_deref() == Some(name)).expect("declared");
        &unit.types[decl.ty]
    };
    assert!(of("a").qualifiers.atomic && of("a").qualifiers.volatile);
    let target = unit.pointee(unit.declarations.iter().find(|d| d.name.as_deref() == Some("p")).expect("p").ty);
    assert!(unit.types[target.expect("a pointer")].qualifiers.constant);
}

#[test]
fn constants_are_folded() {
    for (declarations, statement, expected) in [
        ("int a;", "a = 2 + 3 * 4;", "(a = 14:int)"),
        ("enum { A = 5 }; int a;", "a = A;", "(a = 5:int)"),
        ("unsigned a;", "a = -1;", "(a = 4294967295:unsigned int)"),
        ("long a; struct { char c; int x; } s;", "a = sizeof s;", "(a = 8:long)"),
        ("long a; struct s { char c; int x; };", "a = __builtin_offsetof(struct s, x);", "(a = 4:long)"),
        ("int a;", "a = 2147483647 + 1;", "(a = Add(2147483647:int, 1:int):int)"),
        ("int a;", "a = 1 / 0;", "(a = Divide(1:int, 0:int):int)"),
        ("int a;", "a = 'a' == 97 ? 3 : 4;", "(a = 3:int)"),
        ("char a;", "a = 300;", "(a = 44:char)"),
        ("int a;", "a = __builtin_expect(1, 0);", "(a = 1:int)"),
    ] {
        assert_eq!(line(declarations, statement), expected, "{declarations} {statement}");
    }
}

#[test]
fn statements_keep_their_form() {
    let lines = body(
        "int a; int g(int);",
        "for (int i = 0; i < 3; i++) { if (a) break; else continue; }
         do a--; while (a > 0);
         switch (a) { case 1: case 3 ... 5: a = 2; break; default: goto out; }
         out: ({ int t = a; t; });
         a ? g(1) : (g(2), 3);",
    );
    let expected = "\
for Truth<_Bool>(Less(Read<int>(i), 3:int):int); PostIncrement(i)
  i: int = {0 0:int}
  if Truth<_Bool>(Read<int>(a))
    break
    continue
do while Truth<_Bool>(Greater(Read<int>(a), 0:int):int)
  PostDecrement(a)
switch Read<int>(a) 1..1 3..5 default
  case
    case
      (a = 2:int)
  break
  default
    goto out
out:
  ({...})
(Truth<_Bool>(Read<int>(a)) ? FunctionToPointer<int (*)(int)>(g)(1:int) : (FunctionToPointer<int (*)(int)>(g)(2:int), 3:int))";
    assert_eq!(lines.join("\n"), expected);
}

#[test]
fn what_gnu_adds_is_read() {
    let lines = body(
        "int a; void done(int *);",
        "int n = 3; int v[n]; int c __attribute__((cleanup(done))) = 1;
         a = a ?: 2; asm volatile(\"\" ::: \"memory\"); goto *&&l; l:;
         __builtin_add_overflow(a, 1L, &a); __builtin_popcount(a); __builtin_unreachable();
         int inner(void) ;",
    );
    let expected = "\
n: int = {0 3:int}
v: int[*]
c: int cleanup done = {0 1:int}
(a = (Truth<_Bool>(Read<int>(a)) ? Read<int>(a) : 2:int))
asm \"\"
goto *&&l
l:
  ;
Overflow Add in long long(Read<int>(a), 1:long, AddressOf(a))
BitCount(Ones)(Arithmetic<unsigned int>(Read<int>(a)))
Unreachable()
inner: int(void)";
    assert_eq!(lines.join("\n"), expected);
}

#[test]
fn what_old_programs_leave_out_is_read() {
    let text = printed("f(a) int a; { return g(a); }");
    assert_eq!(text, "f: int(int)\n  return FunctionToPointer<int (*)()>(g)(Read<int>(a))\ng: int()\n");
}

#[test]
fn widths_are_those_of_the_target() {
    let text = "long a = sizeof(long) + sizeof(void *); unsigned long long b = sizeof(b);";
    assert_eq!(printed(text), "a: long = {0 16:long}\nb: unsigned long long = {0 8:unsigned long long}\n");
    assert_eq!(printed_32(text), "a: long = {0 8:long}\nb: unsigned long long = {0 8:unsigned long long}\n");
}
