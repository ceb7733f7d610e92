//! Text of programs is data: awkward names and texts of programs, and names of their files, in Java.

use super::batch::Batch;
use super::{assert_passed, package_with};
use cssame::budget::Limits;
use cssame::driver::{Expect, Target};
use cssame::vm::Semantics;
use support::hostile::{PROGRAMS, SPURIOUS, WRITERS};

/// Files and their texts: what has a meaning in Java, in the generated code, or in its comments.
const FILES: &[(&str, &str)] = &[
    // Words of Java, methods of every object, and what the generated code calls its own.
    (
        "words.csm",
        "int abstract = 1; int boolean; int String; long Object; double Integer = 0.5; int Program; int Order; int wait_;
int notify; int a_1; int a[2]; int _; int __; int null; int package; int reset; int waiting; int ATOMIC; int cssame; int java;
int length; int label1; int v1; int record; int var; int yield; bool instanceof; string Text = \"t\"; thread Handle; cond Condition;
int synchronized_; int class_; int hashCode; int drive_words; int Run; int RuntimeException; int Math; int self; int Threads;
int final(int finally, int native) { int throw = finally + native; abstract = throw; return throw; }
int getClass(int toString) { if (toString > 0) return final(toString, _); return null; }
void clone() { a_1 = 1; a[1] = a_1; __ = 2; }
void sealed() { package += 1; int var = package; int yield = var; print(var, yield, record); }
void main() {
  int Output = 1;
  cobegin
    goto: { _ = 2; null = final(_, Output); Output = 3; clone(); Integer = 1.5; }
    const_: { int waiter1 = getClass(1); print(waiter1, a[1], Output, Integer, Text); Handle = spawn sealed(); join(Handle); }
    main: { int import = Output; while (import > 0) { int v1 = import; import = v1 - 1; } atomic { ATOMIC = import; } print(ATOMIC); }
    wait: { if (wait_ == 1) wait(); reset = 1; waiting = reset; notify(); }
  coend
}
",
    ),
    // A variable, a function and a class of each name; locals that hide functions, fields that hide variables.
    (
        "one name for all.csm",
        "int main; int reset = 3; int x; int put;
class main { int main; int x; public lock Lock; public int put(int main) { synchronized (Lock) { x = main; int put = x; return put; } } }
class Event2 { int Event2 = 2; int put; public void main() { Event2++; put = Event2; x = put; } }
main Main; Event2 e; event Event;
int put(int put) { int main = put; x = main; return x; }
void set_(int x) { Main.x = x; e.main(); }
void main() {
  int Main2 = Main.put(1);
  cobegin
    Main: { int put = put(4); print(put, x, main); }
    e: { set_(5); main = 7; set(Event); }
    main: { wait(Event); e.main(); print(Main.x, e.Event2, e.put); }
  coend
}
",
    ),
    // Classes of names that the runtime, the tests and Java have.
    (
        "class.csm",
        "class Object { public int Object = 1; public int get() { return Object; } }
class Lock { lock L; int n; public void lock_() { synchronized (L) { n++; } } }
class FuturesTest { public int n; } class Futures2Test { public int n; } class Test { public int Test; }
class Program { public int n; } class Runnable { public int n; } class Thread { public int n; } class Throwable { public int n; }
class Override { public int n; } class System { public int exit; } class Event { event E; public void set_() { set(E); } public void get() { wait(E); } }
class Exception { public int n; } class Error { public int n; } class Phaser { public int n; } class Semaphore { sem s = 1; public int n; }
class Source { public int n; } class Watch { public int n; } class Iterable { public int n; } class Math { public int n; } class T { public int n; }
class Integer { public int n; } class Boolean { public int n; } class FunctionalInterface { public int n; } class cssame { public int n; }
class AssertionError { public int n; } class SafeVarargs { public int n; } class Deprecated { public int n; } class org { public int n; }
Object object; Lock Lock_; FuturesTest a; Futures2Test b; Test c; Program d; Runnable e; Thread f; Throwable g; Override h; System i; Event j;
Exception k; Error l; Phaser m; Semaphore n; Source o; Watch p; Iterable q; Math r; T s; Integer t[2]; Boolean u; FunctionalInterface v; cssame w;
AssertionError x; SafeVarargs y; Deprecated z; org o2; int wide[2];
cobegin
  A: { object.Object = 2; Lock_.lock_(); a.n = 1; b.n = c.Test; d.n = 1; e.n = f.n + g.n; i.exit = 1; j.set_(); t[1].n = 3; w.n = 1; P(n.s); y.n = 1; V(n.s); }
  B: { j.get(); print(object.get(), a.n, h.n, k.n, l.n, m.n, o.n, p.n, q.n, r.n, s.n, t[1].n, u.n, v.n, x.n, z.n, o2.n); i.exit += 2; barrier(1); wide[t[0].n] = 1; print(i.exit); }
  C: { print(i.exit, a.n, y.n); Lock_.lock_(); }
coend
",
    ),
    // Strings and messages.
    (
        "texts\\u0022.csm",
        "string s = \"\\\"; System.exit(3); //\"; int x; string t = \"\\\\u0022 + System.exit(4) + \\\\u0022\"; string u = \"\\\\\";
cobegin
  A: { s = \"a \\\\u002a/ */ /* // ü \u{1f980} \u{1} \u{7f} \u{85} \u{2028} \\0001 \\t \\r \\n\"; x = 1; } // \\u000a System.exit(5); */ /*
  B: { print(s, t, u, \"{0} %d \\\\ \\\\\\\\ \\\\n\", x == 1); assert(x == 0, \"*/ \\\\u000aSystem.exit(6); @deprecated\"); } /* \\u002a/ System.exit(7); /* */
  C: { if (t == \"\\\"\") error(\"\\\\\"); if (s != \"\") t = \"\\\"\\\"\\\"\"; } // @deprecated {@code x \t@see \u{202e} \r x
coend
",
    ),
    // Divisions by constants, which javac looks at too.
    (
        "zero.csm",
        "const int Z = 0; int x; long w = 7;
cobegin
  A: { x = 1; x = 2; x = 3; x = 4; }
  B: { int y = x; int k = 0;
    if (y == 0) print(y / 2, y % 3, 5 % 2, 1.0 / 0, 5.0 / Z); if (y == 1) print(y / (1 - 1)); if (y == 2) print(5 % (2 * Z));
    if (y == 3) { long q = w / 0; print(q % 0L); } if (y == 4) print(w % k, 1 / k); }
coend
",
    ),
    // Names of files.
    ("*/ System.exit(1); /*.csm", SMALL),
    ("\\u002a/ System.exit(1); /\\u002a.csm", SMALL),
    ("\\u000a System.exit(1); //\n@deprecated\n\t@see.csm", SMALL),
    ("it's \"quoted\" `x` $(exit 3) ${name} {name} <b>&amp; --> ]]>.csm", SMALL),
    ("ü\u{1f980}\u{202e}\u{0}\u{7f}.csm", SMALL),
    ("2nd.csm", SMALL),
    ("int.csm", SMALL),
    (".csm", SMALL),
    ("a/b\\c/synchronized", SMALL),
];

const SMALL: &str = "int x;
cobegin
  A: x = 1;
  B: print(x);
coend
";

#[test]
fn awkward_programs_happen_in_java() {
    awkward(Target::Java, "hostile");
}

#[test]
fn awkward_programs_happen_in_woven_java() {
    awkward(Target::AspectJ, "woven_hostile");
}

fn awkward(target: Target, folder: &str) {
    let mut batch = Batch::new(folder);
    let mut tests = 0;
    let mut add = |file: &str, text: &str, semantics: Semantics| {
        let package = package_with(target, (file, text), Expect::Recorded, (semantics, Limits::default()));
        let package = package.unwrap_or_else(|| panic!("{file} does not compile"));
        assert!(!package.manifest.tests.is_empty(), "{file}");
        tests += package.manifest.tests.len();
        batch.add(&format!("p{tests}"), &package.files);
    };
    // All executions of this one take a minute to find.
    let programs = PROGRAMS.iter().filter(|(name, _)| *name != "loops").collect();
    for (name, text) in support::part(programs, 7) {
        add(&format!("{name}.csm"), text, Semantics::default());
    }
    for (file, text) in support::part(FILES.to_vec(), 6) {
        add(file, text, Semantics::default());
    }
    // More than a literal of Java holds.
    let text = "x".repeat(70_000);
    add("long.csm", &format!("string s; cobegin A: s = \"{text}\"; B: print(s); coend\n"), Semantics::default());
    add("spurious.csm", SPURIOUS, Semantics { spurious_wakeups: true, prefer_writers: false });
    add("writers.csm", WRITERS, Semantics { spurious_wakeups: false, prefer_writers: true });
    // A call of `System.exit` would end all of it.
    let Some(results) = batch.run(1, &[("CSSAME_DELAYS", "1")]) else { return };
    assert_passed(&results, tests);
}
