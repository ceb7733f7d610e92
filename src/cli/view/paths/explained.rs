//! The decision of a branch, for readers: use-defines, the branch-affect table and the branch-condition table.

use super::PathsView;
use crate::view::snippet::{self, Table};
use cssame_answer::words::plural;
use cssame_answer::{ConditionTable, ExplainedBranch, ExplainedReport};

/// Rows of the branch-condition table that are listed without `--all`.
const SHOWN_ROWS: usize = 20;

impl PathsView<'_> {
    /// The tables of each evaluation, and the branch-condition table.
    pub(super) fn explained(&self, report: &ExplainedReport) -> Vec<String> {
        let mut blocks: Vec<String> = report.evaluations.iter().map(|one| self.evaluation(one)).collect();
        blocks.push(self.conditions(&report.conditions));
        blocks
    }

    fn evaluation(&self, of: &ExplainedBranch) -> String {
        let branch = &of.branch;
        let place = snippet::place(self.model.sources(), branch.span, &branch.outcomes.join(" or "), self.colour);
        let mut text = snippet::title(&format!("branch {}", branch.branch), self.colour) + &place;
        if let Some(earlier) = &branch.same_as {
            text += &format!("  decided by the same operations as {earlier}: its groups stand there\n");
        }
        if !branch.affected {
            text += "  no other thread changes how it comes out\n";
        }
        if !of.use_defines.is_empty() {
            text += "  it depends on (BranchRelUD):\n";
            let mut table = Table::new("    ");
            for pair in &of.use_defines {
                let read = format!("{} of {}", pair.read, pair.read_by);
                let write = format!("may read from {} of {}", pair.write, pair.written_by);
                table.row(vec![read, write, pair.kind.to_owned()]);
            }
            text += &table.lines().concat();
        }
        if !of.groups.is_empty() && branch.same_as.is_none() {
            text += "  orders (branch-affect table):\n";
            text += &self.group_lines(&of.groups.iter().collect::<Vec<_>>());
            text += &self.variants(of);
        }
        let evaluated: Vec<String> = of.evaluated.iter().map(|one| format!("{} {}", one.test, one.outcome)).collect();
        text + &snippet::wrap_behind("  ", "    ", &format!("outcome by test: {}", self.listed(&evaluated, ", ")))
    }

    /// Which variants of the first run belong to which group.
    fn variants(&self, of: &ExplainedBranch) -> String {
        let of_group = of.groups.iter().filter(|group| !group.variants.is_empty());
        let lines = of_group.map(|group| {
            let line = format!("group {}: {}", group.group, self.listed(&group.variants, ", "));
            snippet::wrap_behind("    ", "      ", &line)
        });
        let lines: String = lines.collect();
        if lines.is_empty() { lines } else { format!("  variants of the first run, by group:\n{lines}") }
    }

    /// The rows that tests have had.
    fn conditions(&self, table: &ConditionTable) -> String {
        if table.branches.is_empty() {
            return String::new();
        }
        let head = "outcomes together (branch-condition table), the rows that tests had";
        let mut text = snippet::title(head, self.colour);
        for (number, branch) in table.branches.iter().enumerate() {
            text += &format!("  column {}  {branch}\n", number + 1);
        }
        let mut rows = Table::new("  ");
        let limit = if self.all { usize::MAX } else { SHOWN_ROWS };
        for row in table.rows.iter().take(limit) {
            let outcomes: String = row.outcomes.iter().map(|outcome| letter(*outcome)).collect();
            let tests: Vec<String> = row.tests.iter().map(usize::to_string).collect();
            let word = if row.tests.len() == 1 { "test" } else { "tests" };
            rows.row(vec![outcomes, format!("{word} {}", self.listed(&tests, ", "))]);
        }
        text += &rows.lines().concat();
        if table.rows.len() > limit {
            text += &format!("  and {} (--all shows them)\n", plural(table.rows.len() - limit, "further row"));
        }
        text + "  T true, F false, - not evaluated\n"
    }
}

fn letter(outcome: Option<&str>) -> char {
    match outcome {
        Some("true") => 'T',
        Some(_) => 'F',
        None => '-',
    }
}
