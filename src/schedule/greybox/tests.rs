//! Constraints that are certainly satisfied, constraints that cannot be, and a search.

use super::*;
use crate::testing::{accesses_to, compiled, late_assertion, share};
use crate::{ExecutionStatus, FirstHit, Pos, Random};
use cssame_budget::Budget;
use cssame_ir::{DefinitionId, Program, ReadId};
use cssame_vm::Machine;

/// Reads and definitions of a variable, in the order of the text; the first definition is the initial one.
fn of(program: &Program, name: &str) -> (Vec<ReadId>, Vec<DefinitionId>) {
    let is_named = |id: &DefinitionId| program.texts.get(program.definitions[*id].name) == name;
    let accesses = accesses_to(program, &[name]);
    let reads = program.reads.ids().filter(|&read| accesses.read(read)).collect();
    (reads, program.definitions.ids().filter(is_named).collect())
}

fn steered<P>(inner: P, constraints: &[(ReadId, DefinitionId, bool)], bound: u32) -> Steered<P> {
    let constraint = |&(read, definition, wanted): &_| Constraint { read, definition, wanted };
    let constraints: Vec<Constraint> = constraints.iter().map(constraint).collect();
    Steered::new(inner, &AbstractSchedule::new(&constraints), bound)
}

#[test]
fn a_read_sees_what_it_is_to_see() {
    let (program, machine) = late_assertion(40);
    let (reads, definitions) = of(&program, "x");
    let failures = |definition, wanted| {
        let constraints = [(reads[0], definition, wanted)];
        share(&machine, "assert", 200, |seed| steered(Random::new(seed), &constraints, 1_000))
    };
    let [initial, written] = definitions[..] else { panic!("{definitions:?}") };
    // By chance it would see the initial value once in 2^41 executions.
    assert_eq!(failures(initial, true), 1.0);
    assert_eq!(failures(initial, false), 0.0);
    assert_eq!(failures(written, true), 0.0);
    // Nobody holds the write back; behind it the read cannot see anything else.
    assert_eq!(failures(written, false), 0.0);
}

#[test]
fn a_write_that_is_wanted_is_not_written_over() {
    let writes: String = (1..10).map(|value| format!("x = {value}; ")).collect();
    let (program, machine) = compiled(&format!("int x; cobegin A: assert(x != 5); B: {{ {writes} }} coend")).unwrap();
    let (reads, definitions) = of(&program, "x");
    let fifth = |seed| steered(Pos::new(seed), &[(reads[0], definitions[5], true)], 1_000);
    assert_eq!(share(&machine, "assert", 200, fifth), 1.0);
    let others = |seed| steered(Pos::new(seed), &[(reads[0], definitions[5], false)], 1_000);
    assert_eq!(share(&machine, "assert", 200, others), 0.0);
}

#[test]
fn atomic_expressions_are_held_back_too() {
    let (program, machine) =
        compiled("int x; cobegin A: { int r = swap(x, 1); assert(r != 2); } B: { x = 2; x = 3; } coend").unwrap();
    let (reads, definitions) = of(&program, "x");
    let second = definitions.iter().copied().find(|&id| program.definitions[id].version == 2).unwrap();
    let policy = |seed| steered(Random::new(seed), &[(reads[0], second, true)], 1_000);
    assert_eq!(share(&machine, "assert", 200, policy), 1.0);
}

#[test]
fn wishes_that_cannot_be_satisfied_do_not_stop_an_execution() {
    // A read cannot see what its own thread writes behind it.
    let (program, machine) = compiled("int x; cobegin A: { int r = x; x = 1; } B: x = 2; coend").unwrap();
    let (reads, definitions) = of(&program, "x");
    for wanted in [true, false] {
        let constraints: Vec<_> = definitions.iter().map(|&definition| (reads[0], definition, wanted)).collect();
        assert_eq!(share(&machine, "ok", 100, |seed| steered(Random::new(seed), &constraints, 1_000)), 1.0);
    }
    // B is held back at its read of x, and A waits for it in a loop.
    let (program, machine) =
        compiled("int x, s; cobegin A: { while (s == 0) skip; x = 1; } B: { int r = x; s = 1; } coend").unwrap();
    let (reads, definitions) = of(&program, "x");
    let policy = |seed| steered(Random::new(seed), &[(reads[0], definitions[1], true)], 100);
    assert_eq!(share(&machine, "ok", 100, policy), 1.0);
}

/// A thread has to see each third value that another one writes.
const STAIRS: &str = "
int x;
cobegin
  A: { int a = x; int b = x; int c = x; int d = x; assert(!(a == 3 && b == 6 && c == 9 && d == 12)); }
  B: for (int k = 1; k < 13; k++) { if (k == 3) x = 3; else if (k == 6) x = 6; else if (k == 9) x = 9;
       else if (k == 12) x = 12; else x = k; }
coend
";

struct Fails;

impl Experiment for Fails {
    type Policy = Pos;
    type Observer = ();
    type Outcome = bool;

    fn begin(&self, seed: u64) -> (Pos, ()) {
        (Pos::new(seed), ())
    }

    fn outcome(&self, trial: &Trial<'_, Pos, ()>) -> bool {
        matches!(trial.status, ExecutionStatus::Failed(_))
    }
}

fn search(machine: &Machine, terms: &[Term], executions: u64, jobs: usize) -> (Vec<bool>, GreyboxEnd) {
    let budget = Budget::unlimited().with_jobs(jobs);
    let trials = Trials { machine, seeds: 7..7 + executions, max_steps: 1_000, budget: &budget };
    let mut outcomes = Vec::new();
    let end = Greybox { trials, terms, bound: 100 }.run(&Fails, |seed, outcome| {
        assert_eq!(seed, 7 + outcomes.len() as u64);
        outcomes.push(outcome);
        ControlFlow::Continue(())
    });
    (outcomes, end)
}

#[test]
fn a_search_learns_what_chance_does_not_find() {
    let (program, machine) = compiled(STAIRS).unwrap();
    let (reads, definitions) = of(&program, "x");
    let terms: Vec<Term> =
        reads.iter().flat_map(|&read| definitions.iter().map(move |&definition| (read, definition))).collect();
    for terms in [&terms[..], &[]] {
        let (outcomes, end) = search(&machine, terms, 4_000, 1);
        assert!(matches!(FirstHit::of(outcomes), FirstHit::At(_)), "{end:?}");
        assert!(end.end == TrialsEnd::Exhausted && end.terms > 4 && end.kept > 4, "{end:?}");
    }
    // By chance about four of 100,000.
    assert_eq!(share(&machine, "assert", 4_000, Random::new), 0.0);
}

#[test]
fn a_search_is_the_same_for_any_number_of_cores_and_of_executions() {
    let (_, machine) = compiled(STAIRS).unwrap();
    let (outcomes, end) = search(&machine, &[], 300, 1);
    assert_eq!(search(&machine, &[], 300, 2), (outcomes.clone(), end));
    assert_eq!(search(&machine, &[], 300, 5), (outcomes.clone(), end));
    assert_eq!(search(&machine, &[], 70, 2).0, outcomes[..70]);
}

#[test]
fn a_search_ends_when_its_caller_has_enough() {
    let (_, machine) = compiled(STAIRS).unwrap();
    let budget = Budget::unlimited();
    let trials = Trials { machine: &machine, seeds: 0..1_000, max_steps: 1_000, budget: &budget };
    let mut count = 0;
    let end = Greybox { trials, terms: &[], bound: 100 }.run(&Fails, |_, _| {
        count += 1;
        if count == 50 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!((end.end, count), (TrialsEnd::Enough, 50));
}

#[test]
fn there_is_one_constraint_on_a_pair() {
    let (read, definition) = (ReadId(3), DefinitionId(4));
    let [wanted, unwanted] = [true, false].map(|wanted| Constraint { read, definition, wanted });
    assert_eq!(AbstractSchedule::new(&[wanted, unwanted]).constraints(), [unwanted]);
    let terms: Vec<Term> = (0..40).map(|term| (ReadId(term / 4), DefinitionId(term))).collect();
    let (mut schedule, mut random) = (AbstractSchedule::default(), Random::new(5));
    let mut longest = 0;
    for _ in 0..10_000 {
        schedule = schedule.mutant(&terms, &mut random);
        let pairs: Vec<Term> = schedule.constraints().iter().map(|one| (one.read, one.definition)).collect();
        assert!(pairs.is_sorted_by(|one, other| one < other) && pairs.iter().all(|pair| terms.contains(pair)));
        longest = longest.max(pairs.len());
    }
    assert!(longest > 2 && longest <= AbstractSchedule::MAX, "{longest}");
    assert_eq!(AbstractSchedule::default().mutant(&[], &mut random), AbstractSchedule::default());
}
