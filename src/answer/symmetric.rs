//! Deadlocks that differ only in the names of their threads.
//!
//! **Input**: deadlocks, each as its blocked threads. **Output**: groups of deadlocks that a renaming of threads maps to each
//! other: the threads stand at the same places of the text, and wait for the same objects, which were acquired at the same
//! places.
//!
//! **Algorithm**: colour refinement. The initial colour of a thread is its place and the object that it waits for. Then, as many
//! times as there are threads, the new colour combines this with the colours of the threads that it waits for. Deadlocks with the
//! same colours form a group.
//!
//! **Soundness and limits**: the object determines its holder, so deadlocks with the same colours are the same up to names. The
//! module does not check whether threads at one place began with the same code: the place is what needs the fix.

use cssame_explore::report::BlockedReport;
use rustc_hash::FxHasher;
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

/// The indices of deadlocks, grouped; groups and their members are in the order of the deadlocks.
#[must_use]
pub fn group_symmetric<'a>(deadlocks: impl IntoIterator<Item = &'a [BlockedReport]>) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut known: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    for (index, threads) in deadlocks.into_iter().enumerate() {
        let group = *known.entry(form(threads)).or_insert(groups.len());
        match groups.get_mut(group) {
            Some(members) => members.push(index),
            None => groups.push(vec![index]),
        }
    }
    groups
}

/// The colours of the threads, sorted.
fn form(threads: &[BlockedReport]) -> Vec<String> {
    let mut colours: Vec<String> = threads.iter().map(place).collect();
    for _ in 0..threads.len().min(ROUNDS) {
        let colour = |name: &String| threads.iter().position(|of| of.thread == *name).map(|index| &colours[index]);
        let next = threads.iter().zip(&colours).map(|(of, own)| {
            let mut awaited: Vec<Option<&String>> = of.threads.iter().map(colour).collect();
            awaited.sort();
            let mut hasher = FxHasher::default();
            (own, of.holder.as_ref().map(colour), awaited).hash(&mut hasher);
            format!("{} {:016x}", place(of), hasher.finish())
        });
        colours = next.collect();
    }
    colours.sort();
    colours
}

/// Rounds of refinement at most; each one can tell apart what is one step further away.
const ROUNDS: usize = 8;

/// Where a thread stands and what it waits for, without names of threads.
fn place(of: &BlockedReport) -> String {
    format!(
        "{} {:?} {:?} {:?} {:?} {:?} {} {}",
        of.at,
        of.waits_for,
        of.object,
        of.taken_at,
        of.arrived,
        of.count,
        of.holder.as_deref() == Some(of.thread.as_str()),
        of.threads.len(),
    )
}
