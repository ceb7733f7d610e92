//! Executes the pairs of a program with a `main`.

use super::executed::{AccessVerdict, ExecutedPair};
use super::search::{Search, Searched, private};
use crate::explore::question::tear::{TearPattern, tear_at_random};
use crate::model::Model;

/// What is known of an access after the first round.
enum First {
    Decided(AccessVerdict),
    /// Its share of the states did not do.
    Postponed(TearPattern),
}

/// Decides all endangered accesses of the selected pairs.
pub(super) fn execute(search: &mut Search<'_>, model: &Model, selected: &[usize]) -> Vec<ExecutedPair> {
    // Step 1: an equal share of the states for each access, so that a hard one does not use up what easy ones need.
    let mut open: u64 = selected.iter().map(|&index| search.analysis.pairs[index].endangered as u64).sum();
    let mut first = Vec::new();
    for &index in selected {
        for (access, watch) in search.watches(index) {
            let verdict = watch.map_or_else(
                || First::Decided(private()),
                |watch| {
                    let share = search.left().map_or(u64::MAX, |left| left / open.max(1));
                    open = open.saturating_sub(1);
                    match search.search(model, &watch, share.max(1)) {
                        Searched::Decided(verdict) => First::Decided(verdict),
                        Searched::ShareUsedUp => First::Postponed(watch),
                    }
                },
            );
            first.push((index, access, verdict));
        }
    }
    // Step 2: the others with all that is left, after some executions at random.
    let mut pairs: Vec<ExecutedPair> =
        selected.iter().map(|&pair| ExecutedPair { pair, setting: Some(0), accesses: Vec::new() }).collect();
    for (index, access, verdict) in first {
        let verdict = match verdict {
            First::Decided(verdict) => verdict,
            First::Postponed(watch) => again(search, model, &watch),
        };
        if let Some(pair) = pairs.iter_mut().find(|pair| pair.pair == index) {
            pair.accesses.push((access, verdict));
        }
    }
    pairs
}

fn again(search: &mut Search<'_>, model: &Model, watch: &TearPattern) -> AccessVerdict {
    if let Some(schedule) = tear_at_random(model.machine(), model.program(), watch, &search.budget) {
        return AccessVerdict::Confirmed(schedule);
    }
    match search.search(model, watch, u64::MAX) {
        Searched::Decided(verdict) => verdict,
        Searched::ShareUsedUp => AccessVerdict::Open("it was not executed".to_owned()),
    }
}
