//! Packages in Java: what is recorded happens, whatever the timing, and a changed program fails.

mod batch;
mod changed;
mod constructs;
mod golden;
mod hostile;

use batch::{Batch, Results};
use cssame::budget::{Budget, Limits};
use cssame::driver::{Contents, DriveError, Expect, Input, Options, Package, Target, Wanted, drive};
use cssame::explore::{Query, futures};
use cssame::model::{self, Model};
use cssame::schedule::source_hash;
use cssame::vm::Semantics;
pub use golden::difference;
use support::{self, first_seed, generate, setting};

/// A package of a program, with a test for each term, failure, deadlock and outcome.
fn package(target: Target, name: &str, text: &str, expect: Expect) -> Option<Package> {
    let limits = Limits { max_states: Some(20_000), ..Limits::default() };
    package_with(target, (&format!("{name}.csm"), text), expect, (Semantics::default(), limits))
}

/// The same for a file of any name, with executions of any kind.
fn package_with(
    target: Target,
    (file, text): (&str, &str),
    expect: Expect,
    (semantics, limits): (Semantics, Limits),
) -> Option<Package> {
    let of_model = model::Options { semantics, ..model::Options::default() };
    let model = Model::from_text(file, text, &of_model).ok()?;
    let options = Options {
        target,
        expect,
        file: file.to_owned(),
        hash: source_hash(text),
        inputs: Vec::new(),
        semantics,
        max_steps: 10_000,
        free: false,
    };
    let answer = futures(model.machine(), &Query::default(), &Budget::from(limits));
    let input =
        Input { sources: model.sources(), program: model.program(), form: model.form(), machine: model.machine() };
    let wanted = Wanted { answer: &answer, contents: Contents::Outcomes, distinct: true, code: input };
    match drive(&input, &wanted, &Budget::from(limits), &options) {
        Ok(package) => Some(package),
        Err(DriveError::Unwritable { .. }) => panic!("{file} has no structure\n{text}"),
        Err(error) => panic!("{file}: {error}\n{text}"),
    }
}

/// Whether all tests have passed, and there are so many.
fn assert_passed(results: &Results, tests: usize) {
    let failed: Vec<_> = results.iter().filter(|(_, result)| result.is_err()).take(5).collect();
    assert!(failed.is_empty(), "{failed:#?}");
    assert_eq!(results.len(), tests);
}

#[test]
fn what_was_recorded_of_a_sample_happens_in_java_whatever_the_timing() {
    samples_happen(Target::Java, "samples");
}

#[test]
fn what_was_recorded_of_a_sample_happens_in_woven_java_whatever_the_timing() {
    samples_happen(Target::AspectJ, "woven_samples");
}

fn samples_happen(target: Target, folder: &str) {
    let mut batch = Batch::new(folder);
    let mut tests = 0;
    for (name, text) in support::part(support::samples(), 5) {
        // A library has no execution.
        let Some(package) = package(target, &name, &text, Expect::Recorded) else { continue };
        tests += package.manifest.tests.len();
        batch.add(&name, &package.files);
    }
    assert!(tests > support::size(10, 300), "{tests}");
    let rounds = setting("CSSAME_JAVA_ROUNDS", 1) as u32;
    for delays in [None, Some(("CSSAME_DELAYS", "1"))] {
        let Some(results) = batch.run(rounds, delays.as_slice()) else { return };
        assert_passed(&results, tests);
    }
}

#[test]
fn what_was_recorded_of_random_programs_happens_in_java() {
    random_happen(Target::Java, "random");
}

#[test]
fn what_was_recorded_of_random_programs_happens_in_woven_java() {
    random_happen(Target::AspectJ, "woven_random");
}

fn random_happen(target: Target, folder: &str) {
    let mut batch = Batch::new(folder);
    let (first, mut tests) = (first_seed(1), 0);
    let size = generate::Size::default();
    for seed in first..first + support::programs(2) {
        let texts = [
            generate::program(seed, &size),
            generate::racy(seed, &size),
            generate::locking(seed, &size),
            generate::arrays(seed),
            generate::counting(seed),
            generate::contexts(seed),
            generate::guarded(seed),
            generate::branching(seed, 3, 3),
            generate::accessing(seed),
        ];
        for (number, text) in texts.iter().enumerate() {
            let name = format!("p{seed}_{number}");
            let Some(package) = package(target, &name, text, Expect::Recorded) else { continue };
            tests += package.manifest.tests.len();
            batch.add(&name, &package.files);
        }
    }
    let Some(results) = batch.run(1, &[]) else { return };
    assert_passed(&results, tests);
}

#[test]
fn a_woven_program_is_the_plain_one_without_the_lines_of_order() {
    for (name, text) in support::part(support::samples(), 12) {
        let Some(plain) = package(Target::Java, &name, &text, Expect::Recorded) else { continue };
        let Some(woven) = package(Target::AspectJ, &name, &text, Expect::Recorded) else { panic!("{name}") };
        let of_program = |package: &Package| -> Vec<(String, String)> {
            let files = package.files.iter().map(|(path, text)| (path.to_string_lossy().into_owned(), text));
            let files = files.filter(|(path, _)| path.starts_with("src/main/java/drive_"));
            let kept = |text: &str| -> String {
                text.lines()
                    .filter(|line| !line.trim_start().starts_with("Order."))
                    .map(|line| format!("{line}\n"))
                    .collect()
            };
            files.map(|(path, text)| (path, kept(text))).collect()
        };
        assert_eq!(of_program(&plain), of_program(&woven), "{name}");
        let lines = |package: &Package| of_program(package).iter().map(|(_, text)| text.lines().count()).sum::<usize>();
        let all: usize = woven
            .files
            .iter()
            .filter(|(path, _)| path.starts_with(format!("src/main/java/drive_{name}")))
            .map(|(_, text)| text.lines().count())
            .sum();
        assert_eq!(lines(&woven), all, "{name}: a line of `Order` is left");
    }
}
