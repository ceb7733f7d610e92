//! Packages in the form of the paper: the text of its figures, what their tests show, and that a future which exists is shown as it is.

mod runs;

use crate::java::difference;
use cssame::budget::{Budget, Limits};
use cssame::driver::{
    Act, End, Expect, Input, LatchesError, Options, Package, Plan, Source, Target, Unsaid, drive_latches, plan,
};
use cssame::explore::{Query, futures};
use cssame::model::{self, Model};
use cssame::schedule::source_hash;
use runs::{Ran, Runs};
use std::collections::BTreeMap;
use support::{generate, root, samples};

fn model_of(name: &str, text: &str) -> Option<Model> {
    Model::from_text(name, text, &model::Options::default()).ok()
}

fn input(model: &Model) -> Input<'_> {
    Input { sources: model.sources(), program: model.program(), form: model.form(), machine: model.machine() }
}

/// The package of a program, with the selections.
fn package(name: &str, model: &Model, selected: &[&str]) -> Result<Package, LatchesError> {
    let texts: Vec<String> = selected.iter().map(|&text| text.to_owned()).collect();
    let selections = model.selections(&texts).unwrap();
    let options = Options {
        target: Target::AspectJ,
        expect: Expect::Program,
        file: format!("samples/{name}.csm"),
        hash: source_hash(model.unit().text()),
        inputs: Vec::new(),
        semantics: model::Options::default().semantics,
        max_steps: 10_000,
        free: false,
    };
    drive_latches(&input(model), &selections, &options)
}

fn sample(name: &str) -> Model {
    let (_, text) = samples().into_iter().find(|(other, _)| other == name).unwrap();
    model_of(name, &text).unwrap()
}

fn file<'p>(package: &'p Package, name: &str) -> &'p str {
    &package.files.iter().find(|(path, _)| path.ends_with(name)).unwrap().1
}

/// For each term, `READ=DEF`, what a test says to its run: the read, and the version.
fn terms(package: &Package) -> BTreeMap<String, (String, String)> {
    let text = file(package, "TermsTest.java");
    let mut selected = text.lines().filter_map(|line| {
        let (read, version) = line.trim().strip_prefix("run.select(\"")?.strip_suffix("\");")?.split_once("\", \"")?;
        Some((read.to_owned(), version.to_owned()))
    });
    let tests = package.manifest.tests.iter().filter(|test| !test.shows.is_empty());
    tests.map(|test| (test.shows[0].clone(), selected.next().unwrap())).collect()
}

#[test]
fn the_figures_of_the_paper_are_written_as_it_writes_them() {
    let mut problems = Vec::new();
    for name in ["cssame_fig2", "cssame_fig5", "cssame_fig6", "cssame_fig7"] {
        let package = package(name, &sample(name), &[]).unwrap();
        let text = file(&package, "Program.java").replace(env!("CARGO_PKG_VERSION"), "VERSION");
        let golden = root().join("tests/suite/java/golden").join(name).join("latches/Program.java");
        problems.extend(difference(&golden, &text));
    }
    assert!(problems.is_empty(), "CSSAME_BLESS=1 cargo test --test suite latches\n{}", problems.join("\n"));
}

fn said(text: &str) -> Ran {
    Ran { lines: vec![text.to_owned()], failure: None }
}

#[test]
fn the_tests_of_the_figures_show_what_the_paper_says() {
    let mut all = Runs::new("figures");
    let mut expected = Vec::new();
    let mut add = |name: &str, rows: &[(&[&str], Ran)]| {
        let package = package(name, &sample(name), &[]).unwrap();
        let terms = terms(&package);
        all.add(&package);
        for (selected, ran) in rows {
            let selected: Vec<_> = selected.iter().map(|&term| terms[term].clone()).collect();
            all.push(&format!("drive_{name}"), &selected);
            expected.push(ran.clone());
        }
    };
    add("cssame_fig2", &[(&["a@24:11=a@16:5"], said("T3: 2")), (&["a@24:11=a@20:5"], said("T3: 3"))]);
    let failure = Some("T3 fails: division by zero at line 25".to_owned());
    let fails = Ran { lines: Vec::new(), failure };
    add("cssame_fig5", &[(&["n@25:23=n@15:5"], fails), (&["n@25:23=n@19:5"], said("T3: 7"))]);
    // Four runs, each with one of the increments and the initial value for all else.
    let increments = ["n0@21:15=n0@13:5", "n1@21:20=n1@15:5", "n2@21:25=n2@17:5", "n3@21:30=n3@19:5"];
    for term in increments {
        add("cssame_fig6", &[(&[term], said("T5: 1"))]);
    }
    // What no execution of the program prints.
    let impossible = ["a@25:9=a@15:5", "b@25:21=b@22:5"];
    add("cssame_fig7", &[(&impossible, said("T2: 1 2")), (&["a@25:9=a@21:5"], said("T2: 2 0"))]);
    let Some(results) = all.run(&[]) else { return };
    assert_eq!(results, expected);
}

#[test]
fn a_pi_function_waits_for_its_latch_and_keeps_the_lock() {
    let mut all = Runs::new("standstill");
    let package = package("cssame_fig7", &sample("cssame_fig7"), &[]).unwrap();
    all.add(&package);
    all.push("drive_cssame_fig7", &[terms(&package)["a@25:9=a@15:5"].clone()]);
    // T2 begins first, and has the lock in its second section when it waits for T1.
    let Some(results) = all.run(&[("CSSAME_START", "reverse")]) else { return };
    let expected = "the threads wait for each other for ever:\n  main waits for the end of T1\n  \
                    T2 waits at a@25:9 for the latch of a_1\n  T1 waits for the lock L, which T2 holds";
    assert_eq!(results[0].failure.as_deref(), Some(expected));
}

fn by_thread(line: &str) -> String {
    line.split(": ").next().unwrap().to_owned()
}

/// The terms of the reads of an execution, `READ=DEF`.
fn selected(plan: &Plan) -> Vec<String> {
    let events = || plan.threads.iter().flat_map(|thread| &thread.events);
    let writers: BTreeMap<usize, &str> = events().map(|event| (event.latch, &*event.at)).collect();
    let reads = events().filter_map(|event| match &event.act {
        Act::Read(Source::Latch(latch), _) => Some(format!("{}={}", event.at, writers[latch])),
        Act::Read(Source::Initial(_), _) => {
            let variable = event.at.split('@').next().unwrap();
            Some(format!("{}={variable}@initial", event.at))
        }
        _ => None,
    });
    reads.collect()
}

/// Whatever an execution does, the form does with its terms selected; or it stands still with a lock that the execution has
/// taken in another order.
#[test]
fn a_future_that_exists_is_shown_as_it_is() {
    let mut all = Runs::new("futures");
    let mut expected: Vec<(String, Plan)> = Vec::new();
    let limits = Limits { max_states: Some(20_000), ..Limits::default() };
    let size = generate::Size::default();
    let random = (1..=support::programs(4)).flat_map(|seed| {
        let texts = [generate::racy(seed, &size), generate::locking(seed, &size), generate::program(seed, &size)];
        texts.into_iter().enumerate().map(move |(number, text)| (format!("p{seed}_{number}"), text))
    });
    for (name, text) in support::part(samples(), 20).into_iter().chain(random) {
        let Some(model) = model_of(&name, &text) else { continue };
        let Ok(package) = package(&name, &model, &[]) else { continue };
        let terms = terms(&package);
        all.add(&package);
        let answer = futures(model.machine(), &Query::default(), &Budget::from(limits));
        for schedule in answer.outcomes.iter().filter_map(|outcome| outcome.schedule.as_ref()).take(6) {
            let plan = plan(&input(&model), schedule, 10_000).unwrap();
            // A deadlock is made by who takes which lock first, and that is not selected.
            if matches!(plan.end, End::Deadlock(_)) {
                continue;
            }
            let selected: Vec<_> = selected(&plan).iter().filter_map(|term| terms.get(term).cloned()).collect();
            all.push(&format!("drive_{name}"), &selected);
            expected.push((name.clone(), plan));
        }
    }
    assert!(expected.len() > support::size(10, 60), "{}", expected.len());
    let Some(results) = all.run(&[]) else { return };
    let mut still = 0;
    for (ran, (name, plan)) in results.iter().zip(&expected) {
        let mut lines: Vec<String> = plan
            .output
            .iter()
            .flat_map(|(thread, lines)| lines.iter().map(|line| format!("{}: {line}", plan.threads[*thread].name)))
            .collect();
        let mut printed = ran.lines.clone();
        // Threads may print in another order.
        printed.sort_by_key(|line| by_thread(line));
        lines.sort_by_key(|line| by_thread(line));
        match (&ran.failure, &plan.end) {
            (Some(failure), _) if failure.contains("for ever") => still += 1,
            (Some(failure), End::Fails(message)) => {
                // `unlock` knows no line.
                let why = message.split(" at line").next().unwrap();
                assert!(failure.contains(why), "{name}: {ran:?} {message}");
            }
            (failure, end) => {
                assert_eq!((failure, end), (&None, &End::Ok), "{name}: {ran:?}");
                assert_eq!(printed, lines, "{name}: {ran:?}");
            }
        }
    }
    println!("{still} of {} runs stand still", results.len());
    // How often the form blocks where the program does not: it is known to.
    assert!(still * 4 < results.len(), "{still} of {} runs stand still", results.len());
}

/// The lines and constructs that are refused.
fn refused(text: &str) -> Vec<String> {
    let model = model_of("refused", text).unwrap();
    let Err(LatchesError::Unsaid(all)) = package("refused", &model, &[]) else { panic!("{text}") };
    let line = |unsaid: &Unsaid| format!("{}: {}", model.sources().line(unsaid.span), unsaid.construct);
    all.iter().map(line).collect()
}

#[test]
fn what_the_form_cannot_say_is_refused_by_its_name() {
    let both = "cobegin T1: x = 1; T2: print(x); coend\n";
    let rows: &[(&str, &[&str])] = &[
        (
            "int x;\ncobegin\nT1: while (x < 2) x = x + 1;\nT2: print(x);\ncoend",
            &["3: the read of `x` in a loop", "3: the definition of `x` in a loop", "3: the read of `x` in a loop"],
        ),
        ("int t[2];\ncobegin T1: t[0] = 1; T2: print(t[1]); coend", &["1: the array `t`"]),
        (
            "class A { int x; void set() { x = 1; } }\nA a;\ncobegin T1: a.set(); T2: print(a.x); coend",
            &["2: the object `a`"],
        ),
        ("int x;\nvoid f() { x = 1; }\ncobegin\nT1: f();\nT2: f();\ncoend", &["5: another run of `f`"]),
        (
            "int x;\nint f(int n) {\nif (n > 0) x = f(n - 1);\nreturn n; }\ncobegin T1: f(2); T2: print(x); coend",
            &["5: another run of `f`"],
        ),
        ("int x;\nvoid f() { x = 1; }\nfor (int i = 0; i < 2; i++)\nspawn f();\nprint(x);", &["4: `f` in a loop"]),
        ("int x;\nparfor (int i = 0; i < 2; i++)\nx = i;\nprint(x);", &["2: `parfor`", "2: `parfor@2` in a loop"]),
        ("int x;\ncobegin T1: fetch_add(x, 1); T2: print(x); coend", &["2: an atomic expression"]),
        ("int x;\ncobegin T1: atomic { x = 1; } T2: print(x); coend", &["2: an atomic block"]),
        ("int x = choose(0, 1);\ncobegin T1: x = 1; T2: print(x); coend", &["1: a choice"]),
        ("int x;\ncobegin T1: x = 1; T2: { int y = x;\nassume(y > 0); } coend", &["3: an assumption"]),
        ("int x; lock L;\ncobegin T1: if (trylock(L)) unlock(L); T2: print(x); coend", &["2: `trylock`"]),
        (
            "int x; rwlock L;\ncobegin T1: { rdlock(L); unlock(L); } T2: x = 1; coend",
            &["1: the readers-writer lock `L`", "2: `rdlock`", "2: `unlock`"],
        ),
    ];
    let wrong: Vec<_> = rows.iter().filter(|(text, expected)| refused(text) != *expected).collect();
    let found: Vec<_> = wrong.iter().map(|(text, _)| refused(text)).collect();
    assert!(wrong.is_empty(), "{wrong:#?} {found:#?}");
    assert!(package("said", &model_of("said", &format!("int x;\n{both}")).unwrap(), &[]).is_ok());
}

#[test]
fn a_selection_means_terms_of_pi_functions() {
    let error = |name: &str, selected: &[&str]| package(name, &sample(name), selected).unwrap_err().to_string();
    assert_eq!(
        error("cssame_fig2", &["a@24:11=a@15:5"]),
        "`a@15:5` is no term of `a@24:11`, which has `a@initial`, `a@16:5`, `a@20:5`"
    );
    assert_eq!(
        error("cssame_fig6", &["n0@13:5=n0@initial"]),
        "`n0@13:5` has no pi function: no more than one definition reaches it"
    );
    assert_eq!(
        error("cssame_fig7", &["a@25:9=a@15:5", "a@26:11=a@21:5"]),
        "the one pi function of `a@25:9` cannot give both `a@15:5` and `a@21:5`"
    );
    let selected = ["a@26:11=a@15:5", "b@25:21=b@22:5"];
    let package = package("cssame_fig7", &sample("cssame_fig7"), &selected).unwrap();
    assert_eq!(package.manifest.tests.len(), 1);
    let text = file(&package, "TermsTest.java");
    assert!(text.contains("run.select(\"a@25:9\", \"a_1\");\n        run.select(\"b@25:21\", \"b_2\");"), "{text}");
}
