//! Tears of random programs with methods, held against the oracle: nobody is said not to tear what an execution tears.
//!
//! `CSSAME_LAW_PROGRAMS` and `CSSAME_LAW_SEED` run more programs, or others.

use cssame::answer::{CorrelateRequest, Execute, correlate};
use cssame::budget::Budget;
use cssame::correlation::{AccessKind, Status};
use cssame::explore::{Query, futures};
use cssame::model::{Model, Options};
use cssame::tear::{Other, Side, Tear, TearPattern, parties, tear};
use std::collections::BTreeSet;
use support::generate::Rng;
use support::oracle::{Torn, tears_of_source};
use support::{first_seed, model, programs};

/// A statement on the fields, as a method or a thread says it.
fn statement(rng: &mut Rng, object: &str) -> String {
    let [x, y, s] = ["x", "y", "s"].map(|field| format!("{object}{field}"));
    let value = 1 + rng.below(3);
    match rng.below(9) {
        0 => format!("{x} = {value};"),
        1 => format!("{y} = {value};"),
        2 => format!("{x} = {s};"),
        3 => format!("{y} = {s};"),
        4 => format!("{y} = {x} + 1;"),
        5 => format!("print({x});"),
        6 => format!("print({y});"),
        7 => format!("{s} = {value};"),
        _ => format!("if ({x} > 1) {y} = {value};"),
    }
}

fn region(rng: &mut Rng, object: &str, most: usize) -> String {
    let statements: Vec<String> = (0..1 + rng.below(most)).map(|_| statement(rng, object)).collect();
    format!("lock({object}L); {} unlock({object}L);", statements.join(" "))
}

/// A class with three methods, of which the first has two regions, and two or three threads that call them or do the like.
fn program(seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let mut text = "class C {\n  lock L; int x; int y; int s = 1;\n".to_owned();
    for method in 0..3 {
        let regions: Vec<String> =
            (0..if method == 0 { 2 } else { 1 + rng.below(2) }).map(|_| region(&mut rng, "", 2)).collect();
        text += &format!("  public void m{method}() {{ {} }}\n", regions.join(" "));
    }
    text += "}\nC o;\nvoid main() {\n  cobegin\n    A: o.m0();\n";
    for (at, label) in ["B", "D"].iter().enumerate().take(1 + rng.below(2)) {
        let parts = 2 - at;
        let actions: Vec<String> = (0..parts)
            .map(|_| match rng.below(3) {
                0 => region(&mut rng, "o.", 2),
                _ => format!("o.m{}();", rng.below(3)),
            })
            .collect();
        text += &format!("    {label}: {{ {} }}\n", actions.join(" "));
    }
    text + "  coend\n}\n"
}

/// The method `m` sets `x` to what it is already, the other one overwrites that, and then `m` writes `y`.
fn overwritten(split: bool) -> String {
    let gap = if split { "unlock(L); lock(L);" } else { "" };
    format!(
        "class C {{ lock L; int x = 1; int y;
           public void m0() {{ lock(L); x = 1; {gap} y = 1; unlock(L); }}
           public void m1() {{ lock(L); x = 2; print(y); unlock(L); }} }}
         C o; void main() {{ cobegin A: o.m0(); B: o.m1(); coend print(o.x); }}"
    )
}

/// What a program prints, in all its executions.
fn outcomes(model: &Model) -> BTreeSet<Vec<String>> {
    let answer = futures(model.machine(), &Query::default(), &Budget::unlimited());
    let lines = |outcome: &cssame::explore::Outcome| {
        let all = outcome.outputs.iter().flat_map(|&(_, output)| answer.tables.lines(output));
        all.map(str::to_owned).collect()
    };
    answer.outcomes.iter().map(lines).collect()
}

/// That the write has changed nothing makes no difference to who overwrites it: no serial order prints `2` at the end and `0` for
/// `y`. So the interpreter that follows the definition, and the search, call it torn.
#[test]
fn a_write_that_changes_nothing_can_be_overwritten() {
    let (model, whole) = (model(&overwritten(true)), model(&overwritten(false)));
    assert!(outcomes(&whole).is_subset(&outcomes(&model)) && outcomes(&model).len() > outcomes(&whole).len());
    let tears = tears_of_source(&overwritten(true), 300_000).unwrap().unwrap();
    let torn = patterns(&model).into_iter().filter(|(pattern, name)| {
        let answer = tear(model.machine(), model.program(), pattern, &Budget::unlimited()).tear;
        let is_torn = matches!(answer, Tear::Found { .. });
        assert_eq!(tears.by_one.contains(name), is_torn, "{name:?}");
        is_torn
    });
    let names: Vec<Torn> = torn.map(|(_, name)| name).collect();
    assert_eq!(names, [("C.m0".to_owned(), [("C.x".to_owned(), true), ("C.y".to_owned(), true)])]);
}

/// A random program with elements in the place of the fields: `x[1]` and `y[at]`. Another thread does the like with other elements.
fn with_elements(seed: u64, at: u32, beside: &str) -> String {
    let mut text = program(seed).replace("int x; int y;", "int x[3]; int y[3];");
    for (field, at) in [("x", 1), ("y", at)] {
        for end in [" ", ")", ";"] {
            for begin in [" ", "(", "o."] {
                text = text.replace(&format!("{begin}{field}{end}"), &format!("{begin}{field}[{at}]{end}"));
            }
        }
    }
    text.replace("  coend", &format!("{beside}  coend"))
}

/// Elements of one row are torn where, and only where, fields of an object are, whatever is done in other rows; those of two never.
#[test]
fn rows_are_torn_as_fields_are() {
    let beside = "    E: { lock(o.L); o.x[2] = 5; o.y[0] = 6; o.y[2] = 7; unlock(o.L); }\n";
    let (mut torn, mut whole) = (0, 0);
    for seed in 0..programs(30) / 2 {
        let (fields, row, apart) = (program(seed), with_elements(seed, 1, beside), with_elements(seed, 2, ""));
        let models = [model(&fields), model(&row), model(&apart)];
        let answers = |model: &Model, by_row: bool| -> Vec<(Torn, bool)> {
            let one = |(pattern, name): (TearPattern, Torn)| {
                let pattern = TearPattern { by_row, ..pattern };
                let answer = tear(model.machine(), model.program(), &pattern, &Budget::unlimited()).tear;
                (name, matches!(answer, Tear::Found { .. }))
            };
            patterns(model).into_iter().map(one).collect()
        };
        let expected = answers(&models[0], false);
        assert_eq!(answers(&models[1], true), expected, "{seed}\n{row}");
        let never = answers(&models[2], true);
        assert!(never.iter().all(|one| !one.1), "{seed}: {never:?}\n{apart}");
        let found = expected.iter().filter(|one| one.1).count();
        (torn, whole) = (torn + found, whole + expected.len() - found);
    }
    assert!(support::has_new_seed() || torn > 5 && whole > 20, "{torn} {whole}");
}

/// All pairs of accesses to `x` and `y` by a method, with what the oracle calls them.
fn patterns(model: &Model) -> Vec<(TearPattern, Torn)> {
    let program = model.program();
    let name = |text| program.texts.get(text);
    let symbol = |wanted: &str| program.symbols.ids().find(|&id| name(program.symbols[id].name) == wanted).unwrap();
    let methods = program.functions.ids().filter(|&id| name(program.functions[id].name).contains(".m"));
    let mut all = Vec::new();
    for method in methods {
        for first in AccessKind::ALL {
            for second in AccessKind::ALL {
                let side = |variable, kind| Side { symbol: symbol(variable), part: None, kind };
                let sides = [side("x", first), side("y", second)];
                let pattern = TearPattern {
                    method,
                    other: Other::Anyone,
                    sides,
                    copied: false,
                    sources: Vec::new(),
                    by_row: false,
                    only: None,
                };
                let of = |variable: &str, kind| (format!("C.{variable}"), kind == AccessKind::Write);
                let torn = (name(program.functions[method].name).to_owned(), [of("x", first), of("y", second)]);
                all.push((pattern, torn));
            }
        }
    }
    all
}

#[test]
fn what_is_torn_is_what_the_oracle_tears() {
    let (seed, programs) = (first_seed(0), programs(30));
    let (mut torn, mut whole, mut checked) = (0, 0, 0);
    for seed in seed..seed + programs {
        let text = program(seed);
        let Some(tears) = tears_of_source(&text, 300_000).unwrap_or_else(|error| panic!("{seed}: {error}\n{text}"))
        else {
            continue;
        };
        checked += 1;
        let model = model(&text);
        for (pattern, name) in patterns(&model) {
            let answer = tear(model.machine(), model.program(), &pattern, &Budget::unlimited()).tear;
            match &answer {
                Tear::Found { schedule } => {
                    torn += 1;
                    assert!(tears.by_any.contains(&name), "{seed}: {name:?} is not torn\n{text}");
                    let by = parties(model.machine(), model.program(), &pattern, schedule);
                    assert!(!by.is_empty(), "{seed}: nobody tears {name:?}\n{text}");
                }
                Tear::Impossible => {
                    whole += 1;
                    assert!(!tears.by_one.contains(&name), "{seed}: {name:?} is torn\n{text}");
                }
                Tear::Undecided(_) => panic!("{seed}: {name:?} is undecided\n{text}"),
            }
        }
    }
    assert!(
        support::has_new_seed() || checked > programs / 2 && torn > checked / 4 && whole > checked,
        "{checked} {torn} {whole}"
    );
}

#[test]
fn nothing_is_refuted_that_the_oracle_tears() {
    let (seed, programs) = (first_seed(0), programs(30));
    let mut counts = [0; 3];
    for seed in seed..seed + programs {
        let text = program(seed);
        let Some(tears) = tears_of_source(&text, 300_000).unwrap_or_else(|error| panic!("{seed}: {error}\n{text}"))
        else {
            continue;
        };
        let options = Options::default();
        let request =
            CorrelateRequest { threshold: 0.0, rank: 0.0, sets: false, execute: Execute::Selected, options: &options };
        let unit = cssame::model::Unit::from_text("test.csm", &text, &[]).unwrap();
        let answer = correlate(unit, &request, &Budget::unlimited());
        let pairs = answer.correlation.pairs.iter().filter(|pair| pair.selected);
        for access in pairs.flat_map(|pair| &pair.endangered_accesses) {
            let side = |at: usize| {
                (format!("C.{}", access.variables[at].rsplit('.').next().unwrap()), access.accesses[at] == "write")
            };
            let name = (access.method.clone(), [side(0), side(1)]);
            let at = [Status::Confirmed, Status::Elsewhere, Status::Refuted];
            if let Some(at) = at.iter().position(|&status| status == access.decision.status) {
                counts[at] += 1;
            }
            if access.decision.status == Status::Refuted {
                assert!(!tears.by_one.contains(&name), "{seed}: {name:?} is refuted\n{text}");
            }
            assert_eq!(access.by.is_empty(), !matches!(access.decision.status, Status::Confirmed | Status::Elsewhere));
        }
    }
    assert!(support::has_new_seed() || counts.iter().all(|&count| count > 0), "{counts:?}");
}

/// The source of two writes is changed in between; that the method then reads the first variable hides nobody.
#[test]
fn who_changes_the_source_is_named() {
    let text = "class C { lock L; int x; int y; int s = 1;
           public void m0() { lock(L); x = s; unlock(L); lock(L); if (x > 1) y = 3; y = s; unlock(L); }
           public void m1() { lock(L); y = s; unlock(L); } }
         C o; void main() { cobegin A: o.m0(); B: { lock(o.L); o.s = 3; unlock(o.L); o.m1(); } D: o.m1(); coend }";
    let options = Options::default();
    let request =
        CorrelateRequest { threshold: 0.0, rank: 0.0, sets: false, execute: Execute::Selected, options: &options };
    let unit = cssame::model::Unit::from_text("test.csm", text, &[]).unwrap();
    let answer = correlate(unit, &request, &Budget::unlimited());
    let torn = answer.correlation.pairs.iter().flat_map(|pair| &pair.endangered_accesses);
    let torn: Vec<_> =
        torn.filter(|one| matches!(one.decision.status, Status::Confirmed | Status::Elsewhere)).collect();
    assert!(!torn.is_empty() && torn.iter().all(|one| one.by.iter().any(|by| by == "B")));
}
