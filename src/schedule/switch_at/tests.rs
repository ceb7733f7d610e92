//! Figure 2 of Sen (2008) under several granularities, with probabilities computed by hand; waiting loops.

use super::*;
use crate::testing::{accesses_to, assert_close, compiled, share};
use crate::{Pct, Pos, Random};
use cssame_ir::Program;
use cssame_vm::Machine;

fn figure(fillers: usize) -> (Program, Machine) {
    let work: String = (0..fillers).map(|filler| format!("f[{filler}] = 1; ")).collect();
    compiled(&format!(
        "int x, g; int f[{fillers}]; lock L;
         cobegin
           T1: {{ lock(L); {work}unlock(L); if (x == 0) error(\"ERROR\"); }}
           T2: {{ x = 1; lock(L); g = 1; unlock(L); }}
         coend"
    ))
    .unwrap()
}

#[test]
fn what_lies_between_places_to_switch_costs_nothing() {
    for fillers in [1, 5, 40] {
        let (program, machine) = figure(fillers);
        // T1 has to be chosen before its lock and before its unlock ...
        let none = Visibility::none(&program);
        let at_locks = share(&machine, "error", 4_000, |seed| SwitchAt::new(Random::new(seed), &none, SwitchAt::BOUND));
        assert_close(at_locks, 0.25, 4_000);
        // ... and before its read.
        let pair = accesses_to(&program, &["x"]);
        let at_pair = share(&machine, "error", 4_000, |seed| SwitchAt::new(Random::new(seed), &pair, SwitchAt::BOUND));
        assert_close(at_pair, 0.125, 4_000);
        // And before each filler, where all are places to switch.
        let all = Visibility::all(&program);
        let everywhere =
            share(&machine, "error", 4_000, |seed| SwitchAt::new(Random::new(seed), &all, SwitchAt::BOUND));
        assert_close(everywhere, 0.5f64.powi(fillers as i32 + 3), 4_000);
        let random = share(&machine, "error", 4_000, Random::new);
        assert_close(random, 0.5f64.powi(fillers as i32 + 3), 4_000);
    }
}

#[test]
fn without_synchronisation_no_update_is_lost() {
    let (program, machine) = compiled("int x; cobegin A: x = x + 1; B: x = x + 1; coend assert(x == 2);").unwrap();
    let none = Visibility::none(&program);
    assert_eq!(share(&machine, "assert", 500, |seed| SwitchAt::new(Random::new(seed), &none, SwitchAt::BOUND)), 0.0);
    let all = accesses_to(&program, &["x"]);
    assert!(share(&machine, "assert", 500, |seed| SwitchAt::new(Random::new(seed), &all, SwitchAt::BOUND)) > 0.1);
    // A bound of one step in a row lets the other thread in behind the read.
    assert!(share(&machine, "assert", 500, |seed| SwitchAt::new(Random::new(seed), &none, 0)) > 0.1);
}

#[test]
fn a_thread_that_waits_in_a_loop_yields() {
    let text = "int s, t; cobegin A: while (s == 0) skip; B: { while (t == 0) skip; s = 1; } C: { t = 1; } coend";
    let (program, machine) = compiled(text).unwrap();
    let none = Visibility::none(&program);
    assert_eq!(share(&machine, "ok", 200, |seed| SwitchAt::new(Random::new(seed), &none, 10)), 1.0);
    assert_eq!(share(&machine, "ok", 200, |seed| SwitchAt::new(Pos::new(seed), &none, 10)), 1.0);
    assert_eq!(share(&machine, "ok", 200, |seed| SwitchAt::new(Pct::new(2, 50, seed), &none, 10)), 1.0);
}

#[test]
fn alternatives_are_drawn_within_a_run_too() {
    let (program, machine) = compiled("int x; x = choose(1, 4); assert(x != 3);").unwrap();
    let none = Visibility::none(&program);
    let third = share(&machine, "assert", 4_000, |seed| SwitchAt::new(Random::new(seed), &none, 10));
    assert_close(third, 0.25, 4_000);
}

#[test]
fn the_operation_behind_a_print_may_be_synchronisation() {
    // B's print is done together with its lock: there has to be a choice before the print.
    let (one, other) = ("lock(L); x = 1; unlock(L);", "int r = y; print(r); lock(L); assert(x == 1); unlock(L);");
    let (program, machine) =
        compiled(&format!("int x, y; lock L; cobegin A: {{ {one} }} B: {{ {other} }} coend")).unwrap();
    let none = Visibility::none(&program);
    let policy = |seed| SwitchAt::new(Random::new(seed), &none, SwitchAt::BOUND);
    let failed = share(&machine, "assert", 2_000, policy);
    assert!(failed > 0.05 && failed < 0.95, "{failed}");
}
