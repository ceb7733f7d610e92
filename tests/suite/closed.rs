//! The libraries among the samples, closed by drivers: what fails in them, and what does not.

use cssame::budget::{Budget, Limits};
use cssame::explore::{Query, futures};
use cssame::harness::{Driver, Methods};
use cssame::source::SourceMap;
use std::collections::BTreeMap;
use support::{model, samples};

/// A library with unsynchronised iterators, and for each way in which its drivers end badly the first of them that does.
const BROKEN: &[(&str, &[(&str, &str)])] = &[
    ("races_vector_broken", &[]),
    ("races_linked_list_broken", &[("error", "LinkedList.add || LinkedList.containsAll, of the other LinkedList")]),
    (
        "races_array_list_broken",
        &[("error", "ArrayList.removeLast || ArrayList.equals, of the other ArrayList, after ArrayList.add")],
    ),
    ("races_hash_set_broken", &[("error", "HashSet.clear || HashSet.addAll, of the other HashSet, after HashSet.add")]),
    (
        "races_tree_set_broken",
        &[("error", "TreeSet.clear || TreeSet.startsAs, of the other TreeSet, after TreeSet.add")],
    ),
];

fn drivers(text: &str) -> Vec<Driver> {
    let mut sources = SourceMap::default();
    let file = sources.add("test.csm", text);
    Methods::new(&sources, file).drivers()
}

/// How the executions of the drivers end, but for those that end well: the status, with the first driver of
/// each.
fn bad_ends(text: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for driver in drivers(text) {
        let model = model(&driver.text);
        let limits = Limits { max_states: Some(1_000_000), ..Limits::default() };
        let answer = futures(model.machine(), &Query::default(), &Budget::from(limits));
        assert!(answer.is_complete(), "{}", driver.name);
        for outcome in &answer.outcomes {
            let word = outcome.status.word();
            if word != "ok" {
                found.entry(word.to_owned()).or_insert_with(|| driver.name.clone());
            }
        }
    }
    found
}

#[test]
fn libraries_with_unsynchronised_iterators_fail_in_a_driver_and_the_mended_ones_do_not() {
    let texts: BTreeMap<String, String> = samples().into_iter().collect();
    let mut wrong = Vec::new();
    for &(name, expected) in support::part(BROKEN.iter().collect(), 2) {
        let expected: BTreeMap<String, String> =
            expected.iter().map(|&(status, driver)| (status.to_owned(), driver.to_owned())).collect();
        let mended = name.trim_end_matches("_broken");
        for (name, expected) in [(name, expected), (mended, BTreeMap::new())] {
            let found = bad_ends(&texts[name]);
            if found != expected {
                wrong.push(format!("{name}: {found:#?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
