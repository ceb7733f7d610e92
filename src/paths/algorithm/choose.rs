//! Chooses the next tests, with the branch-condition table and the branch-affect groups to which candidates are expected to
//! belong.
//!
//! **Input**: the results of a [`Method`]. **Output**: whether each row of the table was tested (condition 1), and the next
//! tests; each test is a group and one of its candidates.
//!
//! **Algorithm**: step 3 of Algorithm 4 of the paper ([`next_tests`]). A candidate is expected to belong to the groups of its
//! original trace, rearranged into the order of the candidate.
//!
//! **Soundness and limits**: a prediction only chooses tests; it decides nothing. If there is no branch, or more than
//! [`MAX_PREDICTED`] actions, nothing is predicted, and all open groups are returned.

use super::{
    Candidate, DecisionKind, DecisionPlace, FxHashMap, FxHashSet, Interleaving, MAX_PREDICTED, Method, Projection,
    Rows, Shown,
};
use super::{TableBranch, TableGroup, Test, completed, group_in_order, next_tests};
use std::collections::BTreeMap;

impl Method<'_, '_> {
    /// The branches that rows are made of.
    fn columns(&self) -> Vec<(DecisionPlace, u32)> {
        let affected = &self.found.groups.affected_instances;
        let is_column = |key: &(DecisionPlace, u32), shown: &Shown| {
            key.0.kind == DecisionKind::Branch && affected.contains(key) && shown.same_as.is_none()
        };
        self.found.shown.iter().filter(|(key, shown)| is_column(key, shown)).map(|(&key, _)| key).collect()
    }

    /// The row of a test, where it has come to all branches.
    fn row(&self, test: &Test, columns: &[(DecisionPlace, u32)]) -> Option<Vec<bool>> {
        let decisions = self.found.runs[test.run].decisions.iter();
        let outcomes: FxHashMap<(DecisionPlace, u32), bool> =
            decisions.map(|one| ((one.place, one.instance), one.outcome)).collect();
        columns.iter().map(|key| outcomes.get(key).copied()).collect()
    }

    /// Brings the rows that tests have had up to date.
    fn count_rows(&mut self) {
        let columns = self.columns();
        if columns != self.rows.columns {
            self.rows = Rows { columns, ..Rows::default() };
        }
        for test in self.rows.tests..self.found.tests.len() {
            if let Some(row) = self.row(&self.found.tests[test], &self.rows.columns) {
                self.rows.tested.insert(row);
            }
        }
        self.rows.tests = self.found.tests.len();
    }

    /// Condition 1.
    pub(super) fn all_rows_tested(&mut self) -> bool {
        self.count_rows();
        let columns = self.rows.columns.len();
        // Without a branch there is nothing to test; with so many, nobody has made as many tests.
        columns > 0 && columns < 32 && self.rows.tested.len() as u64 == 1 << columns
    }

    /// Step 3: the next tests, each a group and one of its candidates. Where no row has one, all are given, those first
    /// that are expected to belong to most open groups.
    pub(super) fn select(&self) -> Vec<(usize, usize)> {
        let mut tests: Vec<(usize, usize)> = Vec::new();
        for group in self.found.groups.open() {
            tests.extend(self.next_candidate(group).map(|one| (group, one)));
        }
        let branches = self.table(&self.rows.columns, &tests);
        let mut chosen = next_tests(&branches, &self.rows.tested, &FxHashSet::default());
        // Waits, and branches of which no row knows, are tested like the others.
        let known: FxHashSet<usize> = chosen.iter().copied().collect();
        chosen.extend((0..tests.len()).filter(|test| !known.contains(test)));
        chosen.into_iter().map(|test| tests[test]).collect()
    }

    /// The groups of each branch, with the candidates that are expected to belong to them.
    fn table(&self, columns: &[(DecisionPlace, u32)], tests: &[(usize, usize)]) -> Vec<TableBranch> {
        let mut branches: Vec<BTreeMap<usize, TableGroup>> = vec![BTreeMap::new(); columns.len()];
        let actions = |&(group, one): &(usize, usize)| {
            let candidate = &self.found.groups.list[group].candidates[one];
            self.found.runs[candidate.run].run.trace.actions.len()
        };
        // Without a branch nothing is predicted, and executions that spin are long.
        if !columns.is_empty() && tests.iter().map(actions).sum::<usize>() <= MAX_PREDICTED {
            for (test, &(group, one)) in tests.iter().enumerate() {
                if self.budget.check().is_some() {
                    break;
                }
                for (column, group) in self.predict(columns, &self.found.groups.list[group].candidates[one]) {
                    let of = &self.found.groups.list[group];
                    let entry = branches[column].entry(group).or_insert_with(|| TableGroup {
                        members: Vec::new(),
                        outcome: of.outcome,
                        tested: of.tested_by.is_some(),
                    });
                    entry.members.push(test);
                }
            }
        }
        branches.into_iter().map(|groups| TableBranch { groups: groups.into_values().collect() }).collect()
    }

    /// The group that an execution by a candidate is expected to belong to, at each branch of its trace.
    fn predict(&self, columns: &[(DecisionPlace, u32)], candidate: &Candidate) -> Vec<(usize, usize)> {
        let placing = self.placing();
        let known = &self.found.runs[candidate.run];
        let trace = &known.run.trace;
        let spurious = self.session.model.options().semantics.spurious_wakeups;
        let whole = Projection::whole(placing.program, trace);
        let interleaving = Interleaving::new(placing.program, trace, &whole, spurious);
        let order = completed(trace, &interleaving, &candidate.required);
        let mut found = Vec::new();
        for (column, &key) in columns.iter().enumerate() {
            let group = known.decision(key).map(|decision| group_in_order(placing, trace, decision, &order));
            let group = group.and_then(|group| self.found.groups.list.get_index_of(&group));
            found.extend(group.map(|group| (column, group)));
        }
        found
    }
}
