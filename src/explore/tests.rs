//! Tests of the exploration on programs that are built by hand.

use super::*;
use crate::ir::*;
use crate::vm::testing::{ProgramBuilder, unlocked_adds};
use crate::vm::{Machine, Visibility};
use std::ops::ControlFlow;

fn machine(program: &Program) -> Machine {
    Machine::new(program, &Visibility::all(program))
}

fn explore(program: &Program) -> Answer {
    futures(&machine(program), &Query::default(), &Limits::default(), &mut |_| ControlFlow::Continue(()))
}

fn count_of(program: &Program) -> u64 {
    let answer = count(&machine(program), &Limits::default(), &mut |_| ControlFlow::Continue(()));
    assert_eq!(answer.bound, None);
    answer.futures
}

/// The lines and the status of every outcome.
fn outcomes(answer: &Answer) -> Vec<(Vec<&str>, &'static str)> {
    let lines = |outcome: &Outcome| {
        outcome.outputs.iter().flat_map(|&(_, output)| answer.tables.lines(output)).collect()
    };
    answer.outcomes.iter().map(|outcome| (lines(outcome), outcome.status.word())).collect()
}

#[test]
fn unlocked_adds_lose_updates() {
    let answer = explore(&unlocked_adds(2));
    assert!(answer.is_complete());
    assert_eq!(outcomes(&answer), [(vec!["2"], "ok"), (vec!["3"], "ok"), (vec!["4"], "ok")]);
}

#[test]
fn futures_are_counted_as_peers_count_them() {
    assert_eq!(count_of(&unlocked_adds(3)), 192);
}
