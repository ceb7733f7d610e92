//! Reorders the schedules of an answer for readers.
//!
//! **Input**: the findings of a search. **Output**: the same findings, with schedules of fewer context switches
//! ([`fewer_switches`]).
//!
//! **Soundness and limits**: each schedule has as many steps as before, and each read sees the same write. A program may have
//! very many terms with long schedules. Equal schedules are processed once, failures and deadlocks first, and schedules beyond a
//! total number of steps keep their order.

use crate::answer::Answer;
use cssame_schedule::{Reordered, fewer_switches};
use cssame_vm::{Choice, Machine};
use rustc_hash::FxHashMap;

/// Steps of different schedules that are looked at.
const STEPS: usize = 200_000;

/// Brings the schedules of an answer into an order with fewer switches.
pub fn with_fewer_switches(machine: &Machine, answer: &mut Answer) {
    let mut orders = Orders { machine, known: FxHashMap::default(), left: STEPS };
    for failure in &mut answer.failures {
        orders.arrange(&mut failure.schedule);
    }
    for deadlock in &mut answer.deadlocks {
        orders.arrange(&mut deadlock.schedule);
    }
    for schedule in answer.outcomes.iter_mut().filter_map(|outcome| outcome.schedule.as_mut()) {
        orders.arrange(schedule);
    }
    for term in &mut answer.terms {
        // Local work of main before its first step stands behind the last place.
        let Some(schedule) = &mut term.schedule else { continue };
        if let Some(place) = orders.arrange(schedule).and_then(|places| places.get(term.step)) {
            term.step = *place;
        }
    }
}

struct Orders<'a> {
    machine: &'a Machine,
    known: FxHashMap<Vec<Choice>, Option<Reordered>>,
    left: usize,
}

impl Orders<'_> {
    /// Arranges a schedule; gives the new places of its steps where they have changed.
    fn arrange(&mut self, schedule: &mut Vec<Choice>) -> Option<&[usize]> {
        if !self.known.contains_key(schedule) {
            self.left = self.left.checked_sub(schedule.len())?;
            self.known.insert(schedule.clone(), fewer_switches(self.machine, schedule));
        }
        let found = self.known.get(schedule)?.as_ref()?;
        schedule.clone_from(&found.steps);
        Some(&found.places)
    }
}
