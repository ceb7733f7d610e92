//! Deadlocks that are shown together.

use cssame_answer::group_symmetric;
use cssame_explore::report::BlockedReport;

/// Each deadlock that is shown, with those that differ from it in the names of threads; with `all`, each by itself.
pub fn groups<'a>(
    deadlocks: impl ExactSizeIterator<Item = &'a [BlockedReport]>,
    all: bool,
) -> Vec<(usize, Vec<usize>)> {
    if all {
        return (0..deadlocks.len()).map(|index| (index, Vec::new())).collect();
    }
    let groups = group_symmetric(deadlocks).into_iter();
    groups.filter_map(|members| members.split_first().map(|(&first, others)| (first, others.to_vec()))).collect()
}
