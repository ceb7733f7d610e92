//! Tests of long steps: they end, and bounds hold within them and between them.

use super::reads_from;
use super::states::{self, EndContext, Transition, Visitor};
use super::{Answer, OutcomeStatus, Query, count_by_states, futures};
use cssame_budget::{Bound, Budget, Limits};
use cssame_form::analyse;
use cssame_model::Unit;
use cssame_vm::{FailureKind, Machine, Visibility};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

fn machine(text: &str) -> Machine {
    let Unit { program, .. } = Unit::from_text("test.csm", text, &[]).unwrap();
    let form = analyse(&program).unwrap();
    let sharing = &form.concurrency.sharing;
    Machine::new(&program, &Visibility { reads: sharing.reads.clone(), definitions: sharing.definitions.clone() })
}

fn statuses(answer: &Answer) -> BTreeSet<OutcomeStatus> {
    assert_eq!(answer.bound, None);
    answer.outcomes.iter().map(|outcome| outcome.status).collect()
}

#[test]
fn a_block_that_waits_for_another_thread_comes_to_the_limit_of_a_step() {
    let machine = machine("int x; cobegin T1: atomic { while (x == 0) { } } T2: x = 1; coend");
    let answer = futures(&machine, &Query::default(), &Budget::unlimited());
    let expected = BTreeSet::from([OutcomeStatus::Ok, OutcomeStatus::Failed(FailureKind::StepLimit)]);
    assert_eq!(statuses(&answer), expected);
    assert_eq!(count_by_states(&machine, &Budget::unlimited()).bound, None);
}

#[test]
fn a_long_loop_in_a_block_has_an_end() {
    let text = "int x; cobegin T1: atomic { while (x < 50000) x = x + 1; } T2: print(x); coend";
    let answer = futures(&machine(text), &Query::default(), &Budget::unlimited());
    assert_eq!(statuses(&answer), BTreeSet::from([OutcomeStatus::Ok]));
    assert_eq!(answer.outcomes.len(), 2);
}

/// Threads that write a shared variable, with about 500,000 instructions between two writes.
fn long_steps(threads: usize) -> Machine {
    let arms: String = (0..threads)
        .map(|arm| format!("T{arm}: for (int j = 0; j < 30; j++) {{ int k = 0; while (k < 100000) k++; x = j; }}\n"))
        .collect();
    machine(&format!("int x; cobegin {arms} coend print(x);"))
}

/// Sets a flag behind the tenth step, and counts those that come after.
struct Stopper<'a> {
    flag: &'a AtomicBool,
    steps: u32,
}

impl Visitor<()> for Stopper<'_> {
    fn transition(&mut self, _: &Transition, _: &[()]) {
        self.steps += 1;
        self.flag.store(self.steps >= 10, Ordering::Relaxed);
    }

    fn end(&mut self, _: &EndContext<'_, ()>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

#[test]
fn a_search_through_states_looks_at_the_clock_by_the_work_that_it_does() {
    let (machine, flag) = (long_steps(3), AtomicBool::new(false));
    let mut stopper = Stopper { flag: &flag, steps: 0 };
    let searched = states::search(&machine, &Budget::unlimited().with_interrupt(&flag), (), &mut stopper);
    assert_eq!(searched.bound, Some(Bound::Interrupt));
    assert!((10..20).contains(&searched.statistics.steps), "{:?}", searched.statistics);
}

#[test]
fn executions_look_at_the_clock_by_the_work_that_they_are() {
    let (machine, flag) = (long_steps(2), AtomicBool::new(false));
    let limits = Limits { max_executions: Some(10), ..Limits::default() };
    let budget = Budget::from(limits).with_interrupt(&flag);
    let mut steps = 0;
    let found = reads_from::enumerate(&machine, &budget, &mut |execution| {
        steps += execution.choices().len() as u64;
        flag.store(true, Ordering::Relaxed);
        ControlFlow::Continue(())
    })
    .unwrap();
    assert_eq!((found.bound, found.futures), (Some(Bound::Interrupt), 1));
    assert!(found.statistics.steps < steps + 10, "{:?} behind {steps} steps", found.statistics);
}
