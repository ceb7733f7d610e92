//! Packages of generated tests: each test is a separate program with a recorded execution.
//!
//! **Input**: programs, with an execution of each. **Output**: a [`Package`] of the same form as for terms. Each program is a
//! module, and is stored in `recorded/` next to its schedule. If the program itself does not detect the violation, such as
//! results that no order of the calls has, the test fails after the execution.

use super::manifest::Manifest;
use super::names::Names;
use super::parts::Module;
use super::planner::plan;
use super::test_case::TestCase;
use super::{DriveError, Expect, Input, MAX_STEPS, Options, Package, package};
use cssame_vm::Choice;

/// A test.
#[derive(Clone, Copy, Debug)]
pub struct GeneratedCase<'a> {
    /// Its program.
    pub input: Input<'a>,
    /// The name that is wanted for it.
    pub name: &'a str,
    /// What it shows.
    pub title: &'a str,
    /// Its execution.
    pub schedule: &'a [Choice],
    /// When it passes.
    pub expect: Expect,
    /// Why it is to fail, where the program does not fail.
    pub violation: Option<&'a str>,
}

/// A package of generated tests. Executions that do not come to an end get none.
///
/// # Errors
///
/// A program has no `main`, or is one in C that the target cannot write.
pub fn drive_generated(cases: &[GeneratedCase<'_>], options: &Options) -> Result<Package, DriveError> {
    let mut manifest = Manifest::new(options, None, 0);
    let mut names = Names::of_tests();
    let mut programs: Vec<Module<'_>> = Vec::new();
    let mut tests = Vec::new();
    let mut steps = 0;
    for case in cases {
        let plan = plan(&case.input, case.schedule, options.max_steps);
        let (true, Ok(plan)) = (steps + case.schedule.len() <= MAX_STEPS, plan) else {
            manifest.complete = false;
            continue;
        };
        steps += case.schedule.len();
        let name = names.fresh(case.name);
        let module = Some(name.clone());
        let test = TestCase::of_pair(&case.input, name, module.clone(), case.title.to_owned(), plan, case.schedule);
        tests.push(test.expecting(case.expect, case.violation.map(str::to_owned)));
        programs.push(Module { name: module, input: case.input });
    }
    manifest.note = Some("no test: none covers anything, and none fails");
    package(&programs, &tests, manifest, options)
}
