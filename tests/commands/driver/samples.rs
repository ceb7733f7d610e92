//! Samples, all of them in a long run: what is recorded happens, whatever the timing.

use super::fixture::{has_main, root, sample};
use super::together::Together;
use crate::process::{ends_with, plain};
use cssame::budget::Limits;
use cssame::driver::{Expect, TermStatus};

use std::collections::BTreeSet;
use std::fs;

/// The names of all samples, sorted.
fn names() -> Vec<String> {
    let files = fs::read_dir(root().join("samples")).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|ending| ending == "csm"));
    let mut names: Vec<String> = files.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn every_recorded_future_of_a_sample_happens_whatever_the_timing() {
    let mut all = Together::new("samples");
    let mut expected = 0;
    let (programs, libraries): (Vec<String>, Vec<String>) = names().into_iter().partition(|name| has_main(name));
    assert!(!libraries.is_empty());
    support::part(libraries, 2).iter().for_each(|name| assert_no_main(name));
    for name in support::part(programs, 4) {
        let fixture = sample(&name, Expect::Recorded);
        let package = fixture.drive(&Limits::default());
        assert!(package.manifest.complete, "{name}");
        let feasible = package.manifest.terms.iter().filter(|term| term.status == TermStatus::Feasible).count();
        // Reads that see the same version share their tests.
        let tests: BTreeSet<&String> = package.manifest.terms.iter().filter_map(|term| term.test.as_ref()).collect();
        assert!(tests.len() == package.manifest.tests.len() && tests.len() <= feasible, "{name}");
        assert_eq!(package.manifest.note.is_some(), feasible == 0, "{name}");
        expected += tests.len();
        all.add(&name, &package);
    }
    all.build();
    for seed in support::part(vec![None, Some(1), Some(2), Some(3)], 2) {
        assert_eq!(all.run(seed), expected, "with seed {seed:?}");
    }
}

/// A library has no execution that could be driven.
fn assert_no_main(name: &str) {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let mut command = plain();
    let output =
        ends_with(command.arg("drive").arg(root().join(format!("samples/{name}.csm"))).arg("--out").arg(&out), 2);
    assert!(String::from_utf8_lossy(&output.stderr).contains("CS0216"), "{name}: {output:?}");
    assert!(!out.exists());
}
