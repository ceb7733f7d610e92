//! The oracle of `paths` against answers that were found by hand: the programs of Setiadi, Ohsuga and Maekawa (FACTS A)
//! and small programs of each kind.

use crate::support::oracle::{BranchPlace, PathsOptions, PathsOracle, paths_of_source};

fn paths_with(source: &str, inputs: &[(&str, i64)]) -> PathsOracle {
    let inputs = inputs.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
    let options = PathsOptions { inputs, max_nodes: 400_000, ..PathsOptions::default() };
    let found = paths_of_source(source, &options).unwrap_or_else(|error| panic!("{error}\n{source}"));
    assert!(found.complete, "{source}");
    found
}

fn paths(source: &str) -> PathsOracle {
    paths_with(source, &[])
}

fn sample(name: &str) -> String {
    let path = crate::support::root().join("samples").join(name).with_extension("csm");
    std::fs::read_to_string(path).unwrap()
}

/// The orders of a branch: `write x@3:5, read x@4:9`.
fn orders(found: &PathsOracle, thread: &str, place: &str) -> Vec<String> {
    let branch: BranchPlace = (thread.to_owned(), place.to_owned());
    found.branches[&branch].groups.keys().map(|order| order.join(", ")).collect()
}

#[test]
fn figure_3_has_six_groups_and_six_classes() {
    let found = paths(&sample("setiadi_fig3"));
    assert_eq!((found.groups(), found.groups_of_affected_instances()), (6, 6));
    assert_eq!((found.classes, found.tpair()), (6, 6));
    let orders = orders(&found, "T1", "15:9");
    let expected = [
        "read x@14:13, read y@14:17",
        "read x@14:13, write x@21:5, read y@14:17",
        "read x@14:13, write x@21:5, write y@22:5, read y@14:17",
        "write x@21:5, read x@14:13, read y@14:17",
        "write x@21:5, read x@14:13, write y@22:5, read y@14:17",
        "write x@21:5, write y@22:5, read x@14:13, read y@14:17",
    ];
    assert_eq!(orders, expected);
    let pairs: Vec<String> = found.pairs.keys().map(|(a, b)| format!("{} {}", a.2, b.2)).collect();
    assert_eq!(pairs, ["x@14:13 x@21:5", "y@14:17 y@22:5", "y@19:11 y@22:5"]);
    assert_eq!(found.racy_variables().into_iter().collect::<Vec<_>>(), ["x", "y"]);
}

#[test]
fn figure_13_has_two_groups_and_four_classes_of_which_two_wait_for_ever() {
    let found = paths(&sample("setiadi_fig13"));
    assert_eq!((found.groups(), found.classes, found.deadlocked_classes), (2, 4, 2));
    let expected = ["read x@17:13, read y@17:17", "write x@27:5, write y@28:5, read x@17:13, read y@17:17"];
    assert_eq!(orders(&found, "T1", "20:9"), expected);
    // The last read of y takes no lock; it always comes behind the notification.
    let (pair, what) = found.pairs.iter().next().unwrap();
    assert_eq!((pair.0.2.as_str(), pair.1.2.as_str()), ("y@24:11", "y@28:5"));
    assert_eq!((found.pairs.len(), what.ordered, what.unordered), (1, true, false));
    let stuck: Vec<String> = found.deadlocks.iter().flatten().cloned().collect();
    assert_eq!(stuck, ["T1", "main"]);
}

#[test]
fn the_pool_has_two_groups_however_often_the_racy_reader_reads() {
    let source = sample("setiadi_commons_pool");
    for k in [1, 2, 3, 4, 6, 8] {
        let found = paths_with(&source, &[("k", k)]);
        assert_eq!(found.groups(), 2, "{k}");
        assert_eq!((found.classes as i64, found.tpair() as i64), (5 + 2 * k, 6 + 2 * k), "{k}");
    }
}

#[test]
fn the_richer_pool_has_42_classes_and_22_of_pairs() {
    let source = "int numActive = 0, pool = 7, factory = 1; lock P; cobegin
        T1: int a = factory; pool = pool + 1; a = factory; a = pool;
        T2: synchronized (P) {
          if (0 < numActive) skip; else { int b = pool; b = pool; pool = 0; factory = 2; }
        }
        T3: synchronized (P) { pool = pool + 1; numActive++; }
        coend";
    let found = paths(source);
    assert_eq!((found.groups(), found.classes, found.tpair()), (2, 42, 22));
    assert_eq!(found.thread_pairs.values().copied().collect::<Vec<_>>(), [14, 6, 2]);
}

#[test]
fn the_telnet_model_has_no_group_and_66_classes() {
    let source = sample("setiadi_jtelnet");
    let rows = [(1, 1, 6), (1, 2, 21), (2, 1, 11), (2, 2, 66), (2, 3, 286), (3, 2, 136)];
    for (paints, characters, classes) in rows {
        let found = paths_with(&source, &[("paints", paints), ("characters", characters)]);
        assert_eq!((found.groups(), found.classes, found.tpair()), (0, classes, classes), "{paints} {characters}");
    }
}

#[test]
fn the_map_has_five_groups_in_any_number_of_rounds_from_two_on() {
    let source = sample("setiadi_jnetmap");
    for rounds in 2..7 {
        let found = paths_with(&source, &[("rounds", rounds)]);
        let classes = (rounds * rounds + 3 * rounds + 1) as usize;
        assert_eq!((found.groups(), found.classes, found.tpair()), (5, classes, classes), "{rounds}");
    }
    let found = paths_with(&source, &[("rounds", 3)]);
    let expected = [
        "read p@19:11",
        "write p@23:7, read p@19:11",
        "write p@23:7, write p@26:5, read p@19:11",
        "write p@26:5, read p@19:11",
        "write p@26:5, write p@23:7, read p@19:11",
    ];
    assert_eq!(orders(&found, "MAP", "19:11"), expected);
}
