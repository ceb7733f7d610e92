//! Races of random programs: what the library says against the oracle, which looks at all states.
//!
//! Half of the programs are those of the other laws; in the threads of the other half there is more to fight for.
//! `CSSAME_LAW_PROGRAMS` and `CSSAME_LAW_SEED` run more programs, or others.

use cssame::answer::{self, RacesRequest};
use cssame::budget::{Budget, Limits};
use cssame::diagnostics::Code;
use cssame::form::races::potential_races;
use cssame::form::{definition_name, read_name};
use cssame::ir::Access;
use cssame::model::{self, Model};
use cssame::race::Means;
use serde_json::Value;
use std::collections::BTreeSet;
use support::generate::{self, Size};
use support::oracle::{Race, RaceOptions, Races, races_of_source};
use support::{first_seed, programs, samples};

/// States of a random program at most.
const STATES: usize = 30_000;

/// What the programs were like.
#[derive(Debug, Default)]
struct Tally {
    checked: u64,
    incomplete: u64,
    refused: u64,
    /// Programs with a real race, with a deadlock, with a failure.
    racy: u64,
    deadlocking: u64,
    failing: u64,
    /// Races.
    real: u64,
    harmful: u64,
    /// Those that do harm in one order alone.
    decided_by_order: u64,
    benign: u64,
    mixed: u64,
    write_write: u64,
    at_one_place: u64,
    /// Pairs that the static analysis lists, by kind too.
    predicted: u64,
    /// Real races that a hundred directed executions have not hit.
    not_found: u64,
}

impl Tally {
    fn count(&mut self, races: &Races) {
        self.checked += 1;
        self.racy += u64::from(!races.races.is_empty());
        self.deadlocking += u64::from(!races.deadlocks.is_empty());
        self.failing += u64::from(!races.failures.is_empty());
        for ((a, b), race) in &races.races {
            self.real += 1;
            self.harmful += u64::from(race.harmful());
            self.decided_by_order += u64::from(a != b && race.fails_when_first.len() == 1);
            self.benign += u64::from(race.benign());
            self.mixed += u64::from(race.mixed);
            self.write_write += u64::from(race.kinds.contains("write/write"));
            self.at_one_place += u64::from(a == b);
        }
    }
}

/// The program of a seed.
fn program(seed: u64) -> String {
    let size = match seed % 4 {
        0 => Size { threads: 2, operations: 4, globals: 2, structured: false },
        1 => Size { threads: 3, operations: 3, globals: 2, structured: true },
        2 => Size { threads: 2, operations: 5, globals: 3, structured: true },
        _ => Size { threads: 3, operations: 4, globals: 3, structured: true },
    };
    match seed / 4 % 6 {
        0 | 2 => generate::racy(seed, &size),
        1 | 3 => generate::program(seed, &size),
        4 => generate::arrays(seed),
        _ => generate::counting(seed),
    }
}

/// Checks one program; `Err` says what is wrong.
fn check(source: &str, max_states: usize, tally: &mut Tally) -> Result<(), String> {
    let model = match Model::from_text("races.csm", source, &model::Options::default()) {
        Ok(model) => model,
        // The generator chooses in atomic blocks, which the language does not allow.
        Err(problem) if problem.list.iter().all(|each| each.code == Code::BlockingInAtomic) => {
            tally.refused += 1;
            return Ok(());
        }
        Err(problem) => return Err(format!("does not compile: {problem}")),
    };
    let options = RaceOptions { max_states, ..RaceOptions::default() };
    let races = races_of_source(source, &options)?;
    if !races.complete {
        tally.incomplete += 1;
        return Ok(());
    }
    tally.count(&races);
    predicted(&model, &races, tally)?;
    decided(&model, &races)?;
    undecided(&model, &races, tally)
}

/// The answer with a complete exploration says of all pairs what the oracle says.
fn decided(model: &Model, races: &Races) -> Result<(), String> {
    let request = RacesRequest { predict_runs: 3, trials: 5, ..RacesRequest::default() };
    let answer = answer(model, &request)?;
    if answer["complete"] != true {
        return Err("complete: the answer is not complete".to_owned());
    }
    let mut listed = BTreeSet::new();
    for pair in answer["potential"].as_array().ok_or("potential: no list")? {
        let [a, b] = ["a", "b"].map(|key| pair[key].as_str().unwrap_or_default());
        listed.insert((a, b));
        let status = if races.race(a, b).is_some() { "real" } else { "impossible" };
        if pair["status"] != status {
            return Err(format!("status: {a} {b} is {}, the oracle says {status}", pair["status"]));
        }
        if let Some(race) = races.race(a, b) {
            judged(pair, a, b, race)?;
        }
    }
    for (a, b) in races.races.keys() {
        if !listed.contains(&(a.2.as_str(), b.2.as_str())) {
            return Err(format!("listed: {} {} is real and not listed", a.2, b.2));
        }
    }
    ends(&answer, races)
}

/// What is said of a real race is what the oracle says.
fn judged(pair: &Value, a: &str, b: &str, race: &Race) -> Result<(), String> {
    let first: Vec<&str> = [(a, "a"), (b, "b")]
        .into_iter()
        .filter(|side| race.fails_when_first.contains(side.0))
        .map(|side| side.1)
        .collect();
    // Two threads at one place have one name.
    let first = if a == b { first.into_iter().take(1).collect() } else { first };
    let kinds: Vec<&str> = race.kinds.iter().map(String::as_str).collect();
    let told = [
        ("harmful", Value::from(race.harmful()), &pair["harmful"]),
        ("fails_when_first", Value::from(first), &pair["fails_when_first"]),
        ("benign", Value::from(race.benign()), &pair["benign"]),
        ("mixed", Value::from(race.mixed), &pair["mixed"]),
        ("kinds", Value::from(kinds), &pair["kinds"]),
    ];
    for (key, expected, found) in told {
        if *found != expected {
            return Err(format!("{key}: of {a} {b} it is {found}, the oracle says {expected}"));
        }
    }
    // What failing executions had printed depends on what counts as a step.
    if !race.harmful() && pair["outcomes_differ"] != race.orders_differ {
        return Err(format!("outcomes_differ: of {a} {b} it is {}", pair["outcomes_differ"]));
    }
    Ok(())
}

/// Without an exploration all that is real is listed, what is said to be real is real, and most of it is found. Some
/// programs are asked with the static analysis alone.
fn undecided(model: &Model, races: &Races, tally: &mut Tally) -> Result<(), String> {
    let predict = if races.states.is_multiple_of(2) { Means::Both } else { Means::Static };
    let request = RacesRequest { predict, explore: None, until_hit: true, ..RacesRequest::default() };
    let answer = answer(model, &request)?;
    let (mut found, mut listed) = (0, 0);
    for pair in answer["potential"].as_array().ok_or("potential: no list")? {
        let [a, b] = ["a", "b"].map(|key| pair[key].as_str().unwrap_or_default());
        let is_real = races.race(a, b).is_some();
        listed += usize::from(is_real);
        match pair["status"].as_str() {
            Some("real") if !is_real => return Err(format!("unreal: {a} {b} is real without exploration")),
            Some("impossible") if is_real => return Err(format!("impossible: {a} {b} is real, {}", pair["reason"])),
            Some("real") => found += 1,
            _ => {}
        }
    }
    if listed < races.races.len() {
        return Err(format!("unlisted: {listed} of {} real races are listed", races.races.len()));
    }
    tally.not_found += races.races.len() as u64 - found;
    Ok(())
}

fn answer(model: &Model, request: &RacesRequest) -> Result<Value, String> {
    let answer = answer::races(model, request, &Budget::from(Limits::default()))
        .map_err(|problem| format!("answer: {problem:?}"))?;
    serde_json::to_value(&answer).map_err(|error| error.to_string())
}

/// Every real race is one of the pairs that the static analysis finds.
fn predicted(model: &Model, races: &Races, tally: &mut Tally) -> Result<(), String> {
    let (sources, program) = (model.sources(), model.program());
    let name = |access: Access| match access {
        Access::Read(read) => read_name(sources, program, read),
        Access::Write(definition) => definition_name(sources, program, definition),
    };
    let potential = potential_races(program, model.form());
    let mut known = BTreeSet::new();
    for [a, b] in potential.pairs() {
        tally.predicted += 1;
        known.insert((name(a), a.word(), name(b), b.word()));
        known.insert((name(b), b.word(), name(a), a.word()));
    }
    for ((a, b), race) in &races.races {
        for kinds in &race.kinds {
            let (first, second) = kinds.split_once('/').unwrap_or_default();
            if !known.contains(&(a.2.clone(), first, b.2.clone(), second)) {
                return Err(format!("prediction: {} {} {kinds} is real", a.2, b.2));
            }
        }
    }
    Ok(())
}

/// The statuses, lines and threads of deadlocks and failures in an answer are those of the oracle.
fn ends(answer: &Value, races: &Races) -> Result<(), String> {
    let list = |key: &str| answer[key].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let line = |at: &str| at.split(':').next().unwrap_or_default().to_owned();
    let expected: BTreeSet<(String, String)> =
        races.failures.iter().map(|(status, _, at)| (status.clone(), line(at))).collect();
    let found: BTreeSet<(String, String)> =
        list("failures").iter().map(|failure| (text(&failure["status"]), line(&text(&failure["at"])))).collect();
    if found != expected {
        return Err(format!("failures: {found:?}, the oracle has {expected:?}"));
    }
    let threads = |blocked: Vec<(String, String)>| {
        let mut blocked: Vec<(String, String)> = blocked.into_iter().map(|(thread, at)| (thread, line(&at))).collect();
        blocked.sort();
        blocked
    };
    let expected: BTreeSet<Vec<(String, String)>> = races.deadlocks.iter().cloned().map(threads).collect();
    let blocked = |deadlock: &Value| {
        let all = deadlock["threads"].as_array().cloned().unwrap_or_default();
        // What waits for the end of threads does so at no place of its own.
        let at = |each: &Value| if each["waits_for"] == "threads" { "join".to_owned() } else { text(&each["at"]) };
        threads(all.iter().map(|each| (text(&each["thread"]), at(each))).collect())
    };
    let found: BTreeSet<Vec<(String, String)>> = list("deadlocks").iter().map(blocked).collect();
    if found != expected {
        return Err(format!("deadlocks: {found:?}, the oracle has {expected:?}"));
    }
    Ok(())
}

/// What kind of failure a message tells: a shrunk program must fail in the same way.
fn kind(message: &str) -> &str {
    message.split(':').next().unwrap_or_default()
}

/// Programs at the edges of the definition, which random ones seldom reach.
const EDGES: &[&str] = &[
    // Atomic blocks that fail or are discarded, before the access and behind it.
    "int x; cobegin T1: atomic { x = 1; assert(false); } T2: x = 2; coend",
    "int x; cobegin T1: atomic { assert(x == 0); x = 1; } T2: x = 2; coend",
    "int x; cobegin T1: atomic { x = 1; assume(x == 2); } T2: x = 2; coend",
    "int x, y; cobegin T1: atomic { x = 1; assume(y == 1); } T2: x = 2; y = 1; coend print(x);",
    "int x, y; cobegin T1: atomic { assume(y == 1); x = 1; } T2: y = 1; x = 2; coend print(x);",
    // Blocks that notify, in blocks, in loops, in methods of two objects.
    "int x; event e; cobegin T1: atomic { x = 1; set(e); } T2: print(x); wait(e); x = 2; coend print(x);",
    "int x; lock L; cond c; cobegin T1: lock(L); wait(c, L); x = 1; unlock(L); \
     T2: lock(L); wait(c, L); x = 2; unlock(L); T3: atomic { x = 3; notify(c); } coend",
    "int x; cobegin T1: atomic { x = 1; notify(); x = 2; } T2: wait(); x = 3; T3: wait(); print(x); coend",
    "int x; cobegin T1: atomic { x++; atomic { x++; } } T2: for (int i = 0; i < 2; i++) atomic { x = i; } \
     T3: x = 7; coend",
    "class C { int v; void put(C o) { v = 1; o.v++; } } C a, b; cobegin T1: atomic { a.put(b); } T2: b.put(a); coend",
    "int t[3], i; cobegin T1: cas(t[i], 0, 1); T2: i = 1; T3: t[1] = 5; coend print(t[0], t[1]);",
    "int t[2], i; cobegin T1: i = 2; T2: atomic { t[i] = 1; } T3: t[0] = 1; coend",
    // Initial definitions are no accesses, also where they are made while other threads run.
    "int x; void f() { x = 1; } thread t = spawn f(); int y = x; join(t); print(y);",
    "int x; int z = 4; void f() { z = 1; print(z); } thread t = spawn f(); int y = z; y = z + y; z = 2;",
    // Locals that several threads share, many of one name at once.
    "void main() { for (int i = 0; i < 2; i++) { int v = i; cobegin A: v++; B: print(v); coend print(v); } }",
    "void f(int n) { int v = n; cobegin A: v = 1; B: if (n > 0) f(n - 1); coend print(v); } f(1);",
    "void f(int n) { int v = n; cobegin A: v = 1; B: v = n; coend print(v); } cobegin T1: f(1); T2: f(2); coend",
    "parfor (int i = 0; i < 2; i++) { int v; cobegin A: v = i; B: v++; coend print(v); }",
    "int x; parfor (int i = 0; i < 3; i++) { if (i > 0) x = i; else print(x); }",
    // Executions without an end.
    "int f, g; cobegin T1: if (f) { wait(); } g = 1; T2: while (g == 0) {} T3: f = 1; notifyAll(); coend",
    "int f; cobegin T1: f = 1; T2: while (f) {} coend",
    "int x; cobegin T1: while (true) x = 1 - x; T2: x = 0; coend",
    "int x, f; cobegin T1: while (f == 0) skip; x = 1; T2: x = 2; f = 0; coend",
    "int x, f; cobegin T1: while (f == 0) x = 1; T2: x = 2; f = 1; coend print(x);",
    "int x; cobegin T1: while (x == 0) skip; error(); T2: x = 1; T3: x = 2; coend",
    "atomic int l; int x; cobegin T1: while (!cas(l, 0, 1)) skip; x++; l = 0; T2: while (swap(l, 1) == 1) skip; x++; \
     l = 0; coend print(x);",
    "int l, x; cobegin T1: while (!cas(l, 0, 1)) skip; x++; l = 0; T2: while (swap(l, 1) == 1) skip; x++; l = 0; \
     coend print(x);",
    // Peterson's algorithm, and with the flags and the turn in the wrong order.
    "int f0, f1, t, x; cobegin A: f0 = 1; t = 1; while (f1 == 1 && t == 1) skip; x++; f0 = 0; \
     B: f1 = 1; t = 0; while (f0 == 1 && t == 0) skip; x++; f1 = 0; coend print(x);",
    "int f0, f1, t, x; cobegin A: t = 1; f0 = 1; while (f1 == 1 && t == 1) skip; x++; f0 = 0; \
     B: t = 0; f1 = 1; while (f0 == 1 && t == 0) skip; x++; f1 = 0; coend assert(x == 2);",
    // Several accesses in a statement, other types, values that are chosen.
    "int x; cobegin T1: x = x + x * x; T2: x = 2; coend print(x);",
    "bool b; string s; double d; cobegin T1: b = true; s = \"a\"; d = 0.5; T2: print(b, s, d); T3: s = \"a\"; coend",
    "extern int now() in 0..1; int x, t[2]; cobegin T1: t[now()] = 1; T2: t[choose(0, 1)]++; coend print(t[0], t[1]);",
    "int x; cobegin T1: x = choose(0, 1); if (x == 1) x = 2; T2: x = 1; coend assert(x != 2);",
    "int x, y; cobegin T1: x = 6 / y; T2: y = 1; T3: x = 2; coend print(x);",
    "int x; cobegin T1: x = 1; assume(x == 2); error(); T2: x = 2; T3: x = 3; coend",
    "int x; cobegin T1: x = 1; int c = choose(1, x); T2: x = 0; T3: x = 2; coend",
    // Threads that outlive main, or are never joined, and semaphores with two permits.
    "int x; void f() { x++; } void main() { spawn f(); spawn f(); x = 5; }",
    "int x; void f(int n) { x = n; } void main() { thread t = spawn f(1); thread u = spawn f(2); \
     join(t); print(x); join(u); x = 3; }",
    "int x; sem s = 2; parfor (int i = 0; i < 3; i++) { P(s); x = i; V(s); } print(x);",
    "int x; event e; cobegin T1: x = 1; set(e); clear(e); x = 2; T2: wait(e); print(x); coend",
    "int x; barrier b(2); cobegin A: x = 1; barrier(b); x = 2; B: barrier(b); x = 3; C: barrier(b); barrier(b); coend",
    // One lock that is two, by reference; locks of objects.
    "int x; lock L, M; void f(lock l) { lock(l); x++; unlock(l); } cobegin T1: f(L); \
     T2: f(M); T3: f(L); coend print(x);",
    "class C { int v; lock g; void add() { synchronized (g) { v++; } } } C a, b; cobegin T1: a.add(); T2: b.add(); \
     T3: a.v = 3; coend print(a.v);",
];

#[test]
fn races_at_the_edges_of_the_definition_are_those_of_all_states() {
    let mut tally = Tally::default();
    let edges = support::part(EDGES.iter().collect(), 5);
    let checked = edges.iter().map(|source| (source, check(source, STATES, &mut tally)));
    let failures: Vec<String> =
        checked.filter_map(|(source, result)| Some(format!("{}\n{source}\n", result.err()?))).collect();
    println!("{tally:?}");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    // The language allows no notification in an atomic block.
    assert_eq!(tally.incomplete, 0);
    assert!(tally.refused == 3 || edges.len() < EDGES.len(), "{}", tally.refused);
}

#[test]
fn races_of_the_samples_are_those_of_all_states() {
    let mut tally = Tally::default();
    let mut failures = Vec::new();
    for (name, text) in samples() {
        // A library has no executions of its own.
        if Model::from_text("sample.csm", &text, &model::Options::default()).is_err() {
            continue;
        }
        if let Err(message) = check(&text, 100_000, &mut tally) {
            failures.push(format!("{name}: {message}"));
        }
    }
    println!("{tally:?}");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(tally.checked > 40, "{} samples are small enough", tally.checked);
}

#[test]
fn races_are_those_of_all_states() {
    let programs = programs(40);
    let first = first_seed(1);
    let mut tally = Tally::default();
    let mut failures: Vec<(String, String)> = Vec::new();
    for seed in first..first + programs {
        let source = program(seed);
        if let Err(message) = check(&source, STATES, &mut tally)
            && !failures.iter().any(|(known, _)| *known == kind(&message))
        {
            let small = generate::shrink(&source, &mut |candidate| {
                check(candidate, STATES, &mut Tally::default()).is_err_and(|other| kind(&other) == kind(&message))
            });
            let shrunk = check(&small, STATES, &mut Tally::default()).err().unwrap_or_default();
            failures.push((kind(&message).to_owned(), format!("seed {seed}: {shrunk}\n{small}")));
        }
    }
    println!("{tally:?}");
    let text: Vec<&str> = failures.iter().map(|(_, text)| text.as_str()).collect();
    assert!(failures.is_empty(), "{}", text.join("\n"));
    assert!(support::has_new_seed() || tally.not_found * 50 <= tally.real, "directed executions find most races");
    assert!(
        support::has_new_seed() || tally.checked * 10 >= programs * 9,
        "most programs are small enough: {} of {programs}",
        tally.checked
    );
}
