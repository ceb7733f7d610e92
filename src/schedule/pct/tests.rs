//! Probabilities computed by hand, and threads that wait in loops.

use super::*;
use crate::testing::{assert_close, compiled, share};
use crate::{ExecutionStatus, run};
use std::collections::BTreeMap;

const ADDS: &str = "int x; cobegin A: x = x + 1; B: x = x + 1; coend assert(x == 2);";

#[test]
fn with_depth_one_all_orders_of_threads_are_equally_likely() {
    let text = "int x; cobegin A: x = 10 * x + 1; B: x = 10 * x + 2; C: x = 10 * x + 3; coend print(x);";
    let (_, machine) = compiled(text).unwrap();
    let mut orders: BTreeMap<String, u32> = BTreeMap::new();
    for seed in 0..6_000 {
        let execution = run(&machine, &mut Pct::new(1, 100, seed), 1_000, &mut ());
        *orders.entry(execution.lines(&machine).join(" ")).or_default() += 1;
    }
    assert_eq!(orders.keys().collect::<Vec<_>>(), ["123", "132", "213", "231", "312", "321"]);
    for &count in orders.values() {
        assert_close(f64::from(count) / 6_000.0, 1.0 / 6.0, 6_000);
    }
}

#[test]
fn a_lost_update_takes_the_one_change_point_behind_the_first_read() {
    let (_, machine) = compiled(ADDS).unwrap();
    // Steps: the fork, a read, a write, a read, a write, the join, the last read. The change has to come at the second
    // one.
    for steps in [2, 7, 20] {
        let lost = share(&machine, "assert", 4_000, |seed| Pct::new(2, steps, seed));
        assert_close(lost, 1.0 / f64::from(steps), 4_000);
    }
    assert_eq!(share(&machine, "assert", 500, |seed| Pct::new(1, 7, seed)), 0.0);
    // Of two change points at least one has to be the second step.
    let lost = share(&machine, "assert", 4_000, |seed| Pct::new(3, 7, seed));
    assert_close(lost, 1.0 - (6.0f64 / 7.0).powi(2), 4_000);
}

#[test]
fn each_constraint_on_the_order_takes_a_change_point() {
    // B goes first, A has to come behind its write: at least 1 / (3 threads * 9 steps).
    let (_, machine) = compiled("int x; cobegin A: x = 1; B: { x = 3; assert(x != 1); } coend").unwrap();
    assert_close(share(&machine, "assert", 4_000, |seed| Pct::new(2, 9, seed)), 1.0 / (2.0 * 9.0), 4_000);
    // And B behind the first write of A: the two changes come in this order.
    let (_, machine) = compiled("int x; cobegin A: { x = 1; x = 2; } B: { x = 3; assert(x != 1); } coend").unwrap();
    assert_close(share(&machine, "assert", 8_000, |seed| Pct::new(3, 5, seed)), 1.0 / (2.0 * 25.0), 8_000);
    assert_eq!(share(&machine, "assert", 500, |seed| Pct::new(2, 5, seed)), 0.0);
}

#[test]
fn a_thread_that_waits_in_a_loop_lets_others_go_on() {
    let text = "int s; cobegin A: while (s == 0) skip; B: while (s == 0) skip; C: s = 1; coend";
    let (_, machine) = compiled(text).unwrap();
    for seed in 0..100 {
        let execution = run(&machine, &mut Pct::new(3, 10, seed), 100, &mut ());
        assert_eq!(execution.status, ExecutionStatus::Ok, "seed {seed}");
    }
}

#[test]
fn no_execution_within_the_bound_is_changed_by_it() {
    let (_, machine) = compiled(ADDS).unwrap();
    for seed in 0..200 {
        // The lowest bound that none of these executions exceeds, and a depth without change points.
        let [short, long] = [7, 1_000].map(|steps| run(&machine, &mut Pct::new(1, steps, seed), 100, &mut ()).steps);
        assert_eq!(short, long, "seed {seed}");
    }
}

#[test]
fn parameters_that_make_no_sense_count_as_the_nearest_that_do() {
    let (_, machine) = compiled(ADDS).unwrap();
    for (depth, steps) in [(0, 0), (u32::MAX, 1), (u32::MAX, u32::MAX)] {
        let execution = run(&machine, &mut Pct::new(depth, steps, 1), 1_000, &mut ());
        assert_ne!(execution.status, ExecutionStatus::StepLimit, "{depth}, {steps}");
    }
}
