//! What names mean: every name of a program that compiles has a declaration, and a declaration is one of itself.

use super::format::{atoms, programs};
use cssame::front::csm::words;
use cssame::front::names;
use cssame::source::SourceMap;
use cssame::source::names::{Name, NameKind};
use std::collections::BTreeSet;

fn of(text: &str) -> (SourceMap, Vec<Name>) {
    let mut sources = SourceMap::default();
    let file = sources.add("test.csm", text);
    let found = names(&sources, file);
    assert!(found.errors.is_empty(), "{text}: {:?}", found.errors);
    (sources, found.names)
}

/// Each name with its line, the line of its declaration, and its kind.
fn lines(text: &str) -> Vec<(String, u32, u32, NameKind)> {
    let (sources, names) = of(text);
    let line = |name: &Name| {
        (sources.text(name.span).to_owned(), sources.line(name.span), sources.line(name.declared), name.kind)
    };
    names.iter().map(line).collect()
}

#[test]
fn every_word_of_a_program_is_known() {
    let known: BTreeSet<&str> = words().chain(["Lock", "Unlock"]).collect();
    let mut count = 0;
    for (file, text) in programs() {
        let mut sources = SourceMap::default();
        let id = sources.add("test.csm", &text);
        let found = names(&sources, id);
        if !found.errors.is_empty() {
            continue;
        }
        let spans: BTreeSet<(u32, u32)> = found.names.iter().map(|name| (name.span.start, name.span.end)).collect();
        let declared: BTreeSet<_> =
            found.names.iter().filter(|name| name.span == name.declared).map(|name| name.span).collect();
        for name in &found.names {
            assert!(declared.contains(&name.declared), "{file}: {}", sources.text(name.span));
            assert_eq!(sources.text(name.span), sources.text(name.declared), "{file}");
        }
        let is_word = |text: &str| text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
        for atom in atoms(&text).iter().filter(|atom| !atom.is_comment && is_word(atom.text)) {
            let span = (atom.start as u32, (atom.start + atom.text.len()) as u32);
            assert!(
                spans.contains(&span) || known.contains(atom.text),
                "{file}:{}: {}",
                text[..atom.start].matches('\n').count() + 1,
                atom.text
            );
            count += 1;
        }
    }
    assert!(count > 10_000, "{count}");
}

#[test]
fn names_mean_what_is_nearest() {
    use NameKind::{Function, Object, Parameter, Thread, Variable};
    let own = |name: &str, line, declared, kind| (name.to_owned(), line, declared, kind);
    assert_eq!(
        lines(
            "int x; lock L;\nvoid f(int x) { print(x); }\ncobegin\n  T1: { int x = 1; f(x); }\n  T2: synchronized (L) { x = 2; }\ncoend\n"
        ),
        [
            own("x", 1, 1, Variable),
            own("L", 1, 1, Object),
            own("f", 2, 2, Function),
            own("x", 2, 2, Parameter),
            own("x", 2, 2, Parameter),
            own("T1", 4, 4, Thread),
            own("x", 4, 4, Variable),
            own("f", 4, 2, Function),
            own("x", 4, 4, Variable),
            own("T2", 5, 5, Thread),
            own("L", 5, 1, Object),
            own("x", 5, 1, Variable),
        ]
    );
}

#[test]
fn members_constants_and_types() {
    use NameKind::{Class, Constant, Enum, Field, Method, Variable};
    let text = "enum State { IDLE, BUSY };\nclass A {\npublic:\n  State s;\n  A(int n) { s = n; }\n  void m() { this.s = BUSY; m(); }\n};\n\
                input int k = 1 in 0..2;\nA a(k);\na.m();\nprint(a.s);\n";
    let own = |name: &str, line, declared, kind| (name.to_owned(), line, declared, kind);
    let found = lines(text);
    for expected in [
        own("State", 4, 1, Enum),
        own("A", 5, 2, Class),
        own("s", 5, 4, Field),
        own("s", 6, 4, Field),
        own("BUSY", 6, 1, Constant),
        own("m", 6, 6, Method),
        own("A", 9, 2, Class),
        own("k", 9, 8, Constant),
        own("a", 10, 9, Variable),
        own("m", 10, 6, Method),
        own("s", 11, 4, Field),
    ] {
        assert!(found.contains(&expected), "{expected:?} of {found:?}");
    }
}
