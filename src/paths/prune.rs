//! Removes tests that show nothing new.
//!
//! **Input**: the findings. **Output**: the findings without those tests; their executions stay in the list of attempts.
//!
//! **Algorithm**: tests are visited in the order in which they were made. A test is kept if it is the first with an outcome of a
//! branch or a wait, with a race, with a failure or a deadlock, or of a race-equivalent path. A test that was added for a fact
//! that the method has missed is kept too.
//!
//! **Soundness and limits**: executions that read and write the same versions agree in all of these, so there are at most as many
//! kept tests as classes of versions. A group whose only test is removed is known to be possible.

use super::algorithm::Explored;
use super::exact::{Exactness, KnownFacts, Missed};
use cssame_model::Model;
use rustc_hash::FxHashSet;

/// Leaves out tests that show nothing new, and says how many.
pub fn prune(model: &Model, found: &mut Explored, exactness: Option<&mut Exactness>) -> usize {
    let mut missed: Vec<&mut usize> = exactness.into_iter().flat_map(|of| of.missed.iter_mut().map(test_of)).collect();
    let mut wanted: FxHashSet<usize> = found.classes.values().copied().chain([0]).collect();
    wanted.extend(missed.iter().map(|test| **test));
    let before = found.tests.len();
    let mut known = KnownFacts::new(u32::MAX);
    let mut shows =
        |test: &usize| known.extend(model.program(), model.machine(), found, *test) || wanted.contains(test);
    let kept: Vec<usize> = (0..before).filter(&mut shows).collect();
    let now = |test: usize| kept.binary_search(&test).ok();
    let mut number = 0..;
    found.tests.retain(|_| number.next().is_some_and(|test| now(test).is_some()));
    for group in found.groups.list.values_mut() {
        group.tested_by = group.tested_by.and_then(now);
    }
    for test in found.classes.values_mut().chain(missed.iter_mut().map(|test| &mut **test)) {
        *test = now(*test).unwrap_or(*test);
    }
    before - kept.len()
}

fn test_of(missed: &mut Missed) -> &mut usize {
    match missed {
        Missed::Outcome { test, .. } | Missed::End { test } | Missed::Race { test, .. } => test,
    }
}
