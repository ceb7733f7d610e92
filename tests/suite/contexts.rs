//! Reads and writes in their calling contexts, random programs, against the naive interpreter of `support`.
//!
//! The interpreter knows of each access the thread, the calls and spawns that led there, and the cell. What it sees is held
//! to the program with copies of functions: each pair that happens is a term; what `futures` finds is what happens; the
//! copies do the same steps; and a selection is consistent if all executions together say so.
//! `CSSAME_LAW_PROGRAMS` and `CSSAME_LAW_SEED` run more programs, or others.

mod places;
mod precision;
mod selected;
mod steps;
mod threads;

use self::places::{AMBIGUOUS, Contexts, Index, Pair};
use cssame::budget::{Budget, Limits};
use cssame::explore::{Query, futures};
use cssame::form::Selection;
use cssame::form::contradiction::{explain, reason_report};
use std::collections::{BTreeMap, BTreeSet};
use support::generate::{self, Size};
use support::{first_seed, programs};

#[derive(Default)]
struct Tally {
    programs: u64,
    with_contexts: u64,
    incomplete: u64,
    exact: u64,
    terms: u64,
    realised: u64,
    pairs: u64,
    pairs_in_contexts: u64,
}

/// What is realised is a term; and of programs that are explored completely, `futures` finds just that.
fn check(source: &str, max_executions: u64, tally: &mut Tally) -> Result<(), String> {
    let Some(contexts) = Contexts::new(source) else { return Ok(()) };
    let model = contexts.model();
    cssame::ir::verify::verify(model.program()).map_err(|violations| format!("verifier: {violations:?}"))?;
    let explored = contexts.explore(source, max_executions, false)?;
    let index = Index::new(model);
    let (realised, terms) = (index.realised(&explored)?, index.terms());
    named(&contexts, &terms)?;
    tally.programs += 1;
    tally.with_contexts += u64::from(contexts.copies.is_some());
    if let Some(pair) = realised.iter().find(|pair| !terms.contains(pair)) {
        return Err(format!("no term: {} happens", contexts.pair_name(pair)));
    }
    let known = |pair: &&Pair| model.program().contexts.reads.contains_key(&pair.0);
    tally.pairs += realised.len() as u64;
    tally.pairs_in_contexts += realised.iter().filter(known).count() as u64;
    if !explored.complete {
        tally.incomplete += 1;
        return Ok(());
    }
    tally.exact += 1;
    tally.terms += terms.len() as u64;
    tally.realised += realised.len() as u64;
    let limits = Limits { max_states: Some(2_000_000), ..Limits::default() };
    let answer = futures(model.machine(), &Query::default(), &Budget::from(limits));
    if !answer.is_complete() {
        return Err("bound: the exploration is not complete".to_owned());
    }
    let feasible = answer.terms.iter().map(|term| (term.read, term.definition));
    let feasible: BTreeSet<Pair> = feasible.filter(|pair| index.shared.contains(&pair.0)).collect();
    let names = |pairs: Vec<&Pair>| pairs.into_iter().map(|pair| contexts.pair_name(pair)).collect::<Vec<_>>();
    if feasible != realised {
        let (missing, extra) = (realised.difference(&feasible).collect(), feasible.difference(&realised).collect());
        return Err(format!("futures: missing {:?}, extra {:?}", names(missing), names(extra)));
    }
    Ok(())
}

/// The names of a term select it, and at most others of the same names.
fn named(contexts: &Contexts, terms: &BTreeSet<Pair>) -> Result<(), String> {
    for pair in terms {
        let name = contexts.pair_name(pair);
        let selected = contexts.model().lookup().selection(&name);
        let selected = selected.map_err(|problem| format!("name: {name}: {problem}"))?;
        let same = |&read: &_| contexts.read_name(read) == contexts.read_name(pair.0);
        let alike = |&one: &_| contexts.definition_name(one) == contexts.definition_name(pair.1);
        let has_both = selected.reads.contains(&pair.0) && selected.definitions.contains(&pair.1);
        if !has_both || !selected.reads.iter().all(same) || !selected.definitions.iter().all(alike) {
            return Err(format!("name: {name} selects {selected:?}, not {pair:?}"));
        }
    }
    Ok(())
}

/// A program of either kind.
fn program(seed: u64) -> String {
    match seed % 8 {
        0 => generate::program(seed, &Size { threads: 2, operations: 5, globals: 2, structured: true }),
        1 => generate::racy(seed, &Size { threads: 3, operations: 3, globals: 2, structured: true }),
        _ => generate::contexts(seed),
    }
}

/// Runs a law on programs, and shrinks those that break it, one for each kind of mistake.
fn hold(programs: u64, salt: u64, law: &mut dyn FnMut(&str, u64) -> Result<(), String>) {
    let first = first_seed(1);
    let mut failures: BTreeMap<String, String> = BTreeMap::new();
    let kind = |message: &str| message.split(':').next().unwrap_or_default().to_owned();
    for seed in first..first + programs {
        let source = program(seed ^ salt);
        if let Err(message) = law(&source, seed)
            && !message.starts_with(AMBIGUOUS)
            && !failures.contains_key(&kind(&message))
        {
            let mut fails = |text: &str| law(text, seed).is_err_and(|other| kind(&other) == kind(&message));
            let small = generate::shrink(&source, &mut fails);
            let shrunk = law(&small, seed).err().unwrap_or_default();
            failures.insert(kind(&message), format!("seed {seed}: {shrunk}\n{small}"));
        }
    }
    let text: Vec<&str> = failures.values().map(String::as_str).collect();
    assert!(failures.is_empty(), "{}", text.join("\n"));
}

#[test]
fn what_happens_in_a_context_is_a_term_and_futures_are_exact_there() {
    let programs = programs(50);
    let mut tally = Tally::default();
    hold(programs, 0, &mut |source, _| check(source, 4_000, &mut tally));
    let Tally { programs: all, with_contexts, incomplete, exact, terms, realised, pairs, pairs_in_contexts } = tally;
    println!("{all} programs, {with_contexts} with contexts, {exact} explored completely, {incomplete} too large");
    println!("{pairs} pairs happen, {pairs_in_contexts} of them in a context; {realised} of {terms} terms");
    assert!(
        support::has_new_seed() || with_contexts * 2 >= programs && exact * 2 >= programs,
        "{with_contexts} {exact}"
    );
}

/// Where an element is known in one context and not in another, its name without a context would mean both.
#[test]
fn an_element_that_is_not_known_is_told_by_thread_or_calls() {
    let source = "int n = 1;\nint t[2];\nint get(int v) { return t[v & 1]; }\nvoid set(int v) { t[v & 1] = v; }\n\
                  void main() { cobegin A: { set(n); get(0); } B: { get(n); set(1); n = 2; } coend print(t[0]); }\n";
    let mut tally = Tally::default();
    check(source, 4_000, &mut tally).unwrap();
    assert!(support::has_new_seed() || tally.pairs_in_contexts >= 4, "{}", tally.pairs_in_contexts);
}

/// Two locals of one name have initial values of one name: where the function of one is never called, the other is meant.
#[test]
fn a_local_of_a_function_that_never_runs_takes_no_name_from_another() {
    let source = "void par2() { int shared; cobegin P: print(shared); coend }\n\
                  void par3() { int shared; cobegin P: print(shared); coend }\nvoid main() { par2(); par2(); }\n";
    let mut tally = Tally::default();
    check(source, 4_000, &mut tally).unwrap();
    assert_eq!(tally.exact, 1);
}

#[test]
fn two_calls_of_one_place_are_told_apart_in_a_cycle() {
    let text = "int x; lock L;\nvoid put(int v) { lock(L); x = v; unlock(L); }\n\
                int get() { lock(L); int r = x; unlock(L); return r; }\n\
                cobegin A: { put(1); put(2); } B: { int a = get(); int b = get(); print(a, b); } coend\n";
    let contexts = Contexts::new(text).unwrap();
    let (program, form) = (contexts.model().program(), contexts.model().form());
    let select = |read: &str, definition: &str| {
        let read = program.reads.ids().find(|&id| contexts.read_name(id) == read).unwrap();
        Selection::of(read, program.definitions.ids().find(|&id| contexts.definition_name(id) == definition).unwrap())
    };
    let selections = [select("x@3:30~4:45", "x@2:28~4:22"), select("x@3:30~4:60", "x@2:28~4:14")];
    let reason =
        reason_report(contexts.model().sources(), program, form, &selections, &explain(program, form, &selections));
    let places: BTreeSet<&str> = reason.cycle.iter().map(|order| order.from.at.as_str()).collect();
    assert_eq!(places.len(), reason.cycle.len(), "{reason:?}");
    assert!(places.contains("2:28~4:22") && places.contains("2:28~4:14"), "{places:?}");
}
