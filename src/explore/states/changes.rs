//! The changes of a step in a state that is represented by the numbers of its parts.
//!
//! **Input**: the numbers before and after the step, and the dependences of the step. **Output**: the changed parts, and the
//! change of the fingerprint.
//!
//! **Soundness and limits**: exact. The result holds for each state that agrees with this one in all dependences of the step. If
//! the step has changed more than these and its thread, there is no result.

use super::origin::{Origin, Seen};
use cssame_vm::{Parts, Standing};
use smallvec::SmallVec;
use std::cmp::Ordering;

/// What a step changes, but for its thread and the rest.
#[derive(Default)]
pub(super) struct Changes {
    /// Addresses and numbers of cells.
    pub cells: SmallVec<[(u32, u32); 4]>,
    /// Slots and numbers of other threads.
    pub others: SmallVec<[(u32, u32); 4]>,
    /// What is added to the fingerprint, but for the cells that were there before.
    pub delta: u128,
}

/// What a step has changed; nothing if that is more than what it is said to depend on.
pub(super) fn changes(of: &Origin<'_>, parts: &Parts, seen: &Seen<'_>) -> Option<Changes> {
    let Seen { footprint, behind, .. } = *seen;
    let now = behind.unwrap_or(of.numbers);
    let has_these_places = match now.len().cmp(&of.numbers.len()) {
        Ordering::Less => footprint.end().is_some(),
        Ordering::Equal => true,
        Ordering::Greater => footprint.groups().contains(&Standing::Free),
    };
    if !has_these_places || parts.cells(now) != of.cells || now.len() <= of.cells {
        return None;
    }
    let mut changes = Changes::default();
    changes.add_threads(of, parts, now);
    let (own, others) = (of.cells + of.slot, others(of, parts, seen));
    for (place, (&before, &after)) in of.numbers.iter().zip(now).enumerate() {
        let is_written = behind.is_some() && footprint.written().contains(&(place as u32));
        if (1..of.cells).contains(&place) {
            if is_written || before != after {
                let is_known = is_written || footprint.cells().contains(&(place as u32));
                if !is_known {
                    return None;
                }
                changes.cells.push((place as u32, after));
                changes.add(parts.hash_at(place, after, of.cells));
            }
        } else if before != after {
            let is_other = others.contains(&place);
            let is_known = place == own || is_other || place == 0 && footprint.depends_on_rest();
            if !is_known {
                return None;
            }
            if is_other {
                changes.others.push(((place - of.cells) as u32, after));
            }
            changes.add(parts.hash_at(place, after, of.cells).wrapping_sub(parts.hash_at(place, before, of.cells)));
        }
    }
    Some(changes)
}

impl Changes {
    fn add(&mut self, hash: u128) {
        self.delta = self.delta.wrapping_add(hash);
    }

    /// Adds the threads that stand in slots that were not there before, and takes away those whose slots are gone.
    fn add_threads(&mut self, of: &Origin<'_>, parts: &Parts, now: &[u32]) {
        for (place, &before) in of.numbers.iter().enumerate().skip(now.len()) {
            self.add(parts.hash_at(place, before, of.cells).wrapping_neg());
        }
        for (place, &after) in now.iter().enumerate().skip(of.numbers.len()) {
            self.others.push(((place - of.cells) as u32, after));
            self.add(parts.hash_at(place, after, of.cells));
        }
    }
}

/// The places of other threads that a step depends on and may change: who waits for its end, and the groups.
fn others(of: &Origin<'_>, parts: &Parts, seen: &Seen<'_>) -> SmallVec<[usize; 8]> {
    let parent = seen.footprint.end().flatten().map(|parent| of.cells + parent.index());
    let groups = seen.footprint.groups().iter();
    let members = groups.flat_map(|&standing| parts.group(standing, of.numbers));
    members.map(|(slot, _)| of.cells + slot).chain(parent).collect()
}
