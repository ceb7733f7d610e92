//! Findings of samples are real, and facts that every execution has are found even if no search completes.

use crate::{Answer, Query, futures};
use cssame_budget::{Bound, Budget, Limits};
use cssame_form::analyse;
use cssame_model::Unit;
use cssame_schedule::Walk;
use cssame_vm::{FailureKind, Machine, Progress, Tables, Visibility};

fn machine(text: &str) -> Machine {
    let Unit { program, .. } = Unit::from_text("test.csm", text, &[]).unwrap();
    let form = analyse(&program).unwrap();
    let sharing = &form.concurrency.sharing;
    Machine::new(&program, &Visibility { reads: sharing.reads.clone(), definitions: sharing.definitions.clone() })
}

fn asked(machine: &Machine, limits: Limits) -> Answer {
    futures(machine, &Query::default(), &Budget::from(limits))
}

/// Threads with so many states that no search comes to its end, then what `main` does.
fn wide(main: &str) -> String {
    let arms: String = (0..9)
        .map(|arm| {
            format!("T{arm}: for (int j = 0; j < 40; j++) {{ lock(L); x = x * 3 + {arm}; y = y + x; unlock(L); }}\n")
        })
        .collect();
    format!("long x, y; lock L, M; cobegin {arms} coend {main}")
}

const FEW: Limits =
    Limits { max_states: Some(30_000), max_steps: None, max_executions: None, max_work: None, max_memory: None };

#[test]
fn a_failure_that_every_execution_has_is_found() {
    let machine = machine(&wide("print(x); assert(false);"));
    let answer = asked(&machine, FEW);
    assert_eq!(answer.bound, Some(Bound::States));
    let [failure] = &answer.failures[..] else { panic!("{} failures", answer.failures.len()) };
    assert_eq!(failure.failure.kind, FailureKind::Assert);
    let mut tables = Tables::new();
    let mut walk = Walk::new(&machine, &mut tables, &mut ());
    let end = walk.follow(&failure.schedule, &mut ()).unwrap();
    assert!(matches!(end, Progress::Failed(found) if found.at == failure.failure.at));
    // The reads behind all threads were seen, with executions that show them.
    assert!(answer.terms.iter().all(|term| term.schedule.is_some()));
    assert!(!answer.outcomes.is_empty() && answer.statistics.executions > 1);
}

#[test]
fn a_deadlock_that_every_execution_has_is_found() {
    let machine = machine(&wide("lock(M); lock(M);"));
    let answer = asked(&machine, FEW);
    let [deadlock] = &answer.deadlocks[..] else { panic!("{} deadlocks", answer.deadlocks.len()) };
    let mut tables = Tables::new();
    let mut walk = Walk::new(&machine, &mut tables, &mut ());
    walk.follow(&deadlock.schedule, &mut ()).unwrap();
    assert!(machine.is_deadlock(walk.state()));
}

#[test]
fn what_is_discarded_shows_nothing() {
    let machine = machine(&wide("print(x); assume(false); assert(false);"));
    let answer = asked(&machine, FEW);
    assert!(answer.failures.is_empty() && answer.outcomes.is_empty() && answer.terms.is_empty());
}

#[test]
fn samples_keep_to_the_bounds_of_the_user() {
    let machine = machine(&wide("assert(false);"));
    let steps = asked(&machine, Limits { max_steps: Some(50), ..FEW });
    assert!(steps.failures.is_empty() && steps.outcomes.is_empty());
    let one = asked(&machine, Limits { max_executions: Some(1), ..FEW });
    assert!(one.statistics.executions <= 2, "{}", one.statistics.executions);
}

#[test]
fn the_time_that_is_up_leaves_a_moment_for_them() {
    let machine = machine(&wide("assert(false);"));
    let budget = Budget::unlimited().with_timeout(std::time::Duration::ZERO);
    let answer = futures(&machine, &Query::default(), &budget);
    assert_eq!((answer.bound, answer.failures.len()), (Some(Bound::Timeout), 1));
}

#[test]
fn the_depth_first_search_shows_the_ends_of_what_it_meets() {
    // One order of 2^20 fails: the random ones do not find it, the first one that is gone back from does.
    let text = "int x; cobegin A: { for (int j = 0; j < 20; j++) x = x; x = 1; } B: { for (int k = 0; k < 20; k++) x = x; \
                if (x == 0) assert(false); } coend";
    let answer = asked(&machine(text), Limits { max_states: Some(300), ..FEW });
    assert_eq!((answer.bound, answer.failures.len()), (Some(Bound::States), 1));
}
