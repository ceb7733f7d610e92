//! The tests that `coverage --generate` makes for random classes, against the oracle.
//!
//! Each failure is built again from the text of its test, and has to be one of all interleavings; whether a serial order
//! shows it too has to be as it is told. A test that was kept shows nothing that is not among the failures, and what the
//! executions cover some execution of a kept test covers. `CSSAME_LAW_PROGRAMS` and `CSSAME_LAW_SEED` run more classes,
//! or others.

use cssame::answer::{GenerateAnswer, GenerateRequest, GeneratedFailure, generate_tests};
use cssame::budget::Budget;
use cssame::coverage::generate::{CallResults, Request, TestSource};
use cssame::model::{Options, Unit};
use std::collections::{BTreeMap, BTreeSet};
use support::generate::library;
use support::oracle::{
    CoverageOptions, Instance, Outputs, Stuck, Test, Verdict, coverage_of_source, decide, program_of_test,
};
use support::{first_seed, programs};

/// States of a test.
const STATES: usize = 20_000;

fn test(source: &TestSource) -> Test {
    Test {
        objects: source.objects.clone(),
        prefix: source.prefix.clone(),
        suffixes: source.suffixes.clone(),
        post: source.post.clone(),
    }
}

/// What the calls give, as lines of output.
fn outputs(results: &CallResults) -> Outputs {
    let lines = |results: &[Option<String>]| results.iter().flatten().cloned().collect::<Vec<_>>();
    let mut outputs = Outputs::new();
    let mut main = lines(&results.prefix);
    main.extend(lines(&results.post));
    let [a, b] = &results.suffixes;
    for (thread, lines) in [("main", main), ("a", lines(a)), ("b", lines(b))] {
        if !lines.is_empty() {
            outputs.insert(thread.to_owned(), lines);
        }
    }
    outputs
}

/// The line of a place.
fn line(place: &str) -> &str {
    place.split_once(':').map_or(place, |place| place.0)
}

/// The calls of a stuck execution that wait: threads and lines.
fn pending(stuck: &Stuck) -> BTreeMap<String, String> {
    stuck.pending.iter().map(|(thread, at)| (thread.clone(), line(at).to_owned())).collect()
}

/// The calls that wait in an answer.
fn waiting(failure: &GeneratedFailure) -> BTreeMap<String, String> {
    let is_call = |one: &&cssame::explore::report::BlockedReport| one.threads.is_empty();
    failure.blocked.iter().filter(is_call).map(|one| (one.thread.clone(), line(&one.at).to_owned())).collect()
}

/// Whether a stuck execution is a violation that counts: no serial order explains it, and no call waits for a lock of its
/// own thread. Where in some serial order a call waits for ever at the same place, though it is no explanation, that may
/// be told either way.
fn counts(found: &Verdict, stuck: &Stuck) -> Option<bool> {
    if stuck.own_lock || !found.unexplained.contains(stuck) {
        return Some(false);
    }
    let places: BTreeSet<&str> = stuck.pending.values().map(|at| line(at)).collect();
    let is_same = |serial: &Stuck| serial.pending.values().any(|at| places.contains(line(at)));
    (!found.serial.stuck.iter().any(is_same)).then_some(true)
}

/// What is wrong with a failure, by its test.
fn judge(failure: &GeneratedFailure, found: &Verdict) -> Option<String> {
    match failure.status {
        "not-linearizable" => {
            let results = outputs(&failure.results);
            if failure.sequential {
                return Some("results of no serial order are sequential".to_owned());
            }
            (!found.not_linearizable.contains(&results)).then(|| {
                format!("{results:?} is none of {:?}; serial are {:?}", found.not_linearizable, found.serial.finished)
            })
        }
        "deadlock" => {
            let waiting = waiting(failure);
            let stuck: Vec<&Stuck> = found.all.stuck.iter().filter(|stuck| pending(stuck) == waiting).collect();
            if stuck.is_empty() {
                return Some(format!("{waiting:?} is none of {:?}", found.all.stuck));
            }
            let is_told = stuck.iter().any(|stuck| counts(found, stuck) != Some(failure.sequential));
            (!is_told).then(|| format!("sequential is {}, of {stuck:?}", failure.sequential))
        }
        status => {
            let at = failure.at.clone().unwrap_or_default();
            let is_it = |one: &&(String, String, String)| one.0 == status && line(&one.2) == line(&at);
            let thread = failure.thread.clone().unwrap_or_default();
            if !found.all.failures.iter().filter(is_it).any(|one| one.1 == thread) {
                return Some(format!("{status} of {thread} at {at} is none of {:?}", found.all.failures));
            }
            let sequential = found.serial.failures.iter().any(|one| is_it(&one));
            (sequential != failure.sequential).then(|| format!("sequential is {sequential}"))
        }
    }
}

/// What a kept test shows that is not among the failures.
fn left_out(answer: &GenerateAnswer, found: &Verdict) -> Vec<String> {
    let mut left = Vec::new();
    let counted: Vec<&GeneratedFailure> = answer.failures.iter().filter(|failure| !failure.sequential).collect();
    for (status, at) in found.new_failures() {
        let is_at = |failure: &GeneratedFailure| failure.at.as_deref().map(line) == Some(line(at));
        if !counted.iter().any(|failure| failure.status == status && is_at(failure)) {
            left.push(format!("{status} at {at}"));
        }
    }
    if !found.not_linearizable.is_empty() && !counted.iter().any(|failure| failure.status == "not-linearizable") {
        left.push(format!("{:?}, of which no serial order is: {:?}", found.not_linearizable, found.serial.finished));
    }
    for stuck in found.unexplained.iter().filter(|stuck| counts(found, stuck) == Some(true)) {
        let pending = pending(stuck);
        let places: BTreeSet<&String> = pending.values().collect();
        let is_it = |failure: &&&GeneratedFailure| {
            failure.status == "deadlock" && waiting(failure).values().collect::<BTreeSet<_>>() == places
        };
        if counted.iter().filter(is_it).count() == 0 {
            left.push(format!("{stuck:?}"));
        }
    }
    left
}

/// The instances that the executions of the tests cover.
fn covered(answer: &GenerateAnswer, unit: &Unit) -> BTreeSet<Instance> {
    let universe = &answer.findings.universe;
    let told = |one: &cssame::coverage::Instance| {
        let step = |(letter, access): (cssame::coverage::Letter, cssame::coverage::AccessId)| {
            let of = &universe.accesses[access];
            let place = format!("{}@{}", of.name, unit.sources.position(of.span));
            support::oracle::Access { place, write: letter.kind == cssame::coverage::Kind::Write }
        };
        Instance { pattern: usize::from(one.pattern.get().number), steps: one.steps().map(step).collect() }
    };
    answer.findings.measured.instances.keys().map(told).collect()
}

#[derive(Debug, Default)]
struct Answers {
    classes: u64,
    tests: u64,
    failures: BTreeMap<(&'static str, bool), u64>,
    kept: u64,
    violated: u64,
    instances: usize,
    too_large: u64,
}

fn check(seed: u64, answers: &mut Answers) -> Vec<String> {
    let text = library(seed).text;
    let unit = Unit::from_text("class.csm", &text, &[]).unwrap_or_else(|problems| panic!("{seed}: {problems}\n{text}"));
    let request = Request {
        seed,
        tests: Some(12),
        executions: 4,
        max_steps: 5_000,
        explore: Some(STATES as u64),
        keep_going: true,
        ..Request::default()
    };
    let asked = GenerateRequest { request, is_timed: false };
    let answer = generate_tests(&unit, &Options::default(), &asked, &Budget::unlimited());
    let answer = answer.unwrap_or_else(|problems| panic!("{seed}: {problems}\n{text}"));
    answers.classes += 1;
    answers.tests += answer.tests.made;
    let mut wrong = Vec::new();
    for failure in &answer.failures {
        *answers.failures.entry((failure.status, failure.sequential)).or_default() += 1;
        let found = decide(&text, &test(&failure.test), None, 4 * STATES).unwrap_or_else(|error| panic!("{error}"));
        if !found.complete {
            answers.too_large += 1;
        } else if let Some(problem) = judge(failure, &found) {
            wrong.push(format!("{}: {problem}\n{:?}", failure.status, failure.test));
        }
    }
    let (mut coverable, mut is_whole) = (BTreeSet::new(), true);
    for kept in &answer.kept {
        answers.kept += 1;
        let found = decide(&text, &test(&kept.test), None, STATES).unwrap_or_else(|error| panic!("{error}"));
        answers.violated += u64::from(found.complete && found.is_violated());
        if found.complete {
            let left = left_out(&answer, &found);
            wrong.extend(left.into_iter().map(|left| format!("not reported: {left}\n{:?}", kept.test)));
        }
        let program = program_of_test(&text, &test(&kept.test), false).unwrap();
        let options = CoverageOptions { max_states: STATES, ..CoverageOptions::default() };
        let real = coverage_of_source(&program, &options).unwrap();
        is_whole &= real.complete;
        coverable.extend(real.feasible);
    }
    let covered = covered(&answer, &unit);
    answers.instances += covered.len();
    if is_whole {
        wrong.extend(covered.difference(&coverable).take(3).map(|one| format!("covered by no kept test: {one}")));
    }
    if !wrong.is_empty() {
        let told = |one: &GeneratedFailure| format!("{} {} {:?} {:?}", one.status, one.sequential, one.at, one.test);
        wrong.extend(answer.failures.iter().map(told));
    }
    wrong
}

#[test]
fn deadlocks_of_known_classes_count_or_do_not() {
    let found = |text: &str| -> BTreeSet<(&'static str, bool)> {
        let unit = Unit::from_text("class.csm", text, &[]).unwrap();
        let request = Request { tests: Some(60), keep_going: true, ..Request::default() };
        let asked = GenerateRequest { request, is_timed: false };
        let answer = generate_tests(&unit, &Options::default(), &asked, &Budget::unlimited()).unwrap();
        answer.failures.iter().map(|failure| (failure.status, failure.sequential)).collect()
    };
    // `take` first hangs too, but behind `put` it does not.
    let lost = "class B { private int n; private lock L; private cond c;
      public void take() { if (n == 0) { lock(L); wait(c, L); unlock(L); } }
      public void put() { synchronized (L) { n = 1; notify(c); } } }";
    assert_eq!(found(lost), BTreeSet::from([("deadlock", false)]));
    let kept = "class B { private int n; private lock L; private cond c;
      public void take() { synchronized (L) { while (n == 0) wait(c, L); } }
      public void put() { synchronized (L) { n = 1; notifyAll(c); } } }";
    assert_eq!(found(kept), BTreeSet::new());
    let crossed = "class D { private lock L, M; private int n;
      public void f() { synchronized (L) { synchronized (M) { n = 1; } } }
      public void g() { synchronized (M) { synchronized (L) { n = 2; } } } }";
    assert_eq!(found(crossed), BTreeSet::from([("deadlock", false)]));
    let twice = "class D { private lock L; private int n;
      public void f() { synchronized (L) { g(); } }
      public void g() { synchronized (L) { n = 2; } } }";
    assert_eq!(found(twice), BTreeSet::from([("deadlock", true)]));
}

#[test]
fn failures_of_generated_tests_are_those_of_the_oracle() {
    let first = first_seed(1);
    let (mut answers, mut wrong) = (Answers::default(), Vec::new());
    for seed in first..first + programs(6) {
        let found = check(seed, &mut answers);
        if !found.is_empty() && wrong.len() < 6 {
            wrong.push(format!("{seed}: {}\n{}", found.join("\n"), library(seed).text));
        }
    }
    println!("{answers:?}");
    assert!(wrong.is_empty(), "{answers:?}\n{}", wrong.join("\n"));
    assert!(support::has_new_seed() || answers.failures.values().sum::<u64>() > 0, "{answers:?}");
}
