//! The classes of `samples/classes/`: they compile, and a broken one does what its comment says, its twin does not.

use cssame::budget::{Budget, Limits};
use cssame::explore::{Query, futures};
use cssame::ir::verify::verify;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use support::classes::{CLASSES, ClassSample, Kind};
use support::{model, root, unit};

/// The lines with public methods, in order.
fn signatures(text: &str) -> Vec<&str> {
    text.lines().filter_map(|line| line.strip_prefix("  public ")).filter_map(|line| line.split('{').next()).collect()
}

/// All outcomes of the test on a class: the lines that are printed, and how it ends.
fn outcomes(sample: &ClassSample, text: &str) -> BTreeSet<String> {
    let class = text.rsplit("\nclass ").next().and_then(|rest| rest.split_whitespace().next()).unwrap();
    let (ClassSample { prefix, post, .. }, [a, b]) = (sample, sample.threads);
    let main = format!("void main() {{\n{prefix}\ncobegin\na: {a}\nb: {b}\ncoend\n{post}\n}}\n");
    let model = model(&format!("{text}\n{class} o, p;\n{main}"));
    let limits = Limits { max_states: Some(100_000), ..Limits::default() };
    let answer = futures(model.machine(), &Query::default(), &Budget::from(limits));
    assert!(answer.is_complete(), "{}", sample.name);
    let shown = answer.outcomes.iter().map(|outcome| {
        let outputs = outcome.outputs.iter();
        let lines: Vec<&str> = outputs.flat_map(|&(_, output)| answer.tables.lines(output)).collect();
        format!("{}: {}", lines.join(", "), outcome.status.word())
    });
    shown.collect()
}

#[test]
fn the_table_has_all_of_them_and_bugs_of_all_kinds() {
    let folder = root().join("samples/classes");
    let files: BTreeSet<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    let expected = CLASSES.iter().flat_map(|sample| ["", "_broken"].map(|end| format!("{}{end}.csm", sample.name)));
    assert_eq!(files, expected.collect());
    let mut kinds: BTreeMap<Kind, u32> = BTreeMap::new();
    CLASSES.iter().for_each(|sample| *kinds.entry(sample.kind).or_default() += 1);
    assert_eq!(kinds.into_values().collect::<Vec<u32>>(), [5, 4, 4, 3, 2, 2]);
}

#[test]
fn they_compile_and_keep_the_rules() {
    for sample in &CLASSES {
        for text in [sample.correct(), sample.broken()] {
            assert_eq!(verify(&unit(&text).program), Ok(()), "{}", sample.name);
        }
    }
}

#[test]
fn twins_have_the_same_methods_and_comments_name_the_bug() {
    for sample in &CLASSES {
        let (correct, broken) = (sample.correct(), sample.broken());
        assert_eq!(signatures(&correct), signatures(&broken), "{}", sample.name);
        for method in sample.methods {
            let named = |line: &&str| line.contains(&format!(" {method}("));
            assert!(signatures(&broken).iter().any(named), "{}: {method}", sample.name);
        }
        let bug = format!("// Bug: {}: ", sample.kind.words());
        assert!(broken.contains(&bug) && broken.contains("\n// Example: "), "{}", sample.name);
        assert!(correct.contains("\n// Expected: ") && !correct.contains("// Bug: "), "{}", sample.name);
        assert!(correct.contains(&format!("{}_broken.csm", sample.name)), "{}", sample.name);
        assert!(broken.contains(&format!("{}.csm", sample.name)), "{}", sample.name);
    }
}

#[test]
fn examples_show_the_bug_in_the_broken_class_alone() {
    for sample in &CLASSES {
        let (correct, broken) = (outcomes(sample, &sample.correct()), outcomes(sample, &sample.broken()));
        assert!(broken.contains(sample.shows), "{}: {broken:#?}", sample.name);
        assert!(!correct.contains(sample.shows), "{}: {correct:#?}", sample.name);
        assert!(correct.iter().all(|outcome| outcome.ends_with(": ok")), "{}: {correct:#?}", sample.name);
    }
}
