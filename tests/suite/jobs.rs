//! The answer of a search is the same for any number of cores, whole or cut by a bound.

use cssame::budget::{Bound, Budget, Limits};
use cssame::explore::{Ends, Query, by_states, count_by_states, select_by_states};
use cssame::form::Selection;
use cssame::schedule::Walk;
use cssame::vm::{Encoding, Machine, Tables};
use std::collections::HashSet;
use support::model;

/// Threads that come and go, print, block each other, fail and are discarded, in levels of thousands of states.
const PROGRAM: &str = "
int a, b, sum;
lock L, M;
void worker(int id) {
  for (int k = 0; k < 1; k++) {
    lock(L);
    a = a + id;
    if (a == 3) { lock(M); b = a; unlock(M); }
    unlock(L);
    print(a, b);
  }
}
cobegin
  A: worker(1);
  B: worker(2);
  C: { int seen = a; lock(M); if (seen == 1) { lock(L); b = 7; unlock(L); } unlock(M); print(\"C\", seen); }
  D: { b = choose(0, 2); assume(a < 6); int t = b; assert(t != 5 || a != 2, \"five\"); print(t); }
coend
sum = a + b;
print(sum);
";

fn answers(machine: &Machine, budget: &Budget<'_>) -> (String, Option<Bound>) {
    let answer = by_states(machine, &Query::default(), budget);
    let bound = answer.bound;
    let count = count_by_states(machine, &budget.share(Limits { max_states: Some(30_000), ..Limits::default() }));
    let selections: Vec<Selection> =
        answer.terms.iter().step_by(3).map(|term| Selection::of(term.read, term.definition)).collect();
    let selected = select_by_states(machine, &selections, budget);
    (format!("{answer:?}\n{count:?}\n{selected:?}"), bound)
}

#[test]
fn any_number_of_cores_gives_the_same_answer() {
    let model = model(PROGRAM);
    let machine = model.machine();
    let bounds = [
        Limits::default(),
        Limits { max_states: Some(5_000), ..Limits::default() },
        Limits { max_executions: Some(100), ..Limits::default() },
        Limits { max_steps: Some(17), ..Limits::default() },
        Limits { max_memory: Some(1 << 20), ..Limits::default() },
    ];
    let expected = [None, Some(Bound::States), Some(Bound::Executions), Some(Bound::Steps), Some(Bound::Memory)];
    for (bounds, expected) in support::part(bounds.into_iter().zip(expected).skip(1).collect(), 2) {
        let (alone, bound) = answers(machine, &Budget::from(bounds));
        assert_eq!(bound, expected);
        for jobs in support::part(vec![2, 3, 7], 1) {
            let (together, _) = answers(machine, &Budget::from(bounds).with_jobs(jobs));
            assert!(alone == together, "{expected:?} with {jobs}");
        }
    }
}

/// Each of the states behind the fork has hundreds of successors of thousands of words: they do not fit into one batch.
#[test]
fn large_states_give_the_same_answer_as_well() {
    let arms: String = (0..120).map(|arm| format!("T{arm}: x = {arm};\n")).collect();
    let model = model(&format!("int x;\ncobegin\n{arms}coend\nprint(x);\n"));
    for bounds in [
        Limits { max_states: Some(3_000), ..Limits::default() },
        Limits { max_memory: Some(1 << 20), ..Limits::default() },
    ] {
        let answer = |jobs| by_states(model.machine(), &Query::UP_TO_THE_READ, &Budget::from(bounds).with_jobs(jobs));
        let alone = answer(1);
        assert!(alone.statistics.states > 121 && alone.statistics.states < 20_000, "{:?}", alone.statistics);
        for jobs in [2, 3] {
            assert_eq!(format!("{alone:?}"), format!("{:?}", answer(jobs)));
        }
    }
}

/// Philosophers who take the left fork first, but for the last one, and count their meals.
fn philosophers(count: usize) -> String {
    let arms: String = (0..count)
        .map(|me| {
            let [first, second] = if me + 1 < count { [me, me + 1] } else { [0, me] };
            format!("P{me}: dine({me}, f{first}, f{second});\n")
        })
        .collect();
    let forks: Vec<String> = (0..count).map(|fork| format!("f{fork}")).collect();
    format!(
        "int meals[{count}]; lock {};\n\
         void dine(int me, lock a, lock b) {{ lock(a); lock(b); meals[me] = meals[me] + 1; unlock(b); unlock(a); }}\n\
         cobegin\n{arms}coend\nprint(meals[0]);\n",
        forks.join(", ")
    )
}

/// The number of states that executions reach, found by doing all of their steps anew for each.
fn number_of_states(machine: &Machine) -> u64 {
    let (mut tables, mut known) = (Tables::new(), HashSet::new());
    let (mut waiting, mut words, mut choices) = (vec![Vec::new()], Encoding::default(), Vec::new());
    while let Some(schedule) = waiting.pop() {
        let mut walk = Walk::new(machine, &mut tables, &mut ());
        walk.follow(&schedule, &mut ()).expect("steps that are possible");
        machine.enabled(walk.state(), &mut choices);
        for &choice in &choices {
            let mut next = walk.branch();
            next.step(choice, &mut ()).expect("a step that is possible");
            machine.encode(next.state(), &mut words);
            if known.insert(words.words().to_vec()) {
                waiting.push([&schedule[..], &[choice]].concat());
            }
        }
    }
    // The first one, to which no step leads.
    known.len() as u64 + 1
}

/// Threads that wait in loops, so that edges lead back, and levels are small and many.
#[test]
fn small_levels_give_the_same_answer_as_well() {
    let model = model(include_str!("../../benches/families/monitor.csm"));
    let machine = model.machine();
    let all = by_states(machine, &Query::UP_TO_THE_READ, &Budget::unlimited().with_jobs(2));
    assert_eq!(all.statistics.states, number_of_states(machine));
    for most in [900, 1_000, 2_345, 3_000, 4_321, 20_000, 30_303] {
        for bounds in [
            Limits { max_states: Some(most), ..Limits::default() },
            Limits { max_memory: Some(50 * most), ..Limits::default() },
            Limits { max_steps: Some(most as u32 / 500), ..Limits::default() },
        ] {
            let answer =
                |jobs| format!("{:?}", by_states(machine, &Query::default(), &Budget::from(bounds).with_jobs(jobs)));
            assert!(answer(1) == answer(3), "{bounds:?}");
        }
    }
}

/// Nearly all steps are done from memory, so the states are expanded in rounds.
#[test]
fn rounds_give_the_same_answer_as_well() {
    let model = model(&philosophers(6));
    let machine = model.machine();
    let states = |most| Limits { max_states: Some(most), ..Limits::default() };
    let memory = |most| Limits { max_memory: Some(most), ..Limits::default() };
    let bounds = [states(2_000), states(5_001), states(9_999), memory(700_000), memory(1_000_000), memory(1_500_000)];
    for bounds in bounds.into_iter().chain([Limits::default()]) {
        let answer =
            |jobs| format!("{:?}", by_states(machine, &Query::default(), &Budget::from(bounds).with_jobs(jobs)));
        let alone = answer(1);
        for jobs in [2, 3] {
            assert!(alone == answer(jobs), "{bounds:?} with {jobs}");
        }
    }
    let all = by_states(machine, &Query::UP_TO_THE_READ, &Budget::unlimited().with_jobs(2));
    assert!(all.bound.is_none() && all.statistics.states > 10_000, "{:?}", all.statistics);
    assert_eq!(all.statistics.states, number_of_states(machine));
    // The search ends in the middle of a round, behind the step that shows the last one.
    for term in all.terms.iter().rev().take(4) {
        let candidates = [(term.read, term.definition)];
        let query = Query { candidates: Some(&candidates), ends: Ends::Nothing, ..Query::UP_TO_THE_READ };
        let answer = |jobs| format!("{:?}", by_states(machine, &query, &Budget::unlimited().with_jobs(jobs)));
        assert_eq!(answer(1), answer(2));
    }
}
