//! Where nodes stand, with macros and includes; diagnostics.

use super::super::{ExprKind, MemoryFiles, Options, Place, Unit};
use super::{messages, reading};
use cssame_source::SourceMap;

/// `file line:column text` of a place as spelled, and as used if that differs.
fn shown(sources: &SourceMap, place: Place) -> String {
    let of = |span: cssame_source::Span| {
        format!("{} {} {}", sources.file(span.file).name(), sources.position(span), sources.text(span))
    };
    if place.is_from_macro() { format!("{} / {}", of(place.span), of(place.used)) } else { of(place.span) }
}

/// The places of all uses of `x` as a name.
fn uses(text: &str, files: &MemoryFiles) -> Vec<String> {
    let (sources, _, reading) = reading(text, files, &Options::default());
    let unit: Unit = reading.unit.expect("it is C");
    let is_x =
        |kind: &ExprKind| matches!(kind, ExprKind::Name(decl) if unit.declarations[*decl].name.as_deref() == Some("x"));
    unit.expressions.iter().filter(|one| is_x(&one.kind)).map(|one| shown(&sources, one.place)).collect()
}

#[test]
fn a_name_stands_where_the_user_spelled_it() {
    let files = MemoryFiles::new()
        .with("inc.h", "#define READ_X (x)\n#define ADD(a) ((a) + 1)\nextern int x;\n")
        .with("sys/lib.h", "static inline int get(int *p) { return *p; }\n");
    assert_eq!(uses("int x; int f(void) { return x; }", &files), ["main.c 1:29 x"]);
    assert_eq!(
        uses("#include \"inc.h\"\nint x; int f(void) { return READ_X; }", &files),
        ["inc.h 1:17 x / main.c 2:29 READ_X"]
    );
    assert_eq!(
        uses("#include \"inc.h\"\nint x; int f(void) { return ADD(x); }", &files),
        ["main.c 2:33 x / main.c 2:29 ADD"]
    );
    // A header of ours is nobody's file: the macro's use stands for it.
    let text = "#include <stdatomic.h>\natomic_int x; int f(void) { return atomic_load(&x); }";
    assert_eq!(uses(text, &files), ["main.c 2:49 x / main.c 2:36 atomic_load"]);
    // Line markers do not move anything.
    assert_eq!(uses("# 40 \"other.c\"\nint x;\nint f(void) { return x; }", &files), ["main.c 3:22 x"]);
    // An included file has a name of its own.
    assert_eq!(
        uses("#include \"use.c\"\n", &files.with("use.c", "int x; int f(void) { return x; }")),
        ["use.c 1:29 x"]
    );
}

#[test]
fn a_node_covers_its_text() {
    let text = "#define TWO(a) (a[0] + a[1])\n#include <assert.h>\nint a[2], b;\nint f(void) { b = TWO(a); assert(b == 2); return b + TWO(a); }";
    let (sources, _, reading) = reading(text, &MemoryFiles::new(), &Options::default());
    let unit = reading.unit.expect("it is C");
    let of = |wanted: &dyn Fn(&ExprKind) -> bool| -> Vec<String> {
        unit.expressions.iter().filter(|one| wanted(&one.kind)).map(|one| shown(&sources, one.place)).collect()
    };
    let assigned = of(&|kind| matches!(kind, ExprKind::Assign { .. }));
    assert_eq!(assigned, ["main.c 4:15 b = TWO / main.c 4:15 b = TWO"].map(|text| text.split(" / ").next().unwrap()));
    let calls = of(&|kind| matches!(kind, ExprKind::Call { .. }));
    assert_eq!(calls, ["main.c 4:27 assert"]);
    let elements = of(&|kind| matches!(kind, ExprKind::Subscript { .. }));
    assert_eq!(elements.len(), 4);
    assert!(elements.iter().all(|one| one.starts_with("main.c 4:")), "{elements:?}");
}

#[test]
fn presumed_lines_come_beside() {
    let text = "int a;\n# 40 \"other.c\" 1\nint x;\nint y;\n#line 7\nint z;\n";
    let (sources, _, reading) = reading(text, &MemoryFiles::new(), &Options::default());
    let unit = reading.unit.expect("it is C");
    let of = |name: &str| {
        let decl = unit.declarations.iter().find(|decl| decl.name.as_deref() == Some(name)).expect("declared");
        (sources.line(decl.place.span), reading.lines.presumed(&sources, decl.place.span))
    };
    assert_eq!(of("a"), (1, None));
    assert_eq!(of("x"), (3, Some(("other.c", 40))));
    assert_eq!(of("y"), (4, Some(("other.c", 41))));
    assert_eq!(of("z"), (6, Some(("other.c", 7))));
}

#[test]
fn files_that_are_read_are_listed_once() {
    let files = MemoryFiles::new().with("a.h", "#pragma once\nint a;\n").with("lib/b.h", "#include \"../a.h\"\n");
    let options = Options { include: vec!["lib".into()], preinclude: vec!["a.h".into()], ..Options::default() };
    let (sources, _, reading) =
        reading("#include <b.h>\n#include \"a.h\"\n#include <pthread.h>\nint x;", &files, &options);
    assert!(reading.unit.is_some(), "{:?}", reading.diagnostics);
    let names: Vec<&str> = reading.files.iter().map(|&file| sources.file(file).name()).collect();
    assert_eq!(names, ["main.c", "./a.h", "lib/b.h"]);
}

#[test]
fn options_of_a_compiler_are_heeded() {
    let files = MemoryFiles::new();
    let text = "int x = N;\n#ifdef __linux__\nint y;\n#endif\n";
    let options = Options { define: vec!["N=3".into()], undefine: vec!["__linux__".into()], ..Options::default() };
    let (_, _, reading) = reading(text, &files, &options);
    assert_eq!(super::print(&reading.unit.expect("it is C"), &|_| true), "x: int = {0 3:int}\n");
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let options = Options::parse(&words("-I a -Ib -DX=1 -D Y -UZ -std=c11 -m32 -include c.h")).expect("well formed");
    assert_eq!(options.include, [std::path::Path::new("a"), std::path::Path::new("b")]);
    assert_eq!((options.define, options.undefine), (words("X=1 Y"), words("Z")));
    assert_eq!((options.preinclude, options.data_model), (words("c.h"), super::super::DataModel::Ilp32));
    assert_eq!(Options::parse(&words("-O2")), Err("`-O2` is not an option for reading C".to_owned()));
    assert_eq!(Options::parse(&words("-D")), Err("`-D` needs a value".to_owned()));
    use super::super::{Edition, Standard, StandardError};
    assert_eq!(Standard::parse("gnu11"), Ok(Standard { edition: Edition::C11, gnu: true }));
    assert_eq!(Standard::parse("iso9899:1999"), Ok(Standard { edition: Edition::C99, gnu: false }));
    assert_eq!(Standard::parse("gnu++17"), Err(StandardError::CPlusPlus));
    assert_eq!(Standard::parse("pascal"), Err(StandardError::Unknown));
}

#[test]
fn diagnostics_have_our_form() {
    let files = MemoryFiles::new().with("bad.h", "int y = z;\n");
    let of = |text: &str| messages(text, &files, &Options::default());
    assert_eq!(
        of("int f(void) { return x; }"),
        ["CS0601 main.c 1:22 `x`: 'x' undeclared (first use in this function)"]
    );
    assert_eq!(of("int f(void) { return 1 }"), ["CS0601 main.c 1:23 ``: expected `;`, found `}`"]);
    assert_eq!(of("#include <nowhere.h>\n"), ["CS0601 main.c 1:1 `#`: `nowhere.h` file not found"]);
    assert_eq!(of("#include \"bad.h\"\n"), ["CS0601 bad.h 1:9 `z`: 'z' undeclared (first use in this function)"]);
    assert_eq!(of("#define M z\nint y = M;"), ["CS0601 main.c 1:11 `z`: 'z' undeclared (first use in this function)"]);
    assert_eq!(of("int f(void) { return g(); }"), ["CS0602 main.c 1:22 `g`: implicit declaration of function 'g'"]);
    assert_eq!(of("class A {};"), ["CS0601 main.c 1:1 `class`: unknown type name 'class'"]);
    let deep = of(&format!("int x = {}1{};", "(".repeat(300), ")".repeat(300)));
    assert!(deep[0].ends_with("brackets nested more deeply than 256 levels"), "{deep:?}");
}
