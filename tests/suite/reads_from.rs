//! One execution per future: against the search through states, the oracle, and the numbers of other tools.
//!
//! `CSSAME_LAW_PROGRAMS` and `CSSAME_LAW_SEED` run more programs, or others.

use crate::law::shared_names;
use cssame::budget::{Budget, Limits, Statistics};
use cssame::explore::{
    self, Answer, CountAnswer, FailureWitness, Outcome, Query, Refusal, SelectAnswer, Subject, Term, Verdict, WaitsFor,
    by_executions, count_by_executions, count_by_states, select_by_executions, select_by_states,
};
use cssame::form::Selection;
use cssame::ir::{DefinitionId, ReadId};
use cssame::model::{Model, Options as ModelOptions};
use cssame::vm::{Event, Machine, Progress, Semantics, Tables};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::sync::Mutex;
use support::generate::{self, Size};
use support::oracle::{Options, Visible, explore_source};
use support::{first_seed, model, model_with, possible_model, programs};

pub(crate) fn machine(text: &str, inputs: &[(&str, &str)]) -> Machine {
    machine_of_executions(&model_with(text, inputs))
}

/// The machine of a program as executions are followed with it.
pub(crate) fn machine_of_executions(model: &Model) -> Machine {
    Subject::from(model).machine_of_executions().into_owned()
}

pub(crate) fn counted(machine: &Machine, limits: &Limits) -> Result<CountAnswer, Refusal> {
    count_by_executions(machine, &Budget::from(*limits))
}

fn by_states(machine: &Machine) -> CountAnswer {
    by_few_states(machine, 1_000_000)
}

pub(crate) fn by_few_states(machine: &Machine, most: u64) -> CountAnswer {
    let limits = Limits { max_states: Some(most), ..Limits::default() };
    count_by_states(machine, &Budget::from(limits))
}

/// The futures that the oracle counts, if that many executions are all: by the variables that the text says are shared. The oracle
/// alone would leave out one whose only other user is never reached.
pub(crate) fn by_oracle(model: &Model, text: &str, max_executions: u64) -> Option<u64> {
    let visible = Visible::Named(shared_names(model.program(), model.form()));
    let explored = explore_source(text, &Options { visible, max_executions, ..Options::default() }).unwrap();
    explored.complete.then_some(explored.futures.len() as u64)
}

pub(crate) fn family(name: &str, n: u32) -> Machine {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/families").join(format!("{name}.csm"));
    let text = std::fs::read_to_string(path).unwrap();
    let n = n.to_string();
    let inputs: &[(&str, &str)] = if text.contains("input int n") { &[("n", &n)] } else { &[] };
    machine(&text, inputs)
}

/// The families that reads-from model checkers are measured with, and the numbers of classes that those report.
#[test]
fn families_have_the_numbers_that_others_count() {
    let families: &[(&str, &[(u32, u64)])] = &[
        ("fib_bench", &[(1, 11), (2, 140), (3, 1_698)]),
        ("floating_read", &[(1, 2), (6, 7), (25, 26)]),
        ("readers", &[(1, 2), (5, 32), (10, 1_024)]),
        ("lastzero", &[(2, 5), (4, 28), (8, 704)]),
        ("peterson", &[(1, 301), (2, 2_401)]),
        ("unlocked_adds", &[(1, 4), (3, 192)]),
        ("lastwrite", &[(1, 1), (5, 5), (10, 10)]),
    ];
    for &(name, sizes) in families {
        for &(n, futures) in sizes {
            let found = counted(&family(name, n), &Limits::default()).unwrap();
            assert_eq!((found.futures, found.executions, found.bound), (futures, futures, None), "{name} {n}");
        }
    }
}

/// Long executions, executions in which values decide, and threads without number have the futures that states show.
#[test]
fn families_have_the_numbers_that_states_show() {
    // What two threads do 42 times to cells of their own adds no futures: as many as `unlocked_adds` has.
    let families: &[(&str, &[(u32, u64)])] = &[
        ("own_cells", &[(1, 4), (3, 192)]),
        ("list_append", &[(2, 3), (3, 16)]),
        ("values_decide", &[(1, 3), (3, 338)]),
    ];
    for &(name, sizes) in families {
        for &(n, futures) in sizes {
            let machine = family(name, n);
            let found = counted(&machine, &Limits::default()).unwrap();
            assert_eq!((found.futures, found.executions, found.bound), (futures, futures, None), "{name} {n}");
            assert_eq!(by_states(&machine).futures, futures, "{name} {n}, by states");
        }
    }
    for n in [16, 64] {
        assert_eq!(counted(&family("merge_sort", n), &Limits::default()).unwrap().executions, 1, "merge sort of {n}");
    }
}

/// A pseudo-random number generator: SplitMix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.0;
        value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (value ^ (value >> 31)) % limit
    }
}

/// A program whose threads share memory and nothing else.
pub(crate) fn memory_program(seed: u64) -> String {
    let mut random = Random(seed);
    let mut text = "int x, y, z; int t[2];\ncobegin\n".to_owned();
    for thread in 0..2 + random.below(3) {
        let _ = write!(text, "  T{thread}: {{ int a; bool b; ");
        for _ in 0..1 + random.below(4) {
            statement(&mut random, &mut text, 0);
        }
        text.push_str("}\n");
    }
    text.push_str("coend\nprint(x);\n");
    fail_at_last(&mut random, &mut text);
    text
}

/// May fail behind all threads.
pub(crate) fn fail_at_last(random: &mut Random, text: &mut String) {
    text.push_str(match random.below(6) {
        0 => "assert(x != 1); print(y);\n",
        1 => "if (y == 1) assert(x > 0, \"x\"); print(10 / x);\n",
        _ => return,
    });
}

/// A program whose threads make locals that their own threads share, in loops and by recursion.
pub(crate) fn locals_program(seed: u64) -> String {
    let mut random = Random(seed);
    let mut text = "int x, y, z; int t[2];\n".to_owned();
    text.push_str("int f(int n, int m) { if (n < 1) return m; int p = x; int q[2]; ");
    text.push_str("cobegin A: p += f(n - 1, p); B: q[n & 1] = f(n - 1, m + 1); ");
    text.push_str(["coend ", "C: q[0] = p; coend "][random.below(2) as usize]);
    text.push_str("return p + q[0] + q[1]; }\nvoid main() {\ncobegin\n");
    for thread in 0..2 {
        let _ = write!(text, "  T{thread}: {{ int a; bool b; ");
        if random.below(2) == 0 {
            statement(&mut random, &mut text, 1);
        }
        let (one, other) = (cell(&mut random), cell(&mut random));
        let _ = match (thread, random.below(3)) {
            (1, 0) => write!(text, "{one} = {other} + 1; "),
            (_, 1) => write!(text, "{one} = f(1, {other}); "),
            _ => write!(
                text,
                "for (int i = 0; i < 2; i++) {{ int p; int q[2]; \
                 cobegin N: {one} = q[i]; M: {{ q[{other} & 1] = i + 1; p = {other}; }} coend print(p, q[0]); }} "
            ),
        };
        text.push_str("}\n");
    }
    let _ = write!(text, "coend\nprint(x, f({}, y));\n}}\n", random.below(2));
    text
}

fn cell(random: &mut Random) -> &'static str {
    ["x", "y", "z", "t[0]", "t[a & 1]"][random.below(5) as usize]
}

fn statement(random: &mut Random, text: &mut String, depth: u32) {
    let (one, other, value) = (cell(random), cell(random), random.below(3));
    let _ = match random.below(if depth == 0 { 14 } else { 9 }) {
        0 | 1 => write!(text, "a = {one}; "),
        2 => write!(text, "{one} = {value}; "),
        3 => write!(text, "{one} = {other} + 1; "),
        4 => write!(text, "{one} = a; "),
        5 => write!(text, "b = cas({one}, {value}, {}); ", value + 1),
        6 => write!(text, "a = swap({one}, {value}); "),
        7 => write!(text, "a = fetch_add({one}, 1); "),
        8 => write!(text, "print(a, b); "),
        9 => write!(text, "assume({one} < {}); ", value + 1),
        10 => write!(text, "a = choose(0, 1); "),
        11 => {
            text.push_str("cobegin N: { ");
            statement(random, text, 1);
            text.push_str("} M: { int a; bool b; ");
            statement(random, text, 1);
            write!(text, "}} coend ")
        }
        _ => {
            let _ = write!(text, "if ({one} == {value}) {{ ");
            statement(random, text, 1);
            write!(text, "}} ")
        }
    };
}

/// Programs whose threads make locals that their own threads share: which of them gets which cells depends on the order
/// of steps, and no future does.
const SHARED_LOCALS: [(&str, u64); 5] = [
    ("parfor (int i = 0; i < 2; i++) { int x; cobegin A: x = 1; B: print(x); coend }", 4),
    (
        "sem s = 1;
        cobegin
          S: { P(s); int x; V(s); cobegin A: x = 1; B: print(x); coend }
          T: { P(s); int y; V(s); cobegin A: y = 1; B: print(y); coend }
        coend",
        4,
    ),
    (
        "lock L;
        void f(int n) {
          lock(L); unlock(L);
          int x;
          if (n > 0) { cobegin A: f(n - 1); B: f(n - 1); coend } else { cobegin A: x = 1; B: print(x); coend }
        }
        void main() { f(1); }",
        4,
    ),
    (
        "lock L;
        void f() { lock(L); unlock(L); int x[2]; cobegin A: x[1] = 1; B: print(x[1]); coend }
        void main() { thread a = spawn f(); f(); join(a); }",
        4,
    ),
    (
        "class Pair { int a; int b; }
        parfor (int i = 0; i < 2; i++) { Pair p; cobegin A: swap(p.b, 1); B: print(p.b); coend }",
        4,
    ),
];

#[test]
fn a_cell_counts_by_what_it_belongs_to_and_not_by_its_address() {
    for (text, futures) in SHARED_LOCALS {
        let options = Options { max_executions: 400_000, merge_ends: true, ..Options::default() };
        let naive = explore_source(text, &options).unwrap();
        assert!(naive.complete, "{text}");
        assert_eq!(naive.futures.len() as u64, futures, "oracle: {text}");
        let found = by_states(&machine(text, &[]));
        assert_eq!((found.futures, found.bound), (futures, None), "{text}");
        match counted(&machine(text, &[]), &Limits::default()) {
            Ok(found) => {
                // The order of operations on objects makes more executions.
                let is_one_for_each = found.executions == futures || text.contains("(s)") || text.contains("(L)");
                assert!(found.futures == futures && is_one_for_each, "{found:?}: {text}");
            }
            Err(refusal) => panic!("{refusal:?}: {text}"),
        }
    }
}

/// Threads that fork, work on what they alone have, and join: there is one future, however long the execution is.
#[test]
fn programs_that_fork_and_join_have_one_future() {
    let sort = "int v[16] = {5, 3, 16, 1, 4, 2, 9, 8, 7, 15, 11, 12, 10, 14, 13, 6};
        int w[16];
        void sort(int lo, int hi) {
          if (hi - lo < 2) return;
          int mid = (lo + hi) / 2;
          cobegin L: sort(lo, mid); R: sort(mid, hi); coend
          int i = lo;
          int j = mid;
          for (int k = lo; k < hi; k++) {
            if (i < mid && (j >= hi || v[i] <= v[j])) { w[k] = v[i]; i++; } else { w[k] = v[j]; j++; }
          }
          for (int k = lo; k < hi; k++) v[k] = w[k];
        }
        void main() { sort(0, 16); for (int k = 0; k < 16; k++) assume(v[k] == k + 1); }";
    let fib = "int fib(int n) {
          if (n < 2) return n;
          int a;
          int b;
          cobegin L: a = fib(n - 1); R: b = fib(n - 2); coend
          return a + b;
        }
        void main() { assume(fib(8) == 21); }";
    let fill = "int v[16];
        void fill(int lo, int hi) {
          if (hi - lo == 1) { v[lo] = lo * lo; return; }
          int mid = (lo + hi) / 2;
          cobegin L: fill(lo, mid); R: fill(mid, hi); coend
        }
        void main() { fill(0, 16); int sum = 0; for (int k = 0; k < 16; k++) sum += v[k]; assume(sum == 1240); }";
    for text in [sort, fib, fill] {
        let found = counted(&machine(text, &[]), &Limits::default()).unwrap();
        assert_eq!((found.futures, found.executions, found.bound), (1, 1, None), "{text}");
    }
}

/// No future is missed, none is met twice, and none is counted that only a naive search would not find.
#[test]
fn random_programs_have_as_many_futures_as_states_and_oracle_say() {
    let programs = programs(30);
    let first = first_seed(1);
    let (mut compared, mut naive) = (0, 0);
    for seed in first..first + programs {
        let has_locals = seed % 3 == 0;
        let text = if has_locals { locals_program(seed) } else { memory_program(seed) };
        let model = model(&text);
        let machine = model.machine().clone();
        // Programs with locals have long executions, and many states, which each hold them all.
        let (most, most_states) = if has_locals { (100, 5_000) } else { (20_000, 100_000) };
        let limits = Limits { max_executions: Some(most), ..Limits::default() };
        let found = match counted(&machine, &limits) {
            Ok(found) => found,
            Err(refusal) => panic!("seed {seed}: {refusal:?}\n{text}"),
        };
        if found.bound.is_some() {
            continue;
        }
        let states = by_few_states(&machine, most_states);
        if states.bound.is_some() {
            continue;
        }
        compared += 1;
        assert_eq!(found.futures, states.futures, "seed {seed}:\n{text}");
        assert_same_answers(&machine, seed, &text);
        if let Some(futures) = by_oracle(&model, &text, 2_000) {
            naive += 1;
            assert_eq!(found.futures, futures, "seed {seed}:\n{text}");
        }
    }
    assert!(support::has_new_seed() || compared * 2 > programs, "{compared} of {programs} compared");
    println!("{compared} programs compared with the search through states, {naive} with the oracle");
}

/// Pairs of reads and definitions, and outcomes by name of thread.
type Facts = (Vec<(ReadId, DefinitionId)>, BTreeSet<Vec<(String, Vec<String>)>>);

fn facts(machine: &Machine, answer: &Answer) -> Facts {
    let lines = |output| answer.tables.lines(output).into_iter().map(str::to_owned).collect();
    let name = |path| machine.path_name(&answer.tables, path);
    let outcome =
        |outcome: &Outcome| outcome.outputs.iter().map(|&(path, output)| (name(path), lines(output))).collect();
    let pairs = answer.terms.iter().map(|term| (term.read, term.definition)).collect();
    (pairs, answer.outcomes.iter().map(outcome).collect())
}

/// Both means find the same terms, outcomes and deadlocks, and each schedule of a term shows it. Whether there is a deadlock.
fn assert_same_answers(machine: &Machine, seed: u64, text: &str) -> bool {
    let (limits, query) = (Limits::default(), Query::UP_TO_THE_READ);
    let executions = by_executions(machine, &query, &limits.into()).unwrap();
    let states = explore::by_states(machine, &query, &limits.into());
    assert_eq!(facts(machine, &executions), facts(machine, &states), "seed {seed}:\n{text}");
    for Term { read, definition, schedule, .. } in &executions.terms {
        let (mut tables, mut events) = (Tables::new(), Vec::new());
        let mut state = machine.start(&mut tables, &mut events);
        for &choice in schedule.as_ref().unwrap() {
            machine.step(&mut state, &mut tables, choice, &mut events);
        }
        let shown = events.iter().any(|(_, _, event)| {
            matches!(event, Event::Read { read: r, writer: Some(d), .. } if (r, d) == (read, definition))
        });
        assert!(shown, "seed {seed}: {read:?} {definition:?}\n{text}");
    }
    let blocked = |answer: &Answer| -> BTreeSet<String> {
        let waits = |deadlock: &explore::Deadlock| {
            let thread = |one: &explore::BlockedThread| {
                let path = machine.path_name(&answer.tables, one.path);
                let holder = match &one.waits_for {
                    WaitsFor::Lock { holder, .. } => holder.map(|holder| machine.path_name(&answer.tables, holder)),
                    _ => None,
                };
                format!("{path} {:?} {holder:?}", one.at)
            };
            deadlock.threads.iter().map(thread).collect::<Vec<_>>().join(", ")
        };
        answer.deadlocks.iter().map(waits).collect()
    };
    assert_eq!(blocked(&executions), blocked(&states), "seed {seed}:\n{text}");
    for deadlock in &executions.deadlocks {
        let mut tables = Tables::new();
        let mut state = machine.start(&mut tables, &mut ());
        for &choice in &deadlock.schedule {
            machine.step(&mut state, &mut tables, choice, &mut ());
        }
        assert!(machine.is_deadlock(&state), "seed {seed}:\n{text}");
    }
    let failures = |answer: &Answer| -> BTreeSet<_> {
        let of = |witness: &FailureWitness| (witness.failure.kind, machine.span(witness.failure.at));
        answer.failures.iter().map(of).collect()
    };
    assert_eq!(failures(&executions), failures(&states), "seed {seed}:\n{text}");
    for FailureWitness { failure, schedule, .. } in &executions.failures {
        let mut tables = Tables::new();
        let mut state = machine.start(&mut tables, &mut ());
        let mut last = Progress::Running;
        for &choice in schedule {
            last = machine.step(&mut state, &mut tables, choice, &mut ());
        }
        assert_eq!(last, Progress::Failed(*failure), "seed {seed}:\n{text}");
    }
    !executions.deadlocks.is_empty()
}

/// Both means agree on which selections are consistent, and on what contradicts what.
#[test]
fn selections_agree() {
    let mut decided = [0, 0];
    for seed in 1..programs(30) {
        let text = memory_program(seed);
        let machine = machine(&text, &[]);
        // Each question follows all executions again.
        let few = Limits { max_executions: Some(2_000), ..Limits::default() };
        let Ok(answer) = by_executions(&machine, &Query::UP_TO_THE_READ, &few.into()) else { continue };
        if answer.bound.is_some() {
            continue;
        }
        let limits = Limits::default();
        let mut random = Random(seed);
        for _ in 0..4.min(answer.terms.len()) {
            let mut one = || {
                let Term { read, .. } = answer.terms[random.below(answer.terms.len() as u64) as usize];
                let Term { definition, .. } = answer.terms[random.below(answer.terms.len() as u64) as usize];
                let instance = [None, None, Some(1)][random.below(3) as usize];
                Selection { instance, ..Selection::of(read, definition) }
            };
            let selections = [one(), one()];
            let executions = select_by_executions(&machine, &selections, &limits.into()).unwrap();
            let states = select_by_states(&machine, &selections, &limits.into());
            let facts = |answer: SelectAnswer| match answer.verdict {
                Verdict::Consistent { satisfied, .. } => Ok(satisfied.iter().filter(|&&one| one).count()),
                Verdict::Inconsistent { core } => Err(core),
                Verdict::Undecided => panic!("seed {seed}: undecided\n{text}"),
            };
            let expected = facts(states);
            decided[usize::from(expected.is_ok())] += 1;
            assert_eq!(facts(executions), expected, "seed {seed}: {selections:?}\n{text}");
        }
    }
    assert!(support::has_new_seed() || decided.iter().all(|&count| count > 10), "{decided:?}");
}

/// All branches of this family are alike, so the guess is right from the beginning.
#[test]
fn the_number_of_executions_is_guessed() {
    let guesses = Mutex::new(Vec::new());
    let reporter = |now: &Statistics| guesses.lock().unwrap().push(now.expected);
    let found = count_by_executions(&family("readers", 10), &Budget::unlimited().with_reporter(&reporter));
    assert_eq!(found.unwrap().futures, 1_024);
    let guesses = guesses.into_inner().unwrap();
    assert!(guesses.len() == 16 && guesses.iter().all(|guess| (900..1_150).contains(guess)), "{guesses:?}");
}

/// A program whose threads synchronise by objects of all kinds, and share memory.
fn objects_program(seed: u64) -> String {
    let mut random = Random(seed);
    let mut text =
        "int x, y, z; int t[2]; lock L; lock M; reentrant lock N; rwlock R; cond c; sem s = 1; sem e = 0; event v; \
                    barrier b(2);\ncobegin\n"
            .to_owned();
    // Few kinds in one program, so that threads meet.
    let kinds = [random.below(9), random.below(9)];
    let waits = random.below(3) == 0;
    let threads = 2 + random.below(2);
    for thread in 0..threads {
        let _ = write!(text, "  T{thread}: {{ int a; bool b; ");
        for _ in 0..1 + random.below(if waits { 4 } else { 3 }) {
            match random.below(3) {
                0 => simple(&mut random, &mut text),
                1 if waits => conditions(&mut random, &mut text),
                _ => {
                    let kind = kinds[random.below(2) as usize];
                    objects(&mut random, &mut text, kind);
                }
            }
        }
        text.push_str("}\n");
    }
    text.push_str("coend\nprint(x);\n");
    fail_at_last(&mut random, &mut text);
    text
}

fn simple(random: &mut Random, text: &mut String) {
    let (one, other) = (["x", "y"][random.below(2) as usize], ["x", "y"][random.below(2) as usize]);
    let _ = match random.below(6) {
        0 => write!(text, "a = {one}; "),
        1 => write!(text, "{one} = {}; ", random.below(3)),
        2 => write!(text, "{one} = {other} + 1; "),
        3 => write!(text, "a = fetch_add({one}, 1); "),
        4 => write!(text, "if ({one} == 1) {other} = 2; "),
        _ => write!(text, "b = cas({one}, 0, 1); "),
    };
}

fn conditions(random: &mut Random, text: &mut String) {
    match random.below(6) {
        0 => text.push_str("lock(L); if (x == 0) wait(c, L); "),
        5 => {
            let _ = write!(
                text,
                "for (int i = 0; i < 2; i++) {{ lock(L); while ({} == 0) wait(c, L); ",
                ["x", "y"][random.below(2) as usize]
            );
            simple(random, text);
            return text.push_str("notify(c); unlock(L); } ");
        }
        1 => text.push_str("lock(L); wait(c, L); "),
        2 => text.push_str("lock(L); notify(c); "),
        3 => return text.push_str(if random.below(2) == 0 { "notify(c); " } else { "print(a); notify(c); " }),
        _ => text.push_str("lock(L); notifyAll(c); "),
    }
    simple(random, text);
    text.push_str("unlock(L); ");
}

fn objects(random: &mut Random, text: &mut String, kind: u64) {
    let (before, after) = match kind {
        0 | 1 => ("lock(L); ", "unlock(L); "),
        2 => ("lock(M); ", "unlock(M); "),
        3 => ("lock(N); lock(N); ", "unlock(N); unlock(N); "),
        4 if random.below(2) == 0 => ("rdlock(R); ", "unlock(R); "),
        4 => ("wrlock(R); ", "unlock(R); "),
        5 => ("P(s); ", "V(s); "),
        6 => [("P(e); ", ""), ("", "V(e); "), ("V(e); ", "")][random.below(3) as usize],
        7 => [("wait(v); ", ""), ("set(v); ", ""), ("", "clear(v); ")][random.below(3) as usize],
        _ => match random.below(4) {
            0 => ("if (trylock(L)) { ", "unlock(L); } "),
            1 => ("b = trylock(M); if (b) { y = 3; unlock(M); } ", ""),
            2 => ("if (trywrlock(R)) { ", "unlock(R); } "),
            _ => ("barrier(b); ", ""),
        },
    };
    text.push_str(before);
    for _ in 0..random.below(3) {
        simple(random, text);
    }
    // A lock in another one, in any order.
    if random.below(4) == 0 && before.starts_with("lock") {
        text.push_str(if random.below(2) == 0 { "lock(M); x++; unlock(M); " } else { "y = x; " });
    }
    text.push_str(after);
}

/// What was found out about random programs that synchronise by objects.
#[derive(Debug, Default)]
pub(crate) struct Compared {
    /// How many agree with the search through states.
    pub(crate) programs: u64,
    /// How many of them with the oracle as well.
    pub(crate) naive: u64,
    /// How many have deadlocks.
    pub(crate) deadlocks: u64,
    /// How many have more executions than futures.
    pub(crate) orders: u64,
    /// How many are refused.
    pub(crate) refused: u64,
}

impl Compared {
    /// Holds random programs to that, a third of the number that is set, for each takes long; says how many there were.
    pub(crate) fn of_random(
        program: impl Fn(u64) -> String,
        is_meant: impl Fn(Refusal) -> bool + Copy,
    ) -> (u64, Compared) {
        let programs = programs(60) / 3;
        let first = first_seed(1);
        let mut compared = Compared::default();
        (first..first + programs).for_each(|seed| compared.add(seed, &program(seed), is_meant));
        (programs, compared)
    }

    /// Holds a program to the search through states and to the oracle.
    pub(crate) fn add(&mut self, seed: u64, text: &str, is_meant: impl Fn(Refusal) -> bool) {
        let Some(model) = possible_model(text) else { return };
        let machine = machine_of_executions(&model);
        let limits = Limits { max_executions: Some(20_000), ..Limits::default() };
        let found = match counted(&machine, &limits) {
            Ok(found) => found,
            Err(refusal) => {
                self.refused += 1;
                assert!(is_meant(refusal), "seed {seed}: {refusal:?}\n{text}");
                return;
            }
        };
        let states = by_few_states(&machine, 100_000);
        if found.bound.is_some() || states.bound.is_some() {
            return;
        }
        self.programs += 1;
        self.orders += u64::from(found.executions > found.futures);
        assert_eq!(found.futures, states.futures, "seed {seed}:\n{text}");
        self.deadlocks += u64::from(assert_same_answers(&machine, seed, text));
        if let Some(futures) = by_oracle(&model, text, 5_000) {
            self.naive += 1;
            assert_eq!(found.futures, futures, "seed {seed}:\n{text}");
        }
    }
}

/// Programs that synchronise by objects, deadlocks included: as many futures, and what they show, as states and the oracle say.
#[test]
fn random_programs_with_objects_have_as_many_futures_as_states_and_oracle_say() {
    let programs = programs(60);
    let first = first_seed(1);
    let mut compared = Compared::default();
    for seed in first..first + programs {
        let text = objects_program(seed);
        compared.add(seed, &text, |refusal| match refusal {
            Refusal::Synchronisation => text.contains("barrier(b)") && text.contains("T2"),
            Refusal::Failure => text.contains("unlock(L); }") && text.contains("wait(c, L)"),
            refusal => refusal == Refusal::Orders,
        });
    }
    println!("{compared:?}");
    assert!(support::has_new_seed() || compared.programs * 2 > programs, "{compared:?}");
}

/// Who is woken time and again waits for each of those who wake him.
#[test]
fn threads_that_are_woken_twice_are_followed() {
    let text = "int items[8]; int head, tail, count; lock L; cond c, d;
        void put() { lock(L); while (count == 1) wait(c, L); items[tail] = 1; tail++; count++; notify(d); unlock(L); }
        void get() { lock(L); while (count == 0) wait(d, L); int v = items[head]; head++; count--; notify(c); unlock(L); }
        void main() { cobegin P: { put(); put(); put(); } C: { get(); get(); get(); } coend }";
    let machine = machine(text, &[]);
    let found = counted(&machine, &Limits::default()).unwrap();
    assert_eq!((found.futures, found.executions, found.bound), (by_states(&machine).futures, found.futures, None));
}

/// Programs in which something about an operation on an object is open until just before it: found by a reader of the search.
#[test]
fn what_an_operation_leads_to_is_asked_right_before_it() {
    let waits = "int x; lock L; cond c; sem s; event e;
        cobegin
          A: { lock(L); V(s); wait(c, L); x = 1; unlock(L); }
          B: { lock(L); V(s); wait(c, L); x = 2; unlock(L); }
          N: { P(s); P(s); lock(L); unlock(L); wait(e); print(0); notify(c); }
          M: { lock(L); print(x); unlock(L); }
          K: { set(e); }
        coend";
    let found = counted(&machine(waits, &[]), &Limits::default()).unwrap();
    assert_eq!((found.futures, by_states(&machine(waits, &[])).futures), (4, 4));
    let discarded = format!("{} assume(a == 0);", blind_writers(20));
    assert_eq!(counted(&machine(&discarded, &[]), &Limits::default()), Err(Refusal::Orders));
    let writers = "int x; rwlock R;
        cobegin T1: { rdlock(R); rdlock(R); print(x); unlock(R); unlock(R); } T2: { wrlock(R); x = 1; unlock(R); } coend";
    let semantics = Semantics { prefer_writers: true, ..Semantics::default() };
    let options = ModelOptions { semantics, ..ModelOptions::default() };
    let preferred = Model::from_text("writers.csm", writers, &options).unwrap();
    assert_eq!(counted(preferred.machine(), &Limits::default()), Err(Refusal::Synchronisation));
    assert_eq!(explore::count(preferred.machine(), &Budget::unlimited()).futures, 3);
}

/// Two threads that write n times under a lock what neither of them reads; a third one reads it at last.
fn blind_writers(n: u32) -> String {
    format!(
        "int a, b; lock L; event d, e;
        cobegin
          A: {{ for (int k = 0; k < {n}; k++) {{ lock(L); a = k; unlock(L); }} set(d); }}
          B: {{ for (int k = 0; k < {n}; k++) {{ lock(L); b = k; unlock(L); }} set(e); }}
          C: {{ wait(d); wait(e); print(a, b); }}
        coend"
    )
}

/// Where every body of a lock reads what others have written in it, there is one execution for each future; where bodies have nothing
/// to do with each other, orders of them are many, and states count.
#[test]
fn orders_of_lock_bodies_are_futures_only_where_reads_tell() {
    for (n, futures) in [(3, 20), (6, 924)] {
        let found = counted(&family("locked_adds", n), &Limits::default()).unwrap();
        assert_eq!((found.futures, found.executions, found.bound), (futures, futures, None), "locked adds {n}");
    }
    for (name, n) in [("bounded_buffer", 1), ("readers_writers", 1)] {
        let machine = family(name, n);
        let found = counted(&machine, &Limits::default()).unwrap();
        assert_eq!((found.futures, found.bound), (by_states(&machine).futures, None), "{name} {n}");
        assert!(found.executions <= 4 * found.futures, "{name} {n}: {} executions", found.executions);
    }
    assert_eq!(counted(&family("philosophers", 8), &Limits::default()).unwrap().futures, 1);
    let text = &blind_writers(8);
    assert_eq!(counted(&machine(text, &[]), &Limits::default()), Err(Refusal::Orders));
    // With a bound on work they are followed if they fit into it: 12,870 executions.
    let of_work = |most| counted(&machine(text, &[]), &Limits { max_work: Some(most), ..Limits::default() });
    let all = of_work(20_000_000).unwrap();
    assert_eq!((all.futures, all.executions, all.bound), (1, 12_870, None));
    assert_eq!(of_work(100_000), Err(Refusal::Orders));
    let philosophers = family("twelve_philosophers", 12);
    assert_eq!(counted(&philosophers, &Limits::default()), Err(Refusal::Orders));
    let decided = explore::futures(&philosophers, &Query::UP_TO_THE_READ, &Budget::unlimited());
    assert_eq!((decided.bound, decided.statistics.executions), (None, 4_094));
    assert_eq!(by_states(&machine(text, &[])).futures, 1);
}

/// What happens in an atomic block is seen also where an assumption in it does not hold.
#[test]
fn atomic_blocks_are_refused() {
    let text = "int a;\ncobegin T1: a = 5; T2: atomic { assume(a < 2); } coend\n";
    assert_eq!(counted(&machine(text, &[]), &Limits::default()), Err(Refusal::Synchronisation));
    assert_eq!(by_states(&machine(text, &[])).futures, 1);
}

/// Programs of the whole language: those that are not refused.
#[test]
fn programs_of_the_whole_language_agree() {
    let mut compared = 0;
    for seed in 1..programs(150) {
        let size = Size { threads: 3, operations: 4, globals: 3, structured: seed % 2 == 0 };
        let text = if seed % 5 == 4 { generate::arrays(seed) } else { generate::program(seed, &size) };
        let Some(model) = possible_model(&text) else { continue };
        let machine = model.machine().clone();
        let limits = Limits { max_executions: Some(20_000), ..Limits::default() };
        let Ok(found) = counted(&machine, &limits) else { continue };
        let states = by_states(&machine);
        if found.bound.is_none() && states.bound.is_none() {
            compared += 1;
            assert_eq!(found.futures, states.futures, "seed {seed}:\n{text}");
        }
    }
    assert!(support::has_new_seed() || compared > 5, "{compared} compared");
}

#[test]
fn programs_with_many_orders_and_few_states_are_counted_through_states() {
    // 22,680 orders of bodies, of which four threads write without a look, and one sees the last write before it.
    let model = model(
        "int x, y; lock l; void put(int n) { lock(l); x = n; y = n; unlock(l); } \
         cobegin A: { put(1); put(2); } B: { put(3); put(4); } C: { put(5); put(6); } D: { put(7); put(8); } \
         E: { lock(l); int n = x; unlock(l); print(n); } coend",
    );
    let found = Subject::from(&model).count(&Budget::unlimited());
    assert_eq!((found.futures, found.executions, found.bound), (9, 9, None));
    assert!(found.statistics.states > 1_000, "{found:?}");
}

#[test]
fn a_place_is_one_of_the_text_whichever_call_has_come_there() {
    for (text, futures) in [
        // The copy of a function for a call is no place of its own, nor is a round with another local.
        ("lock L; parfor (int i = 0; i < 2; i++) { unlock(L); }", 1),
        ("lock L; parfor (int i = 0; i < 2; i++) { int j = i; unlock(L); }", 1),
        ("void f(lock a) { unlock(a); } lock L; cobegin A: f(L); B: f(L); coend", 1),
        ("int x; void f() { assert(x > 2); } cobegin A: f(); B: f(); coend", 3),
        ("event e; void f() { wait(e); } set(e); cobegin A: { f(); f(); } B: clear(e); coend", 2),
    ] {
        let model = model(text);
        let found = Subject::from(&model).count(&Budget::unlimited());
        assert_eq!((found.futures, found.bound), (futures, None), "{text}");
    }
}
