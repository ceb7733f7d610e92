//! The answer of `paths` against the oracle, on random programs whose branches other threads decide.
//!
//! `CSSAME_LAW_PROGRAMS` and `CSSAME_LAW_SEED` run more programs, or others.

use cssame::budget::{Budget, Limits};
use cssame::model::Model;
use cssame::paths::classes::{ClassOptions, Operations, thread_pairs};
use cssame::paths::report::report;
use cssame::paths::{Criterion, First, Request, find};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use support::generate;
use support::oracle::{BranchPlace, PathsOptions, PathsOracle, Visible, paths_of_source};
use support::samples;
use support::{first_seed, possible_model, programs};

/// Prefixes of executions of a random program at most.
const PREFIXES: usize = 20_000;

/// First executions at random that small programs are given.
const FIRST_RUNS: u64 = 5;

/// Prefixes of executions up to which a program is small.
const SMALL: usize = 150;

/// The program of a seed.
fn program(seed: u64) -> String {
    let (threads, operations) = [(2, 4), (3, 5), (2, 5), (3, 4)][(seed % 4) as usize];
    generate::branching(seed, threads, operations)
}

/// What an answer says otherwise than the oracle, in words; each begins with the key that it is about. Only what a
/// complete answer leaves out counts as missing, and instances are compared where the program has no loop.
fn compare(answer: &Value, oracle: &PathsOracle) -> Vec<String> {
    let mut differences = Vec::new();
    let complete = answer["complete"] == true;
    races(answer, oracle, complete, &mut differences);
    branches(answer, oracle, complete, &mut differences);
    groups(answer, oracle, complete, &mut differences);
    counts(answer, oracle, complete, &mut differences);
    differences
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Two sets of which the answer's must be a part of the oracle's, and the same where the answer is complete.
fn sets<T: Ord + std::fmt::Debug>(
    key: &str,
    told: &BTreeSet<T>,
    real: &BTreeSet<T>,
    complete: bool,
    differences: &mut Vec<String>,
) {
    for each in told.difference(real) {
        differences.push(format!("{key}: {each:?} is in the answer, not in the oracle"));
    }
    for each in real.difference(told).filter(|_| complete) {
        differences.push(format!("{key}: {each:?} is missing"));
    }
}

fn races(answer: &Value, oracle: &PathsOracle, complete: bool, differences: &mut Vec<String>) {
    let listed = list(&answer["races"]);
    let told = listed.iter().map(|race| text(&race["variable"])).collect();
    sets("variables", &told, &oracle.racy_variables(), complete, differences);
    let told = listed.iter().map(|race| (text(&race["a"]), text(&race["b"]))).collect();
    let real = oracle.pairs.keys().map(|(a, b)| (a.2.as_str(), b.2.as_str())).collect();
    sets("races", &told, &real, complete, differences);
    for race in listed {
        let (a, b) = (text(&race["a"]), text(&race["b"]));
        let Some(pair) = oracle.pair(a, b) else { continue };
        let ordered = race["ordered"] == true;
        if ordered && !pair.ordered || !ordered && !pair.unordered {
            differences.push(format!("ordered: of {a} {b} it is {ordered} in the answer, never in the oracle"));
        }
    }
    let real = !oracle.deadlocks.is_empty();
    let told = !list(&answer["deadlocks"]).is_empty();
    if told && !real || complete && real && !told {
        differences.push(format!("deadlocks: the answer has one is {told}, the oracle has one is {real}"));
    }
}

/// `T1:3:9#2` in its parts: thread and place, and the instance if there is one.
fn parts(name: &str) -> (BranchPlace, Option<u32>) {
    let (name, instance) = match name.rsplit_once('#') {
        // `T1#2:3:9` is a thread.
        Some((before, after)) if after.bytes().all(|each| each.is_ascii_digit()) => (before, after.parse().ok()),
        _ => (name, None),
    };
    let mut fields = name.rsplitn(3, ':');
    let (column, line) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
    ((fields.next().unwrap_or_default().to_owned(), format!("{line}:{column}")), instance)
}

fn branches(answer: &Value, oracle: &PathsOracle, complete: bool, differences: &mut Vec<String>) {
    let (mut places, mut instances) = (BTreeSet::new(), BTreeSet::new());
    let (mut affected, mut mentioned) = (BTreeSet::new(), BTreeSet::new());
    for branch in list(&answer["branches"]) {
        let (place, instance) = parts(text(&branch["branch"]));
        mentioned.insert(place.clone());
        for outcome in list(&branch["outcomes"]) {
            places.insert((place.clone(), text(outcome) == "true"));
            instances.insert((place.clone(), instance, text(outcome) == "true"));
        }
        if branch["affected"] == true {
            affected.insert(place);
        }
    }
    let (mut real_places, mut real_instances) = (BTreeSet::new(), BTreeSet::new());
    for (place, branch) in &oracle.branches {
        for (&instance, outcomes) in &branch.outcomes {
            for &outcome in outcomes {
                real_places.insert((place.clone(), outcome));
                real_instances.insert((place.clone(), Some(instance), outcome));
            }
        }
    }
    sets("branches", &places, &real_places, complete, differences);
    if !oracle.loops {
        sets("instances", &instances, &real_instances, complete, differences);
    }
    let is_affected = |place: &&BranchPlace| !oracle.branches[*place].affected.is_empty();
    let real = oracle.branches.keys().filter(is_affected).cloned().collect();
    sets("affected", &affected, &real, complete, differences);
}

fn groups(answer: &Value, oracle: &PathsOracle, complete: bool, differences: &mut Vec<String>) {
    let mut feasible: BTreeMap<BranchPlace, BTreeSet<Vec<String>>> = BTreeMap::new();
    for group in list(&answer["groups"]) {
        let (place, _) = parts(text(&group["branch"]));
        let order: Vec<String> = list(&group["order"]).iter().map(|each| text(each).to_owned()).collect();
        let known = oracle.branches.get(&place).and_then(|branch| branch.groups.get(&order));
        match (group["feasible"].as_bool(), known) {
            (Some(true), None) => differences.push(format!("groups: {place:?} {order:?} is not feasible")),
            (Some(false), Some(_)) => differences.push(format!("groups: {place:?} {order:?} is feasible")),
            (Some(true), Some(having)) => {
                let outcome = text(&group["outcome"]);
                if !outcome.is_empty() && !having.iter().any(|at| at.1.to_string() == outcome) {
                    differences.push(format!("groups: {place:?} {order:?} is never {outcome}"));
                }
                feasible.entry(place).or_default().insert(order);
            }
            _ => {}
        }
    }
    let affected = affected_places(answer);
    let compared = |place: &&BranchPlace| complete && !oracle.loops && affected.contains(*place);
    for (place, branch) in oracle.branches.iter().filter(|(place, _)| compared(place)) {
        for (order, having) in &branch.groups {
            let counts = having.iter().any(|at| branch.affected.contains(&at.0));
            if counts && !feasible.get(place).is_some_and(|orders| orders.contains(order)) {
                differences.push(format!("groups: {place:?} {order:?} is missing"));
            }
        }
    }
}

/// The branches that the answer calls affected.
fn affected_places(answer: &Value) -> BTreeSet<BranchPlace> {
    let affected = list(&answer["branches"]).iter().filter(|branch| branch["affected"] == true);
    affected.map(|branch| parts(text(&branch["branch"])).0).collect()
}

/// The numbers of test cases.
fn counts(answer: &Value, oracle: &PathsOracle, complete: bool, differences: &mut Vec<String>) {
    let Some(told) = answer["test_cases"].as_u64().filter(|_| complete) else { return };
    let real = match text(&answer["criterion"]) {
        "reachability" => vec![oracle.classes],
        "tpair" => vec![oracle.tpair()],
        _ if oracle.loops => return,
        _ => {
            let affected = affected_places(answer);
            vec![affected.iter().map(|place| oracle.branches.get(place).map_or(0, |branch| branch.groups.len())).sum()]
        }
    };
    if !real.iter().any(|&count| count as u64 == told) {
        differences.push(format!("test_cases: {told} in the answer, {real:?} in the oracle"));
    }
}

/// The answer that agrees with the oracle.
fn agreeing(oracle: &PathsOracle) -> Value {
    let races = oracle.pairs.iter().flat_map(|((a, b), pair)| {
        let each = |variable| json!({"variable": variable, "a": a.2, "b": b.2, "ordered": !pair.unordered});
        pair.variables.iter().map(each).collect::<Vec<_>>()
    });
    let (mut branches, mut groups) = (Vec::new(), Vec::new());
    for ((thread, at), branch) in &oracle.branches {
        for (instance, outcomes) in &branch.outcomes {
            let outcomes: Vec<String> = outcomes.iter().map(bool::to_string).collect();
            let name = format!("{thread}:{at}#{instance}");
            let affected = branch.affected.contains(instance);
            branches.push(json!({"branch": name, "outcomes": outcomes, "affected": affected}));
        }
        for (order, having) in &branch.groups {
            let (instance, outcome) = having.first().unwrap();
            let (branch, outcome) = (format!("{thread}:{at}#{instance}"), outcome.to_string());
            groups.push(json!({"branch": branch, "order": order, "outcome": outcome, "feasible": true}));
        }
    }
    let deadlocks: Vec<&BTreeSet<String>> = oracle.deadlocks.iter().collect();
    let races: Vec<Value> = races.collect();
    json!({"criterion": "race-equivalent", "complete": true, "races": races, "branches": branches, "groups": groups,
           "deadlocks": deadlocks, "test_cases": oracle.groups()})
}

/// What the oracle says of a program of which that is the answer.
fn oracle_of(source: &str, answer: &Value, prefer_writers: bool) -> Result<PathsOracle, String> {
    // Which variables are shared, the text says, and not the executions.
    let names = |key: &str| list(&answer[key]).iter().map(|name| text(name).to_owned()).collect::<BTreeSet<_>>();
    let (shared, read_shared) = (names("shared"), names("read_shared"));
    let options = PathsOptions {
        max_nodes: PREFIXES,
        visible: Visible::Named(shared.union(&read_shared).cloned().collect()),
        read_shared: Some(read_shared),
        prefer_writers,
        ..PathsOptions::default()
    };
    paths_of_source(source, &options)
}

/// What the answer of a model, with or without preferred writers, says otherwise than the oracle; none where that comes to no
/// end, or the answer is not complete.
pub(crate) fn differences_of(source: &str, model: &Model) -> Option<Vec<String>> {
    let answer = answer_of(model, &Request { explore: Some(20_000), ..Request::default() });
    let oracle = oracle_of(source, &answer, model.options().semantics.prefer_writers).ok()?;
    (oracle.complete && answer["complete"] == true).then(|| compare(&answer, &oracle))
}

#[test]
fn differences_are_told() {
    let source = "int x; bool b; cobegin\nT1: if (x == 1 && b) skip;\nT2: x = 1;\nb = x == 1;\nwait(); coend";
    let oracle = paths_of_source(source, &PathsOptions::default()).unwrap();
    let right = agreeing(&oracle);
    assert_eq!(compare(&right, &oracle), Vec::<String>::new());
    let changes: [(&str, Value, &str); 9] = [
        ("/races/0/variable", json!("y"), "variables"),
        ("/races/0/a", json!("x@2:1"), "races"),
        ("/races/0/ordered", json!(true), "ordered"),
        ("/deadlocks", json!([]), "deadlocks"),
        ("/branches/0/outcomes", json!(["true"]), "branches"),
        ("/branches/0/branch", json!("T1:2:9#2"), "instances"),
        ("/branches/0/affected", json!(false), "affected"),
        ("/groups/0/order", json!(["write x@3:5"]), "groups"),
        ("/test_cases", json!(1), "test_cases"),
    ];
    for (at, value, key) in changes {
        let mut wrong = right.clone();
        *wrong.pointer_mut(at).unwrap() = value;
        let differences = compare(&wrong, &oracle);
        assert!(differences.iter().any(|each| each.starts_with(key)), "{at}: {differences:?}");
        // What is left out counts only of a complete answer.
        wrong["complete"] = json!(false);
        let differences = compare(&wrong, &oracle);
        assert!(differences.iter().all(|each| !each.contains("missing")), "{at}: {differences:?}");
    }
    assert_eq!(parts("T1/t#2:3:9#4"), (("T1/t#2".to_owned(), "3:9".to_owned()), Some(4)));
    assert_eq!(parts("T1#2:3:9"), (("T1#2".to_owned(), "3:9".to_owned()), None));
}

/// The answer of the library, as JSON.
fn answer_of(model: &Model, request: &Request) -> Value {
    let (session, findings) = find(model, request, &Budget::default());
    serde_json::to_value(report(&session, request, &findings)).unwrap()
}

/// What the answers were like.
#[derive(Debug, Default)]
struct Answers {
    compared: u64,
    complete: u64,
    missed: u64,
    /// Of programs in which nothing is chosen.
    without_choice: u64,
    /// Answers from other first executions, all of them of small programs.
    first_runs: u64,
    missed_by_order: u64,
    tests: u64,
    added: u64,
    different: u64,
}

#[test]
fn answers_agree_with_the_oracle() {
    let first = first_seed(0);
    let mut answers = Answers::default();
    let mut wrong = Vec::new();
    for seed in first..first + programs(30) {
        // What main does before it makes threads is no operation: no order of threads can change that.
        let source: Vec<String> =
            program(seed).lines().filter(|line| !line.starts_with("x = ")).map(str::to_owned).collect();
        let source = source.join("\n");
        let Some(model) = possible_model(&source) else { continue };
        let answer = answer_of(&model, &Request { explore: Some(20_000), ..Request::default() });
        let oracle = oracle_of(&source, &answer, false).unwrap_or_else(|error| panic!("{seed}: {error}\n{source}"));
        if !oracle.complete {
            continue;
        }
        answers.compared += 1;
        answers.complete += u64::from(answer["complete"] == true);
        answers.tests += answer["executions"].as_u64().unwrap();
        let missed = list(&answer["exact"]["missed"]).len() as u64;
        let is_chosen = source.contains("choose") || source.contains("extern");
        answers.missed += u64::from(missed > 0);
        answers.missed_by_order += u64::from(missed > 0 && !is_chosen);
        answers.without_choice += u64::from(!is_chosen);
        if missed > 0 && !is_chosen && std::env::var_os("CSSAME_SHOW_MISSED").is_some() {
            println!("{seed}: {}\n{source}", answer["exact"]["missed"]);
        }
        answers.added += missed;
        let mut differences = compare(&answer, &oracle);
        // Whatever the first execution is, the answer is the same.
        for first in (0..FIRST_RUNS).filter(|_| oracle.nodes <= SMALL).map(First::Seed) {
            let request = Request { explore: Some(20_000), first, ..Request::default() };
            let other = answer_of(&model, &request);
            differences.extend(compare(&other, &oracle));
            answers.first_runs += 1;
        }
        if !differences.is_empty() {
            answers.different += 1;
            // The method may leave out a group, seldom; it makes none up.
            let is_left_out = |each: &String| each.ends_with("is missing") || each.starts_with("test_cases");
            if differences.iter().all(is_left_out) {
                println!("{seed}: {differences:#?}\n{source}");
            } else if wrong.len() < 8 {
                wrong.push(format!("{seed}: {differences:#?}\n{source}"));
            }
        }
    }
    println!("{answers:?}");
    assert!(wrong.is_empty(), "{answers:?}\n{}", wrong.join("\n"));
    assert!(support::has_new_seed() || answers.different * 100 <= answers.compared, "{answers:?}");
}

const ON_SAMPLES: OnSamples = OnSamples {
    programs: 103,
    complete: 97,
    missed: 26,
    missed_outcomes: 13,
    missed_races: 0,
    missed_ends: 16,
    with_groups: 44,
    fewer: 16,
    more: 19,
};

/// What the samples show: how many answers are complete, and what the method alone would have missed. docs/paths.md has
/// the numbers.
#[derive(Debug, Default, PartialEq, Eq)]
struct OnSamples {
    programs: usize,
    complete: usize,
    missed: usize,
    missed_outcomes: usize,
    missed_races: usize,
    missed_ends: usize,
    /// Programs with test cases, and of them those with fewer than TPAIR has, and with more.
    with_groups: usize,
    fewer: usize,
    more: usize,
}

#[test]
fn samples_have_the_table_of_the_documents() {
    let mut found = OnSamples::default();
    let mut factors = Vec::new();
    for (name, text) in support::part(samples(), 20) {
        let Some(model) = possible_model(&text) else { continue };
        let answer = answer_of(&model, &Request { explore: Some(20_000), ..Request::default() });
        found.programs += 1;
        found.complete += usize::from(answer["complete"] == true);
        let missed = list(&answer["exact"]["missed"]);
        let of_kind = |kind: &str| usize::from(missed.iter().any(|one| one["kind"] == kind));
        found.missed += usize::from(!missed.is_empty());
        found.missed_outcomes += of_kind("outcome");
        found.missed_races += of_kind("race");
        found.missed_ends += of_kind("end");
        let options = ClassOptions { max_enumerated: 20_000, ..ClassOptions::default() };
        let operations = Operations::new(model.program(), &model.form().concurrency);
        let budget = Budget::from(Limits { max_states: Some(20_000), ..Limits::default() });
        let pairs = thread_pairs(model.machine(), &operations, &budget, &options);
        let is_exact =
            !pairs.are_cut && pairs.pairs.iter().all(|pair| pair.count.bound.is_none() && !pair.count.infinite);
        let (groups, tpair) = (answer["test_cases"].as_u64().unwrap(), pairs.total());
        if groups > 0 && answer["complete"] == true && is_exact {
            found.with_groups += 1;
            found.fewer += usize::from(u128::from(groups) < tpair);
            found.more += usize::from(u128::from(groups) > tpair);
            factors.push((tpair as f64 / groups as f64, name));
        }
    }
    factors.sort_by(|a, b| a.0.total_cmp(&b.0));
    println!("{found:?}\nTPAIR by test cases: {factors:.2?}");
    assert!(found.missed_races == 0 && found.complete * 10 > found.programs * 8);
    // The table is that of all samples.
    assert!(found == ON_SAMPLES || !support::is_long());
}

/// What the programs were like.
#[derive(Debug, Default)]
struct Tally {
    refused: u64,
    incomplete: u64,
    checked: u64,
    affected: u64,
    racy: u64,
    deadlocking: u64,
    failing: u64,
    groups: u64,
    classes: u64,
    prefixes: u64,
}

#[test]
fn most_random_programs_have_branches_that_others_affect() {
    let first = first_seed(0);
    let mut tally = Tally::default();
    for seed in first..first + programs(75) {
        let source = program(seed);
        if possible_model(&source).is_none() {
            tally.refused += 1;
            continue;
        }
        let options = PathsOptions { max_nodes: PREFIXES, ..PathsOptions::default() };
        let oracle = paths_of_source(&source, &options).unwrap_or_else(|error| panic!("{seed}: {error}\n{source}"));
        if !oracle.complete {
            tally.incomplete += 1;
            continue;
        }
        tally.checked += 1;
        tally.affected += u64::from(oracle.branches.values().any(|branch| !branch.affected.is_empty()));
        tally.racy += u64::from(!oracle.pairs.is_empty());
        tally.deadlocking += u64::from(!oracle.deadlocks.is_empty());
        tally.failing += u64::from(oracle.failed_classes > 0);
        tally.groups += oracle.groups() as u64;
        tally.classes += oracle.classes as u64;
        tally.prefixes += oracle.nodes as u64;
        let differences = compare(&agreeing(&oracle), &oracle);
        assert!(differences.is_empty(), "{seed}: {differences:?}\n{source}");
    }
    println!("{tally:?}");
    assert!(
        support::has_new_seed() || tally.checked * 10 > 7 * (tally.checked + tally.incomplete + tally.refused),
        "{tally:?}"
    );
    assert!(support::has_new_seed() || tally.affected * 10 > 6 * tally.checked, "{tally:?}");
}

/// What an answer has found: races, outcomes of branches, failures and deadlocks.
fn found(answer: &Value) -> Value {
    let races = list(&answer["races"]).iter().map(|race| json!([race["a"], race["b"]]).to_string());
    let ends = ["failures", "deadlocks"].map(|key| list(&answer[key]).len());
    json!([races.collect::<BTreeSet<String>>(), ends])
}

#[test]
fn no_more_tests_are_made_than_reachability_testing_needs() {
    // The method made more of them for these; the others have few.
    let asked = ["bounded_buffer", "counter_class", "dekker", "lazy_init", "races_cancel_broken", "spinlock_cas"];
    let more = [
        "bounded_queue_broken",
        "races_statistics_broken",
        "state_machine",
        "treiber_like",
        "sen_fig1",
        "setiadi_fig3",
    ];
    for (name, source) in samples().iter().filter(|(name, _)| asked.iter().chain(&more).any(|asked| asked == name)) {
        let model = Model::from_text(name, source, &Default::default()).unwrap();
        let own = answer_of(&model, &Request::default());
        let request = Request { criterion: Criterion::Reachability, ..Request::default() };
        let reachability = answer_of(&model, &request);
        let executions = |answer: &Value| answer["executions"].as_u64().unwrap();
        assert!(executions(&own) <= executions(&reachability), "{name}: {} tests", executions(&own));
        assert_eq!(found(&own), found(&reachability), "{name}");
        // Numbers of tests are those of the list.
        let tests = list(&own["tests"]).len() as u64;
        assert!(
            list(&own["groups"]).iter().filter_map(|of| of["tested_by"].as_u64()).all(|by| (1..=tests).contains(&by))
        );
        assert!(list(&own["races"]).iter().all(|race| race["test"].as_u64().unwrap() <= tests), "{name}");
    }
}
