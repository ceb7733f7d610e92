//! Programs that try to break their drivers: awkward names and texts, failures while others wait, and every kind of
//! thread and synchronisation together.

use super::fixture::{Fixture, fixture_of, fixture_with};
use super::together::Together;
use cssame::budget::Limits;
use cssame::driver::{Expect, TermStatus};
use cssame::model::Options;
use cssame::vm::Semantics;
use support::hostile::{PROGRAMS, SPURIOUS, WRITERS};

#[test]
fn awkward_programs_do_what_was_recorded() {
    let mut all = Together::new("hostile");
    let mut expected = 0;
    let mut add = |name: &str, fixture: &Fixture| {
        let package = fixture.drive(&Limits::default());
        assert!(package.manifest.complete, "{name}");
        let feasible = package.manifest.terms.iter().filter(|term| term.status == TermStatus::Feasible).count();
        assert!(feasible > 1, "{name}");
        assert_eq!(package.manifest.tests.len(), feasible, "{name}");
        expected += feasible;
        let module: String = name.chars().filter(|each| each.is_ascii_alphabetic() || *each == '_').collect();
        all.add(&module, &package);
    };
    for (name, text) in support::part(PROGRAMS.iter().collect(), 3) {
        add(name, &fixture_of(&format!("{name}.csm"), text, Expect::Recorded));
    }
    let semantics = vec![
        ("spurious", SPURIOUS, Semantics { spurious_wakeups: true, prefer_writers: false }),
        ("writers", WRITERS, Semantics { spurious_wakeups: false, prefer_writers: true }),
    ];
    for (name, text, semantics) in support::part(semantics, 1) {
        let options = Options { semantics, ..Options::default() };
        add(name, &fixture_with(&format!("{name}.csm"), text, Expect::Recorded, &options));
    }
    all.build();
    for seed in support::part(vec![None, Some(1), Some(2)], 2) {
        assert_eq!(all.run(seed), expected, "with seed {seed:?}");
    }
}
