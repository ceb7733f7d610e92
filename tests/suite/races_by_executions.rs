//! Which accesses race, the outcomes of branches, and what is unprotected, by one execution of each future: the same as in all states.
//!
//! `CSSAME_LAW_PROGRAMS` and `CSSAME_LAW_SEED` run more programs, or others.

use crate::reads_from::{locals_program, memory_program};
use cssame::budget::{Budget, Limits};
use cssame::explore::{races, races_by_executions};
use cssame::ir::Access;
use cssame::model::Model;
use cssame::paths::classes::Operations;
use cssame::paths::executed::{ExecutedAnswer, ExecutedRequest, executed, executed_by_executions};
use cssame::vm::{CodeIndex, Tables};
use std::collections::BTreeSet;
use support::{first_seed, model, possible_model, programs};

fn up_to(states: u64) -> Budget<'static> {
    Budget::from(Limits { max_states: Some(states), max_executions: Some(500), ..Limits::default() })
}

/// Holds random programs to all states; says how many were compared, and how many of them have races.
fn hold(program: impl Fn(u64) -> String, programs: u64) -> (u64, u64) {
    let first = first_seed(1);
    let (mut compared, mut racy) = (0, 0);
    for seed in first..first + programs {
        let text = program(seed);
        let Some(model) = possible_model(&text) else { continue };
        let (machine, program) = (model.machine(), model.program());
        let Some(found) = races_by_executions(machine, program, &up_to(10_000)) else { continue };
        let all = races(machine, program, &[], &up_to(10_000));
        if all.racing.is_some() || !all.is_complete() {
            continue;
        }
        let expected: BTreeSet<[Access; 2]> = all.races.iter().map(|race| race.accesses).collect();
        let pairs: BTreeSet<[Access; 2]> = found.pairs.iter().copied().collect();
        assert!(expected.is_subset(&pairs), "seed {seed}: {expected:?}, by executions {pairs:?}\n{text}");
        // Where a `cas` would write may be no state in which the other access is pending.
        assert!(
            expected == pairs || text.contains("cas("),
            "seed {seed}: {expected:?}, by executions {pairs:?}\n{text}"
        );
        assert_eq!(found.fails, !all.failures.is_empty(), "seed {seed}\n{text}");
        compared += 1;
        racy += u64::from(!expected.is_empty());
    }
    (compared, racy)
}

#[test]
fn random_programs_have_the_races_of_all_states() {
    let programs = programs(40);
    let (compared, racy) = hold(memory_program, programs);
    println!("{compared} of {programs} programs compared, {racy} with races");
    assert!(
        support::has_new_seed() || compared * 4 > programs && racy * 8 > programs,
        "{compared} of {programs}, {racy} with races"
    );
    let (compared, racy) = hold(locals_program, programs);
    println!("{compared} of {programs} programs with locals compared, {racy} with races");
    assert!(
        support::has_new_seed() || compared * 4 > programs && racy * 10 > programs,
        "{compared} of {programs}, {racy} with races"
    );
}

/// Branch outcomes with the names of their threads.
type Outcomes = BTreeSet<(String, CodeIndex, u32, bool)>;

/// The outcomes of branches, and the unprotected pairs.
fn shown(model: &Model, answer: &ExecutedAnswer) -> (Outcomes, BTreeSet<[Access; 2]>) {
    let outcomes = answer
        .outcomes
        .iter()
        .map(|one| (model.machine().path_name(&answer.tables, one.thread), one.at, one.instance, one.holds));
    assert!(answer.waits.is_empty());
    (outcomes.collect(), answer.pairs.iter().map(|pair| pair.accesses).collect())
}

#[test]
fn random_programs_execute_the_branches_of_all_states() {
    let (programs, first) = (programs(40), first_seed(1));
    let (mut compared, mut unprotected) = (0, 0);
    for seed in first..first + programs {
        for text in [memory_program(seed), locals_program(seed)] {
            let Some(model) = possible_model(&text) else { continue };
            let (machine, program) = (model.machine(), model.program());
            let operations = Operations::new(program, &model.form().concurrency);
            let request = ExecutedRequest { operations: &operations, tables: &Tables::new(), max_instance: 2 };
            let Some(found) = executed_by_executions(machine, program, &request, &up_to(20_000)) else { continue };
            // So few are visited whole.
            let all = executed(machine, program, &request, &up_to(10_000));
            if all.bound.is_none() {
                assert_eq!(shown(&model, &found), shown(&model, &all), "seed {seed}\n{text}");
                compared += 1;
                unprotected += usize::from(!all.pairs.is_empty());
            }
        }
    }
    println!("{compared} of {programs} programs of two kinds compared, {unprotected} with unprotected pairs");
    assert!(
        support::has_new_seed() || compared as u64 * 2 > programs && unprotected as u64 * 4 > programs,
        "{compared}, {unprotected}"
    );
}

/// Threads that fork, work on their parts of an array and join have far more states than executions.
#[test]
fn a_recursion_of_threads_races_nowhere() {
    let sums = "int t[8]; void sum(int from, int to) { if (to - from < 2) return; int middle = (from + to) / 2;
          cobegin L: sum(from, middle); R: sum(middle, to); coend t[from] = t[from] + t[middle]; }
        void main() { for (int i = 0; i < 8; i++) t[i] = i; sum(0, 8); print(t[0]); }";
    let model = model(sums);
    let found = races(model.machine(), model.program(), &[], &up_to(1_000));
    assert!(found.is_complete() && found.races.is_empty());
    assert_eq!(found.racing.map(|racing| racing.executions), Some(1));
    let operations = Operations::new(model.program(), &model.form().concurrency);
    let request = ExecutedRequest { operations: &operations, tables: &Tables::new(), max_instance: 2 };
    let shown = executed(model.machine(), model.program(), &request, &up_to(1_000));
    assert_eq!((shown.bound, shown.statistics.executions, shown.pairs.len()), (None, 1, 0));
    assert!(!shown.outcomes.is_empty());
}
