//! A search through states meets those that executions reach, however its steps are done, and says which bound has stopped it.

use cssame::budget::{Bound, Budget, Limits};
use cssame::explore::{Query, by_states};
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

#[test]
fn a_search_tells_which_bound_has_stopped_it() {
    let model = model(PROGRAM);
    let bounds = [
        (Limits { max_states: Some(5_000), ..Limits::default() }, Bound::States),
        (Limits { max_executions: Some(100), ..Limits::default() }, Bound::Executions),
        (Limits { max_steps: Some(17), ..Limits::default() }, Bound::Steps),
        (Limits { max_memory: Some(1 << 20), ..Limits::default() }, Bound::Memory),
    ];
    for (limits, bound) in bounds {
        assert_eq!(by_states(model.machine(), &Query::default(), &limits.into()).bound, Some(bound));
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

/// Nearly all steps are done from memory; of the second program, edges lead back, and levels are small and many.
#[test]
fn states_are_those_that_executions_reach() {
    for text in [&philosophers(6), include_str!("../../benches/families/monitor.csm")] {
        let model = model(text);
        let all = by_states(model.machine(), &Query::UP_TO_THE_READ, &Budget::unlimited());
        assert!(all.bound.is_none() && all.statistics.states > 10_000, "{:?}", all.statistics);
        assert_eq!(all.statistics.states, number_of_states(model.machine()));
    }
}
