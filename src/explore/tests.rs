//! Tests of the exploration: the facts of the papers, counts confirmed by other tools, limits.

use super::report::{FuturesReport, Schedules, report};
use super::*;
use crate::portfolio::{PartialAnswer, Portfolio, Retry, Searches, Symmetry};
use cssame_budget::{Bound, Budget, Limits, Statistics};
use cssame_form::Selection;
use cssame_ir::{DefinitionKind, Program};
use cssame_model::Unit;
use cssame_schedule::{Naming, Replay, SharedStep, Step, run, walk};
use cssame_source::SourceMap;
use cssame_vm::testing::unlocked_adds;
use cssame_vm::{Machine, Visibility};
use std::sync::atomic::{AtomicBool, Ordering};

struct Fixture {
    sources: SourceMap,
    program: Program,
    machine: Machine,
}

fn plain(steps: &[SharedStep]) -> Vec<Step> {
    steps.iter().cloned().map(SharedStep::into_step).collect()
}

impl Fixture {
    fn new(text: &str) -> Fixture {
        let Unit { sources, program, .. } = Unit::from_text("test.csm", text, &[]).unwrap();
        let machine = Machine::new(&program, &Visibility::all(&program));
        Fixture { sources, program, machine }
    }

    fn naming(&self) -> Naming<'_> {
        Naming { program: &self.program, sources: &self.sources, machine: &self.machine }
    }

    fn explore(&self, limits: &Limits) -> Answer {
        futures(&self.machine, &Query::default(), &Budget::from(*limits))
    }

    fn report(&self) -> FuturesReport {
        let report = report(&self.naming(), &self.explore(&Limits::default()), &[], None, Schedules::All);
        assert!(report.complete);
        report
    }

    fn count(&self) -> u64 {
        let answer = count(&self.machine, &Budget::unlimited());
        assert_eq!(answer.bound, None);
        answer.futures
    }

    /// The selection of the read and the definition that begin so (`a@3`).
    fn selection(&self, read: &str, definition: &str) -> Selection {
        let (program, sources) = (&self.program, &self.sources);
        let reads = program.reads.ids();
        let read =
            reads.into_iter().find(|&id| cssame_form::read_name(sources, program, id).starts_with(read)).unwrap();
        let mut definitions = program.definitions.ids();
        let definition =
            definitions.find(|&id| cssame_form::definition_name(sources, program, id).starts_with(definition)).unwrap();
        Selection::of(read, definition)
    }

    fn select(&self, selections: &[Selection]) -> Verdict {
        select(&self.machine, selections, &Budget::unlimited()).verdict
    }
}

/// The outcomes as `status: line|line`.
fn outcomes(report: &FuturesReport) -> Vec<String> {
    report.outcomes.iter().map(|outcome| format!("{}: {}", outcome.status, outcome.output.join("|"))).collect()
}

/// The terms of the reads whose name begins so, as the lines of their definitions.
fn terms<'a>(report: &'a FuturesReport, read: &str) -> Vec<&'a str> {
    let terms = report.terms.iter().filter(|term| term.read.starts_with(read) && term.feasible == Some(true));
    terms.map(|term| term.def).collect()
}

const FIGURE_2: &str = "\
int a = 0;
lock L;
cobegin
  T1: { lock(L); a = 1; a = 2; unlock(L); }
  T2: { lock(L); a = 3; unlock(L); }
  T3: { lock(L); print(a); unlock(L); }
coend
";

const FIGURE_5: &str = "\
int n = 1, result;
lock L;
cobegin
  T1: { lock(L); n = 0; unlock(L); }
  T2: { lock(L); n = 3; unlock(L); barrier(2); }
  T3: { barrier(2); lock(L); result = 21 / n; print(result); unlock(L); }
coend
";

const FIGURE_7: &str = "\
int a, b;
lock L;
cobegin
  T1: { lock(L); a = 1; b = 1; unlock(L); }
  T2: {
    int z = 0;
    lock(L); a = 2; b = 2; unlock(L);
    lock(L); int v = a; if (v == 1) z = b; print(v, z); unlock(L);
  }
coend
";

#[test]
fn figure_2_reads_the_last_write_of_a_mutex_body() {
    let fixture = Fixture::new(FIGURE_2);
    let report = fixture.report();
    assert_eq!(outcomes(&report), ["ok: 0", "ok: 2", "ok: 3"]);
    assert_eq!(terms(&report, "a@6"), ["a@initial", "a@4:25", "a@5:18"]);
    assert_eq!(fixture.count(), 3);
}

#[test]
fn figure_5_divides_by_zero_or_prints_seven() {
    let report = Fixture::new(FIGURE_5).report();
    assert_eq!(outcomes(&report), ["division-by-zero: ", "ok: 7"]);
    assert_eq!(terms(&report, "n@6"), ["n@4:18", "n@5:18"]);
    let failure = &report.failures[0];
    assert_eq!((failure.line, failure.thread.as_str()), (6, "T3"));
}

#[test]
fn figure_6_has_all_sixteen_combinations() {
    let arms: String = (1..=4).map(|arm| format!("  T{arm}: n{} += 1;\n", arm - 1)).collect();
    let text =
        format!("int n0, n1, n2, n3;\ncobegin\n{arms}  T5: {{ int sum = n0 + n1 + n2 + n3; print(sum); }}\ncoend\n");
    let fixture = Fixture::new(&text);
    assert_eq!(fixture.count(), 16);
    assert_eq!(outcomes(&fixture.report()), ["ok: 0", "ok: 1", "ok: 2", "ok: 3", "ok: 4"]);
}

#[test]
fn figure_7_never_mixes_the_two_sections() {
    let fixture = Fixture::new(FIGURE_7);
    assert_eq!(outcomes(&fixture.report()), ["ok: 1 1", "ok: 2 0"]);
    assert_eq!(fixture.count(), 2);
    let (a1, a2) = (fixture.selection("a@8", "a@4"), fixture.selection("a@8", "a@7"));
    let (b1, b2) = (fixture.selection("b@8", "b@4"), fixture.selection("b@8", "b@7"));
    assert!(
        matches!(fixture.select(&[a1.clone(), b1]), Verdict::Consistent { satisfied, .. } if satisfied == [true, true])
    );
    assert_eq!(fixture.select(&[a1, b2.clone()]), Verdict::Inconsistent { core: vec![1] });
    // `b` is not read when `a` is 2.
    assert!(matches!(fixture.select(&[a2, b2]), Verdict::Consistent { satisfied, .. } if satisfied == [true, false]));
}

#[test]
fn two_selections_can_contradict_each_other() {
    let fixture =
        Fixture::new("int x;\ncobegin\n T1: { x = 1; }\n T2: { int a = x;\n int b = x; print(a, b); }\ncoend\n");
    let (new, old) = (fixture.selection("x@4", "x@3"), fixture.selection("x@5", "x@initial"));
    assert_eq!(fixture.select(&[new, old.clone()]), Verdict::Inconsistent { core: vec![0, 1] });
    assert!(matches!(fixture.select(&[old]), Verdict::Consistent { .. }));
}

#[test]
fn an_instance_of_a_read_can_be_selected() {
    let fixture = Fixture::new("int x;\ncobegin\n T1: x = 1;\n T2: for (int i = 0; i < 3; i++)\n print(x);\ncoend\n");
    let read = fixture.selection("x@5", "x@3");
    let initial = fixture.selection("x@5", "x@initial");
    let second = read.clone().at(2);
    let third = initial.at(3);
    assert!(matches!(fixture.select(std::slice::from_ref(&second)), Verdict::Consistent { .. }));
    assert_eq!(fixture.select(&[second, third]), Verdict::Inconsistent { core: vec![0, 1] });
}

#[test]
fn futures_are_counted_as_peers_count_them() {
    let program = unlocked_adds(3);
    let machine = Machine::new(&program, &Visibility::all(&program));
    assert_eq!(count(&machine, &Budget::unlimited()).futures, 192);
    let locked = "{ for (int k = 0; k < 3; k++) { lock(L); x += 1; unlock(L); } }";
    assert_eq!(Fixture::new(&format!("int x; lock L; cobegin A: {locked} B: {locked} coend print(x);")).count(), 20);
    let last = "int x; cobegin A: x = 1; B: x = 2; C: x = 3; D: x = 4; coend print(x);";
    assert_eq!(Fixture::new(last).count(), 4);
    let readers = "int x; cobegin W: x = 1; A: print(x); B: print(x); C: print(x); coend";
    assert_eq!(Fixture::new(readers).count(), 8);
}

#[test]
fn every_schedule_replays_to_what_it_claims() {
    for text in [FIGURE_2, FIGURE_5, FIGURE_7] {
        let fixture = Fixture::new(text);
        let report = fixture.report();
        for outcome in &report.outcomes {
            let steps = plain(outcome.schedule.as_ref().unwrap());
            let mut replay = Replay::new(fixture.naming(), &steps);
            let execution = run(&fixture.machine, &mut replay, u64::MAX, &mut ());
            assert_eq!(execution.status.word(), outcome.status);
            assert_eq!(execution.lines(&fixture.machine), outcome.output);
        }
        for term in report.terms.iter() {
            let schedule = term.schedule.unwrap();
            let steps = plain(schedule);
            let mut replay = Replay::new(fixture.naming(), &steps);
            let execution = run(&fixture.machine, &mut replay, u64::MAX, &mut ());
            // The schedule is that of a whole execution, and this one can end well.
            assert!(matches!(execution.status.word(), "ok" | "division-by-zero"), "{}", execution.status.word());
            let step = &schedule[term.step.unwrap() - 1];
            let name = format!("{}@{}", step.op.trim_start_matches("read "), step.at);
            assert_eq!(name, term.read);
        }
    }
}

#[test]
fn a_deadlock_says_who_waits_for_whom() {
    let fixture = Fixture::new(
        "lock A, B;\ncobegin\n T1: { lock(A); lock(B); unlock(B); unlock(A); }\n T2: { lock(B); lock(A); unlock(A); unlock(B); }\ncoend\n",
    );
    let report = fixture.report();
    assert_eq!(outcomes(&report), ["ok: ", "deadlock: "]);
    let [deadlock] = &report.deadlocks[..] else { panic!("{:?}", report.deadlocks) };
    let waits: Vec<_> = deadlock
        .threads
        .iter()
        .map(|blocked| (blocked.thread.as_str(), blocked.object.as_deref(), blocked.holder.as_deref()))
        .collect();
    assert_eq!(waits, [("main", None, None), ("T1", Some("B"), Some("T2")), ("T2", Some("A"), Some("T1"))]);
    assert_eq!(deadlock.threads[1].taken_at.as_deref(), Some("4:8"));
    assert_eq!(deadlock.threads[0].threads, ["T1", "T2"]);
}

#[test]
fn what_an_assumption_discards_is_not_seen() {
    let fixture = Fixture::new(
        "int x;\ncobegin\n T1: x = 1;\n T2: x = 2;\n T3: { int a = x; assume(a != 2); print(a); }\ncoend\n",
    );
    let report = fixture.report();
    assert_eq!(outcomes(&report), ["ok: 0", "ok: 1"]);
    assert_eq!(terms(&report, "x@5"), ["x@initial", "x@3:6"]);
    assert_eq!(fixture.count(), 2);
}

#[test]
fn a_read_that_runs_into_an_assumption_later_is_not_seen() {
    let fixture = Fixture::new(
        "int x, y;\ncobegin\n T1: { x = 1; y = 1; }\n T2: { int a = x; int b = y; assume(a == b); print(a); }\ncoend\n",
    );
    let report = fixture.report();
    // Old `x` and new `y` do not agree, nor does the other way.
    assert_eq!(outcomes(&report), ["ok: 0", "ok: 1"]);
    assert_eq!(terms(&report, "y@4"), ["y@initial", "y@3:15"]);
}

#[test]
fn a_loop_without_end_has_finitely_many_states() {
    let fixture =
        Fixture::new("int x;\nvoid work() { x = 1 - x; }\nwhile (true) { cobegin T1: work(); T2: work(); coend }\n");
    let answer = fixture.explore(&Limits::default());
    assert!(answer.is_complete());
    assert!(answer.outcomes.is_empty());
    assert_eq!(terms(&report(&fixture.naming(), &answer, &[], None, Schedules::All), "x@2"), ["x@initial", "x@2:15"]);
}

#[test]
fn bounds_are_told_and_nothing_is_claimed_beyond_them() {
    let fixture = Fixture::new(FIGURE_7);
    let b1 = fixture.selection("b@8", "b@4");
    for (budget, bound) in [
        (Budget::from(Limits { max_states: Some(1), ..Limits::default() }), Bound::States),
        (Budget::from(Limits { max_steps: Some(3), ..Limits::default() }), Bound::Steps),
        (Budget::from(Limits { max_executions: Some(0), ..Limits::default() }), Bound::Executions),
        (Budget::unlimited().with_timeout(std::time::Duration::ZERO), Bound::Timeout),
        (Budget::unlimited().with_interrupt(&AtomicBool::new(true)), Bound::Interrupt),
    ] {
        let answer = futures(&fixture.machine, &Query::default(), &budget);
        assert_eq!(answer.bound, Some(bound));
        // Single executions may have shown it.
        assert_ne!(answer.is_feasible(b1.read(), b1.definition()), Some(false));
        let verdict = select(&fixture.machine, std::slice::from_ref(&b1), &budget).verdict;
        assert_eq!(verdict, Verdict::Undecided);
    }
}

#[test]
fn bounds_that_are_wide_enough_change_nothing() {
    let fixture = Fixture::new(FIGURE_7);
    let free = fixture.explore(&Limits::default());
    let depth = free.statistics.depth;
    let limits = Limits { max_steps: Some(depth), max_states: Some(free.statistics.states), ..Limits::default() };
    let bounded = fixture.explore(&limits);
    assert!(bounded.is_complete());
    assert_eq!(bounded.terms, free.terms);
    assert_eq!(bounded.outcomes, free.outcomes);
}

#[test]
fn a_term_is_completed_also_behind_a_bound() {
    let fixture = Fixture::new(FIGURE_2);
    let answer = fixture.explore(&Limits { max_steps: Some(5), ..Limits::default() });
    assert!(!answer.is_complete());
    assert!(!answer.terms.is_empty());
    for term in &answer.terms {
        let steps = fixture.naming().steps(term.schedule.as_ref().unwrap());
        let execution = run(&fixture.machine, &mut Replay::new(fixture.naming(), &steps), u64::MAX, &mut ());
        assert_eq!(execution.status.word(), "ok");
    }
}

#[test]
fn reads_of_private_memory_count_as_well() {
    let fixture = Fixture::new("int x = 1;\nprint(x);\nx = 2;\nprint(x);\n");
    let machine = Machine::new(&fixture.program, &Visibility::none(&fixture.program));
    let answer = futures(&machine, &Query::default(), &Budget::unlimited());
    assert_eq!(answer.terms.len(), 2);
    let initial =
        |term: &&Term| matches!(fixture.program.definitions[term.definition].kind, DefinitionKind::Initial(_));
    assert_eq!(answer.terms.iter().filter(initial).count(), 1);
}

/// Where neither means comes to its end, what executions have shown is kept.
#[test]
fn a_bound_leaves_what_executions_have_shown() {
    let readers: String = (0..24).map(|index| format!("  R{index}: {{ int r = x; print(r); }}\n")).collect();
    let fixture = Fixture::new(&format!("int x;\ncobegin\n  W: x = 1;\n{readers}coend\nprint(x);\n"));
    let answer = fixture.explore(&Limits { max_states: Some(300), ..Limits::default() });
    assert_eq!(answer.bound, Some(Bound::States));
    let alone = by_states(
        &fixture.machine,
        &Query::default(),
        &Budget::from(Limits { max_states: Some(300), ..Limits::default() }),
    );
    assert!(alone.outcomes.is_empty());
    let memory = Limits { max_memory: Some(20_000), ..Limits::default() };
    let few = by_executions(&fixture.machine, &Query::default(), &Budget::from(memory)).unwrap();
    assert_eq!(few.bound, Some(Bound::Memory));
    assert!(answer.terms.len() > alone.terms.len() && answer.outcomes.len() > 100);
    assert!(answer.undecided.is_empty() && answer.statistics.executions > 100);
    // Where outcomes are many, those found last have no schedule.
    let shown: Vec<_> =
        answer.outcomes.iter().filter_map(|outcome| Some((outcome, outcome.schedule.as_ref()?))).collect();
    assert!(shown.len() > 100);
    for (outcome, schedule) in shown.into_iter().step_by(50) {
        let mut tables = cssame_vm::Tables::new();
        let state = walk(&fixture.machine, &mut tables, schedule, &mut ()).unwrap().into_state();
        let lines = |tables: &cssame_vm::Tables, outputs: &[(cssame_vm::PathId, cssame_vm::OutputId)]| -> Vec<String> {
            outputs.iter().flat_map(|&(_, output)| tables.lines(output)).map(str::to_owned).collect()
        };
        let printed = lines(&tables, &fixture.machine.outputs(&state, &tables));
        assert_eq!(printed.len(), 25);
        assert_eq!(printed, lines(&answer.tables, &outcome.outputs));
    }
}

#[test]
fn the_schedules_of_very_many_terms_are_bounded() {
    let writes: String = (0..120).map(|value| format!("x = {value};\n")).collect();
    let reads = "seen = x;\n".repeat(120);
    let fixture =
        Fixture::new(&format!("int x;\ncobegin\n W: {{\n{writes}}}\n R: {{ int seen = 0;\n{reads}}}\ncoend\n"));
    let answer = fixture.explore(&Limits::default());
    assert!(answer.is_complete());
    assert_eq!(answer.terms.len(), 120 * 121);
    let shown: usize = answer.terms.iter().filter_map(|term| term.schedule.as_ref()).map(Vec::len).sum();
    assert!((MAX_TERM_STEPS..MAX_TERM_STEPS + 1_000).contains(&shown), "{shown}");
    assert!(answer.terms.iter().any(|term| term.schedule.is_none()));
}

/// An answer that says how far it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Far {
    bound: Option<Bound>,
    visited: Statistics,
}

impl PartialAnswer for Far {
    fn bound(&mut self) -> &mut Option<Bound> {
        &mut self.bound
    }

    fn visited(&self) -> &Statistics {
        &self.visited
    }

    fn merge(self, other: Far) -> Far {
        Far { visited: Statistics { executions: other.visited.states, ..self.visited }, ..self }
    }
}

/// Lets means take turns of which none comes to its end, until the third is interrupted, or the executions are.
fn interrupted(by_executions: bool) -> Far {
    let fixture = Fixture::new("int x; cobegin A: x = 1; B: x = 2; coend");
    let flag = AtomicBool::new(false);
    let budget = Budget::unlimited().with_interrupt(&flag);
    let is_up = || flag.load(Ordering::Relaxed);
    let far = |share: u64, bound| Far {
        bound: Some(if is_up() { Bound::Interrupt } else { bound }),
        visited: Statistics { states: if is_up() { 0 } else { share }, ..Statistics::default() },
    };
    let mut turns = 0;
    Portfolio::new(&fixture.machine, &budget, Symmetry::Ignored).run(Searches {
        by_states: &mut |share| far(share.limits().max_states.unwrap(), Bound::States),
        by_executions: &mut |share| {
            turns += 1;
            let answer = far(share.limits().max_work.unwrap(), Bound::Executions);
            flag.fetch_or(by_executions && turns == 2, Ordering::Relaxed);
            Ok(answer)
        },
        by_slices: &mut |share| {
            flag.fetch_or(!by_executions && share.limits().max_states > Some(50_000), Ordering::Relaxed);
            Err(Retry::WithMore)
        },
        samples: &mut |_| {},
    })
}

#[test]
fn what_was_found_before_an_interrupt_is_kept() {
    for by_executions in [false, true] {
        let found = interrupted(by_executions);
        assert_eq!(found.bound, Some(Bound::Interrupt));
        let Statistics { states, executions, .. } = found.visited;
        assert_eq!((states > 0, executions > 0), (true, true), "{found:?}");
    }
}

/// Prints one line more in each round, and may end after each: as many outcomes as rounds, each as long as its number.
const ENDLESS: &str = "while (choose(-1, 1) == 1) print(1);\n";

#[test]
fn outcomes_without_end_are_bounded_and_what_was_found_is_given() {
    let fixture = Fixture::new(ENDLESS);
    let answer = fixture.explore(&Limits { max_states: Some(8_000), ..Limits::default() });
    assert_eq!(answer.bound, Some(Bound::States));
    let lines = answer.outcomes.iter().flat_map(|outcome| &outcome.outputs);
    let lines: usize = lines.map(|&(_, output)| answer.tables.lines(output).len()).sum();
    let steps: usize = answer.outcomes.iter().filter_map(|outcome| outcome.schedule.as_ref()).map(Vec::len).sum();
    assert!((1_000_000..1_002_000).contains(&lines), "{lines}");
    assert!((1_500_000..2_004_000).contains(&steps), "{steps}");
}

#[test]
fn the_memory_of_outcomes_counts() {
    let fixture = Fixture::new(ENDLESS);
    let visited = |max_memory| {
        let answer = by_states(
            &fixture.machine,
            &Query::default(),
            &Budget::from(Limits { max_memory: Some(max_memory), max_states: Some(1 << 20), ..Limits::default() }),
        );
        assert_eq!(answer.bound, Some(Bound::Memory));
        assert!(!answer.outcomes.is_empty());
        answer.statistics.states
    };
    // Four times the memory is good for four times the states, give or take a list that doubles.
    let (few, many) = (visited(4 << 20), visited(16 << 20));
    assert!(2 * few <= many && many <= 8 * few, "{few}, {many}");
    // A node, its edges, its fingerprint, its output and its outcome.
    assert!(few < (4 << 20) / 64, "{few}");
}
