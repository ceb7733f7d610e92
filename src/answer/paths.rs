//! The answer of `paths`: the test cases of a program, their results, and the facts that are proven beyond them.

use super::paths_explain::{ExplainedReport, explained};
use cssame_budget::{Bound, Budget};
use cssame_diagnostics::{Code, Diagnostic, Diagnostics, Severity};
use cssame_driver::{GroupEntry, Target, TestEntry};
use cssame_model::Model;
use cssame_paths as paths;
use cssame_paths::report::{PathsReport, report};
use cssame_paths::{Arrays, Criterion, Findings, First, Request, StoppedBy};
use serde::Serialize;

/// Nodes of the variant graph at most where somebody wants to see it.
const DRAWN_NODES: usize = 100_000;

/// Nodes of the variant graph at most where only its numbers are told.
const COUNTED_NODES: usize = 20_000;

/// What is asked for.
#[derive(Clone, Debug)]
pub struct PathsRequest {
    /// The first execution.
    pub first: First,
    /// What tells tests apart.
    pub criterion: Criterion,
    /// How arrays race.
    pub arrays: Arrays,
    /// Steps of one execution at most.
    pub max_steps: u64,
    /// Tests at most.
    pub max_tests: u64,
    /// States that are visited to hold the tests to all executions; none where they are not.
    pub explore: Option<u64>,
    /// Whether the variant graph is drawn.
    pub draw: bool,
    /// A branch that is explained: `T1:2:9`, or one evaluation of it, `T1:2:9#1`.
    pub explain: Option<String>,
}

impl Default for PathsRequest {
    fn default() -> PathsRequest {
        let Request { first, criterion, arrays, max_steps, max_tests, explore, .. } = Request::default();
        PathsRequest { first, criterion, arrays, max_steps, max_tests, explore, draw: false, explain: None }
    }
}

impl PathsRequest {
    /// As the layer `paths` takes it.
    pub(super) fn resolved(&self) -> Request {
        Request {
            first: self.first.clone(),
            criterion: self.criterion,
            arrays: self.arrays,
            max_steps: self.max_steps,
            max_tests: self.max_tests,
            explore: self.explore,
            graph: Some(if self.draw { DRAWN_NODES } else { COUNTED_NODES }),
            draws: self.draw,
        }
    }
}

/// A package of test drivers that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EmittedReport {
    /// The directory.
    pub out: String,
    /// The files of the package, as paths in it.
    pub files: Vec<String>,
    /// The tests of the package.
    pub tests: Vec<TestEntry>,
    /// The groups, with or without a test.
    pub groups: Vec<GroupEntry>,
    /// The language of the package.
    #[serde(skip)]
    pub target: Target,
}

/// The test cases of a program; it serialises as [`PathsReport`].
#[derive(Debug, Serialize)]
pub struct PathsAnswer {
    /// With names.
    #[serde(flatten)]
    pub report: PathsReport,
    /// Where a branch was asked for: each of its evaluations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explained: Option<ExplainedReport>,
    /// Where test drivers were written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub emitted: Option<EmittedReport>,
    /// The bound that has cut something.
    #[serde(skip)]
    pub bound: Option<Bound>,
}

/// Makes the tests of a program.
///
/// # Errors
///
/// The branch that is to be explained was evaluated in no test.
pub fn paths(model: &Model, request: &PathsRequest, budget: &Budget<'_>) -> Result<PathsAnswer, Diagnostics> {
    let resolved = request.resolved();
    let (session, findings) = paths::find(model, &resolved, budget);
    let report = report(&session, &resolved, &findings);
    let explained = match &request.explain {
        None => None,
        Some(name) => {
            Some(explained(&session, &findings, &report, name).ok_or_else(|| unknown_branch(model, name, &report))?)
        }
    };
    Ok(PathsAnswer { report, explained, emitted: None, bound: bound(&findings) })
}

/// The bound that was hit first.
pub(super) fn bound(findings: &Findings) -> Option<Bound> {
    let method = match findings.explored.stopped_by {
        StoppedBy::Bound(bound) => Some(bound),
        StoppedBy::Rows | StoppedBy::Groups => None,
    };
    let counted = findings.counted.as_ref().and_then(|counted| counted.bound);
    method.or(counted).or_else(|| findings.exactness.as_ref().and_then(|exactness| exactness.bound))
}

fn unknown_branch(model: &Model, name: &str, report: &PathsReport) -> Diagnostics {
    let message = format!("no test evaluates a branch `{name}`");
    let diagnostic = Diagnostic::general(Code::UnknownName, Severity::Error, message);
    let names: Vec<String> = report.branches.iter().take(8).map(|one| format!("`{}`", one.branch)).collect();
    let help = if names.is_empty() {
        "no branch was evaluated at all".to_owned()
    } else {
        let more = if report.branches.len() > names.len() { ", …" } else { "" };
        format!("there are {}{more}", names.join(", "))
    };
    Diagnostics::new(model.sources().clone(), vec![diagnostic.with_help(help)])
}
