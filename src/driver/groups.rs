//! Packages with a test for each branch-affect group.
//!
//! In: a program, and for each group an execution that belongs to it, or the reason why there is none. Out: a [`Package`] of the
//! same form as for terms, with one test for each execution.

use super::manifest::{GroupEntry, Manifest};
use super::names::Names;
use super::parts::Module;
use super::planner::plan;
use super::test_case::{TestCase, line_of};
use super::{DriveError, Input, MAX_STEPS, Options, Package, package};
use cssame_source::Span;
use cssame_vm::Choice;

/// A group that a test is wanted for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupCase {
    /// What is decided: `T1:15:9#1`.
    pub branch: String,
    /// Where its condition, or the wait, stands.
    pub span: Span,
    /// The number of the group.
    pub group: u32,
    /// Who does what, in order: `T2 write x@10:3`.
    pub order: Vec<String>,
    /// How the branch comes out.
    pub outcome: Option<&'static str>,
    /// An execution that belongs to it, or why there is none.
    pub execution: Result<Vec<Choice>, String>,
}

/// An execution that belongs to no group, and is worth a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherCase {
    /// The name of its test.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// The execution.
    pub schedule: Vec<Choice>,
}

/// A package with a test for each group that has an execution, and for each of the other executions.
///
/// # Errors
///
/// The program has no `main`, or is one in C that the target cannot write.
pub fn drive_groups(
    input: &Input<'_>,
    groups: &[GroupCase],
    others: &[OtherCase],
    complete: bool,
    options: &Options,
) -> Result<Package, DriveError> {
    let mut manifest = Manifest::new(options, None, 0);
    manifest.complete = complete;
    let mut writer = Writer { input, options, names: Names::of_tests(), cases: Vec::new(), steps: 0 };
    let mut entries = Vec::new();
    for group in groups {
        let made = match &group.execution {
            Ok(schedule) => {
                let wanted = format!("{}_group_{}", group.branch, group.group);
                writer.add(&wanted, title(input, group), schedule)
            }
            Err(reason) => Err(reason.clone()),
        };
        entries.push(GroupEntry {
            branch: group.branch.clone(),
            group: group.group,
            order: group.order.clone(),
            outcome: group.outcome,
            test: made.as_ref().ok().cloned(),
            reason: made.err(),
        });
    }
    for other in others {
        // Where its execution is not followed to its end, the answer shows it all the same.
        manifest.complete &= writer.add(&other.name, other.title.clone(), &other.schedule).is_ok();
    }
    manifest.groups = Some(entries);
    package(&[Module::only(input)], &writer.cases, manifest, options)
}

fn title(input: &Input<'_>, group: &GroupCase) -> String {
    let GroupCase { branch, group: number, order, outcome, span, .. } = group;
    let outcome = outcome.map_or_else(String::new, |outcome| format!(", `{outcome}`"));
    let order = if order.is_empty() { "nothing before it".to_owned() } else { order.join(", ") };
    format!("Group {number} of `{branch}`{outcome} ({}): {order}.", line_of(input, *span))
}

struct Writer<'a> {
    input: &'a Input<'a>,
    options: &'a Options,
    names: Names<'a>,
    cases: Vec<TestCase>,
    /// Of all tests so far.
    steps: usize,
}

impl Writer<'_> {
    /// Adds a test; gives its name, or says why there is none.
    fn add(&mut self, wanted: &str, title: String, schedule: &[Choice]) -> Result<String, String> {
        if self.steps + schedule.len() > MAX_STEPS {
            return Err("the tests of the package are too long already".to_owned());
        }
        let plan = plan(self.input, schedule, self.options.max_steps)
            .map_err(|reason| format!("the execution that has it {reason}"))?;
        self.steps += schedule.len();
        let name = self.names.fresh(wanted);
        self.cases.push(TestCase::of_pair(self.input, name.clone(), None, title, plan, schedule));
        Ok(name)
    }
}
