//! Correlation sets: variables that are correlated, directly or through others.
//!
//! **Input**: the correlations. **Output**: the classes of the least equivalence relation that contains them, by union-find
//! (`ena`), as in H-Corr, the predecessor of the paper. Each set is sorted, and the sets are sorted by their least member, so
//! that the choice of the union-find root has no effect.

use super::pattern::{Correlation, RowTie};
use super::source_variable::{SourceVariableId, SourceVariables};
use cssame_source::Span;
use ena::unify::{InPlaceUnificationTable, UnifyKey};
use std::collections::{BTreeMap, BTreeSet};

/// What is united with others, by its number: a variable, or a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key(pub(super) u32);

impl UnifyKey for Key {
    type Value = ();

    fn index(&self) -> u32 {
        self.0
    }

    fn from_index(index: u32) -> Key {
        Key(index)
    }

    fn tag() -> &'static str {
        "number"
    }
}

/// Merges correlated variables into sets.
pub(super) fn merge(correlations: &[Correlation]) -> Vec<Vec<SourceVariableId>> {
    let mut members: Vec<SourceVariableId> = correlations.iter().flat_map(|of| [of.data.0, of.data.1]).collect();
    members.sort_unstable();
    members.dedup();
    let mut table: InPlaceUnificationTable<Key> = InPlaceUnificationTable::new();
    let keys: BTreeMap<SourceVariableId, Key> = members.iter().map(|&member| (member, table.new_key(()))).collect();
    for correlation in correlations {
        table.union(keys[&correlation.data.0], keys[&correlation.data.1]);
    }
    let mut sets: BTreeMap<u32, Vec<SourceVariableId>> = BTreeMap::new();
    for (member, key) in keys {
        sets.entry(table.find(key).0).or_default().push(member);
    }
    let mut sets: Vec<Vec<SourceVariableId>> = sets.into_values().collect();
    sets.sort_unstable();
    sets
}

/// Shared variables of a set that are tied to each other.
const MAX_MEMBERS: usize = 16;

/// Every two shared variables of one set that no correlation ties directly. Two belong together by row where correlations by row
/// alone lead from one to the other.
pub(super) fn within(
    data: &SourceVariables,
    sets: &[Vec<SourceVariableId>],
    correlations: &[Correlation],
) -> Vec<Correlation> {
    let known: BTreeSet<(SourceVariableId, SourceVariableId)> = correlations.iter().map(|of| of.data).collect();
    let by_row: Vec<Correlation> = correlations.iter().filter(|of| is_indexed(of)).cloned().collect();
    let rows = merge(&by_row).into_iter().enumerate();
    let rows: BTreeMap<SourceVariableId, usize> =
        rows.flat_map(|(number, row)| row.into_iter().map(move |variable| (variable, number))).collect();
    let mut written: BTreeMap<SourceVariableId, Span> = BTreeMap::new();
    for (variable, place) in by_row.iter().flat_map(places) {
        written.entry(variable).and_modify(|known| *known = place.min(*known)).or_insert(place);
    }
    let row = |first: SourceVariableId, second: SourceVariableId| {
        let written = [first, second].map(|variable| written.get(&variable).copied());
        rows.get(&first).filter(|row| rows.get(&second) == Some(row)).map(|_| RowTie { written })
    };
    let mut found = Vec::new();
    for set in sets.iter().filter(|set| set.len() > 2) {
        let members: Vec<SourceVariableId> = set.iter().copied().filter(|&one| data.is_shared(one)).collect();
        let members = &members[..members.len().min(MAX_MEMBERS)];
        for (place, &first) in members.iter().enumerate() {
            let others = members[place + 1..].iter().map(|&second| (first, second));
            let others = others.filter(|pair| !known.contains(pair));
            found.extend(others.map(|pair| Correlation::of_set(pair, row(pair.0, pair.1))));
        }
    }
    found
}

/// Whether elements of equal index belong together.
fn is_indexed(correlation: &Correlation) -> bool {
    correlation.row.is_some_and(|row| row.written != [None; 2])
}

/// Where the variables of a correlation are written with an index.
fn places(correlation: &Correlation) -> impl Iterator<Item = (SourceVariableId, Span)> + use<> {
    let written = correlation.row.map_or([None; 2], |row| row.written);
    [correlation.data.0, correlation.data.1].into_iter().zip(written).filter_map(|(of, place)| Some((of, place?)))
}
