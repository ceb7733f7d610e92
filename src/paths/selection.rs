//! Which test cases come next.
//!
//! **Input**: the branch-affect groups of each branch, with the test cases that belong to them and the outcomes that
//! are known, and the rows of the branch-condition table that were tested. **Output**: the next test cases.
//!
//! **Algorithm** (step 3 of the paper's Algorithm 4). A row of the branch-condition table is an outcome for each
//! branch. For each row that was not tested, a test case is taken that belongs to a group with that outcome at every
//! branch. Rows are not enumerated, for there are 2^n of them: each test case has one row at most, so it is enough to
//! look for the row of each. Where no row has a test case, one is taken from a group that was not tested: the one that
//! belongs to most such groups.
//!
//! **Soundness and limits**: a row counts as tested when an execution has had it, also by a test that was chosen for
//! another reason (FACTS A5: the paper's table IV).

use rustc_hash::FxHashSet;

/// A branch-affect group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableGroup {
    /// The test cases that belong to it, by number.
    pub members: Vec<usize>,
    /// How the branch comes out, where that is known.
    pub outcome: Option<bool>,
    /// Whether some execution had it.
    pub tested: bool,
}

/// The groups of a branch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableBranch {
    /// Its groups.
    pub groups: Vec<TableGroup>,
}

/// The next test cases, by number; none where every group was tested. `made` are those that were executed.
#[must_use]
pub fn next_tests(branches: &[TableBranch], tested_rows: &FxHashSet<Vec<bool>>, made: &FxHashSet<usize>) -> Vec<usize> {
    let mut all: Vec<usize> =
        branches.iter().flat_map(|branch| &branch.groups).flat_map(|group| group.members.iter().copied()).collect();
    all.sort_unstable();
    all.dedup();
    all.retain(|test| !made.contains(test));
    let mut rows: Vec<(Vec<bool>, usize)> = Vec::new();
    let mut taken = FxHashSet::default();
    for &test in &all {
        if let Some(row) = row_of(branches, test)
            && !tested_rows.contains(&row)
            && taken.insert(row.clone())
        {
            rows.push((row, test));
        }
    }
    if !rows.is_empty() {
        // The rows in the order of the table: true stands before false.
        rows.sort_by_key(|(row, _)| row.iter().map(|&holds| !holds).collect::<Vec<bool>>());
        return rows.into_iter().map(|(_, test)| test).collect();
    }
    let untested = |test: usize| {
        let of =
            |branch: &TableBranch| branch.groups.iter().any(|group| !group.tested && group.members.contains(&test));
        branches.iter().filter(|branch| of(branch)).count()
    };
    let best = all.iter().map(|&test| (untested(test), test)).filter(|&(count, _)| count > 0);
    best.max_by_key(|&(count, test)| (count, std::cmp::Reverse(test))).map(|(_, test)| test).into_iter().collect()
}

/// The row of a test case, where the outcome of its group is known at every branch.
fn row_of(branches: &[TableBranch], test: usize) -> Option<Vec<bool>> {
    let outcome = |branch: &TableBranch| branch.groups.iter().find(|group| group.members.contains(&test))?.outcome;
    branches.iter().map(outcome).collect()
}

#[cfg(test)]
mod tests {
    use super::{TableBranch, TableGroup, next_tests};
    use rustc_hash::FxHashSet;

    fn branch(groups: &[(&[usize], Option<bool>)]) -> TableBranch {
        let group = |&(members, outcome): &(&[usize], Option<bool>)| TableGroup {
            members: members.to_vec(),
            outcome,
            tested: outcome.is_some(),
        };
        TableBranch { groups: groups.iter().map(group).collect() }
    }

    /// Figure 11 and table III of the paper: V1 was executed, and no row has a test case.
    #[test]
    fn where_no_row_has_a_test_case_one_of_an_untested_group_is_taken() {
        let first = branch(&[(&[1, 2, 3], Some(true)), (&[5], None), (&[4], None)]);
        let second = branch(&[(&[1, 2, 4], Some(true)), (&[3, 5], None)]);
        let rows = FxHashSet::from_iter([vec![true, true]]);
        assert_eq!(next_tests(&[first, second], &rows, &FxHashSet::from_iter([1])), [5]);
    }

    /// Figure 12 and table IV: V5 was executed beside, so its row counts as tested.
    #[test]
    fn each_untested_row_gets_a_test_case() {
        let first = branch(&[(&[1, 2, 3], Some(true)), (&[5, 6], Some(false)), (&[4], None)]);
        let second = branch(&[(&[1, 2, 4, 6], Some(true)), (&[3, 5], Some(false))]);
        let made = FxHashSet::from_iter([1, 5]);
        let rows = FxHashSet::from_iter([vec![true, true], vec![false, false]]);
        let branches = [first, second];
        assert_eq!(next_tests(&branches, &rows, &made), [3, 6]);
        // As the paper has it, with the row of V5 still open.
        let only_first = FxHashSet::from_iter([vec![true, true]]);
        assert_eq!(next_tests(&branches, &only_first, &FxHashSet::from_iter([1])), [3, 6, 5]);
        // Then all rows are tested, and V4 is never made.
        let all = FxHashSet::from_iter([vec![true, true], vec![true, false], vec![false, true], vec![false, false]]);
        let made = FxHashSet::from_iter([1, 3, 5, 6]);
        assert_eq!(next_tests(&branches, &all, &made), [4], "condition 1 ends the algorithm before this");
    }
}
