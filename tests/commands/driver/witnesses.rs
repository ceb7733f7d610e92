//! The executions that tests of terms follow: close to the initial picture, with many outcomes, and each future once where that
//! is wanted.

use super::fixture::{Fixture, fixture_of, sample};
use cssame::answer::{Course, RunRequest, run};
use cssame::budget::Limits;
use cssame::driver::{Contents, Expect, Package};
use cssame::form::{definition_name, read_name};
use cssame::ir::{DefinitionId, ReadId};
use cssame::schedule::{Schedule, walk};
use cssame::vm::{CodeIndex, Event, Observer, Tables, ThreadName};
use std::collections::{BTreeMap, BTreeSet};

fn driven(fixture: &Fixture, distinct: bool) -> Package {
    fixture.drive_with(&Limits::default(), Contents::Terms, distinct)
}

fn text_of<'a>(package: &'a Package, path: &str) -> &'a str {
    package.files.iter().find(|(own, _)| own.to_string_lossy() == path).map_or("", |(_, text)| text)
}

/// By test: what it prints.
fn outputs(package: &Package) -> BTreeMap<&str, &[String]> {
    package.manifest.tests.iter().map(|test| (test.name.as_str(), test.output.as_slice())).collect()
}

/// What shared reads see, in order.
#[derive(Default)]
struct Seen(Vec<(ThreadName, ReadId, Option<DefinitionId>)>);

impl Observer for Seen {
    fn event(&mut self, thread: ThreadName, _: CodeIndex, event: Event) {
        if let Event::Read { read, writer, shared: true, .. } = event {
            self.0.push((thread, read, writer));
        }
    }
}

/// What the reads of a test see: by read, the definitions in order.
fn seen(fixture: &Fixture, package: &Package, test: &str) -> BTreeMap<String, Vec<String>> {
    let schedule = Schedule::parse(text_of(package, &format!("recorded/{test}.json"))).unwrap();
    let request = RunRequest { course: Course::Recorded(&schedule), max_steps: 100_000 };
    let answer = run(&fixture.model, &request);
    assert!(answer.departure.is_none(), "{test}");
    let mut seen = Seen::default();
    walk(fixture.model.machine(), &mut Tables::new(), &answer.execution.steps, &mut seen).unwrap();
    let (sources, program) = (fixture.model.sources(), fixture.model.program());
    let mut by_read: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (_, read, definition) in seen.0 {
        let definition = definition.map_or_else(String::new, |of| definition_name(sources, program, of));
        by_read.entry(read_name(sources, program, read)).or_default().push(definition);
    }
    by_read
}

/// In the execution of each test, the reads of its terms see the definitions: all evaluations, or the one that is named.
fn assert_shown(fixture: &Fixture, package: &Package) {
    for term in &package.manifest.terms {
        let Some(test) = &term.test else { continue };
        let seen = seen(fixture, package, test);
        let seen = &seen[&term.read];
        match term.evaluation {
            None => assert!(seen.iter().all(|definition| *definition == term.def), "{test}: {seen:?}"),
            Some(_) => assert!(seen.contains(&term.def), "{test}: {seen:?}"),
        }
    }
}

#[test]
fn fig6_has_four_tests_with_exactly_one_increment() {
    let fixture = sample("cssame_fig6", Expect::Program);
    let package = driven(&fixture, false);
    let outputs = outputs(&package);
    for test in ["n0_21_15_from_n0_13_5", "n1_21_20_from_n1_15_5", "n2_21_25_from_n2_17_5", "n3_21_30_from_n3_19_5"] {
        assert_eq!(outputs[test], ["1"], "{test}");
    }
    let shown: BTreeSet<&[String]> = outputs.values().copied().collect();
    // Four increments are none of these pictures.
    assert_eq!(shown.len(), 4);
    assert_eq!(outputs["n0_21_15_from_n0_initial"], ["0"]);
    assert_shown(&fixture, &package);
    let alone = "/// `n2@21:25` (line 21: `int sum = n0 + n1 + n2 + n3;`) reads from `n2@17:5` (line 17: `n2 += 1;`).\n\
                 /// No other pi function takes the write of a parallel thread.\n";
    assert!(text_of(&package, "tests/futures.rs").contains(alone));
}

#[test]
fn a_test_differs_from_the_initial_picture_in_its_term_alone_where_that_can_be() {
    // To see x = 1 takes y = 1 before, which the guard reads.
    let text = "int x, y, z;\ncobegin\n  A: { y = 1; z = 1; }\n  B: if (y == 1) x = 1;\n  \
                C: print(x, z);\ncoend\n";
    let fixture = fixture_of("guarded.csm", text, Expect::Program);
    let package = driven(&fixture, false);
    assert_shown(&fixture, &package);
    let outputs = outputs(&package);
    assert_eq!(outputs["x_5_12_from_x_4_18"], ["1 0"]);
    assert_eq!(outputs["z_5_15_from_z_3_15"], ["0 1"]);
    let needed = "/// Other reads of writes of parallel threads: `y@4:10` from `y@3:8`.\n";
    assert!(text_of(&package, "tests/futures.rs").contains(needed), "{}", text_of(&package, "tests/futures.rs"));
    // `1 1` has no initial value at all: no test of a term is free to show it.
    assert_eq!(outputs.values().collect::<BTreeSet<_>>().len(), 3);
}

#[test]
fn where_there_are_too_many_futures_executions_are_asked_for() {
    let count = 13;
    let names: Vec<String> = (0..count).map(|number| format!("n{number}")).collect();
    let arms: String = names.iter().map(|name| format!("  T{name}: {name} += 1;\n")).collect();
    let sum = names.join(" + ");
    let text = format!("int {};\ncobegin\n{arms}  S: {{ int sum = {sum}; print(sum); }}\ncoend\n", names.join(", "));
    let package = driven(&fixture_of("many.csm", &text, Expect::Program), false);
    let increments = outputs(&package).into_iter().filter(|(test, _)| !test.ends_with("_initial"));
    let increments: Vec<_> = increments.collect();
    assert_eq!(increments.len(), count);
    assert!(increments.iter().all(|(_, output)| **output == ["1"]), "{increments:?}");
}

#[test]
fn an_evaluation_is_named_where_not_every_one_can_see_the_definition() {
    // The loop is left only once the flag is set, so not every evaluation sees the initial value.
    let text = "int flag;\ncobegin\n  A: flag = 1;\n  B: { while (flag == 0) skip; print(\"seen\"); }\ncoend\n";
    let fixture = fixture_of("loop.csm", text, Expect::Program);
    let package = driven(&fixture, false);
    let names: Vec<&str> = package.manifest.tests.iter().map(|test| test.name.as_str()).collect();
    assert_eq!(names, ["flag_4_15_1_from_flag_initial", "flag_4_15_from_flag_3_6"]);
    assert_eq!(package.manifest.terms[0].evaluation, Some(1));
    assert_eq!(package.manifest.tests[0].shows, ["flag@4:15#1=flag@initial"]);
    let said = "/// In no execution does every evaluation of the read see this definition";
    assert!(!text_of(&package, "tests/futures.rs").contains(said), "there are too many executions to tell");
    assert_shown(&fixture, &package);
}

#[test]
fn distinct_tests_have_futures_of_their_own_and_name_their_terms() {
    let fixture = fixture_of(
        "pair.csm",
        "int x, y;\ncobegin\n  A: { x = 1; y = 1; }\n  B: print(y, x);\ncoend\n",
        Expect::Program,
    );
    let (all, distinct) = (driven(&fixture, false), driven(&fixture, true));
    assert_eq!((all.manifest.tests.len(), distinct.manifest.tests.len()), (4, 3));
    assert_shown(&fixture, &distinct);
    let tests = &distinct.manifest.tests;
    let futures: BTreeSet<_> = tests.iter().map(|test| seen(&fixture, &distinct, &test.name)).collect();
    assert_eq!(futures.len(), tests.len());
    let shows: Vec<&String> = tests.iter().flat_map(|test| &test.shows).collect();
    assert_eq!(shows.len(), 4);
    let shared = tests.iter().find(|test| test.shows.len() == 2).unwrap();
    for term in &shared.shows {
        let (read, _) = term.split_once('=').unwrap();
        assert!(text_of(&distinct, "tests/futures.rs").contains(&format!("/// `{read}` ")), "{term}");
    }
}

#[test]
fn a_read_that_sees_the_same_version_shares_the_tests_of_the_earlier_one() {
    // `print(a, z)` of figure 7 reads what the condition has read.
    let package = driven(&sample("cssame_fig7", Expect::Program), false);
    let test = |read: &str, def: &str| {
        let term = package.manifest.terms.iter().find(|term| term.read == read && term.def == def);
        term.and_then(|term| term.test.clone())
    };
    for def in ["a@15:5", "a@21:5"] {
        assert!(test("a@25:9", def).is_some() && test("a@25:9", def) == test("a@26:11", def), "{def}");
    }
    assert_eq!(package.manifest.tests.len(), 3);
}

#[test]
fn every_test_of_a_term_has_it() {
    for name in ["peterson", "bounded_buffer", "cssame_fig7", "pipeline", "lazy_init_broken", "ticket_lock", "sen_fig1"]
    {
        let fixture = sample(name, Expect::Program);
        assert_shown(&fixture, &driven(&fixture, false));
        assert_shown(&fixture, &driven(&fixture, true));
    }
}
