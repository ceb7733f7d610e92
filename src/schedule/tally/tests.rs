//! Compares tallies with a list of single executions, for several numbers of cores.

use super::*;
use crate::testing::{compiled, samples};
use crate::{Random, run};

const LOST: &str = "int x; cobegin A: x += 1; B: x += 1; coend print(x); assert(x == 2);";

fn tally(machine: &Machine, seeds: Range<u64>, stops_at_first: bool, jobs: usize) -> Tallied {
    let budget = Budget::unlimited().with_jobs(jobs);
    Tally { machine, seeds, max_steps: 300, stops_at_first, budget: &budget }.run(Random::new)
}

/// What a user sees of it.
fn shown(machine: &Machine, tallied: &Tallied) -> Vec<String> {
    let text = |outcome: &TalliedOutcome| {
        let lines: Vec<String> = outcome
            .outputs
            .iter()
            .map(|&(path, output)| {
                format!("{}: {}", machine.path_name(&tallied.tables, path), tallied.tables.lines(output).join(", "))
            })
            .collect();
        let TalliedOutcome { status, executions, first_seed, .. } = outcome;
        format!("{executions} × {} from {first_seed}: {}", status.word(), lines.join("; "))
    };
    tallied.outcomes.iter().map(text).collect()
}

#[test]
fn it_counts_what_single_executions_do() {
    for (path, machine) in samples() {
        let tallied = tally(&machine, 3..40, false, 2);
        assert_eq!((tallied.executions, tallied.others, tallied.bound), (37, 0, None), "{}", path.display());
        for seed in 3..40 {
            let execution = run(&machine, &mut Random::new(seed), 300, &mut ());
            let lines = execution.lines(&machine);
            let same = |outcome: &&TalliedOutcome| {
                let all = outcome.outputs.iter().flat_map(|&(_, output)| tallied.tables.lines(output));
                outcome.status.word() == execution.status.word() && all.eq(lines.iter().map(String::as_str))
            };
            let found: Vec<&TalliedOutcome> = tallied.outcomes.iter().filter(same).collect();
            assert!(found.iter().any(|outcome| outcome.first_seed <= seed), "{}: {seed}", path.display());
        }
        let sum: u64 = tallied.outcomes.iter().map(|outcome| outcome.executions).sum();
        assert_eq!(sum, 37, "{}", path.display());
        for outcome in &tallied.outcomes {
            let first = run(&machine, &mut Random::new(outcome.first_seed), 300, &mut ());
            assert_eq!(first.status.word(), outcome.status.word(), "{}", path.display());
        }
    }
}

#[test]
fn the_number_of_cores_changes_nothing() {
    for (path, machine) in samples() {
        for stops_at_first in [false, true] {
            let [one, three] = [1, 3].map(|jobs| tally(&machine, 0..300, stops_at_first, jobs));
            assert_eq!(shown(&machine, &one), shown(&machine, &three), "{}", path.display());
            assert_eq!((one.executions, one.first_bad), (three.executions, three.first_bad), "{}", path.display());
        }
    }
}

#[test]
fn it_stops_at_the_lowest_seed_that_fails() {
    let (_, machine) = compiled(LOST).unwrap();
    let fails = |seed: &u64| run(&machine, &mut Random::new(*seed), 300, &mut ()).status.is_bad();
    let first = (100..).find(fails).unwrap();
    for jobs in [1, 2, 5] {
        let tallied = tally(&machine, 100..100_000, true, jobs);
        assert_eq!((tallied.first_bad, tallied.executions), (Some(first), first - 100 + 1));
    }
    let all = tally(&machine, 100..2_000, false, 2);
    assert_eq!((all.first_bad, all.executions), (Some(first), 1_900));
    assert_eq!(shown(&machine, &all).len(), 2);
}

#[test]
fn the_most_frequent_outcome_comes_first() {
    let (_, machine) = compiled("int k = choose(0, 9); print(k < 8);").unwrap();
    let shown = shown(&machine, &tally(&machine, 0..1_000, false, 2));
    assert!(shown[0].ends_with("main: true") && shown[1].ends_with("main: false"), "{shown:?}");
}

#[test]
fn no_seeds_are_no_executions() {
    let (_, machine) = compiled(LOST).unwrap();
    let none = tally(&machine, 7..7, true, 2);
    assert_eq!((none.executions, none.outcomes.len(), none.bound), (0, 0, None));
}

#[test]
fn an_interrupt_stops_it() {
    let (_, machine) = compiled(LOST).unwrap();
    let interrupt = std::sync::atomic::AtomicBool::new(true);
    let budget = Budget::unlimited().with_interrupt(&interrupt).with_jobs(2);
    let tally = Tally { machine: &machine, seeds: 0..10, max_steps: 300, stops_at_first: false, budget: &budget };
    let stopped = tally.run(Random::new);
    assert_eq!((stopped.executions, stopped.bound), (0, Some(Bound::Interrupt)));
}
