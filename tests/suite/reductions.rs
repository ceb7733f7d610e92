//! Slices, and states up to symmetry, against all states of the whole program: random programs and all samples.
//!
//! What they say can happen (terms, outcomes, failures, deadlocks), and whether selections are consistent, must be what a
//! search through all states of the whole program says; and every schedule must be one of the whole program.
//! States of which one thread alone is expanded are held to all states in the same way.
//! `CSSAME_LAW_PROGRAMS` and `CSSAME_LAW_SEED` run more programs, or others.

use cssame::budget::{Budget, Limits};
use cssame::explore::report::{Schedules, report as report_of};
use cssame::explore::{
    Answer, Commuting, Deadlock, Declined, OutcomeStatus, Query, Reduction, Subject, Verdict, by_states,
    select_by_states,
};
use cssame::form::Selection;
use cssame::ir::{DefinitionId, ReadId};
use cssame::model::Model;
use cssame::vm::{Choice, CodeIndex, Event, Machine, Observer, Progress, Tables, ThreadName, Visibility};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use support::generate::{self, Size};
use support::{first_seed, possible_model, programs};

struct Fixture(Model);

impl Fixture {
    fn new(text: &str) -> Option<Fixture> {
        possible_model(text).map(Fixture)
    }

    fn subject(&self) -> Subject<'_> {
        Subject::from(&self.0)
    }

    fn terms(&self, answer: &Answer) -> BTreeSet<(ReadId, DefinitionId)> {
        answer.terms.iter().map(|term| (term.read, term.definition)).collect()
    }

    fn outcomes(&self, answer: &Answer) -> BTreeSet<(Vec<(String, Vec<String>)>, OutcomeStatus)> {
        let texts = &self.0.program().texts;
        let outcome = |outcome: &cssame::explore::Outcome| {
            let lines = |&(path, output)| {
                let lines = answer.tables.lines(output).into_iter().map(str::to_owned).collect();
                (answer.tables.path_name(texts, path), lines)
            };
            (outcome.outputs.iter().map(lines).collect(), outcome.status)
        };
        answer.outcomes.iter().map(outcome).collect()
    }

    fn failures(&self, answer: &Answer) -> BTreeSet<(CodeIndex, u32)> {
        answer.failures.iter().map(|witness| (witness.failure.at, witness.failure.kind as u32)).collect()
    }

    fn deadlocks(&self, answer: &Answer) -> BTreeSet<Vec<(String, CodeIndex)>> {
        let names = |deadlock: &Deadlock| {
            let thread = |thread: &cssame::explore::BlockedThread| {
                (answer.tables.path_name(&self.0.program().texts, thread.path), thread.at)
            };
            deadlock.threads.iter().map(thread).collect()
        };
        answer.deadlocks.iter().map(names).collect()
    }

    /// Runs a schedule in the whole program: the pairs that each step shows, and how it ends.
    fn run(&self, schedule: &[Choice]) -> Result<(Vec<Vec<(ReadId, DefinitionId)>>, Progress), String> {
        let (mut tables, mut pairs) = (Tables::new(), Vec::new());
        let mut state = self.0.machine().initial(&mut tables);
        let mut last = if self.0.machine().is_finished(&state) { Progress::Finished } else { Progress::Running };
        for &choice in schedule {
            if self.0.machine().alternatives(&state, choice.thread) <= choice.alternative {
                return Err(format!("{choice:?} is not possible"));
            }
            let mut reads = Reads(Vec::new());
            last = self.0.machine().step(&mut state, &mut tables, choice, &mut reads);
            pairs.push(reads.0);
        }
        Ok((pairs, last))
    }

    /// Holds the schedules of an answer to what they are said to show.
    fn check_schedules(&self, answer: &Answer) -> Result<(), String> {
        for term in &answer.terms {
            let Some(schedule) = &term.schedule else { continue };
            let (pairs, _) = self.run(schedule)?;
            // What the beginning shows, all of the execution does.
            let begins = term.step == schedule.len();
            if !begins && !pairs.get(term.step).is_some_and(|pairs| pairs.contains(&(term.read, term.definition))) {
                return Err(format!("step {} does not show {:?} = {:?}", term.step, term.read, term.definition));
            }
        }
        for outcome in &answer.outcomes {
            let agrees = match self.run(outcome.schedule.as_ref().ok_or("no schedule")?)?.1 {
                Progress::Finished => outcome.status == OutcomeStatus::Ok,
                Progress::Failed(failure) => outcome.status == OutcomeStatus::Failed(failure.kind),
                Progress::Running => outcome.status == OutcomeStatus::Deadlock,
                Progress::Discarded => false,
            };
            if !agrees {
                return Err(format!("the schedule of an outcome ends otherwise than {:?}", outcome.status));
            }
        }
        Ok(())
    }
}

struct Reads(Vec<(ReadId, DefinitionId)>);

impl Observer for Reads {
    fn event(&mut self, _: ThreadName, _: CodeIndex, event: Event) {
        if let Event::Read { read, writer: Some(definition), .. } = event {
            self.0.push((read, definition));
        }
    }
}

#[derive(Default)]
pub struct Tally {
    sliced: u64,
    whole: u64,
    large: u64,
    selections: u64,
    pub symmetric: u64,
    pub reduced: u64,
    pub saved: u64,
}

/// Holds an answer to that of all states of the whole program.
fn compare(fixture: &Fixture, whole: &Answer, other: &Answer) -> Result<(), String> {
    if fixture.terms(whole) != fixture.terms(other) {
        let (whole, other) = (fixture.terms(whole), fixture.terms(other));
        let missing: Vec<_> = whole.difference(&other).collect();
        return Err(format!("terms: missing {missing:?}, extra {:?}", other.difference(&whole).collect::<Vec<_>>()));
    }
    if fixture.outcomes(whole) != fixture.outcomes(other) {
        return Err(format!("outcomes: {:?} but {:?}", fixture.outcomes(whole), fixture.outcomes(other)));
    }
    if fixture.failures(whole) != fixture.failures(other) {
        return Err(format!("failures: {:?} but {:?}", fixture.failures(whole), fixture.failures(other)));
    }
    fixture.check_schedules(other).map_err(|message| format!("schedule: {message}"))
}

/// Holds states up to symmetry to all states; `Err` says what is wrong.
fn check_symmetry(text: &str, tally: &mut Tally) -> Result<(), String> {
    let Some(fixture) = Fixture::new(text) else { return Ok(()) };
    let Some(machine) = fixture.0.machine().up_to_symmetry() else { return Ok(()) };
    let (query, limits) = (Query::default(), Limits { max_states: Some(100_000), ..Limits::default() });
    let whole = by_states(fixture.0.machine(), &query, &limits.into());
    let folded = by_states(&machine, &query, &limits.into());
    if !whole.is_complete() {
        return Ok(());
    }
    tally.symmetric += 1;
    tally.saved += u64::from(folded.statistics.states < whole.statistics.states);
    if folded.deadlocks.is_empty() != whole.deadlocks.is_empty() || folded.statistics.states > whole.statistics.states {
        return Err("states: more of them, or other deadlocks".to_owned());
    }
    compare(&fixture, &whole, &folded)?;
    let terms = fixture.terms(&whole);
    let first = terms.first().zip(terms.last()).filter(|(one, other)| one.0 != other.0);
    if let Some((&one, &other)) = first {
        let selections = [one, other].map(|(read, definition)| Selection::of(read, definition));
        let whole = select_by_states(fixture.0.machine(), &selections, &limits.into());
        let folded = select_by_states(&machine, &selections, &limits.into());
        if matches!(whole.verdict, Verdict::Inconsistent { .. })
            != matches!(folded.verdict, Verdict::Inconsistent { .. })
        {
            return Err(format!("select: {:?} but {:?}", whole.verdict, folded.verdict));
        }
        if let Verdict::Consistent { schedule, .. } = &folded.verdict {
            fixture.run(schedule).map_err(|message| format!("select: {message}"))?;
        }
    }
    Ok(())
}

/// Holds a search that expands one thread alone where that is enough, from the first state on, to one that expands all, and the
/// same up to symmetry; `Err` says what is wrong.
pub fn check_order(text: &str, tally: &mut Tally) -> Result<(), String> {
    let Some(fixture) = Fixture::new(text) else { return Ok(()) };
    let machine = fixture.0.machine();
    let (query, limits) = (Query::default(), Limits { max_states: Some(30_000), ..Limits::default() });
    let commuting = fixture.subject().commuting().ok_or("no form")?;
    let reduction = Some(Reduction { commuting: &commuting, from: 0 });
    let whole = by_states(machine, &query, &limits.into());
    if !whole.is_complete() {
        return Ok(());
    }
    let reduced = by_states(machine, &Query { reduction, ..query }, &limits.into());
    tally.reduced += 1;
    tally.saved += u64::from(reduced.statistics.states < whole.statistics.states);
    if !reduced.is_complete() || reduced.statistics.states > whole.statistics.states {
        return Err("states: more of them".to_owned());
    }
    if reduced.all_end != whole.all_end {
        return Err("ends: a cycle, or none".to_owned());
    }
    compare(&fixture, &whole, &reduced)?;
    if fixture.deadlocks(&whole) != fixture.deadlocks(&reduced) {
        return Err(format!("deadlocks: {:?} but {:?}", fixture.deadlocks(&whole), fixture.deadlocks(&reduced)));
    }
    let Some(machine) = machine.up_to_symmetry() else { return Ok(()) };
    let folded = by_states(&machine, &Query { reduction, ..query }, &limits.into());
    tally.symmetric += 1;
    if folded.deadlocks.is_empty() != whole.deadlocks.is_empty() {
        return Err("deadlocks: there are some, or none".to_owned());
    }
    compare(&fixture, &whole, &folded).map_err(|message| format!("{message}, up to symmetry"))
}

/// Holds slices to all states of the whole program; `Err` says what is wrong.
fn check(text: &str, tally: &mut Tally) -> Result<(), String> {
    let Some(fixture) = Fixture::new(text) else { return Ok(()) };
    let (query, limits) = (Query::default(), Limits { max_states: Some(100_000), ..Limits::default() });
    let whole = by_states(fixture.0.machine(), &query, &limits.into());
    if !whole.is_complete() {
        tally.large += 1;
        return Ok(());
    }
    let sliced = match fixture.subject().futures_by_slices(&query, &limits.into()) {
        Ok(answer) => answer,
        Err(Declined::Disagreement) => return Err("an execution of a slice is none of the program".to_owned()),
        Err(_) => {
            tally.whole += 1;
            return Ok(());
        }
    };
    tally.sliced += 1;
    compare(&fixture, &whole, &sliced)?;
    if fixture.deadlocks(&whole) != fixture.deadlocks(&sliced) {
        return Err(format!("deadlocks: {:?} but {:?}", fixture.deadlocks(&whole), fixture.deadlocks(&sliced)));
    }
    check_selections(&fixture, tally)
}

/// Asks about pairs of terms of two reads.
fn check_selections(fixture: &Fixture, tally: &mut Tally) -> Result<(), String> {
    let reads = fixture.0.form().shared_reads();
    let limits = Limits { max_states: Some(100_000), ..Limits::default() };
    let mut asked = 0;
    for (place, &first) in reads.iter().enumerate() {
        for &second in &reads[place + 1..] {
            let (Some(one), Some(other)) = (fixture.0.form().terms(first).pop(), fixture.0.form().terms(second).pop())
            else {
                continue;
            };
            asked += 1;
            if asked > 6 {
                return Ok(());
            }
            let selections = [Selection::of(first, one), Selection::of(second, other)];
            let sliced = match fixture.subject().select_by_slice(&selections, &limits.into()) {
                Ok(answer) => answer,
                Err(Declined::Disagreement) => return Err("select: an execution of a slice is none".to_owned()),
                Err(_) => continue,
            };
            let whole = select_by_states(fixture.0.machine(), &selections, &limits.into());
            if whole.bound.is_some() || sliced.bound.is_some() {
                continue;
            }
            tally.selections += 1;
            match (&whole.verdict, &sliced.verdict) {
                (Verdict::Consistent { satisfied: one, .. }, Verdict::Consistent { satisfied: other, schedule }) => {
                    let count = |list: &[bool]| list.iter().filter(|&&satisfied| satisfied).count();
                    if count(one) != count(other) {
                        return Err(format!("select: {one:?} but {other:?}"));
                    }
                    let shown: Vec<(ReadId, DefinitionId)> = fixture.run(schedule)?.0.concat();
                    for (selection, _) in selections.iter().zip(other).filter(|(_, satisfied)| **satisfied) {
                        if !shown.contains(&(selection.read(), selection.definition())) {
                            return Err(format!("select: the schedule does not show {selection:?}"));
                        }
                    }
                }
                (one, other) if one == other => {}
                (one, other) => return Err(format!("select: {one:?} but {other:?}")),
            }
        }
    }
    Ok(())
}

/// A program without most of its prints and assertions.
fn quiet(source: &str, seed: u64) -> String {
    let mut kept = seed;
    let lines = source.lines().filter(|line| {
        let line = line.trim_start();
        let tells = line.starts_with("print(") || line.starts_with("assert(");
        kept = kept.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        !tells || !line.ends_with(");") || kept >> 61 == 0
    });
    lines.map(|line| format!("{line}\n")).collect()
}

fn kind(message: &str) -> String {
    message.split(':').next().unwrap_or_default().to_owned()
}

#[test]
fn slices_say_what_the_whole_program_says() {
    let programs = programs(150);
    let first = first_seed(1);
    let mut tally = Tally::default();
    for seed in first..first + programs {
        let size = match seed % 3 {
            0 => Size { threads: 2, operations: 5, globals: 4, structured: false },
            1 => Size { threads: 3, operations: 4, globals: 4, structured: true },
            _ => Size { threads: 2, operations: 7, globals: 4, structured: true },
        };
        // Of what is printed or asserted everything else depends, so most programs do little of that.
        let mut source = if seed % 5 == 4 { generate::arrays(seed) } else { generate::program(seed, &size) };
        if seed % 8 != 0 {
            source = quiet(&source, seed);
        }
        report(&source, seed, &mut tally, check);
    }
    println!(
        "{} programs from slices, {} have none, {} too large; {} selections",
        tally.sliced, tally.whole, tally.large, tally.selections
    );
    assert!(
        support::has_new_seed() || tally.sliced * 5 >= programs,
        "many programs have slices: {} of {programs}",
        tally.sliced
    );
}

/// What has once been wrong.
const MENDED: &[&str] = &[
    // A loop without a condition keeps its thread, and the assumption need not be come to.
    "int x, y; void spin() { while (true) { y = 1; } }
     cobegin T1: int r = x; assume(false); T2: spin(); T3: x = 1; T4: y = 2; T5: y = 3; T6: y = 4; coend",
    "int x, y, c; cobegin T1: int r = x; assume(false); T2: if (c == 1) { while (true) { y = 1; } } T3: x = 1; T4: c = 1; coend",
    // Local work that was taken out counts against its limit.
    "int x, w, y;
     cobegin
       T1: x = 1; w = 1;
       T2: y = 2;
       T3: int p = x; int q = w;
         if (p == 1 && q == 0) {
           int a = 1;
           for (int i = 0; i < 120000; i++) { a = a * 3; a = a + 1; a = a * 5; a = a + 2; a = a * 7; a = a + 3; a = a * 9; }
           y = a;
         }
     coend
     print(\"done\");",
    "int x, y; void leaf2() { y = 2; } void leaf() { leaf2(); }
     void down(int n) { if (n > 0) { down(n - 1); } else { leaf(); } }
     cobegin T1: int r = x; if (r == 1) { down(997); } T2: x = 1; T3: y = 3; coend print(\"done\");",
    // Who is woken may end in the same step, and slots are used again.
    "int a, x; parfor (int k = 0; k < 3; k++) { int r = fetch_add(a, 1); int s = x; }",
    // What one thread reads decides whether it writes the cell: it must not be passed over.
    "int a = 2, f; void fun() { if (a) {} else { fetch_add(a, 1); } }
     cobegin A1: if (f) {} fun(); A2: f = 1; fun(); coend",
    // A print and a join are one step of the slice, and the thread that is joined has more to do in the program.
    "int a; void f(int p) { int r = a; } void g(int p) { int s = -1 | a; }
     void main() { thread t = spawn f(2); thread u = spawn g(0); int r; print(r); join(u); }",
    // Between two prints there is a step.
    "int b; int fun() { b = b; return 2; }
     cobegin T1: print(fun()); int r = fun(); print(r); T2: int s = b + 2; assert(0); coend",
];

#[test]
fn what_was_mended_stays_so() {
    for program in MENDED {
        let mut tally = Tally::default();
        assert!(Fixture::new(program).is_some(), "{program}");
        let checked = check(program, &mut tally).and_then(|()| check_symmetry(program, &mut tally));
        checked.unwrap_or_else(|message| panic!("{message}\n{program}"));
    }
}

#[test]
fn an_instance_is_counted_anew_in_each_thread() {
    let fixture = Fixture::new("int t, y; parfor (int i = 0; i < 2; i++) { int r = t; r = y; } y = 1;").unwrap();
    let program = fixture.0.program();
    let machine = Machine::new(program, &Visibility::all(program));
    let initial = |read: ReadId| {
        let of_same = |id: &DefinitionId| program.definitions[*id].symbol == program.reads[read].symbol;
        program.definitions.ids().find(of_same).unwrap()
    };
    let selection = |read: u32| Selection::of(ReadId(read), initial(ReadId(read)));
    let (second, other) = (selection(0).at(2), selection(1));
    for selections in [[second.clone(), other.clone()], [other.clone(), second.clone()]] {
        let answer = select_by_states(&machine, &selections, &Budget::unlimited());
        let Verdict::Consistent { satisfied, .. } = answer.verdict else { panic!("{:?}", answer.verdict) };
        let of = |wanted: &Selection| satisfied[selections.iter().position(|one| one == wanted).unwrap()];
        assert!(!of(&second) && of(&other), "no thread comes to the read twice");
    }
}

#[test]
fn slices_of_the_samples_say_what_the_whole_programs_say() {
    let mut tally = Tally::default();
    let mut paths: Vec<_> = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("samples"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "csm"))
        .collect();
    paths.sort();
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        if let Err(message) = check(&text, &mut tally) {
            panic!("{}: {message}", path.display());
        }
    }
    println!("{} samples from slices, {} have none, {} too large", tally.sliced, tally.whole, tally.large);
    assert!(support::has_new_seed() || tally.sliced > 0);
}

/// Checks a program; a smaller one with the same fault is shown.
pub fn report(source: &str, seed: u64, tally: &mut Tally, check: impl Fn(&str, &mut Tally) -> Result<(), String>) {
    if let Err(message) = check(source, tally) {
        let small = generate::shrink(source, &mut |candidate| {
            check(candidate, &mut Tally::default()).is_err_and(|other| kind(&other) == kind(&message))
        });
        let shrunk = check(&small, &mut Tally::default()).err().unwrap_or_default();
        panic!("seed {seed}: {shrunk}\n{small}");
    }
}

#[test]
fn states_up_to_symmetry_say_what_all_states_say() {
    let programs = programs(150);
    let first = first_seed(1);
    let mut tally = Tally::default();
    for seed in first..first + programs {
        let size = Size { threads: 2, operations: 4, globals: 3, structured: true };
        let source = if seed % 5 == 4 { generate::arrays(seed) } else { generate::program(seed, &size) };
        let source = quiet(&source, seed);
        report(&source, seed, &mut tally, check_symmetry);
    }
    assert!(
        support::has_new_seed() || tally.saved * 50 >= programs,
        "many programs have fewer states: {} of {programs}",
        tally.saved
    );
    println!("{} programs with threads to exchange, of which {} have fewer states", tally.symmetric, tally.saved);
}

#[test]
fn states_of_one_thread_alone_say_what_all_states_say() {
    let programs = programs(150);
    let first = first_seed(1);
    let mut tally = Tally::default();
    for seed in first..first + programs {
        let size = match seed % 3 {
            0 => Size { threads: 2, operations: 5, globals: 3, structured: true },
            1 => Size { threads: 3, operations: 4, globals: 4, structured: false },
            _ => Size { threads: 2, operations: 7, globals: 6, structured: true },
        };
        let source = if seed % 5 == 4 { generate::arrays(seed) } else { generate::program(seed, &size) };
        let source = if seed % 4 == 0 { source } else { quiet(&source, seed) };
        report(&source, seed, &mut tally, check_order);
    }
    println!(
        "{} programs reduced, of which {} have fewer states; {} of them up to symmetry",
        tally.reduced, tally.saved, tally.symmetric
    );
    assert!(
        support::has_new_seed() || tally.saved * 10 >= programs,
        "many programs have fewer states: {} of {programs}",
        tally.saved
    );
}

/// So many philosophers who take the left fork first, but for the last one, who takes these; each counts his own meals.
pub fn philosophers(n: usize, last: &str) -> String {
    let forks: Vec<String> = (0..n).map(|fork| format!("f{fork}")).collect();
    let others: String = (0..n - 1).map(|me| format!("P{me}: dine({me}, f{me}, f{});\n", me + 1)).collect();
    format!(
        "int meals[{n}]; lock {};
         void dine(int me, lock first, lock second) {{
           lock(first); lock(second); meals[me] = meals[me] + 1; unlock(second); unlock(first);
         }}
         cobegin {others} P{1}: dine({1}, {last}); coend",
        forks.join(", "),
        n - 1
    )
}

/// Philosophers who put their forks back alone: the last one takes the right fork first, or does not.
#[test]
fn philosophers_have_few_states() {
    for (last, deadlocks) in [("f0, f7", 0), ("f7, f0", 1)] {
        let text = philosophers(8, last);
        let fixture = Fixture::new(&text).unwrap();
        let commuting = fixture.subject().commuting().unwrap();
        let query = Query { reduction: Some(Reduction { commuting: &commuting, from: 0 }), ..Query::default() };
        let answer = by_states(fixture.0.machine(), &query, &Budget::unlimited());
        // Without reduction there are more than 400,000.
        assert!(answer.is_complete() && answer.statistics.states < 60_000, "{} states", answer.statistics.states);
        assert_eq!((answer.deadlocks.len(), answer.terms.len()), (deadlocks, 1));
    }
}

/// Behind reduced states a failure may take more steps than it needs, so a bound proves nothing of longer executions.
#[test]
fn what_a_bound_proves_ends_where_reduction_begins() {
    let arm = |me: usize| {
        format!("P{me}: for (int i = 0; i < 3; i++) {{ lock(l{0}); x{0} = x{0} + 1; unlock(l{0}); }}\n", me % 3)
    };
    let arms: String = (0..6).map(arm).collect();
    let text = format!("int x0, x1, x2; lock l0, l1, l2; cobegin {arms} coend");
    let fixture = Fixture::new(&text).unwrap();
    let commuting = fixture.subject().commuting().unwrap();
    let steps = |reduction, max_steps| {
        let limits = Limits { max_steps: Some(max_steps), ..Limits::default() };
        let answer = by_states(fixture.0.machine(), &Query { reduction, ..Query::default() }, &limits.into());
        let report = report_of(&fixture.0.naming(), &answer, &[], None, Schedules::OfFindings);
        report.unfinished.map(|unfinished| unfinished.steps)
    };
    assert_eq!(steps(None, 17), Some(17));
    let proved = steps(Some(Reduction { commuting: &commuting, from: 100 }), 17);
    assert!(proved.is_some_and(|proved| proved > 1 && proved < 17), "{proved:?} steps");
}

/// A recursion that makes threads without end must not keep the other threads from going on.
#[test]
fn threads_without_end_put_nobody_off() {
    let writes: String = (0..38).map(|value| format!("x = {value}; ")).collect();
    let fixture = Fixture::new(&format!(
        "int x; void f() {{ cobegin A: f(); B: skip; coend }}
         void main() {{ cobegin M: f(); N: {{ {writes} assert(x != 77); }} O: x = 77; coend }}"
    ))
    .unwrap();
    let limits = Limits { max_states: Some(27_000), ..Limits::default() };
    let answer = fixture.subject().futures(&Query::default(), &Budget::from(limits));
    assert!(answer.bound.is_some() && !answer.failures.is_empty(), "{:?}", answer.statistics);
}

/// Threads that are made and joined beside others come first, where there can be only so many.
#[test]
fn threads_are_made_and_joined_before_others_go_on() {
    let arm = |me: usize| format!("T{me}: {{ x = {me}; cobegin A: skip; B: y = {me}; coend x = y; }}\n");
    let arms: String = (0..3).map(arm).collect();
    let fixture = Fixture::new(&format!("int x, y; cobegin {arms} coend print(x);")).unwrap();
    let commuting = fixture.subject().commuting().unwrap();
    let states = |commuting: &Commuting| {
        let query = Query { reduction: Some(Reduction { commuting, from: 0 }), ..Query::default() };
        let answer = by_states(fixture.0.machine(), &query, &Budget::unlimited());
        assert!(answer.is_complete());
        answer.statistics.states
    };
    let without = Commuting { forks: false, ..commuting.clone() };
    assert!(commuting.forks && states(&commuting) < states(&without));
}
