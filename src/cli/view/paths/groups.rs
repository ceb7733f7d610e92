//! Branch-affect groups, for people: the orders of each branch, and the branches that no order changes.

use super::PathsView;
use crate::view::snippet;
use crate::view::snippet::{JOINED, wrap_behind};
use cssame_answer::words::plural;
use cssame_paths::report::{GroupReport, PathsReport};
use cssame_source::Span;

/// Groups of one branch that are listed without `--all`.
const SHOWN_GROUPS: usize = 12;

/// Columns of a condition that are shown.
const CONDITION: usize = 40;

/// Branches whose groups are listed without `--all`.
const SHOWN_BRANCHES: usize = 12;

/// A branch or a wait, and its groups.
struct Of<'r> {
    branch: &'r str,
    span: Span,
    groups: Vec<&'r GroupReport>,
}

impl PathsView<'_> {
    /// The orders, branch by branch; then waits, then the branches that no other thread changes.
    pub(super) fn groups(&self, report: &PathsReport) -> Vec<String> {
        if report.counted.is_some() {
            return Vec::new();
        }
        let is_wait = |group: &&GroupReport| matches!(group.outcome, Some("woken" | "not woken"));
        let wait_names: Vec<&str> = report.wait_groups.iter().map(|group| group.branch.as_str()).collect();
        let is_of_wait = |group: &&GroupReport| is_wait(group) || wait_names.contains(&group.branch.as_str());
        let (of_waits, of_branches): (Vec<_>, Vec<_>) = report.infeasible_groups.iter().partition(is_of_wait);
        let mut blocks = Vec::new();
        let branches = by_branch(report.groups.iter().chain(of_branches));
        let orders = plural(report.groups.len(), "order");
        let head = match branches.len() {
            0 if report.branches.is_empty() => "orders: none, since no branch was evaluated".to_owned(),
            0 => "orders: none, since no order of threads can change a branch".to_owned(),
            1 => format!("{orders} of accesses that decide 1 branch"),
            count => format!("{orders} of accesses that decide {count} branches"),
        };
        blocks.push(snippet::title(&head, self.colour) + &self.listed_groups(&branches) + &self.same(report));
        if !report.wait_groups.is_empty() {
            let waits = by_branch(report.wait_groups.iter().chain(of_waits));
            let head = match waits.len() {
                1 => "orders that decide whether 1 wait is notified".to_owned(),
                count => format!("orders that decide whether {count} waits are notified"),
            };
            blocks.push(snippet::title(&head, self.colour) + &self.listed_groups(&waits));
        }
        blocks
    }

    fn listed_groups(&self, branches: &[Of<'_>]) -> String {
        let limit = if self.all { usize::MAX } else { SHOWN_BRANCHES };
        let mut text = String::new();
        for of in branches.iter().take(limit) {
            let condition = snippet::one_line(self.model.sources().text(of.span));
            text += &format!("  {}  {}\n", of.branch, snippet::shorten(&condition, CONDITION));
            // A group without a test of its own has nothing that the tests do not show.
            let has_tests = of.groups.iter().any(|group| group.tested_by.is_some());
            let is_possible = |group: &GroupReport| group.feasible == Some(true) && group.tested_by.is_none();
            let is_hidden =
                |group: &GroupReport| !self.all && (group.feasible == Some(false) || has_tests && is_possible(group));
            let (hidden, shown): (Vec<&GroupReport>, Vec<&GroupReport>) =
                of.groups.iter().copied().partition(|group| is_hidden(group));
            text += &self.group_lines(&shown);
            let possible = hidden.iter().filter(|group| is_possible(group)).count();
            text += &match possible {
                0 => String::new(),
                1 => "    1 other order that executions have needs no test of its own (--all shows it)\n".to_owned(),
                count => format!("    {count} other orders that executions have need no test of their own (--all)\n"),
            };
            text += &match hidden.len() - possible {
                0 => String::new(),
                1 => "    1 other order of these operations: no execution has it (--all shows it)\n".to_owned(),
                count => format!("    {count} other orders of these operations: no execution has them (--all)\n"),
            };
        }
        if branches.len() > limit {
            text += &format!("  and {} more of them (--all shows their orders)\n", branches.len() - limit);
        }
        text
    }

    /// One group a line: its number, the outcome, the test, and the order.
    pub(super) fn group_lines(&self, groups: &[&GroupReport]) -> String {
        let limit = if self.all { usize::MAX } else { SHOWN_GROUPS };
        let digits = groups.iter().map(|group| group.group.to_string().len()).max().unwrap_or(1);
        let outcomes = groups.iter().map(|group| outcome(group).len()).max().unwrap_or(0);
        let verdicts = groups.iter().map(|group| verdict(group).len()).max().unwrap_or(0);
        let mut text = String::new();
        for group in groups.iter().take(limit) {
            let (outcome, verdict) = (outcome(group), verdict(group));
            let first = format!("    {:>digits$}  {outcome:outcomes$}  {verdict:verdicts$}  ", group.group);
            let indent = " ".repeat(first.chars().count());
            text += &wrap_behind(&first, &indent, &order(group));
        }
        if groups.len() > limit {
            text += &format!("    and {} (--all shows them)\n", plural(groups.len() - limit, "further order"));
        }
        text
    }

    /// The branches that come out the same in any order.
    fn same(&self, report: &PathsReport) -> String {
        let names: Vec<String> =
            report.branches.iter().filter(|one| !one.affected).map(|one| one.branch.clone()).collect();
        let repeated: Vec<String> = report
            .branches
            .iter()
            .filter(|one| one.affected && one.same_as.is_some())
            .map(|one| one.branch.clone())
            .collect();
        let mut text = String::new();
        if !repeated.is_empty() {
            let count = plural(repeated.len(), "later evaluation");
            let line = format!("{count} of these, decided by the same operations: {}", self.listed(&repeated, ", "));
            text += &wrap_behind("  ", "    ", &line);
        }
        if !names.is_empty() {
            let count = plural(names.len(), "evaluation");
            let line = format!("not changed by any order, {count}: {}", self.listed(&names, ", "));
            text += &wrap_behind("  ", "    ", &line);
        }
        text
    }
}

/// Groups by the branch, in the order of the branches.
fn by_branch<'r>(groups: impl Iterator<Item = &'r GroupReport>) -> Vec<Of<'r>> {
    let mut found: Vec<Of<'r>> = Vec::new();
    for group in groups {
        match found.iter_mut().find(|of| of.branch == group.branch) {
            Some(of) => of.groups.push(group),
            None => found.push(Of { branch: &group.branch, span: group.span, groups: vec![group] }),
        }
    }
    for of in &mut found {
        of.groups.sort_by_key(|group| group.group);
    }
    found
}

/// How the branch comes out; of the test of a loop, how many iterations there are.
pub(super) fn outcome(group: &GroupReport) -> String {
    match (group.iterations, group.outcome) {
        (Some(count), _) => plural(count as usize, "iteration"),
        (None, outcome) => outcome.unwrap_or("-").to_owned(),
    }
}

fn verdict(group: &GroupReport) -> String {
    match (group.tested_by, group.feasible) {
        (Some(test), _) => format!("test {test}"),
        (None, Some(true)) => "possible".to_owned(),
        (None, Some(false)) => "impossible".to_owned(),
        (None, None) => "not known".to_owned(),
    }
}

/// `T1 read x@14:13, read y@14:17; T2 write x@21:5`
pub(super) fn order(group: &GroupReport) -> String {
    if group.order.is_empty() {
        return "before all of the others".to_owned();
    }
    let mut text = String::new();
    let mut last: Option<&String> = None;
    for (thread, act) in group.threads.iter().zip(&group.order) {
        let act = act.replace(' ', &JOINED.to_string());
        if last == Some(thread) {
            text += &format!(", {act}");
        } else {
            let separator = if last.is_some() { "; " } else { "" };
            text += &format!("{separator}{thread}:{JOINED}{act}");
        }
        last = Some(thread);
    }
    text
}
