//! Schedules of a search by preemptions: whole again, and with their preemptions counted.
//!
//! **Input**: the steps that a search has kept, or any schedule. **Output**: all steps; the number of preemptions.
//!
//! **Algorithm**: the search keeps the first of the steps that a thread does in one go ([`go_on`]); these are done again by the same rule.

use super::search::{go_on, steps};
use cssame_schedule::Walk;
use cssame_vm::{Choice, Machine, Progress, State, Tables, Visibility, Work};

/// The schedule of which a search has kept these steps.
pub(super) fn whole(machine: &Machine, race_free: &Visibility, kept: &[Choice]) -> Vec<Choice> {
    let (mut tables, mut state, mut before) = (Tables::new(), State::default(), State::default());
    machine.restart(&mut state, &mut tables, &mut ());
    let mut schedule = Vec::new();
    for &choice in kept {
        before.clone_from(&state);
        let (progress, mut done) = go_on((machine, race_free), &mut state, &mut tables, choice, &mut Work::default());
        if progress != Progress::Running && done > 1 {
            done -= 1;
            state.clone_from(&before);
            steps(machine, &mut state, &mut tables, choice, done);
        }
        schedule.push(choice);
        schedule.extend((1..done).map(|_| Choice { alternative: 0, ..choice }));
    }
    schedule
}

/// How often a schedule leaves a thread that could go on.
#[must_use]
pub fn preemptions(machine: &Machine, schedule: &[Choice]) -> u32 {
    let mut tables = Tables::new();
    let mut walk = Walk::new(machine, &mut tables, &mut ());
    let mut count = 0;
    for (index, &choice) in schedule.iter().enumerate() {
        let last = index.checked_sub(1).map(|before| schedule[before].thread);
        let is_left = last.is_some_and(|last| last != choice.thread && machine.could_go_on(walk.state(), last));
        count += u32::from(is_left);
        if walk.step(choice, &mut ()).is_err() {
            break;
        }
    }
    count
}
