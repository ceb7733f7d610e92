//! What exact exploration says of branches, unprotected pairs and version classes, against the oracle, on random programs.
//!
//! `CSSAME_LAW_PROGRAMS` and `CSSAME_LAW_SEED` run more programs, or others.

use cssame::budget::{Budget, Limits};
use cssame::form::{definition_name, read_name};
use cssame::ir::{Access, LeafId};
use cssame::model::Model;
use cssame::paths::classes::{ClassOptions, Operations, classes, thread_pairs};
use cssame::paths::executed::{ExecutedRequest, executed};
use cssame::vm::Tables;
use std::collections::{BTreeMap, BTreeSet};
use support::generate::{self, Size};
use support::oracle::{PathsOptions, PathsOracle, Visible, paths_of_source};
use support::{first_seed, possible_model, programs};

/// Prefixes of executions of a random program at most.
const PREFIXES: usize = 20_000;

#[derive(Debug, Default)]
struct Tally {
    refused: u64,
    incomplete: u64,
    unbounded: u64,
    checked: u64,
    pairs_of_threads: u64,
    pairs_not_seen: u64,
}

/// The program of a seed: some with branches that others decide, some of the other laws.
fn program(seed: u64) -> String {
    let (threads, operations) = [(2, 3), (3, 4), (2, 5), (3, 3)][(seed / 4 % 4) as usize];
    let size = Size { threads: 2, operations: 3, globals: 2, structured: seed % 8 < 4 };
    match seed % 4 {
        0 => generate::racy(seed, &size),
        1 if seed % 8 == 5 => generate::arrays(seed),
        1 => generate::program(seed, &size),
        _ => generate::branching(seed, threads, operations),
    }
}

/// What the oracle says, with the shared variables that the library has. Those are operations that `is_operation` says
/// of the accesses in the text, but not accesses to the variables that are `read_shared`.
pub fn oracle(
    source: &str,
    model: &Model,
    is_operation: &dyn Fn(Access) -> bool,
    read_shared: &[LeafId],
) -> Result<PathsOracle, String> {
    let program = model.program();
    let name = |leaf: LeafId| program.texts.get(program.leaves[leaf].name).to_owned();
    let shared = model.form().concurrency.sharing.leaves.ones().map(|leaf| name(LeafId::new(leaf)));
    let reads = program.reads.ids().map(Access::Read);
    let accesses = reads.chain(program.definitions.ids().map(Access::Write));
    let operations = accesses.filter(|&access| is_operation(access));
    let options = PathsOptions {
        visible: Visible::Named(shared.collect()),
        max_nodes: PREFIXES,
        read_shared: Some(read_shared.iter().map(|&leaf| name(leaf)).collect()),
        operations: Some(operations.map(|access| (access_name(model, access), access.is_write())).collect()),
        ..PathsOptions::default()
    };
    paths_of_source(source, &options)
}

fn access_name(model: &Model, access: Access) -> String {
    match access {
        Access::Read(read) => read_name(model.sources(), model.program(), read),
        Access::Write(definition) => definition_name(model.sources(), model.program(), definition),
    }
}

fn differ<T: Ord + std::fmt::Debug>(what: &str, found: &BTreeSet<T>, real: &BTreeSet<T>) -> Result<(), String> {
    if found == real {
        return Ok(());
    }
    let (more, less): (Vec<&T>, Vec<&T>) = (found.difference(real).collect(), real.difference(found).collect());
    Err(format!("{what}: found alone {more:?}, in the oracle alone {less:?}"))
}

fn check(source: &str, tally: &mut Tally) -> Result<(), String> {
    let Some(model) = possible_model(source) else {
        tally.refused += 1;
        return Ok(());
    };
    let operations = Operations::new(model.program(), &model.form().concurrency);
    let sharing = &model.form().concurrency.sharing;
    let is_operation = |access: Access| match access {
        Access::Read(read) => sharing.read(read),
        Access::Write(definition) => sharing.definition(definition),
    };
    let oracle = oracle(source, &model, &is_operation, operations.read_shared())?;
    if !oracle.complete {
        tally.incomplete += 1;
        return Ok(());
    }
    let limits = Limits { max_states: Some(500_000), ..Limits::default() };
    let budget = Budget::from(limits);
    let tables = Tables::new();
    let request = ExecutedRequest { operations: &operations, tables: &tables, max_instance: 100 };
    let found = executed(model.machine(), model.program(), &request, &budget);
    if found.bound.is_some() {
        tally.unbounded += 1;
        return Ok(());
    }
    tally.checked += 1;
    let mut outcomes = BTreeSet::new();
    for outcome in &found.outcomes {
        let place = model.sources().position(model.machine().span(outcome.at)).to_string();
        let origin = model.machine().origin(outcome.at);
        let negated = model.program().functions[origin.function].blocks[origin.block].negated;
        let thread = model.machine().path_name(&found.tables, outcome.thread);
        outcomes.insert((thread, place, outcome.instance, outcome.holds != negated));
    }
    let mut real = BTreeSet::new();
    for ((thread, place), branch) in &oracle.branches {
        for (&instance, holds) in &branch.outcomes {
            real.extend(holds.iter().map(|&holds| (thread.clone(), place.clone(), instance, holds)));
        }
    }
    differ("outcomes", &outcomes, &real)?;
    let name = |access: &Access| access_name(&model, *access);
    let found = found.pairs.iter().map(|pair| pair.accesses.each_ref().map(name)).map(sorted).collect();
    let real = oracle.pairs.keys().map(|(a, b)| sorted([a.2.clone(), b.2.clone()])).collect();
    differ("pairs", &found, &real)?;
    check_classes(&model, &operations, &oracle, tally)
}

fn sorted(mut pair: [String; 2]) -> [String; 2] {
    pair.sort();
    pair
}

fn check_classes(
    model: &Model,
    operations: &Operations,
    oracle: &PathsOracle,
    tally: &mut Tally,
) -> Result<(), String> {
    let budget = Budget::from(Limits { max_states: Some(500_000), ..Limits::default() });
    let found = classes(model.machine(), operations, &budget, &ClassOptions::default());
    if found.classes != oracle.classes as u128 {
        return Err(format!("classes: {} found, {} in the oracle", found.classes, oracle.classes));
    }
    let pairs = thread_pairs(model.machine(), operations, &budget, &ClassOptions::default()).pairs;
    let counts = pairs.into_iter().map(|pair| (sorted(pair.threads), pair.count.classes));
    let mut instructions = model.program().functions.iter().flat_map(|function| function.blocks.iter());
    let chooses = instructions
        .any(|block| block.instructions.iter().any(|each| matches!(each, cssame::ir::Instruction::Choose { .. })));
    let found: BTreeMap<[String; 2], u128> = counts.collect();
    for ((a, b), &real) in &oracle.thread_pairs {
        match found.get(&sorted([a.clone(), b.clone()])) {
            // The library looks for pairs in a few executions.
            None => tally.pairs_not_seen += 1,
            // What another thread has chosen before the two are there tells classes of the library apart.
            Some(&count) if chooses && count > real as u128 => tally.pairs_of_threads += 1,
            Some(&count) if count != real as u128 => {
                return Err(format!("pairs of threads: {a} {b} {count} found, {real} in the oracle"));
            }
            Some(_) => tally.pairs_of_threads += 1,
        }
    }
    Ok(())
}

#[test]
fn programs_at_the_edges_of_the_definitions_have_what_the_oracle_says() {
    let sources = [
        "cobegin\nT1: if (choose(0, 1) > 0) skip; assume(false);\nT2: error();\ncoend",
        "cobegin\nT1: int n = choose(0, 1); print(n); if (n > 0) skip; assume(false);\nT2: error();\ncoend",
        "lock L; cobegin\nT1: int n = choose(0, 1); print(n); if (n > 0) skip; lock(L);\nT2: lock(L); error();\ncoend",
        "int x; sem s = 1; cobegin\nT1: x = 1; V(s);\nT2: P(s); x = 2;\ncoend",
        "int x; event e; cobegin\nT1: x = 1; set(e);\nT2: wait(e); clear(e); if (x == 1) set(e);\nT3: wait(e); x++;\ncoend",
        "int x; void f() { if (cas(x, 0, 1)) x++; } void main() { spawn f(); spawn f(); if (x > 1) error(); }",
        "int x, y; cobegin\nT1: atomic { if (x == 0) y = 1; }\nT2: if (fetch_add(y, 1) == 1) x = 1;\ncoend",
        "input int n = 2; int x; cobegin\nT1: for (int i = 0; i < n; i++) if (n > 1 && x == i) skip;\nT2: x = 1;\ncoend",
        "int x; parfor (int i = 0; i < 3; i++) { if (x == i) x = i + 1; }",
        "int x; cobegin\nT1: cobegin A: if (x == 1) wait(); B: x = 1; coend if (x == 2) skip;\nT2: x = 2; notify();\ncoend",
    ];
    for source in sources {
        assert_eq!(check(source, &mut Tally::default()), Ok(()), "{source}");
    }
}

#[test]
fn random_programs_have_the_branches_pairs_and_classes_of_the_oracle() {
    let first = first_seed(0);
    let (mut tally, mut wrong) = (Tally::default(), Vec::new());
    for seed in first..first + programs(50) {
        let source = program(seed);
        if let Err(problem) = check(&source, &mut tally) {
            let kind = problem.split(':').next().unwrap_or_default().to_owned();
            let fails =
                |text: &str| check(text, &mut Tally::default()).is_err_and(|problem| problem.starts_with(&kind));
            let source = generate::shrink(&source, &mut { fails });
            let problem = check(&source, &mut Tally::default()).err().unwrap_or_default();
            wrong.push(format!("seed {seed}: {problem}\n{source}"));
        }
    }
    println!("{tally:?}");
    assert!(wrong.is_empty(), "{tally:?}\n{}", wrong.join("\n"));
    assert!(support::has_new_seed() || tally.pairs_not_seen * 50 <= tally.pairs_of_threads, "{tally:?}");
    assert!(support::has_new_seed() || tally.checked * 10 > 8 * (tally.incomplete + tally.checked), "{tally:?}");
}
