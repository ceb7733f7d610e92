//! Explains the decision of a branch: the tables of the method, for readers.
//!
//! **Input**: the results of the method, and the name of a branch. **Output**: [`ExplainedReport`]: for each evaluation of the
//! branch its use-defines and the order in which each test reached it, and the rows of the branch-condition table.

use cssame_paths::report::{BranchReport, GroupReport, PathsReport};
use cssame_paths::{Decision, DecisionKind, Findings, Session, Test, Trace, UseDefine};
use cssame_vm::PathId;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A use of a shared variable, and a definition that it may see.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct UseDefineReport {
    /// The place that reads: `x@4:7`.
    pub read: String,
    /// Who reads.
    pub read_by: String,
    /// The place that writes.
    pub write: String,
    /// Who writes.
    pub written_by: String,
    /// `conventional`, in one thread, or `extended`, between two.
    pub kind: &'static str,
}

/// An evaluation of the branch, in one test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EvaluatedReport {
    /// The test, by number.
    pub test: usize,
    /// How it came out.
    pub outcome: &'static str,
}

/// An evaluation of the branch.
#[derive(Clone, Debug, Serialize)]
pub struct ExplainedBranch {
    /// As the answer tells it.
    #[serde(flatten)]
    pub branch: BranchReport,
    /// `BranchRelUD`: the uses and definitions that lead to it, in any test.
    pub use_defines: Vec<UseDefineReport>,
    /// The branch-affect table: its groups, those too that no execution has.
    pub groups: Vec<GroupReport>,
    /// How it came out in each test that has come to it.
    pub evaluated: Vec<EvaluatedReport>,
}

/// A row of the branch-condition table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConditionRow {
    /// For each column the outcome; null where the branch is not evaluated.
    pub outcomes: Vec<Option<&'static str>>,
    /// The tests that have it, by number.
    pub tests: Vec<usize>,
}

/// The branch-condition table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConditionTable {
    /// Its columns: the branches that other threads can change.
    pub branches: Vec<String>,
    /// The rows that tests have had.
    pub rows: Vec<ConditionRow>,
}

/// What decides a branch.
#[derive(Clone, Debug, Serialize)]
pub struct ExplainedReport {
    /// Each evaluation of it.
    pub evaluations: Vec<ExplainedBranch>,
    /// The outcomes of the affected branches in the tests.
    pub conditions: ConditionTable,
}

/// Explains a branch; none if no test evaluates it.
pub(super) fn explained(
    session: &Session<'_>,
    findings: &Findings,
    report: &PathsReport,
    name: &str,
) -> Option<ExplainedReport> {
    let explainer = Explainer { session, findings };
    let mut wanted = report.branches.iter().filter(|branch| is_named(&branch.branch, name)).peekable();
    wanted.peek()?;
    let evaluations = wanted.map(|branch| explainer.branch(branch, report)).collect();
    Some(ExplainedReport { evaluations, conditions: explainer.conditions(report) })
}

/// Whether a branch is meant: `T1:2:9` means all evaluations of it.
fn is_named(branch: &str, name: &str) -> bool {
    branch == name || branch.rsplit_once('#').is_some_and(|(place, _)| place == name)
}

struct Explainer<'a> {
    session: &'a Session<'a>,
    findings: &'a Findings,
}

impl Explainer<'_> {
    fn branch(&self, branch: &BranchReport, report: &PathsReport) -> ExplainedBranch {
        let mut use_defines = BTreeSet::new();
        let mut evaluated = Vec::new();
        for (number, test) in self.findings.explored.tests.iter().enumerate() {
            let (trace, decisions) = self.of(test);
            let is_it = |one: &&Decision| one.place.kind == DecisionKind::Branch && self.name(one) == branch.branch;
            let Some(decision) = decisions.iter().find(is_it) else { continue };
            evaluated.push(EvaluatedReport { test: number + 1, outcome: word(decision.outcome) });
            use_defines.extend(decision.related.use_defines.iter().filter_map(|one| self.use_define(trace, one)));
        }
        let groups = report.groups.iter().chain(&report.infeasible_groups);
        // A group names the evaluation that it was found at; other evaluations with the same operations have the same groups.
        let of = branch.same_as.as_ref().unwrap_or(&branch.branch);
        ExplainedBranch {
            branch: branch.clone(),
            use_defines: use_defines.into_iter().collect(),
            groups: groups.filter(|group| group.branch == *of).cloned().collect(),
            evaluated,
        }
    }

    fn of(&self, test: &Test) -> (&Trace, &[Decision]) {
        let run = &self.findings.explored.runs[test.run];
        (&run.run.trace, &run.decisions)
    }

    fn thread(&self, path: PathId) -> String {
        self.session.model.machine().path_name(&self.session.tables, path)
    }

    fn name(&self, decision: &Decision) -> String {
        let place = decision.place;
        let position = self.session.model.sources().position(place.span);
        format!("{}:{position}#{}", self.thread(place.thread), decision.instance)
    }

    fn use_define(&self, trace: &Trace, pair: &UseDefine) -> Option<UseDefineReport> {
        let program = self.session.model.program();
        let place = |action: &cssame_paths::Action| {
            let access = action.kind.access()?;
            let position = self.session.model.sources().position(access.span(program));
            Some(format!("{}@{position}", program.texts.get(access.name(program))))
        };
        let (read, write) = (&trace.actions[pair.read], &trace.actions[pair.write]);
        Some(UseDefineReport {
            read: place(read)?,
            read_by: self.thread(read.thread),
            write: place(write)?,
            written_by: self.thread(write.thread),
            kind: if read.thread == write.thread { "conventional" } else { "extended" },
        })
    }

    /// The rows that tests have had, in the order in which they were seen first.
    fn conditions(&self, report: &PathsReport) -> ConditionTable {
        let columns = report.branches.iter().filter(|branch| branch.affected && branch.same_as.is_none());
        let branches: Vec<String> = columns.map(|branch| branch.branch.clone()).collect();
        let mut rows: Vec<ConditionRow> = Vec::new();
        let mut known: BTreeMap<Vec<Option<&'static str>>, usize> = BTreeMap::new();
        for (number, test) in self.findings.explored.tests.iter().enumerate() {
            let (_, decisions) = self.of(test);
            let by_name: BTreeMap<String, bool> = decisions
                .iter()
                .filter(|one| one.place.kind == DecisionKind::Branch)
                .map(|one| (self.name(one), one.outcome))
                .collect();
            let outcomes: Vec<Option<&'static str>> =
                branches.iter().map(|branch| by_name.get(branch).copied().map(word)).collect();
            let row = *known.entry(outcomes.clone()).or_insert_with(|| {
                rows.push(ConditionRow { outcomes, tests: Vec::new() });
                rows.len() - 1
            });
            rows[row].tests.push(number + 1);
        }
        ConditionTable { branches, rows }
    }
}

fn word(outcome: bool) -> &'static str {
    if outcome { "true" } else { "false" }
}
