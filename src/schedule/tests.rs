//! Tests of policies, schedules and traces on programs from source text.

use super::*;
use cssame_budget::{Bound, Budget};
use cssame_front::compile;
use cssame_ir::Program;
use cssame_source::{FileId, SourceMap};
use cssame_vm::{
    Choice, CodeIndex, Event, Machine, Move, Pending, Progress, Tables, ThreadIndex, ThreadName, Visibility,
};
use std::fmt::Write;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

const ADDS: &str = "\
int x = 0;
cobegin
  T1: x = x + 1;
  T2: x = x + 1;
coend
assert(x == 2, \"lost\");
";

struct Fixture {
    sources: SourceMap,
    program: Program,
    machine: Machine,
}

impl Fixture {
    fn new(text: &str) -> Fixture {
        let mut sources = SourceMap::default();
        let file = sources.add("test.csm", text);
        let compiled = compile(&sources, file, &[]);
        let program = compiled.program.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics));
        let machine = Machine::new(&program, &Visibility::all(&program));
        Fixture { sources, program, machine }
    }

    fn naming(&self) -> Naming<'_> {
        Naming { program: &self.program, sources: &self.sources, machine: &self.machine }
    }

    /// A random execution that ends in that way.
    fn find(&self, status: &str) -> Execution {
        let found = (0..1000).map(|seed| run(&self.machine, &mut Random::new(seed), 1000, &mut ()));
        found.into_iter().find(|execution| execution.status.word() == status).unwrap()
    }

    fn schedule(&self, execution: &Execution) -> Schedule {
        let text = self.sources.file(FileId(0)).text();
        Schedule::new("test.csm", text, self.naming().steps(&execution.steps))
    }
}

#[test]
fn equal_seeds_give_equal_executions() {
    let fixture = Fixture::new(ADDS);
    let mut seen = String::new();
    for seed in 0..20 {
        let first = run(&fixture.machine, &mut Random::new(seed), 1000, &mut ());
        let second = run(&fixture.machine, &mut Random::new(seed), 1000, &mut ());
        assert_eq!(first.steps, second.steps);
        write!(seen, "{} ", first.status.word()).unwrap();
    }
    assert!(seen.contains("ok") && seen.contains("assert"), "{seen}");
}

#[test]
fn round_robin_leaves_nobody_out() {
    let fixture = Fixture::new(
        "int stop = 0;\ncobegin\n A: while (stop == 0) skip;\n B: while (stop == 0) skip;\n C: stop = 1;\ncoend\n",
    );
    let execution = run(&fixture.machine, &mut RoundRobin::new(), 1000, &mut ());
    assert_eq!(execution.status, ExecutionStatus::Ok);
}

#[test]
fn a_schedule_survives_its_file_and_replays() {
    let fixture = Fixture::new(ADDS);
    let execution = fixture.find("assert");
    let schedule = fixture.schedule(&execution);
    let text = schedule.to_text();
    let read = Schedule::parse(&text).unwrap();
    assert_eq!(read, schedule);
    assert!(read.is_of(ADDS));
    assert!(text.contains("{\"thread\":\"T1\",\"at\":\"3:11\",\"op\":\"read x\"}"), "{text}");
    let again = run(&fixture.machine, &mut Replay::new(fixture.naming(), &read.steps), 1000, &mut ());
    assert_eq!(again.status, execution.status);
    assert_eq!(again.steps, execution.steps);
}

#[test]
fn a_changed_program_departs_at_the_step_that_says_so() {
    let fixture = Fixture::new(ADDS);
    let schedule = fixture.schedule(&fixture.find("assert"));
    let changed = Fixture::new(&ADDS.replace("T2: x = x + 1", "T2: x = 1"));
    assert!(!schedule.is_of(changed.sources.file(FileId(0)).text()));
    let mut replay = Replay::new(changed.naming(), &schedule.steps);
    let execution = run(&changed.machine, &mut replay, 1000, &mut ());
    assert_eq!(execution.status, ExecutionStatus::Stopped);
    let departure = replay.departure().unwrap();
    assert_eq!(departure.expected.op, "read x");
    assert_eq!(departure.expected.thread, "T2");
    assert!(departure.to_string().contains("that thread stands at 4:7: write x"), "{departure}");
}

#[test]
fn a_schedule_can_go_on_at_random() {
    let fixture = Fixture::new(ADDS);
    let schedule = fixture.schedule(&fixture.find("assert"));
    let steps = &schedule.steps[..2];
    let mut policy = Then::new(Replay::new(fixture.naming(), steps), Random::new(1));
    let execution = run(&fixture.machine, &mut policy, 1000, &mut ());
    assert!(matches!(execution.status, ExecutionStatus::Ok | ExecutionStatus::Failed(_)));
    assert_eq!(fixture.naming().steps(&execution.steps)[..2], *steps);
}

#[test]
fn a_program_that_departs_from_a_schedule_does_not_go_on() {
    let fixture = Fixture::new(ADDS);
    let schedule = fixture.schedule(&fixture.find("assert"));
    let changed = Fixture::new(&ADDS.replace("T2: x = x + 1", "T2: x = 1"));
    let mut replay = Replay::new(changed.naming(), &schedule.steps);
    let mut policy = Then::new(&mut replay, Random::new(1));
    let execution = run(&changed.machine, &mut policy, 1000, &mut ());
    assert_eq!(execution.status, ExecutionStatus::Stopped);
    assert_eq!(execution.steps.len() + 1, replay.departure().unwrap().step);
}

/// Lets the first thread move, and counts the writes that it is told of.
#[derive(Default)]
struct CountsWrites {
    writes: usize,
}

impl Policy for CountsWrites {
    const OBSERVES: bool = true;

    fn choose(&mut self, _: &View<'_>, moves: &[Move]) -> Decision {
        Decision::Step(Choice { thread: moves[0].thread, alternative: 0 })
    }

    fn event(&mut self, _: ThreadName, _: CodeIndex, event: Event) {
        self.writes += usize::from(matches!(event, Event::Write { .. }));
    }
}

#[test]
fn a_policy_is_told_what_all_steps_do() {
    let fixture = Fixture::new(ADDS);
    let mut alone = CountsWrites::default();
    let mut events = Vec::new();
    let steps = run(&fixture.machine, &mut alone, 1000, &mut events).steps;
    let writes = events.iter().filter(|(.., event)| matches!(event, Event::Write { .. })).count();
    assert_eq!((alone.writes, writes), (2, 2));
    // Also of those that another one has chosen.
    let mut second = CountsWrites::default();
    run(&fixture.machine, &mut Then::new(Scripted::new(&steps[..steps.len() / 2]), &mut second), 1000, &mut ());
    assert_eq!(second.writes, 2);
}

/// Holds threads back before writes of one cell, as long as another one can move.
struct HoldsWritesBack {
    address: u32,
}

impl Policy for HoldsWritesBack {
    fn choose(&mut self, view: &View<'_>, moves: &[Move]) -> Decision {
        let is_write = |one: &&Move| {
            let pending = view.machine.pending(view.state, one.thread);
            matches!(pending, Some(Pending::Write { address: Some(address), .. }) if address == self.address)
        };
        let next = moves.iter().find(|one| !is_write(one)).unwrap_or(&moves[0]);
        Decision::Step(Choice { thread: next.thread, alternative: 0 })
    }
}

#[test]
fn a_policy_sees_what_threads_are_about_to_do() {
    let fixture = Fixture::new(ADDS);
    let address = fixture.machine.global_address(fixture.program.variables.ids().next().unwrap()).unwrap();
    let execution = run(&fixture.machine, &mut HoldsWritesBack { address }, 1000, &mut ());
    // Both have read before one writes.
    assert_eq!(execution.status.word(), "assert");
}

#[test]
fn a_cas_that_would_fail_is_pending_as_one_that_does_not_write() {
    let fixture = Fixture::new("int x = 1;\nint a = cas(x, 0, 5);\nint b = cas(x, 1, 6);\nint c = swap(x, 1);\n");
    let mut tables = Tables::new();
    let mut walk = Walk::new(&fixture.machine, &mut tables, &mut ());
    let mut seen = Vec::new();
    while !walk.is_over() {
        let thread = ThreadIndex(0);
        if let Some(Pending::Atomic { name, writes, .. }) = fixture.machine.pending(walk.state(), thread) {
            seen.push((name, writes));
        }
        walk.step(Choice { thread, alternative: 0 }, &mut ()).unwrap();
    }
    assert_eq!(seen, [("cas", false), ("cas", true), ("swap", true)]);
}

#[test]
fn a_schedule_stops_behind_its_last_step() {
    let fixture = Fixture::new(ADDS);
    let schedule = fixture.schedule(&fixture.find("ok"));
    let mut replay = Replay::new(fixture.naming(), &schedule.steps[..3]);
    assert_eq!(run(&fixture.machine, &mut replay, 1000, &mut ()).status, ExecutionStatus::Stopped);
}

#[test]
fn files_that_are_no_schedules_are_refused() {
    assert!(matches!(Schedule::parse("hello"), Err(ScheduleError::Format(_))));
    let other = "{\"schema\": \"cssame-schedule/9\", \"news\": 1}";
    assert!(matches!(Schedule::parse(other), Err(ScheduleError::Version { .. })));
    let text = Schedule::new("a.csm", "", Vec::new()).to_text();
    assert!(Schedule::parse(&text).is_ok());
    assert!(Schedule::parse(&text.replace("\"file\"", "\"flie\"")).is_err());
}

#[test]
fn a_trace_has_a_column_for_each_thread() {
    let fixture = Fixture::new(ADDS);
    let execution = fixture.find("assert");
    let trace = trace(fixture.naming(), &execution.steps);
    assert_eq!(trace.threads[0], "main");
    let last = trace.rows.last().unwrap();
    assert_eq!((last.kind, last.line, last.text().as_str()), (RowKind::Failure, 6, "assert: lost"));
    let text = render(&trace, &RenderOptions::default());
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.contains("read x = 0"), "{text}");
    assert!(!text.contains('\u{1b}'));
    assert!(render(&trace, &RenderOptions { width: 80, color: true, whole: true, source: None }).contains('\u{1b}'));
}

#[test]
fn many_threads_share_one_column() {
    let arms: String = (1..12).map(|arm| format!("  T{arm}: x = {arm};\n")).collect();
    let fixture = Fixture::new(&format!("int x = 0;\ncobegin\n{arms}coend\n"));
    let execution = run(&fixture.machine, &mut RoundRobin::new(), 1000, &mut ());
    let text = render(&trace(fixture.naming(), &execution.steps), &RenderOptions::default());
    assert!(text.contains("T11: write x = 11"), "{text}");
}

#[test]
fn a_trace_of_a_deadlock_ends_with_the_blocked_threads() {
    let fixture = Fixture::new(
        "lock A, B;\nint y = 0;\ncobegin\n T1: { lock(A); lock(B); }\n T2: { lock(B); lock(A); }\n T3: y = 1;\ncoend\n",
    );
    let execution = fixture.find("deadlock");
    let trace = trace(fixture.naming(), &execution.steps);
    let blocked: Vec<String> = trace.rows.iter().filter(|row| row.kind == RowKind::Blocked).map(Row::text).collect();
    let expected = ["waits for T1, T2", "waits for B (T2)", "waits for A (T1)"];
    assert_eq!(blocked, expected);
    // T3 has nothing to do with it.
    assert!(trace.cause().rows.iter().all(|row| row.object.as_deref() != Some("y")));
}

#[test]
fn a_blocked_thread_says_what_it_waits_for() {
    let fixture = Fixture::new(
        "lock L; cond c; event e; sem s = 0; barrier b(3);\ncobegin\n T1: { lock(L); wait(c, L); }\n T2: wait(e);\n \
         T3: P(s);\n T4: barrier(b);\n T5: wait();\ncoend\n",
    );
    let trace = trace(fixture.naming(), &fixture.find("deadlock").steps);
    let mut blocked: Vec<String> =
        trace.rows.iter().filter(|row| row.kind == RowKind::Blocked).map(Row::text).collect();
    blocked.sort();
    let expected = [
        "waits for T1, T2, T3, T4, T5",
        "waits for V(s)",
        "waits for b, 1 of 3",
        "waits for notify()",
        "waits for notify(c)",
        "waits for set(e)",
    ];
    assert_eq!(blocked, expected);
}

#[test]
fn wide_characters_take_two_columns_of_a_trace() {
    let text = "int x;\ncobegin\n A: assert(x == 1, \"漢字漢字 漢字漢字 漢字漢字 漢字漢字\");\n B: x = 1;\ncoend\n";
    let fixture = Fixture::new(text);
    let trace = trace(fixture.naming(), &fixture.find("assert").steps);
    let text = render(&trace, &RenderOptions { width: 40, color: false, whole: true, source: None });
    let lines: Vec<&str> =
        text.lines().filter(|line| line.contains('漢')).filter_map(|line| line.rsplit("  ").next()).collect();
    assert_eq!(lines, ["assert: 漢字漢字", "漢字漢字 漢字漢字", "漢字漢字"], "{text}");
    assert!(text.lines().all(|line| cssame_source::cut::columns(line) <= 40), "{text}");
}

#[test]
fn the_alternatives_of_a_choice_are_recorded() {
    let fixture = Fixture::new("int x = 0;\nx = choose(3, 5);\nprint(x);\n");
    let execution = (0..100)
        .map(|seed| run(&fixture.machine, &mut Random::new(seed), 100, &mut ()))
        .find(|execution| execution.lines(&fixture.machine) == ["5"])
        .unwrap();
    let schedule = fixture.schedule(&execution);
    assert_eq!(schedule.steps[0].alternative, Some(2));
    let again = run(&fixture.machine, &mut Replay::new(fixture.naming(), &schedule.steps), 100, &mut ());
    assert_eq!(again.lines(&fixture.machine), ["5"]);
}

/// Threads that come and go, objects in locals and arrays, choices and handles.
const DETAILS: &str = "
int x;
lock L, M;
cond c;
void worker(int id) {
  lock own;
  int seen[2];
  for (int k = 0; k < 2; k++) {
    lock(own); seen[k] = x; unlock(own);
    cobegin A: { lock(own); seen[0] = k; unlock(own); } B: { lock(L); x = choose(0, 2); unlock(L); } coend
  }
  print(seen[0], id);
}
void main() {
  thread t = spawn worker(1);
  thread u = spawn worker(2);
  parfor (int i = 0; i < 3; i++) { lock(M); if (i == 1) wait(c, M); x += i; notifyAll(c); unlock(M); }
  join(u);
  join(t);
}
";

#[test]
fn a_namer_of_many_schedules_names_each_as_it_stands_alone() {
    let fixture = Fixture::new(DETAILS);
    let naming = fixture.naming();
    let mut namer = Namer::new(naming);
    let (mut pointers, mut names) = (std::collections::HashSet::new(), std::collections::HashSet::new());
    for seed in 0..100 {
        let schedule = run(&fixture.machine, &mut Random::new(seed), 1000, &mut ()).steps;
        // Some are beginnings of the one before, some cannot be done to their end.
        for cut in [schedule.len(), schedule.len() / 2, schedule.len()] {
            let mut schedule = schedule[..cut].to_vec();
            if seed % 5 == 0 {
                schedule.insert(cut / 3, Choice { thread: ThreadIndex(9), alternative: 0 });
            }
            let steps = namer.steps(&schedule);
            assert!(steps.iter().map(|step| &**step).eq(&one_by_one(naming, &schedule)), "seed {seed}");
            pointers.extend(steps.iter().map(|step| std::ptr::from_ref::<Step>(step)));
            names.extend(steps.into_iter().map(SharedStep::into_step));
        }
    }
    // Few steps have one name and are different all the same.
    assert!(pointers.len() < 2 * names.len(), "{} for {}", pointers.len(), names.len());
}

/// Names of steps without any memory of others.
fn one_by_one(naming: Naming<'_>, schedule: &[Choice]) -> Vec<Step> {
    let mut tables = Tables::new();
    let mut state = naming.machine.initial(&mut tables);
    let (mut moves, mut steps) = (Vec::new(), Vec::new());
    for &choice in schedule {
        naming.machine.moves(&state, &mut moves);
        let possible = |one: &&Move| one.thread == choice.thread && choice.alternative < one.alternatives;
        let Some(one) = moves.iter().find(possible) else { break };
        steps.push(naming.step(&state, &tables, choice, one.alternatives));
        if naming.machine.step(&mut state, &mut tables, choice, &mut ()) != Progress::Running {
            break;
        }
    }
    steps
}

#[test]
fn a_walk_does_only_what_is_possible() {
    let fixture = Fixture::new(ADDS);
    let steps = fixture.find("ok").steps;
    let mut tables = Tables::new();
    let mut walk = Walk::new(&fixture.machine, &mut tables, &mut ());
    let nobody = Choice { thread: ThreadIndex(7), alternative: 0 };
    assert_eq!(walk.step(nobody, &mut ()), Err(Impossible(nobody)));
    let second = Choice { alternative: 1, ..steps[0] };
    assert_eq!(walk.step(second, &mut ()), Err(Impossible(second)));
    assert_eq!(walk.follow(&steps, &mut ()), Ok(Progress::Finished));
    assert_eq!(walk.step(steps[0], &mut ()), Err(Impossible(steps[0])), "the execution is over");
}

#[test]
fn a_branch_of_a_walk_leaves_it_where_it_is() {
    let fixture = Fixture::new(ADDS);
    let steps = fixture.find("ok").steps;
    let mut tables = Tables::new();
    let mut walk = Walk::new(&fixture.machine, &mut tables, &mut ());
    assert_eq!(walk.branch().follow(&steps, &mut ()), Ok(Progress::Finished));
    assert!(!walk.is_over());
    assert_eq!(walk.follow(&steps, &mut ()), Ok(Progress::Finished));
}

#[test]
fn walks_begin_behind_what_schedules_have_in_common() {
    let fixture = Fixture::new(ADDS);
    let steps = fixture.find("ok").steps;
    let mut walks = Walks::new(&fixture.machine);
    assert_eq!(walks.begin(&steps).0, 0);
    let (done, mut walk) = walks.begin(&steps[..3]);
    assert_eq!(done, 3);
    assert!(walk.follow(&steps[3..], &mut ()).is_ok(), "a walk may go on as it likes");
    assert_eq!(walks.begin(&steps).0, 3);
    assert_eq!(walks.begin(&steps[..1]).0, 1, "from the beginning again");
}

/// Keeps all that can be seen of an execution.
struct KeepSteps<'a> {
    machine: &'a Machine,
}

impl Experiment for KeepSteps<'_> {
    type Policy = Random;
    type Observer = Vec<(ThreadName, CodeIndex, Event)>;
    type Outcome = (String, Vec<Choice>, Vec<String>, usize);

    fn begin(&self, seed: u64) -> (Random, Self::Observer) {
        (Random::new(seed), Vec::new())
    }

    fn outcome(&self, trial: &Trial<'_, Self::Policy, Self::Observer>) -> Self::Outcome {
        let outputs = self.machine.outputs(trial.state, trial.tables);
        let lines = outputs.iter().flat_map(|&(_, output)| trial.tables.lines(output)).map(str::to_owned);
        (trial.status.word().to_owned(), trial.steps.to_vec(), lines.collect(), trial.observer.len())
    }
}

#[test]
fn trials_give_the_same_for_any_number_of_cores() {
    let fixture = Fixture::new(DETAILS);
    let experiment = KeepSteps { machine: &fixture.machine };
    let with = |jobs| {
        let budget = Budget::unlimited().with_jobs(jobs);
        let trials = Trials { machine: &fixture.machine, seeds: 5..90, max_steps: 1000, budget: &budget };
        let mut seen = Vec::new();
        let end = trials.run(&experiment, |seed, outcome| {
            seen.push((seed, outcome));
            if seed == 70 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert_eq!(end, TrialsEnd::Enough);
        seen
    };
    let alone = with(1);
    assert_eq!(alone, with(2));
    assert_eq!(alone, with(7));
    // Each is the execution that its seed gives alone: nothing is left of those before it.
    assert_eq!(alone.len(), 66);
    for (seed, (status, steps, lines, events)) in alone {
        let mut watched = Vec::new();
        let execution = run(&fixture.machine, &mut Random::new(seed), 1000, &mut watched);
        assert_eq!((status.as_str(), &steps), (execution.status.word(), &execution.steps), "seed {seed}");
        assert_eq!((lines, events), (execution.lines(&fixture.machine), watched.len()), "seed {seed}");
    }
}

#[test]
fn trials_that_are_stopped_leave_no_gap() {
    let fixture = Fixture::new(ADDS);
    for jobs in [1, 3] {
        let stopped = AtomicBool::new(false);
        let budget = Budget::unlimited().with_jobs(jobs).with_interrupt(&stopped);
        let trials = Trials { machine: &fixture.machine, seeds: 0..1_000, max_steps: 1000, budget: &budget };
        let mut seen = Vec::new();
        let end = trials.run(&KeepSteps { machine: &fixture.machine }, |seed, _| {
            seen.push(seed);
            stopped.fetch_or(seed == 4, Ordering::Relaxed);
            ControlFlow::Continue(())
        });
        assert_eq!(end, TrialsEnd::Stopped(Bound::Interrupt));
        // With several cores the rest of the batch was there already.
        let count = if jobs == 1 { 5 } else { 24 };
        assert!(seen.iter().copied().eq(0..count), "{seen:?}");
    }
}

#[test]
fn the_accesses_of_a_long_block_are_not_all_shown() {
    let text = "int x;\ncobegin\n  T1: atomic { for (int i = 0; i < 5000; i++) x += 1; }\n  T2: x = 7;\ncoend\nassert(x < 0);\n";
    let fixture = Fixture::new(text);
    let trace = trace(fixture.naming(), &fixture.find("assert").steps);
    assert!(trace.rows.len() < 2 * 1_000, "{} rows", trace.rows.len());
    let omitted: Vec<&Row> = trace.rows.iter().filter(|row| row.kind == RowKind::Omitted).collect();
    let [omitted] = omitted[..] else { panic!("{} rows stand for others", omitted.len()) };
    let shown = |kind| trace.rows.iter().filter(|row| row.kind == kind && row.step == omitted.step).count();
    let more = 10_000 - shown(RowKind::Read) - shown(RowKind::Write);
    assert_eq!(omitted.text(), format!("and {more} more accesses"));
    assert_eq!(trace.rows.last().map(|row| row.kind), Some(RowKind::Failure));
}
