//! Compares with probabilities computed by hand, and with those of the random policy.

use super::*;
use crate::testing::{assert_close, compiled, late_assertion, samples, share};
use crate::{ExecutionStatus, run};

#[test]
fn the_length_of_what_comes_before_costs_little() {
    for fillers in [0, 2, 6, 14] {
        let (_, machine) = late_assertion(fillers);
        // The fillers and the read of one thread, all above the one priority of the other.
        let sampled = share(&machine, "assert", 4_000, Pos::new);
        assert_close(sampled, 1.0 / (fillers as f64 + 2.0), 4_000);
        let random = share(&machine, "assert", 4_000, Random::new);
        assert_close(random, 0.5f64.powi(fillers as i32 + 1), 4_000);
    }
}

#[test]
fn an_operation_that_has_lost_a_race_gets_a_new_priority() {
    // Its old one would be the middle one of three, with 1/6.
    let (_, machine) =
        compiled("int x; cobegin A: { x = 1; x = 2; } B: { int r = swap(x, 9); assert(r != 1); } coend").unwrap();
    assert_close(share(&machine, "assert", 4_000, Pos::new), 0.25, 4_000);
    // It keeps it where nothing races, and is the middle one of three.
    let (_, machine) = compiled("int x, y, z; cobegin A: { x = 1; y = 1; } B: z = 1; coend").unwrap();
    let is_between = |seed: &u64| {
        let steps = run(&machine, &mut Pos::new(*seed), 100, &mut ()).steps;
        steps[1..4].iter().map(|choice| choice.thread.0).eq([1, 2, 1])
    };
    assert_close((0..4_000).filter(is_between).count() as f64 / 4_000.0, 1.0 / 6.0, 4_000);
}

#[test]
fn a_thread_that_waits_in_a_loop_lets_others_go_on() {
    let text = "int s, t; cobegin A: while (s == 0) skip; B: while (t == 0) skip; C: { s = 1; t = 1; } coend";
    let (_, machine) = compiled(text).unwrap();
    for seed in 0..100 {
        let execution = run(&machine, &mut Pos::new(seed), 100_000, &mut ());
        assert_eq!(execution.status, ExecutionStatus::Ok, "seed {seed}");
    }
}

#[test]
fn equal_seeds_give_equal_executions_of_all_samples() {
    for (path, machine) in samples() {
        let [one, other] = [1, 1].map(|seed| run(&machine, &mut Pos::new(seed), 2_000, &mut ()));
        assert_eq!((one.status, one.steps), (other.status, other.steps), "{path:?}");
    }
}
