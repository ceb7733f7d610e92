//! Plans as plain data: what holds of the events of all of them.

use super::fixture::{Fixture, fixture_with, has_main, root, sample};
use cssame::driver::{Act, Datum, Expect, Operation, Plan, PlannedEvent, Source, plan};
use cssame::model;
use cssame::schedule::{Random, run};
use cssame::vm::Semantics;
use std::collections::BTreeMap;
use std::fs;

/// Steps of an execution at most.
const MAX_STEPS: u64 = 10_000;

/// The plan of an execution at random; none where it does not come to an end.
fn planned(fixture: &Fixture, seed: u64) -> Option<Plan> {
    let execution = run(fixture.model.machine(), &mut Random::new(seed), MAX_STEPS, &mut ());
    plan(&fixture.input(), &execution.steps, MAX_STEPS).ok()
}

/// All events in their total order, each with the number of its thread.
fn in_order(plan: &Plan) -> Vec<(usize, &PlannedEvent)> {
    let threads = plan.threads.iter().enumerate();
    let by_latch: BTreeMap<usize, (usize, &PlannedEvent)> = threads
        .flat_map(|(number, thread)| thread.events.iter().map(move |event| (event.latch, (number, event))))
        .collect();
    assert!(by_latch.keys().copied().eq(0..by_latch.len()), "latches are numbered without a gap");
    by_latch.into_values().collect()
}

/// Holds the events of a plan to each other; gives how many threads are notified, and how many wake up for no reason.
fn check(plan: &Plan) -> (usize, usize) {
    let events = in_order(plan);
    let (mut woken, mut spurious) = (0, 0);
    let mut notified: Vec<usize> = Vec::new();
    for (place, (thread, event)) in events.iter().enumerate() {
        assert!(event.after.iter().all(|&latch| latch < place), "{event:?}");
        let is_access = matches!(event.act, Act::Read(..) | Act::Write(_));
        assert!(is_access || !event.shared, "{event:?}");
        assert!(event.wakes.is_empty() || event.act == Act::Plain(Operation::Notify), "{event:?}");
        assert!(!event.spurious || event.act == Act::Plain(Operation::Woken), "{event:?}");
        match &event.act {
            Act::Read(Source::Latch(latch), value) => {
                assert_eq!(events[*latch].1.act, Act::Write(value.clone()), "{event:?}");
            }
            Act::Read(Source::Initial(initial), value) => assert_eq!(initial, value, "{event:?}"),
            Act::Plain(Operation::Notify) => {
                assert!(notified.is_empty());
                notified.extend(&event.wakes);
                woken += event.wakes.len();
            }
            Act::Plain(Operation::Woken) if event.spurious => spurious += 1,
            // Those that a notification wakes follow it directly.
            Act::Plain(Operation::Woken) => assert_eq!(notified.remove(0), *thread, "{event:?}"),
            _ => assert!(notified.is_empty(), "{event:?}"),
        }
    }
    (woken, spurious)
}

#[test]
fn the_events_of_a_plan_agree() {
    let entries = fs::read_dir(root().join("samples")).unwrap().map(|entry| entry.unwrap().path());
    let mut names: Vec<String> = entries
        .filter(|path| path.extension().is_some_and(|ending| ending == "csm"))
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .filter(|name| has_main(name))
        .collect();
    names.sort();
    let mut woken = 0;
    for name in names {
        let fixture = sample(&name, Expect::Program);
        let plans = (0..5).filter_map(|seed| planned(&fixture, seed));
        woken += plans.map(|plan| check(&plan).0).sum::<usize>();
    }
    assert!(woken > 0);
}

/// Two threads wait; one is notified, the other one may wake up for no reason.
const WAITERS: &str = "\
lock L;
cond c;
double rate = 0.5;
void main() {
  cobegin
    A: { lock(L); wait(c, L); unlock(L); }
    B: { lock(L); wait(c, L); print(rate); unlock(L); }
    C: { lock(L); rate = -0.0; notify(c); notifyAll(c); unlock(L); }
  coend
}
";

#[test]
fn notifications_name_the_threads_that_they_wake() {
    let semantics = Semantics { spurious_wakeups: true, ..Semantics::default() };
    let of_model = model::Options { semantics, ..model::Options::default() };
    let fixture = fixture_with("waiters.csm", WAITERS, Expect::Program, &of_model);
    let mut seen = Vec::new();
    let (mut all, mut without_reason) = (0, 0);
    for seed in 0..100 {
        let Some(plan) = planned(&fixture, seed) else { continue };
        let (woken, spurious) = check(&plan);
        all += woken;
        without_reason += spurious;
        for (_, event) in in_order(&plan) {
            if let Act::Plain(Operation::Notify) = event.act {
                seen.push(event.wakes.len());
            }
            if let Act::Write(value) = &event.act {
                assert_eq!((value, event.shared), (&Datum::Double(-0.0), true));
                assert_ne!(*value, Datum::Double(0.0));
            }
        }
    }
    assert!(all > 0 && without_reason > 0);
    assert!([0, 1].iter().all(|count| seen.contains(count)), "{seen:?}");
}
