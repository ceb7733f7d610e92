//! The numbers of the paper's examples, and small programs whose classes are known.

use super::*;
use cssame_model::{Model, Options};
use std::path::Path;

fn model(text: &str, inputs: &[(&str, i64)]) -> Model {
    let inputs = inputs.iter().map(|&(name, value)| (name.to_owned(), value.to_string())).collect();
    Model::from_text("test.csm", text, &Options { inputs, ..Options::default() }).unwrap()
}

fn sample(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples").join(format!("{name}.csm"));
    std::fs::read_to_string(path).unwrap()
}

fn operations(model: &Model) -> Operations {
    Operations::new(model.program(), &model.form().concurrency)
}

fn count_of(model: &Model) -> ClassCount {
    classes(model.machine(), &operations(model), &Budget::unlimited(), &ClassOptions::default())
}

/// The number of orders of dependent steps, and whether each is a class.
fn orders(text: &str, inputs: &[(&str, i64)]) -> (u128, bool) {
    let model = model(text, inputs);
    let options = ClassOptions { max_enumerated: 0, ..ClassOptions::default() };
    let found = classes(model.machine(), &operations(&model), &Budget::unlimited(), &options);
    let Counting::Orders { exact } = found.counting else { panic!("{found:?}") };
    assert_eq!(found.bound, None);
    (found.classes, exact)
}

/// The number of classes, which must be all.
fn reachability(text: &str, inputs: &[(&str, i64)]) -> u128 {
    let found = count_of(&model(text, inputs));
    assert_eq!((found.bound, found.infinite, found.counting), (None, false, Counting::Enumerated));
    assert_eq!(found.representatives.len() as u128, found.classes);
    found.classes
}

#[test]
fn figure_3_has_six_classes() {
    assert_eq!(reachability(&sample("setiadi_fig3"), &[]), 6);
}

#[test]
fn telnet_has_66_classes() {
    let text = sample("setiadi_jtelnet");
    let expected = [((2, 2), 66), ((1, 1), 6), ((1, 2), 21), ((2, 1), 11), ((2, 3), 286), ((3, 2), 136)];
    for ((paints, characters), classes) in expected {
        assert_eq!(reachability(&text, &[("paints", paints), ("characters", characters)]), classes);
    }
}

#[test]
fn net_map_has_as_many_classes_as_its_rounds_say() {
    let text = sample("setiadi_jnetmap");
    for rounds in 1..=5 {
        assert_eq!(reachability(&text, &[("rounds", rounds)]), (rounds * rounds + 3 * rounds + 1) as u128);
    }
}

#[test]
fn pool_has_classes_by_its_reads() {
    let text = sample("setiadi_commons_pool");
    for (reads, classes) in [(1, 7), (2, 9), (3, 11), (4, 13), (6, 17), (8, 21)] {
        assert_eq!(reachability(&text, &[("k", reads)]), classes);
    }
}

/// The classes of each pair of threads, which must be all.
fn pairs(text: &str, inputs: &[(&str, i64)]) -> Vec<(String, u128)> {
    let model = model(text, inputs);
    let found = thread_pairs(model.machine(), &operations(&model), &Budget::unlimited(), &ClassOptions::default());
    assert!(!found.are_cut);
    let counts = found.pairs.iter().map(|pair| {
        assert_eq!((pair.count.bound, pair.count.infinite), (None, false));
        (pair.threads.join(" "), pair.count.classes)
    });
    counts.collect()
}

#[test]
fn two_threads_are_one_pair() {
    assert_eq!(pairs(&sample("setiadi_fig3"), &[]), [("T1 T2".to_owned(), 6)]);
    assert_eq!(pairs(&sample("setiadi_jtelnet"), &[]), [("AWT NET".to_owned(), 66)]);
    assert_eq!(pairs(&sample("setiadi_jnetmap"), &[("rounds", 5)]), [("MAP AWT".to_owned(), 41)]);
}

#[test]
fn pairs_of_the_pool_are_more_than_its_classes() {
    let text = sample("setiadi_commons_pool");
    for (reads, classes) in [(1, 8), (2, 10), (3, 12), (4, 14), (6, 18), (8, 22)] {
        let found = pairs(&text, &[("k", reads)]);
        assert_eq!(found.len(), 3);
        assert_eq!(found.iter().map(|pair| pair.1).sum::<u128>(), classes);
    }
}

/// A pool in which the threads access more.
const RICHER_POOL: &str = "
    int numActive = 0, pool = 7, factory = 1;
    lock P;
    cobegin
      T1: int a = factory; int b = pool; pool = b; int c = factory; int d = pool;
      T2:
        synchronized (P) {
          if (0 < numActive) {
            skip;
          } else {
            int e = pool; int f = pool; pool = 0; factory = 2;
          }
        }
      T3: synchronized (P) { int g = pool; pool = g; numActive++; }
    coend";

#[test]
fn a_richer_pool_has_42_classes() {
    assert_eq!(reachability(RICHER_POOL, &[]), 42);
    let found = pairs(RICHER_POOL, &[]);
    let names = ["T1 T2", "T1 T3", "T2 T3"];
    assert_eq!(
        found,
        [14, 6, 2].into_iter().zip(names).map(|(count, name)| (name.to_owned(), count)).collect::<Vec<_>>()
    );
}

#[test]
fn cycles_with_an_operation_have_no_end() {
    let endless = sample("setiadi_jnetmap").replace("int i = 0; i < rounds; i++", ";;");
    let spin = "int flag; cobegin A: flag = 1; B: while (flag == 0) skip; coend";
    let local = "int x, y; cobegin A: x = 1; while (true) { sleep(1); } B: y = x; coend";
    let bounded = |text: &str| {
        let model = model(text, &[]);
        let budget = Budget::from(Limits { max_states: Some(2_000), ..Limits::default() });
        classes(model.machine(), &operations(&model), &budget, &ClassOptions::default())
    };
    assert!(bounded(&endless).infinite);
    assert!(bounded(spin).infinite && bounded(spin).bound.is_some());
    assert!(!bounded(local).infinite);
    let pairs = {
        let model = model(spin, &[]);
        let budget = Budget::from(Limits { max_states: Some(2_000), ..Limits::default() });
        thread_pairs(model.machine(), &operations(&model), &budget, &ClassOptions::default())
    };
    assert!(pairs.pairs.iter().all(|pair| pair.count.infinite));
}

#[test]
fn what_nobody_writes_is_no_operation() {
    let text = "int limit = 3, x; cobegin A: x = limit; B: int a = limit; int b = limit; coend";
    let model = model(text, &[]);
    let operations = operations(&model);
    assert_eq!(operations.read_shared().len(), 1);
    assert_eq!(count_of(&model).classes, 1);
    // Every visible access counts: those of `limit` read version 0 wherever they stand.
    let all = Operations::all(model.program());
    assert_eq!(classes(model.machine(), &all, &Budget::unlimited(), &ClassOptions::default()).classes, 1);
}

#[test]
fn orders_of_locks_tell_no_classes_apart() {
    let text = "int x, y; lock L; cobegin A: lock(L); x = 1; unlock(L); int a = y; B: lock(L); y = x; unlock(L); coend";
    assert_eq!(reachability(text, &[]), 3);
    let apart = "int x, y, z; lock L; cobegin A: lock(L); x = 1; unlock(L); B: lock(L); y = 1; unlock(L); \
                 C: z = 1; D: int a = z; coend";
    assert_eq!(reachability(apart, &[]), 2);
}

#[test]
fn deadlocks_and_failures_are_classes() {
    let deadlock = "int x; lock A, B; cobegin S: lock(A); lock(B); x = 1; unlock(B); unlock(A); \
                    T: lock(B); lock(A); x = 2; unlock(A); unlock(B); coend";
    assert_eq!(reachability(deadlock, &[]), 3);
    // Fails after no, one or two steps of the other one, or not at all.
    let failure = "int x; cobegin S: x = 1; x = 2; T: int a = x; if (a < 2) error(\"early\"); coend";
    assert_eq!(reachability(failure, &[]), 6);
}

#[test]
fn values_that_are_chosen_tell_classes_apart() {
    let text = "int x; cobegin A: int c = choose(1, 3); x = 1; B: int b = x; coend";
    assert_eq!(reachability(text, &[]), 6);
    let assumed = "int x; cobegin A: int c = choose(1, 3); assume(c > 1); x = 1; B: int b = x; coend";
    assert_eq!(reachability(assumed, &[]), 4);
}

#[test]
fn threads_of_threads_are_pairs() {
    let text = "int x; int work() { x = x + 1; return 0; } \
                cobegin A: cobegin C: int a = x; D: x = 5; coend B: int b = x; coend";
    let found = pairs(text, &[]);
    let expected = [("A/C A/D", 2), ("A/C B", 1), ("A/D B", 2)];
    assert_eq!(found, expected.map(|(name, count)| (name.to_owned(), count)));
}

#[test]
fn main_is_in_a_pair_where_it_works_beside_another() {
    let waits = "int x; x = 1; cobegin A: x = 2; B: int b = x; coend int c = x;";
    assert_eq!(pairs(waits, &[]), [("A B".to_owned(), 2)]);
    let works = "int x; void work() { x = 1; } void main() { thread t = spawn work(); int a = x; join(t); int b = x; }";
    assert_eq!(pairs(works, &[]), [("main t".to_owned(), 2)]);
}

#[test]
fn a_pair_that_waits_for_a_third_thread_ends_blocked() {
    let text = "int x; event e; cobegin A: wait(e); x = 1; B: int b = x; C: int c = x; set(e); coend";
    assert_eq!(pairs(text, &[]), [("A B".to_owned(), 1), ("A C".to_owned(), 1), ("B C".to_owned(), 1)]);
}

#[test]
fn orders_without_synchronisation_are_classes() {
    assert_eq!(orders(&sample("setiadi_fig3"), &[]), (6, true));
    let text = sample("setiadi_jtelnet");
    for ((paints, characters), classes) in [((2, 2), 66), ((2, 3), 286), ((3, 2), 136)] {
        assert_eq!(orders(&text, &[("paints", paints), ("characters", characters)]), (classes, true));
    }
    // C(62, 2), and far more than could be run.
    assert_eq!(orders(&text, &[("paints", 12), ("characters", 2)]), (1_891, true));
    let (many, exact) = orders(&text, &[("paints", 20), ("characters", 20)]);
    assert!(exact && many > 1_000_000_000_000_000_000, "{many}");
}

#[test]
fn orders_of_locks_count_apart() {
    let text = "int x, y; lock L; cobegin A: lock(L); x = 1; unlock(L); B: lock(L); y = 1; unlock(L); \
                C: int a = x; int b = y; coend";
    assert_eq!((reachability(text, &[]), orders(text, &[])), (4, (7, false)));
    // Who comes first is told by an event: there is one order.
    let told = "int x; event e; cobegin A: x = 1; set(e); B: wait(e); x = 2; C: int a = x; coend";
    assert_eq!((reachability(told, &[]), orders(told, &[])), (3, (3, true)));
}

#[test]
fn steps_that_fail_are_counted_behind_all_others() {
    let failure = "int x; cobegin S: x = 1; x = 2; T: int a = x; if (a < 2) error(\"early\"); coend";
    assert_eq!(orders(failure, &[]), (6, true));
    let chosen = "int x; cobegin A: int c = choose(1, 3); assume(c > 1); x = 1; B: int b = x; coend";
    assert_eq!(orders(chosen, &[]), (4, true));
    // Whoever fails first, nobody has done anything.
    let twice = "int x; cobegin S: error(\"one\"); T: print(1); error(\"other\"); coend";
    assert_eq!(reachability(twice, &[]), 2);
}

#[test]
fn classes_that_cannot_be_enumerated_have_representatives() {
    let model = model(&sample("setiadi_jtelnet"), &[("paints", 4), ("characters", 4)]);
    let options = ClassOptions { max_representatives: 20, max_enumerated: 0, ..ClassOptions::default() };
    let found = classes(model.machine(), &operations(&model), &Budget::unlimited(), &options);
    assert_eq!(found.representatives.len(), 20);
}

#[test]
fn bounds_of_the_count_are_told() {
    let model = model(&sample("setiadi_jtelnet"), &[("paints", 20), ("characters", 20)]);
    let options = ClassOptions { max_representatives: 0, max_enumerated: 100, max_counted: 100 };
    let found = classes(model.machine(), &operations(&model), &Budget::unlimited(), &options);
    assert_eq!((found.bound, found.counting, found.infinite), (Some(Bound::States), Counting::Enumerated, false));
}

#[test]
fn states_and_executions_give_the_same_classes() {
    let count = |text: &str, max_counted| {
        let model = model(text, &[]);
        let options = ClassOptions { max_counted, ..ClassOptions::default() };
        let found = classes(model.machine(), &operations(&model), &Budget::unlimited(), &options);
        assert_eq!((found.counting, found.bound), (Counting::Enumerated, None));
        assert_eq!(found.representatives.len() as u128, found.classes);
        found.classes
    };
    for text in [RICHER_POOL, &sample("setiadi_fig13"), &sample("setiadi_jtelnet"), &sample("bank_transfer_deadlock")] {
        assert_eq!(count(text, 0), count(text, 1_000_000));
    }
}

#[test]
fn few_classes_of_many_orders_are_told_apart() {
    // Five threads take a lock three times each: 15! / 3!^5 orders, and one class.
    let round = "lock(L); unlock(L); ";
    let arms: String = (0..5).map(|arm| format!("T{arm}: {{ {} }}\n", round.repeat(3))).collect();
    let text = format!("int x; lock L; cobegin\n{arms}A: x = 1; B: x = 2; coend");
    assert_eq!(orders_of(&text), 168_168_000 * 2);
    assert_eq!(reachability(&text, &[]), 2);
}

fn orders_of(text: &str) -> u128 {
    let model = model(text, &[]);
    let (operations, budget) = (operations(&model), Budget::unlimited());
    let what = (&operations, &Scope::All);
    orders::count_orders(model.machine(), &Tables::new(), what, &budget, u64::MAX).unwrap().count
}
