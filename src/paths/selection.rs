//! Selects the next test cases.
//!
//! **Input**: the branch-affect groups of each branch, with the test cases that belong to them and the known outcomes; and the
//! rows of the branch-condition table that were tested. **Output**: the next test cases.
//!
//! **Algorithm** (step 3 of the paper's Algorithm 4). A row of the branch-condition table is an outcome for each branch. For each
//! untested row, a test case that belongs to a group with the right outcome at every branch is taken. The 2^n rows are not
//! enumerated: each test case has one row at most, so it suffices to compute the row of each. If no row has a test case, the test
//! case that belongs to most untested groups is taken.
//!
//! **Soundness and limits**: a row counts as tested if any execution has had it, even if its test was chosen for another reason
//! (FACTS A5: the paper's table IV).

use rustc_hash::{FxHashMap, FxHashSet};

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

/// For each branch, the group of each test case.
struct Index<'t> {
    groups: Vec<FxHashMap<usize, &'t TableGroup>>,
}

impl<'t> Index<'t> {
    fn new(branches: &'t [TableBranch]) -> Index<'t> {
        let of_branch = |branch: &'t TableBranch| {
            let mut groups = FxHashMap::default();
            for group in &branch.groups {
                group.members.iter().for_each(|&test| {
                    groups.entry(test).or_insert(group);
                });
            }
            groups
        };
        Index { groups: branches.iter().map(of_branch).collect() }
    }

    /// The row of a test case, where the outcome of its group is known at every branch.
    fn row(&self, test: usize) -> Option<Vec<bool>> {
        self.groups.iter().map(|groups| groups.get(&test)?.outcome).collect()
    }

    /// Branches at which the group of a test case was not tested.
    fn untested(&self, test: usize) -> usize {
        self.groups.iter().filter(|groups| groups.get(&test).is_some_and(|group| !group.tested)).count()
    }
}

/// The next test cases, by number: one for each row that has none yet, or else those of groups that were not tested,
/// the one first that belongs to most of them, of which the first is to be made. None where every group was tested.
/// `made` are those that were executed.
#[must_use]
pub fn next_tests(branches: &[TableBranch], tested_rows: &FxHashSet<Vec<bool>>, made: &FxHashSet<usize>) -> Vec<usize> {
    let index = Index::new(branches);
    let members = branches.iter().flat_map(|branch| &branch.groups).flat_map(|group| group.members.iter().copied());
    let mut all: Vec<usize> = members.filter(|test| !made.contains(test)).collect();
    all.sort_unstable();
    all.dedup();
    let mut rows: Vec<(Vec<bool>, usize)> = Vec::new();
    let mut taken = FxHashSet::default();
    for &test in &all {
        if let Some(row) = index.row(test).filter(|row| !tested_rows.contains(row))
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
    let mut open: Vec<(usize, usize)> = all.into_iter().map(|test| (index.untested(test), test)).collect();
    open.retain(|&(count, _)| count > 0);
    open.sort_by_key(|&(count, test)| (std::cmp::Reverse(count), test));
    open.into_iter().map(|(_, test)| test).collect()
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
        assert_eq!(next_tests(&[first, second], &rows, &FxHashSet::from_iter([1]))[0], 5);
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
