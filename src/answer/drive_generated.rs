//! The answer of `coverage --generate --out`: a package with the generated tests that fail or cover something new.
//!
//! **Input**: an answer of [`generate_tests()`](super::generate_tests()). **Output**: a package. Each test is a program, the file
//! followed by a `main`. It follows the execution that shows the failure, or covers the most that is new.

use super::coverage_generate::{GenerateAnswer, Shown, show};
use super::drive::input;
use super::words::plural;
use cssame_diagnostics::Diagnostics;
use cssame_driver as driver;
use cssame_driver::{DriveError, Expect, GeneratedCase, Package};
use cssame_model as model;

/// Why there is no package.
#[derive(Debug)]
pub enum NoTests {
    /// A test does not compile any more.
    Program(Diagnostics),
    /// It cannot be written.
    Package(DriveError),
}

/// A test, before it is written.
struct Test<'a> {
    name: String,
    title: String,
    shown: &'a Shown,
    expect: Expect,
    violation: Option<String>,
}

/// Makes a package of generated tests: those that fail first.
///
/// # Errors
///
/// A test does not compile, or has no `main`; none that was executed before is like that.
pub fn drive_generated(
    answer: &GenerateAnswer,
    (options, driver_options): (&model::Options, &driver::Options),
) -> Result<Package, NoTests> {
    let kept =
        answer.kept.iter().map(|one| show(&format!("test_{}.csm", one.number), &one.text, &one.schedule, options));
    let kept = kept.collect::<Result<Vec<Shown>, Diagnostics>>().map_err(NoTests::Program)?;
    let failing = answer.failures.iter().enumerate().map(|(index, failure)| Test {
        name: format!("failure_{}", index + 1),
        title: format!("`{}`, {}: {}.", failure.class, failure.status, failure.message),
        shown: &failure.shown,
        // What needs no interleaving is no failure of the class.
        expect: if failure.sequential { Expect::Recorded } else { Expect::Program },
        violation: (failure.status == "not-linearizable").then(|| format!("not linearizable: {}", failure.message)),
    });
    let covering = answer.kept.iter().zip(&kept).map(|(one, shown)| Test {
        name: format!("test_{}", one.number),
        title: format!(
            "`{}`: covers {} and {} that no test before it covers.",
            one.class,
            plural(one.instances, "instance"),
            plural(one.pairs, "method pair")
        ),
        shown,
        // Calls may wait for ever, or fail, for good reasons.
        expect: Expect::Recorded,
        violation: None,
    });
    let tests: Vec<Test<'_>> = failing.chain(covering).collect();
    let cases: Vec<GeneratedCase<'_>> = tests
        .iter()
        .map(|test| GeneratedCase {
            input: input(&test.shown.model),
            name: &test.name,
            title: &test.title,
            schedule: &test.shown.execution.steps,
            expect: test.expect,
            violation: test.violation.as_deref(),
        })
        .collect();
    driver::drive_generated(&cases, driver_options).map_err(NoTests::Package)
}
