//! What is said of races where it is hard to show them: files without `main`, whose drivers are a choice, and synchronisation
//! other than locks, which may order two accesses in all tests and not in all executions.

use cssame::answer::{self, Compiled, RacesRequest};
use cssame::budget::{Budget, Limits};
use cssame::explore;
use cssame::form::races::potential_races;
use cssame::harness::Methods;
use cssame::ir::Access;
use cssame::model::{Model, Options, Unit};
use cssame::paths;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use support::generate::{self, Size};
use support::{first_seed, model, part, possible_model, programs, samples};

fn unit(text: &str) -> Unit {
    Unit::from_text("library.csm", text, &Options::default().inputs).unwrap()
}

/// The names of a place of an access: `x@3:5`.
fn place(program: &cssame::ir::Program, sources: &cssame::source::SourceMap, access: Access) -> (u32, u32) {
    let position = sources.position(access.span(program));
    (position.line, position.column)
}

/// The pairs of places of the file that its text says may race.
fn pairs_of_the_text(unit: &Unit) -> BTreeSet<[(u32, u32); 2]> {
    let methods = Methods::new(&unit.sources, unit.file);
    let Some(closing) = methods.closing() else { return BTreeSet::new() };
    let Some(model) = possible_model(&closing.text) else { return BTreeSet::new() };
    let lines = unit.text().lines().count() as u32;
    let races = potential_races(model.program(), model.form());
    let pairs = races.pairs().map(|[a, b]| {
        let mut places = [a, b].map(|access| place(model.program(), model.sources(), access));
        places.sort_unstable();
        places
    });
    pairs.filter(|places| places.iter().all(|place| place.0 <= lines)).collect()
}

/// What `races` says of each pair of places.
fn answered(text: &str, request: &RacesRequest) -> BTreeMap<[(u32, u32); 2], String> {
    let subject = Compiled::Library(Box::new(unit(text)));
    let answer = answer::races_of(&subject, &Options::default(), request, &Budget::default()).unwrap();
    let json = serde_json::to_value(&answer).unwrap();
    let at = |name: &Value| {
        let (_, at) = name.as_str().unwrap().rsplit_once('@').unwrap();
        let (line, column) = at.split_once(':').unwrap();
        (line.parse().unwrap(), column.parse().unwrap())
    };
    let pairs = json["potential"].as_array().unwrap().iter();
    pairs.map(|pair| ([at(&pair["a"]), at(&pair["b"])], pair["status"].as_str().unwrap().to_owned())).collect()
}

/// A class of so many methods that are of no interest, and one at the end that is.
fn large_class(methods: usize) -> String {
    let dull: String =
        (0..methods).map(|number| format!("  public int m{number}() {{ return {number}; }}\n")).collect();
    format!("class Large {{\n  int x;\n{dull}  public void last() {{ x = x + 1; }}\n}}\n")
}

#[test]
fn what_the_text_says_of_a_library_is_part_of_the_answer() {
    // No argument that is tried comes to the write.
    let far = "class C {\n  int x;\n  public void put(int c) { if (c * 2 == 14) x = c; }\n}\n";
    let known = answered(far, &RacesRequest::default());
    assert_eq!(known, BTreeMap::from([([(3, 45), (3, 45)], "unconfirmed".to_owned())]));
    // Different literals in the two calls; enumerators.
    let apart =
        "class C {\n  int x;\n  public void exec(int op) {\n    if (op == 2) x = 1;\n    if (op == 3) x = 2;\n  }\n}\n";
    let known = answered(apart, &RacesRequest::default());
    assert_eq!(known[&[(4, 18), (5, 18)]], "real");
    let named = "enum Op { NOP, GET, PUT, DROP };\nclass C {\n  int x;\n  public void exec(Op op) {\n    if (op == PUT) x = 1;\n    if (op == DROP) x = 2;\n  }\n}\n";
    let known = answered(named, &RacesRequest::default());
    assert_eq!(known[&[(5, 20), (6, 21)]], "real");
    // Too many pairs of methods for all to have a driver.
    let known = answered(&large_class(26), &RacesRequest::default());
    assert_eq!(known.values().collect::<Vec<_>>(), ["real", "real"]);
}

#[test]
fn a_place_behind_calls_of_two_methods_is_reached() {
    let text = "class Pair {\n  int a, b, x;\n  lock L;\n  public void left() { lock(L); a = 1; unlock(L); }\n  \
                public void right() { lock(L); b = 1; unlock(L); }\n  \
                public void use() {\n    lock(L); int r = a + b; unlock(L);\n    if (r == 2) x = x + 1;\n  }\n}\n";
    let found = answered(text, &RacesRequest::default());
    let real: Vec<&[(u32, u32); 2]> =
        found.iter().filter(|(_, status)| *status == "real").map(|(pair, _)| pair).collect();
    assert!(real.iter().any(|pair| pair.iter().all(|place| place.0 == 8)), "{found:?}");
}

#[test]
fn libraries_of_the_samples_are_spoken_of_as_their_text_is() {
    let mut compared = 0;
    let libraries = samples().into_iter().filter(|(_, text)| unit(text).program.main.is_none());
    for (name, text) in part(libraries.collect(), 8) {
        let unit = unit(&text);
        let request = RacesRequest { trials: 1, predict_runs: 1, explore: None, ..RacesRequest::default() };
        let (wanted, known) = (pairs_of_the_text(&unit), answered(&text, &request));
        let missing: Vec<_> = wanted.iter().filter(|pair| !known.contains_key(*pair)).collect();
        assert!(missing.is_empty(), "{name}: {missing:?}");
        compared += wanted.len();
    }
    assert!(support::has_new_seed() || compared > 0);
}

/// Two accesses that other synchronisation orders in the first run, and not in all executions.
const ORDERED_ONCE: &[&str] = &[
    "sem s = 2; int x; cobegin T1: P(s); x = x + 1; V(s); T2: P(s); x = x + 1; V(s); coend",
    "event e; int x; cobegin T1: set(e); clear(e); x = 1; set(e); T2: wait(e); x = 2; coend",
    "barrier b(2); int x; cobegin T1: x = 1; barrier(b); T2: barrier(b); x = 2; T3: barrier(b); T4: barrier(b); coend",
    "sem s = 0; int x; cobegin T1: V(s); x = 1; V(s); T2: P(s); x = 2; coend",
    "event e, f; int x; cobegin T1: x = 1; set(e); T2: wait(e); x = 2; T3: set(e); coend",
    "sem s = 0; int x; cobegin T1: x = 1; V(s); T2: V(s); T3: P(s); x = 2; coend",
];

/// Two accesses that other synchronisation orders in all executions.
const ORDERED: &[&str] = &[
    "sem s = 1; int x; cobegin T1: P(s); x = x + 1; V(s); T2: P(s); x = x + 1; V(s); coend",
    "event e; int x; cobegin T1: x = 1; set(e); T2: wait(e); x = 2; coend",
    "barrier b(2); int x; cobegin T1: x = 1; barrier(b); T2: barrier(b); x = 2; coend",
    "sem s = 0; int x; cobegin T1: x = 1; V(s); T2: P(s); x = 2; coend",
];

/// The places of the races of `paths`, where it knows all, and of those before which two threads stand at once in some state.
fn races_of_paths(model: &Model) -> Option<[BTreeSet<(String, String)>; 2]> {
    let limits = Limits { max_states: Some(20_000), ..Limits::default() };
    let budget = Budget::from(limits);
    let request = paths::Request::default();
    let (session, findings) = paths::find(model, &request, &budget);
    let answer = serde_json::to_value(paths::report::report(&session, &request, &findings)).unwrap();
    let states = explore::races(model.machine(), model.program(), &[], &budget);
    if answer["complete"] != true || !states.is_complete() {
        return None;
    }
    let name = |place: &Value| place.as_str().unwrap().rsplit_once('@').unwrap().1.to_owned();
    let real = answer["races"].as_array().unwrap().iter();
    let real = real.filter(|race| race["ordered"] == false && race["impossible"] != true);
    let told = real.map(|race| (name(&race["a"]), name(&race["b"]))).collect();
    let of_states = states.races.iter().map(|race| {
        let mut at = race.accesses.map(|access| place(model.program(), model.sources(), access));
        at.sort_unstable();
        let [a, b] = at.map(|(line, column)| format!("{line}:{column}"));
        (a, b)
    });
    Some([told, of_states.collect()])
}

#[test]
fn what_orders_two_accesses_once_need_not_order_them_always() {
    for text in ORDERED_ONCE {
        let [told, states] = races_of_paths(&model(text)).unwrap();
        assert!(!states.is_empty() && told == states, "{text}: {told:?}, {states:?}");
    }
    for text in ORDERED {
        let [told, states] = races_of_paths(&model(text)).unwrap();
        assert!(states.is_empty() && told.is_empty(), "{text}: {told:?}, {states:?}");
    }
}

#[test]
fn races_of_paths_are_those_of_all_states() {
    let (mut compared, mut racy, mut wrong) = (0, 0, Vec::new());
    for seed in first_seed(0)..first_seed(0) + programs(75) {
        let text = generate::program(seed, &Size::default());
        let Some(model) = possible_model(&text) else { continue };
        let Some([told, states]) = races_of_paths(&model) else { continue };
        compared += 1;
        racy += u64::from(!states.is_empty());
        if told != states {
            wrong.push(format!("seed {seed}: paths {told:?}, states {states:?}\n{text}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {compared} programs\n{}", wrong.len(), wrong.join("\n"));
    assert!(support::has_new_seed() || racy > 10, "{racy} of {compared}");
}
