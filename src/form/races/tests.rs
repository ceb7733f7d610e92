//! Tests of potential races, and of the reasons against races.

mod rows;

use super::{Order, PotentialRaces, Separation, potential_races};
use crate::{Form, analyse};
use cssame_front::compile;
use cssame_ir::{Access, DefinitionId, Program, ReadId};
use cssame_source::SourceMap;

/// A program and its form.
struct Subject {
    sources: SourceMap,
    program: Program,
    form: Form,
}

fn subject(text: &str) -> Subject {
    let mut sources = SourceMap::default();
    let file = sources.add("test.csm", text);
    let compiled = compile(&sources, file, &[]);
    let program = compiled.program.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics));
    let form = analyse(&program).expect("a main");
    Subject { sources, program, form }
}

impl Subject {
    fn races(&self) -> PotentialRaces<'_> {
        potential_races(&self.program, &self.form)
    }

    /// `r3` for a read in line 3, `w3` for a write.
    fn name(&self, access: Access) -> String {
        format!("{}{}", &access.word()[..1], self.sources.line(access.span(&self.program)))
    }

    fn accesses(&self) -> Vec<Access> {
        let reads = (0..self.program.reads.len()).map(|read| Access::Read(ReadId::new(read)));
        let writes = (0..self.program.definitions.len()).map(|write| Access::Write(DefinitionId::new(write)));
        reads.chain(writes).filter(|access| !access.is_initial(&self.program)).collect()
    }

    /// The only access of that name.
    fn access(&self, name: &str) -> Access {
        let mut found = self.accesses().into_iter().filter(|&access| self.name(access) == name);
        let access = found.next().unwrap_or_else(|| panic!("no {name}"));
        assert_eq!(found.next(), None, "{name} is not the only one");
        access
    }

    /// The pairs by name, sorted by place.
    fn pairs(&self) -> Vec<String> {
        let by_place = |access: &Access| (access.span(&self.program), *access);
        let mut pairs: Vec<[Access; 2]> = self.races().pairs().collect();
        pairs.iter_mut().for_each(|pair| pair.sort_by_key(by_place));
        pairs.sort_by_key(|[a, b]| (by_place(a), by_place(b)));
        pairs.into_iter().map(|[a, b]| format!("{} {}", self.name(a), self.name(b))).collect()
    }

    fn separations(&self, a: &str, b: &str) -> Vec<Separation> {
        self.races().separations(self.access(a), self.access(b))
    }
}

fn thread(name: &str) -> Separation {
    Separation::Ordered(Order::Thread { thread: name.to_owned() })
}

#[test]
fn sen_figure_1() {
    let text = "int x; int y; int z; lock L;\ncobegin\nT1:\nx = 1;\nlock(L);\ny = 1;\nunlock(L);\nif (z == 1) error(\"1\");\n\
                T2:\nz = 1;\nlock(L);\nif (y == 1)\nif (x != 1) error(\"2\");\nunlock(L);\ncoend\n";
    let subject = subject(text);
    assert_eq!(subject.pairs(), ["w4 r13", "r8 w10"]);
    assert_eq!(subject.separations("r12", "w6"), [Separation::Locked(vec!["L".to_owned()])]);
}

#[test]
fn writes_race_with_each_other_and_with_themselves() {
    let subject =
        subject("int x;\nparfor (int i = 0; i < 100; i++) {\nx = i;\n}\ncobegin\nA: x = 1;\nB: x = 2;\ncoend\n");
    assert_eq!(subject.pairs(), ["w3 w3", "w6 w7"]);
    let reasons = subject.separations("w3", "w6");
    assert!(matches!(&reasons[..], [Separation::Ordered(Order::Lives { .. })]), "{reasons:?}");
}

#[test]
fn an_update_is_a_read_and_a_write() {
    let subject = subject("int x;\ncobegin\nA: x += 1;\nB: x += 1;\ncoend\n");
    assert_eq!(subject.pairs(), ["r3 w4", "w3 r4", "w3 w4"]);
    assert_eq!(subject.separations("r3", "w3"), [thread("A")]);
}

#[test]
fn atomic_accesses_race_with_plain_ones_only() {
    let text = "int x;\ncobegin\nA: fetch_add(x, 1);\nB: atomic {\nx = x + 1;\n}\nC: print(\nx);\ncoend\n";
    let subject = subject(text);
    assert_eq!(subject.pairs(), ["w3 r8", "w5 r8"]);
    assert_eq!(subject.separations("w3", "w5"), [Separation::Atomic]);
    assert_eq!(subject.separations("r5", "w5"), [thread("B")]);
}

#[test]
fn elements_with_constant_indices_are_apart() {
    let text = "int t[3]; int i = 0;\nvoid main() {\ncobegin\nA: t[0] = 1;\nB: t[1] = 2;\nC: t[i] = 3;\ncoend\n}\n";
    let subject = subject(text);
    assert_eq!(subject.pairs(), ["w4 w6", "w5 w6"]);
    assert_eq!(subject.separations("w4", "w5"), [Separation::Distinct]);
}

#[test]
fn forks_joins_signals_and_barriers_order() {
    let text = "int x; event e; barrier b(2);\nvoid f() {\nx = 1;\n}\nvoid main() {\nx = 2;\nthread t = spawn f();\njoin(t);\n\
                x = 3;\ncobegin\nA: x = 4;\nset(e); barrier(b);\nB: wait(e);\nx = 5;\nbarrier(b);\nC: skip;\ncoend\n}\n";
    let subject = subject(text);
    assert_eq!(subject.pairs(), Vec::<String>::new());
    let of = |a, b| match &subject.separations(a, b)[..] {
        [only] => only.in_words(),
        other => panic!("{other:?}"),
    };
    assert_eq!(of("w3", "w6"), "t is started only after the other access");
    assert_eq!(of("w3", "w9"), "t has been joined before the other access");
    assert_eq!(of("w6", "w9"), "both are made by one thread, main");
    assert_eq!(of("w11", "w14"), "one comes before `e` is raised, the other after waiting for it");
}

#[test]
fn rounds_of_a_barrier_order() {
    let subject = subject("int x; barrier b(2);\ncobegin\nA: x = 1;\nbarrier(b);\nB: barrier(b);\nx = 2;\ncoend\n");
    assert_eq!(subject.separations("w3", "w6"), [Separation::Ordered(Order::Barrier { object: "b".to_owned() })]);
}

#[test]
fn branches_exclude_each_other() {
    let text = "int x; int c;\ncobegin\nA: if (c == 1) {\nx = 1;\n} else {\nx = 2;\n}\nB: c = 1; print(x);\ncoend\n";
    assert_eq!(subject(text).separations("w4", "w6"), [Separation::Exclusive]);
}

#[test]
fn contexts_are_all_counted() {
    let text = "class A {\nlock L; int n;\nvoid locked() { synchronized (L) {\nadd();\n} }\nvoid add() {\nn = n + 1;\n}\n}\n\
                A a; A b;\ncobegin\nT1: a.locked(); b.add();\nT2: a.locked(); b.locked();\ncoend\n";
    let subject = subject(text);
    assert_eq!(subject.pairs(), ["w7 w7", "w7 r7"]);
    let variables = subject.races().variables();
    let names: Vec<&str> =
        variables.iter().map(|&leaf| subject.program.texts.get(subject.program.leaves[leaf].name)).collect();
    assert_eq!(names, ["b.n"]);
}

/// Threads that outlive the one that made them are not told apart, but each has its own locals.
#[test]
fn locals_of_threads_that_are_not_told_apart() {
    let text = "int n = 2;\nvoid g() {\nint v[1];\nv[0] = 1;\ncobegin\nA: v[0] = 2;\nB: v[0] = 3;\ncoend\n}\n\
                void f() { spawn g(); }\nvoid main() {\nspawn f();\n}\n";
    let subject = subject(text);
    let pairs = subject.pairs();
    assert!(pairs.contains(&"w6 w7".to_owned()), "{pairs:?}");
    assert!(!pairs.contains(&"w4 w4".to_owned()), "{pairs:?}");
}

/// The iterator, the question and the groups agree.
#[test]
fn views_agree() {
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples")).expect("samples") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            continue;
        }
        let text = std::fs::read_to_string(path).expect("text");
        let mut sources = SourceMap::default();
        let file = sources.add("test.csm", &text);
        let Some(program) = compile(&sources, file, &[]).program else { continue };
        let Some(form) = analyse(&program) else { continue };
        let subject = Subject { sources, program, form };
        let races = subject.races();
        let pairs: Vec<[Access; 2]> = races.pairs().collect();
        assert!(pairs.is_sorted_by(|a, b| a < b));
        let mut by_variable: Vec<[Access; 2]> =
            races.variables().into_iter().flat_map(|leaf| races.pairs_of(leaf)).collect();
        by_variable.sort_unstable();
        by_variable.dedup();
        assert_eq!(by_variable, pairs);
        let accesses = subject.accesses();
        for &a in &accesses {
            for &b in &accesses {
                let found = pairs.binary_search(&[a.min(b), a.max(b)]).is_ok();
                assert_eq!(races.contains(a, b), found);
                assert!(!found || races.separations(a, b).is_empty());
                assert_eq!(races.separations(a, b), races.separations(b, a));
            }
        }
    }
}
