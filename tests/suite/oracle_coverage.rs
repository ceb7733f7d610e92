//! The oracle of `coverage` against answers that were found by hand: the class of Wang et al. (FACTS C), the patterns
//! themselves, and small programs of each kind.

use std::collections::{BTreeMap, BTreeSet};
use support::generate::{Rng, accessing};
use support::oracle::{
    Access, Coverage, CoverageOptions, Instance, Places, Replayed, TABLE, Variables, Wanted, all_instances, among,
    by_pattern, coverage_by_executions, coverage_of_source, library_variables, replay, steps, totals, word,
};
use support::{first_seed, programs};

fn log4j() -> String {
    std::fs::read_to_string(support::root().join("samples/map_log4j.csm")).unwrap()
}

/// The class with an object, whose threshold main sets, and the test of the paper.
fn log4j_with(threshold: i32) -> String {
    let set = if threshold == 0 { String::new() } else { format!("  o.set({threshold});\n") };
    let body = "  cobegin\n    T1: bool r = o.severe(5);\n    T2: o.set(0);\n  coend\n";
    format!("{}Category o;\nvoid main() {{\n{set}{body}}}\n", log4j())
}

fn coverage(source: &str) -> Coverage {
    let found = coverage_of_source(source, &CoverageOptions::default());
    let found = found.unwrap_or_else(|error| panic!("{error}\n{source}"));
    assert!(found.complete, "{source}");
    found
}

fn texts(instances: &BTreeSet<Instance>) -> Vec<String> {
    instances.iter().map(Instance::to_string).collect()
}

/// What executions cover; by definition, execution by execution, it is the same.
fn feasible(source: &str) -> Vec<String> {
    let found = coverage(source);
    let slowly = coverage_by_executions(source, 200_000).unwrap().expect("a small program");
    assert_eq!(texts(&found.feasible), texts(&slowly), "{source}");
    texts(&found.feasible)
}

fn run(source: &str, list: &str) -> Replayed {
    replay(source, None, &steps(list)).unwrap_or_else(|error| panic!("{error}\n{source}"))
}

#[test]
fn the_class_of_the_paper_has_sixteen_instances() {
    let variables = library_variables(&log4j()).unwrap();
    assert_eq!(variables.keys().collect::<Vec<_>>(), ["Category.threshold"]);
    let expected = [2, 2, 1, 4, 2, 2, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(totals(&variables), expected);
    let all = all_instances(&variables);
    assert_eq!((all.len(), by_pattern(&all)), (16, expected));
    // The program of the test has the same.
    let program = coverage(&log4j_with(3));
    assert_eq!(program.shared.iter().collect::<Vec<_>>(), ["Category.threshold"]);
    assert_eq!(program.all(), all);
}

#[test]
fn its_executions_cover_three_two_and_two_of_them_and_five_in_all() {
    let source = log4j_with(3);
    let (s4, s5, s9) = ("read threshold@16:9", "read threshold@17:24", "write threshold@21:5");
    let rows = [
        // main sets the threshold and forks; then the three steps.
        (
            "main main T1 T2 T1",
            vec![format!("1: {s4}, {s9}"), format!("2: {s9}, {s5}"), format!("4: {s4}, {s9}, {s5}")],
        ),
        ("main main T1 T1 T2", vec![format!("1: {s4}, {s9}"), format!("1: {s5}, {s9}")]),
        // The threshold is 0 then, and is not read again.
        ("main main T2 T1", vec![format!("2: {s9}, {s4}")]),
    ];
    let mut union = BTreeSet::new();
    for (list, expected) in rows {
        let found = run(&source, list);
        assert_eq!(texts(&found.covered), expected, "{list}");
        union.extend(found.covered);
    }
    // With another value than null, the last execution reads it twice.
    let other = source.replace("T2: o.set(0)", "T2: o.set(4)");
    let found = run(&other, "main main T2 T1 T1");
    assert_eq!(texts(&found.covered), [format!("2: {s9}, {s4}"), format!("2: {s9}, {s5}")]);
    assert_eq!(texts(&among(&found.covered, &Variables::new())), Vec::<String>::new());
    union.extend(found.covered);
    assert_eq!(union.len(), 5);
}

#[test]
fn two_of_them_are_feasible_with_null_and_five_with_three() {
    assert_eq!(feasible(&log4j_with(0)).len(), 2);
    assert_eq!(feasible(&log4j_with(3)).len(), 5);
    let initial = log4j_with(0).replace("private int threshold;", "private int threshold = 3;");
    assert_eq!(feasible(&initial).len(), 5);
}

#[test]
fn the_total_is_the_number_of_instances() {
    for seed in 0..300 {
        let (mut rng, mut variables) = (Rng::new(seed), Variables::new());
        for variable in 0..1 + rng.below(3) {
            let mut places = Places::default();
            let both = rng.below(2);
            for (kind, of) in [(0, &mut places.reads), (1, &mut places.writes)] {
                // The first place may read and write at once.
                of.extend((0..rng.below(3)).map(|at| format!("v{variable}@{}:1", at * 2 + kind * (1 - both))));
            }
            variables.insert(format!("v{variable}"), places);
        }
        let all = all_instances(&variables);
        assert_eq!(by_pattern(&all), totals(&variables), "{seed}");
        // None belongs to two patterns: the accesses together with the threads are those of one alone.
        let played: BTreeSet<(Vec<usize>, _)> = all
            .iter()
            .map(|instance| {
                let threads = word(TABLE[instance.pattern - 1]).iter().map(|letter| letter.thread).collect();
                (threads, instance.steps.clone())
            })
            .collect();
        assert_eq!(played.len(), all.len(), "{seed}");
    }
}

#[test]
fn two_variables_with_one_write_each_have_ten_instances() {
    let source = "int x, y; void f() { x = 1; } void g() { y = 1; }
        void main() { cobegin
          T1: for (int i = 0; i < 2; i++) { f(); g(); }
          T2: for (int i = 0; i < 2; i++) { f(); g(); }
        coend }";
    let found = coverage(source);
    let mut expected = [0; 17];
    (expected[2], expected[7]) = (2, 2);
    expected[8..11].fill(2);
    assert_eq!(totals(&found.of_shared()), expected);
    assert_eq!(expected.iter().sum::<u64>(), 10);
    // Real executions cover all of them.
    assert_eq!(found.feasible, found.all());
}

#[test]
fn the_words_are_distinct_and_those_with_two_variables_are_not_serialisable() {
    let mut forms = BTreeSet::new();
    for (index, text) in TABLE.iter().enumerate() {
        let letters = word(text);
        assert_eq!((letters[0].thread, letters[0].variable), (0, 0), "{text}");
        let renamed = |threads: usize, variables: usize| -> Vec<(usize, bool, usize)> {
            letters.iter().map(|each| (each.thread ^ threads, each.write, each.variable ^ variables)).collect()
        };
        let names = [(0, 0), (0, 1), (1, 0), (1, 1)];
        assert!(
            forms.insert(names.map(|(threads, variables)| renamed(threads, variables)).into_iter().min()),
            "{text}"
        );
        // An order of the threads is forced by each two conflicting letters.
        let mut forced = BTreeSet::new();
        for (i, one) in letters.iter().enumerate() {
            for two in &letters[i + 1..] {
                if one.thread != two.thread && one.variable == two.variable && (one.write || two.write) {
                    forced.insert(one.thread);
                }
            }
        }
        assert!(index < 8 || forced.len() == 2, "{text}");
    }
}

#[test]
fn what_main_does_before_the_spawn_and_behind_the_join_covers_nothing() {
    let source = "int x;
void w() { x = 1; }
void main() {
  x = 2;
  thread t = spawn w();
  x = 3;
  join(t);
  print(x);
}";
    assert_eq!(feasible(source), ["3: write x@2:12, write x@6:3", "3: write x@6:3, write x@2:12"]);
    assert_eq!(totals(&coverage(source).of_shared())[..8], [3, 3, 9, 3, 9, 9, 9, 27]);
    // A join that is not always made.
    let source = "int x; void w() { x = 1; }
void main() { thread t = spawn w(); if (choose(0, 1) == 1) join(t); x = 2; }";
    assert_eq!(feasible(source), ["3: write x@1:19, write x@2:69", "3: write x@2:69, write x@1:19"]);
    // Nothing is in parallel here.
    let source = "int x; void w() { x = 1; } void main() { thread t = spawn w(); join(t); x = 2; }";
    assert_eq!((feasible(source).len(), coverage(source).shared.len()), (0, 0));
}

#[test]
fn threads_of_a_nested_cobegin_are_ordered_with_their_parent_alone() {
    let source = "int x;
cobegin
  A: cobegin
       B: x = 1;
       C: x = 2;
     coend
     print(x);
  D: x = 3;
coend";
    let (b, c, d, a) = ("write x@4:11", "write x@5:11", "write x@8:6", "read x@7:12");
    let mut expected = vec![format!("1: {a}, {d}"), format!("2: {d}, {a}")];
    for (one, two) in [(b, c), (b, d), (c, b), (c, d), (d, b), (d, c)] {
        expected.push(format!("3: {one}, {two}"));
    }
    assert_eq!(feasible(source), expected);
}

#[test]
fn a_match_is_on_one_cell_and_an_instance_is_of_places() {
    let array = "int t[2];
cobegin
  T1: t[0] = 1; t[1] = 2;
  T2: t[1] = 3;
coend";
    assert_eq!(feasible(array), ["3: write t@3:17, write t@4:7", "3: write t@4:7, write t@3:17"]);
    assert_eq!(totals(&coverage(array).of_shared())[..8], [0, 0, 9, 0, 0, 0, 0, 27]);
    let objects = |first: &str| {
        format!(
            "class A {{ int v; void put(int n) {{ v = n; }} int get() {{ return v; }} }}
A p, q;
cobegin
  T1: {first}.put(1); q.put(1);
  T2: int r = q.get();
coend"
        )
    };
    let (read, write) = ("read v@1:64", "write v@1:36");
    let expected = [format!("1: {read}, {write}"), format!("2: {write}, {read}")];
    assert_eq!(feasible(&objects("p")), expected);
    let mut expected = expected.to_vec();
    expected.push(format!("6: {write}, {read}, {write}"));
    assert_eq!(feasible(&objects("q")), expected);
    assert_eq!(
        totals(&coverage(&objects("q")).of_shared()),
        totals(&library_variables(objects("q").lines().next().unwrap()).unwrap())
    );
    assert_eq!(coverage(&objects("q")).shared.iter().collect::<Vec<_>>(), ["A.v"]);
    let inner = "class A { int v; } class B { A a; } B b; cobegin T1: b.a.v = 1; T2: b.a.v = 2; coend";
    assert_eq!(coverage(inner).shared.iter().collect::<Vec<_>>(), ["A.v"]);
    let local = "void main() { int k; cobegin T1: k = 1; T2: k = 2; coend print(k); }";
    assert_eq!((feasible(local).len(), coverage(local).shared.contains("k")), (2, true));
    let parfor = "int x; parfor (int i = 0; i < 3; i++) { x = i; }";
    assert_eq!(feasible(parfor), ["3: write x@1:41, write x@1:41"]);
}

#[test]
fn one_place_in_two_threads_makes_an_instance() {
    let source = "int x; void inc() { x++; } void main() { cobegin T1: inc(); T2: inc(); coend }";
    let (read, write) = ("read x@1:21", "write x@1:21");
    let expected = [
        format!("1: {read}, {write}"),
        format!("2: {write}, {read}"),
        format!("3: {write}, {write}"),
        format!("7: {read}, {write}, {write}"),
    ];
    assert_eq!(feasible(source), expected);
}

#[test]
fn an_atomic_expression_is_one_step_and_both_a_reader_and_a_writer() {
    let source = |call: &str| format!("int x;\ncobegin\n  T1: {call};\n  T2: x = 5;\ncoend");
    let (read, write, other) = (|at: u32| format!("read x@3:{at}"), |at: u32| format!("write x@3:{at}"), "write x@4:7");
    // One that fails only reads.
    let expected = |at| {
        [
            format!("1: {}, {other}", read(at)),
            format!("2: {other}, {}", read(at)),
            format!("3: {}, {other}", write(at)),
            format!("3: {other}, {}", write(at)),
        ]
    };
    assert_eq!(feasible(&source("bool ok = cas(x, 0, 1)")), expected(21)[..3]);
    assert_eq!(feasible(&source("int old = swap(x, 1)")), expected(22));
    assert_eq!(feasible(&source("fetch_add(x, 1)")), expected(17));
    assert_eq!(totals(&coverage(&source("swap(x, 1)")).of_shared())[..8], [2, 2, 4, 2, 4, 4, 4, 8]);
    let block = "int x, y; cobegin T1: atomic { x = 1; y = 1; } T2: atomic { x = 2; y = 2; } coend";
    // No match of two variables: nobody is between.
    assert_eq!(feasible(block).len(), 4);
}

/// Two variables, written in one order and read in the other.
const CROSSED: &str = "int x, y;
cobegin
  T1: x = 1; y = 1;
  T2: int n = y; int m = x;
coend";

#[test]
fn two_variables_are_matched_in_both_orders() {
    let (wx, wy, ry, rx) = ("write x@3:7", "write y@3:14", "read y@4:15", "read x@4:26");
    let expected = [
        format!("1: {rx}, {wx}"),
        format!("1: {ry}, {wy}"),
        format!("2: {wx}, {rx}"),
        format!("2: {wy}, {ry}"),
        format!("13: {wx}, {ry}, {rx}, {wy}"),
        format!("15: {ry}, {wx}, {wy}, {rx}"),
        format!("16: {ry}, {wx}, {rx}, {wy}"),
        format!("17: {wx}, {ry}, {wy}, {rx}"),
    ];
    assert_eq!(feasible(CROSSED), expected);
    let writes = |second: &str| {
        by_pattern(&coverage(&format!("int x, y; cobegin T1: x = 1; y = 1; T2: {second} coend")).feasible)
    };
    assert_eq!(writes("x = 2; y = 2;")[2..11], [4, 0, 0, 0, 0, 0, 2, 0, 0]);
    assert_eq!(writes("y = 2; x = 2;")[2..11], [4, 0, 0, 0, 0, 0, 0, 2, 2]);
}

#[test]
fn a_discarded_execution_covers_nothing_and_a_failed_one_does() {
    let assumed = CROSSED.replace("int n = y;", "int n = y; assume(n == 1);");
    assert_eq!(feasible(&assumed), ["2: write x@3:7, read x@4:42", "2: write y@3:14, read y@4:15"]);
    let asserted = "int x; cobegin T1: x = 1; x = 2; T2: int n = x; assert(n != 1); coend";
    // The failure is a step, and the second write may come before it.
    assert_eq!(feasible(asserted).len(), 5);
    let stuck = "int x; sem s; cobegin T1: x = 1; P(s); T2: int n = x; P(s); coend";
    assert_eq!(feasible(stuck).len(), 2);
    let nothing = "int x; cobegin T1: x = 1; T2: int n = x; assume(false); coend";
    assert_eq!(feasible(nothing).len(), 0);
}

#[test]
fn a_lock_excludes_what_comes_between() {
    let source = "int x; lock L; cobegin
  T1: lock(L); x = 1; x = 2; unlock(L);
  T2: lock(L); int n = x; unlock(L);
coend";
    let (one, two, read) = ("write x@2:16", "write x@2:23", "read x@3:24");
    let expected = [
        format!("1: {read}, {one}"),
        format!("1: {read}, {two}"),
        format!("2: {one}, {read}"),
        format!("2: {two}, {read}"),
    ];
    assert_eq!(feasible(source), expected);
    // Locks do not order: what stands in two sections of one lock is a match.
    let deadlock = "int x; lock L, M; cobegin
  T1: lock(L); x = 1; lock(M); x = 2; unlock(M); unlock(L);
  T2: lock(M); int n = x; lock(L); unlock(L); unlock(M);
coend";
    assert_eq!(feasible(deadlock).len(), 4);
}

#[test]
fn a_schedule_says_which_alternative() {
    let source = "int x; cobegin T1: x = choose(3, 5); T2: assert(x != 5); coend";
    assert_eq!(run(source, "main T1:2 T1 T2 T2").status, "assert");
    assert_eq!(run(source, "main T1:1 T1 T2 T2 T1 main main").status, "ok");
    assert_eq!(run(source, "main T1:1").status, "going");
    assert!(replay(source, None, &steps("main T1:3")).is_err());
    assert!(replay(source, None, &steps("T1")).is_err());
    let ends = "int x; sem s; cobegin T1: P(s); x = 1; T2: x = 2; coend";
    let stuck = run(ends, "main T2 T2");
    assert_eq!((stuck.status.as_str(), stuck.trace.len()), ("deadlock", 1));
}

/// The second thread of a parfor begins at its own step `fork`; an atomic block is one step, whatever it signals.
#[test]
fn the_oracle_follows_schedules_of_the_tool() {
    let follow = |source: &str, visible: &[(&str, bool)], list: &[(&str, &str)]| {
        let access = |&(place, write): &(&str, bool)| Access { place: place.to_owned(), write };
        let visible: BTreeSet<Access> = visible.iter().map(access).collect();
        let wanted = |&(thread, op): &(&str, &str)| Wanted {
            thread: thread.to_owned(),
            op: Some(op.to_owned()),
            alternative: None,
        };
        let list: Vec<Wanted> = list.iter().map(wanted).collect();
        replay(source, Some(&visible), &list).unwrap_or_else(|error| panic!("{error}\n{source}"))
    };
    let parfor = "class A { int v; public int get() { return this.v; } } A p;
void main() {
  parfor (int i = 0; i < 2; i++) { print(p.get()); }
}";
    let (one, two) = ("parfor@3[0]", "parfor@3[1]");
    let read = [("v@1:44", false)];
    let apart = [("main", "fork"), (one, "read v"), (one, "print"), ("main", "fork"), (two, "read v"), (two, "print")];
    assert_eq!(follow(parfor, &read, &apart).pairs.len(), 0);
    let together = [("main", "fork"), ("main", "fork"), (one, "read v"), (two, "read v")];
    assert_eq!(follow(parfor, &read, &together).pairs.len(), 1);
    let atomic = "int w; event e; void work() { w = 2; }
void main() { atomic { set(e); w = 1; } thread h = spawn work(); join(h); }";
    let list = [("main", "atomic"), ("main", "spawn"), ("h", "write w"), ("main", "join h")];
    assert_eq!(follow(atomic, &[("w@1:31", true)], &list).status, "ok");
}

#[test]
fn methods_overlap_where_neither_returns_before_the_other_is_called() {
    let pairs = |source: &str, list: &str| -> Vec<String> {
        run(source, list).pairs.into_iter().map(|(a, b)| format!("{a} {b}")).collect()
    };
    let source = log4j_with(3);
    // Both are called in the step that forks, and so each order of their steps has the pair.
    for list in ["main main T1 T2 T1", "main main T1 T1 T2", "main main T2 T1", "main main"] {
        assert_eq!(pairs(&source, list), ["Category.set Category.severe"], "{list}");
    }
    assert_eq!(run(&source, "main").all_pairs.len(), 3);
    let class = "class A { int v; lock L; public void one() { v = 1; } public void two() { v = 2; v = 3; }
        public void whole() { lock(L); v = 4; unlock(L); } public void empty() { } } A a; int x, y;";
    let program = |a: &str, b: &str| {
        format!("{class} void main() {{ cobegin T1: x = 1; {a} x = 2; T2: y = 1; {b} y = 2; coend print(x + y); }}")
    };
    let ones = program("a.one();", "a.two();");
    assert_eq!(pairs(&ones, "main T1 T2 T1 T2"), ["A.one A.two"]);
    // `one` returns behind its write, before `two` is called.
    assert_eq!(pairs(&ones, "main T1 T1 T2 T2 T2"), Vec::<String>::new());
    assert_eq!(pairs(&ones, "main T2 T2 T1 T1"), ["A.one A.two"]);
    assert_eq!(pairs(&ones, "main T2 T2 T2 T1 T1"), Vec::<String>::new());
    // Who is blocked at the first lock has been called.
    let locked = program("a.whole();", "a.whole();");
    assert_eq!(pairs(&locked, "main T1 T1 T2 T1 T1"), ["A.whole A.whole"]);
    assert_eq!(pairs(&locked, "main T1 T1 T1 T1 T2"), Vec::<String>::new());
    // One without steps is there in the step that calls it, and where the other one returns in that step.
    let empty = program("a.empty();", "a.two();");
    assert_eq!(pairs(&empty, "main T1 T2 T2 T2"), Vec::<String>::new());
    assert_eq!(pairs(&empty, "main T2 T2 T1"), ["A.empty A.two"]);
    // What follows a print waits for the next step.
    let printed = program("print(1); a.one();", "a.two();");
    assert_eq!(pairs(&printed, "main T1 T2 T2 T2"), Vec::<String>::new());
    assert_eq!(pairs(&printed, "main T1 T2 T1"), ["A.one A.two"]);
    let spawned = "class A { int v; public void m() { v = 1; v = 2; } } A a; void main() { spawn a.m(); a.m(); }";
    assert_eq!(pairs(spawned, "main"), ["A.m A.m"]);
    let nested = "class A { int v; public void one() { v = 1; two(); v = 2; } public void two() { v = 3; }
        private void three() { v = 4; v = 5; } public void four() { three(); } }
        A a; void main() { cobegin T1: a.one(); T2: a.four(); coend }";
    assert_eq!(pairs(nested, "main T1"), ["A.four A.one", "A.four A.two"]);
    assert_eq!(pairs(nested, "main T2 T2 T1 T1 T1"), ["A.four A.one"]);
}

#[test]
fn a_program_that_is_too_large_has_no_answer() {
    let source = "int x; cobegin T1: x = 1; T2: x = 2; coend";
    let options = CoverageOptions { max_states: 3, ..CoverageOptions::default() };
    assert!(!coverage_of_source(source, &options).unwrap().complete);
    let options = CoverageOptions { max_partial: 3, ..CoverageOptions::default() };
    assert!(!coverage_of_source(source, &options).unwrap().complete);
    let inputs = BTreeMap::from([("n".to_owned(), 1)]);
    let options = CoverageOptions { inputs, ..CoverageOptions::default() };
    let source = "input int n = 0; int x; cobegin T1: if (n == 1) x = 1; T2: x = 2; coend";
    assert_eq!(coverage_of_source(source, &options).unwrap().feasible.len(), 2);
}

#[test]
fn on_random_programs_matches_are_those_of_all_executions() {
    let programs = programs(12);
    let first = first_seed(1);
    let (mut compared, mut instances, mut small) = (0, 0, 0);
    for seed in first..first + programs {
        let source = accessing(seed);
        let options = CoverageOptions { max_states: 4_000, ..CoverageOptions::default() };
        let found = coverage_of_source(&source, &options).unwrap_or_else(|error| panic!("{seed}: {error}\n{source}"));
        small += u64::from(found.complete);
        let all = all_instances(&found.places);
        assert!(found.feasible.is_subset(&all), "{seed}");
        assert_eq!(found.feasible, among(&found.feasible, &found.of_shared()), "{seed}\n{source}");
        if let (true, Some(slowly)) = (found.complete, coverage_by_executions(&source, 400).unwrap()) {
            assert_eq!(texts(&found.feasible), texts(&slowly), "{seed}\n{source}");
            compared += 1;
            instances += slowly.len();
        }
    }
    println!("{small} of {programs} explored, {compared} compared, {instances} instances");
    let are_usual = small * 10 >= programs * 9 && compared * 3 >= programs;
    assert!(support::has_new_seed() || are_usual, "{small} {compared} of {programs}");
}
